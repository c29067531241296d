"""What can be chosen of a dataset, and what a choice shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl
from altair.utils import schemapi

from fsbench_kit import charts, tables
from fsbench_kit.analysis import settings
from fsbench_kit.analysis.comparison import compare
from fsbench_kit.analysis.metrics import wanted
from fsbench_kit.analysis.needed import needed
from fsbench_kit.data.dataset import UNMEASURED, Dataset, LazyDataset, scan
from fsbench_kit.data.reading import read
from fsbench_kit.data.written import is_written
from fsbench_kit.explore.options import (
    COORDINATES,
    OF_RUNS,
    Choice,
    Options,
    choices_of,
    factors_of,
    keeping,
    keeping_factor,
)
from fsbench_kit.explore.state import CHARTS, State, Value
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.notebooks.display import mimebundle

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_COMPARISONS: Final = 1000
"""More than these do not follow a hand at once, and no eye follows them."""

MOST_ROWS: Final = 200
"""Of the table."""

_MOST_FACTORS: Final = 5
"""That are named where something else has to be compared."""

_NO_PAIR: Final = {
    False: "No cell has runs of both the baseline and another level, so there is nothing to compare.",
    True: "No cell has runs of two levels, so there is nothing to compare.",
}
"""What is said where nothing can be compared: with a baseline, and in all pairs."""

_REMEMBERED: Final = 16
_COMPARABLE: Final = [name for name, metric in METRICS.items() if metric.better]
_COUNTS: Final = (pl.col("status") == "ok") & ~UNMEASURED


@dataclass(frozen=True, slots=True)
class View:
    """What a state shows.

    Attributes
    ----------
    options
        What can be chosen next; its state is the one that is shown.
    finding
        What was found, or why nothing was, in plain text.
    spec
        The chart, as a Vega-Lite specification; ``None`` where there is nothing to draw.
    table
        The comparison; ``None`` where there is none.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.explore import Exploration, State
    >>> exploration = Exploration(fsb.read("raw_results/recorded/ext4-xfs-loop-2026"))
    >>> view = exploration.render(State(chart="ratios"))
    >>> view.table.frame().height == view.options.comparisons, view.spec is None
    (True, False)
    """

    options: Options
    finding: str
    spec: dict[str, Any] | None = None
    table: tables.Table | None = None

    def _repr_mimebundle_(self, **_options: object) -> dict[str, Any]:
        return {"text/plain": self.finding} if self.spec is None else mimebundle(self.spec)

    @property
    def state(self) -> State:
        """The state that is shown."""
        return self.options.state


def opened(paths: Sequence[str], names: Sequence[str] = ()) -> Dataset | LazyDataset:
    """Read files and folders; but a dataset on disk stays there, of which only what is looked at is read.

    Examples
    --------
    >>> opened(["raw_results/published/sysbench-rhel72"]).runs.height
    8
    """
    is_dataset = len(paths) == 1 and not names and is_written(Path(paths[0]))
    return scan(paths[0]) if is_dataset else read(paths, names=names)


class Exploration:
    """Answers what can be chosen of a dataset, and what a choice shows; it remembers the answers that took time.

    Parameters
    ----------
    dataset
        The runs; see `opened`.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.explore import State
    >>> exploration = Exploration(fsb.read("raw_results/recorded/ext4-xfs-loop-2026"))
    >>> exploration.options(State()).comparisons
    22
    >>> print(exploration.render(State(metrics=("elapsed",))).finding)
    xfs takes 1.83 times as long as ext4 to delete files (1.61 to 2.09; slower in all 10 rounds).
    """

    def __init__(self, dataset: Dataset | LazyDataset) -> None:
        self._dataset = dataset
        self._part = lru_cache(_REMEMBERED)(self._read_part)
        self._factors = lru_cache(_REMEMBERED)(self._read_factors)
        self._figures = lru_cache(_REMEMBERED)(self._read_figures)
        self._comparison = lru_cache(_REMEMBERED)(self._compare)

    def options(self, state: State) -> Options:
        """Say what can be chosen, where each list depends on what is chosen in those before it."""
        messages: list[str] = []
        choices: dict[str, tuple[Choice, ...]] = {}
        frame = self._dataset.runs.lazy().filter(_COUNTS).select("run_id", *OF_RUNS).collect()
        for name in OF_RUNS:
            choices[name] = choices_of(frame, name)
            state = keeping(state, name, choices[name], messages)
            frame = _among(frame, name, state.chosen(name))
        runs = tuple(state.chosen(name) for name in OF_RUNS)
        choices["factor"] = self._factors(*runs)
        state = keeping_factor(state, choices["factor"], messages)
        frame = self._figures(*runs, state.factor)
        choices["metrics"] = choices_of(frame, "metric")
        state = keeping(state, "metrics", choices["metrics"], messages)
        frame = frame.filter(wanted(state.metrics or None))
        for name in dict.fromkeys((state.factor, *_telling(frame, state))):
            column = "level" if name == state.factor else name
            choices[name] = choices_of(frame, column)
            state = keeping(state, name, choices[name], messages)
            frame = _among(frame, column, state.chosen(name))
        choices["by"] = tuple(
            Choice(name, number)
            for name in COORDINATES
            if name != state.factor and (number := frame[name].n_unique()) > 1
        )
        state = keeping(state, "by", choices["by"], messages)
        choices["baseline"] = choices_of(frame, "level")
        state = keeping(state, "baseline", choices["baseline"], messages)
        levels = frame.group_by(settings.CELL).agg(pl.col("level").n_unique())["level"]
        pairs = levels * (levels - 1) // 2 if state.all_pairs else levels - 1
        return Options(state, tuple(messages), choices, int(pairs.sum()))

    def render(self, state: State, *, narrow: bool = False) -> View:
        """Show a state, or what is nearest to it, and say what of it could not be.

        Parameters
        ----------
        narrow
            Whether its chart has half of a page, beside another one.
        """
        options = self.options(state)
        state = options.state
        problem = _problem(options)
        if problem:
            return View(options, f"{problem} {self._instead(options)}".strip())
        try:
            comparison = self._comparison(replace(state, chart=State().chart, by=None))
            # The specification is not held against its schema, which takes longer than making it.
            if comparison.is_empty():
                return View(options, _NO_PAIR[state.all_pairs])
            with schemapi.debug_mode(arg=False):
                spec = self._chart(state, comparison, narrow=narrow).to_dict(validate=False)
        except RequestError as error:
            return View(options, _sentence(error))
        return View(options, tables.findings(comparison)[0], spec, _table(comparison))

    def _instead(self, options: Options) -> str:
        """Name other factors by which the selection can be compared, if nothing can be by this one."""
        state = options.state
        if options.comparisons or not options.choices["baseline"]:
            return ""
        others = (
            str(choice.value)
            for choice in options.choices["factor"]
            if choice.count > 1
            and choice.value != state.factor
            and self.options(replace(state, factor=str(choice.value), baseline=None)).comparisons
        )
        named = ", ".join(islice(others, _MOST_FACTORS))
        return f"These can be compared instead: {named}." if named else ""

    def _chart(self, state: State, comparison: pl.DataFrame, *, narrow: bool) -> Any:
        drawn = CHARTS[state.chart]
        of = comparison if drawn.of == "comparison" else self._part_of(state)
        return getattr(charts, drawn.function)(of, **drawn.arguments(state), **(drawn.narrow if narrow else {}))

    def _compare(self, state: State) -> pl.DataFrame:
        return compare(self._part_of(state), **state.arguments())

    def _part_of(self, state: State) -> Dataset:
        return self._part(*(state.chosen(name) for name in OF_RUNS))

    def _read_part(self, studies: tuple[Value, ...], tools: tuple[Value, ...]) -> Dataset:
        """Return the chosen runs alone: what is said of runs does not depend on others."""
        chosen = {name: values for name, values in zip(OF_RUNS, (studies, tools), strict=True) if values}
        if isinstance(self._dataset, LazyDataset):
            return needed(self._dataset, "", _COMPARABLE, chosen)
        kept = [pl.col(name).is_in(values, nulls_equal=True) for name, values in chosen.items()]
        return self._dataset.filter(*kept) if kept else self._dataset

    def _read_factors(self, studies: tuple[Value, ...], tools: tuple[Value, ...]) -> tuple[Choice, ...]:
        return factors_of(self._part(studies, tools))

    def _read_figures(self, studies: tuple[Value, ...], tools: tuple[Value, ...], factor: str) -> pl.DataFrame:
        figures = settings.cells(self._part(studies, tools), factor)
        return figures.filter(_COUNTS, pl.col("metric").is_in(_COMPARABLE)).select(
            "run_id", "level", *settings.CELL
        )


def _telling(frame: pl.DataFrame, state: State) -> list[str]:
    """Return the coordinates that tell the chosen cells apart, and those of which something is chosen."""
    distinguishing = {"operation", *tables.varying(frame), *(name for name, _ in state.where)}
    if state.metrics and frame["statistic"].n_unique() > 1:
        distinguishing.add("statistic")
    return [name for name in COORDINATES if name in distinguishing]


def _table(comparison: pl.DataFrame) -> tables.Table:
    table = tables.comparison_table(tables.ordered(comparison).head(MOST_ROWS))
    if comparison.height <= MOST_ROWS:
        return table
    return replace(table, caption=f"{table.caption}; the first {MOST_ROWS} of {comparison.height} rows")


def _among(frame: pl.DataFrame, column: str, values: tuple[Value, ...]) -> pl.DataFrame:
    return frame.filter(pl.col(column).is_in(values, nulls_equal=True)) if values else frame


def _problem(options: Options) -> str | None:
    """Say why there is nothing to compare, or too much."""
    state, levels = options.state, options.choices["baseline"]
    if options.comparisons > MOST_COMPARISONS:
        return (
            f"{options.comparisons:,} comparisons are too many to show: select a study, a tool, a metric or an "
            "operation. The code below computes them all."
        )
    if not levels:
        return "No successful run matches the selection."
    if options.comparisons:
        return None
    if len(levels) > 1:
        return _NO_PAIR[state.all_pairs]
    only = tables.one_line(str(levels[0].value))
    return f"All these runs have one {tables.one_line(state.factor)}, {only}, so there is nothing to compare."


def _sentence(error: RequestError) -> str:
    return f"{error.what[:1].upper()}{error.what[1:]}. {error.hint or ''}".strip()
