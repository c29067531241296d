"""The order of a factor's levels everywhere, versions by age and numbers by value, and what sentences call them.

Comparisons, tables and charts all use it, so a change here changes every one of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

_NUMBER: Final = re.compile(r"([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(?:([kmgtp])(?:i?b)?|b|%|s)?", re.IGNORECASE)
_COMMIT: Final = re.compile(r"(?=.*[a-f])(?=.*\d)[0-9a-f]{7,40}|\d{7,40}")
"""The name of a commit, which can happen to be all digits."""
_TIMES: Final = {prefix: 1024**power for power, prefix in enumerate("kmgtp", 1)}
_PARTS: Final = re.compile(r"\d+|[^\W\d_]+")
_BEFORE: Final = frozenset({"alpha", "beta", "dev", "pre", "rc"})
"""Suffixes of a version that is not out yet: 6.12-rc1 comes before 6.12."""


def in_order(names: Iterable[str], begun: Mapping[str, datetime | None] | None = None) -> list[str]:
    """Return the distinct names in natural order.

    If all names are numbers or sizes, they are sorted by value, so that 0.25 comes before 0.5. Otherwise names are
    split into parts and numeric parts are compared by value, so that version 6.9 comes before 6.12. Commit hashes,
    which have no order of their own, are sorted by the times in `begun` if all of these are known.

    Examples
    --------
    >>> in_order(["fio-3.28", "fio-3.9"]), in_order(["1M", "4k", "512k"]), in_order(["6.12", "6.12-rc3", "6.9"])
    (['fio-3.9', 'fio-3.28'], ['4k', '512k', '1M'], ['6.9', '6.12-rc3', '6.12'])
    """
    different = set(names)
    times = {name: (begun or {}).get(name) for name in different}
    if are_commits(different) and None not in times.values():
        return sorted(different, key=lambda name: (times[name], name))
    values = {name: _value(name) for name in different}
    numbers = [value for value in values.values() if value is not None]
    if len(numbers) == len(different) and not all(re.fullmatch(r"[1-9]\d*\.\d+", name) for name in different):
        return sorted(different, key=lambda name: (values[name], name))
    return sorted(different, key=lambda name: (_parts(name), name))


def level_name(level: str, factor: str) -> str:
    """Name a level within a sentence, a bare number by its factor as well.

    Examples
    --------
    >>> level_name("16", "queue_depth"), level_name("xfs", "filesystem")
    ('queue depth 16', 'xfs')
    """
    return f"{factor.replace('_', ' ')} {level}" if level[:1].isdigit() else level


def are_commits(names: Collection[str]) -> bool:
    """Return whether all names are hashes of commits, which have no order of their own."""
    return all(map(_COMMIT.fullmatch, names)) and not all(map(str.isdecimal, names))


def _value(name: str) -> float | None:
    """Return the value of a number or size, or ``None`` for another name; only memory units scale it."""
    found = _NUMBER.fullmatch(name.strip())
    return None if found is None else float(found[1]) * _TIMES.get((found[2] or "").lower(), 1)


def _parts(name: str) -> list[tuple[int, int, str]]:
    """Split a name into sortable parts; a version precedes its extensions, except pre-release suffixes."""
    parts = [
        (3, int(part), "") if part.isdecimal() else (0 if part.lower() in _BEFORE else 2, 0, part)
        for part in _PARTS.findall(name)
    ]
    return [*parts, (1, 0, "")]
