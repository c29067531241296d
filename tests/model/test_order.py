import pytest

from fsbench_kit.model.order import in_order


@pytest.mark.parametrize(
    "names",
    [
        ["6.9", "6.12-rc3", "6.12", "6.12.1"],
        ["6.8.0-9-generic", "6.8.0-45-generic"],
        ["fio-3.9", "fio-3.28"],
        ["1.03e", "1.97", "1.98", "2.00a"],
        ["2", "16", "128"],
        ["4k", "64k", "1M", "1G"],
        ["0.05", "0.25", "0.5", "2"],
        ["2026-01-30", "2026-02-01"],
        ["btrfs", "ext4", "xfs"],
        ["host 2", "host 10"],
    ],
)
def test_levels_come_in_their_order(names: list[str]) -> None:
    assert in_order([*names[::-1], names[0]]) == names
