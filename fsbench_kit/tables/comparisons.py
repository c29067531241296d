"""Comparisons as tables and as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.analysis.verdict import REASONS
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.tables.cells import CELL, SIZES, cell_label, cell_text, metric_text, ordered, varying
from fsbench_kit.tables.layout import Column, Group, Table, marks
from fsbench_kit.tables.messages import NOTHING, Prefix, counted, digits, one_line, percent, prefix, ratio_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NOT_SHOWN: Final = "~"
"""Stands for a verdict where these runs show neither a difference nor equality."""

Row = dict[str, Any]


def comparison_table(comparison: pl.DataFrame) -> Table:
    """Make the table of a comparison: values, ratio with its interval or why there is none, verdict, notes.

    Parameters
    ----------
    comparison
        What `fsbench_kit.compare` returned, or some rows of it.

    Notes
    -----
    A ratio with a confidence interval is ``1.84 [1.71, 1.98]``; one of single runs names the run-to-run CV at
    which chance alone could give it at the 5 % level. ``~`` means that neither a difference nor equality is shown.
    """
    rows = ordered(comparison)
    names = varying(rows)
    baselines = rows["baseline"].unique().sort().to_list()
    columns = (
        *(
            Column(name.replace("_", " "), "right" if name in (*SIZES, "threads", "iodepth") else "left")
            for name in names
        ),
        *([Column("baseline")] if len(baselines) > 1 else []),
        Column(one_line(baselines[0]) if len(baselines) == 1 else "its value", "right"),
        Column(one_line(str(rows["factor"][0])).replace("_", " ") if rows.height else "level"),
        Column("value", "right"),
        Column(_ratio_head(rows)),
        Column("verdict"),
        Column("runs", "right"),
        Column("notes"),
    )
    footnotes = list(dict.fromkeys(note for notes in rows["footnotes"].to_list() for note in notes))
    mark_of = dict(zip(footnotes, marks(footnotes), strict=True))

    def cells(row: Row, scale: Prefix) -> Iterator[str]:
        yield from (cell_text(name, row[name]) or NOTHING for name in names)
        if len(baselines) > 1:
            yield one_line(row["baseline"])
        yield _value(row["value_baseline"], scale)
        yield one_line(row["level"])
        yield _value(row["value_candidate"], scale)
        yield interval_text(row)
        yield verdict_text(row["verdict"])
        yield _runs_text(row)
        yield " ".join(mark_of[note] for note in row["footnotes"])

    groups = []
    for (metric, statistic), group in rows.group_by("metric", "statistic", maintain_order=True):
        scale = prefix(pl.concat([group["value_baseline"], group["value_candidate"]]), str(metric))
        groups.append(
            Group(
                _group_head(str(metric), str(statistic), scale),
                tuple(tuple(cells(row, scale)) for row in group.iter_rows(named=True)),
            )
        )
    return Table(_caption(rows, names), columns, tuple(groups), tuple(one_line(note) for note in footnotes))


def overall_table(found: pl.DataFrame) -> Table:
    """Make the table of ratios over all cells, for metrics that have several cells, or lack some in a group.

    Parameters
    ----------
    found
        What `fsbench_kit.geometric_mean` returned.
    """
    rows = found.filter((pl.col("cells") > 1) | (pl.col("cells_dropped") > 0))
    footnotes = list(dict.fromkeys(note for notes in rows["footnotes"].to_list() for note in notes))
    mark_of = dict(zip(footnotes, marks(footnotes), strict=True))
    columns = (
        *map(Column, ("study", "tool", "metric", "groups")),
        Column("cells", "right"),
        Column("left out", "right"),
        Column(_ratio_head(rows)),
        Column("half of the cells"),
        Column("notes"),
    )

    def cells(row: Row) -> Iterator[str]:
        yield one_line(row["study"] or NOTHING)
        yield row["tool"]
        better = f" ({row['better']} is better)"
        yield metric_text(row["metric"], row["statistic"]) + better
        yield f"{one_line(row['level'])} / {one_line(row['baseline'])}"
        yield f"{row['cells']:,}"
        yield f"{row['cells_dropped']:,}"
        yield _ratio_text(row)
        low, high = row["quartile_low"], row["quartile_high"]
        yield NOTHING if low is None else f"{ratio_text(low)} to {ratio_text(high)}"
        yield " ".join(mark_of[note] for note in row["footnotes"])

    return Table(
        "Over the cells that both groups have" if rows.height else "No metric has several cells.",
        columns,
        (Group(None, tuple(tuple(cells(row)) for row in rows.iter_rows(named=True))),),
        tuple(one_line(note) for note in footnotes),
    )


def _ratio_text(row: Mapping[str, Any]) -> str:
    if row["ratio"] is None:
        return NOTHING
    ratio = ratio_text(row["ratio"])
    return (
        ratio if row["ci_low"] is None else f"{ratio} [{ratio_text(row['ci_low'])}, {ratio_text(row['ci_high'])}]"
    )


def _caption(rows: pl.DataFrame, names: Sequence[str]) -> str:
    if rows.is_empty():
        return "There is nothing to compare."
    same = cell_label(rows.row(0, named=True), [n for n in CELL if n not in names and n != "scope"])
    return f"{one_line(str(rows['factor'][0])).replace('_', ' ').capitalize()} compared ({same})"


def _ratio_head(rows: pl.DataFrame) -> str:
    confidences = rows["confidence"].drop_nulls().unique()
    if confidences.is_empty():
        return "ratio"
    return f"ratio [{percent(confidences[0])} CI]" if len(confidences) == 1 else "ratio [CI]"


def _group_head(metric: str, statistic: str, scale: Prefix) -> str:
    better = METRICS[metric].better
    return (
        metric_text(metric, statistic)
        + (f", in {scale.unit}" if scale.unit else "")
        + (f" ({better} is better)" if better else "")
    )


def _value(value: float | None, scale: Prefix) -> str:
    return NOTHING if value is None else digits(value / scale.factor)


def interval_text(row: Mapping[str, Any]) -> str:
    """Print a comparison row's ratio with what is known of its uncertainty."""
    low, high = row["rounding_low"], row["rounding_high"]
    if row["ratio"] is None:
        if low is not None and high is not None:
            return f"between {ratio_text(low)} and {ratio_text(high)}"
        if low is not None or high is not None:
            return f"above {ratio_text(low)}" if low is not None else f"below {ratio_text(high)}"
        return NOTHING
    ratio = _ratio_text(row)
    if row["ci_low"] is not None:
        return ratio
    if row["break_even_cv"] is not None:
        return f"{ratio} ({_single_figures(row)}; break-even CV {percent(row['break_even_cv'])})"
    if row["prediction_low"] is not None:
        low, high = ratio_text(row["prediction_low"]), ratio_text(row["prediction_high"])
        return f"{ratio} ({_single_figure(row)} in one group; prediction {low} to {high})"
    return f"{ratio} (no interval)"


