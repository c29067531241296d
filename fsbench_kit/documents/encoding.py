"""Turns the bytes of a file into text: decompresses if necessary, and decodes."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final, NamedTuple

from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


LIMIT: Final = 2**31
"""The maximum number of bytes, uncompressed, to read from a file: a small one can expand without end."""

_PACKED: Final[tuple[tuple[bytes, Callable[[io.BufferedReader[_Rejoined]], io.BufferedIOBase]], ...]] = (
    (b"\x1f\x8b", lambda packed: gzip.GzipFile(fileobj=packed)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\0", lzma.LZMAFile),
    (b"\x28\xb5\x2f\xfd", zstd.ZstdFile),
)
"""The magic numbers of gzip, bzip2, xz and zstd, and their readers."""

_PIECE: Final = 2**20


class Content:
    """The content of a file in chunks, decompressed if it is a gzip, bzip2, xz or zstd file.

    For truncated or damaged files this is as much as can be decompressed, for too large files their beginning.

    Attributes
    ----------
    size
        The number of bytes that have been read.
    diagnostics
        Problems found while reading.

    Examples
    --------
    >>> import gzip, io
    >>> content = Content(io.BytesIO(gzip.compress(b"Run status group 0")))
    >>> content.read(10), content.size
    (b'Run status group 0', 18)
    """

    def __init__(self, file: BinaryIO) -> None:
        self.size = 0
        self.diagnostics: list[Diagnostic] = []
        head = file.read(_PIECE)
        opener = next((opener for magic, opener in _PACKED if head.startswith(magic)), None)
        whole = io.BufferedReader(_Rejoined(head, file))
        self._pieces = self._read(opener(whole) if opener is not None else whole)

    def read(self, size: int) -> bytes:
        """Return the next bytes: slightly more than `size`, or fewer at the end."""
        data = bytearray()
        while len(data) < size and (piece := next(self._pieces, b"")):
            data += piece
        return bytes(data)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the rest of the content."""
        return self._pieces

    def _read(self, stream: io.BufferedIOBase) -> Iterator[bytes]:
        try:
            # read1 returns the data before a damaged part instead of raising at once.
            while piece := stream.read1(_PIECE):
                if self.size + len(piece) > LIMIT:
                    piece = piece[: LIMIT - self.size].rpartition(b"\n")[0]  # no figure is cut in two
                    message = f"Only its first {LIMIT} bytes were read, counted unpacked if it is packed."
                    self.diagnostics.append(Diagnostic(code="TOO_LARGE", message=message))
                    self.size += len(piece)
                    yield piece
                    return
                self.size += len(piece)
                yield piece
        except (EOFError, OSError, lzma.LZMAError, zlib.error, zstd.ZstdError) as error:
            message = f"The packed file is damaged; {self.size} bytes were unpacked before: {error}"
            self.diagnostics.append(Diagnostic(code="DAMAGED_ARCHIVE", message=message))


class _Rejoined(io.RawIOBase):
    """A file whose beginning has already been read, with that beginning put back."""

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        self._head, self._file = head, file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._file.read(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        return len(data)


class Encoding(NamedTuple):
    """How a file encodes its text, and the size of the byte order mark before it."""

    name: str
    errors: str
    first_byte: int


_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE: Final = 4096
_FEWEST_ZEROS: Final = 16

_CONTROLS: Final = bytes({*range(1, 32), 127} - set(b"\a\b\t\n\v\f\r\x1b"))
_MOST_CONTROLS: Final = 0.02

# Bytes that are not valid UTF-8 decode to U+DC00 plus their value; they are then read as Windows-1252.
_STRAY_BYTES: Final = {
    0xDC00 + value: bytes([value]).decode("cp1252", errors="ignore") or "\N{REPLACEMENT CHARACTER}"
    for value in range(0x80, 0x100)
}
_LONE_SURROGATES: Final = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")


def encoding_of(data: bytes) -> Encoding | None:
    """Return the encoding of a file, given its content or its beginning; ``None`` if it is binary.

    UTF-16 is recognized by its byte order mark or its zero bytes; everything else is UTF-8. Invalid bytes are read
    as Windows-1252, so that a name with an accent does not make the file unreadable.
    """
    name, first_byte = next(
        ((name, len(mark)) for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)),
        (_utf16_without_mark(data) if b"\0" in data else None, 0),
    )
    if name is None and _is_binary(data):
        return None
    is_utf16 = name is not None and name.startswith("utf-16")
    return Encoding(name or "utf-8", "surrogatepass" if is_utf16 else "surrogateescape", first_byte)


def decode(data: bytes, source: str) -> Text | None:
    """Return the text of a file, or ``None`` if it is binary."""
    encoding = encoding_of(data)
    if encoding is None:
        return None
    width = 1 if encoding.name == "utf-8" else 2
    end = encoding.first_byte + (len(data) - encoding.first_byte) // width * width
    chars = data[encoding.first_byte : end].decode(encoding.name, encoding.errors)
    return as_text(chars, source, encoding, encoding.first_byte)


def as_text(chars: str, source: str, encoding: Encoding, first_byte: int, first_line: int = 1) -> Text:
    """Return the text of a file or of a part of it, with lone surrogates replaced."""
    text = Text(
        chars,
        source,
        encoding=encoding.name,
        errors=encoding.errors,
        first_byte=first_byte,
        first_line=first_line,
    )
    try:
        chars.encode(encoding.name)
    except UnicodeEncodeError:
        return text.replaced(chars.translate(_STRAY_BYTES if encoding.name == "utf-8" else _LONE_SURROGATES))
    return text


def _utf16_without_mark(data: bytes) -> str | None:
    """Return the byte order of UTF-16 text without a mark, judging by the zero bytes of its ASCII characters."""
    sample = data[:_SAMPLE]
    zeros = [sample[first::2].count(0) for first in (0, 1)]
    least, most = max(len(sample) // 4, _FEWEST_ZEROS), len(sample) // 40
    if zeros[1] > least and zeros[0] <= most:
        return "utf-16-le"
    if zeros[0] > least and zeros[1] <= most:
        return "utf-16-be"
    return None


def _is_binary(data: bytes) -> bool:
    """Whether a file is not text. Some zero bytes are allowed: crashes leave them in logs."""
    zeros = data.count(0)
    controls = len(data) - len(data.translate(None, _CONTROLS))
    return zeros == len(data) or controls > _MOST_CONTROLS * (len(data) - zeros)
