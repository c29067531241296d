"""Notebooks as programs: their parameters, and how many of them are run, with a record of each run.

`parameters` reads what a notebook can be given; `jobs` says what is run and what decides its result; `execution`
runs one; `schedule` runs many, in any `concurrent.futures.Executor`; `progress` shows how far they are.
"""

from fsbench_kit.notebooks.declared import check_parameters, load, read_parameters
from fsbench_kit.notebooks.jobs import Basis, Job, Manifest
from fsbench_kit.notebooks.progress import shown
from fsbench_kit.notebooks.schedule import run_all

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
