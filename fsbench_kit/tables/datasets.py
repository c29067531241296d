"""What a dataset holds, where it comes from, and its diagnostics."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.data.dataset import UNMEASURED, Dataset, LazyDataset
from fsbench_kit.model.conditions import CONDITIONS
from fsbench_kit.model.errors import check_given
from fsbench_kit.model.order import in_order
from fsbench_kit.model.vocabulary import setting_kind, setting_texts
from fsbench_kit.tables.layout import Column, Group, Table, table
from fsbench_kit.tables.messages import NOTHING, counted, listed, message, one_line, text_of
from fsbench_kit.tables.provenance import versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def contents(dataset: Dataset) -> str:
    """Say in a sentence what a dataset holds, and whether there are warnings.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> contents(fsb.read("raw_results/published/sysbench-rhel72"))
    '8 runs of sysbench on ext4 and xfs, with 152 figures; 1 warning about the logs.'
    """
    check_given(dataset, Dataset, "fsb.read(path)")
    tools, filesystems = (
        _all_of(dataset.runs[name].drop_nulls().unique().sort().to_list(), name) for name in ("tool", "filesystem")
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
        f"; {not_ok} failed or partial" if not_ok else "",
        f"; {counted(grave, 'warning')} about the logs" if grave else "",
    ]
    return "".join(parts) + "."


def _all_of(names: Sequence[str], kind: str) -> str:
    """Name all of a kind, or count them if there are many."""
    if len(names) > _MOST_NAMED:
        return counted(len(names), kind)
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


_MOST_NAMED: Final = 8


def reading_findings(dataset: Dataset) -> list[str]:
    """Say whether all figures of some logs were understood, what warnings there are, and what the logs hold.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> reading_findings(fsb.read("raw_results/published/raid1-hdd-2020"))[0]
    '689 figures of 15 runs were read, with 6 warnings.'
    """
    check_given(dataset, Dataset, "fsb.read(path)")
    figures = counted(dataset.measurements.filter("primary").height, "figure")
    of = f"{figures} of {counted(dataset.runs.height, 'run')}"
    unread = dataset.diagnostics.filter(code="UNREAD_FIGURE")["excerpt"]
    if unread.len():
        lines = f"{counted(unread.len(), 'line')} with figures {'was' if unread.len() == 1 else 'were'}"
        first = f"{of} were read; {lines} not understood, such as: {message(unread[0] or NOTHING)}"
    elif grave := [
        counted(number, severity)
        for severity in ("error", "warning")
        if (number := dataset.diagnostics.filter(severity=severity).height)
    ]:
        first = f"{of} were read, with {' and '.join(grave)}."
    else:
        first = f"Every figure in these logs was understood: {of}."
    kinds = (
        dataset.diagnostics.filter(pl.col("severity") != "note", pl.col("code") != "UNREAD_FIGURE")
        .group_by("severity", "code", maintain_order=True)
        .agg(pl.len().alias("times"), pl.col("message").first())
        .sort("severity", "times", descending=[False, True], maintain_order=True)
    )
    several = [
        message(text) + (f" And {times - 1:,} more like it." if times > 1 else "")
        for times, text in kinds.select("times", "message").rows()
    ]
    return [first, *several, contents(dataset)]


def failed_runs(dataset: Dataset) -> list[str]:
    """Say which runs failed or broke off, if any did: a comparison leaves them out.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> failed_runs(fsb.read("raw_results/published/sysbench-rhel72"))
    []
    """
    sources = list(map(one_line, dataset.runs.filter(pl.col("status") != "ok")["source"]))
    return (
        [f"Left out: {counted(len(sources), 'run')} that failed or broke off ({listed(sources)})."]
        if sources
        else []
    )


def runs_table(dataset: Dataset | LazyDataset) -> Table:
    """Make the table of what ran: runs and figures by study, tool and filesystem.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> table = runs_table(fsb.read("raw_results/published/fio-nvme-2021"))
    >>> table.frame().select("tool", "version", "filesystem", "runs", "figures").rows()
    [('fio', '3.21', 'xfs', '1', '61'), ('fio', '3.21', 'zfs', '1', '53')]
    """
    figures = dataset.measurements.lazy().filter("primary").group_by("run_id").len("figures")
    rows = (
        dataset.runs.lazy()
        .join(figures, on="run_id", how="left", maintain_order="left")
        .group_by("study", "origin", "tool", "tool_version", "filesystem", maintain_order=True)
        .agg(
            pl.len().alias("runs"),
            (pl.col("status") != "ok").sum().alias("not_ok"),
            pl.col("figures").sum(),
        )
        .collect(engine="streaming")
    )
    known = in_order(rows["tool_version"].drop_nulls())
    age = pl.col("tool_version").replace_strict(known, range(len(known)), default=None, return_dtype=pl.Int64)
    rows = rows.sort("study", "tool", "filesystem", age, nulls_last=True, maintain_order=True)
    caption = f"{counted(int(rows['runs'].sum()), 'run')}, {counted(int(rows['figures'].sum()), 'figure')}"
    return table(rows, caption, heads={"not_ok": "failed or partial", "tool_version": "version"})


def figures_table(dataset: Dataset) -> Table:
    """Make the table of what was measured: figures by study, tool and metric, and how many are not plain.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> table = figures_table(fsb.read("raw_results/published/sysbench-rhel72"))
    >>> table.frame().select("metric", "measured").rows()[:3]
    [('operations', '32'), ('latency', '32'), ('bytes', '24')]
    """
    state = pl.col("state")
    rows = (
        dataset.measurements.join(dataset.runs.select("run_id", "study", "tool"), on="run_id")
        .group_by("study", "tool", "metric", maintain_order=True)
        .agg(
            pl.col("operation").n_unique().alias("operations"),
            (pl.col("primary") & (state == "measured")).sum().alias("measured"),
            (pl.col("primary") & (state == "censored")).sum().alias("only a bound"),
            (pl.col("primary") & (state == "missing")).sum().alias("missing"),
            (~pl.col("primary")).sum().alias("repeated"),
        )
        .sort("study", "tool", pl.col("measured"), descending=[False, False, True], nulls_last=True)
    )
    return table(rows, f"{counted(dataset.measurements.height, 'figure')} by study, tool and metric")


def settings_table(dataset: Dataset, *, most: int = 60) -> Table:
    """Make the table of settings: their values, in how many runs they are known, and where from.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> table = settings_table(fsb.read("raw_results/published/sysbench-rhel72"))
    >>> table.frame().filter(key="file_size").row(0)
    ('workload', 'file_size', '128 MiB', '8', 'log')
    """
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
    return "; ".join(setting_texts(setting["key"], setting["value"].split("; ")))


def diagnostics_table(dataset: Dataset, *, most: int = 60) -> Table:
    """Make the table of the diagnostics, the gravest first; equal ones are one row.

    So are those about the conditions of a run that differ in their figures only.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> found = diagnostics_table(fsb.read("raw_results/published/raid1-hdd-2020"))
    >>> found.frame().select("severity", "code", "times").row(0)
    ('warning', 'SETTINGS_DISAGREE', '3')
    """
    but_for_figures = pl.col("message").str.replace_all(r"\d[\d.,]*(\s*[KMG]iB)?", "0")
    rows = (
        dataset.diagnostics.group_by(
            "severity",
            "code",
            kind=pl.when(pl.col("code").is_in(list(CONDITIONS))).then(but_for_figures).otherwise("message"),
            maintain_order=True,
        )
        .agg(
            pl.when(pl.col("message").n_unique() == 1)
            .then(pl.col("message").first())
            .otherwise(pl.format("{} The figures differ in other runs.", pl.col("message").first()))
            .alias("message"),
            pl.len().alias("times"),
            pl.coalesce(pl.format("{}:{}", "source", "line"), "source").first().alias("first at"),
            pl.col("excerpt").first(),
        )
        .drop("kind")
        .sort("severity", "times", descending=True, maintain_order=True)
    )
    left_out = f"; the first {most} kinds are shown" if rows.height > most else ""
    number = (
        counted(dataset.diagnostics.height, "diagnostic")
        if rows.height
        else "Reading these logs gave no warnings."
    )
    return table(rows.head(most), f"{number}{left_out}")


def remarks(diagnostics: pl.DataFrame | pl.LazyFrame) -> Iterator[str]:
    """Say what kinds of diagnostics there are, the gravest and most frequent first, by their first.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/raid1-hdd-2020")
    >>> next(remarks(data.diagnostics)).split(" [")[1]
    'SETTINGS_DISAGREE; 5 more in 3 files]'
    """
    kinds = (
        diagnostics.lazy()
        .group_by("severity", "code", maintain_order=True)
        .agg(
            pl.len().alias("times"),
            pl.col("source").n_unique().alias("files"),
            pl.col("source", "line", "message", "excerpt").first(),
        )
        .sort("severity", "times", "code", descending=[True, True, False])
        .collect(engine="streaming")
    )
    for kind in kinds.iter_rows(named=True):
        place = kind["source"] if kind["line"] is None else f"{kind['source']}:{kind['line']}"
        more = kind["times"] - 1
        others = f"; {more:,} more in {counted(kind['files'], 'file')}" if more else ""
        yield f"{kind['severity']}: {place}: {kind['message']} [{kind['code']}{others}]"
        if kind["excerpt"]:
            yield f"    {kind['excerpt']}"


def provenance_table(dataset: Dataset | LazyDataset, parameters: Mapping[str, object]) -> Table:
    """Make the table of what a notebook's figures rest on: data, versions, parameters.

    The hash of a study is the SHA-256 over the sorted SHA-256 of its runs' own bytes.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/sysbench-rhel72")
    >>> provenance_table(data, {"baseline": "ext4"}).frame().filter(table="Parameters").row(0)
    ('Parameters', 'baseline', "'ext4'")
    """
    studies = (
        dataset.runs.lazy()
        .group_by("study", "origin")
        .agg(pl.len().alias("runs"), pl.col("source").n_unique().alias("files"), pl.col("sha256").sort())
        .sort("study", nulls_last=True)
        .collect()
    )
    data = tuple(
        (
            text_of(study),
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
