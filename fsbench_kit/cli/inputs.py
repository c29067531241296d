"""Turns the paths of a command line into a dataset."""

from __future__ import annotations

import os
import sys
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO

import fsbench_kit as fsb
from fsbench_kit.cli.console import err
from fsbench_kit.data.project import LAUNCHED
from fsbench_kit.model.errors import InputError, RequestError
from fsbench_kit.model.suggestions import did_you_mean, known_instead

if TYPE_CHECKING:
    from collections.abc import Iterable


def read(
    paths: list[str], names: list[str] | None, jobs: int | None = None, assume: dict[str, str] | None = None
) -> fsb.Dataset:
    """Read logs with name templates; each template must match at least one file name."""
    dataset = read_by(paths, names, jobs, assume)
    check_names(names, [dataset], map(PurePath, dataset.runs["source"].unique(maintain_order=True)))
    return dataset


def read_by(
    paths: list[str], names: list[str] | None, jobs: int | None = None, assume: dict[str, str] | None = None
) -> fsb.Dataset:
    """Read logs, in worker processes beside this one where there are many."""
    from fsbench_kit.data.processes import processes

    number = jobs or os.cpu_count() or 1
    if number == 1:
        return fsb.read(inputs(paths), names=names, assume=assume)
    with processes(number - 1, {"POLARS_MAX_THREADS": "1"}) as executor:
        return fsb.read(inputs(paths), names=names, assume=assume, executor=executor)


def check_names(names: list[str] | None, read: Iterable[fsb.Dataset], files: Iterable[PurePath]) -> None:
    """Warn of template keys that look misspelt, and refuse templates if they match no file name at all.

    Parameters
    ----------
    names, read
        The templates, and what was read with them.
    files
        The file names that the templates should match.
    """
    if names:
        _ask_for_keys(names)
        _refuse_names_that_fit_nothing(names, read, files)


def _ask_for_keys(names: list[str]) -> None:
    """Ask about template keys that resemble known ones; unchanged, they become settings."""
    from fsbench_kit.data.names import FACTS, templates_of
    from fsbench_kit.model.vocabulary import SETTINGS

    known = [*FACTS, *SETTINGS]
    for key in dict.fromkeys(key for template in templates_of(names) for key in template.keys):
        if key not in known and (asked := did_you_mean(key, known, cutoff=0.85)):
            err.print(f"--names: {key!r} becomes a setting of that name. {asked}")


def _refuse_names_that_fit_nothing(
    names: list[str], read: Iterable[fsb.Dataset], files: Iterable[PurePath]
) -> None:
    for data in read:
        unfit = data.diagnostics.filter(code="NAME_DOES_NOT_FIT")["source"]
        if not set(unfit).issuperset(data.runs["source"]):
            return
    from fsbench_kit.cli.proposals import names_option
    from fsbench_kit.data.name_proposals import proposed_for_each

    first, *others = files
    found = proposed_for_each([first, *others])
    hint = (
        f"{'One that matches' if len(found) == 1 else 'Those that match'}: {names_option(found)}"
        if found
        else "Write a template that matches these names."
    )
    raise RequestError(f"no file name matches {' or '.join(names)}; one of the names is {first}", hint=hint)


def inputs(paths: list[str]) -> list[Path | str | BinaryIO]:
    """Return the inputs that a command line names: ``-`` is standard input, and launched studies have names."""
    return [sys.stdin.buffer if path == "-" else _launched(path) or found_path(path) for path in paths]


def _launched(name: str) -> Path | None:
    study = LAUNCHED / name
    return study if Path(name).name == name and not Path(name).exists() and study.is_dir() else None


def found_plan(name: str) -> Path:
    """Return the path of a plan, given as a file or as the bare name of a plan in ``plans/``."""
    from fsbench_kit.data.project import STARTER

    candidates = [name, f"{name}.toml", f"plans/{name}", f"plans/{name}.toml"]
    paths = (Path(found_path(each)) for each in candidates)
    found = next((path for path in paths if path.exists() and not path.is_dir()), None)
    if found is not None:
        return found
    plans = {path.stem for folder in (STARTER / "plans", Path("plans")) for path in folder.glob("*.toml")}
    raise InputError("there is no such plan", file=name, hint=known_instead(Path(name).stem, sorted(plans)))


def found_path(path: str) -> Path | str:
    """Return a path, URL or pattern; one that does not exist is looked up among the package's own data."""
    from fsbench_kit.data.project import found

    own = found(path)
    return own if own != Path(path) else path
