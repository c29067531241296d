"""Frames as tables and sentences for people.

A table is one content with two renderings: HTML in a notebook, text on a terminal. All of it is plain text, which
may hold names from logs, and is shown as it is, never as markup.
"""

from __future__ import annotations

import hashlib
import math
import platform
import re
import textwrap
from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from io import StringIO
from itertools import islice, product
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Final, Literal

import polars as pl
import rich.box
import rich.console
import rich.table
from rich.text import Text

from fsbench_kit import settings
from fsbench_kit.dataset import UNMEASURED
from fsbench_kit.units import humanise
from fsbench_kit.vocabulary import METRICS, OPERATIONS, REASONS, setting_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fsbench_kit.dataset import Dataset
    from fsbench_kit.explain import Stretch
    from fsbench_kit.launch import Ability, LaunchResult, Machine

Row = dict[str, Any]

NOTHING: Final = "–"
NOT_SHOWN: Final = "~"
"""Stands for a verdict where these runs show neither a difference nor its absence."""

CELL: Final = tuple(name for name in settings.CELL if name not in ("metric", "statistic"))
"""The columns that name a cell of a comparison."""
_SIZES: Final = ("block_size", "file_size")
_LONGEST_TEXT: Final = 160
_LONG: Final = 40
"""Rows from which on a page shows a table in a window of its own."""
_TERMINAL_WIDTH: Final = 160


@dataclass(frozen=True, slots=True)
class Column:
    """A column's head, and on which side its cells stand: words left, figures right."""

    head: str
    justify: Literal["left", "right"] = "left"


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that belong together, such as those of one unit, which `head` names."""

    head: str | None
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """A table that a notebook shows as HTML, and a terminal as text.

    Attributes
    ----------
    caption
        What the table shows.
    columns, groups
        The heads, and the rows under them, with one string for each column.
    footnotes
        Sentences, marked a, b, c, ... in this order.
    """

    caption: str
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    footnotes: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        heads = "".join(_html_cell("th", c.head, c, scope="col") for c in self.columns)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.footnotes)
        height = sum(len(group.rows) for group in self.groups)
        if not height:
            return f"<p>{escape(self.caption)}</p>"
        kind = "table long" if height > _LONG else "table"
        return (
            f'<div class="{kind}" tabindex="0" role="region" aria-label="{escape(self.caption)}">'
            f'<table><caption style="text-align:left">{escape(self.caption)}</caption>'
            f"<thead><tr>{heads}</tr></thead>{''.join(map(self._html_group, self.groups))}</table>"
            + (f'<ol type="a">{notes}</ol>' if notes else "")
            + "</div>"
        )

    def _html_group(self, group: Group) -> str:
        head = ""
        if group.head is not None:
            head = (
                f'<tr><th colspan="{len(self.columns)}" scope="rowgroup" style="text-align:left">'
                f"{escape(group.head)}</th></tr>"
            )
        rows = "".join(
            f"<tr>{''.join(_html_cell('td', text, c) for c, text in zip(self.columns, row, strict=True))}</tr>"
            for row in group.rows
        )
        return f"<tbody>{head}{rows}</tbody>"

    def __rich__(self) -> rich.console.Group:
        notes = zip(_marks(self.footnotes), self.footnotes, strict=True)
        return rich.console.Group(
            Text(self.caption, style="bold"),
            *(self._rich_group(group) for group in self.groups if group.rows),
            *(Text(f"{mark}  {note}") for mark, note in notes),
        )

    def _rich_group(self, group: Group) -> rich.table.Table:
        title = Text(group.head) if group.head is not None else None
        grid = rich.table.Table(title=title, title_justify="left", box=rich.box.SIMPLE_HEAD)
        for column in self.columns:
            grid.add_column(Text(column.head), justify=column.justify)
        for row in group.rows:
            grid.add_row(*(Text(text) for text in row))
        return grid

    def __repr__(self) -> str:
        text = StringIO()
        rich.console.Console(file=text, width=_TERMINAL_WIDTH, force_jupyter=False).print(self)
        return text.getvalue()


def _html_cell(tag: str, text: str, column: Column, **attributes: str) -> str:
    # The alignment stands in the cell because JupyterLab's own style would override a class.
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    wrap = ";white-space:nowrap" if column.justify == "right" else ""
    return f'<{tag}{more} style="text-align:{column.justify}{wrap}">{escape(text)}</{tag}>'


def _marks(of: Sequence[object]) -> list[str]:
    """Return as many marks as there are footnotes: a, b, ..., z, aa, ab, ..."""
    letters = (*ascii_lowercase, *(a + b for a, b in product(ascii_lowercase, repeat=2)))
    return list(islice(letters, len(of)))


def table(frame: pl.DataFrame, caption: str, *, heads: Mapping[str, str] | None = None) -> Table:
    """Make a table of any frame; null is shown as a dash.

    Parameters
    ----------
    heads
        Column -> head, where a column's name with its underscores as blanks does not do.
    """
    heads = heads or {}
    columns = tuple(
        Column(heads.get(name, name.replace("_", " ")), "right" if dtype.is_numeric() else "left")
        for name, dtype in frame.schema.items()
    )
    rows = tuple(tuple(_text(value) for value in row) for row in frame.rows())
    return Table(caption, columns, (Group(None, rows),))


def _text(value: object) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return _digits(value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else one_line(str(value))


def one_line(text: str) -> str:
    """Put a text from a log on one line of bearable length, without characters that cannot be printed.

    A log can name a job with ten thousand characters, and with such as no drawing program can read.
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _LONGEST_TEXT else f"{line[: _LONGEST_TEXT - 41]}…{line[-40:]}"


