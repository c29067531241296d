"""What is said of a replication."""

from pathlib import Path

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.launch.replicate import differences, side_by_side
from fsbench_kit.launch.replicate.comparison import COLUMNS
from fsbench_kit.tables import differences_table, replication_findings


def test_where_all_effects_are_of_one_cell_none_is_named(root: Path) -> None:
    published = fsb.read(root / "raw_results/published/fio-nvme-2021")
    again = fsb.read(root / "raw_results/replicated/fio-nvme-2021-again")
    said = replication_findings(side_by_side(published, again))
    assert said
    assert all(sentence.startswith("zfs has ") for sentence in said)


@pytest.mark.parametrize(
    ("ratio", "published", "direction", "said"),
    [
        # one over 0.34, 0.3 and 0.4, and over 0.008
        (
            0.34,
            0.008,
            "same",
            "ext4 takes 2.94 times as long as jfs to be created (2.50 to 3.34; 125 times as long in",
        ),
        (
            1 / 1.25,
            1 / 1.3,
            "same",
            "ext4 takes 25 % more time than jfs to be created (6.2 to 42 %; 30 % more in",
        ),
        (
            1.25,
            2.0,
            "same",
            "jfs takes 1.25 times as long as ext4 to be created (1.10 to 1.47; 2.00 times as long in",
        ),
        (
            1.25,
            0.9,
            "opposite",
            "jfs takes 25 % more time than ext4 to be created (10 to 47 %; but 10 % less in",
        ),
        (1.25, 1.0, "opposite", "jfs takes 25 % more time than ext4 to be created (10 to 47 %; but as long in"),
    ],
)
def test_both_ratios_of_a_replication_have_one_form(
    ratio: float, published: float, direction: str, said: str
) -> None:
    row = dict.fromkeys(COLUMNS) | {
        "operation": "mkfs",
        "metric": "elapsed",
        "statistic": "value",
        "baseline": "ext4",
        "level": "jfs",
        "published_ratio": published,
        "ratio": ratio,
        "ci_low": 0.88 * ratio,
        "ci_high": ratio / 0.85,
        "stands_for_effect": True,
        "direction": direction,
    }
    (sentence,) = replication_findings(pl.DataFrame([row], schema=COLUMNS))
    assert sentence.replace("\N{NO-BREAK SPACE}", " ") == f"{said} the study)."


def test_sizes_that_differed_have_units_that_suit_them(root: Path) -> None:
    published = fsb.read(root / "raw_results/published/raid1-hdd-2020")
    again = fsb.read(root / "raw_results/replicated/raid1-hdd-2020-again")
    rows = {row[0]: row[2:] for of in differences_table(differences(published, again)).groups for row in of.rows}
    assert rows["file size"][0] == "1 GiB | 16 GiB | 126 GiB"  # 2^30, 2^34, 126 * 2^30
    assert rows["memory"] == ("64 GB", "23.5 GiB")  # as stated, and 25276514304 bytes
