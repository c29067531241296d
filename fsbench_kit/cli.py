"""The command ``fsbench``: thin, every command is a few lines over the package.

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

import polars as pl
import typer
from rich.console import Console

from fsbench_kit import launch as launching
from fsbench_kit import tables
from fsbench_kit.analysis.comparison import compare
from fsbench_kit.analysis.geometric_mean import geometric_mean
from fsbench_kit.analysis.sample_size import sample_size, widths
from fsbench_kit.analysis.steady_state import sentence, steady_state
from fsbench_kit.claims import audit
from fsbench_kit.data import archive
from fsbench_kit.data.explain import LARGEST
from fsbench_kit.data.explain import explain as explained
from fsbench_kit.documents import Content
from fsbench_kit.launch import abilities, machine, read_plan, shown
from fsbench_kit.model.errors import FsbenchError, InputError, LaunchError, ReportError, RequestError
from fsbench_kit.model.files import flattened, name_of, opened

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.data.dataset import Dataset

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

BENCHMARK_PACKAGES: Final = frozenset({"fio", "bonnie++", "sysbench", "e2fsprogs", "xfsprogs", "btrfs-progs"})
"""What ``doctor --install`` installs. iozone3 is not free software by Debian's lights: its users enable it."""


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
        bool, typer.Option("--install", help="Install what is missing, as root on Debian.")
    ] = False,
) -> None:
    """Say what this machine has for benchmarks, and what is missing."""
    here = machine(Path.cwd())
    out.print(tables.machine_table(here, tuple(abilities(Path.cwd()))))
    wanted = [package for package in here.packages_to_install if package in BENCHMARK_PACKAGES]
    if not wanted:
        return
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *wanted]
    if install and os.geteuid() == 0 and shutil.which("apt-get") and not os.environ.get("FSBENCH_NO_INSTALL"):
        out.print(f"Installing from the distribution, unless FSBENCH_NO_INSTALL=1 is set: {', '.join(wanted)}")
        _install(command)
    else:
        err.print(f"Missing: {', '.join(wanted)}. On Debian, root gets them by: {' '.join(command)}")


def _install(command: list[str]) -> None:
    """Install packages; a failure is told and is no reason to stop, because launches go on with what there is."""
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
            help="Write a .parquet, .csv or .json file with one flat table, or a folder with six frames."
        ),
    ] = None,
    *,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell for each stretch of the files what it became.")
    ] = False,
) -> None:
    """Read logs, say what is in them, and write it as a table if asked to."""
    if explain:
        if to is not None:
            raise RequestError("--explain writes no table", hint="Give --explain or --to, not both.")
        _explain(paths)
        return
    dataset = archive.read(_inputs(paths))
    if to is not None:
        dataset.write(to)
    out.print(tables.runs_table(dataset))
    _print_diagnostics(dataset)
    _exit_if_some_input_was_unusable(dataset)


def _inputs(paths: list[str]) -> list[str | BinaryIO]:
    return [sys.stdin.buffer if path == "-" else path for path in paths]


def _explain(paths: list[str]) -> None:
    for number, item in enumerate(flattened(_inputs(paths)), 1):
        name = str(item) if isinstance(item, Path) else name_of(item, number)
        try:
            with opened(item, may_be_pipe=True) if isinstance(item, Path) else item as file:
                content = Content(file)
                data = content.read(LARGEST + 1)
        except OSError as error:
            raise InputError(f"the file cannot be read: {error.strerror or error}", file=name) from error
        if len(data) > LARGEST:
            raise InputError(
                f"--explain goes through a file line by line, and this one has more than {LARGEST} bytes",
                file=name,
                hint=f"Give a part of it: head -c {LARGEST} FILE | fsbench read --explain -",
            )
        for line in tables.explanation(name, explained(data, name)):
            typer.echo(line)


