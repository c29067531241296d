"""Divides reports into lots of limited size, so that what is made of their text on the way needs little memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")


def lots(items: Iterable[T], size: Callable[[T], int], most: int | None = None) -> Iterator[list[T]]:
    """Yield items in lots that end with the item that reaches a size, which is by default that of a text."""
    lot: list[T] = []
    total = 0
    for item in items:
        lot.append(item)
        total += size(item)
        if total >= (most or _TEXT):
            yield lot
            lot, total = [], 0
    if lot:
        yield lot


_TEXT: Final = 2**20
"""The size of a lot of texts in characters."""