# --- figures -----------------------------------------------------------------------------------------------------


def _digits(value: float) -> str:
    """Print a number with three significant digits, and as many more as its whole part has.

    >>> [_digits(x) for x in (1.8412, 0.0421, 123.4, 45678.0, 0.0)]
    ['1.84', '0.0421', '123', '45,678', '0']
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def ratio_text(value: float) -> str:
    """Print a ratio: with two decimals, or three significant digits where it is below 0.1.

    >>> [ratio_text(x) for x in (1.8412, 0.956, 0.0421, 23.46)]
    ['1.84', '0.96', '0.0421', '23.5']
    """
    return f"{value:.2f}" if 0.1 <= value < 10 else _digits(value)


def percent(share: float) -> str:
    """Print a share as a percentage with two significant digits, or as whole per cent from ten on.

    >>> print(percent(0.25), percent(0.034), percent(0.952), percent(1.5))
    25 % 3.4 % 95 % 150 %
    """
    number = f"{100 * share:.0f}" if abs(share) >= 0.0995 else f"{100 * share:.2g}"
    return f"{number}\N{NO-BREAK SPACE}%"


@dataclass(frozen=True, slots=True)
class Prefix:
    """A unit as people write it, and how many base units it is."""

    unit: str
    factor: float


_SECONDS: Final = (Prefix("s", 1.0), Prefix("ms", 1e-3), Prefix("µs", 1e-6), Prefix("ns", 1e-9))
_BINARY: Final = tuple(Prefix(f"{p}iB", 1024.0**n) for n, p in reversed(list(enumerate("KMGTP", 1))))
_RATES: Final = (Prefix("million/s", 1e6), Prefix("thousand/s", 1e3))
_SHARES: Final = {
    "cpu",
    "cpu_user",
    "cpu_system",
    "capacity",
    "capacity_change",
    "disk_utilisation",
    "group_share",
}


def prefix(values: pl.Series, metric: str) -> Prefix:
    """Choose the unit in which figures of one metric are best read side by side: that of their median."""
    unit = METRICS[metric].unit
    if metric in _SHARES:
        return Prefix("%", 0.01)
    median = values.abs().quantile(0.5) or 0.0
    if unit == "s":
        return next((p for p in _SECONDS if median >= p.factor), _SECONDS[-1] if median else _SECONDS[0])
    if unit == "1/s":
        return next((p for p in _RATES if median >= 10 * p.factor), Prefix("1/s", 1.0))
    if unit in ("B", "B/s"):
        found = next((p for p in _BINARY if median >= p.factor), Prefix("B", 1.0))
        return Prefix(found.unit + unit[1:], found.factor)
    return Prefix("", 1.0)


# --- comparisons -------------------------------------------------------------------------------------------------


def ordered(comparison: pl.DataFrame) -> pl.DataFrame:
    """Sort a comparison as people look for things: by metric, then by cell, sizes and depths as numbers."""
    metrics, operations = list(METRICS), list(OPERATIONS)
    return comparison.sort(
        pl.col("metric").replace_strict(metrics, range(len(metrics)), default=len(metrics)),
        "metric",
        "statistic",
        "study",
        "tool",
        "pattern",
        "part",
        pl.col("operation").replace_strict(operations, range(len(operations)), default=len(operations)),
        *_SIZES,
        "threads",
        pl.col("iodepth").cast(pl.Int64, strict=False),
        "level",
        nulls_last=True,
        maintain_order=True,
    )


def varying(frame: pl.DataFrame) -> list[str]:
    """Name the columns of `CELL` that tell the cells of a frame apart.

    These are study, tool and operation, where they differ at all, and others where they differ within one tool of
    one study: that fio's runs have an iodepth and others have none is no news.
    """
    everywhere = frame.select(pl.col(CELL).n_unique()).rows(named=True)[0]
    others = [name for name in CELL if name not in ("study", "tool", "operation")]
    within = frame.group_by("study", "tool").agg(pl.col(others).n_unique()).max().rows(named=True)[0]
    differ = everywhere | {name: within[name] for name in others}
    return [name for name in CELL if (differ[name] or 0) > 1]


def cell_text(name: str, value: object) -> str:
    """Print one of a cell's coordinates; null is nothing."""
    if value is None:
        return ""
    if name in _SIZES:
        return humanise(float(str(value)), "B")
    return str(value).replace("_", " ") if name == "operation" else one_line(str(value))


