"""Comparisons as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.analysis.metrics import OF_EFFECT, PLACE
from fsbench_kit.analysis.verdict import REASONS
from fsbench_kit.model.errors import check_given
from fsbench_kit.model.order import in_order
from fsbench_kit.model.units import from_to
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.tables.cells import CELL, SIZES, cell_label, cell_text, groups_text, metric_text, ordered, varying
from fsbench_kit.tables.layout import Column, Group, Table
from fsbench_kit.tables.messages import (
    NOTHING,
    Footnotes,
    Prefix,
    digits,
    one_line,
    percent,
    prefix,
    ratio_text,
    ratio_texts,
    with_interval,
)
from fsbench_kit.tables.verdicts import ONE_RUN_EACH, single_figure, single_figures, tested

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NOT_SHOWN: Final = "~"
"""Stands for a verdict where these runs show neither a difference nor equality."""

_NOT_SHOWN_MEANS: Final = f"{NOT_SHOWN}  These runs show neither a difference nor equality."

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

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/recorded/ext4-xfs-loop-2026")
    >>> table = comparison_table(fsb.compare(data, metrics=["iops"]))
    >>> [column.head for column in table.columns][:2], table.groups[0].rows[0][:3]
    (['ext4', 'xfs'], ('34.3', '33.9', '0.99 [0.97, 1.01]'))
    """
    check_given(comparison, pl.DataFrame, "fsb.compare(dataset)", "level", "metric", "ratio", "verdict")
    rows = ordered(comparison)
    differing = varying(rows)
    names = [name for name in differing if name != "operation" or not _follows_from_pattern(rows, differing)]
    baselines, levels = in_order(rows["baseline"]), in_order(rows["level"])
    two = len(baselines) == len(levels) == 1
    footnotes = Footnotes(rows["footnotes"])
    columns = (
        *(
            Column(name.replace("_", " "), "right" if name in (*SIZES, "threads", "iodepth") else "left")
            for name in names
        ),
        *([Column("baseline")] if len(baselines) > 1 else []),
        Column(one_line(baselines[0]) if len(baselines) == 1 else "its value", "right"),
        *(
            [Column(one_line(levels[0]), "right")]
            if two
            else [
                Column(one_line(str(rows["factor"][0])).replace("_", " ") if rows.height else "level"),
                Column("value", "right"),
            ]
        ),
        Column(_ratio_head(rows)),
        Column("verdict"),
        Column("runs", "right"),
        Column("notes"),
    )

    def cells(row: Row, scale: Prefix) -> Iterator[str]:
        yield from (cell_text(name, row[name]) or NOTHING for name in names)
        if len(baselines) > 1:
            yield one_line(row["baseline"])
        yield _value(row["value_baseline"], scale)
        if not two:
            yield one_line(row["level"])
        yield _value(row["value_candidate"], scale)
        yield interval_text(row)
        yield verdict_text(row["verdict"])
        yield _runs_text(row)
        yield footnotes.marks(row["footnotes"])

    groups = []
    for (metric, statistic), group in rows.group_by("metric", "statistic", maintain_order=True):
        scale = prefix(pl.concat([group["value_baseline"], group["value_candidate"]]), str(metric))
        groups.append(
            Group(
                _group_head(str(metric), str(statistic), scale),
                tuple(tuple(cells(row, scale)) for row in group.iter_rows(named=True)),
            )
        )
    return Table(
        _caption(rows, differing),
        columns,
        tuple(groups),
        footnotes.texts,
        (
            *((_NOT_SHOWN_MEANS,) if "inconclusive" in rows["verdict"] else ()),
            *((corrected,) if (corrected := tested(rows)) else ()),
        ),
    )


def _follows_from_pattern(rows: pl.DataFrame, names: Sequence[str]) -> bool:
    """Whether the pattern tells the operation: a randread only reads."""
    pairs = rows.select("pattern", "operation").unique()
    return "pattern" in names and pairs.height == rows["pattern"].drop_nulls().n_unique()


