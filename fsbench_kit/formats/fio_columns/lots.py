"""Divides reports into lots of limited size, so that what is made of their text on the way needs little memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")

LOT: Final = 2**22
"""The size of a lot of reports in characters. Each lot has a cost of its own, so that smaller ones take longer."""


def lots(items: Iterable[T], size: Callable[[T], int], full: int = LOT) -> Iterator[list[T]]:
    """Yield items in lots, each of which ends with the item by which it is full."""
    lot: list[T] = []
    total = 0
    for item in items:
        lot.append(item)
        total += size(item)
        if total >= full:
            yield lot
            lot, total = [], 0
    if lot:
        yield lot
