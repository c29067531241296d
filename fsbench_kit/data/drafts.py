"""Drafts the description of a study from logs, file names and the text around them, and lists what is missing.

Whatever names or headings suggest is in the draft together with its origin, for people to check. A guess only
counts once it is written in the description.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator, Sequence
from html import unescape
from itertools import combinations
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from fsbench_kit.data.name_proposals import FILESYSTEM, Proposal, proposed_for_each
from fsbench_kit.data.names import NameTemplate, plain_names

if TYPE_CHECKING:
    from fsbench_kit.data.dataset import Dataset

_SYSTEM: Final = {
    "host": "box",
    "os": "Debian 12",
    "kernel": "6.1.0-18-amd64",
    "cpu": "2 x Xeon 6132",
    "memory": "64 GB",
    "device": "Intel P4510 8 TB (NVMe)",
}
"""What should be known about a machine, with an example of each."""

_OF_FILESYSTEMS: Final = {"mount_options": "rw,noatime", "mkfs_options": "-b 4096", "version": "2.2.3"}

_MOST_STUBS: Final = 3
_USUAL: Final = ("bandwidth", "iops", "file_rate", "latency", "elapsed")
"""The metrics that articles discuss, the most common first."""

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


class Draft(NamedTuple):
    """The description of a study, and what people have to complete.

    Attributes
    ----------
    text
        The description.
    runs
        A line for each run: its number in its file, its line, and the filesystem that it seems to be of.
    unknown
        What remains unknown.
    """

    text: str
    runs: list[str]
    unknown: list[str]


def drafted(folder: Path, dataset: Dataset, *, names: Sequence[str] = (), claims: bool = False) -> Draft:
    """Draft the description of the study in a folder.

    Parameters
    ----------
    folder, dataset
        The folder, and what was read from it.
    names
        Templates for what file names mean; by default what they seem to mean, if they follow patterns.
    claims
        Whether to add stubs for the claims of an article about these runs.
    """
    runs = [_Run(*row) for row in _numbered(folder, dataset).rows()]
    found = _proposals(runs, names)
    templates = [NameTemplate(each.template) for each in found]
    seen = [_seen(folder, runs, place) for place in range(len(runs))]
    of_names = [bool(found) and _by_name(templates, run) for run in runs]
    filesystems = sorted(
        {name for run in runs if (name := run.filesystem)}
        | {said.filesystem for said, is_named in zip(seen, of_names, strict=True) if said and not is_named}
        | {str(said) for said in of_names if said}
    )
    missing = [key for key in _SYSTEM if not _is_known(dataset, key)]
    lines = [
        "# What is known about these runs besides their logs. To fill in a line that begins with #, remove the #.",
        "# The manual has all other keys, on the page of study.toml.",
        "",
        "[study]",
        f"id = {_text(_word(folder.resolve().name))}",
        f"title = {_text((claims and runs and _title(folder / runs[0].file)) or folder.resolve().name)}",
        *_of_names(found),
        "",
        "[system]",
        *(f'# {key} = ""  # such as {_SYSTEM[key]}' for key in missing),
    ]
    for name in filesystems:
        lines += [
            "",
            f"[filesystems.{name if _BARE.fullmatch(name) else _text(name)}]",
            *(f'# {key} = ""  # such as {of}' for key, of in _OF_FILESYSTEMS.items()),
        ]
    apart = {
        run.file
        for run, said, name in zip(runs, seen, of_names, strict=True)
        if not any(template.read(PurePath(run.file)) for template in templates) or (said and not name)
    }
    lines += _of_logs(runs, seen, apart)
    lines += _stubs(dataset, filesystems) if claims else []
    unsaid = sum(
        not (run.filesystem or said or name) for run, said, name in zip(runs, seen, of_names, strict=True)
    )
    unknown = [*([f"the filesystem of {unsaid} of {len(runs)} runs"] if unsaid else []), *missing]
    if filesystems:
        unknown.append(
            f"how {', '.join(filesystems)} {'was' if len(filesystems) == 1 else 'were'} made and mounted"
        )
    return Draft("\n".join(lines) + "\n", [*_listed(runs, seen)], unknown)


class _Run(NamedTuple):
    """A run as described by its log; `number` is its position among the runs of its file."""

    file: str
    number: int
    of: int
    line: int
    start: int
    end: int
    tool: str
    filesystem: str | None
    host: str | None


def _numbered(folder: Path, dataset: Dataset) -> pl.DataFrame:
    """Return the runs of files in a folder that do not belong to a study yet, in order."""
    of_files = {
        source: PurePath(source).relative_to(folder).as_posix()
        for source in dataset.runs["source"].unique()
        if PurePath(source).is_relative_to(folder) and Path(source).is_file()
    }
    return (
        dataset.runs.filter(pl.col("source").is_in(list(of_files)), pl.col("study").is_null())
        .with_columns(file=pl.col("source").replace(of_files))
        .sort("file", "start")
        .with_columns(number=pl.int_range(1, pl.len() + 1).over("file"), of=pl.len().over("file"))
        .select(_Run._fields)
    )


# ---- what names and headings say


class _Seen(NamedTuple):
    """A filesystem named near a run, and where."""

    filesystem: str
    where: str


_WORD: Final = re.compile(rf"(?<![A-Za-z0-9]){FILESYSTEM}(?![A-Za-z0-9])", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*>")
_HEADING: Final = re.compile(r"(?is:<h[1-6]\b.*?</h[1-6]>)|^#{1,6} .*$|^\S.{0,80}\n(?:=+|-+)$", re.M)
_COMMAND: Final = re.compile(r"^.*\b(?:mkfs|mount|fio|bonnie|sysbench|iozone|zpool|zfs)\b.*$", re.M)


def _seen(folder: Path, runs: Sequence[_Run], place: int) -> _Seen | None:
    """Return the filesystem if exactly one is named in the run's file name, in its label, or in the text above."""
    run = runs[place]
    if run.filesystem is not None:
        return None
    if len(names := _named(run.file)) == 1:
        return _Seen(names[0], "its name")
    if run.host is not None and len(names := _named(run.host)) == 1:
        return _Seen(names[0], f'the label "{run.host}"')
    with (folder / run.file).open("rb") as file:
        data = file.read(run.start)
    others = [other for other in runs[:place] if other.file == run.file]
    ends = [0, *(other.end for other in others)]
    starts = [*(other.start for other in others), run.start]
    between = [data[end:start].decode("utf-8", "replace") for end, start in zip(ends, starts, strict=True)]
    before, since = "\n".join(between), between[-1]
    for text, what in ((since, "heading"), (since, "command"), (before, "heading")):
        found = (_HEADING if what == "heading" else _COMMAND).findall(text)
        for words in reversed([_words(each) for each in found]):
            if len(set(names := _named(words))) == 1:
                return _Seen(names[0], f'the {what} "{words[:60]}"')
    return None


