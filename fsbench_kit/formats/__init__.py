"""All knowledge of log formats: one module for each tool and format, and nothing about formats elsewhere.

A format module has a docstring that says which versions it reads and what each field means; `TOOL`; `SIGN`, which
tells fast where no log of it can be; `marks`, which finds what only its logs have; and `parse`, which turns a text
with such a log into a stream of records.
To add a format: write a module like `smallfiles`, and name it in `FORMATS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from fsbench_kit.formats import (
    bonnie,
    filetree,
    fio_json,
    fio_normal,
    fio_terse,
    gnu_time,
    iozone,
    smallfiles,
    sysbench,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.formats.text import Text
    from fsbench_kit.model.records import Record


class Format(Protocol):
    """What every module of a format offers."""

    @property
    def TOOL(self) -> str:  # noqa: N802
        """The name of the tool whose logs these are."""

    @property
    def SIGN(self) -> str:  # noqa: N802
        """A regular expression, in small letters and without look-around, for what a log has even if mangled.

        Other text may have it as well. Only where it stands is a large text searched for marks.
        """

    def marks(self, chars: str) -> Iterator[int]:
        """Yield where in a text something stands that only a log of this format has, in the text's order.

        The first mark of a log stands on its first line, or as near to it as can be.
        """

    def parse(self, text: Text) -> Iterator[Record]:
        """Yield what the text says, in its order; what is wrong with it comes as diagnostics.

        Other text may stand before, between and after the logs.
        """


FORMATS: Final[tuple[Format, ...]] = (
    bonnie,
    filetree,
    fio_json,
    fio_normal,
    fio_terse,
    gnu_time,
    iozone,
    smallfiles,
    sysbench,
)


TOOLS: Final = tuple(dict.fromkeys(log_format.TOOL for log_format in FORMATS))
"""The tools whose logs are read."""


def name(log_format: Format) -> str:
    """Return a format's name, which is that of its module."""
    return str(getattr(log_format, "__name__", "")).rpartition(".")[2]


def sniff(chars: str) -> list[tuple[int, Format]]:
    """Return where in a text marks of logs stand, and of which format each is, in the text's order."""
    found = [(position, log_format) for log_format in FORMATS for position in log_format.marks(chars)]
    return sorted(found, key=lambda mark: mark[0])
