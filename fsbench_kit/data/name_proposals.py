"""Proposes what file names could mean: a template that would read them, for people to accept or change."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from fsbench_kit.data.names import NameTemplate
from fsbench_kit.model.parsing import parse


class Proposal(NamedTuple):
    """A template that fits names, with what it says about some of them, and the names that it does not fit."""

    template: str
    examples: list[tuple[str, dict[str, str]]]
    others: Sequence[str] = ()


def proposed(paths: Iterable[PurePath]) -> Proposal | None:
    """Propose a template for names that mostly follow one pattern; ``None`` if they do not, or do not differ.

    Folders are part of the names if these are not unique without them, or if folders vary and contain several
    files. If each folder contains files of several kinds under the same names, the template only reads the
    folders. Names are split at ``_``, ``-``, dots, blanks, commas, brackets and slashes, but dates, versions,
    hosts such as ``db-prod-1``, and words such as ``seq-read`` and ``io_uring`` stay whole. Parts that are the
    same in all names are kept. Parts that differ become keys: a known filesystem, a size, a number after ``qd``,
    ``t``, ``run`` or ``node``, a pattern, a date; all others become ``name1``, ``name2``, ... for people to
    rename.

    Examples
    --------
    >>> from pathlib import PurePath
    >>> names = ["xfs-4k-randread-1.log", "ext4-4k-randread-1.log", "ext4-4k-randwrite-2.log"]
    >>> proposed(map(PurePath, names)).template
    '{filesystem}-4k-{pattern}-{round}.log'
    """
    files = list(paths)
    depth = min((len(path.parts) for path in files), default=0)
    for folders in range(depth):
        names = ["/".join(path.parts[-1 - folders :]) for path in files]
        if len(set(names)) == len(names):
            shown = folders + _telling(files, folders)
            whole = ["/".join(path.parts[-1 - shown :]) for path in files]
            return _proposal(whole) or _of_folders(files)
    return None


def proposed_for_each(paths: Iterable[PurePath]) -> list[Proposal]:
    """Propose a template as `proposed` does, or several where names follow several patterns, such as one per tool.

    Each of several reads a known key, and together they fit most names; if folders alone say something, they say
    more than these. Those with more keys come first, as the first that fits a name counts. A word such as
    ``name1`` means the same in all of them.

    Examples
    --------
    >>> names = ["ext4_run1.json", "xfs_run1.json", "sysbench-ext4-1.txt", "sysbench-xfs-1.txt"]
    >>> [found.template for found in proposed_for_each(map(PurePath, names))]
    ['sysbench-{filesystem}-1.txt', '{filesystem}_run1.json']
    """
    files = list(paths)
    one = proposed(files)
    if one is not None and not one.others and not one.template.endswith(_ANY_FILE):
        return [one]
    kinds: dict[tuple[str, ...], list[PurePath]] = defaultdict(list)
    for path in files:
        kinds[_pattern(path.name)].append(path)
    of_kinds = {pattern: proposed(kind) for pattern, kind in kinds.items()}
    found = {
        pattern: proposal
        for pattern, proposal in of_kinds.items()
        if proposal is not None and not all(key.startswith("name") for key in proposal.examples[0][1])
    }
    others = [path.name for pattern, kind in kinds.items() if pattern not in found for path in kind]
    if len(found) < 2 or 2 * len(others) >= len(files):
        return [] if one is None else [one]
    if one is not None and one.template.endswith(_ANY_FILE) and not _say_more(found.values(), one):
        return [one]
    in_order = sorted(found, key=len, reverse=True)
    first, *more = _with_common_words([(found[pattern], kinds[pattern]) for pattern in in_order])
    return [first._replace(others=[*first.others, *others]), *more]


_ANY_FILE: Final = "/{}"
"""The end of a template that only reads folders."""


def _say_more(found: Iterable[Proposal], one: Proposal) -> bool:
    """Whether each of several templates has the keys of another one, and some have more."""
    keys, *own = (set(proposal.examples[0][1]) for proposal in (one, *found))
    return all(keys <= of_one for of_one in own) and any(keys < of_one for of_one in own)


def _with_common_words(found: Iterable[tuple[Proposal, Iterable[PurePath]]]) -> Iterator[Proposal]:
    """Rename ``name1``, ``name2``, ... so that parts with values in common have one word, and others have two."""
    values: dict[str, set[str]] = {}
    for proposal, files in found:
        words: dict[str, str] = {}
        for key, own in _values(proposal.template, files).items():
            alike = (word for word in values if word not in words.values() and not own.isdisjoint(values[word]))
            words[key] = word = next(alike, f"name{len(values) + 1}")
            values[word] = own | values.get(word, set())
        parts = re.split(r"(?<=\{)(name\d+)(?=\})", proposal.template)
        template = "".join(words.get(part, part) for part in parts)
        examples = [
            (name, {words.get(key, key): value for key, value in said.items()}) for name, said in proposal.examples
        ]
        yield proposal._replace(template=template, examples=examples)


def _values(template: str, files: Iterable[PurePath]) -> dict[str, set[str]]:
    """Return what stands in names for ``name1``, ``name2``, ... of a template."""
    reader = NameTemplate(template)
    values: dict[str, set[str]] = {key: set() for key in reader.keys if key.startswith("name")}
    for said in filter(None, map(reader.read, files)):
        for setting in said.settings:
            if setting.key in values:
                values[setting.key].add(setting.value)
    return values


def _of_folders(files: Sequence[PurePath]) -> Proposal | None:
    """Propose what folders could mean, if each file name appears in several of them."""
    first = {str(path.parent): path.name for path in reversed(files)}
    if len(first) < 2 or min(Counter(path.name for path in files).values()) < 2:
        return None
    if (found := proposed(map(PurePath, first))) is None:
        return None
    file_of = {name: file for folder, file in first.items() for name, _ in found.examples if folder.endswith(name)}
    examples = [(f"{name}/{file_of[name]}", said) for name, said in found.examples]
    return Proposal(f"{found.template}{_ANY_FILE}", examples, [f"{name}/" for name in found.others])


def _telling(files: Sequence[PurePath], folders: int) -> int:
    """Return how many parent folders matter: all from the first one that varies and contains several files."""
    if len({len(path.parts) for path in files}) > 1:
        return 0
    above = list(zip(*(path.parts[: -1 - folders] for path in files), strict=True))
    return next((len(above) - n for n, column in enumerate(above) if 1 < len(set(column)) <= len(files) / 2), 0)


_DATE: Final = (
    r"(?<!\d)(?:19|20)\d\d(?P<day>[-_.]?)(?:0[1-9]|1[0-2])(?P=day)(?:0[1-9]|[12]\d|3[01])"
    r"(?:[-_T ]?[0-2]\d(?P<time>[-_:.]?)[0-5]\d(?:(?P=time)[0-5]\d)?)?(?!\d)"
    r"|(?<!\d)(?:0[1-9]|[12]\d|3[01])(?P<sep>[-_.])(?:0[1-9]|1[0-2])(?P=sep)(?:19|20)\d\d(?!\d)"
)
_PATTERN: Final = (
    r"(?:rand|rnd|random|seq|sequential)[-_]?(?:read|write|rd|wr|rewr|rw|trim)|read|write|rw|trim|rr|sr|sw"
    r"|random|sequential|rand|seq"
)
_MIX: Final = r"(?:rand|rnd|seq)?[-_]?rw[-_]?[1-9]\d[-_][1-9]\d"
_SYSTEM: Final = (
    r"(?:(?:rhel|centos|rocky|alma)[-_][1-9](?:\.\d+)*(?![\d.])"
    r"|(?:debian|ubuntu|fedora|(?:open)?suse|sles|alpine|windows|macos|(?:free|net|open)bsd)"
    r"[-_](?:[1-9]\d(?:\.\d+)*|[1-9](?:\.\d+)+)(?![\d.])"
    r"|(?:linux|debian|ubuntu|fedora|rhel|centos|rocky|alma|arch|(?:open)?suse|sles|alpine|windows|win|macos|darwin"
    r"|(?:free|net|open|dragonfly)?bsd|dragonfly|illumos|solaris|omnios)(?:\d+(?:\.\d+)*)?)"
)
_ENGINE: Final = r"(?:io_uring|libaio|posix_?aio|psync|pvsync2?|sync|mmap)"
_SCHEDULER: Final = r"(?:mq-deadline|kyber|bfq|none|deadline|cfq|noop)"
_BUILD: Final = r"-(?:amd64|arm64|x86_64|aarch64|generic|lowlatency|default)"
_VERSION: Final = rf"v?\d+(?:\.\d+)+(?:-rc\d+)?(?:(?:-\d+)?{_BUILD})?\+?"
_PLAIN: Final = r"v?\d+(?:\.\d+)+(?:-rc\d+)?\+?"
_HOST: Final = (
    r"(?:(?:api|app|cache|db|file|io|mail|nas|web)-)?(?:prod|production|staging|stage|stg|qa|uat)-?\d+"
    r"|(?:web|app|srv)-?\d+|ip(?:-\d{1,3}){4}"
)
_NFS: Final = r"nfsv?[34](?:\.\d)?"
_WHOLE: Final = (
    rf"{_DATE}|(?<![^\W_])(?:{_MIX}|{_PATTERN}|{_ENGINE}|{_SCHEDULER}|{_SYSTEM}|{_HOST}|{_NFS}"
    rf"|(?:kernel|linux)?{_VERSION})(?![^\W_])"
)
"""Words that contain separators without being split at them."""
_SEPARATOR: Final = re.compile(
    rf"{_WHOLE}|(?P<between>[_\-,/ ()\[\].@#+~]+|(?<=\d)(?=t\d+(?![^\W_])))", re.IGNORECASE
)


def _parts(name: str) -> list[str]:
    """Return the parts of a name, with the separators between them."""
    parts = [""]
    end = 0
    for found in _SEPARATOR.finditer(name):
        if found["between"] is not None:
            parts[-1] += name[end : found.start()]
            parts += [found["between"], ""]
            end = found.end()
    parts[-1] += name[end:]
    return parts


def _pattern(name: str) -> tuple[str, ...]:
    """Return the separators and the ending of a name."""
    ending = PurePath(name).suffix
    return (*_parts(name)[1::2], ending if ending[1:].isalpha() else "")


def _proposal(names: list[str]) -> Proposal | None:
    built: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in names:
        built[_pattern(name)].append(name)
    alike = max(built.values(), key=len, default=[])
    if len(alike) < 2 or 2 * len(alike) <= len(names) or any(set(name) & {"{", "}"} for name in alike):
        return None
    parts: list[str] = []
    used: list[str] = []
    columns = list(zip(*map(_parts, alike), strict=True))
    alone = [] if _tell_rounds(columns) else [""]
    for place, column in enumerate(columns):
        if place % 2 or len(set(column)) == 1:
            parts.append(column[0])
            continue
        start, key = "", _key_of([""], list(column), used)
        if key.startswith("name") or key == "round":
            start = _common_word(column)
            values = [text[len(start) :] for text in column]
            key = _key_of([start.rstrip("=")] if start else [*parts[-2:-1], *alone], values, used)
        used.append(key)
        parts.append(f"{start}{{{key}}}")
    template = "".join(parts)
    others = [name for each in built.values() if each is not alike for name in each]
    if not used or (others and all(key.startswith("name") for key in used)):
        return None
    read = parse.compile(template, case_sensitive=True)
    examples = [(name, found.named) for name in alike[:5] if (found := read.parse(name)) is not None]
    return Proposal(template, examples, others)


def _common_word(column: tuple[str, ...]) -> str:
    """Return the letters that all texts begin with, if a number follows in each."""
    words = {re.match(r"[^\W\d_]*=?", text)[0] for text in column}  # type: ignore[index]
    (word, *others) = words
    return word if not others and all(text[len(word) :][:1].isdigit() for text in column) else ""


def _tell_rounds(columns: Sequence[tuple[str, ...]]) -> bool:
    """Whether some part is labelled as the round, so that a bare number is not taken as one."""
    words = {word for key, known, _ in _FORMS if key == "round" for word in known if word}
    varied = [place for place, column in enumerate(columns) if place % 2 == 0 and len(set(column)) > 1]
    within = {_common_word(columns[place]).rstrip("=").lower() for place in varied}
    before = {columns[place - 2][0].lower() for place in varied if place}
    return not words.isdisjoint(within | before)


def _key_of(before: Sequence[str], values: list[str], used: list[str]) -> str:
    """Return the key for a part of names, given its values and the word before it, as in ``run3`` or ``run_3``."""
    for word in before:
        for key, words, form in _FORMS:
            if key not in used and word.lower() in words and all(map(form.fullmatch, values)):
                if key == "round" and not word and _are_amounts(values):
                    break
                return key
    return f"name{sum(key.startswith('name') for key in used) + 1}"


def _are_amounts(values: Sequence[str]) -> bool:
    """Whether numbers increase in steps, as depths or shares do (1, 4, 16; 50, 100), and not one by one."""
    numbers = {int(value) for value in values}
    if len(numbers) > max(numbers) - min(numbers):
        return False
    return all(number.bit_count() == 1 for number in numbers) or all(number % 10 == 0 for number in numbers)


FILESYSTEM: Final = (
    r"(?:ext[234]|xfs|btrfs|zfs|f2fs|jfs|reiserfs|reiser4|nilfs2?|bcachefs|ntfs3?|exfat|vfat|fat32|tmpfs|ramfs|nfs[34]?"
    r"|overlay(?:fs)?|ceph(?:fs)?|lustre|gfs2|ocfs2|apfs|ufs2?|hammer2?)"
)
_NUMBER: Final = re.compile(r"\d+")
_ROUND: Final = ("run", "rep", "r", "iter", "iteration", "round", "trial", "pass", "sess", "session", "try", "n")
_FORMS: Final[tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]] = (
    ("filesystem", ("",), re.compile(rf"{FILESYSTEM}|{_NFS}", re.IGNORECASE)),
    ("pattern", ("",), re.compile(_PATTERN, re.IGNORECASE)),
    ("block_size", ("", "bs", "b", "r"), re.compile(r"\d+[kKmM](?:i?[bB])?")),
    ("block_size", ("bs",), re.compile(r"\d+(?:[kKmM](?:i?[bB])?)?")),
    ("file_size", ("", "size", "s"), re.compile(r"\d+[gGT](?:i?[bB])?")),
    ("file_size", ("size",), re.compile(r"\d+(?:[kKmM](?:i?[bB])?)?")),
    ("kernel", ("",), re.compile(rf"{_PLAIN}-\d+{_BUILD}", re.IGNORECASE)),
    ("kernel", ("linux", "kernel"), re.compile(_VERSION, re.IGNORECASE)),
    ("tool_version", ("fio", "sysbench", "iozone"), re.compile(_PLAIN)),
    ("workload", ("",), re.compile(rf"{_MIX}|(?:file|web|mail|video)server|varmail|webproxy|oltp", re.IGNORECASE)),
    ("engine", ("",), re.compile(_ENGINE, re.IGNORECASE)),
    ("scheduler", ("",), re.compile(_SCHEDULER, re.IGNORECASE)),
    ("device", ("",), re.compile(r"nvme\d+n\d+(?:p\d+)?|[sv]d[a-z]\d*|md\d+|nullb\d+")),
    ("raid", ("raid",), _NUMBER),
    ("host", ("node", "host", "server", "machine", "vm", "box"), re.compile(r"\d+(?:\.[\w.-]+)?")),
    ("host", ("",), re.compile(_HOST, re.IGNORECASE)),
    ("os", ("",), re.compile(_SYSTEM, re.IGNORECASE)),
    ("iodepth", ("qd", "q", "iodepth", "iod", "depth", "d"), _NUMBER),
    ("threads", ("t", "j", "jobs", "thread", "threads", "numjobs", "nj"), _NUMBER),
    ("threads", ("",), re.compile(r"\d+(?:threads?|jobs?|t|j)")),
    ("date", ("",), re.compile(_DATE)),
    (
        "date",
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
        re.compile(r"\d\d?"),
    ),
    ("round", _ROUND, _NUMBER),
    ("round", ("",), re.compile(r"\d{1,3}")),
)
"""Keys, the words that may precede their values, and the form of the values; the first that fits is used."""
