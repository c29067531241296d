"""``fsbench compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

import fsbench_kit as fsb
from fsbench_kit.cli.console import err, out
from fsbench_kit.cli.groups import chosen
from fsbench_kit.cli.options import Jobs, Names
from fsbench_kit.cli.options import factor as parse_factor
from fsbench_kit.cli.remarks import exit_if_some_input_was_unusable
from fsbench_kit.model.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl


def compare_command(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Logs, studies, folders of them, or patterns in quotes; - for what is piped in. "
            "Two or more are groups to set side by side, the first being the baseline.",
        ),
    ],
    factor: Annotated[
        str | None,
        typer.Option(help="Compare all runs as one pool, by filesystem, host, or the key of a setting."),
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="The level that all others are compared with.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="A metric to compare; can be repeated.")] = None,
    *,
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Compare every level with every other, instead of with a baseline.")
    ] = False,
    consecutive: Annotated[
        bool, typer.Option("--consecutive", help="Compare each level with the one before it, as versions.")
    ] = False,
    labels: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Make each path a group, under one of these labels: old,new."),
    ] = None,
    names: Names = None,
    margin: Annotated[
        float | None,
        typer.Option(
            parser=parse_factor,
            metavar="PERCENT|RATIO",
            help="The largest difference that counts as equal: 5% or 1.05; by default the tolerance, or else 5%.",
        ),
    ] = None,
    to: Annotated[Path | None, typer.Option(help="Write the whole table to a .parquet or .json file.")] = None,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate",
            help="Say what keeps the comparison from passing, and exit with 1 if anything is worse by more than "
            "the tolerance, 4 if anything is not comparable, 3 if anything is undecided.",
        ),
    ] = False,
    jobs: Jobs = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            parser=parse_factor,
            metavar="PERCENT|RATIO",
            help="By how much a figure may be worse and still pass the gate: 5% or 1.05; by default the margin.",
        ),
    ] = None,
) -> None:
    """Compare groups of runs with a baseline: paths with each other, or the levels of a factor.

    fsbench compare old/ new/
    fsbench compare 'old-*.json' 'new-*.json' --labels 6.1,6.8
    fsbench compare results/ --factor filesystem --baseline ext4
    fsbench compare results/ --factor kernel --consecutive
    """
    from fsbench_kit import tables

    if tolerance is not None and not gate:
        raise RequestError("--tolerance works only with --gate", hint="Add --gate, or use --margin.")
    if tolerance is not None and tolerance < 1:
        raise RequestError(f"a tolerance of {tolerance:g} is not a factor of 1 or more", hint="Write 5% or 1.05.")
    if margin is None:
        margin = tolerance if tolerance is not None and tolerance > 1 else _MARGIN
    dataset, factor, first, said = chosen(
        paths, factor=factor, baseline=baseline, labels=labels, names=names, jobs=jobs
    )
    pairs: dict[str, Any] = {"all_pairs": all_pairs, "consecutive": consecutive}
    baseline = baseline if any(pairs.values()) else first
    try:
        comparison = fsb.compare(dataset, factor, baseline, metrics=metric, margin=margin, **pairs)
    except RequestError as error:
        raise RequestError(error.what, hint=_with_proposal(error.hint, dataset, factor)) from None
    if said is not None:
        out.print(Text(said))
    if comparison.is_empty():
        raise _nothing_in_common(dataset, factor)
    if to is not None:
        _write(comparison, to)
    for (study,), rows in comparison.group_by("study", maintain_order=True):
        out.print(study or "", style="bold")
        out.print(tables.comparison_table(rows))
    over_cells = tables.overall_table(fsb.geometric_mean(dataset, factor, baseline, metrics=metric, **pairs))
    if over_cells.groups[0].rows:
        out.print(over_cells)
    exit_if_some_input_was_unusable(dataset.diagnostics)
    if gate:
        _gate(comparison, margin if tolerance is None else tolerance)


def _nothing_in_common(dataset: fsb.Dataset, factor: str) -> RequestError:
    """Say that no two groups did the same, and what they differ in besides."""
    from fsbench_kit.analysis.groups import apart

    found = apart(dataset, factor)
    if found:
        told = ", ".join(f"{name} ({' against '.join(values)})" for name, values in found.items())
        return RequestError(
            f"no two groups did the same work: they differ in {told}",
            hint=f"If that is what you want to compare, make it the factor: --factor {next(iter(found))}",
        )
    return RequestError(
        f"these runs have no two levels of {factor} to compare",
        hint="Add runs that differ in nothing else, or choose another factor.",
    )


_MARGIN: Final = 1.05
_STATUS: Final = {"worse": 1, "not comparable": 4, "undecided": 3}
_MOST_NAMED: Final = 10


def _gate(comparison: pl.DataFrame, tolerance: float) -> None:
    """Pass where nothing is worse and everything is decided; else say what is not, and exit with the gravest."""
    import polars as pl

    from fsbench_kit import tables
    from fsbench_kit.analysis.gate import OBSTACLES, gate

    found = gate(comparison, tolerance)
    worse = "worse" if tolerance == 1 else f"worse by more than {tables.percent(tolerance - 1)}"
    names = tables.varying(comparison)
    status = 0
    for outcome in OBSTACLES:
        rows = found.filter(pl.col("outcome") == outcome)
        if rows.is_empty():
            continue
        status = status or _STATUS[outcome]
        what = worse if outcome == "worse" else outcome
        err.print(f"gate: {rows.height} of {comparison.height} comparisons are {what}")
        for row in rows.head(_MOST_NAMED).iter_rows(named=True):
            cell = ", ".join(
                filter(None, [tables.cell_label(row, names), tables.metric_text(row["metric"], row["statistic"])])
            )
            err.print(f"  {cell}: {tables.sentence(row)}")
        if rows.height > _MOST_NAMED:
            err.print(f"  and {rows.height - _MOST_NAMED} more")
    if status:
        raise typer.Exit(status)
    err.print(f"gate: none of {comparison.height} comparisons is {worse}")


def _with_proposal(hint: str | None, dataset: fsb.Dataset, factor: str) -> str | None:
    """Add to a hint what the names of files could say of the factor, where nothing else does."""
    from pathlib import PurePath

    import polars as pl

    from fsbench_kit.data.name_proposals import proposed

    of_runs = dataset.runs[factor].drop_nulls() if factor in dataset.runs.columns else pl.Series()
    known = not (of_runs.is_empty() and dataset.settings.filter(key=factor).is_empty())
    found = None if known else proposed(map(PurePath, dataset.runs["source"].unique(maintain_order=True)))
    if found is None or not found.examples:
        return hint
    name, said = found.examples[0]
    meaning = ", ".join(f"{key} {value}" for key, value in said.items())
    return (
        f"The names of these files may tell: by '{found.template}', {name} is {meaning}.\n"
        f"If so, add --names '{found.template}'"
        + ("." if factor in said else ", and --factor with one of these keys.")
    )


def _write(comparison: pl.DataFrame, to: Path) -> None:
    writers: dict[str, Callable[[Path], None]] = {
        ".parquet": comparison.write_parquet,
        ".json": comparison.write_json,
    }
    if to.suffix not in writers:
        raise RequestError(f"cannot write a comparison as {to.suffix!r}", file=to, hint="Give .parquet or .json.")
    writers[to.suffix](to)
