"""Finds the stretches of a text of any length that contain logs, and discards the rest.

The text is processed in windows. Those that match the `SIGN` of a format are searched for its signatures, before
and after repair; only windows near signatures are kept.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain, islice
from operator import or_
from typing import Final

import polars as pl

from fsbench_kit.documents.encoding import Encoding
from fsbench_kit.documents.repair import repair
from fsbench_kit.formats import FORMATS
from fsbench_kit.formats.text import Text

WINDOW: Final = 2**13
"""The size of a window in characters; it ends at the end of a line."""

BEFORE: Final = 16
AFTER: Final = 64
"""The number of windows to keep before the first and after the last signature: commands, bins, long endings."""

GAP: Final = 256
"""The maximum number of windows without signatures inside a log: hours of progress output."""

_TOGETHER: Final = 128
_OVERLAP: Final = 2048
# Logs can be hidden by base64 in a mail, and by overprinting in a terminal capture.
_HIDDEN: Final = r"transfer-encoding:\W*base64|\x08"
# One expression for all signs would be a hundred times slower.
_SIGNS: Final = tuple(rf"(?i){sign}" for sign in (*(log_format.SIGN for log_format in FORMATS), _HIDDEN))


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a text, and its position in the file."""

    chars: str
    byte: int
    line: int


def around_logs(pieces: Iterable[bytes], encoding: Encoding, most: int) -> Iterator[Stretch]:
    """Yield the stretches of a text around logs in order, stopping once there are more than `most` characters."""
    length = 0
    kept: list[Stretch] = []
    passed: deque[Stretch] = deque()
    for window, has_marks in _searched(_windows(pieces, encoding)):
        passed.append(window)
        if has_marks:
            kept += passed
            length += sum(len(each.chars) for each in passed)
            passed.clear()
            if length > most:
                break
        elif kept and len(passed) > GAP:
            yield _joined([*kept, *islice(passed, AFTER)])
            kept = []
        while not kept and len(passed) > BEFORE:
            passed.popleft()
    if kept:
        yield _joined([*kept, *islice(passed, AFTER)])


def _joined(windows: Sequence[Stretch]) -> Stretch:
    return Stretch("".join(window.chars for window in windows), windows[0].byte, windows[0].line)


def _windows(pieces: Iterable[bytes], encoding: Encoding) -> Iterator[Stretch]:
    """Yield a text in windows of whole lines. Lines that are much longer are cut at a blank, if they have one."""
    decoder = codecs.getincrementaldecoder(encoding.name)(encoding.errors)
    byte, line, chars = encoding.first_byte, 1, ""
    skipped = encoding.first_byte
    for piece in chain(pieces, [b""]):
        chars += decoder.decode(piece[skipped:])
        skipped = max(0, skipped - len(piece))
        start = 0
        while len(chars) - start > WINDOW or (not piece and start < len(chars)):
            end = min(start + WINDOW, len(chars))
            if end < len(chars):
                end = (chars.rfind("\n", start, end) + 1) or (chars.rfind(" ", start, end) + 1) or end
            window = Stretch(chars[start:end], byte, line)
            yield window
            byte += len(window.chars.encode(encoding.name, encoding.errors))
            line += window.chars.count("\n")
            start = end
        chars = chars[start:]


def _searched(windows: Iterator[Stretch]) -> Iterator[tuple[Stretch, bool]]:
    """Yield each window, and whether it contains signatures of logs."""
    before = ""
    while batch := list(islice(windows, _TOGETHER)):
        chars = []  # signatures can begin in the window before
        for window in batch:
            chars.append(before + window.chars)
            before = window.chars[-_OVERLAP:]
        text = pl.Series([_encodable(each) for each in chars], dtype=pl.String)
        signs = reduce(or_, (text.str.contains(sign) for sign in _SIGNS))
        for window, its_chars, has_sign in zip(batch, chars, signs, strict=True):
            yield window, has_sign and _has_marks(its_chars)


def _encodable(chars: str) -> str:
    return chars if chars.isascii() else chars.encode("utf-8", "replace").decode("utf-8")


def _has_marks(chars: str) -> bool:
    """Whether a text has signatures of a log, as it is or after repair."""
    return _is_marked(chars) or _is_marked(repair(Text(chars))[0].chars)


def _is_marked(chars: str) -> bool:
    return any(next(iter(log_format.signatures(chars)), None) is not None for log_format in FORMATS)
