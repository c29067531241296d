"""What a parser returns: runs with their figures and settings, blocks of series, and diagnostics.

Unknown is ``None``, never 0 and never a default. Offsets are bytes of the file; lines are counted from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, groupby
from math import isnan
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, overload

import numpy as np

from fsbench_kit.model.vocabulary import DIAGNOSTICS, Severity

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

    from fsbench_kit.model.units import Rounding

Scope = Literal["all", "group", "job", "client", "thread", "disk"]
State = Literal["measured", "censored", "missing"]
Status = Literal["ok", "failed", "partial"]
Origin = Literal["log", "command", "environment", "study", "name", "stated", "assumed"]


class How(NamedTuple):
    """How a tool prints a figure, so that a different figure in its place could be read the same way.

    `name` is the format's name for the figure. `unit`, `rounding` and `digits` are those of
    `fsbench_kit.model.units.quantity`. `factor` is the size of the tool's unit relative to `unit`; `spread` widens
    the interval of true values beyond what the printed digits imply. `zero` is the state of a printed 0. `suffix`
    is the letter after the number that multiplies it by a power of 1000. Where rounding alone does not give the
    bounds, `rule` maps a printed number, or a column of them, to its bounds in the base unit; a lower bound of NaN
    means that the tool never prints this number. With `may_lack_carry`, a fraction of zeros may stand for almost
    one more.
    """

    unit: str
    rounding: Rounding
    name: str | None = None
    digits: int | None = None
    factor: float | None = None
    spread: float | None = None
    zero: State = "measured"
    suffix: str = ""
    rule: Callable[[Any], tuple[Any, Any]] | None = None
    may_lack_carry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A key of `fsbench_kit.model.vocabulary.SETTINGS` and its canonical value.

    Sizes are whole numbers of bytes, times are seconds, truth is ``true`` or ``false``.
    """

    key: str
    value: str
    origin: Origin = "log"
    scope: Scope = "all"
    part: str | None = None
    line: int | None = None
    start: int | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Measurement:
    """One figure: what it measures, its value, and the true values that its printed digits allow.

    Treat it as immutable. It is not frozen because a frozen dataclass takes three times as long to create.

    Attributes
    ----------
    scope, part
        What the figure belongs to: the whole run (``all``), or a group, job, client, thread or disk by name.
    operation, metric
        Words of `fsbench_kit.model.vocabulary`.
    statistic
        ``value`` (a total, or a rate over the whole part), ``mean``, ``min``, ``max``, ``stdev``, ``p99.9``, ...
    value, unit
        In a base unit; ``None`` unless `state` is ``measured``.
    state
        ``measured``; ``censored`` (only a bound is known, in `low` or `high`); ``missing``.
    low, high
        The smallest and largest true value that would be printed like this. A censored figure has one open end,
        which is ``None``, or two known ends.
    samples, samples_start
        How many values a mean or deviation was taken over, and at which byte of the file that number is printed.
    text, line, start
        The figure as printed, its line, and its byte offset where known. A figure from another file than its run
        has no line.
    how
        How the number that `text` begins with is printed, if that fully describes it.
    phrase
        The range of bytes to quote when a cross-check contradicts the figure.
    primary
        Whether this is the figure to use; a second printing of the same figure is not.
    """

    operation: str
    metric: str
    statistic: str = "value"
    value: float | None
    unit: str
    state: State = "measured"
    low: float | None = None
    high: float | None = None
    samples: int | None = None
    samples_start: int | None = field(default=None, compare=False, repr=False)
    text: str
    line: int | None
    start: int | None = field(default=None, compare=False, repr=False)
    how: How | None = field(default=None, compare=False, repr=False)
    phrase: tuple[int, int] | None = field(default=None, compare=False, repr=False)
    scope: Scope = "all"
    part: str | None = None
    block_size: int | None = None
    file_size: int | None = None
    threads: int | None = None
    primary: bool = True


class Place(NamedTuple):
    """What a measurement is of: an operation, a part of the run, and sizes.

    Use ``place._replace(operation="write")`` for a place that differs in some fields.
    """

    operation: str
    scope: Scope = "all"
    part: str | None = None
    block_size: int | None = None
    file_size: int | None = None
    threads: int | None = None


