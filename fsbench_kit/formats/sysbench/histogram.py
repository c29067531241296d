"""The buckets into which sysbench 1.0 and later sort latencies, and the histograms that they print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from fsbench_kit.formats.builder import Place, RunBuilder
from fsbench_kit.formats.lexer import Token
from fsbench_kit.model.records import Diagnostic
from fsbench_kit.model.schema import LARGEST

_BUCKETS: Final = 1024
_LEAST, _MOST = 1e-3, 1e5
HALF_BUCKET: Final = (_MOST / _LEAST) ** (0.5 / (_BUCKETS - 1))
"""Since 1.0, percentiles are the middles of buckets, evenly spaced on a log scale from 0.001 to 10^5 ms."""
_MIDDLES: Final = [_LEAST * HALF_BUCKET ** (2 * index) for index in range(_BUCKETS)]
_PRINTED: Final = {
    printed: list(alike) for printed, alike in groupby(range(_BUCKETS), key=lambda index: f"{_MIDDLES[index]:.3f}")
}
"""Middle as printed by the histogram -> the buckets that are printed like that."""


def add_histogram(run: RunBuilder, buckets: Sequence[Token]) -> Iterator[Diagnostic]:
    """Add the bins, merging buckets that are printed alike; yield diagnostics for those that are left out."""
    counts: dict[str, int] = {}
    positions: dict[str, int] = {}
    for token in buckets:
        printed = token["bucket"] or ""
        count = counts.get(printed, 0) + int(token["count"] or "")
        if printed not in _PRINTED:
            yield token.diagnostic("UNREAD_FIGURE", "sysbench has no such bucket.")
        elif count > LARGEST:
            yield token.diagnostic("UNREAD_FIGURE", "The count cannot be kept, because the number is too large.")
        else:
            counts[printed] = count
            positions.setdefault(printed, token.start)
    if counts:
        ends = [(_PRINTED[printed][0], _PRINTED[printed][-1]) for printed in counts]
        run.add_bins(
            Place("all"),
            "latency",
            [_MIDDLES[first] / HALF_BUCKET / 1e3 if first > 0 else None for first, _ in ends],
            [_MIDDLES[last] * HALF_BUCKET / 1e3 if last < _BUCKETS - 1 else None for _, last in ends],
            counts=list(counts.values()),
            positions=list(positions.values()),
        )