def _single_figures(row: Mapping[str, Any]) -> str:
    """Say what the single figures of both groups are of."""
    candidate, baseline = (_figure_of(row[f"averaged_over_{group}"]) for group in ("candidate", "baseline"))
    if candidate == baseline:
        return f"{candidate} each"
    return f"{candidate} of {one_line(row['level'])} and {baseline} of {one_line(row['baseline'])}"


def _single_figure(row: Mapping[str, Any]) -> str:
    """Say what the only figure of one group is of, beside the several of the other."""
    group = "candidate" if row["n_candidate"] == 1 else "baseline"
    return _figure_of(row[f"averaged_over_{group}"])


def _figure_of(averaged_over: int | None) -> str:
    return "one run" if averaged_over is None else f"one mean of {averaged_over} runs"


def _runs_text(row: Mapping[str, Any]) -> str:
    """Count the runs, the pairs of them, or the blocks (rounds, hosts) that hold several."""
    if not row["n_pairs"]:
        return f"{row['n_baseline']}+{row['n_candidate']}"
    return f"{row['n_pairs']} {'blocks' if 'blocks' in row['method'] else 'pairs'}"


def verdict_text(verdict: str) -> str:
    """Print a verdict for a table."""
    return {"inconclusive": NOT_SHOWN, "single runs": "none (single runs)"}.get(verdict, verdict)