@dataclass(frozen=True, slots=True)
class What:
    """Which figure of its place a measurement is, and how it is known: see `Measurement`."""

    metric: str
    statistic: str = "value"
    unit: str = "1"
    state: State = "measured"
    primary: bool = True


what: Final = lru_cache(maxsize=2**12)(What)
"""`What`, cached so that all measurements with the same fields share one object."""


class Figure(NamedTuple):
    """A row of `Measurements`."""

    place: Place
    what: What
    value: float | None
    low: float | None
    high: float | None
    samples: int | None
    text: str
    line: int | None
    start: int | None

    def measurement(self, kind: Callable[..., Measurement] = Measurement) -> Measurement:
        """Return the row as a `Measurement`, or as another kind of it."""
        place, what, value, low, high, samples, text, line, start = self
        return kind(
            operation=place.operation,
            metric=what.metric,
            statistic=what.statistic,
            value=value,
            unit=what.unit,
            state=what.state,
            low=low,
            high=high,
            samples=samples,
            text=text,
            line=line,
            start=start,
            scope=place.scope,
            part=place.part,
            block_size=place.block_size,
            file_size=place.file_size,
            threads=place.threads,
            primary=what.primary,
        )


class Measurements(Sequence[Measurement]):
    """The measurements of a run: a sequence of `Measurement`, stored as the columns of `Figure`."""

    __slots__ = ("columns",)

    def __init__(self, columns: Iterable[Sequence[Any]] = ()) -> None:
        self.columns = tuple(columns) or ((),) * len(Figure._fields)

    def figures(self) -> Iterator[Figure]:
        """Yield the measurements as rows."""
        return map(Figure._make, zip(*self.columns, strict=True))

    def __len__(self) -> int:
        return len(self.columns[0])

    def __iter__(self) -> Iterator[Measurement]:
        return (figure.measurement() for figure in self.figures())

    @overload
    def __getitem__(self, index: int) -> Measurement: ...
    @overload
    def __getitem__(self, index: slice) -> Measurements: ...
    def __getitem__(self, index: int | slice) -> Measurement | Measurements:
        if isinstance(index, slice):
            return Measurements(column[index] for column in self.columns)
        return Figure._make(column[index] for column in self.columns).measurement()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Measurements({list(self)!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """One bin of a distribution: how many values, or what share of them, lie above `low` and up to `high`.

    Bounds are in the metric's base unit; an open end is ``None``.
    """

    operation: str
    metric: str
    low: float | None
    high: float | None
    count: int | None = None
    share: float | None = None
    line: int | None
    scope: Scope = "all"
    part: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bins:
    """The bins of a distribution, or of a stretch of it, stored as columns.

    Attributes
    ----------
    lows, highs
        Bounds in the metric's base unit; an open end is NaN.
    counts, shares, lines
        ``None`` where unknown.
    starts
        The byte offsets in the file at which the shares are printed, in percent.
    """

    operation: str
    metric: str
    scope: Scope = "all"
    part: str | None = None
    lows: NDArray[np.float64]
    highs: NDArray[np.float64]
    counts: NDArray[np.int64] | None = None
    shares: NDArray[np.float64] | None = None
    lines: NDArray[np.int64] | None = None
    starts: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.lows)

    def __iter__(self) -> Iterator[Bin]:
        unknown = [None] * len(self)
        columns = (self.counts, self.shares, self.lines)
        known = (unknown if column is None else column.tolist() for column in columns)
        for low, high, count, share, line in zip(self.lows.tolist(), self.highs.tolist(), *known, strict=True):
            yield Bin(
                operation=self.operation,
                metric=self.metric,
                low=None if isnan(low) else low,
                high=None if isnan(high) else high,
                count=count,
                share=share,
                line=line,
                scope=self.scope,
                part=self.part,
            )


class Distributions(Sequence[Bin]):
    """The bins of a run: a sequence of `Bin`, stored as columns.

    Parameters
    ----------
    columns
        The bins in order, one `Bins` per distribution or stretch of one.
    """

    __slots__ = ("columns",)

    def __init__(self, columns: Iterable[Bins] = ()) -> None:
        self.columns = tuple(columns)

    @classmethod
    def of(cls, bins: Iterable[Bin]) -> Distributions:
        """Return the bins as columns, converting them unless they are stored so already."""
        if isinstance(bins, Distributions):
            return bins
        alike = groupby(
            bins,
            lambda item: (
                (item.operation, item.metric, item.scope, item.part),
                (item.count is None, item.share is None, item.line is None),
            ),
        )
        return cls(_columns(*place, list(items)) for (place, _), items in alike)

    def __len__(self) -> int:
        return sum(map(len, self.columns))

    def __iter__(self) -> Iterator[Bin]:
        return chain.from_iterable(self.columns)

    @overload
    def __getitem__(self, index: int) -> Bin: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Bin]: ...
    def __getitem__(self, index: int | slice) -> Bin | Sequence[Bin]:
        return tuple(self)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Distributions({list(self)!r})"


