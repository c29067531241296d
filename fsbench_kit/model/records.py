"""What a parser says of a log: runs with their figures and settings, blocks of figures, diagnostics.

Records are frozen. Unknown is ``None``, never 0 and never a default. Offsets are bytes of the file, lines are
counted from 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from fsbench_kit.model.vocabulary import DIAGNOSTICS, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fsbench_kit.model.units import Rounding

Scope = Literal["all", "group", "job", "client", "thread", "disk"]
State = Literal["measured", "censored", "missing"]
Status = Literal["ok", "failed", "partial"]
Origin = Literal["log", "command", "environment", "study", "stated"]


class How(NamedTuple):
    """How a tool prints a figure, so that another figure in its place can be read in the same way.

    `name` is what its format calls it. `unit`, `rounding` and `digits` are those of
    `fsbench_kit.model.units.quantity`; `factor` is by what the tool's unit is larger than `unit`, and `spread` by
    what the true values lie further apart than the print alone tells.
    """

    unit: str
    rounding: Rounding
    name: str | None = None
    digits: int | None = None
    factor: float | None = None
    spread: float | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One figure: what it is of, how large it is, and what its print allows.

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
        The smallest and largest true value that print like this. A censored figure has one open end, which is
        ``None``, or two known ends.
    samples
        How many values a mean or deviation was taken over.
    text, line, start
        As printed, on which line, and at which byte of the file, where that is known. A figure that stands in
        another file than its run has no line.
    how
        How the number with which `text` begins is printed, where that is all that there is to it.
    primary
        Whether this is the figure to use. A second printing of it is not.
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
    text: str
    line: int | None
    start: int | None = field(default=None, compare=False, repr=False)
    how: How | None = field(default=None, compare=False, repr=False)
    scope: Scope = "all"
    part: str | None = None
    block_size: int | None = None
    file_size: int | None = None
    threads: int | None = None
    primary: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """One bin of a distribution: how many values, or which share of them, lie above `low` and up to `high`.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of one tool on one target, as far as its log tells.

    Attributes
    ----------
    format
        The module of `fsbench_kit.formats` that read it.
    start, end, line
        Where the run stands in its file. Several runs can stand on one line.
    filesystem, host
        Where the log itself names them.
    started_at, ended_at
        As printed, without a time zone where the tool prints none.
    duration
        Seconds.
    identity
        What the tool prints of this run alone, as pairs of what it is and its value: the number of a process,
        the time to the millisecond. Runs that differ in it are two, however equal their figures.
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
    settings: tuple[Setting, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    bins: tuple[Bin, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Figures over time of the run that was given last: columns that share a part, an operation and a metric.

    `times` are seconds since the run's start, `values` are in the metric's base unit, `lines` tell where they
    stand. Where the values are printed at `starts` (bytes of the file) in a unit of their own, `unit` is what they
    were multiplied with and divided by.
    """

    operation: str
    metric: str
    statistic: str = "value"
    part: str | None = None
    times: Sequence[float]
    values: Sequence[float]
    lines: Sequence[int | None]
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
        """How much it matters: ``note``, ``warning`` or ``error``."""
        return DIAGNOSTICS[self.code][0]


Record = Run | Block | Diagnostic
