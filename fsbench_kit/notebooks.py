"""Notebooks as programs: their parameters, and how many of them are run, with a record of each run."""

from __future__ import annotations

import ast
import ctypes
import difflib
import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import sys
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Any, Final, Literal

import nbformat
import papermill
import psutil
import tenacity
from jupyter_client.kernelspec import NoSuchKernel
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from traitlets.config import Config

from fsbench_kit.display import project_root
from fsbench_kit.errors import ReportError, RequestError
from fsbench_kit.tables import versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

PARAMETERS_TAG: Final = "parameters"

_SOCKETS: Final = "fsbench-kernel-"  # followed by the process that made the folder


# --- parameters --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a notebook: its default, and the type that its values have to have."""

    name: str
    default: Any
    kind: Any


def read_parameters(notebook: Path) -> dict[str, Parameter]:
    """Read the parameters of a notebook from the cell that is tagged ``parameters``.

    The cell assigns a literal to each name. The type is that of the annotation (``data: list[str] = [...]``), and
    without one that of the default.

    Raises
    ------
    ReportError
        If the notebook cannot be read, has no such cell, or the cell holds anything else.
    """
    tree = ast.parse(_parameters_source(notebook))
    parameters = {}
    for statement in tree.body:
        try:
            parameter = _parameter(statement)
        except ValueError as error:
            raise ReportError(
                f"the parameters cell holds something that is no parameter: {error}",
                file=notebook,
                excerpt=ast.unparse(statement),
                hint='Write for example: confidence: float = 0.95, or: data = ["raw_results/recorded"]',
            ) from error
        parameters[parameter.name] = parameter
    return parameters


def load(notebook: Path) -> nbformat.NotebookNode:
    """Read a notebook.

    Raises
    ------
    ReportError
        If it cannot be read.
    """
    try:
        return nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call, no-any-return]
    except (OSError, ValueError) as error:
        raise ReportError(f"the notebook cannot be read: {error}", file=notebook) from error


def _parameters_source(notebook: Path) -> str:
    for cell in load(notebook).cells:
        if PARAMETERS_TAG in cell.metadata.get("tags", []):
            return str(cell.source)
    raise ReportError(
        "the notebook has no cell with the tag parameters",
        file=notebook,
        hint="Give the tag to the cell that assigns the defaults, even if it is empty.",
    )


