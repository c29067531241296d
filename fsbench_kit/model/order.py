"""The order in which the levels of a factor come, wherever they stand: versions by age, numbers by value.

To give names another order, change it here: comparisons, tables and charts ask this module.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

_NUMBER: Final = re.compile(r"([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(?:([kmgtp])(?:i?b)?|b|%|s)?", re.IGNORECASE)
_COMMIT: Final = re.compile(r"(?=.*[a-f])(?=.*\d)[0-9a-f]{7,40}|\d{7,40}")
"""A name of a commit, which may be all digits where another is not."""
_TIMES: Final = {prefix: 1024**power for power, prefix in enumerate("kmgtp", 1)}
_PARTS: Final = re.compile(r"\d+|[^\W\d_]+")
_BEFORE: Final = frozenset({"alpha", "beta", "dev", "pre", "rc"})
"""What follows a version that is not out yet: 6.12-rc1 comes before 6.12."""


def in_order(names: Iterable[str], begun: Mapping[str, datetime | None] | None = None) -> list[str]:
    """Return different names in the order in which people count them.

    Names that are all numbers or sizes go by value, all others by their parts, of which numbers go by value: 6.9
    comes before 6.12, as versions do, and 0.25 before 0.5, as shares do. Commits, whose names tell no order, go by
    when each has `begun`, where that is known of all.

    Examples
    --------
    >>> in_order(["fio-3.28", "fio-3.9"]), in_order(["1M", "4k", "512k"]), in_order(["6.12", "6.12-rc3", "6.9"])
    (['fio-3.9', 'fio-3.28'], ['4k', '512k', '1M'], ['6.9', '6.12-rc3', '6.12'])
    """
    different = set(names)
    times = {name: (begun or {}).get(name) for name in different}
    are_commits = all(map(_COMMIT.fullmatch, different)) and not all(map(str.isdecimal, different))
    if are_commits and None not in times.values():
        return sorted(different, key=lambda name: (times[name], name))
    values = {name: _value(name) for name in different}
    numbers = [value for value in values.values() if value is not None]
    if len(numbers) == len(different) and not all(re.fullmatch(r"[1-9]\d*\.\d+", name) for name in different):
        return sorted(different, key=lambda name: (values[name], name))
    return sorted(different, key=lambda name: (_parts(name), name))


def _value(name: str) -> float | None:
    """Read a number or a size, if a name is one; a unit that is none of memory tells nothing."""
    found = _NUMBER.fullmatch(name.strip())
    return None if found is None else float(found[1]) * _TIMES.get((found[2] or "").lower(), 1)


def _parts(name: str) -> list[tuple[int, int, str]]:
    """Take a name apart: a version comes before what extends it, unless that says that it is not out yet."""
    parts = [
        (3, int(part), "") if part.isdecimal() else (0 if part.lower() in _BEFORE else 2, 0, part)
        for part in _PARTS.findall(name)
    ]
    return [*parts, (1, 0, "")]
