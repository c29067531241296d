"""Chooses what ``fsbench compare`` compares: paths as groups, as benchstat does, or all runs by a factor."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from os.path import commonpath
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

import fsbench_kit as fsb
from fsbench_kit.cli.inputs import check_names, read, read_by
from fsbench_kit.model.errors import InputError, RequestError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.analysis.settings import Where


class Comparable(NamedTuple):
    """Runs, their factor, and a sentence that explains the choice where the command line does not make it."""

    dataset: fsb.Dataset
    factor: str
    baseline: str | None
    message: str | None = None


_MOST: Final = 6
"""The most paths that become groups by default; of more, each is probably a run from an expanded pattern."""

_QUOTE: Final = "in quotes a pattern is one group: 'old/*.json' 'new/*.json'"


def chosen(
    paths: list[str],
    *,
    factor: str | None,
    baseline: str | None,
    labels: str | None,
    names: list[str] | None,
    assume: dict[str, str] | None,
    jobs: int | None,
    metrics: list[str] | None,
    where: Where | None,
) -> Comparable:
    """Read what is to be compared.

    With a factor or a single path, all runs are pooled, and a dataset on disk is read only as far as needed.
    Otherwise each path is a group, except where two of them have no filesystem in common: then the filesystem is
    the factor. With labels each path is a group in any case.
    """
    from fsbench_kit.analysis.needed import needed
    from fsbench_kit.data.written import is_written

    if labels is not None:
        if factor is not None:
            hint = "With --labels each path is a group; with --factor all runs are one pool."
            raise RequestError("--labels and --factor cannot be combined", hint=hint)
        groups, unread = _read_readable(_labelled(paths, labels.split(",")), names, assume, jobs)
        if unread is not None:
            raise unread
        return _as_groups(groups, paths, baseline, names)
    if len(paths) == 1 and not names and not assume and is_written(Path(paths[0])):
        factor = factor or "filesystem"
        return Comparable(needed(fsb.scan(paths[0]), factor, metrics, where), factor, baseline)
    if factor is not None or len(paths) == 1:
        return Comparable(read(paths, names, jobs, assume), factor or "filesystem", baseline)
    if "-" in paths:
        why = "what is piped in has no path"
    elif len(paths) > _MOST:
        why = f"there are more than {_MOST} paths; {_QUOTE}"
    else:
        groups, unread = _read_readable(_labelled(paths, _short(paths)), names, assume, jobs)
        if not _differ_in_filesystem(groups):
            if unread is not None:
                raise unread
            return _as_groups(groups, paths, baseline, names)
        why = "the paths have different ones; --labels A,B,... makes each path a group"
    return Comparable(
        read(paths, names, jobs, assume), "filesystem", baseline, f"All runs are compared by filesystem: {why}."
    )


def _as_groups(
    groups: dict[str, fsb.Dataset], paths: Sequence[str], baseline: str | None, names: list[str] | None
) -> Comparable:
    from fsbench_kit.cli.proposals import more_by_names
    from fsbench_kit.data.labelled import GROUP, labelled

    by_path = zip(paths, groups.values(), strict=True)
    files = dict.fromkeys(name for path, data in by_path for name in _below(path, data))
    check_names(names, groups.values(), files)
    dataset = labelled(groups)
    first, *others = (f"{label} ({_runs(data)})" for label, data in groups.items())
    message = (
        f"Each path is a group: {first} against {', '.join(others)}. --factor NAME compares all runs as one pool."
    )
    more = None if names else more_by_names(dataset, files)
    return Comparable(dataset, GROUP, baseline or next(iter(groups)), "\n".join(filter(None, (message, more))))


def _below(path: str, data: fsb.Dataset) -> Iterator[PurePath]:
    """Yield the names of a group's files, relative to the group's folder."""
    for file in map(PurePath, data.runs["source"].unique(maintain_order=True)):
        yield (
            file.relative_to(path) if file != PurePath(path) and file.is_relative_to(path) else PurePath(file.name)
        )


def _runs(data: fsb.Dataset) -> str:
    from fsbench_kit import tables

    return tables.counted(data.runs.height, "run")


def _labelled(paths: list[str], labels: list[str]) -> dict[str, str]:
    """Map each label to its path, checking that labels are distinct and as many as the paths."""
    if len(labels) != len(paths):
        raise RequestError(
            f"there are not as many labels ({len(labels)}) as paths ({len(paths)})",
            hint="Give one label for each, with commas.",
        )
    labels = [label.strip() for label in labels]
    if "" in labels:
        raise RequestError("a label is empty", hint="Give one label for each path, with commas between them.")
    twice = [label for label, number in Counter(labels).items() if number > 1]
    if twice:
        raise RequestError(
            f"{twice[0]!r} stands for two groups", hint="Each group needs a path and a label of its own."
        )
    return dict(zip(labels, paths, strict=True))


def _short(paths: list[str]) -> list[str]:
    """Return the paths without their common parent folders."""
    parts = [PurePath(path) for path in paths]
    if len({path.is_absolute() for path in parts}) > 1 or len(set(parts)) < len(parts):
        return paths
    common = commonpath([path.parent for path in parts])
    return [str(path.relative_to(common)) for path in parts]


def _read_readable(
    paths: dict[str, str], names: list[str] | None, assume: dict[str, str] | None, jobs: int | None
) -> tuple[dict[str, fsb.Dataset], InputError | None]:
    """Read each path by itself; also return the error of the first that cannot be read."""
    groups, unread = {}, None
    for label, path in paths.items():
        try:
            groups[label] = read_by([path], names, jobs, assume)
        except InputError as error:
            unread = unread or error
    return groups, unread


def _differ_in_filesystem(groups: dict[str, fsb.Dataset]) -> bool:
    known = [set(data.runs["filesystem"].drop_nulls()) for data in groups.values()]
    return any(a and b and a.isdisjoint(b) for a, b in combinations(known, 2))
