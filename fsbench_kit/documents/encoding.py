"""From a file's bytes to its text: unpacks what is packed, decodes the rest."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import sys
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

from fsbench_kit.formats.text import Text
from fsbench_kit.records import Diagnostic

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT: Final = 2**30
"""As many bytes are unpacked, and no more: a small file can be packed so that it fills the memory."""

_PACKED: Final[tuple[tuple[bytes, Callable[[io.BytesIO], io.BufferedIOBase]], ...]] = (
    (b"\x1f\x8b", lambda packed: gzip.GzipFile(fileobj=packed)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\0", lzma.LZMAFile),
    (b"\x28\xb5\x2f\xfd", zstd.ZstdFile),
)
"""How the files of gzip, bzip2, xz and zstd begin, and what reads them."""

_CHUNK: Final = 2**20


class Unpacked(NamedTuple):
    """The bytes that a file holds, and what was wrong with its packing."""

    data: bytes
    diagnostics: list[Diagnostic]


def unpack(data: bytes, limit: int = LIMIT) -> Unpacked:
    """Return the content of a file that was packed by gzip, bzip2, xz or zstd, or else the file as it is.

    Of a file that was cut off or damaged, what can be unpacked is returned; so is what fits a limit.
    """
    opener = next((opener for magic, opener in _PACKED if data.startswith(magic)), None)
    if opener is None:
        return Unpacked(data, [])
    content = bytearray()
    stream = opener(io.BytesIO(data))
    try:
        # read1 gives what it has before it stumbles over what is damaged
        while chunk := stream.read1(_CHUNK):
            content += chunk
            if len(content) > limit:
                message = f"The file holds more than {limit} bytes when unpacked; only as many were read."
                return Unpacked(bytes(content[:limit]), [Diagnostic(code="TOO_LARGE", message=message)])
    except (EOFError, OSError, lzma.LZMAError, zlib.error, zstd.ZstdError) as error:
        message = f"The packed file is damaged; {len(content)} bytes were unpacked before: {error}"
        return Unpacked(bytes(content), [Diagnostic(code="DAMAGED_ARCHIVE", message=message)])
    return Unpacked(bytes(content), [])


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


def decode(data: bytes, source: str) -> Text | None:
    """Return a file's text, or ``None`` where its bytes are no text.

    A byte order mark decides the encoding, or the zero bytes that every other byte of UTF-16 is. Else it is UTF-8;
    bytes that are not are read as Windows' Latin-1, so that no figure gets lost over a name with an accent.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _text(data, source, encoding, len(mark))
    if b"\0" in data and (utf16 := _utf16_without_mark(data)) is not None:
        return _text(data, source, utf16, 0)
    return None if _is_binary(data) else _text(data, source, "utf-8", 0)


def _text(data: bytes, source: str, encoding: str, first_byte: int) -> Text:
    width = 1 if encoding == "utf-8" else 2
    errors = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
    end = first_byte + (len(data) - first_byte) // width * width
    chars = data[first_byte:end].decode(encoding, errors)
    text = Text(chars, source, encoding=encoding, errors=errors, first_byte=first_byte)
    try:
        chars.encode(encoding)
    except UnicodeEncodeError:
        return text.replaced(chars.translate(_STRAY_BYTES if encoding == "utf-8" else _LONE_SURROGATES))
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
