"""What the names of files and folders say about runs: by a template, or without one as ``key=value``.

A template is a name with keys in braces, ``{filesystem}_{workload}_bs{block_size}_run{round}.json``; one with
slashes also covers folders. Keys are columns of runs, settings, or words of the user's choice, which become
settings with that name. A name only adds what a log does not say, and never overrides it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Final, NamedTuple

from fsbench_kit.data.dates import DATE, OTHER_WORDS, iso, with_time
from fsbench_kit.data.log import FioLog, Log, log_with
from fsbench_kit.formats.command_line import truth
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.parsing import parse
from fsbench_kit.model.records import Setting

FACTS: Final = ("filesystem", "host", "tool_version", "target", "workload", "round")
"""Keys that are columns of runs; all others are settings."""


class Named(NamedTuple):
    """What a name says: columns of runs, and settings."""

    facts: dict[str, str | int]
    settings: tuple[Setting, ...]


NOTHING: Final = Named({}, ())


def with_names(log: Log, templates: Sequence[NameTemplate]) -> Iterator[Log]:
    """Yield a log with what its name adds to it, by templates or by itself.

    If the name fits no template, a diagnostic precedes the log.
    """
    if not log.has_runs or not (templates or _may_say(log.source)):
        yield log
        return
    path = PurePath(log.source)
    named = said_by(templates, path) if templates else plain_names(path)
    if named is None:
        yield not_fitting(log, templates)
    yield log if named in (None, NOTHING) else with_named(log, named)


def said_by(templates: Iterable[NameTemplate], path: PurePath) -> Named | None:
    """Return what a name says by the first template that it fits; ``None`` if it fits none."""
    return next((named for template in templates if (named := template.read(path)) is not None), None)


def with_named(log: Log, named: Named) -> Log:
    """Return a log with the facts and settings of its name; facts that it already has take precedence."""
    facts = {name: value for name, value in named.facts.items() if getattr(log, name) is None}
    return replace(log, **facts, settings=(*log.settings, *named.settings))  # type: ignore[arg-type]


def with_assumed(log: Log, assume: Mapping[str, str]) -> Iterator[Log]:
    """Yield a log with what the user assumes and nothing else states, preceded by a diagnostic that says so."""
    if not isinstance(assume, Mapping):
        raise RequestError(f"{assume!r} cannot be assumed", hint='Give keys and values: {"fio_version": "3.1"}.')
    known = {str(key): str(value) for key, value in assume.items()}
    version = known.pop("fio_version", None)
    if wrong := next((key for key, value in known.items() if not re.fullmatch(_form(key).pattern, value)), None):
        raise RequestError(
            f"{known[wrong]!r} cannot be assumed", hint=f"Give {wrong} as names of files do: 4k, 32."
        )
    named = _named({key: _form(key).read(value) for key, value in known.items()})
    settings = tuple(replace(setting, origin="assumed") for setting in named.settings)
    facts = {**named.facts, **({"tool_version": version} if version and isinstance(log, FioLog) else {})}
    if log.has_runs:
        said = ", ".join(f"{key} {value}" for key, value in assume.items())
        yield log_with(log.source, "ASSUMED", f"Assumed: {said}.")
        log = with_named(log, Named(facts, settings))
    yield log


def not_fitting(log: Log, templates: Sequence[NameTemplate]) -> Log:
    """Return the diagnostic of a log whose name fits no template."""
    message = f"Its name does not fit {' or '.join(map(str, templates))}, and says nothing about its runs."
    return log_with(log.source, "NAME_DOES_NOT_FIT", message)


def templates_of(names: str | Iterable[str] | None) -> tuple[NameTemplate, ...]:
    """Return the given templates."""
    several = names if isinstance(names, Iterable) and not isinstance(names, str) else [names] if names else []
    return tuple(NameTemplate(text) for text in several)


class NameTemplate:
    """What each part of a name means.

    Parameters
    ----------
    text
        A template such as ``{filesystem}/{workload}_run{round}.json``. ``{}`` matches anything. A template without
        an ending, ``run{round}``, matches names with any of the usual ones.

    Raises
    ------
    RequestError
        If the text is not a template.

    Examples
    --------
    >>> from pathlib import PurePath
    >>> template = NameTemplate("{filesystem}_bs{block_size}_run{round}.json")
    >>> said = template.read(PurePath("logs/XFS_bs4k_run03.json"))
    >>> said.facts, [(setting.key, setting.value) for setting in said.settings]
    ({'filesystem': 'xfs', 'round': 3}, [('block_size', '4096')])
    """

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise RequestError(f"{text!r} is not a name template", hint=_HOW)
        self.text = text
        keys = re.findall(r"\{([^{}]*)\}", text)
        braces = re.sub(r"\{[^{}]*\}", "", text)
        wrong = next((key for key in keys if key and not _KEY.fullmatch(key)), None)
        if wrong is not None or "{" in braces or "}" in braces or not any(keys):
            what = f"{{{wrong}}} is not a key" if wrong is not None else "this is not a name template"
            raise RequestError(f"{text}: {what}", hint=_HOW)
        self.keys = [key for key in keys if key]
        self._folders = text.count("/")
        self._has_ending = re.search(r"\.[A-Za-z]\w*$", text) is not None
        typed = re.sub(r"\{([^{}]*)\}", lambda found: f"{{{found[1]}:{_form(found[1]).name}}}", text)
        forms = {
            form.name: parse.with_pattern(form.pattern)(partial(form.read)) for form in (_ANY, *_FORMS.values())
        }
        self._parser = parse.compile(typed, forms, case_sensitive=True)

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type[NameTemplate], tuple[str]]:
        return NameTemplate, (self.text,)

    def read(self, path: PurePath) -> Named | None:
        """Return what a name says, with as many folders as the template has; ``None`` if it does not fit."""
        name = "/".join(path.parts[-1 - self._folders :])
        found = None if self._has_ending else self._parser.parse(_ENDING.sub("", name))
        found = found or self._parser.parse(name)
        return None if found is None else _named(found.named)


_HOW: Final = 'Write keys in braces, as in "{filesystem}_{workload}_run{round}.json".'
_KEY: Final = re.compile(r"[A-Za-z][\w.-]*")
_ENDING: Final = re.compile(
    r"\.(?:txt|log|out|json|csv|dat|html?|md|results?|fio|bonnie|iozone|sysbench)(?:\.(?:gz|bz2|xz|zst))?$",
    re.IGNORECASE,
)
"""The usual endings of logs."""


def _may_say(path: str) -> bool:
    """Whether a path can say anything without a template."""
    return "=" in path or "/run-" in path


def plain_names(path: PurePath) -> Named:
    """Return what a path says without a template: by parts like ``fs=xfs``, and by the folders of bench-fio.

    Examples
    --------
    >>> from pathlib import PurePath
    >>> plain_names(PurePath("fs=xfs/bs=4k/run=3.json")).facts
    {'filesystem': 'xfs', 'round': 3}
    """
    text = path.as_posix().removesuffix(path.suffix)
    if not _may_say(text):
        return NOTHING
    found = {_ALIASES.get(key.lower(), key): value for key, value in _PAIR.findall(text)}
    if (of_bench_fio := _BENCH_FIO.search(path.as_posix())) is not None:
        found = {**of_bench_fio.groupdict(), **found}
    fitting = {key: value for key, value in found.items() if re.fullmatch(_form(key).pattern, value)}
    return _named({key: _form(key).read(value) for key, value in fitting.items()})


_PAIR: Final = re.compile(r"(?:^|[/_,;& ])([A-Za-z][\w.-]*?)=([^/,;& =]+?)(?=$|[/,;& ]|_[A-Za-z][\w.-]*?=)")
_BENCH_FIO: Final = re.compile(
    r"(?P<target>[^/]+)/[^/]+/(?P<block_size>\d+[kKmM]?)/run-(?P<round>\d+)/"
    r"(?:rand)?(?:read|write|rw|trim|trimwrite)-(?P<iodepth>\d+)-(?P<threads>\d+)\.json$"
)
_ALIASES: Final = {
    "fs": "filesystem",
    "bs": "block_size",
    "qd": "iodepth",
    "depth": "iodepth",
    "jobs": "threads",
    "numjobs": "threads",
    "ioengine": "engine",
    "rw": "pattern",
    "size": "file_size",
    "run": "round",
    "rep": "round",
    "iteration": "round",
}
"""Common short names of keys, in names with ``key=value``."""


def _named(said: Mapping[str, str | int]) -> Named:
    known = with_time({"date" if key in OTHER_WORDS else key: value for key, value in said.items()})
    return Named(
        {key: value for key, value in known.items() if key in FACTS},
        tuple(
            Setting(key=key, value=str(value), origin="name") for key, value in known.items() if key not in FACTS
        ),
    )


# ---- how a part of a name becomes a value


class _Form(NamedTuple):
    """The form of a part of a name, and how it is read."""

    name: str
    pattern: str
    read: Callable[[str], str | int]


def _size(text: str) -> str:
    """Return a size in bytes as fio reads it, where k is 1024.

    >>> _size("4k"), _size("1MiB"), _size("512B")
    ('4096', '1048576', '512')
    """
    number, unit = re.fullmatch(r"(\d+)([kmgt]?).*", text.lower()).groups()  # type: ignore[union-attr]
    return str(int(number) << 10 * "_kmgt".index(unit or "_"))


def _count(text: str) -> int:
    """Return a number that may have a unit on either side.

    >>> _count("qd32"), _count("8jobs"), _count("007")
    (32, 8, 7)
    """
    return int(re.sub(r"\D", "", text))


_ANY: Final = _Form("any", r"[^/]+?", str)
_SIZE: Final = _Form("size", r"\d+[kmgtKMGT]?(?:i?[bB])?", _size)
_COUNT: Final = _Form("count", r"(?:qd|iodepth|depth|d|t|j|x)?\d+(?:threads?|jobs?|files?|t|j|x)?", _count)
_FORMS: Final = {
    "filesystem": _Form("filesystem", _ANY.pattern, str.lower),
    **dict.fromkeys(("date", *OTHER_WORDS), _Form("date", f"{DATE}|{_ANY.pattern}", iso)),
    "round": _Form("round", r"(?:run|rep|r)?\d+", _count),
    **dict.fromkeys(("block_size", "file_size", "total_size"), _SIZE),
    **dict.fromkeys(("iodepth", "threads", "files"), _COUNT),
    **dict.fromkeys(("direct", "sync"), _Form("truth", _ANY.pattern, truth)),
}
"""Keys whose values have a certain form; names with other values do not fit."""


def _form(key: str) -> _Form:
    return _FORMS.get(key, _ANY)
