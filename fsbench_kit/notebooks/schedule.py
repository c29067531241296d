"""Runs many notebooks, each after those that it depends on, and as many in parallel as possible."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import cache, partial
from graphlib import CycleError, TopologicalSorter
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from pydantic import ValidationError

from fsbench_kit.data.processes import processes
from fsbench_kit.data.project import project_root
from fsbench_kit.data.tabular import writing
from fsbench_kit.model.errors import ReportError, RequestError
from fsbench_kit.model.suggestions import known_instead
from fsbench_kit.notebooks.execution import record, run
from fsbench_kit.notebooks.files import check_parameters
from fsbench_kit.notebooks.forked_kernels import fork_from, server
from fsbench_kit.notebooks.jobs import Job, Manifest, basis
from fsbench_kit.notebooks.progress import Ended, Event, Planned, Started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path


def run_all(
    jobs: Sequence[Job],
    *,
    root: Path | None = None,
    executor: Executor | None = None,
    fresh: bool = False,
    progress: Callable[[Event], None] = lambda _: None,
) -> dict[str, Manifest]:
    """Run notebooks, each as soon as those that it depends on have succeeded, and otherwise in parallel.

    A notebook is not run again if nothing has changed since it last succeeded.

    Parameters
    ----------
    jobs
        What to run.
    root
        The folder that paths are relative to; by default the project's root.
    executor
        Where to run the notebooks; by default in one process per processor.
    fresh
        Whether to also run unchanged notebooks.
    progress
        A function that is called with each event, such as the one that `fsbench_kit.notebooks.shown` yields.

    Returns
    -------
    dict[str, Manifest]
        The record of each run by name, in the order of `jobs`. A notebook that fails raises no exception.

    Raises
    ------
    RequestError
        If a parameter is unknown or of the wrong type, or the folder of a job cannot be written. In this case
        nothing was run.
    ReportError
        If a process that runs notebooks is killed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nbformat import v4, write
    >>> given = v4.new_code_cell("x = 1", metadata={"tags": ["parameters"]})
    >>> cells = [given, v4.new_code_cell("1 / x")]
    >>> kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    >>> notebook = v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    >>> with TemporaryDirectory() as folder:
    ...     write(notebook, f"{folder}/divide.ipynb")
    ...     facts = {"notebook": "divide.ipynb", "out": Path(folder, "out")}
    ...     jobs = [Job(name=f"by-{x}", parameters={"x": x}, **facts) for x in (0, 2)]
    ...     manifests = run_all(jobs, root=Path(folder))
    >>> {name: manifest.status for name, manifest in manifests.items()}
    {'by-0': 'failed', 'by-2': 'ok'}
    """
    root = root or project_root()
    by_name = {job.name: job for job in jobs}
    for job in jobs:
        check_parameters(job.source(root), job.parameters)
    order = _order(jobs)
    for folder in dict.fromkeys(job.out for job in jobs):
        with writing(folder):
            folder.mkdir(exist_ok=True)
            TemporaryFile(dir=folder).close()
    progress(Planned(len(jobs)))
    done: dict[str, Manifest] = {}
    ready: list[Job] = []
    running: dict[Future[Manifest], Job] = {}
    ended: deque[Ended] = deque()
    with ExitStack() as stack:
        # Jobs waiting in our own pool would be shown as running.
        at_once = len(jobs) if executor else max(1, min(len(jobs), os.cpu_count() or 1))
        pool = cache(lambda: executor or stack.enter_context(_processes(at_once)))
        while order.is_active():
            ready += [by_name[name] for name in order.get_ready()]
            for job in sorted(ready, key=lambda job: not job.alone):
                if (skipped := _skipped(job, root, done)) is not None:
                    ended.append(Ended(skipped, unchanged=False))
                elif len(running) == at_once or not _may_start(job, running):
                    continue
                elif not fresh and (last := _unchanged(job, root)) is not None:
                    ended.append(Ended(last, unchanged=True))
                else:
                    running[pool().submit(run, job, root)] = job
                    progress(Started(job.name))
                ready.remove(job)
            # Reported after others were started, and one at a time, because a report writes a page for each.
            has_reported = bool(ended)
            if has_reported:
                event = ended.popleft()
                done[event.manifest.name] = event.manifest
                progress(event)
                order.done(event.manifest.name)
            for future in wait(running, timeout=0 if has_reported else None, return_when=FIRST_COMPLETED).done:
                ended.append(Ended(_result(future, running.pop(future)), unchanged=False))
    return {job.name: done[job.name] for job in jobs}


@contextmanager
def _processes(number: int) -> Iterator[Executor]:
    """Yield processes that run notebooks, whose kernels are all forked from one server."""
    with server() as connection, processes(number, begin=partial(fork_from, connection)) as pool:
        yield pool


def _result(future: Future[Manifest], job: Job) -> Manifest:
    try:
        return future.result()
    except BrokenExecutor as error:
        raise ReportError(
            f"a process was killed while it ran the notebook {job.name!r}",
            hint="Is there enough memory? Start the report again: notebooks that succeeded are not run again.",
        ) from error


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
                    f"{job.name!r} is to run after {name!r}, which does not exist",
                    hint=known_instead(name, names),
                )
    order = TopologicalSorter({job.name: job.after for job in jobs})
    try:
        order.prepare()
    except CycleError as error:
        raise RequestError(f"notebooks wait for one another: {', '.join(error.args[1])}") from error
    return order


def _skipped(job: Job, root: Path, done: Mapping[str, Manifest]) -> Manifest | None:
    missing = [name for name in job.after if done[name].status != "ok"]
    if not missing:
        return None
    error = f"It was not run, because {' and '.join(missing)} did not succeed."
    job.executed.unlink(missing_ok=True)
    return record(job, basis(job, root), "skipped", error, datetime.now(UTC))


def _unchanged(job: Job, root: Path) -> Manifest | None:
    """Return the record of the last run if it succeeded and nothing has changed since."""
    try:
        last = Manifest.model_validate_json(job.manifest.read_bytes())
    except (OSError, ValidationError):
        return None
    same = last.status == "ok" and job.executed.is_file() and last.basis == basis(job, root)
    return last if same else None
