"""From a file's bytes to its text: unpacks what is packed, decodes the rest."""

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
"""So many bytes of a file are read, unpacked, and no more: a small file can be packed so that it never ends."""

_PACKED: Final[tuple[tuple[bytes, Callable[[io.BufferedReader[_Rejoined]], io.BufferedIOBase]], ...]] = (
    (b"\x1f\x8b", lambda packed: gzip.GzipFile(fileobj=packed)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\0", lzma.LZMAFile),
    (b"\x28\xb5\x2f\xfd", zstd.ZstdFile),
)
"""How the files of gzip, bzip2, xz and zstd begin, and what reads them."""

_PIECE: Final = 2**20


class Content:
    """What a file holds, a piece at a time: what was packed by gzip, bzip2, xz or zstd, or else the file as it is.

    Of a file that was cut off or damaged, there is what can be unpacked; of one that is too large, its beginning.

    Attributes
    ----------
    size
        How many bytes of it were read.
    diagnostics
        What was wrong with them.

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
        """Return the next bytes: a little more than `size`, if there are as many."""
        data = bytearray()
        while len(data) < size and (piece := next(self._pieces, b"")):
            data += piece
        return bytes(data)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the rest of it."""
        return self._pieces

    def _read(self, stream: io.BufferedIOBase) -> Iterator[bytes]:
        try:
            # read1 gives what it has before it stumbles over what is damaged
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
    """A file of which the beginning was read, with its beginning."""

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
    """How a file's bytes encode its text, which begins behind a byte order mark."""

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

# A byte that is no part of UTF-8 decodes to U+DC00 plus its value, and then counts as what Windows writes.
_STRAY_BYTES: Final = {
    0xDC00 + value: bytes([value]).decode("cp1252", errors="ignore") or "\N{REPLACEMENT CHARACTER}"
    for value in range(0x80, 0x100)
}
_LONE_SURROGATES: Final = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")


def encoding_of(data: bytes) -> Encoding | None:
    """Return how a file encodes its text, by its bytes or the first of them; ``None`` where they are no text.

    A byte order mark decides, or the zero bytes that every other byte of UTF-16 is. Else it is UTF-8; bytes that
    are not are read as Windows' Latin-1, so that no figure gets lost over a name with an accent.
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
    """Return a file's text, or ``None`` where its bytes are no text."""
    encoding = encoding_of(data)
    if encoding is None:
        return None
    width = 1 if encoding.name == "utf-8" else 2
    end = encoding.first_byte + (len(data) - encoding.first_byte) // width * width
    chars = data[encoding.first_byte : end].decode(encoding.name, encoding.errors)
    return as_text(chars, source, encoding, encoding.first_byte)


def as_text(chars: str, source: str, encoding: Encoding, first_byte: int, first_line: int = 1) -> Text:
    """Return a file's text, or a part of it, in which no character stands for a byte that was none."""
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
    """Return the byte order of UTF-16, by the zeros that it has in the letters and digits of English."""
    sample = data[:_SAMPLE]
    zeros = [sample[first::2].count(0) for first in (0, 1)]
    least, most = max(len(sample) // 4, _FEWEST_ZEROS), len(sample) // 40
    if zeros[1] > least and zeros[0] <= most:
        return "utf-16-le"
    if zeros[0] > least and zeros[1] <= most:
        return "utf-16-be"
    return None


def _is_binary(data: bytes) -> bool:
    """Whether a file is no text, as opposed to one in which a crash left zeros."""
    zeros = data.count(0)
    controls = len(data) - len(data.translate(None, _CONTROLS))
    return zeros == len(data) or controls > _MOST_CONTROLS * (len(data) - zeros)
