"""What can be chosen: each list depends on those before it, and what cannot be chosen any more is given up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit import tables
from fsbench_kit.analysis import settings
from fsbench_kit.model.operations import OPERATIONS
from fsbench_kit.model.order import in_order
from fsbench_kit.model.vocabulary import METRICS, setting_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.explore.state import State, Value

OF_RUNS: Final = ("study", "tool")
"""What runs are chosen by, before anything is known of their figures."""

COORDINATES: Final = tuple(name for name in settings.CELL if name not in (*OF_RUNS, "metric"))
"""What cells are chosen by."""

_FACTS: Final = ("filesystem", "target", "host", "tool_version")
"""Columns of the runs that can be the factor; besides these it can be a setting."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that can be chosen, and in how many runs it occurs; a factor, and how many levels it has.

    Examples
    --------
    >>> Choice("xfs", 8).count
    8
    """

    value: Value
    count: int


@dataclass(frozen=True, slots=True)
class Options:
    """What can be chosen at a state.

    Attributes
    ----------
    state
        The state, without what cannot be chosen.
    messages
        Sentences that say what was given up.
    choices
        The values of ``study``, ``tool``, ``factor``, ``metrics``, ``by``, ``baseline``, of the factor, and of
        those of `COORDINATES` that tell cells apart, in the order in which they are chosen.
    comparisons
        How many rows the comparison of the state has at most.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.explore import Exploration, State
    >>> exploration = Exploration(fsb.read("raw_results/published/sysbench-rhel72"))
    >>> exploration.options(State()).choices["filesystem"]
    (Choice(value='ext4', count=4), Choice(value='xfs', count=4))
    """

    state: State
    messages: tuple[str, ...]
    choices: Mapping[str, tuple[Choice, ...]]
    comparisons: int


def choices_of(frame: pl.DataFrame, column: str) -> tuple[Choice, ...]:
    """Return the values of a column, in the order in which people look for them, and the runs that have each."""
    counts = frame.group_by(column).agg(pl.col("run_id").n_unique()).rows()
    known = _ORDERS.get(column) or in_order(str(value) for value, _ in counts)
    place = {name: number for number, name in enumerate(known)}
    by_place = sorted(counts, key=lambda row: (row[0] is None, place.get(str(row[0]), len(place)), str(row[0])))
    return tuple(Choice(value, runs) for value, runs in by_place)


_ORDERS: Final = {"operation": list(OPERATIONS), "metric": list(METRICS)}


def keeping(state: State, name: str, choices: Sequence[Choice], messages: list[str]) -> State:
    """Give up what was chosen of a column, of metrics, for panels or as baseline, and is not among the choices."""
    if name == "by":
        kept = _kept("panels by", () if state.by is None else (state.by,), choices, messages)
        return replace(state, by=str(kept[0]) if kept else None)
    if name == "metrics":
        kept = _kept("metric", state.metrics, choices, messages)
        return replace(state, metrics=tuple(map(str, kept)))
    if name == "baseline":
        chosen = () if state.baseline is None else (state.baseline,)
        if chosen and state.all_pairs:
            messages.append(f"All pairs of levels are compared, so {_named('baseline', chosen)} was dropped.")
            return replace(state, baseline=None)
        kept = _kept("baseline", chosen, choices, messages)
        return replace(state, baseline=str(kept[0]) if kept else None)
    return state.choosing(name, _kept(name, state.chosen(name), choices, messages))


def _kept(name: str, chosen: Sequence[Value], choices: Sequence[Choice], messages: list[str]) -> list[Value]:
    """Return those of the chosen values that can be chosen; say which cannot.

    A number can have been chosen as its text, by a parameter file for example.
    """
    known = {_same(choice.value): choice.value for choice in choices}
    lost = [value for value in chosen if _same(value) not in known]
    if lost:
        messages.append(f"{_named(name, lost)} does not occur in the selection and was dropped.")
    return [known[_same(value)] for value in chosen if _same(value) in known]


def _same(value: Value) -> str | None:
    return None if value is None else str(value)


def keeping_factor(state: State, choices: Sequence[Choice], messages: list[str]) -> State:
    """Take another factor where nothing is known of the one that is chosen, and say so."""
    if any(choice.value == state.factor for choice in choices) or not choices:
        return state
    best = next((choice for choice in choices if choice.count > 1), choices[0])
    messages.append(
        f"{_named('factor', [state.factor])} is unknown for these runs; {best.value} is compared instead."
    )
    return replace(state, factor=str(best.value))


def _named(name: str, values: Iterable[Value]) -> str:
    return f"{label(name)} {', '.join(text_of(name, value) for value in values)}"


def label(name: str) -> str:
    """Name a column for people."""
    return tables.one_line(name).replace("_", " ").capitalize()


def text_of(name: str, value: Value) -> str:
    """Print a value of a column."""
    if value is None:
        return "none"
    if name == "metrics":
        return tables.metric_text(str(value), "value")
    return tables.cell_text(name, value) or "none"


def factors_of(dataset: Dataset) -> tuple[Choice, ...]:
    """Return what can be compared: facts of the runs, and settings of which some study has several values."""
    key = dataset.runs.select("run_id", "study", "tool")
    facts = dataset.runs.unpivot(_FACTS, index="run_id", variable_name="key").drop_nulls("value")
    known = settings.effective(dataset.settings).filter(~pl.col("key").is_in(dataset.runs.columns))
    levels = (
        pl.concat([facts, known.select(facts.columns)])
        .join(key, on="run_id")
        .group_by("key", "study", "tool")
        .agg(pl.col("value").n_unique())
        .group_by("key")
        .agg(pl.col("value").max())
    )
    found = dict(levels.rows())
    several = sorted(name for name, number in found.items() if number > 1 and setting_kind(name) != "label")
    return tuple(Choice(name, found[name]) for name in dict.fromkeys((*_FACTS, *several)) if name in found)
