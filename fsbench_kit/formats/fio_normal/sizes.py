"""Parses the block sizes in the header of a job."""

from __future__ import annotations

import re
from typing import Final

from fsbench_kit.model.units import size

_SIZE_RANGE: Final = re.compile(r"(\d[\d.]*[kKMGT]?i?B?)-\s*(\d[\d.]*[kKMGT]?i?B?)")
_DECIMAL_SIZE: Final = re.compile(r"[\d.]+[kMGT]B")


def _ranges(sizes: str) -> list[tuple[str, str]]:
    """Return the smallest and largest block size of reads, writes and trims, in bytes if they are exact."""
    return [(_bytes(low), _bytes(high)) for low, high in _SIZE_RANGE.findall(sizes)]


def _bytes(text: str) -> str:
    try:
        return text if _DECIMAL_SIZE.fullmatch(text) else str(size(text))
    except ValueError:
        return text  # "16.2KiB" was rounded


def canonical_sizes(sizes: str) -> str:
    """Return block sizes as values of fio's option ``bs``, in bytes.

    >>> canonical_sizes("(R) 128KiB-128KiB, (W) 128KiB-128KiB, (T) 128KiB-128KiB")
    '131072'
    >>> canonical_sizes("4K-64K/8K-8K")
    '4096-65536,8192'
    """
    words = [low if low == high else f"{low}-{high}" for low, high in _ranges(sizes)]
    return words[0] if len(set(words)) == 1 else ",".join(words) or sizes.strip()


def one_size(sizes: str) -> dict[str, int | None]:
    """Return the block size of each operation, or ``None`` if there are several."""
    one = [int(low) if low == high and low.isdigit() else None for low, high in _ranges(sizes)]
    if len(one) == 1:
        one *= 3
    known = dict(zip(("read", "write", "trim"), one, strict=False))
    known["mixed"] = one[0] if one and len(set(one)) == 1 else None
    return known
