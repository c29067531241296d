"""What stands where in a document of fio."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fsbench_kit.formats.loose_json import Number, Object
from fsbench_kit.model.units import quantity

if TYPE_CHECKING:
    from fsbench_kit.model.units import Quantity, Rounding

DIRECTIONS: Final = ("read", "write", "trim", "mixed")


def jobs_of(document: Object) -> list[Object]:
    """Return the jobs of a document, or in client mode those of its clients."""
    return objects(document.get("jobs", document.get("client_stats")))


def has_worked(job: Object) -> bool:
    """Whether a job made a request."""
    return any(is_work(work(object_(job.get(operation)))) for operation in DIRECTIONS)


def version_of(document: Object) -> str | None:
    """Return fio's version, if the document names it."""
    return text_of(document.get("fio version")).removeprefix("fio-") or None


def is_sum(job: Object) -> bool:
    """Whether the figures are those of all clients together, which client mode adds to them."""
    return text_of(job.get("jobname")) == "All clients"


def object_(value: object) -> Object:
    """Return an object, which is empty if the value is none."""
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Object]:
    """Return the objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a string, or a number as it is printed."""
    return value.text if isinstance(value, Number) else value if isinstance(value, str) else ""


def count_of(value: object) -> int | None:
    """Return a whole number, unless fio's own counters could not hold it."""
    return int(value.text) if isinstance(value, Number) and re.fullmatch(r"\d{1,18}", value.text) else None


def amount_of(number: Number, unit: str = "", rounding: Rounding = "nearest") -> Quantity | None:
    """Return a number as a quantity, or ``None`` where it is none: NaN, Infinity, 1e999."""
    try:
        return quantity(number.text, unit, rounding=rounding)
    except ValueError:
        return None


def is_work(block: Object) -> bool:
    """Whether a block holds anything but zeros."""
    return any(isinstance(value, Number) and value.text.strip("-0.") for value in block.values())


def work(direction: Object) -> Object:
    """Return what tells whether there were requests."""
    return {key: direction.get(key) for key in ("io_bytes", "io_kbytes", "total_ios", "iops", "bw")}