def _title(page: Path) -> str | None:
    """Return the first heading of an article."""
    with page.open("rb") as file:
        found = _HEADING.search(file.read(2**20).decode("utf-8", "replace"))
    return None if found is None else _words(found[0])


def _words(heading: str) -> str:
    return " ".join(unescape(_TAG.sub(" ", heading)).strip("# \n=-").split())


def _named(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _proposals(runs: Sequence[_Run], names: Sequence[str]) -> list[Proposal]:
    files = [PurePath(file) for file in dict.fromkeys(run.file for run in runs)]
    if not names:
        return proposed_for_each(files)
    return [Proposal(name, list(_examples(NameTemplate(name), files))) for name in names]


def _examples(template: NameTemplate, files: Sequence[PurePath]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield what a template reads in each name that it fits."""
    for path in files:
        if (named := template.read(path)) is not None:
            yield path.as_posix(), {key: str(value) for key, value in named.facts.items()}


def _by_name(templates: Sequence[NameTemplate], run: _Run) -> str | None:
    """Return the filesystem that a run's file name states."""
    path = PurePath(run.file)
    named = next(filter(None, (template.read(path) for template in templates)), None) or plain_names(path)
    return str(found) if (found := named.facts.get("filesystem")) is not None else None


# ---- how it is written


def _of_names(found: Sequence[Proposal]) -> Iterator[str]:
    if not found:
        return
    yield "# What the names of files mean; change the words in braces as you like:"
    for each in found:
        for name, said in each.examples[:3]:
            yield f"#   {_line(name)}: {', '.join(f'{key} {_line(value)}' for key, value in said.items())}"
    texts = [_text(each.template) for each in found]
    yield f"names = {texts[0]}" if len(texts) == 1 else f"names = [{', '.join(texts)}]"


def _of_logs(runs: Sequence[_Run], seen: Sequence[_Seen | None], files: Container[str]) -> Iterator[str]:
    for run, said in zip(runs, seen, strict=True):
        if run.file not in files:
            continue
        if run.number == 1:
            yield from ("", "[[log]]", f"file = {_text(run.file)}", f"tool = {_text(run.tool)}")
        if run.of > 1:
            yield from ("", "[[log.run]]", f"number = {run.number}  # {run.tool}, on line {run.line}")
        if said is not None:
            yield f"filesystem = {_text(said.filesystem)}  # by {_line(said.where)}"
        elif run.filesystem is None:
            label = f"  # the log names {_line(run.host)}" if run.host else ""
            yield f'# filesystem = ""{label}'


def _stubs(dataset: Dataset, filesystems: Sequence[str]) -> Iterator[str]:
    figures = dataset.measurements.filter("primary", statistic="value")
    metrics = ", ".join(figures["metric"].unique().sort())
    operations = ", ".join(figures["operation"].drop_nulls().unique().sort())
    yield from (
        "",
        "# What the article claims: a table for each sentence. The manual's page of claims has all relations.",
        "# Remove the line with unjudged, and the # from those below it.",
        f"# Metrics: {_line(metrics)}",
        f"# Operations: {_line(operations)}",
    )
    usual = (
        figures.filter(pl.col("metric").is_in(_USUAL), pl.col("value") > 0).select("metric", "operation").rows()
    )
    metric, operation = min(usual, key=lambda row: _USUAL.index(row[0]), default=(_USUAL[0], None))
    pairs = list(combinations(filesystems, 2))[:_MOST_STUBS] or [("xfs", "ext4")]
    for number, (than, of) in enumerate(pairs, 1):
        yield from (
            "",
            "[[claim]]",
            f"id = {_text(f'claim-{number}')}",
            f"says = {_text(f'What the article says of {of} and {than}')}",
            'unjudged = "it is not written down yet"',
            '# relation = "ratio"  # or greater, less, equal, percent_more, value, rank, ...',
            f"# metric = {_text(metric)}",
            f"# where = {{ operation = {_text(operation or 'write')} }}",
            f"# of = {{ filesystem = {_text(of)} }}",
            f"# than = {{ filesystem = {_text(than)} }}",
            '# size = "2"',
        )


def _listed(runs: Sequence[_Run], seen: Sequence[_Seen | None]) -> Iterator[str]:
    for run, said in zip(runs, seen, strict=True):
        which = run.filesystem or (f"{said.filesystem}, by {said.where}" if said else "filesystem unknown")
        yield f"{run.file}, run {run.number} of {run.of}, line {run.line}: {run.tool}, {which}"


def _is_known(dataset: Dataset, key: str) -> bool:
    of_all = set(dataset.settings.filter(key=key)["run_id"])
    if key in dataset.runs.columns:
        of_all |= set(dataset.runs.filter(pl.col(key).is_not_null())["run_id"])
    return len(of_all) == dataset.runs.height


def _word(name: str) -> str:
    return re.sub(r"[^\w-]+", "-", name).strip("-") or "study"


def _line(text: str) -> str:
    """Return a text that is safe in a comment."""
    return "".join(char if char.isprintable() else "?" for char in text)


def _text(text: str) -> str:
    """Write a text as a TOML string; this is JSON syntax except for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
