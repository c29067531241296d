"""Decodes the transfer encodings of mails: base64 and quoted-printable."""

from __future__ import annotations

import binascii
import codecs
import io
import re
from collections.abc import Iterator
from email.message import Message
from email.parser import HeaderParser
from typing import Final

from fsbench_kit.formats.text import Edit

_END: Final = r"[^\S\n]*(?:\n|\Z)"
_PART: Final = re.compile(
    r"^(?P<headers>(?:[A-Za-z][\w-]{1,60}:[^\n]*\n(?:[ \t]+[^\s][^\n]*\n)*){1,200})[^\S\n]*\n"
    rf"(?P<body>(?:[A-Za-z0-9+/]{{1,1000}}={{0,2}}{_END})+)",
    re.MULTILINE,
)
_QUANTUM: Final = 4
"""The number of base64 characters that encode three bytes."""


_BASE64: Final = re.compile("64(?<=[bB][aA][sS][eE]64)")


def base64_parts(chars: str) -> Iterator[Edit]:
    """Decode the text parts of a mail that are in base64, line by line.

    Parts that are not text, such as images or compressed files, are left as they are.
    """
    if _BASE64.search(chars) is None:
        return
    for part in _PART.finditer(chars):
        headers = HeaderParser().parsestr(part["headers"])
        if headers.get("Content-Transfer-Encoding", "").strip().lower() == "base64":
            yield from _decoded_lines(chars, *part.span("body"), headers)


def _decoded_lines(chars: str, start: int, end: int, headers: Message) -> Iterator[Edit]:
    body = "".join(chars[start:end].split())
    try:
        content = binascii.a2b_base64(body, strict_mode=True)
    except binascii.Error:
        return
    if b"\0" in content:
        return
    # Carriage returns become line breaks; a character can span the last bytes of a line and the next line.
    decoder = io.IncrementalNewlineDecoder(_decoder(headers), translate=True)
    coded = ""
    for line in re.finditer(rf"(?P<coded>\S+){_END}", chars[start:end]):
        coded += line["coded"]
        is_last = line.end() == end - start
        whole = len(coded) - len(coded) % _QUANTUM
        text = decoder.decode(binascii.a2b_base64(coded[:whole]), final=is_last)
        yield Edit(start + line.start(), start + line.end(), text + "\n" * is_last)
        coded = coded[whole:]


def _decoder(headers: Message) -> codecs.IncrementalDecoder:
    charset = headers.get_content_charset("utf-8")
    try:
        return codecs.getincrementaldecoder(charset)("replace")
    except LookupError:
        return codecs.getincrementaldecoder("utf-8")("replace")


_CODED: Final = re.compile(r"(?:=[0-9A-F]{2}|=[^\S\n]*\n)+")
_NOT_CODED: Final = re.compile(r"=(?![0-9A-F]{2}|[^\S\n]*$)", re.MULTILINE)
# Plain logs contain none of these. The last, a break in a line that was too long, needs two occurrences.
_SIGN_OF_CODING: Final = re.compile(r"=3D|=C2=|=A0|=E2=80|(?:^|[\s>\[])=20$|^[^\n]{70,}=[^\S\n]*$", re.MULTILINE)
_WEAK_SIGNS: Final = 2
_MAY_BE_CODED: Final = re.compile(r"=(?:3D|C2=|A0|E2=80|20\n|\n| \n)")


def quoted_printable(chars: str) -> Iterator[Edit]:
    """Decode the quoted-printable parts of a mail.

    ``=20`` is a space in quoted-printable, but also the end of ``bs=20``. Parts are therefore delimited by lines
    that have an equals sign which encodes neither a character nor a line break.
    """
    if _MAY_BE_CODED.search(chars) is None:
        return
    start = 0
    for line in (*_lines_not_coded(chars), (len(chars), len(chars))):
        part_end, next_start = line
        signs = [sign[0] for sign in _SIGN_OF_CODING.finditer(chars, start, part_end)]
        if any(sign.strip(" >[\n").startswith("=") for sign in signs) or len(signs) >= _WEAK_SIGNS:
            for match in _CODED.finditer(chars, start, part_end):
                yield Edit(match.start(), match.end(), _decoded(match[0]))
        start = next_start


def _lines_not_coded(chars: str) -> Iterator[tuple[int, int]]:
    end = 0
    for match in _NOT_CODED.finditer(chars):
        if match.start() < end:
            continue
        start = chars.rfind("\n", end, match.start()) + 1 or end
        end = chars.find("\n", match.start()) + 1 or len(chars)
        yield start, end


def _decoded(coded: str) -> str:
    data = bytes(int(code, 16) for code in re.findall(r"=([0-9A-F]{2})", coded))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")
