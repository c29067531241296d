"""Finds logs inside a file's bytes: decodes them, recognises the format, hands on to it."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Final

from fsbench_kit.formats import recognise
from fsbench_kit.formats.text import Text
from fsbench_kit.records import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.records import Record

_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def read_document(data: bytes, source: str) -> Iterator[Record]:
    """Yield the runs of the logs in a file, with their figures, and what is to be said about the file.

    Parameters
    ----------
    data
        The file's bytes.
    source
        Its name, for messages.
    """
    if not data.strip():
        yield Diagnostic(code="EMPTY", message="The file is empty.")
        return
    text = decode(data, source)
    if text is None:
        yield Diagnostic(code="NOT_TEXT", message="The file holds binary data, not a log.")
        return
    log_format = recognise(text.chars)
    if log_format is None:
        yield Diagnostic(
            code="NO_LOG",
            message="No log of fio, bonnie++, sysbench fileio, iozone, smallfiles or filetree was found in it.",
            line=1,
            excerpt=text.excerpt(0, len(text.chars)),
        )
        return
    yield from log_format.parse(text)


def decode(data: bytes, source: str) -> Text | None:
    """Return a file's text, or ``None`` where its bytes are no text.

    A byte order mark decides the encoding. Without one it is UTF-8, or else Latin-1, in which every byte is a
    character, so that no figure gets lost over a name with an accent.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            chars = data[len(mark) :].decode(encoding, errors="replace")
            return Text(chars, source, encoding=encoding, first_byte=len(mark))
    if b"\0" in data:
        return None
    try:
        return Text(data.decode("utf-8"), source)
    except UnicodeDecodeError:
        return Text(data.decode("latin-1"), source, encoding="latin-1")