@app.command("compare")
def compare_command(
    paths: Paths,
    factor: Annotated[str, typer.Option(help="What differs: filesystem, host, or the key of a setting.")] = (
        "filesystem"
    ),
    baseline: Annotated[str | None, typer.Option(help="The level that all others are compared with.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="A metric to compare; can be given again.")] = None,
    *,
    margin: Annotated[float, typer.Option(help="The largest ratio that counts as equal.")] = 1.05,
    to: Annotated[Path | None, typer.Option(help="Write the whole table to a .parquet or .json file.")] = None,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate",
            help="Exit with 1 where a figure is worse, 4 where some have no comparison, 3 where some are open.",
        ),
    ] = False,
) -> None:
    """Compare the runs of each level of a factor with those of a baseline."""
    dataset = archive.read(_inputs(paths))
    comparison = compare(dataset, factor, baseline, metrics=metric, margin=margin)
    if comparison.is_empty():
        raise RequestError(
            f"these runs have no two levels of {factor} that can be set side by side",
            hint="Add runs that differ in it and in nothing else, or choose another factor.",
        )
    if to is not None:
        _write(comparison, to)
    for (study,), rows in comparison.group_by("study", maintain_order=True):
        out.print(study or "", style="bold")
        out.print(tables.comparison_table(rows))
    over_cells = tables.overall_table(geometric_mean(dataset, factor, baseline, metrics=metric))
    if over_cells.groups[0].rows:
        out.print(over_cells)
    _exit_if_some_input_was_unusable(dataset)
    if gate:
        _gate(comparison)


_GATE: Final = (
    (1, {"worse"}, "worse"),
    (4, {"not comparable"}, "not comparable"),
    (3, {"inconclusive", "single runs", "bound only"}, "undecided"),
)
"""Exit status, the verdicts that lead to it, and their name: the first that a comparison has counts."""


def _gate(comparison: pl.DataFrame) -> None:
    """Pass where nothing is worse and everything is decided; otherwise exit with what keeps it from passing."""
    for status, verdicts, name in _GATE:
        found = comparison.filter(pl.col("verdict").is_in(list(verdicts))).height
        if found:
            err.print(f"gate: {found} of {comparison.height} comparisons are {name}")
            raise typer.Exit(status)
    err.print(f"gate: none of {comparison.height} comparisons is worse")


@app.command("repeats")
def repeats_command(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[PATH]...", help="A pilot: runs that were made already.")
    ] = None,
    *,
    cv: Annotated[
        list[float] | None, typer.Option(help="Or how much runs vary, in percent; can be given again.")
    ] = None,
    half_width: Annotated[
        float, typer.Option(help="What the interval is to reach to either side, in percent.")
    ] = 5,
    effect: Annotated[float, typer.Option(help="The difference that is to be shown, in percent.")] = 10,
    margin: Annotated[float, typer.Option(help="The largest ratio that counts as equal.")] = 1.05,
    chart: Annotated[Path | None, typer.Option(help="Draw it to a .svg, .png or .html file.")] = None,
) -> None:
    """Say how many runs a comparison needs, from a pilot or from how much runs vary."""
    from fsbench_kit import charts  # noqa: PLC0415  # Altair takes seconds to import

    variation = [value / 100 for value in cv] if cv else None
    pilot = archive.read(*paths) if paths else None
    planned = sample_size(pilot, cv=variation, half_width=half_width / 100, effect=effect / 100, margin=margin)
    out.print(
        tables.repeats_table(
            planned,
            f"Runs on each side for an interval of ±{half_width:g} %, to show a difference of {effect:g} %,"
            f" to show equality within a factor of {margin:g} (these two 4 times out of 5)",
        )
    )
    if chart is not None:
        high = planned["cv_high"]
        curves = widths(variation or [high.quantile(share, "nearest") or 0 for share in (0, 0.5, 1)])
        charts.save(charts.runs_needed(curves, half_width=half_width / 100), chart)