def effects(comparison: pl.DataFrame) -> pl.DataFrame:
    """Return one row of those that answer one question in several metrics, such as bandwidth and IOPS of a job.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> comparison = fsb.compare(fsb.read("raw_results/published/sysbench-rhel72"))
    >>> comparison.height, effects(comparison).height
    (16, 12)
    """
    check_given(comparison, pl.DataFrame, "fsb.compare(dataset)", "effect", "metric", "verdict")
    return (
        comparison.with_row_index("place")
        .sort(PLACE, maintain_order=True)
        .unique(OF_EFFECT, keep="first", maintain_order=True)
        .sort("place")
        .drop("place")
    )


def overall_table(found: pl.DataFrame) -> Table:
    """Make the table of ratios over all cells, for metrics that have several cells, or lack some in a group.

    Parameters
    ----------
    found
        What `fsbench_kit.geometric_mean` returned.

    Notes
    -----
    A study, tool or pair of groups that is the same in all rows stands in the caption, and columns that say
    nothing are left out.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/recorded/ext4-xfs-loop-2026")
    >>> overall_table(fsb.geometric_mean(data, metrics=["file_rate"])).groups[0].rows
    (('File rate (higher is better)', '4', '0.76 [0.70, 0.82]', '0.64 to 0.94', '0.32 to 1.78', 'a'),)
    """
    rows = found.filter((pl.col("cells") > 1) | (pl.col("cells_dropped") > 0))
    footnotes = Footnotes(rows["footnotes"])
    columns = (
        *map(Column, ("study", "tool", "metric", "groups")),
        Column("cells", "right"),
        Column("left out", "right"),
        Column(_ratio_head(rows)),
        Column("half of the cells"),
        Column("a further cell"),
        Column("notes"),
    )

    def cells(row: Row) -> Iterator[str]:
        yield one_line(row["study"] or NOTHING)
        yield row["tool"]
        better = f" ({row['better']} is better)"
        yield metric_text(row["metric"], row["statistic"]) + better
        yield groups_text(row)
        yield f"{row['cells']:,}"
        yield f"{row['cells_dropped']:,}"
        yield _ratio_text(row)
        yield _range_text(row["quartile_low"], row["quartile_high"])
        yield _range_text(row["prediction_low"], row["prediction_high"])
        yield footnotes.marks(row["footnotes"])

    if rows.is_empty():
        return Table("No metric has several cells.", columns, (Group(None, ()),))
    of_columns = list(zip(*map(tuple, map(cells, rows.iter_rows(named=True))), strict=True))
    of_all = {
        column.head: shown[0]
        for column, shown in zip(columns, of_columns, strict=True)
        if column.head in ("study", "tool", "groups") and len(set(shown)) == 1
    }
    kept = [
        (column, shown)
        for column, shown in zip(columns, of_columns, strict=True)
        if column.head not in of_all and not {*shown} <= {NOTHING, "0", ""}
    ]
    same = ", ".join(name for name in of_all.values() if name != NOTHING)
    return Table(
        "Over the cells that both groups have" + (f" ({same})" if same else ""),
        tuple(column for column, _ in kept),
        (Group(None, tuple(zip(*(shown for _, shown in kept), strict=True))),),
        footnotes.texts,
    )


