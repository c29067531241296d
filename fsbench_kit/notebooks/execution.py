"""Runs one notebook with papermill, in a kernel that leaves nothing behind, and records the run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import nbformat
import papermill
import tenacity
from jupyter_client.kernelspec import NoSuchKernel
from traitlets.config import Config

from fsbench_kit.model.errors import ReportError
from fsbench_kit.notebooks.display import DRAWN_LATER, draw
from fsbench_kit.notebooks.files import load
from fsbench_kit.notebooks.jobs import Basis, Job, Manifest, basis, made_by
from fsbench_kit.notebooks.sockets import kernel_sockets

if TYPE_CHECKING:
    from pathlib import Path


def run(job: Job, root: Path) -> Manifest:
    """Run one notebook, and write the executed notebook and the record of the run."""
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
    except (RuntimeError, OSError, ValueError, NoSuchKernel) as failure:
        error = f"The notebook's kernel failed: {failure}"
    if job.failed.is_file():
        try:
            _complete(job.failed, job)
        except (ReportError, ValueError) as failure:
            error = error or f"A chart of the notebook cannot be drawn: {failure}"
    if error is None:
        job.failed.replace(job.executed)
    after = before.model_copy(update={"made": made_by(job, root)})
    return record(job, after, "ok" if error is None else "failed", error, started_at)


def _did_not_start(error: BaseException) -> bool:
    return isinstance(error, RuntimeError) and str(error).startswith(
        ("Kernel died before", "Kernel didn't respond")
    )


@tenacity.retry(
    stop=tenacity.stop_after_attempt(2), retry=tenacity.retry_if_exception(_did_not_start), reraise=True
)
def _execute(job: Job, root: Path) -> None:
    """Run the notebook with papermill, which leaves it among the failed notebooks."""
    with kernel_sockets() as sockets:
        papermill.execute_notebook(
            job.source(root),
            job.failed,
            parameters=dict(job.parameters),
            cwd=root,
            progress_bar=False,
            request_save_on_cell_execute=False,
            autosave_cell_every=0,
            # The kernel is ended by an interrupt, and would log this as its last message.
            config=Config(
                KernelManager=sockets,
                # Starting the renderer of charts takes a second, so this process does it once.
                NotebookClient={
                    "kernel_manager_class": "fsbench_kit.notebooks.forked_kernels.ForkedKernelManager",
                    "extra_arguments": ["--IPKernelApp.log_level=CRITICAL", f"--{DRAWN_LATER}.on=True"],
                },
            ),
        )


def _complete(executed: Path, job: Job) -> None:
    """Draw the charts of an executed notebook, and remove the paths of this machine from it."""
    notebook = load(executed)
    draw(notebook)
    notebook.metadata.papermill.update(input_path=job.notebook, output_path=job.executed.name)
    nbformat.write(notebook, executed)  # type: ignore[no-untyped-call]


def record(
    job: Job, on: Basis, status: Literal["ok", "failed", "skipped"], error: str | None, started_at: datetime
) -> Manifest:
    """Write the record of a run, and return it."""
    manifest = Manifest(
        name=job.name,
        source=job.notebook,
        basis=on,
        status=status,
        error=error,
        started_at=started_at,
        duration=(datetime.now(UTC) - started_at).total_seconds(),
    )
    job.manifest.parent.mkdir(parents=True, exist_ok=True)
    job.manifest.write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return manifest