def _columns(operation: str, metric: str, scope: Scope, part: str | None, items: Sequence[Bin]) -> Bins:
    """Return the bins of one distribution as columns; a value missing from one bin is dropped from all."""

    def known(values: list[Any], kind: type) -> NDArray[Any] | None:
        return None if values[0] is None else np.array(values, kind)

    return Bins(
        operation=operation,
        metric=metric,
        scope=scope,
        part=part,
        lows=np.array([item.low for item in items], float),  # which makes None NaN
        highs=np.array([item.high for item in items], float),
        counts=known([item.count for item in items], np.int64),
        shares=known([item.share for item in items], np.float64),
        lines=known([item.line for item in items], np.int64),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of one tool on one target, as far as its log shows.

    Attributes
    ----------
    format
        The module of `fsbench_kit.formats` that read the run.
    start, end, line
        The run's position in its file. Several runs can share a line.
    filesystem, host
        Set only if the log itself names them.
    started_at, ended_at
        As printed, without a time zone where the tool prints none.
    duration
        Seconds.
    identity
        Values that are unique to this execution, such as a process number or a time in milliseconds, as
        (name, value) pairs. Runs with different identities are distinct, however equal their figures.
    identity_starts
        The byte offsets at which these values are printed, where known.
    jobs
        What its format passes to the cross-checks about the run's parts.
    """

    tool: str
    tool_version: str | None = None
    format: str | None = None
    start: int
    end: int
    line: int
    filesystem: str | None = None
    host: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    duration: float | None = None
    status: Status = "ok"
    exit_code: int | None = None
    identity: tuple[tuple[str, str], ...] = ()
    identity_starts: tuple[int, ...] = field(default=(), compare=False, repr=False)
    jobs: Any = field(default=None, compare=False, repr=False)
    settings: tuple[Setting, ...] = ()
    measurements: Sequence[Measurement] = ()
    bins: Sequence[Bin] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A time series of the preceding run: columns that share a part, an operation and a metric.

    `times` are seconds since the run's start, `values` are in the metric's base unit, and `lines` are their
    positions. Where the values are printed at `starts` (byte offsets) in a unit of their own, `unit` holds the
    factor and divisor that converted them.
    """

    operation: str
    metric: str
    statistic: str = "value"
    part: str | None = None
    times: Sequence[float] | NDArray[np.float64]
    values: Sequence[float] | NDArray[np.float64]
    lines: Sequence[int | None] | NDArray[np.int64]
    starts: Sequence[int] | None = field(default=None, compare=False, repr=False)
    unit: tuple[float, float] = field(default=(1, 1), compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """Something about a log that a reader should know.

    `code` is a key of `fsbench_kit.model.vocabulary.DIAGNOSTICS`, which also gives the severity.
    """

    code: str
    message: str
    line: int | None = None
    start: int | None = None
    end: int | None = None
    excerpt: str | None = None

    @property
    def severity(self) -> Severity:
        """The severity: ``note``, ``warning`` or ``error``."""
        return DIAGNOSTICS[self.code][0]


Record = Run | Block | Diagnostic
