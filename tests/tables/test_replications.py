"""What is said of a replication."""

from pathlib import Path

import fsbench_kit as fsb
from fsbench_kit.launch.replicate import side_by_side
from fsbench_kit.tables import replication_findings


def test_where_all_effects_are_of_one_cell_none_is_named(root: Path) -> None:
    published = fsb.read(root / "raw_results/published/fio-nvme-2021")
    again = fsb.read(root / "raw_results/replicated/fio-nvme-2021-again")
    said = replication_findings(side_by_side(published, again))
    assert said
    assert all(sentence.startswith("zfs has ") for sentence in said)
