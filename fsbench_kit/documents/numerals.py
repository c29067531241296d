"""Removes decimal commas and thousands separators, which spreadsheets and editors put into numbers.

Tools print plain digits, with a decimal point. ``1,234`` alone is ambiguous; but all numbers of a log follow one
convention, and a ``12,34``, ``1,234,567`` or ``1,234.5`` among them reveals it. If none does, or if they
contradict each other, nothing is changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from fsbench_kit.formats import TOOLS
from fsbench_kit.formats.text import Edit

_PROGRAMS: Final = "|".join(rf"{re.escape(name.rstrip('+'))}\+*" for name, tool in TOOLS.items() if tool.command)
_ROW: Final = r"(?<!\S)(?:[^\s,;]{0,80},){8}\S*"
"""A row of CSV."""
_NUMBER: Final = re.compile(
    rf"""\b(?:version|revision|linux|kernel|{_PROGRAMS})[\s:$=-]{{0,3}}\d[\w.-]*
    | (?<!\S)-{{1,2}}[a-zA-Z]\S*                              # options
    | "[^"\n]*"
    | {_ROW}
    | (?<!\w)[A-Za-z_]\w*                                   # names with digits
    | (?<=\d)m\d+[.,]\d+s                                   # a shell's times
    | (?P<number>\d+(?:[.,]\d+)+)
    | \d+""",
    re.IGNORECASE | re.VERBOSE,
)


def _written(thousands: str, decimals: str) -> re.Pattern[str]:
    thousands, decimals = re.escape(thousands), re.escape(decimals)
    return re.compile(rf"\d{{1,3}}(?:{thousands}\d{{3}})+(?:{decimals}\d+)?|\d+{decimals}\d+")


# Commas that cannot belong to a list of small numbers. The last comma of a list follows one of its numbers.
_SIGN_OF_COMMAS: Final = re.compile(
    r",(?=\d)(?<=\d,)(?:\d{3}(?!\d|,\d{1,2}(?!\d))|(?<!,\d,)(?<!,\d\d,)(?<!,\d{3},)\d+(?!\d|,\S))"
)
_SIGN_OF_POINTS: Final = re.compile(r"\.\d{3}(?<=\d\.\d{3})[.,]\d")
_ENGLISH: Final = _written(",", ".")
_GERMAN: Final = _written(".", ",")
_NO_NUMBER: Final = re.compile(r"\d+(?:\.\d+){2,}")
"""A version, an address or a date."""
_LIST: Final = re.compile(r"\d+(?:,\d+){2,}")
_LIST_OF_FIO: Final = re.compile(r"\d+(?:,\d+){3}(?![\d.,])")
_LONGEST_LIST: Final = 80
_APART: Final = 12
"""The maximum number of characters between two lists of one row, as in ``total=7,0,0,0 dropped=0,0,0,0``."""
_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2},\d{3}(?!\d)")
_WHOLE_ROW: Final = re.compile(_ROW)
_FAR: Final = 800
"""The maximum distance from the beginning of a row to its first comma between two digits."""
_LOST: Final = "\N{REPLACEMENT CHARACTER}"


def numerals(chars: str) -> Iterator[Edit]:
    """Rewrite the numbers of a log as its tool prints them.

    fio also prints lists, such as ``total=7,0,0,0``. With thousands separators it is impossible to tell where a
    number of a list ends; such lists are made unreadable.
    """
    signs = (sign.start() for sign in _SIGN_OF_COMMAS.finditer(chars))
    tells_nothing = all(_is_in_list_of_fio(chars, sign) or _is_in_row(chars, sign) for sign in signs)
    if tells_nothing and _SIGN_OF_POINTS.search(chars) is None:
        return
    found = [match for match in _NUMBER.finditer(chars) if match["number"] is not None]
    found = [match for match in found if _is_written_somehow(match[0]) or _NO_NUMBER.fullmatch(match[0]) is None]
    in_lists = set(_in_lists(found))
    numbers = [match for index, match in enumerate(found) if index not in in_lists]
    if not all(_is_written_somehow(number[0]) for number in numbers):
        return
    is_english = any(_GERMAN.fullmatch(number[0]) is None for number in numbers)
    is_german = any(_ENGLISH.fullmatch(number[0]) is None for number in numbers)
    if is_english == is_german:
        return
    thousands, decimals = (",", ".") if is_english else (".", ",")
    if not any("," in number[0] or number[0].count(".") > 1 for number in numbers):
        return
    for index, match in enumerate(found):
        if index in in_lists:
            plain = _LOST if is_english and _THOUSANDS.search(match[0]) else match[0]
        else:
            plain = match[0].replace(thousands, "").replace(decimals, ".")
        if plain != match[0]:
            yield Edit(match.start(), match.end(), plain)


def _is_in_list_of_fio(chars: str, comma: int) -> bool:
    """Whether a comma belongs to something that can only be a list of fio, such as ``total=2480,2640,0,250``."""
    start = chars.rfind("=", max(0, comma - _LONGEST_LIST), comma) + 1
    match = _LIST_OF_FIO.match(chars, start)
    return start > 0 and match is not None and comma < match.end() and not _is_written_somehow(match[0])


def _is_in_row(chars: str, comma: int) -> bool:
    """Whether a comma belongs to a CSV row without quoted fields."""
    word = chars[max(0, comma - _FAR) : comma].rsplit(maxsplit=1)[-1]
    match = _WHOLE_ROW.match(chars, comma - len(word))
    return match is not None and comma < match.end() and '"' not in match[0]


def _is_written_somehow(number: str) -> bool:
    return _ENGLISH.fullmatch(number) is not None or _GERMAN.fullmatch(number) is not None


def _in_lists(found: Sequence[re.Match[str]]) -> Iterator[int]:
    """Yield the indices of numbers in lists: those that can only be lists, and their neighbours."""
    for step in (1, -1):
        end: int | None = None
        for index in range(len(found))[::step]:
            match = found[index]
            here, there = (match.start(), match.end())[::step]
            is_list = not _is_written_somehow(match[0]) and _LIST.fullmatch(match[0]) is not None
            if is_list or (end is not None and abs(here - end) <= _APART and "," in match[0]):
                yield index
                end = there
            else:
                end = None