def sentence(row: Mapping[str, Any]) -> str:
    r"""Say what a comparison row shows, and what it does not.

    >>> sentence({"level": "xfs", "baseline": "ext4", "ratio": 1.84, "ci_low": 1.71, "ci_high": 1.98,
    ...           "confidence": 0.95, "n_pairs": 5, "method": "paired t on logs", "verdict": "better"})
    'xfs/ext4 = 1.84×, 95\xa0% CI 1.71–1.98, 5 pairs of runs, paired t on logs.'
    """
    groups = f"{one_line(row['level'])}/{one_line(row['baseline'])}"
    if row["ratio"] is None:
        return f"{groups}: {interval_text(row)}." if interval_text(row) != NOTHING else f"{groups}: no ratio."
    ratio = f"{groups} = {ratio_text(row['ratio'])}×"
    if row["ci_low"] is not None:
        return f"{ratio}, {_interval_sentence(row)}"
    if row["break_even_cv"] is not None:
        return (
            f"{ratio} from {_single_figures(row)}; no confidence interval is possible. If runs vary by "
            f"{percent(row['break_even_cv'])} (CV) or more, chance alone could produce this at the 5 % level."
        )
    if row["prediction_low"] is not None:
        low, high = ratio_text(row["prediction_low"]), ratio_text(row["prediction_high"])
        return (
            f"{ratio} with {_single_figure(row)} in one group: {low}–{high} if that group varies as much as the "
            "other, which these runs cannot show."
        )
    return f"{ratio}; no confidence interval is possible."


def _interval_sentence(row: Mapping[str, Any]) -> str:
    low, high = row["ci_low"], row["ci_high"]
    interval = f"{percent(row['confidence'])} CI {ratio_text(low)}–{ratio_text(high)}"
    runs = _runs_text(row)
    of_runs = runs if runs.endswith("blocks") else f"{runs} of runs" if row["n_pairs"] else f"{runs} runs"
    evidence = f"{interval}, {of_runs}, {row['method']}"
    if row["verdict"] == "equivalent":
        return f"{evidence}: equal within the margin."
    if row["verdict"] != "inconclusive":
        return f"{evidence}."
    if low <= 1 <= high:
        return f"{evidence}: these runs neither show a difference nor exclude one {_up_to(low, high)}."
    return f"{evidence}: corrected for the number of rows, no difference is shown."


def _up_to(low: float, high: float) -> str:
    furthest = max(high, 1 / low)
    return f"up to {percent(furthest - 1)}" if furthest < 2 else f"up to a factor of {ratio_text(furthest)}"


def summary(comparison: pl.DataFrame) -> list[str]:
    """Say what a comparison shows, in one sentence for each baseline and level.

    The sentence counts verdicts. It weighs nothing: rows of different metrics are different questions.
    """
    if comparison.is_empty():
        return ["These runs have no two groups to compare."]
    sentences = []
    for (baseline, level), rows in ordered(comparison).group_by("baseline", "level", maintain_order=True):
        if rows.height == 1:
            sentences.append(sentence(rows.row(0, named=True)))
            continue
        counts = rows["verdict"].value_counts()
        count = dict(zip(counts["verdict"], counts["count"], strict=True))
        said = [f"{text} in {count[verdict]}" for verdict, text in _SUMMARY.items() if verdict in count]
        groups = f"{one_line(str(level))} against {one_line(str(baseline))}"
        sentences.append(f"{groups}, {counted(rows.height, 'comparison')}: {', '.join(said)}.")
    return sentences


_SUMMARY: Final = {
    "better": "better",
    "worse": "worse",
    "equivalent": "equal within the margin",
    "inconclusive": "inconclusive",
    "single runs": "no interval (single runs)",
    "bound only": "only a bound",
    "not comparable": "not comparable",
}


def reasons_table(comparison: pl.DataFrame) -> Table:
    """Make the table of why a comparison says less than it might, the most frequent reason first."""
    rows = (
        comparison.explode("reasons")
        .drop_nulls("reasons")
        .group_by("reasons", maintain_order=True)
        .agg(pl.len().alias("rows"))
        .sort("rows", descending=True, maintain_order=True)
        .rows()
    )
    columns = (Column("what is missing"), Column("why"), Column("rows", "right"), Column("code"))
    explained = tuple(
        (REASONS[code].kind, REASONS[code].meaning, f"{count} of {comparison.height}", code)
        for code, count in rows
    )
    caption = "What these figures cannot show" if rows else "Nothing stands against these figures."
    return Table(caption, columns, (Group(None, explained),))
