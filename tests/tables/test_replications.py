"""What is said of a replication."""

from pathlib import Path

import fsbench_kit as fsb
from fsbench_kit.launch.replicate import differences, side_by_side
from fsbench_kit.tables import differences_table, replication_findings


def test_where_all_effects_are_of_one_cell_none_is_named(root: Path) -> None:
    published = fsb.read(root / "raw_results/published/fio-nvme-2021")
    again = fsb.read(root / "raw_results/replicated/fio-nvme-2021-again")
    said = replication_findings(side_by_side(published, again))
    assert said
    assert all(sentence.startswith("zfs has ") for sentence in said)


def test_sizes_that_differed_have_units_that_suit_them(root: Path) -> None:
    published = fsb.read(root / "raw_results/published/raid1-hdd-2020")
    again = fsb.read(root / "raw_results/replicated/raid1-hdd-2020-again")
    rows = {row[0]: row[2:] for of in differences_table(differences(published, again)).groups for row in of.rows}
    assert rows["file size"][0] == "1 GiB | 126 GiB | 16 GiB"  # 2^30, 126 * 2^30, 2^34
    assert rows["memory"] == ("64 GB", "23.5 GiB")  # as stated, and 25276514304 bytes
