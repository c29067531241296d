"""Reads the machine's figures in a report: disks, and how idle the processors were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fsbench_kit.formats.builder import Place
from fsbench_kit.formats.fio_columns import printed

if TYPE_CHECKING:
    from fsbench_kit.formats.fio_columns import Print
    from fsbench_kit.formats.fio_json.figures import Figures
    from fsbench_kit.formats.loose_json import Object
    from fsbench_kit.model.units import Rounding


def _of_disk(prefix: str, statistic: str, most: str, rounding: Rounding) -> dict[str, tuple[Print, ...]]:
    """Return how the figures of each operation of a disk are printed."""
    prints = {
        operation: tuple(
            printed(f"{prefix}{operation}_{name}", metric, statistic, unit=unit, rounding=rounding)
            for name, metric, unit in (
                ("ios", "disk_ios", ""),
                ("sectors", "disk_sectors", ""),
                ("merges", "disk_merges", ""),
                ("merge", "disk_merges", ""),  # a typo in fio, in aggr_write_merge
                ("ticks", "disk_ticks", "ms"),
            )
        )
        for operation in ("read", "write")
    }
    of_all = (
        printed(f"{prefix}in_queue", "disk_queue_time", statistic, unit="ms", rounding=rounding),
        printed(f"{prefix}util", "disk_utilisation", most, unit="%"),
    )
    return prints | {"all": of_all}


_DISK: Final = _of_disk("", "value", "value", "exact")
_MEMBERS: Final = _of_disk("aggr_", "mean", "max", "down")
_IDLE_UNIT: Final = (
    printed("unit_mean", "idle_unit_time", "mean", unit="us"),
    printed("unit_stddev", "idle_unit_time", "stdev", unit="us"),
)


def read_disk(figures: Figures, disk: Object, name: str) -> None:
    """Read a disk, and the means over its members."""
    for part, of_disk in ((name, _DISK), (f"{name}/members", _MEMBERS)):
        for operation, prints in of_disk.items():
            figures.add(Place(operation, scope="disk", part=part), disk, prints)


def read_idleness(figures: Figures, block: Object) -> None:
    """Read the idle share of the processors, as printed with ``--idle-prof``."""
    for key in block:
        if key == "system" or key.startswith("cpu-"):
            place = Place("all", part=None if key == "system" else key)
            figures.add(place, block, (printed(key, "cpu_idle", unit="%"),))
    figures.add(Place("all"), block, _IDLE_UNIT)
