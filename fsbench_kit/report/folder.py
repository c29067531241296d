"""The report of a folder with logs: those notebooks for which its runs have figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import fsbench_kit as fsb
from fsbench_kit import charts, tables
from fsbench_kit.analysis.facts import TARGET
from fsbench_kit.analysis.latency import curves
from fsbench_kit.charts.style import MOST_ROWS
from fsbench_kit.data.study import read_study, study_folders
from fsbench_kit.model.errors import InputError, RequestError
from fsbench_kit.model.order import in_order
from fsbench_kit.report.spec import NotebookSpec, ReportSpec
from fsbench_kit.tables import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.data.dataset import Dataset

FACTOR: Final = "filesystem"


def spec_of(
    paths: Sequence[str], dataset: Dataset, *, names: Sequence[str] = (), factor: str | None, baseline: str | None
) -> ReportSpec:
    """Return what a report of files and folders consists of.

    Parameters
    ----------
    paths, dataset
        The files and folders, and what was read of them.
    names, factor, baseline
        As in `fsbench_kit.read` and `fsbench_kit.compare`.

    Raises
    ------
    RequestError
        If the runs have no two levels of a factor that was asked for. Where none was, the report goes without a
        comparison.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> folder = "raw_results/recorded/ext4-xfs-loop-2026"
    >>> spec = spec_of([folder], fsb.read(folder), factor="filesystem", baseline=None)
    >>> [notebook.name for notebook in spec.notebook]
    ['compare', 'latency', 'logs']
    """
    # What has a slash is known for a path.
    given = {"data": [path if "/" in path else f"./{path}" for path in paths], "names": list(names)}
    compared = {**given, "factor": factor or FACTOR}
    notebooks = [
        *_comparison(dataset, factor, baseline, compared),
        *_of_latency(dataset, compared),
        *_of_scaling(dataset, compared),
        *_of_claims(paths, given),
        _page("logs", "02_ingest", "What is in the logs", given),
    ]
    return ReportSpec(title=_title(paths, dataset), intro=tables.contents(dataset), notebook=tuple(notebooks))


def _page(name: str, notebook: str, title: str, parameters: dict[str, Any]) -> NotebookSpec:
    return NotebookSpec(name=name, file=f"notebooks/{notebook}.ipynb", title=title, parameters=parameters)


def _comparison(
    dataset: Dataset, factor: str | None, baseline: str | None, compared: dict[str, Any]
) -> Iterator[NotebookSpec]:
    of = factor or FACTOR
    try:
        levels = _levels(dataset, of, baseline)
    except RequestError:
        if factor is None and baseline is None:
            return
        raise
    name = of.replace("_", " ")
    what = ", ".join(levels) if of in _TELLING else f"{name.capitalize()} {', '.join(levels)}"
    if len(what) > _LONGEST_TITLE:
        what = counted(len(levels), name) if of in _TELLING else f"{len(levels):,} values of {name}"
    yield _page("compare", "03_compare", f"{what} compared", {**compared, "baseline": baseline or ""})


_TELLING: Final = (FACTOR, TARGET)
"""The factors whose levels say by themselves what they are."""

_LONGEST_TITLE: Final = 80


def _levels(dataset: Dataset, factor: str, baseline: str | None) -> list[str]:
    """Return the levels of a factor that are compared, in natural order."""
    found = fsb.compare(dataset, factor, baseline)
    if found.is_empty():
        raise RequestError(f"these runs have no two levels of {factor} to compare")
    return in_order([*found["baseline"], *found["level"]])


def _of_latency(dataset: Dataset, compared: dict[str, Any]) -> Iterator[NotebookSpec]:
    try:
        found = curves(dataset, compared["factor"])
    except RequestError:
        return
    parameters = {**compared, "pooled": found.height > MOST_ROWS}  # sixty runs have more points than a chart
    yield _page("latency", "06_latency", "How long requests take, and how long at worst", parameters)


def _of_scaling(dataset: Dataset, compared: dict[str, Any]) -> Iterator[NotebookSpec]:
    if charts.varied_settings(dataset, compared["factor"]):
        yield _page("scaling", "08_scaling", "What more threads, deeper queues and larger records bring", compared)


def _of_claims(paths: Sequence[str], given: dict[str, Any]) -> Iterator[NotebookSpec]:
    try:
        claims = any(read_study(folder).claim for folder in study_folders(paths))
    except InputError:
        return  # there is no study, or what is wrong with it is said where its logs are
    if claims:
        yield _page(
            "claims", "04_audit", "What is claimed, checked against the figures", {"studies": given["data"]}
        )


def _title(paths: Sequence[str], dataset: Dataset) -> str:
    studies = dataset.runs["study"].drop_nulls().unique(maintain_order=True)
    return ", ".join(studies if len(studies) else [Path(path).resolve().name for path in paths])
