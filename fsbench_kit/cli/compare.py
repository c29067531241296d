"""``fsbench compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

import fsbench_kit as fsb
from fsbench_kit.cli.console import out
from fsbench_kit.cli.gate import JUNIT, Gate
from fsbench_kit.cli.groups import chosen
from fsbench_kit.cli.options import (
    Assume,
    Baseline,
    Confidence,
    Jobs,
    Masked,
    Names,
    assumed,
    conditions,
    of_factor,
    of_words,
    words,
)
from fsbench_kit.cli.remarks import exit_if_some_input_was_unusable, print_unusable
from fsbench_kit.cli.saving import check_endings, masked, saved
from fsbench_kit.model.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping


def compare_command(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Logs, studies, folders of them, or patterns in quotes; - reads standard input. "
            "Two or more paths are groups, and the first is the baseline.",
        ),
    ],
    factor: Annotated[
        str | None,
        typer.Option(
            help="Pool all runs and compare them by a factor: filesystem, host, or a setting such as iodepth."
        ),
    ] = None,
    baseline: Baseline = None,
    metric: Annotated[list[str] | None, typer.Option(help="A metric to compare; can be repeated.")] = None,
    *,
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Compare every level with every other, instead of with a baseline.")
    ] = False,
    consecutive: Annotated[
        bool, typer.Option("--consecutive", help="Compare each level with the one before it, as versions.")
    ] = False,
    rows: Annotated[str | None, of_words("Rows of the table: operation, block_size, ...")] = None,
    columns: Annotated[str | None, of_words("Columns of the table: filesystem, block_size, metric, ...")] = None,
    labels: Annotated[str | None, of_words("Make each path a group, with these names: old,new.")] = None,
    over: Annotated[
        str | None,
        typer.Option(help="Summarise over hosts, studies or another property of runs, and predict the next one."),
    ] = None,
    names: Names = None,
    margin: Annotated[
        float | None,
        of_factor(
            "The largest difference that counts as equal: 5% or 1.05; by default the tolerance, or else 5%."
        ),
    ] = None,
    to: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Write all columns to a .csv, .json or .parquet file, or the tables shown to .md or .tex; "
            "with --gate, .md and .xml (JUnit) get the gate's result. Can be repeated.",
        ),
    ] = None,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate",
            help="List what keeps the comparison from passing, and exit with 1 if anything is worse by more than "
            "the tolerance, else 4 if anything is not comparable, else 3 if anything is undecided.",
        ),
    ] = False,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=A,B,...", help="Compare only these rows: operation=read, block_size=4k,8k, ..."),
    ] = None,
    confidence: Confidence = "95%",  # type: ignore[assignment]  # is parsed
    include_failed: Annotated[
        bool, typer.Option("--include-failed", help="Include failed and partial runs.")
    ] = False,
    assume: Assume = None,
    jobs: Jobs = None,
    mask: Masked = False,
    tolerance: Annotated[
        float | None,
        of_factor("How much worse a figure may be without failing the gate: 5% or 1.05; by default the margin."),
    ] = None,
) -> None:
    """Compare groups of runs with a baseline: paths with each other, or the levels of a factor.

    fsbench compare old/ new/
    fsbench compare 'old-*.json' 'new-*.json' --labels 6.1,6.8
    fsbench compare results/ --factor filesystem --baseline ext4 --to table.tex
    fsbench compare results/ --factor kernel --consecutive
    fsbench compare old/ new/ --gate --tolerance 5% --to gate.md --to gate.xml
    """
    from fsbench_kit import tables
    from fsbench_kit.data.tabular import keep_logs, sources

    if tolerance is not None and not gate:
        raise RequestError("--tolerance works only with --gate", hint="Add --gate, or use --margin.")
    if tolerance is not None and tolerance < 1:
        raise RequestError(f"a tolerance of {tolerance:g} is not a factor of 1 or more", hint="Write 5% or 1.05.")
    if margin is None:
        margin = tolerance if tolerance is not None and tolerance > 1 else _MARGIN
    check_endings(to, *([JUNIT] if gate else []))
    selection = conditions(where)
    dataset, factor, first, message = chosen(
        paths,
        factor=factor,
        baseline=baseline,
        labels=labels,
        names=names,
        assume=assumed(assume),
        jobs=jobs,
        metrics=metric,
        where=selection,
    )
    for target in to or ():
        keep_logs(sources(dataset.frames), target)
    which: dict[str, Any] = {
        "metrics": metric,
        "where": selection,
        "confidence": confidence,
        "include_failed": include_failed,
        "all_pairs": all_pairs,
        "consecutive": consecutive,
    }
    baseline = baseline if all_pairs or consecutive else first
    try:
        comparison = fsb.compare(dataset, factor, baseline, margin=margin, **which)
    except RequestError as error:
        raise RequestError(error.what, hint=_hint(error, dataset, factor, paths)) from None
    comparison = masked(comparison, dataset, mask=mask)
    if message is not None:
        out.print(message)
    if comparison.is_empty():
        raise _nothing_in_common(dataset, factor, which)
    listed = comparison if metric else tables.effects(comparison)
    if rows or columns:
        shown = [tables.pivot_table(listed, rows=words(rows), columns=words(columns))]
    else:
        shown = [tables.comparison_table(each) for _, each in listed.group_by("study", maintain_order=True)]
    over_cells = fsb.geometric_mean(dataset, factor, baseline, **which)
    over_cells = over_cells.join(listed, on=["metric", "statistic"], how="semi", maintain_order="left")
    over_cells = masked(over_cells, dataset, mask=mask)
    if (overall := tables.overall_table(over_cells)).groups[0].rows:
        shown.append(overall)
    if over is not None:
        of_runs = {name: which[name] for name in ("metrics", "where", "confidence", "include_failed")}
        summary = fsb.summarise(dataset, over, factor, baseline, **of_runs)
        shown.append(tables.summary_table(masked(summary, dataset, mask=mask)))
    for table in shown:
        out.print(table)
    if twins := comparison.height - listed.height:
        more = "--metric NAME shows one, --to FILE writes all of them"
        say = "row says" if twins == 1 else "rows say"
        out.print(f"{twins} more {say} the same in another metric: {more}.")
    for finding in [*_changes(dataset, factor, margin, which), *tables.findings(listed)]:
        out.print(finding)
    print_unusable(dataset.diagnostics)
    if gate:
        report = Gate(comparison, margin if tolerance is None else tolerance)
        report.save([target for target in to or () if target.suffix == JUNIT])
        saved([target for target in to or () if target.suffix != JUNIT], report.found, report.table, *shown)
        report.print()
        exit_if_some_input_was_unusable(dataset.diagnostics)
        report.exit()
        return
    saved(to, comparison, *shown)
    exit_if_some_input_was_unusable(dataset.diagnostics)


def _changes(
    dataset: fsb.Dataset | Mapping[str, fsb.Dataset], factor: str, margin: float, which: Mapping[str, Any]
) -> list[str]:
    """Report the version, commit or date from which figures differ, if the factor is ordered in time."""
    from fsbench_kit import tables
    from fsbench_kit.analysis.trend import in_time, trend

    if not in_time(factor) or not isinstance(dataset, fsb.Dataset):
        return []
    options = {name: which[name] for name in ("metrics", "where", "confidence")}
    return tables.trend_findings(trend(dataset, factor, margin=margin, **options))


def _hint(error: RequestError, dataset: fsb.Dataset, factor: str, paths: list[str]) -> str | None:
    """Return what to do next: a suggested spelling, or a template that the file names suggest."""
    from fsbench_kit.cli.proposals import proposals

    if error.hint is not None and "Did you mean" in error.hint:
        return error.hint
    return proposals(dataset, factor, "compare", paths) or error.hint


def _nothing_in_common(dataset: fsb.Dataset, factor: str, which: Mapping[str, Any]) -> RequestError:
    """Return an error saying that no two groups did the same work, and in which settings they differ."""
    from fsbench_kit.analysis.groups import apart

    found = apart(dataset, factor, **{name: which[name] for name in ("metrics", "where", "include_failed")})
    if found:
        differences = ", ".join(f"{name} ({' against '.join(values)})" for name, values in found.items())
        hint = "Add runs that measure the same, or choose another factor."
        if found.keys().isdisjoint(_OF_FIGURES):
            hint = f"If that is what you want to compare, make it the factor: --factor {next(iter(found))}"
        return RequestError(f"no two groups did the same work: they differ in {differences}", hint=hint)
    failed = 0 if which["include_failed"] else int((dataset.runs["status"] != "ok").sum())
    left_out = f"{failed} of {dataset.runs.height} runs failed or are partial. " if failed else ""
    return RequestError(
        f"these runs have no two levels of {factor} to compare",
        hint=f"{left_out}Add runs that differ in nothing else, or choose another factor.",
    )


_OF_FIGURES: Final = ("scope", "part", "operation", "work", "metric", "statistic")
"""The parts of a cell that tell figures apart, and not runs: no factor."""

_MARGIN: Final = 1.05
