from datetime import UTC, datetime

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


def test_sizes_in_bytes_are_not_commits() -> None:
    """They are as long as these, and all digits; it does not matter which was measured first."""
    sizes = ["8388608", "67108864", "1073741824"]
    days = [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3)]
    assert in_order(sizes, dict(zip(sizes[::-1], days, strict=True))) == sizes
    assert in_order(["1234567", "0a1b2c3"], {"1234567": days[1], "0a1b2c3": days[0]}) == ["0a1b2c3", "1234567"]