@app.command("audit")
def audit_command(paths: Paths) -> None:
    """Hold what articles claim against the figures that they print."""
    for _, claims in audit(*paths).group_by("study", maintain_order=True):
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
        str | None, typer.Option(help="The study's name; by default the plan's and the time.")
    ] = None,
    *,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an earlier launch of that name.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a study; by default with the latest that is unfinished.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="With --resume, make runs that failed again.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print every command in order, and run none of them.")
    ] = False,
    device: Annotated[
        list[str] | None,
        typer.Option(help="A block device of the plan, to say once more that its content may be destroyed."),
    ] = None,
) -> None:
    """Make the runs of a plan, in raw_results/runs/."""
    devices = device or []
    if dry_run:
        if plan is None or resume:
            raise RequestError("--dry-run needs a plan", hint="fsbench launch --dry-run plans/quick.toml")
        _rehearse(Path(plan), devices)
        return
    if resume and (study or replace):
        raise RequestError(
            "--resume goes with neither --study nor --replace", hint="fsbench launch --resume STUDY"
        )
    if retry_failed and not resume:
        raise RequestError("--retry-failed needs --resume", hint="fsbench launch --resume --retry-failed STUDY")
    with shown(out) as progress:
        if resume:
            result = launching.resume(
                plan, root=Path.cwd(), retry_failed=retry_failed, devices=devices, progress=progress
            )
        elif plan is None:
            raise RequestError("a plan is missing", hint="fsbench launch plans/quick.toml")
        else:
            result = launching.launch(
                read_plan(Path(plan)),
                root=Path.cwd(),
                study=study,
                replace=replace,
                devices=devices,
                progress=progress,
            )
    out.print(f"{result.done + len(result.runs)} of {result.planned} runs are in {result.folder}")
    with suppress(InputError):  # no run has a figure
        steady = sentence(steady_state(archive.read(result.folder)))
        if steady is not None:
            out.print(steady)
    if result.stopped or result.failures:
        raise LaunchError(result.stopped or f"{len(result.failures)} runs failed or are partial, as told above")


def _rehearse(plan: Path, devices: list[str]) -> None:
    rehearsal = launching.rehearse(read_plan(plan), Path.cwd(), devices)
    for note in rehearsal.notes:
        typer.echo(note)
    for scene in rehearsal.scenes:
        typer.echo(f"\n# {scene.title}")
        for command in scene.commands:
            typer.echo(shlex.join(command))
    typer.echo()
    for estimate in rehearsal.estimates:
        typer.echo(estimate)


@app.command("report")
def report_command(
    spec: Annotated[Path, typer.Argument(help="Which notebooks, with which parameters: a TOML file.")] = Path(
        "notebooks/report.toml"
    ),
    to: Annotated[Path, typer.Option(help="The folder for the pages.")] = Path("reports"),
    *,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run also what has not changed since last time.")] = False,
) -> None:
    """Run notebooks, and publish them as pages that open without a network."""
    from fsbench_kit.notebooks import shown as shown_notebooks  # noqa: PLC0415  # Jupyter takes seconds to import
    from fsbench_kit.report import report  # noqa: PLC0415

    with shown_notebooks(out) as progress:
        manifests = report(spec, to, fresh=fresh, progress=progress)
    for name, manifest in manifests.items():
        if manifest.error is not None:
            err.print(f"{name}: {manifest.error}")
    out.print(f"The report is {to / 'index.html'}")
    if any(manifest.status != "ok" for manifest in manifests.values()):
        raise ReportError("a notebook failed; the index says why")


def _print_diagnostics(dataset: Dataset) -> None:
    for row in dataset.diagnostics.filter(pl.col("severity") != "note").iter_rows(named=True):
        place = row["source"] if row["line"] is None else f"{row['source']}:{row['line']}"
        err.print(f"{row['severity']}: {place}: {row['message']} [{row['code']}]")
        if row["excerpt"]:
            err.print(f"    {row['excerpt']}")
    notes = dataset.diagnostics.filter(pl.col("severity") == "note").height
    if notes:
        err.print(f"{notes} more remarks are mere notes; fsbench read PATH --to FOLDER writes them all.")


def _exit_if_some_input_was_unusable(dataset: Dataset) -> None:
    if (dataset.diagnostics["severity"] == "error").any():
        raise typer.Exit(2)
