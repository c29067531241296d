"""The rows of a forest plot: effects in groups by what is decided of them, the largest first."""

from __future__ import annotations

import itertools
import math
import textwrap
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from fsbench_kit.analysis.metrics import QUESTION
from fsbench_kit.analysis.verdict import REASONS, codes
from fsbench_kit.charts.style import GROWS, MOST_ROWS
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.tables import (
    by_size,
    cell_label,
    cell_text,
    counted,
    effects,
    groups_text,
    interval_words,
    metric_text,
    metric_within,
    names_of,
    one_line,
    ordered,
    percent,
    ratio_text,
    sentence,
    varying,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STEP: Final = 22
HEAD_LINE: Final = 17
"""The height of a row, and of a line of a head, in pixels."""
_NARROW_STEP: Final = STEP + GROWS
"""The height of a row with its name above it."""

LABEL_CHARACTERS: Final = 52
"""Longer names of rows are broken into lines."""
_HEAD_CHARACTERS: Final = 46
_WIDE_HEAD_CHARACTERS: Final = 84
"""How long a line of a head is in a narrow chart, and in a wide one."""

_LONGEST: Final = 100
"""Nobody looks at more rows of a view, or tells more marks of a row apart."""
_MOST_CHOICES: Final = 40
"""Nobody chooses among more operations."""

_LEFT: Final = "and {}: the CSV of the table has all"
"""What ends a view that is too long."""
_BY_OPERATION: Final = "{}, by operation"
"""What a long plot shows first: a row for each operation, with all of its ratios."""
_SPEED: Final = "speed"
"""What rates and times are called together."""

_DIGITS: Final = 12

_VERDICTS: Final = ("better", "worse", "equivalent", "inconclusive", "single runs", "bound only", "not comparable")

SCHEMA: Final = dict.fromkeys(
    ("view", "row", "kind", "head", "wide_head", "level", "tone", "text", "summary"), pl.String
) | dict.fromkeys(("place", "ci_low", "ci_high"), pl.Float64)


class Rows(NamedTuple):
    """What a forest plot draws, and from what."""

    drawn: pl.DataFrame
    effects: pl.DataFrame
    without_ratio: int
    has_steps: bool = False

    @property
    def views(self) -> list[str]:
        """Return what a reader can choose between."""
        return self.drawn["view"].unique(maintain_order=True).to_list()

    @property
    def is_summary(self) -> bool:
        """Whether the first that a reader sees has several effects on a row."""
        return self.views[0].endswith(_BY_OPERATION.format(""))

    @property
    def lines(self) -> dict[str, int]:
        """Return how many lines the longest name of each view has."""
        of_rows = self.drawn.group_by("view", maintain_order=True).agg(pl.col("row").str.count_matches("\n").max())
        return {view: most + 1 for view, most in of_rows.rows()}


def forest_rows(comparison: pl.DataFrame, most: int) -> Rows:
    """Return one row for each effect of a comparison, in groups; if these are too many, a view for each question.

    Rates and times come first. A view that still has too many effects has a row for each operation; after these
    views there is one for each operation, unless there are too many to choose from. Of more effects than can be
    drawn, the row of an operation has some, at equal steps of their order by ratio, and its view the first.

    Where lower is better, the ratio is inverted, so that a higher ratio is always better.
    """
    rows = ordered(effects(comparison))
    every = turned(rows).drop_nulls("place")
    named = _named(every, comparison)
    without_ratio = rows.height - every.height
    if every.height <= most:
        return Rows(_in_order(_cut(_grouped(named, ""), MOST_ROWS // 2)), every, without_ratio)
    asked = named.sort(pl.col("asks") != _SPEED, maintain_order=True).partition_by("asks", maintain_order=True)
    of_tasks = named.partition_by("task", maintain_order=True)
    if len(of_tasks) > _MOST_CHOICES:
        of_tasks = []
    share = MOST_ROWS // (len(asked) + len(of_tasks))
    longest = min(max(most, _LONGEST), share // 2)
    views, has_steps = [], False
    for of in asked:
        view = of["asks"][0] if len(asked) > 1 else "all"
        counts = of.group_by("task", "shown").len()["len"]
        if of.height > max(most, 1.25 * counts.len()):  # or a summary saves no rows
            marks = min(_LONGEST, share // min(counts.len(), longest))
            has_steps |= bool((counts > marks).any())
            views.append(_by_operation(of, _BY_OPERATION.format(view), marks))
        else:
            views.append(_grouped(of, view))
    views += (_grouped(of, of["task"][0]) for of in of_tasks)
    return Rows(pl.concat(_in_order(_cut(view, longest)) for view in views), every, without_ratio, has_steps)


def _cut(view: Iterable[list[dict[str, Any]]], most: int) -> Iterator[dict[str, Any]]:
    """Yield the marks of a view's first rows, and say how many other rows there are."""
    lines = list(view)
    left = sum(of[0]["kind"] == "effect" for of in lines[most:])
    while left and lines[most - 1][0]["kind"] != "effect":
        most -= 1  # a head without its rows
    yield from itertools.chain.from_iterable(lines[:most])
    if left:
        yield from _head_rows(_LEFT.format(counted(left, "more row")), lines[0][0]["view"])


def _in_order(rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    """Give rows their place; those of one name that follow one another are one row with several marks."""
    listed = pl.DataFrame(list(rows), schema=SCHEMA, orient="row")
    number = (pl.col("row") != pl.col("row").shift(1, fill_value="\0")).cum_sum()
    return listed.with_columns(
        # The last digits of an interval depend on the processor; a chart of the same data should not.
        pl.col(pl.Float64).round_sig_figs(_DIGITS),
        row=number.cast(pl.String).str.zfill(5) + "|" + pl.col("row"),
    )


def _bound(name: str) -> pl.Expr:
    return pl.when(pl.col(name).is_between(0, math.inf, closed="none")).then(name)


def turned(rows: pl.DataFrame) -> pl.DataFrame:
    """Give each row the place of its point, at its ratio or its bound, and invert it where lower is better."""
    of_bound = pl.coalesce(_bound("rounding_low"), _bound("rounding_high"))
    rows = rows.with_columns(place=pl.coalesce("ratio", of_bound), above=pl.col("rounding_low").is_not_null())
    lower = pl.col("better") == "lower"
    return rows.with_columns(
        place=pl.when(lower).then(1 / pl.col("place")).otherwise("place"),
        low=pl.when(lower).then(1 / pl.col("ci_high")).otherwise("ci_low"),
        high=pl.when(lower).then(1 / pl.col("ci_low")).otherwise("ci_high"),
        above=pl.col("above") != lower,
    )


def _named(rows: pl.DataFrame, comparison: pl.DataFrame) -> pl.DataFrame:
    """Give each effect the name of its row, of its task and of its group, the text beside it and its sentences."""
    names = varying(rows)
    rows = rows.with_columns(QUESTION.alias("question"))
    several = rows["question"].n_unique() > 1
    pairs = rows.select("level", "baseline").n_unique()
    baselines = rows["baseline"].n_unique()
    rows_text = []
    for row in rows.iter_rows(named=True):
        label = cell_label(row, names)
        metric = metric_within(row["metric"], row["statistic"])
        group = one_line(row["level"]) if baselines == 1 else groups_text(row)
        parts = [label, metric_beside(label, row, several=several), group if pairs > 1 else ""]
        rows_text.append(
            {
                "name": ", ".join(filter(None, parts)),
                "task": ", ".join(filter(None, (row["pattern"], cell_text("operation", row["operation"])))),
                "asks": _SPEED if row["question"] == "pace" else metric,
                "text": _text(row),
                "head": _head(row, pairs, baselines),
                "reason": " ".join(_reasons(row)),
                "summary": sentence(row),
                "shown": group if baselines > 1 else one_line(row["level"]),
            }
        )
    figures = _figures(comparison)
    texts = pl.DataFrame(
        rows_text,
        schema=dict.fromkeys(("name", "task", "asks", "text", "head", "reason", "summary", "shown"), pl.String),
    )
    named = rows.with_columns(*texts.get_columns()).join(
        figures, on=["effect", "study", "level", "baseline"], how="left", nulls_equal=True, maintain_order="left"
    )
    return named.with_columns(summary=pl.concat_str("summary", "figures", separator=" "))


def metric_beside(label: str, row: dict[str, Any], *, several: bool) -> str:
    """Name the metric of a row, if its label needs one: not for how fast its operation is, or if it is said there.

    >>> [metric_beside("delete", {"metric": metric, "statistic": "value"}, several=True)
    ...     for metric in ("elapsed", "elapsed_with_sync", "file_rate", "cpu")]
    ['', 'elapsed with sync', '', 'CPU']
    >>> metric_beside("capacity initial", {"metric": "capacity", "statistic": "value"}, several=True)
    ''
    """
    metric = metric_within(row["metric"], row["statistic"])
    is_said = row["metric"] in _HOW_FAST or metric in label.split()
    return metric if not label or (several and not is_said) else ""


_HOW_FAST: Final = ("bandwidth", "iops", "file_rate", "elapsed")
"""Metrics that a row need not name: an operation has one effect in all of them."""


def _figures(comparison: pl.DataFrame) -> pl.DataFrame:
    """Say the values of both groups in every metric of an effect, such as IOPS and bandwidth."""
    keys = ["effect", "study", "level", "baseline"]

    def figures_text(row: dict[str, Any]) -> str:
        values = (row["value_candidate"], row["value_baseline"])
        if None in values:
            return ""
        unit = METRICS[row["metric"]].unit
        shown = " against ".join(humanise(value, unit) for value in values)
        return f"{metric_text(row['metric'], row['statistic'])}: {shown}."

    texts = pl.Series("figures", [figures_text(row) for row in comparison.iter_rows(named=True)], pl.String)
    return comparison.with_columns(texts).group_by(keys, maintain_order=True).agg(pl.col("figures").str.join(" "))


def _text(row: dict[str, Any]) -> str:
    """Print what a row shows: its ratio, its interval or its bound."""
    if row["ratio"] is None:
        is_least = row["above"] == (row["place"] >= 1)
        return f"{'>' if is_least else '<'} {ratio_text(max(row['place'], 1 / row['place']))}"
    return times_text(row["place"], row["low"], row["high"])


def times_text(place: float, low: float | None = None, high: float | None = None) -> str:
    """Print how many times as good the group is on whose side of an axis a mark lies, as a headline would.

    >>> times_text(1.84, 1.63, 2.07), times_text(0.5, 0.4, 0.8), times_text(0.25)
    ('1.84 (1.63 to 2.07)', '2.00 (1.25 to 2.50)', '4.00')
    """
    ends = () if low is None or high is None else (low, high) if place >= 1 else (1 / high, 1 / low)
    ratio = max(place, 1 / place)
    return interval_words(ratio, *ends) if ends else ratio_text(ratio)


def _reasons(row: dict[str, Any]) -> Iterator[str]:
    withheld = codes("no ratio", "verdict withheld")
    yield from (REASONS[code].meaning for code in row["reasons"] if code in withheld)


def _head(row: dict[str, Any], pairs: int, baselines: int) -> str:
    """Head the group of a row with what is decided of it."""
    level, baseline = names_of(row)
    match row["verdict"]:
        case "better" | "worse" if pairs == 1:
            ahead, behind = (level, baseline) if row["verdict"] == "better" else (baseline, level)
            return f"{ahead} ahead of {behind}"
        case "better":
            return f"ahead of {baseline if baselines == 1 else 'the second'}"
        case "worse":
            return f"{baseline if baselines == 1 else 'the second'} ahead"
        case "equivalent":
            return f"equal within {percent(row['margin'] - 1)}"
        case "inconclusive":
            return "inconclusive"
        case "single runs":
            return "single runs: no interval, no verdict"
        case "bound only":
            return "only a bound is known"
    reasons = " ".join(_reasons(row))
    return f"not comparable: {reasons[:1].lower()}{reasons[1:].rstrip('.')}"


def _grouped(rows: pl.DataFrame, view: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of a view under the heads of their groups, the largest effect first."""
    place = pl.col("verdict").replace_strict(_VERDICTS, range(len(_VERDICTS)), return_dtype=pl.Int64)
    decided = pl.col("verdict").is_in(_VERDICTS[:2])
    in_order = (
        by_size(rows)
        .with_row_index("number")
        .with_columns(
            # of what is decided, the group with the first headline stands first; of what is not, the largest group
            rank=pl.when(decided).then(pl.lit(0)).otherwise(place),
            weight=pl.when(decided)
            .then(pl.col("number").cast(int).min().over("head"))
            .otherwise(-pl.len().cast(int).over("head")),
        )
        .sort("rank", "weight", "head", maintain_order=True)
    )
    for (head,), group in in_order.group_by("head", maintain_order=True):
        has_head = group.row(0, named=True)["verdict"] != "single runs" or group.height < rows.height
        if (has_head and rows["head"].n_unique() > 1) or group.row(0, named=True)["verdict"] == "not comparable":
            yield from ([row] for row in _head_rows(str(head), view))
        for row in group.iter_rows(named=True):
            yield [_row(row, view, _wrapped(row["name"]), row["text"])]


def _head_rows(head: str, view: str) -> Iterator[dict[str, Any]]:
    """Yield a head, with an empty row above it, and as many rows as its lines take."""
    lines, wide = textwrap.wrap(head, _HEAD_CHARACTERS), textwrap.wrap(head, _WIDE_HEAD_CHARACTERS)
    if_narrow = math.ceil((HEAD_LINE * len(lines) + GROWS) / _NARROW_STEP)
    if_wide = math.ceil(HEAD_LINE * len(wide) / STEP)
    yield {"view": view, "kind": "gap", "row": ""}
    for number in range(max(if_narrow, if_wide)):
        text = {} if number else {"head": "\n".join(lines), "wide_head": "\n".join(wide)}
        kind = "gap" if number >= if_narrow else "fold" if number >= if_wide else "head"
        yield {"view": view, "kind": kind, "row": " " * (1 + number % 2)} | text  # rows of one name would be one


def _row(row: dict[str, Any], view: str, name: str, text: str) -> dict[str, Any]:
    return {
        "view": view,
        "row": name,
        "kind": "effect",
        "level": row["shown"],
        "tone": tone(row["verdict"]),
        "text": text,
        "summary": row["summary"],
        "place": row["place"],
        "ci_low": row["low"],
        "ci_high": row["high"],
    }


def tone(verdict: str) -> str:
    """Say how a mark is drawn: filled where something is shown, grey where it is not for a filesystem."""
    tones = {"better": "shown", "worse": "shown", "equivalent": "equal", "not comparable": "withheld"}
    return tones.get(verdict, "open")


def _by_operation(rows: pl.DataFrame, view: str, marks: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the marks of each operation and level on one row, with their median and their ends as its text."""
    several = rows["shown"].n_unique() > 1
    for group in rows.partition_by("task", "shown", maintain_order=True):
        low, middle, high = group.select(
            pl.min("place"), pl.median("place").alias("middle"), pl.max("place").alias("high")
        ).row(0)
        task, shown, text = group.select("task", "shown", "text").row(0)
        name = _wrapped(f"{task}, {shown}" if several else task)
        if group.height > 1:
            text = times_text(middle, low, high)
        yield [
            _row(row, view, name, "" if number else text)
            | {"tone": "open" if row["verdict"] == "not comparable" else tone(row["verdict"])}
            | {"ci_low": None, "ci_high": None}
            for number, row in enumerate(_at_steps(group, marks).iter_rows(named=True))
        ]


def _at_steps(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return rows at equal steps of their order by ratio, from end to end, if there are more than can be drawn."""
    if rows.height <= most:
        return rows
    return rows.sort("place")[[number * (rows.height - 1) // (most - 1) for number in range(most)]]


def _wrapped(name: str) -> str:
    return "\n".join(textwrap.wrap(name, LABEL_CHARACTERS))
