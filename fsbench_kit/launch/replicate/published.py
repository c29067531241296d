"""What a published study ran, according to its logs and its article."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from fsbench_kit.analysis.settings import effective
from fsbench_kit.launch.replicate.scale import Limits, PlanTable, shrunk
from fsbench_kit.launch.schema import short_size
from fsbench_kit.launch.workloads import WORKLOADS
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.vocabulary import SETTINGS, setting_kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fsbench_kit.data.dataset import Dataset


def settings_of(dataset: Dataset) -> dict[str, dict[str, str]]:
    """Return the settings of each run, with the strongest origin of each."""
    known: dict[str, dict[str, str]] = {run: {} for run in dataset.runs["run_id"]}
    for run, key, value in effective(dataset.settings).select("run_id", "key", "value").rows():
        known.setdefault(run, {})[key] = value
    return known


@dataclass(frozen=True, slots=True)
class Workloads:
    """The workloads that a study ran.

    Attributes
    ----------
    tables
        Tables of a plan, one per distinct workload.
    repaired
        Sentences about differences between the study's filesystems that these tables remove.
    left_out
        Sentences about runs that cannot be planned.
    """

    tables: tuple[PlanTable, ...]
    repaired: tuple[str, ...]
    left_out: tuple[str, ...]


def workloads(published: Dataset) -> Workloads:
    """Return the distinct workloads of a study, the same for all filesystems.

    A workload is named after its pattern or tool; workloads with the same name get their differences as a suffix.

    Raises
    ------
    RequestError
        If none of its runs can be planned.
    """
    known = settings_of(published)
    operations = dict(
        published.measurements.group_by("run_id").agg(published.measurements["operation"].unique()).iter_rows()
    )
    ran: dict[str, tuple[PlanTable, list[str]]] = {}
    left_out: dict[str, None] = {}
    for run, tool, filesystem in published.runs.select("run_id", "tool", "filesystem").rows():
        if tool not in WORKLOADS or WORKLOADS[tool].scale is None:
            left_out[f"Runs of {tool} cannot be planned from their logs."] = None
            continue
        try:
            table = _table(tool, known[run], operations.get(run, ()))
        except RequestError as error:
            left_out[f"A run of {tool} cannot be repeated: {error.what}."] = None
            continue
        ran.setdefault(repr(table), (table, []))[1].append(filesystem or "?")
    if not ran:
        raise RequestError("none of these runs can be repeated", hint=" ".join(left_out) or None)
    tables, repaired = _alike(ran.values())
    return Workloads(tuple(_named(tables)), tuple(repaired), tuple(left_out))


def _table(tool: str, settings: dict[str, str], operations: Iterable[str]) -> PlanTable:
    """Return the validated plan table of a run.

    Raises
    ------
    RequestError
        If a setting is missing, or has a value that a plan cannot express, such as a range.
    """
    try:
        table = WORKLOADS[tool].table_from(settings, set(operations))
        WORKLOADS[tool].model_validate(shrunk(table, Limits()))
    except ValidationError as error:
        wrong = error.errors()[0]
        of = " ".join(str(part).replace("_", " ") for part in wrong["loc"])
        raise RequestError(f"a plan cannot express its {of or 'settings'} ({wrong['msg']})") from None
    except ValueError as error:
        value = str(error).rpartition(": ")[2]
        raise RequestError(f"one of its settings is {value}, but a plan needs a single number") from None
    return table


def _alike(ran: Iterable[tuple[PlanTable, list[str]]]) -> tuple[list[PlanTable], list[str]]:
    """Merge workloads that differ only in flags and ran on different filesystems; the commonest flags win."""
    groups: dict[str, list[tuple[PlanTable, list[str]]]] = {}
    for table, filesystems in ran:
        work = {key: value for key, value in table.items() if not isinstance(value, bool)}
        groups.setdefault(repr(work), []).append((table, filesystems))
    tables, repaired = [], []
    for group in groups.values():
        usual, _ = max(group, key=lambda one: len(set(one[1])))
        often = Counter(name for _, filesystems in group for name in set(filesystems))
        if len(group) == 1 or max(often.values()) > 1:  # the study itself compares these flags
            tables += [table for table, _ in group]
            continue
        tables.append(usual)
        for table, filesystems in group:
            for key in table.keys() | usual.keys():
                if (then := table.get(key, False)) != (now := usual.get(key, False)):
                    names = ", ".join(dict.fromkeys(filesystems))
                    repaired.append(
                        f"The study ran {table['name']} on {names} with {key} = {str(then).lower()}; "
                        f"the replication has {key} = {str(now).lower()} on all filesystems."
                    )
    return tables, repaired


def _named(tables: list[PlanTable]) -> list[PlanTable]:
    """Make equal names distinct, by the size that differs or else by a number."""
    named = []
    for table in tables:
        same = [other for other in tables if other["name"] == table["name"]]
        apart = str(same.index(table) + 1)
        for key in ("bs", "size", "file_block_size", "record_size"):
            if len({other.get(key) for other in same}) == len(same) and key in table:
                apart = short_size(table[key])
                break
        named.append(table | {"name": f"{table['name']}-{apart}"} if len(same) > 1 else table)
    return named


def only_stated(published: Dataset) -> list[str]:
    """Return the workload settings that only the article states."""
    known = effective(published.settings).filter(origin="stated")
    return [key for key in known["key"].unique().sort() if setting_kind(key) == "workload" and key in SETTINGS]