def summary_table(found: pl.DataFrame) -> Table:
    """Make the table of ratios over hosts, studies or the like, with what they let expect of a further one.

    Parameters
    ----------
    found
        What `fsbench_kit.summarise` returned.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/recorded/ext4-xfs-loop-2026")
    >>> summary_table(fsb.summarise(data, over="host")).caption  # one host tells nothing of others
    'Nothing to summarise: no cell has an interval in two or more of the units.'
    """
    rows = ordered(found)
    names = varying(rows)
    over = str(rows["over"][0]).replace("_", " ") if rows.height else ""
    columns = (
        Column("metric"),
        *(Column(name.replace("_", " ")) for name in names),
        Column("groups"),
        Column(f"{over}s", "right"),
        Column("left out", "right"),
        Column(_ratio_head(rows)),
        Column(f"a further {over}"),
    )

    def cells(row: Row) -> Iterator[str]:
        yield metric_text(row["metric"], row["statistic"]) + f" ({row['better']} is better)"
        yield from (cell_text(name, row[name]) or NOTHING for name in names)
        yield groups_text(row)
        yield str(len(row["units"]))
        yield ", ".join(map(one_line, row["left_out"])) or NOTHING
        yield _ratio_text(row)
        yield _range_text(row["prediction_low"], row["prediction_high"])

    shown = tuple(tuple(cells(row)) for row in rows.iter_rows(named=True))
    nothing = "Nothing to summarise: no cell has an interval in two or more of the units."
    caption = f"Over {over}s, as a sample of many" if shown else nothing
    return Table(caption, columns if shown else (), (Group(None, shown),))


def _range_text(low: float | None, high: float | None) -> str:
    return NOTHING if low is None or high is None else from_to(*ratio_texts(low, high))


def _ratio_text(row: Mapping[str, Any]) -> str:
    return with_interval(row["ratio"], row["ci_low"], row["ci_high"])


def _caption(rows: pl.DataFrame, names: Sequence[str]) -> str:
    if rows.is_empty():
        return "There is nothing to compare."
    factor = one_line(str(rows["factor"][0])).replace("_", " ").capitalize()
    common = _in_common(rows, [name for name in CELL if name not in names and name != "scope"])
    return f"{factor} compared ({common})" if common else f"{factor} compared"


def _in_common(rows: pl.DataFrame, names: Sequence[str]) -> str:
    """Name what all cells have in common, and then what only those of one tool, or of one study, do."""
    of_all = [name for name in names if rows[name].n_unique() == 1]
    of_some = [name for name in names if name not in of_all]
    whose = [name for name in ("study", "tool") if rows[name].n_unique() > 1]
    labels = [cell_label(rows.row(0, named=True), of_all)]
    for part in rows.partition_by("study", "tool", maintain_order=True) if of_some else ():
        first = part.row(0, named=True)
        if label := cell_label(first, of_some):
            labels.append(f"{cell_label(first, whose)}: {label}")
    return "; ".join(filter(None, labels))


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
    """Print a comparison row's ratio with what is known of its uncertainty.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/recorded/ext4-xfs-loop-2026")
    >>> interval_text(fsb.compare(data, metrics=["iops"]).row(0, named=True))
    '0.99 [0.97, 1.01]'
    """
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
        figures = single_figures(row)
        means = "" if figures == ONE_RUN_EACH else f"{figures}; "  # which the numbers of runs do not tell
        return f"{ratio} ({means}break-even CV {percent(row['break_even_cv'])})"
    if row["prediction_low"] is not None:
        prediction = _range_text(row["prediction_low"], row["prediction_high"])
        return f"{ratio} ({single_figure(row)} in one group; prediction {prediction})"
    return f"{ratio} (no interval)"


def _runs_text(row: Mapping[str, Any]) -> str:
    """Count the runs of either group, or the rounds or hosts that both share."""
    if not row["n_pairs"]:
        return f"{row['n_baseline']}+{row['n_candidate']}"
    return f"{row['n_pairs']} {row['over']}"


def verdict_text(verdict: str) -> str:
    """Print a verdict for a table."""
    return {"inconclusive": NOT_SHOWN, "single runs": "none (single runs)"}.get(verdict, verdict)


def reasons_table(comparison: pl.DataFrame) -> Table:
    """Make the table of why a comparison says less than it might, the most frequent reason first.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/fio-nvme-2021")
    >>> reasons_table(fsb.compare(data, metrics=["iops"])).frame()["code"].to_list()
    ['CONFIG_MISMATCH', 'ONE_RUN_NO_REPLICATES']
    """
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
    caption = "What these figures cannot show" if rows else "No verdict is withheld, and no interval is missing."
    return Table(caption, columns, (Group(None, explained),))
