"""How much the figures of a printing tell, and whether two printings agree."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from fsbench_kit.data.deduplication.printing import NAME, Key, Printing, figure_key
from fsbench_kit.formats import TOOLS
from fsbench_kit.model.vocabulary import EITHER_LATENCY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fsbench_kit.model.records import Measurement

NOISE: Final = 0.01
"""Relative standard deviation between runs of one workload."""

NOISE_OF_MAXIMA: Final = 0.1
"""The same of the longest of many requests."""

ENOUGH: Final = 20.0
"""Bits from which on an agreement is no chance: one in a million."""

ENOUGH_OF_COPIES: Final = 15.0
"""Bits that do where the two have the same bytes: then all figures agree that tell too little to be counted."""


# What a figure tells


_THROUGHPUT: Final = {"bandwidth", "iops", "file_rate", "elapsed"}
_RATES: Final = {"bandwidth", "iops", "file_rate"}
_WORK: Final = {"runtime", "elapsed", "operations", "bytes"}
_LATENCY: Final = {"latency", "submission_latency", "completion_latency", EITHER_LATENCY, "phase_latency"}
_THREADS: Final = {"thread_events", "thread_time"}
_TELLING: Final = _THROUGHPUT | _LATENCY | _THREADS
_LITTLE: Final = 2.0
"""Bits from which on a figure is counted."""

_SCOPES: Final = {"all", "job", "client"}
"""The figures of other scopes are parts or sums of these."""

_CONCURRENT: Final = {name for name, tool in TOOLS.items() if tool.concurrent}
"""Tools whose operations are done at the same time, so that one rate determines the other."""

_CLOCK: Final = 1e-6
"""Seconds: the finest time that iozone and bonnie++ measure rates with."""

_DIGITS: Final = re.compile(r"\d[\d.,]*")


def _piece(tool: str, item: Measurement) -> Key | None:
    """Return which piece of information a figure belongs to, or ``None`` if it tells nothing."""
    if item.scope not in _SCOPES:
        return None
    metric, statistic = item.metric, item.statistic
    if metric in _THROUGHPUT or metric in _LATENCY:
        if statistic in ("value", "mean"):
            operation = None if tool in _CONCURRENT else item.operation
            return item.part, operation, "rate", *_sizes(item)
        kind = "percentile" if statistic[0] == "p" else statistic
        return item.part, item.operation, metric in _LATENCY, kind, *_sizes(item)
    return (item.part, item.operation, "threads") if statistic == "stdev" else None


def _sizes(item: Measurement) -> Key:
    return item.block_size, item.file_size, item.threads


def _own_bits(item: Measurement) -> float:
    if not item.value or item.low is None or item.high is None:
        return 0.0
    width = item.high - item.low
    if not width:  # an exact figure is as fine as its digits
        digits = _DIGITS.search(item.text)
        number = int(re.sub(r"\D", "", digits[0])) if digits else 0
        width = abs(item.value) / number if number else 0.0
    if item.metric == "bandwidth" and item.file_size:
        width = max(width, _CLOCK * item.value**2 / item.file_size)
    if width <= 0:
        return 0.0
    noise = NOISE_OF_MAXIMA if item.statistic == "max" else NOISE
    return max(0.0, math.log2(2 * math.sqrt(math.pi) * noise * abs(item.value) / width))


Span = tuple[float, float]


class _Clue(NamedTuple):
    """A figure that tells something: which values it allows, how many bits, and for which piece of information."""

    span: Span
    reach: Span
    bits: float
    piece: Key


class Sheet:
    """A printing with its primary figures at hand."""

    def __init__(self, printing: Printing) -> None:
        self.printing = printing
        self.run = printing.run
        self.figures: dict[Key, Measurement] = {}
        self._alike: dict[Key, list[Measurement]] | None = None
        for item in self.run.measurements:
            if item.primary:
                self.add(item)
        self.clues = dict(self._clues())
        self.bits = _total((clue.piece, clue.bits) for clue in self.clues.values())

    def add(self, item: Measurement) -> None:
        """Take in a figure; of two that stand for the same thing the first one counts."""
        self.figures.setdefault(figure_key(item), item)
        self._alike = None

    def partner(self, item: Measurement) -> Measurement | None:
        """Return the same figure of this printing; a size that only one of the two knows makes no difference."""
        found = self.figures.get(figure_key(item))
        if found is not None:
            return found
        if self._alike is None:
            self._alike = defaultdict(list)
            for own in self.figures.values():
                self._alike[figure_key(own)[:NAME]].append(own)
        alike = [own for own in self._alike.get(figure_key(item)[:NAME], ()) if _sizes_agree(own, item)]
        return alike[0] if len(alike) == 1 else None

    def _clues(self) -> Iterator[tuple[Key, _Clue]]:
        limits = self._limits()
        names = Counter(key[:NAME] for key in self.figures)
        for key, item in self.figures.items():
            if item.metric not in _TELLING or item.low is None or item.high is None:
                continue
            bits = _own_bits(item)
            if item.metric in _RATES and item.statistic in ("value", "mean"):
                bits = min(
                    bits, limits.get((item.part, item.operation), bits), limits.get((item.part, "all"), bits)
                )
            if bits >= _LITTLE and (piece := _piece(self.run.tool, item)) is not None:
                clue = _Clue((item.low, item.high), _reach(item.low, item.high), bits, piece)
                yield key, clue
                if names[key[:NAME]] == 1:  # a printing that does not know the sizes has it as well
                    yield key[:NAME], clue

    def _limits(self) -> dict[Key, float]:
        """Return how much a rate can tell, by part and operation: as little as its time, or its amount of work.

        A round amount of work was asked for, and has no effect on how exact a rate is.
        """
        limits: dict[Key, float] = {}
        for item in self.figures.values():
            if item.statistic != "value" or not item.value or item.metric not in _WORK:
                continue
            if item.unit == "s" or (item.value % 1000 and item.value % 1024):
                key = item.part, item.operation
                limits[key] = min(_own_bits(item), limits.get(key, math.inf))
        return limits


def _sizes_agree(one: Measurement, other: Measurement) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(_sizes(one), _sizes(other), strict=True))


def _total(told: Iterable[tuple[Key, float]]) -> float:
    """Add up bits, those of each piece of information once."""
    pieces: dict[Key, float] = {}
    for piece, bits in told:
        pieces[piece] = max(bits, pieces.get(piece, 0.0))
    return sum(pieces.values())


# Whether two printings agree


_SLACK: Final = 0.1
# fio cuts a quantity to a 1000th or 1024th of its unit before it rounds that to one or two decimals.
_FLOATING: Final = 1e-9
_CUT_BEFORE: Final = {"group_share"}
"""fio's terse output divides by a bandwidth that was cut to KiB/s, and prints six decimals of the result."""


