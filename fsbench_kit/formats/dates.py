"""Dates as printed by C's ``ctime``: English in every locale, local time without a time zone."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Final

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DATE: Final = re.compile(rf"({'|'.join(_MONTHS)})\s*(\d{{1,2}})\s*(\d\d):(\d\d):(\d\d)\s*(\d{{4}})")


@lru_cache(maxsize=2**12)  # the same dates are requested many times
def ctime(text: str) -> datetime | None:
    """Parse a date that follows the day of the week; return ``None`` if there is none.

    >>> ctime("Mon Mar 23 00:29:37 2020"), ctime("Mon Mar 32 00:29:37 2020")
    (datetime.datetime(2020, 3, 23, 0, 29, 37), None)
    """
    if (match := _DATE.search(text)) is None:
        return None
    day, hour, minute, second, year = map(int, match.groups()[1:])
    try:
        return datetime(year, _MONTHS.index(match[1]) + 1, day, hour, minute, second)
    except ValueError:
        return None