def cell_label(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Name a cell by some of its columns: ``randrw, read, block size 16 KiB, threads 4``."""
    bare = ("study", "tool", "pattern", "part", "operation")
    parts = (
        cell_text(name, row[name]) if name in bare else f"{name.replace('_', ' ')} {cell_text(name, row[name])}"
        for name in names
        if row[name] is not None
    )
    return ", ".join(parts)


def metric_text(metric: str, statistic: str) -> str:
    """Name a metric and its statistic: ``Completion latency, p99``."""
    name = "IOPS" if metric == "iops" else metric.replace("_", " ").capitalize().replace("Cpu", "CPU")
    return name if statistic == "value" else f"{name}, {statistic}"


def comparison_table(comparison: pl.DataFrame) -> Table:
    """Make the table of a comparison: values, ratio with its interval or why there is none, verdict, reasons.

    Parameters
    ----------
    comparison
        What `fsbench_kit.compare.compare` returned, or some rows of it.

    Notes
    -----
    A ratio with a confidence interval is ``1.84 [1.71, 1.98]``; one of single runs names the run-to-run CV from
    which on chance alone could give it at the 5 % level. ``~`` stands where neither a difference nor its absence
    is shown.
    """
    rows = ordered(comparison)
    names = varying(rows)
    baselines = rows["baseline"].unique().sort().to_list()
    columns = (
        *(
            Column(name.replace("_", " "), "right" if name in (*_SIZES, "threads", "iodepth") else "left")
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
    mark_of = dict(zip(footnotes, _marks(footnotes), strict=True))

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


def _caption(rows: pl.DataFrame, names: Sequence[str]) -> str:
    if rows.is_empty():
        return "Nothing could be set side by side."
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
    return NOTHING if value is None else _digits(value / scale.factor)


def interval_text(row: Mapping[str, Any]) -> str:
    """Print a comparison row's ratio with what is known of its uncertainty."""
    low, high = row["rounding_low"], row["rounding_high"]
    if row["ratio"] is None:
        if low is not None and high is not None:
            return f"between {ratio_text(low)} and {ratio_text(high)}"
        if low is not None or high is not None:
            return f"above {ratio_text(low)}" if low is not None else f"below {ratio_text(high)}"
        return NOTHING
    ratio = ratio_text(row["ratio"])
    if row["ci_low"] is not None:
        return f"{ratio} [{ratio_text(row['ci_low'])}, {ratio_text(row['ci_high'])}]"
    if row["break_even_cv"] is not None:
        return f"{ratio} (one run each; break-even CV {percent(row['break_even_cv'])})"
    if row["prediction_low"] is not None:
        low, high = ratio_text(row["prediction_low"]), ratio_text(row["prediction_high"])
        return f"{ratio} (one run on a side; prediction {low} to {high})"
    return f"{ratio} (no interval)"


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
    sides = f"{one_line(row['level'])}/{one_line(row['baseline'])}"
    if row["ratio"] is None:
        return f"{sides}: {interval_text(row)}." if interval_text(row) != NOTHING else f"{sides}: no ratio."
    ratio = f"{sides} = {ratio_text(row['ratio'])}×"
    if row["ci_low"] is not None:
        return f"{ratio}, {_interval_sentence(row)}"
    if row["break_even_cv"] is not None:
        return (
            f"{ratio} from one run each; no interval can be given. At a run-to-run CV of "
            f"{percent(row['break_even_cv'])} or more, chance alone could give this at the 5 % level."
        )
    if row["prediction_low"] is not None:
        low, high = ratio_text(row["prediction_low"]), ratio_text(row["prediction_high"])
        return (
            f"{ratio} with one run on a side: {low}–{high} if that side is as noisy as the other, "
            "which these runs cannot tell."
        )
    return f"{ratio}; no interval can be given."


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
    return f"{evidence}: with the correction for all rows together, no difference is shown."


def _up_to(low: float, high: float) -> str:
    furthest = max(high, 1 / low)
    return f"up to {percent(furthest - 1)}" if furthest < 2 else f"up to a factor of {ratio_text(furthest)}"


def summary(comparison: pl.DataFrame) -> list[str]:
    """Say what a comparison shows, in one sentence for each baseline and level.

    The sentence counts verdicts. It weighs nothing: rows of different metrics are different questions.
    """
    if comparison.is_empty():
        return ["All these runs are of one kind: nothing could be set side by side."]
    sentences = []
    for (baseline, level), rows in ordered(comparison).group_by("baseline", "level", maintain_order=True):
        if rows.height == 1:
            sentences.append(sentence(rows.row(0, named=True)))
            continue
        counts = rows["verdict"].value_counts()
        count = dict(zip(counts["verdict"], counts["count"], strict=True))
        said = [f"{text} in {count[verdict]}" for verdict, text in _SUMMARY.items() if verdict in count]
        sides = f"{one_line(str(level))} against {one_line(str(baseline))}"
        sentences.append(f"{sides}, {counted(rows.height, 'comparison')}: {', '.join(said)}.")
    return sentences


_SUMMARY: Final = {
    "better": "better",
    "worse": "worse",
    "equivalent": "equal within the margin",
    "inconclusive": "not decided",
    "single runs": "no interval (single runs)",
    "bound only": "only a bound",
    "not comparable": "not comparable",
}


def counted(number: int, noun: str) -> str:
    """Print a number with its noun, in the plural where it needs one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# --- datasets ----------------------------------------------------------------------------------------------------


def contents(dataset: Dataset) -> str:
    """Say in a sentence what a dataset holds, and whether anything is wrong with it."""
    tools, filesystems = (
        ", ".join(dataset.runs[name].drop_nulls().unique().sort()) for name in ("tool", "filesystem")
    )
    figures = dataset.measurements.filter("primary").height
    before = dataset.runs.filter(UNMEASURED).height
    not_ok = dataset.runs.filter(pl.col("status") != "ok").height
    grave = dataset.diagnostics.filter(pl.col("severity") != "note").height
    parts = [
        f"{counted(dataset.runs.height, 'run')} of {tools}",
        f" on {filesystems}" if filesystems else "",
        f", with {counted(figures, 'figure')}",
        f"; {counted(before, 'run')} came before the first round" if before else "",
        f"; {not_ok} failed or are partial" if not_ok else "",
        f"; {counted(grave, 'remark')} of weight about the logs" if grave else "",
    ]
    return "".join(parts) + "."


def order_table(dataset: Dataset) -> Table:
    """Make the table of the runs one by one, in the order in which they were made as far as that is known."""
    rows = dataset.runs.sort("study", "order", "started_at", nulls_last=True).select(
        "study",
        "order",
        pl.coalesce(pl.col("round").cast(pl.String), pl.col("stage").cast(pl.String)).alias("round"),
        "target",
        "workload",
        "tool",
        "filesystem",
        pl.col("started_at").dt.strftime("%Y-%m-%d %H:%M:%S"),
        pl.col("duration"),
        pl.col("status").cast(pl.String),
        "source",
    )
    return table(rows, "The runs in order", heads={"started_at": "started (UTC)", "duration": "duration, s"})


def remarks_table(result: LaunchResult) -> Table:
    """Make the table of what a launch said: its notes, what failed, and why it ended early if it did."""
    rows = [
        *(("note", note) for note in result.notes),
        *((f"{run.name} failed", why) for run, why in result.failures.items()),
        *([("ended early", result.stopped)] if result.stopped else []),
    ]
    frame = pl.DataFrame(rows, schema={"": pl.String, "what": pl.String}, orient="row")
    return table(frame, "Remarks on the launch" if rows else "There was nothing to remark on the launch")


def steadiness_table(found: pl.DataFrame) -> Table:
    """Make the table of `fsbench_kit.steadiness.steadiness`: what is not steady first."""
    cells = (
        [name for name in varying(found) if name not in ("study", "tool", "filesystem")] if found.height else []
    )
    rows = found.sort("steady", nulls_last=True, maintain_order=True).select(
        "target",
        "workload",
        *(name for name in dict.fromkeys(["operation", *cells])),
        "metric",
        "rounds",
        *(pl.col(share).map_elements(percent, return_dtype=pl.String) for share in ("range", "slope")),
        pl.col("steady").replace_strict({True: "steady", False: "not steady"}, return_dtype=pl.String),
    )
    return table(rows, "Steady state: the last five rounds, range within 20 % and slope within 10 % of their mean")


def runs_table(dataset: Dataset) -> Table:
    """Make the table of what ran: runs and figures by study, tool and filesystem."""
    figures = dataset.measurements.filter("primary").group_by("run_id").len("figures")
    rows = (
        dataset.runs.join(figures, on="run_id", how="left")
        .group_by("study", "origin", "tool", "tool_version", "filesystem", maintain_order=True)
        .agg(
            pl.len().alias("runs"),
            (pl.col("status") != "ok").sum().alias("not_ok"),
            pl.col("figures").sum(),
        )
        .sort("study", "tool", "filesystem", nulls_last=True)
    )
    caption = f"{counted(dataset.runs.height, 'run')}, {counted(int(figures['figures'].sum()), 'figure')}"
    return table(rows, caption, heads={"not_ok": "failed or partial", "tool_version": "version"})


def figures_table(dataset: Dataset) -> Table:
    """Make the table of what was measured: figures by study, tool and metric, and how many are not plain."""
    state = pl.col("state")
    rows = (
        dataset.measurements.join(dataset.runs.select("run_id", "study", "tool"), on="run_id")
        .group_by("study", "tool", "metric", maintain_order=True)
        .agg(
            pl.col("operation").n_unique().alias("operations"),
            (pl.col("primary") & (state == "measured")).sum().alias("measured"),
            (pl.col("primary") & (state == "censored")).sum().alias("only a bound"),
            (pl.col("primary") & (state == "missing")).sum().alias("missing"),
            (~pl.col("primary")).sum().alias("second printings"),
        )
        .sort("study", "tool", pl.col("measured"), descending=[False, False, True], nulls_last=True)
    )
    return table(rows, f"Figures by study, tool and metric: {counted(dataset.measurements.height, 'figure')}")


def diagnostics_table(dataset: Dataset, *, most: int = 60) -> Table:
    """Make the table of what was odd about the logs, the gravest first; equal remarks are one row."""
    rows = (
        dataset.diagnostics.group_by("severity", "code", "message", maintain_order=True)
        .agg(
            pl.len().alias("times"),
            pl.coalesce(pl.format("{}:{}", "source", "line"), "source").first().alias("first at"),
            pl.col("excerpt").first(),
        )
        .sort("severity", "times", descending=True, maintain_order=True)
    )
    left_out = f"; the first {most} kinds are shown" if rows.height > most else ""
    number = counted(dataset.diagnostics.height, "remark") if rows.height else "No remarks"
    return table(rows.head(most), f"{number} about the logs{left_out}")


def settings_table(dataset: Dataset, *, most: int = 60) -> Table:
    """Make the table of settings: their values, in how many runs they are known, and where from."""
    rows = (
        settings.effective(dataset.settings)
        .group_by("key", maintain_order=True)
        .agg(
            pl.col("value").unique(maintain_order=True).str.join("; "),
            pl.len().alias("runs"),
            pl.col("origin").cast(pl.String).unique(maintain_order=True).str.join(", ").alias("known from"),
        )
        .with_columns(
            pl.col("key").map_elements(setting_kind, return_dtype=pl.String).alias("kind"),
            pl.struct("key", "value").map_elements(_setting_text, return_dtype=pl.String).alias("value"),
        )
        .sort("kind", "key")
        .select("kind", "key", "value", "runs", "known from")
    )
    left_out = f"; the first {most} are shown" if rows.height > most else ""
    return table(
        rows.head(most), f"{counted(rows.height, 'setting')} of {counted(dataset.runs.height, 'run')}{left_out}"
    )


def _setting_text(setting: Mapping[str, str]) -> str:
    """Print a setting's values, sizes for people where they are whole numbers of bytes."""
    if setting["key"] not in (*_SIZES, "memory", "total_size"):
        return setting["value"]
    values = setting["value"].split("; ")
    return "; ".join(humanise(float(value), "B") if value.isdecimal() else value for value in values)


def reasons_table(comparison: pl.DataFrame) -> Table:
    """Make the table of why a comparison says less than one might expect, the most frequent reason first."""
    rows = (
        comparison.explode("reasons")
        .drop_nulls("reasons")
        .group_by("reasons", maintain_order=True)
        .agg(pl.len().alias("rows"))
        .sort("rows", descending=True, maintain_order=True)
        .rows()
    )
    columns = (Column("what is missing"), Column("why"), Column("rows", "right"), Column("code"))
    explained = tuple((*REASONS[code], f"{count} of {comparison.height}", code) for code, count in rows)
    caption = "What these figures cannot show" if rows else "No reason stands against these figures."
    return Table(caption, columns, (Group(None, explained),))


def repeats_table(planned: pl.DataFrame, caption: str) -> Table:
    """Make the table of how many runs a side needs, with the cells by what sets them apart.

    Parameters
    ----------
    planned
        What `fsbench_kit.repeats.repeats` returned.
    caption
        What the numbers of runs are for.
    """
    names = [*varying(planned), "metric", "statistic"] if "metric" in planned.columns else []
    shown = planned.select(*names, pl.col("^(pilot_runs|cv.*|for_.*)$")).with_columns(
        pl.col("cv", "cv_high").map_elements(percent, return_dtype=pl.String)
    )
    if planned["cv"].equals(planned["cv_high"]):
        shown = shown.drop("cv_high")
    return table(
        shown, caption, heads={"cv": "runs vary by", "cv_high": "at most", "for_equivalence": "for equality"}
    )


def audit_table(audit: pl.DataFrame) -> Table:
    """Make the table of an audit: under what is said, what came of it, and why.

    Parameters
    ----------
    audit
        What `fsbench_kit.claims.audit` returned, or some rows of it.
    """
    footnotes = list(dict.fromkeys(note for notes in audit["footnotes"].to_list() for note in notes))
    mark_of = dict(zip(footnotes, _marks(footnotes), strict=True))
    columns = tuple(map(Column, ("verdict", "by the figures", "evidence", "why", "notes")))
    rows = audit.select("says", "verdict", "arithmetic", "evidence", "reason", "footnotes").rows()
    groups = tuple(
        Group(_in_line(says), ((*map(_in_line, texts), " ".join(mark_of[note] for note in notes)),))
        for says, *texts, notes in rows
    )
    caption = ", ".join(audit["study"].unique(maintain_order=True))
    return Table(caption, columns, groups, tuple(one_line(note) for note in footnotes))


def _in_line(text: str) -> str:
    """Put a text on one line, however long: names in logs can hold anything."""
    return " ".join(text.split())


def contradictions_table(audit: pl.DataFrame) -> Table:
    """List every comparison that speaks against a claim of an audit, under the claim."""
    groups = tuple(
        Group(
            one_line(f"{row['study']}: {row['says']}"), tuple((one_line(text),) for text in row["contradicting"])
        )
        for row in audit.iter_rows(named=True)
        if row["contradicting"]
    )
    number = sum(len(group.rows) for group in groups)
    return Table(
        f"{counted(number, 'comparison')} against {counted(len(groups), 'claim')}", (Column("found"),), groups
    )


def audit_summary(audit: pl.DataFrame) -> str:
    """Say in two sentences what came of an audit: how many claims have which verdict, and what they rest on."""
    verdicts = audit["verdict"].value_counts(sort=True)
    counts = dict(verdicts.sort("count", "verdict", descending=[True, False]).rows())
    said = ", ".join(f"{number} {_VERDICTS_OF_CLAIMS[verdict]}" for verdict, number in counts.items())
    replicated = audit.filter(evidence="replicated").height
    verb = "rests" if replicated == 1 else "rest"
    return (
        f"Of {counted(audit.height, 'claim')}, {said}. "
        f"{replicated or 'None'} of them {verb} on runs that were repeated and printed one by one."
    )


_VERDICTS_OF_CLAIMS: Final = {
    "supported": "are supported",
    "contradicted": "are contradicted by the logs",
    "arithmetically wrong": "are not what the figures give",
    "arithmetically right, unreplicated": "are right by the figures, without replication",
    "not comparable": "are right by the figures of sides that differ in more than the filesystem",
    "no data": "cannot be computed from what is printed",
}


def replication_table(found: pl.DataFrame) -> Table:
    """Make the table of a replication: each published ratio beside ours, and what may be said of the two.

    Parameters
    ----------
    found
        What `fsbench_kit.replicate.beside` returned.
    """
    names = ("pattern", "operation", "block_size", "threads")
    notes = [
        [*(f"Published: {note}" for note in row["published_notes"]), *(f"Here: {note}" for note in row["notes"])]
        for row in found.iter_rows(named=True)
    ]
    footnotes = list(dict.fromkeys(note for of_row in notes for note in of_row))
    mark_of = dict(zip(footnotes, _marks(footnotes), strict=True))
    columns = (
        *(
            Column(name.replace("_", " "), "right" if name in ("block_size", "threads") else "left")
            for name in names
        ),
        Column("ratio of"),
        Column("published [rounding]"),
        Column("here [95 % CI]"),
        Column("runs", "right"),
        Column("the published ratio"),
        Column("notes"),
    )
    groups: dict[str, list[tuple[str, ...]]] = {}
    for row, of_row in zip(found.iter_rows(named=True), notes, strict=True):
        groups.setdefault(metric_text(row["metric"], row["statistic"]), []).append(
            (
                *(cell_text(name, row[name]) or NOTHING for name in names),
                one_line(f"{row['level']} to {row['baseline']}"),
                _with_ends(row["published_ratio"], row["published_low"], row["published_high"]),
                _with_ends(row["ratio"], row["ci_low"], row["ci_high"]),
                f"{row['n_baseline']} and {row['n_candidate']}",
                REPLICATION_FINDINGS[row["finding"]],
                " ".join(mark_of[note] for note in of_row),
            )
        )
    return Table(
        "Published ratios and ours" if groups else "No ratio could be had both from the study and here.",
        columns,
        tuple(Group(head, tuple(rows)) for head, rows in groups.items()),
        tuple(one_line(note) for note in footnotes),
    )


def _with_ends(value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ratio_text(value)
    return f"{ratio_text(value)} [{ratio_text(low)}, {ratio_text(high)}]"


REPLICATION_FINDINGS: Final = {
    "inside": "lies inside our interval",
    "same direction": "lies outside our interval, which is on the same side of 1",
    "other direction": "lies outside our interval, which is on the other side of 1",
    "open": "lies outside our interval, which holds 1",
    "no interval": "has no interval of ours beside it",
}


def replication_summary(found: pl.DataFrame) -> str:
    """Say in a few sentences what may be said of a study by its replication: of each ratio of the first metric."""
    if found.is_empty():
        return (
            "No ratio could be had both from the study and here: there was no more than one of the study's "
            "filesystems at hand, or nothing was run."
        )
    first = found.row(0, named=True)
    rows = found.filter(metric=first["metric"], statistic=first["statistic"])
    said = []
    for row in rows.iter_rows(named=True):
        what = one_line(", ".join(dict.fromkeys(filter(None, (row["pattern"], row["operation"])))))
        ours = f"[{ratio_text(row['ci_low'])}, {ratio_text(row['ci_high'])}]" if row["ci_low"] is not None else ""
        finding = REPLICATION_FINDINGS[row["finding"]].replace("our interval", f"our interval {ours}", 1)
        said.append(f"{ratio_text(row['published_ratio'])} in {what} {finding}")
    sides = one_line(f"{first['level']} to {first['baseline']}")
    metric = metric_text(first["metric"], first["statistic"]).lower()
    return (
        f"Published ratios of {sides}, {metric}: {'; '.join(said)}. "
        "This neither confirms nor refutes them: the machine, the versions and the sizes are others."
    )


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages whose results end up in a report."""
    packages = ("fsbench-kit", "altair", "numpy", "polars", "scipy")
    return {"Python": platform.python_version()} | {name: version(name) for name in packages}


def provenance_table(dataset: Dataset, parameters: Mapping[str, object]) -> Table:
    """Make the table of what a notebook's figures rest on: data, versions, parameters.

    The hash of a study is the SHA-256 over the sorted SHA-256 of its runs' own bytes.
    """
    studies = (
        dataset.runs.group_by("study", "origin")
        .agg(pl.len().alias("runs"), pl.col("source").n_unique().alias("files"), pl.col("sha256").sort())
        .sort("study", nulls_last=True)
    )
    data = tuple(
        (
            _text(study),
            f"{counted(runs, 'run')} in {counted(files, 'file')}{f', {origin}' if origin else ''}; "
            f"SHA-256 {hashlib.sha256(''.join(hashes).encode()).hexdigest()}",
        )
        for study, origin, runs, files, hashes in studies.rows()
    )
    return Table(
        "Data, versions, parameters",
        (Column("what"), Column("which")),
        (
            Group("Data", data),
            Group("Versions", tuple(versions().items())),
            Group("Parameters", tuple((name, one_line(repr(value))) for name, value in parameters.items())),
        ),
    )


# --- machines ----------------------------------------------------------------------------------------------------


def machine_table(machine: Machine, abilities: Iterable[Ability]) -> Table:
    """Make the table of what a machine has for launches, and of what it can do with that."""
    loop = "yes" if machine.loop_devices else "the kernel has none"
    rows = [
        *((program.name, _version_number(version)) for program, version in machine.programs),
        *((program.name, f"missing (Debian package {program.package})") for program in machine.missing),
    ]
    able = [
        ("filesystems of the kernel", ", ".join(machine.filesystems)),
        ("privileges", "may mount" if machine.administrator else "may not mount: launches take directories"),
        ("loop devices", loop),
        ("loop images in mounts of their own", machine.isolation_problem or "yes"),
        ("free space here", humanise(machine.free_bytes, "B")),
    ]
    here = {
        "target": "Targets",
        "device": "Block devices",
        "workload": "Tools",
    }
    groups = {kind: [(a.name, a.problem or "yes") for a in abilities if a.kind == kind] for kind in here}
    return Table(
        "This machine",
        (Column("what"), Column("here")),
        (
            Group("Programs", tuple(rows)),
            Group("What launches can do", tuple(able)),
            *(Group(here[kind], tuple(group)) for kind, group in groups.items() if group),
        ),
    )


def _version_number(version: str | None) -> str:
    number = re.search(r"\d+(?:\.\d+)+\w*", version or "")
    return number[0] if number is not None else version or "there; it does not tell its version"


_EXPLANATION_WIDTH: Final = 100


def explanation(source: str, stretches: Iterable[Stretch]) -> Iterator[str]:
    """Yield the lines that show what a file became: its line numbers, the number of the run, text, and meaning."""
    yield source
    yield f"{'line':>9}  run"
    for stretch in stretches:
        lines = f"{stretch.first}" if stretch.first == stretch.last else f"{stretch.first}-{stretch.last}"
        head = f"{lines:>9}  {stretch.run or '':>3}  "
        nothing = f"  ({stretch.nothing})" if stretch.nothing else ""
        yield head + _shortened(stretch.text, _EXPLANATION_WIDTH - len(head) - len(nothing)) + nothing
        for words in stretch.became:
            yield from textwrap.wrap(
                words, _EXPLANATION_WIDTH, initial_indent=" " * 14 + "→ ", subsequent_indent=" " * 16
            )


def _shortened(text: str, width: int) -> str:
    """Cut out the middle of a text that is too long."""
    if len(text) <= width:
        return text
    kept = (width - 3) // 2
    return f"{text[:kept]} … {text[-kept:]}"
