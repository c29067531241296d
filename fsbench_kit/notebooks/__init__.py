"""Notebooks as programs: checks their parameters, runs them, and records each run.

`parameters` defines which values a notebook accepts, and `files` reads this from the notebook; `display` sets up a
notebook and shows its findings; `jobs` describes what to run and what determines the result; `execution` runs one
notebook, in a kernel from `forked_kernels`, forked by `fork_server`; `schedule` runs many, in any
`concurrent.futures.Executor`; `progress` shows their progress.

Names are imported on first use, because a kernel only needs `display`.
"""

from typing import TYPE_CHECKING

from fsbench_kit.model.lazy import lazily, skip_iri_grammar

if TYPE_CHECKING:
    from fsbench_kit.notebooks.files import check_parameters, load, read_parameters
    from fsbench_kit.notebooks.jobs import Basis, Job, Manifest
    from fsbench_kit.notebooks.progress import shown
    from fsbench_kit.notebooks.schedule import run_all

skip_iri_grammar()

__all__ = [
    "Basis",
    "Job",
    "Manifest",
    "check_parameters",
    "load",
    "read_parameters",
    "run_all",
    "shown",
]

__getattr__, __dir__ = lazily(__name__)
