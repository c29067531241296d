"""The command ``fsbench``: thin, every command is a few lines over the package.

Each command imports what it uses, and no other: ``fsbench --help`` answers at once.

Exit status: 0 for success; 2 where some input could not be used (what could be is still done) or the request was
wrong; 1 where a launch or a report failed. ``compare --gate`` has more of them, see there.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Final

import typer
from rich.console import Console

import fsbench_kit as fsb
from fsbench_kit.model.errors import FsbenchError, InputError, LaunchError, ReportError, RequestError, needs_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

app = typer.Typer(
    help="Read filesystem benchmark logs, compare them with honest intervals, publish re-executable reports.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
# A pipe has no width; tables that wrap are for a terminal's.
out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)
err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False)

Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH...", help="Logs, studies, or folders of them; - for what is piped in."),
]

Names = Annotated[
    str | None,
    typer.Option(
        metavar="TEMPLATE",
        help="What the names of files mean, such as '{filesystem}_run{round}.json'; with slashes, folders too.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Processes that read thousands of logs; by default as many as processors."),
]


def main() -> None:
    """Run the command, and turn what goes wrong into a message and an exit status."""
    try:
        app()
    except (InputError, RequestError) as error:
        err.print(f"fsbench: {error}")
        sys.exit(2)
    except FsbenchError as error:
        err.print(f"fsbench: {error}")
        sys.exit(1)


@app.command("doctor")
def doctor_command(
    *,
    install: Annotated[
        bool, typer.Option("--install", help="Install what is missing (on Debian, as root).")
    ] = False,
) -> None:
    """Show what this machine can run, and what is missing."""
    with needs_extra("launch", "fsbench doctor"):
        from fsbench_kit.launch import list_capabilities, machine
    from fsbench_kit import tables

    here = machine(Path.cwd())
    out.print(tables.machine_table(here, tuple(list_capabilities(Path.cwd()))))
    wanted = here.packages_to_install
    if not wanted:
        return
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *wanted]
    if install and os.geteuid() == 0 and shutil.which("apt-get") and not os.environ.get("FSBENCH_NO_INSTALL"):
        out.print(f"Installing from the distribution (FSBENCH_NO_INSTALL=1 prevents it): {', '.join(wanted)}")
        _install(command)
    else:
        err.print(f"Missing: {', '.join(wanted)}. On Debian, install them as root: {' '.join(command)}")


def _install(command: list[str]) -> None:
    """Install packages; a failure is reported and no reason to stop, because launches use what there is."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["apt-get", "update", "--quiet=2"], command):
        result = subprocess.run(step, env=environment, capture_output=True, text=True, check=False)
        if result.returncode:
            reason = (result.stderr.strip() or "it does not say why").splitlines()[-1]
            err.print(f"{' '.join(step)} failed: {reason}")
            return


@app.command("read")
def read_command(
    paths: Paths,
    to: Annotated[
        Path | None,
        typer.Option(
            help="Write a .parquet, .csv or .json file with one flat table, or a folder with six frames; "
            "a folder takes any number of logs, and what was interrupted goes on."
        ),
    ] = None,
    *,
    names: Names = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show line by line what became of the files.")
    ] = False,
    jobs: Jobs = None,
) -> None:
    """Read logs, show what is in them, and write them as a table on request."""
    if explain:
        if to is not None:
            raise RequestError("--explain writes no table", hint="Give either --explain or --to.")
        _explain(paths)
        return
    if to is not None and (to.is_dir() or not to.suffix) and "-" not in paths and names is None:
        _ingest(paths, to)
        return
    from fsbench_kit import tables

    dataset = _read(paths, names, jobs)
    if to is not None:
        dataset.write(to)
    out.print(tables.runs_table(dataset))
    _print_diagnostics(dataset)
    _exit_if_some_input_was_unusable(dataset.diagnostics)


def _ingest(paths: list[str], folder: Path) -> None:
    """Read however many logs into a folder."""
    from fsbench_kit import tables
    from fsbench_kit.data.bulk.progress import shown

    try:
        with shown(err) as progress:
            dataset = fsb.ingest(map(_found, paths), to=folder, progress=progress)
    except KeyboardInterrupt:
        err.print(f"Interrupted. The same command goes on where it stopped; until then {folder} is unfinished.")
        raise typer.Exit(130) from None
    out.print(tables.runs_table(dataset))
    _print_diagnostics(dataset)
    _exit_if_some_input_was_unusable(dataset.diagnostics.select("severity").collect())


