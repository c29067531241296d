"""All knowledge of log formats: one module for each tool and format, and nothing about formats elsewhere.

A format module has a docstring that says which versions it reads and what each field means; `TOOL`; `sniff`,
which says how sure it is that a text is one of its logs; and `parse`, which turns the text into a stream of
records. To add a format: write a module like `smallfiles`, and name it in `FORMATS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from fsbench_kit.formats import bonnie_html, filetree, fio_json, fio_normal, iozone, smallfiles, sysbench

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.formats.text import Text
    from fsbench_kit.records import Record


class Format(Protocol):
    """What every module of a format offers."""

    @property
    def TOOL(self) -> str:  # noqa: N802
        """The name of the tool whose logs these are."""

    def sniff(self, head: str) -> float:
        """Return how sure it is that a text is a log of this format, from 0 to 1."""

    def parse(self, text: Text) -> Iterator[Record]:
        """Yield what the text says, in its order; what is wrong with it comes as diagnostics."""


FORMATS: Final[tuple[Format, ...]] = (bonnie_html, filetree, fio_json, fio_normal, iozone, smallfiles, sysbench)

SNIFF_LENGTH: Final = 65536


def recognise(chars: str) -> Format | None:
    """Return the format of a text, or ``None`` if it is no log of any.

    Several runs of one format can stand in one text; the start of the text decides.
    """
    head = chars[:SNIFF_LENGTH]
    confidence, best = max(((f.sniff(head), f) for f in FORMATS), key=lambda pair: pair[0])
    return best if confidence > 0 else None
