"""Reads what a report says of the machine: its disks, and how idle its processors were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsbench_kit.formats.builder import Place

if TYPE_CHECKING:
    from fsbench_kit.formats.fio_json.figures import Figures
    from fsbench_kit.formats.loose_json import Object
    from fsbench_kit.model.units import Rounding


def read_disk(figures: Figures, disk: Object) -> None:
    """Read a disk, and the means over the disks of which it is made."""
    name = figures.report.text(disk.get("name"))
    _read_disk(figures, disk, "", name, statistic="value", most="value", rounding="exact")
    _read_disk(figures, disk, "aggr_", f"{name}/members", statistic="mean", most="max", rounding="down")


def _read_disk(
    figures: Figures, disk: Object, prefix: str, part: str, *, statistic: str, most: str, rounding: Rounding
) -> None:
    for operation in ("read", "write"):
        place = Place(operation, scope="disk", part=part)
        for name, metric, unit in (
            ("ios", "disk_ios", ""),
            ("sectors", "disk_sectors", ""),
            ("merges", "disk_merges", ""),
            ("merge", "disk_merges", ""),  # fio's own slip, in aggr_write_merge
            ("ticks", "disk_ticks", "ms"),
        ):
            key = f"{prefix}{operation}_{name}"
            figures.add(place, disk, key, metric, statistic, unit=unit, rounding=rounding)
    place = Place("all", scope="disk", part=part)
    figures.add(place, disk, f"{prefix}in_queue", "disk_queue_time", statistic, unit="ms", rounding=rounding)
    figures.add(place, disk, f"{prefix}util", "disk_utilisation", most, unit="%")


def read_idleness(figures: Figures, block: Object) -> None:
    """Read which share of the processors' time was left, by ``--idle-prof``."""
    for key in block:
        if key == "system" or key.startswith("cpu-"):
            place = Place("all", part=None if key == "system" else key)
            figures.add(place, block, key, "cpu_idle", unit="%")
    figures.add(Place("all"), block, "unit_mean", "idle_unit_time", "mean", unit="us")
    figures.add(Place("all"), block, "unit_stddev", "idle_unit_time", "stdev", unit="us")