def _read(paths: list[str], names: str | None, jobs: int | None) -> fsb.Dataset:
    """Read logs, many of them in processes, which start when they are handed the first."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    number = jobs or os.cpu_count() or 1
    if number == 1:
        return fsb.read(_inputs(paths), names=names)
    with ProcessPoolExecutor(number, mp_context=get_context("forkserver")) as executor:
        return fsb.read(_inputs(paths), names=names, executor=executor)


def _inputs(paths: list[str]) -> list[Path | str | BinaryIO]:
    return [sys.stdin.buffer if path == "-" else _found(path) for path in paths]


def _found(path: str) -> Path | str:
    """Return a path or pattern; where it leads nowhere, what comes with the package under that name."""
    from fsbench_kit.data.project import found

    own = found(path)
    return own if own != Path(path) else path


def _explain(paths: list[str]) -> None:
    from fsbench_kit import tables
    from fsbench_kit.data.explain import LARGEST, explain
    from fsbench_kit.data.files import flattened, name_of, opened
    from fsbench_kit.documents import Content

    for number, item in enumerate(flattened(_inputs(paths)), 1):
        name = str(item) if isinstance(item, Path) else name_of(item, number)
        try:
            with opened(item, may_be_pipe=True) if isinstance(item, Path) else item as file:
                content = Content(file)
                data = content.read(LARGEST + 1)
        except OSError as error:
            raise InputError(f"cannot read the file: {error.strerror or error}", file=name) from error
        if len(data) > LARGEST:
            raise InputError(
                f"--explain takes files of up to {LARGEST:,} bytes, and this one is larger",
                file=name,
                hint=f"Explain a part of it: head -c {LARGEST} FILE | fsbench read --explain -",
            )
        for line in tables.explanation(name, explain(data, name)):
            typer.echo(line)


def _factor(text: str) -> float:
    """Read a percentage, or a ratio, as a factor: ``5%`` and ``1.05`` are the same."""
    number = text.strip()
    try:
        return 1 + float(number.removesuffix("%")) / 100 if number.endswith("%") else float(number)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a percentage nor a ratio; write 5% or 1.05") from None


@app.command("compare")
def compare_command(
    paths: Paths,
    factor: Annotated[str, typer.Option(help="What differs: filesystem, host, or the key of a setting.")] = (
        "filesystem"
    ),
    baseline: Annotated[str | None, typer.Option(help="The level that all others are compared with.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="A metric to compare; can be repeated.")] = None,
    *,
    names: Names = None,
    margin: Annotated[
        float | None,
        typer.Option(
            parser=_factor,
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
            parser=_factor,
            metavar="PERCENT|RATIO",
            help="By how much a figure may be worse and still pass the gate: 5% or 1.05; by default the margin.",
        ),
    ] = None,
) -> None:
    """Compare the runs of each level of a factor with those of a baseline."""
    from fsbench_kit import tables

    if tolerance is not None and not gate:
        raise RequestError("--tolerance works only with --gate", hint="Add --gate, or use --margin.")
    if tolerance is not None and tolerance < 1:
        raise RequestError(f"a tolerance of {tolerance:g} is not a factor of 1 or more", hint="Write 5% or 1.05.")
    if margin is None:
        margin = tolerance if tolerance is not None and tolerance > 1 else _MARGIN
    dataset = _read(paths, names, jobs)
    try:
        comparison = fsb.compare(dataset, factor, baseline, metrics=metric, margin=margin)
    except RequestError as error:
        raise RequestError(error.what, hint=_with_proposal(error.hint, dataset, factor)) from None
    if comparison.is_empty():
        raise RequestError(
            f"these runs have no two levels of {factor} to compare",
            hint="Add runs that differ in nothing else, or choose another factor.",
        )
    if to is not None:
        _write(comparison, to)
    for (study,), rows in comparison.group_by("study", maintain_order=True):
        out.print(study or "", style="bold")
        out.print(tables.comparison_table(rows))
    over_cells = tables.overall_table(fsb.geometric_mean(dataset, factor, baseline, metrics=metric))
    if over_cells.groups[0].rows:
        out.print(over_cells)
    _exit_if_some_input_was_unusable(dataset.diagnostics)
    if gate:
        _gate(comparison, margin if tolerance is None else tolerance)


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

    from fsbench_kit.data.name_proposals import proposed

    known = factor in dataset.runs.columns and dataset.runs[factor].null_count() < dataset.runs.height
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


@app.command("repeats")
def repeats_command(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[PATH]...", help="A pilot: logs of earlier runs.")
    ] = None,
    *,
    cv: Annotated[
        list[float] | None, typer.Option(help="Or the variation between runs (CV), in percent; can be repeated.")
    ] = None,
    half_width: Annotated[float, typer.Option(help="Half the width of the interval, in percent.")] = 5,
    effect: Annotated[float, typer.Option(help="The difference to detect, in percent.")] = 10,
    margin: Annotated[float, typer.Option(help="The largest ratio that counts as equal.")] = 1.05,
    chart: Annotated[Path | None, typer.Option(help="Draw the half-widths to a .svg, .png or .html file.")] = None,
) -> None:
    """Say how many runs a comparison needs, from a pilot or from how much runs vary."""
    from fsbench_kit import tables

    variation = [value / 100 for value in cv] if cv else None
    pilot = fsb.read(*paths) if paths else None
    planned = fsb.sample_size(pilot, cv=variation, half_width=half_width / 100, effect=effect / 100, margin=margin)
    out.print(
        tables.repeats_table(
            planned,
            f"Runs in each group for an interval of ±{half_width:g} %, to detect a difference of {effect:g} %,"
            f" to show equality within a factor of {margin:g} (the last two with a power of 80 %)",
        )
    )
    if chart is not None:
        with needs_extra("notebooks", "--chart"):
            from fsbench_kit.charts import runs_needed, save
        from fsbench_kit.analysis.sample_size import widths

        high = planned["cv_high"]
        pairs = bool((planned["unit"] != "run").all())
        curves = widths(variation or [high.quantile(share, "nearest") or 0 for share in (0, 0.5, 1)], pairs=pairs)
        save(runs_needed(curves, half_width=half_width / 100), chart)


@app.command("audit")
def audit_command(paths: Paths) -> None:
    """Check what articles claim against the figures that they print."""
    from fsbench_kit import tables

    for _, claims in fsb.audit(*map(_found, paths)).group_by("study", maintain_order=True):
        out.print(tables.audit_table(claims))


def _write(comparison: pl.DataFrame, to: Path) -> None:
    writers: dict[str, Callable[[Path], None]] = {
        ".parquet": comparison.write_parquet,
        ".json": comparison.write_json,
    }
    if to.suffix not in writers:
        raise RequestError(f"cannot write a comparison as {to.suffix!r}", file=to, hint="Give .parquet or .json.")
    writers[to.suffix](to)


@app.command("launch")
def launch_command(
    plan: Annotated[
        str | None, typer.Argument(help="The plan, a TOML file; with --resume, the name of a study.")
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="A name for the study; by default the plan's id and the time.")
    ] = None,
    *,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an earlier launch of that name.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume a study; by default the latest unfinished one.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="With --resume, repeat the runs that failed.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print every command in order, and run none of them.")
    ] = False,
    device: Annotated[
        list[str] | None,
        typer.Option(help="Confirm that this block device of the plan may be overwritten."),
    ] = None,
) -> None:
    """Run a plan; its results go to raw_results/runs/."""
    with needs_extra("launch", "fsbench launch"):
        from fsbench_kit.launch import launch, read_plan, shown
        from fsbench_kit.launch import resume as resume_launch

    devices = device or []
    if dry_run:
        if plan is None or resume:
            raise RequestError("--dry-run needs a plan", hint="fsbench launch --dry-run plans/quick.toml")
        _dry_run(Path(_found(plan)), devices)
        return
    if resume and (study or replace):
        raise RequestError(
            "--resume cannot be combined with --study or --replace", hint="fsbench launch --resume STUDY"
        )
    if retry_failed and not resume:
        raise RequestError("--retry-failed needs --resume", hint="fsbench launch --resume --retry-failed STUDY")
    with shown(out) as progress:
        if resume:
            result = resume_launch(
                plan, root=Path.cwd(), retry_failed=retry_failed, devices=devices, progress=progress
            )
        elif plan is None:
            raise RequestError("a plan is missing", hint="fsbench launch plans/quick.toml")
        else:
            result = launch(
                read_plan(Path(_found(plan))),
                root=Path.cwd(),
                study=study,
                replace=replace,
                devices=devices,
                progress=progress,
            )
    from fsbench_kit.analysis.steady_state import sentence, steady_state

    out.print(f"{result.done + len(result.runs)} of {result.planned} runs are in {result.folder}")
    with suppress(InputError):  # no run has a figure
        steady = sentence(steady_state(fsb.read(result.folder)))
        if steady is not None:
            out.print(steady)
    if result.stopped or result.failures:
        raise LaunchError(result.stopped or f"{len(result.failures)} runs failed or are partial, see above")


def _dry_run(plan: Path, devices: list[str]) -> None:
    from fsbench_kit.launch import dry_run, read_plan

    preview = dry_run(read_plan(plan), Path.cwd(), devices)
    for note in preview.notes:
        typer.echo(note)
    for step in preview.steps:
        typer.echo(f"\n# {step.title}")
        for command in step.commands:
            typer.echo(shlex.join(command))
    typer.echo()
    for estimate in preview.estimates:
        typer.echo(estimate)


@app.command("init")
def init_command(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder.")] = Path(),
) -> None:
    """Start a project: copy the notebooks, plans and studies that come with fsbench_kit into a folder."""
    from fsbench_kit.data.project import PARTS, start

    start(folder)
    out.print(f"{folder.resolve()} has {', '.join(PARTS)}. Next: fsbench report")


@app.command("report")
def report_command(
    spec: Annotated[
        Path, typer.Argument(help="A TOML file: which notebooks to run, with which parameters.")
    ] = Path("notebooks/report.toml"),
    to: Annotated[Path, typer.Option(help="The folder for the pages.")] = Path("reports"),
    *,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run unchanged notebooks too.")] = False,
) -> None:
    """Run notebooks and publish them as pages that open offline."""
    with needs_extra("notebooks", "fsbench report"):
        from fsbench_kit.notebooks import shown
        from fsbench_kit.report import report
    from fsbench_kit.data.project import is_project, start

    here = Path.cwd()
    if not any(is_project(folder) for folder in (here, *here.parents)):
        if any(here.iterdir()):
            raise RequestError(
                f"{here} is not in a project", hint="fsbench init FOLDER starts one; run fsbench report in there."
            )
        start(here)
        out.print(f"{here} was empty: it has the notebooks, plans and studies of fsbench_kit now.")
    with shown(out) as progress:
        manifests = report(spec, to, fresh=fresh, progress=progress)
    for name, manifest in manifests.items():
        if manifest.error is not None:
            err.print(f"{name}: {manifest.error}")
    out.print(f"The report is {to / 'index.html'}")
    if any(manifest.status != "ok" for manifest in manifests.values()):
        raise ReportError("a notebook failed; the index says why")


_MANY: Final = 100
"""More warnings than these are not printed one by one."""


def _print_diagnostics(dataset: fsb.Dataset | fsb.LazyDataset) -> None:
    import polars as pl

    from fsbench_kit import tables

    is_note = pl.col("severity") == "note"
    diagnostics = dataset.diagnostics.lazy()
    if diagnostics.filter(~is_note).select(pl.len()).collect().item() > _MANY:
        for line in tables.remarks(dataset):
            err.print(line)
        return
    for row in diagnostics.filter(~is_note).collect().iter_rows(named=True):
        place = row["source"] if row["line"] is None else f"{row['source']}:{row['line']}"
        err.print(f"{row['severity']}: {place}: {row['message']} [{row['code']}]")
        if row["excerpt"]:
            err.print(f"    {row['excerpt']}")
    notes = diagnostics.filter(is_note).select(pl.len()).collect().item()
    if notes:
        err.print(f"There are {notes} notes besides; fsbench read PATH --to FOLDER writes all diagnostics.")


def _exit_if_some_input_was_unusable(diagnostics: pl.DataFrame) -> None:
    if (diagnostics["severity"] == "error").any():
        raise typer.Exit(2)