def _overlap(one: Span, other: Span) -> bool:
    """Whether two figures can be prints of one value."""
    width, other_width = one[1] - one[0], other[1] - other[0]
    floating = _FLOATING * max(abs(one[1]), abs(other[1]))
    if abs(width - other_width) <= floating + 0.01 * width:
        # Printed in steps of the same size, neighbours are different figures; "down" and "nearest" are half a
        # step apart.
        return abs(one[0] - other[0]) <= 0.6 * width + floating
    slack = _SLACK * (width + other_width) / 2 + floating
    return one[0] <= other[1] + slack and other[0] <= one[1] + slack


def _reach(low: float, high: float) -> Span:
    """Return a figure's span with its part of the slack, so that figures that agree reach one another."""
    slack = _SLACK * (high - low) / 2 + _FLOATING * max(abs(low), abs(high))
    return low - slack, high + slack


def agree(one: Measurement, other: Measurement) -> bool:
    """Whether two figures can be the same; what is missing, or known without its rounding, can be anything."""
    if one.metric in _CUT_BEFORE:
        return True
    if "measured" == one.state == other.state:
        if one.low is None or one.high is None or other.low is None or other.high is None:
            return True
        return _overlap((one.low, one.high), (other.low, other.high))
    if "missing" in (one.state, other.state):
        return True
    low, other_low = (-math.inf if item.low is None else item.low for item in (one, other))
    high, other_high = (math.inf if item.high is None else item.high for item in (one, other))
    return low <= other_high and other_low <= high


def have_same_figures(one: Sheet, other: Sheet, *, enough: float = ENOUGH, tolerance: float = 0.0) -> bool:
    """Whether two printings share enough information to be one run's, with a share of figures that may differ."""
    few, many = sorted((one, other), key=lambda sheet: len(sheet.clues))
    told = []
    for key, clue in few.clues.items():
        partner = many.clues.get(key)
        if partner is None:
            continue
        if _overlap(clue.span, partner.span):
            told.append((clue.piece, min(clue.bits, partner.bits)))
        elif not tolerance:
            return False
    if _total(told) < enough:
        return False
    pairs = [(item, many.partner(item)) for item in few.figures.values()]
    agreeing = [agree(item, partner) for item, partner in pairs if partner is not None]
    return agreeing.count(False) <= tolerance * len(agreeing)
