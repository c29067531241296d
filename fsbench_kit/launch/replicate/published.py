"""What a published study ran, as far as its logs and its article tell."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.analysis.settings import effective
from fsbench_kit.launch.workloads import WORKLOADS
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.vocabulary import SETTINGS, setting_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.data.dataset import Dataset

PlanTable = dict[str, Any]
"""A table of a plan."""


def settings_of(dataset: Dataset) -> dict[str, dict[str, str]]:
    """Return the settings of each run, the strongest origin of each."""
    known: dict[str, dict[str, str]] = {run: {} for run in dataset.runs["run_id"]}
    for run, key, value in effective(dataset.settings).select("run_id", "key", "value").rows():
        known[run][key] = value
    return known


def workloads(published: Dataset) -> list[PlanTable]:
    """Return what the study ran, each once and named by its pattern, with a number where several have it.

    Raises
    ------
    RequestError
        If a run is of a tool whose runs cannot be planned from their settings, or a setting is not known.
    """
    tables: list[PlanTable] = []
    known = settings_of(published)
    for run, tool in published.runs.select("run_id", "tool").rows():
        if tool not in _REPEATABLE:
            what = f"cannot run {tool} again from its logs yet"
            raise RequestError(what, hint=f"This works for: {', '.join(_REPEATABLE)}.")
        table = WORKLOADS[tool].table_from(known[run])
        if table not in tables:
            tables.append(table)
    times = Counter(table["name"] for table in tables)
    seen: Counter[str] = Counter()
    for table in tables:
        name = table["name"]
        seen[name] += 1
        if times[name] > 1:
            table["name"] = f"{name}-{seen[name]}"
    return tables


_REPEATABLE: Final = [tool for tool, workload in WORKLOADS.items() if workload.scale is not None]
"""The tools whose runs can be planned from their settings."""


def only_stated(published: Dataset) -> list[str]:
    """Return the settings of the workload that nobody but the article tells."""
    known = effective(published.settings).filter(origin="stated")
    return [key for key in known["key"].unique().sort() if setting_kind(key) == "workload" and key in SETTINGS]


def images(published: Dataset) -> Iterator[PlanTable]:
    """Yield a target without its size for each filesystem, with the study's own options where they are known."""
    known = settings_of(published)
    for (filesystem,), runs in published.runs.drop_nulls("filesystem").group_by("filesystem", maintain_order=True):
        if filesystem != "zfs":
            yield {"kind": "loop", "name": filesystem, "filesystem": filesystem}
            continue
        values = known[runs["run_id"][0]]
        options = {
            kind: [
                f"{key.removeprefix(f'{prefix}.')}={value}"
                for key, value in values.items()
                if key.startswith(f"{prefix}.") and key.partition(".")[2] not in _PLACES
            ]
            for kind, prefix in (("pool_options", "zpool"), ("dataset_options", "zfs"))
        }
        yield {"kind": "zfs", "name": filesystem, **options}


_PLACES: Final = frozenset({"mountpoint", "canmount", "altroot"})
"""Options of pools and datasets that say where these lie, which is for the launch to say."""
