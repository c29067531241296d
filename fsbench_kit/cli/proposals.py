"""Proposals for how to tell runs apart when no filesystem is known, with commands to copy."""

from __future__ import annotations

import shlex
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from fsbench_kit.data.files import STUDY_FILE
from fsbench_kit.data.name_proposals import Proposal, proposed_for_each
from fsbench_kit.data.names import FACTS, NameTemplate
from fsbench_kit.model.vocabulary import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import fsbench_kit as fsb

_MOST_PATHS: Final = 6


def proposals(dataset: fsb.Dataset, factor: str, command: str, paths: Sequence[str]) -> str | None:
    """Propose what to compare by when no run has a level of the factor.

    Parameters
    ----------
    command, paths
        The command that was given and its paths.
    """
    if _is_known(dataset, factor):
        return None
    start = shlex.join(["fsbench", command, *(paths if len(paths) <= _MOST_PATHS else ["PATHS"])])
    factors = list(_by_factors(dataset, start))
    names = _by_names(dataset, factor, start, is_last_resort=not factors)
    return "\n".join([*factors, *names] or _by_study_file(paths)) or None


def more_by_names(dataset: fsb.Dataset, files: Iterable[PurePath] | None = None) -> str | None:
    """Suggest the template that the file names follow, if it would add something that is not known otherwise."""
    if _is_known(dataset, "study"):
        return None
    found = proposed_for_each(files or map(PurePath, dataset.runs["source"].unique(maintain_order=True)))
    keys = dict.fromkeys(key for each in found for key in NameTemplate(each.template).keys)
    new = [key for key in keys if key in (*FACTS, *SETTINGS) and not _is_known(dataset, key)]
    if not new:
        return None
    return f"The file names may say more ({', '.join(new)}): add {names_option(found)}"


def names_option(found: Iterable[Proposal]) -> str:
    """Write the option that takes templates."""
    return " ".join(f"--names {shlex.quote(each.template)}" for each in found)


def _is_known(dataset: fsb.Dataset, key: str) -> bool:
    if key in dataset.runs.columns:
        return dataset.runs[key].null_count() < dataset.runs.height
    return not dataset.settings.filter(key=key).is_empty()


def _by_study_file(paths: Sequence[str]) -> Iterator[str]:
    if len(paths) == 1 and Path(paths[0]).is_dir() and not Path(paths[0], STUDY_FILE).exists():
        yield "Neither the logs nor their names say which run is which. To describe the runs:"
        yield f"    {shlex.join(['fsbench', 'init', paths[0]])}"


def _by_factors(dataset: fsb.Dataset, start: str) -> Iterator[str]:
    from fsbench_kit.analysis.factors import possible_factors

    for name, levels in possible_factors(dataset).items():
        yield f"These runs differ in {name}: {', '.join(levels)}. To compare them by it:"
        yield f"    {start} --factor {shlex.quote(name)}"


def _by_names(dataset: fsb.Dataset, factor: str, start: str, *, is_last_resort: bool) -> Iterator[str]:
    found = proposed_for_each(map(PurePath, dataset.runs["source"].unique(maintain_order=True)))
    if not found or not all(each.examples for each in found):
        return
    keys = [key for each in found for key in each.examples[0][1]]
    if factor not in keys and not is_last_resort:
        return
    templates = "template" if len(found) == 1 else "templates"
    yield f"The file names may say more. With the {templates} below they would mean:"
    for name, facts in (example for each in found for example in each.examples[: _MOST_EXAMPLES // len(found)]):
        yield f"    {name}: {', '.join(f'{key} {value}' for key, value in facts.items())}"
    if others := [name for each in found for name in each.others]:
        yield f"{len(others):,} more, such as {others[0]}, {'does' if len(others) == 1 else 'do'} not match."
    common = [key for key in keys if all(key in each.examples[0][1] for each in found)]
    factors = (key for key in [*common, *keys] if key != "round")
    by = "" if factor in keys else f" --factor {next(factors, 'KEY')}"
    unnamed = dict.fromkeys(key for key in keys if key.startswith("name"))
    yield (
        f"If that is right, replace {', '.join(unnamed)} with names of your own:"
        if unnamed
        else "If that is right:"
    )
    yield f"    {start} {names_option(found)}{by}"


_MOST_EXAMPLES: Final = 5
