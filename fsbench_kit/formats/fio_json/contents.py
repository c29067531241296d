"""The structure of fio's documents."""

from __future__ import annotations

from copy import copy
from itertools import chain
from typing import TYPE_CHECKING, Final

from fsbench_kit.formats.loose_json import MOST_DIGITS, Document, Object, is_number
from fsbench_kit.model.units import quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fsbench_kit.formats.fio_columns import Gate

DIRECTIONS: Final = ("read", "write", "trim", "mixed")


def object_(value: object) -> Object:
    """Return an object; an empty one if the value is not an object."""
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Object]:
    """Return the objects in a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


_REQUESTS: Final = ("io_bytes", "io_kbytes", "total_ios", "iops", "bw")


def _numbers(block: Object, keys: Iterable[str]) -> Gate:
    return tuple([value for key in keys if type(value := block.get(key)) is int])


def is_amount(text: str) -> bool:
    """Whether a text is a finite number of moderate size, as opposed to NaN, Infinity or 1e999."""
    if text.isdecimal() and len(text) <= MOST_DIGITS:
        return True
    try:
        quantity(text)
    except ValueError:
        return False
    return True


class Report:
    """A document of fio, and its general properties.

    Attributes
    ----------
    is_client
        Whether its jobs are those of the clients of a server.
    is_old
        Whether it is from fio 2.x, whose latencies are in µs and have keys that do not name their unit.
    consulted, conditions
        The numbers that determine which figures exist, and groups of numbers that do so by whether any of them is
        not 0; groups of whole blocks are returned by `gate` instead.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self._number: Callable[[int], str] = document.number
        self.consulted: set[int] = set()
        self.conditions: dict[tuple[int, ...], bool] = {}
        self.content = document.content
        self.jobs = objects(self.content.get("jobs", self.content.get("client_stats")))
        self.is_client = not isinstance(self.content.get("jobs"), list)
        self.version = self.text(self.content.get("fio version")).removeprefix("fio-") or None
        self.is_old = self._is_old()
        self._options: dict[int, dict[str, str]] = {}

    def _is_old(self) -> bool:
        if self.version is not None:
            return self.version.startswith(("1.", "2.")) and not self.version.startswith("2.99")
        directions = (object_(job.get(operation)) for job in self.jobs for operation in DIRECTIONS)
        return not any(key.endswith("_ns") for block in directions for key in block)

    @property
    def is_of_fio(self) -> bool:
        """Whether this is a document of fio."""
        content = self.content
        is_list = isinstance(content.get("jobs", content.get("client_stats")), list)
        return is_list and ("fio version" in content or any("jobname" in job for job in self.jobs))

    def text(self, value: object) -> str:
        """Return a string, or a number as printed."""
        if is_number(value):
            self.consulted.add(value)
            return self._number(value)
        return value if isinstance(value, str) else ""

    def like(self, number: Callable[[int], str]) -> Report:
        """Return a report with the same layout, with other numbers."""
        other = copy(self)
        other._number, other._options = number, {}
        return other

    def count(self, value: object) -> int | None:
        """Return an integer, unless it is larger than fio's own counters."""
        text = self.text(value) if is_number(value) else ""
        return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None

    def gate(self, block: Object, keys: Iterable[str]) -> Gate:
        """Return the numbers of a block with the given keys.

        The block is meaningful if any of them is not 0. If clients are summed up, this is checked here, and an
        empty result is returned if all are 0, since the cross-checks depend on which client has which figures.
        """
        numbers = _numbers(block, keys)
        return numbers if not self.is_client or self._is_open(numbers) else ()

    def _is_open(self, numbers: Gate) -> bool:
        """Whether any of the numbers is not 0."""
        if numbers not in self.conditions:
            text = self.document.number
            self.conditions[numbers] = any(text(number).strip("-0.") for number in numbers)
        return self.conditions[numbers]

    def requests(self, direction: Object) -> Gate:
        """Return the numbers that show whether there were requests in a direction."""
        return self.gate(direction, _REQUESTS)

    def has_worked(self, job: Object) -> bool:
        """Whether a job made any request."""
        each = (_numbers(object_(job.get(operation)), _REQUESTS) for operation in DIRECTIONS)
        return self._is_open(tuple(chain.from_iterable(each)))

    def is_sum(self, job: Object) -> bool:
        """Whether the figures are the sum over all clients, which client mode adds."""
        return self.text(job.get("jobname")) == "All clients"

    def options(self, job: Object) -> dict[str, str]:
        """Return the options of a job; its own take precedence over global ones."""
        if id(job) not in self._options:
            options = {**object_(self.content.get("global options")), **object_(job.get("job options"))}
            for value in options.values():
                self.mark(value)
            self._options[id(job)] = {name: self.text(value) for name, value in options.items()}
        return self._options[id(job)]

    def mark(self, value: object) -> None:
        """Mark a value as read, if it is a number."""
        if is_number(value):
            self.document.is_read[value] = True