_TYPE_NAMES: Final = {"str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict}


def _parameter(statement: ast.stmt) -> Parameter:
    """Read an assignment of a literal; anything else is a ValueError."""
    match statement:
        case ast.AnnAssign(target=ast.Name(name), annotation=annotation, value=ast.expr() as value):
            return Parameter(name, ast.literal_eval(value), _annotated(annotation))
        case ast.Assign(targets=[ast.Name(name)], value=value):
            default = ast.literal_eval(value)
            return Parameter(name, default, _kind_of(default))
    raise ValueError("it does not assign a literal to a name")


def _annotated(node: ast.expr) -> Any:
    match node:
        case ast.Name(name) if name in _TYPE_NAMES:
            return _TYPE_NAMES[name]
        case ast.Constant(None):
            return None
        case ast.BinOp(left, ast.BitOr(), right):
            return _annotated(left) | _annotated(right)
        case ast.Subscript(ast.Name("list"), item):
            return list[_annotated(item)]  # type: ignore[misc]
        case ast.Subscript(ast.Name("dict"), ast.Tuple([key, value])):
            return dict[_annotated(key), _annotated(value)]  # type: ignore[misc]
    raise ValueError(f"{ast.unparse(node)} is not a type that a parameter can have")


def _kind_of(default: object) -> Any:
    if isinstance(default, list) and default and len({type(item) for item in default}) == 1:
        return list[type(default[0])]  # type: ignore[misc]
    if type(default) in _TYPE_NAMES.values():
        return type(default)
    raise ValueError(f"the type of {default!r} does not tell which values are allowed")


def check_parameters(notebook: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Hold given parameters against those that a notebook has, and complete them with its defaults.

    Raises
    ------
    RequestError
        If a name is unknown or a value has another type. papermill would warn, and run with the defaults.
    """
    known = read_parameters(notebook)
    for name, value in given.items():
        if name not in known:
            raise RequestError(
                f"{name!r} is not a parameter of this notebook", file=notebook, hint=_did_you_mean(name, known)
            )
        try:
            TypeAdapter(known[name].kind).validate_python(value, strict=True)
        except ValidationError as error:
            raise RequestError(
                f"the parameter {name!r} cannot be {value!r}: {error.errors()[0]['msg']}",
                file=notebook,
                hint=f"Its default is {known[name].default!r}.",
            ) from error
    return {name: parameter.default for name, parameter in known.items()} | dict(given)


def _did_you_mean(name: str, known: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(known) or 'none'}."


# --- runs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A notebook to run.

    Attributes
    ----------
    name
        Its name among the jobs that are run together, and that of its files.
    notebook, out
        The notebook, from the project's root; the folder in which the run is written down.
    parameters
        Those that are not to have their default.
    after
        The names of jobs that have to succeed first.
    makes
        Files and folders, from the project's root, that the notebook writes.
    alone
        Whether no other may run at the same time: it measures this machine.
    """

    name: str
    notebook: str
    out: Path
    parameters: Mapping[str, Any] = field(default_factory=dict)
    after: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    alone: bool = False

    @property
    def executed(self) -> Path:
        """Where the executed notebook is, if the run succeeded."""
        return self.out / "notebooks" / f"{self.name}.ipynb"

    @property
    def failed(self) -> Path:
        """Where the notebook is, as far as it got, if the run failed."""
        return self.out / "failed" / f"{self.name}.ipynb"

    @property
    def manifest(self) -> Path:
        """Where the record of the run is."""
        return self.out / "manifests" / f"{self.name}.json"


class Basis(BaseModel):
    """All that decides what a notebook says. Where it is the same as before, the notebook need not run again.

    Attributes
    ----------
    notebook
        SHA-256 of the notebook's cells, without outputs.
    package
        Version and SHA-256 of fsbench_kit.
    parameters
        All parameters with their values.
    files
        SHA-256 of the files and folders that parameters name, as they were before the run, and of those that the
        notebook makes, as it left them; ``None`` for what does not exist.
    """

    model_config = ConfigDict(frozen=True)

    notebook: str
    package: str
    parameters: dict[str, Any]
    files: dict[str, str | None]


class Manifest(BaseModel):
    """The record of a run.

    Attributes
    ----------
    status
        ``skipped`` where a job that has to come first did not succeed.
    error
        What went wrong, for people.
    duration
        Seconds.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    source: str
    basis: Basis
    versions: dict[str, str]
    status: Literal["ok", "failed", "skipped"]
    error: str | None = None
    started_at: datetime
    duration: float


def run_all(jobs: Sequence[Job], *, executor: Executor | None = None, fresh: bool = False) -> dict[str, Manifest]:
    """Run notebooks, each as soon as those before it have succeeded, and those that can be at the same time.

    A notebook of which nothing has changed since it last succeeded is not run again.

    Parameters
    ----------
    jobs
        What to run.
    executor
        Where to run it; by default in as many processes as there are processors.
    fresh
        Whether to run unchanged notebooks as well.

    Returns
    -------
    dict[str, Manifest]
        By name, in the order of `jobs`. A failed notebook is in there; it is no exception.

    Raises
    ------
    RequestError
        If a parameter is unknown or of a wrong type. Nothing has been run then.
    """
    root = project_root()
    by_name = {job.name: job for job in jobs}
    for job in jobs:
        check_parameters(root / job.notebook, job.parameters)
    order = _order(jobs)
    done: dict[str, Manifest] = {}
    ready: list[Job] = []
    running: dict[Future[Manifest], Job] = {}
    with ExitStack() as stack:
        pool = executor or stack.enter_context(_processes(len(jobs)))
        while order.is_active():
            ready += [by_name[name] for name in order.get_ready()]
            for job in sorted(ready, key=lambda job: not job.alone):
                manifest = _skipped(job, root, done) or (None if fresh else _unchanged(job, root))
                if manifest is not None:
                    done[job.name] = manifest
                    order.done(job.name)
                elif _may_start(job, running):
                    running[pool.submit(run, job, root)] = job
                else:
                    continue
                ready.remove(job)
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job = running.pop(future)
                done[job.name] = future.result()
                order.done(job.name)
    return {job.name: done[job.name] for job in jobs}


def _may_start(job: Job, running: Mapping[Future[Manifest], Job]) -> bool:
    return not running or not (job.alone or any(other.alone for other in running.values()))


def _order(jobs: Sequence[Job]) -> TopologicalSorter[str]:
    names = [job.name for job in jobs]
    for job in jobs:
        if names.count(job.name) > 1:
            raise RequestError(f"two notebooks are called {job.name!r}", hint="Give one of them another name.")
        for name in job.after:
            if name not in names:
                raise RequestError(
                    f"{job.name!r} is to come after {name!r}, which is not there",
                    hint=_did_you_mean(name, dict.fromkeys(names)),
                )
    order = TopologicalSorter({job.name: job.after for job in jobs})
    try:
        order.prepare()
    except CycleError as error:
        raise RequestError(f"notebooks wait for one another: {', '.join(error.args[1])}") from error
    return order


@contextmanager
def _processes(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Give processes to run notebooks in. They end with this one, and a kernel ends with its process."""
    # Spawned, because a forked process inherits locks and sockets that others hold.
    context = multiprocessing.get_context("spawn")
    workers = max(1, min(jobs, os.cpu_count() or 1))
    # Polars has interrupted waits go on (SA_RESTART), and then Ctrl-C would be noticed when a notebook is done.
    signal.siginterrupt(signal.SIGINT, True)
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_bind_to_parent) as pool:
        try:
            yield pool
        except BaseException:
            # A notebook under way can take minutes; who stops a report does not want to wait for it.
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _bind_to_parent() -> None:
    """Leave interrupts to the parent, and have the kernel end this process when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h


def _skipped(job: Job, root: Path, done: Mapping[str, Manifest]) -> Manifest | None:
    missing = [name for name in job.after if done[name].status != "ok"]
    if not missing:
        return None
    error = f"It was not run, because {' and '.join(missing)} did not succeed."
    job.executed.unlink(missing_ok=True)
    return _record(job, basis(job, root), "skipped", error, datetime.now(UTC))


def _unchanged(job: Job, root: Path) -> Manifest | None:
    """Return the record of the last run, if it succeeded and nothing has changed since."""
    try:
        last = Manifest.model_validate_json(job.manifest.read_bytes())
    except (OSError, ValidationError):
        return None
    same = last.status == "ok" and job.executed.is_file() and last.basis == basis(job, root)
    return last if same else None


def run(job: Job, root: Path) -> Manifest:
    """Run one notebook, and write the executed notebook and the record of its run."""
    before = basis(job, root)
    started_at = datetime.now(UTC)
    job.executed.unlink(missing_ok=True)
    for path in (job.executed, job.failed):
        path.parent.mkdir(parents=True, exist_ok=True)
    error = None
    try:
        _execute(job, root)
    except papermill.PapermillExecutionError as failure:
        error = f"{failure.ename}: {failure.evalue}"
    except (RuntimeError, OSError, NoSuchKernel) as failure:
        error = f"The notebook's kernel gave up: {failure}"
    else:
        _forget_paths(job.failed, job)
        job.failed.replace(job.executed)
    made = {path: _digest(root / path) for path in job.makes}
    after = before.model_copy(update={"files": before.files | made})
    return _record(job, after, "ok" if error is None else "failed", error, started_at)


def _did_not_start(error: BaseException) -> bool:
    return isinstance(error, RuntimeError) and str(error).startswith(
        ("Kernel died before", "Kernel didn't respond")
    )


@tenacity.retry(
    stop=tenacity.stop_after_attempt(2), retry=tenacity.retry_if_exception(_did_not_start), reraise=True
)
def _execute(job: Job, root: Path) -> None:
    """Have papermill run the notebook. Where it fails, what it wrote is where failed notebooks are."""
    _sweep_sockets()
    with TemporaryDirectory(prefix=f"{_SOCKETS}{os.getpid()}-") as sockets:
        papermill.execute_notebook(
            root / job.notebook,
            job.failed,
            parameters=dict(job.parameters),
            cwd=root,
            progress_bar=False,
            request_save_on_cell_execute=False,
            autosave_cell_every=0,
            # The kernel is spoken to over files that only this user can open, not over ports of the machine.
            # Its last word would be that it was interrupted, which is how it is ended.
            config=Config(
                KernelManager={"transport": "ipc", "ip": f"{sockets}/kernel"},
                NotebookClient={"extra_arguments": ["--IPKernelApp.log_level=CRITICAL"]},
            ),
        )


def _sweep_sockets() -> None:
    """Remove the folders for sockets of reports that were killed."""
    for folder in Path(gettempdir()).glob(f"{_SOCKETS}*-*"):
        owner = folder.name.removeprefix(_SOCKETS).partition("-")[0]
        with suppress(OSError):  # another one's, or just removed
            if owner.isdecimal() and not psutil.pid_exists(int(owner)) and folder.stat().st_uid == os.geteuid():
                shutil.rmtree(folder)


def _forget_paths(executed: Path, job: Job) -> None:
    """Take out of an executed notebook where on this machine it was run."""
    notebook = load(executed)
    notebook.metadata.papermill.update(input_path=job.notebook, output_path=job.executed.name)
    nbformat.write(notebook, executed)  # type: ignore[no-untyped-call]


def _record(
    job: Job, on: Basis, status: Literal["ok", "failed", "skipped"], error: str | None, started_at: datetime
) -> Manifest:
    manifest = Manifest(
        name=job.name,
        source=job.notebook,
        basis=on,
        versions=versions(),
        status=status,
        error=error,
        started_at=started_at,
        duration=(datetime.now(UTC) - started_at).total_seconds(),
    )
    job.manifest.parent.mkdir(parents=True, exist_ok=True)
    job.manifest.write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return manifest


def basis(job: Job, root: Path) -> Basis:
    """Take stock of all that decides what a notebook says."""
    parameters = check_parameters(root / job.notebook, job.parameters)
    cells = load(root / job.notebook).cells
    sources = json.dumps([[cell.cell_type, cell.source] for cell in cells])
    named = [path for path in _paths_in(parameters.values()) if (root / path).exists()]
    return Basis(
        notebook=hashlib.sha256(sources.encode()).hexdigest(),
        package=f"{versions()['fsbench-kit']} {_digest(Path(__file__).parent)}",
        parameters=parameters,
        files={path: _digest(root / path) for path in (*named, *job.makes)},
    )


def _paths_in(values: Iterable[Any]) -> Iterator[str]:
    """Yield the strings in parameters that can be paths: those with a slash."""
    for value in values:
        if isinstance(value, str) and "/" in value:
            yield value
        elif isinstance(value, list | tuple):
            yield from _paths_in(value)


def _digest(path: Path) -> str | None:
    """Return the SHA-256 of a file, or of the names and hashes of all files in a folder."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    if not path.exists():
        return None
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.parent.name != "__pycache__")
    listing = "\n".join(f"{_digest(file)} {file.relative_to(path)}" for file in files)
    return hashlib.sha256(listing.encode()).hexdigest()
