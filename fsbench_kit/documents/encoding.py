"""From a file's bytes to its text: unpacks what is compressed, decodes the rest."""

from __future__ import annotations

import codecs
from typing import Final

from fsbench_kit.formats.text import Text

_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


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
