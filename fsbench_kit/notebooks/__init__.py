"""Notebooks as programs: their parameters, and how many of them are run, with a record of each run.

`parameters` says what a notebook can be given, and `files` reads that from it; `display` begins a notebook and
shows its findings; `jobs` says what is run and what decides its result; `execution` runs one, in one of
`forked_kernels`, which `fork_server` forks; `schedule` runs many, in any `concurrent.futures.Executor`; `progress`
shows how far they are.

Its names are imported when they are used, because a kernel needs `display` alone.
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
