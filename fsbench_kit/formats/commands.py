"""Reads settings from the command lines of fio, sysbench fileio, iozone and bonnie++.

Options are those of the tools' manuals: ``fio(1)``, ``sysbench fileio help``, ``iozone -h``, ``bonnie++(8)``. An
option that `fsbench_kit.model.vocabulary` has no word for is kept as ``<tool>.<option>``, with its value as it
stands.
"""

from __future__ import annotations

import getopt
import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

from fsbench_kit.model.records import Origin, Setting
from fsbench_kit.model.units import size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _plain(value: str) -> str:
    return value


def _bytes(value: str) -> str:
    return str(size(value))


def _kib(value: str) -> str:
    """Read a size of iozone, which counts in kB of 1024 bytes where no suffix is given."""
    return str(size(value if value[-1:].isalpha() else f"{value}k"))


def _truth(value: str) -> str:
    return {"": "true", "1": "true", "on": "true", "yes": "true", "0": "false", "off": "false"}.get(value, value)


_TIME_UNITS: Final = {
    "us": Decimal("0.000001"),
    "ms": Decimal("0.001"),
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
}


def _seconds(value: str) -> str:
    """Read a time as fio does, which reads whole numbers only: its ``str_to_decimal`` takes 2.9 and 2.9m for 2."""
    match = re.fullmatch(r"(\d+)(?:\.\d+[a-z]*|(us|ms|[smhd])?)", value.lower())
    if match is None:
        raise ValueError(f"{value!r} is not a time")
    return f"{(int(match[1]) * _TIME_UNITS[match[2] or 's']).normalize():f}"


def _percent(value: str) -> str:
    return str(float(Decimal(value) / 100))


Options = dict[str, tuple[str, "Callable[[str], str]"]]

_FIO: Final[Options] = {
    "bs": ("block_size", _bytes),
    "blocksize": ("block_size", _bytes),
    "description": ("description", _plain),
    "direct": ("direct", _truth),
    "directory": ("directory", _plain),
    "end_fsync": ("final_fsync", _truth),
    "fsync": ("fsync", _plain),
    "group_reporting": ("grouped", _truth),
    "iodepth": ("iodepth", _plain),
    "ioengine": ("engine", _plain),
    "name": ("job_name", _plain),
    "numjobs": ("threads", _plain),
    "output": ("output", _plain),
    "output-format": ("output", _plain),
    "randseed": ("seed", _plain),
    "readwrite": ("pattern", _plain),
    "runtime": ("time_limit", _seconds),
    "rw": ("pattern", _plain),
    "rwmixread": ("read_share", _percent),
    "size": ("file_size", _bytes),
    "sync": ("sync", _truth),
    "time_based": ("time_based", _truth),
}

_FIO_FLAGS: Final = frozenset(
    {
        "exitall",
        "exitall_on_error",
        "group_reporting",
        "minimal",
        "new_group",
        "norandommap",
        "readonly",
        "refill_buffers",
        "stonewall",
        "thread",
        "time_based",
        "zero_buffers",
    }
)
"""Options that take no value, so that the word after one is not its own."""

_SYSBENCH: Final[Options] = {
    "events": ("request_limit", _plain),
    "file-block-size": ("block_size", _bytes),
    "file-fsync-end": ("final_fsync", _truth),
    "file-fsync-freq": ("fsync", _plain),
    "file-io-mode": ("engine", _plain),
    "file-num": ("files", _plain),
    "file-test-mode": ("pattern", _plain),
    "file-total-size": ("total_size", _bytes),
    "max-requests": ("request_limit", _plain),
    "max-time": ("time_limit", _seconds),
    "num-threads": ("threads", _plain),
    "rand-seed": ("seed", _plain),
    "threads": ("threads", _plain),
    "time": ("time_limit", _seconds),
}

_IOZONE: Final[Options] = {
    "-I": ("direct", _truth),
    "-b": ("output", _plain),
    "-f": ("directory", _plain),
    "-j": ("stride", _plain),
    "-o": ("sync", _truth),
    "-r": ("block_size", _kib),
    "-s": ("file_size", _kib),
    "-t": ("threads", _plain),
    **{flag: (f"iozone.{flag}", _kib) for flag in ("-g", "-n", "-q", "-y", "-S")},
}
_IOZONE_FLAGS: Final = "aABb:cCd:DeEf:F:g:GhH:i:Ij:J:k:Kl:L:mMn:NoOpP:q:Qr:Rs:S:t:Tu:U:vV:wWxX:y:Y:zZ+:"
# The word after one of these belongs to it: -+p 30. Options of this kind are all spelled -+ and a letter.
_IOZONE_OPERAND: Final = re.compile(r"(?<!\S)(-\+[abchimpqwxyACHKOPQRSW])\s+(?=[^\s-])")

_QUOTED: Final = r"""(?:"[^"\n]*"|'[^'\n]*'|“[^”\n]*”|‘[^’\n]*’)"""
_BONNIE: Final[Options] = {
    "-D": ("direct", _truth),
    "-c": ("threads", _plain),
    "-d": ("directory", _plain),
    "-m": ("description", _plain),
    "-z": ("seed", _plain),
}
_BONNIE_FLAGS: Final = "bc:d:fg:l:m:n:p:qr:s:u:x:y:z:Z:D"
# The size of the files that are written by the character follows its option directly; getopt takes it for options.
_BONNIE_FAST: Final = re.compile(r"(?<!\S)(-[bqD]*f)(\d+)(?!\S)")
# What a shell puts in the place of another command's name is not known.
_SUBSTITUTION: Final = re.compile(r"`[^`]*`|\$\([^()]*\)")
_UNKNOWN: Final = "\0"

GOES_ON: Final = r"\\[^\S\n]*\n|\n(?=[^\S\n]*--[a-z])|(?<=[\s=\"])`[^`\n]{1,200}`"
"""What continues a command line: a back-slash, the options that a mail put on the next line, and a command between
two back-quotes. One of these alone ends what somebody marked as code."""

_TOOL: Final = re.compile(
    r"(?:\"[A-Z]:\\[^\"]*?|\S*?)\b(?P<name>fio|sysbench|iozone|bonnie\+\+)(?:\.exe)?(?:\"(?=\s)|(?=\s|-|$))"
)
# Where a copy lost its spaces, two dashes follow the value before them directly.
_LONG_OPTION: Final = re.compile(
    r"(?:(?<![\w-])-{1,2}|--)(?P<name>[A-Za-z][\w-]+?)"
    rf"(?:=(?P<value>{_QUOTED}|\S*?)|\s+(?P<next>{_QUOTED}|[^\s-]\S*?))?(?=\s|--[a-z]|$)"
)
# What follows for the shell is another command, or where the output goes. A bar can also come from a table.
_OWN: Final = re.compile(rf"(?:{_QUOTED}|(?!\|\s{{0,20}}(?:awk|cut|grep|head|less|sed|sort|tail|tee)\b)[^;&<>`])*")
_CONTINUATION: Final = re.compile(r"\\(?=\s|$)")


def command_settings(command: str, *, origin: Origin, line: int | None = None) -> Iterator[Setting]:
    """Yield the settings that a command line of one of the four tools makes, and the command itself.

    Parameters
    ----------
    command
        The command line, which may continue over line ends with back-slashes, follow a prompt, and have lost
        spaces.
    origin, line
        Where the command is known from.

    Examples
    --------
    >>> [f"{s.key}={s.value}" for s in command_settings("$ fio --bs=4k -group_reporting --rw=read", origin="log")]
    ['command=fio --bs=4k -group_reporting --rw=read', 'block_size=4096', 'grouped=true', 'pattern=read']
    """
    words = " ".join(_CONTINUATION.sub(" ", command).split())
    tool = _TOOL.search(words)
    if tool is None:
        yield Setting(key="command", value=words, origin=origin, line=line)
        return
    yield Setting(key="command", value=words[tool.start() :], origin=origin, line=line)
    for key, value in _options(tool["name"], words[tool.end() :]):
        yield Setting(key=key, value=value, origin=origin, line=line)


def command_line(text: str) -> str | None:
    """Return the command line that a text begins with; ``None`` where it is a sentence about the tool.

    The verb of sysbench ends its command, so that a sentence can go on behind it.

    >>> command_line("sysbench fileio --threads=4 run and saw this:"), command_line("iozone -a runs all tests")
    ('sysbench fileio --threads=4 run', None)
    """
    if not parses(text):
        return None
    ended = _UP_TO_VERB.match(text)
    return ended[0] if ended is not None else text


_UP_TO_VERB: Final = re.compile(
    r"(?:\S*/)?sysbench\b.*?\s(?:run|prepare|cleanup)\b(?:[\s\\]+--?\w\S*)*", re.DOTALL
)


def parses(command: str) -> bool:
    """Whether a text is a command line of which its tool takes every word.

    >>> parses("$ iozone -a -s 1g -i 0 | tee log"), parses("iozone -a for a full automatic run; see below")
    (True, False)
    """
    words = " ".join(_CONTINUATION.sub(" ", command).split())
    tool = _TOOL.search(words)
    if tool is None:
        return False
    arguments = words[tool.end() :]
    if tool["name"] == "bonnie++":
        return _bonnie_parses(arguments)
    own = match[0] if (match := _OWN.match(arguments)) is not None else ""
    own = re.split(r"\s\|(?:\s|$)", own)[0]
    if arguments[len(own) :].startswith((">", "<")):
        own = re.sub(r"\s\d$", "", own)  # 2>&1
    return _PARSES[tool["name"]](own)


_TESTS_OF_SYSBENCH: Final = frozenset({"cpu", "fileio", "memory", "mutex", "oltp", "threads"})
_VERBS: Final = frozenset({"run", "prepare", "cleanup", "help", "version"})
_PUNCTUATION: Final = ".,:;!?)"


def _sysbench_parses(arguments: str) -> bool:
    words = _words(arguments)
    has_verb = False
    for word in words:
        if word.startswith("-"):
            continue
        if has_verb:
            return True
        has_verb = word.rstrip(_PUNCTUATION) in _VERBS
        if not has_verb and word not in _TESTS_OF_SYSBENCH and not word.endswith(".lua"):
            return False
    return has_verb or any(word.startswith("-") for word in words)


def _fio_parses(arguments: str) -> bool:
    """Whether words are options of fio with their values, and names of job files."""
    words = _words(arguments)
    before = ""
    for place, word in enumerate(words):
        takes_next = before.startswith("-") and "=" not in before and before.lstrip("-") not in _FIO_FLAGS
        is_file = re.search(r"[./_\d]", word) is not None and word[-1] not in _PUNCTUATION
        is_only_one = place == len(words) - 1 and "=" in before and word[-1] not in _PUNCTUATION
        if not (word.startswith("-") or takes_next or is_file or is_only_one):
            return False
        before = "" if takes_next and not word.startswith("-") else word
    return bool(words)


def _iozone_parses(arguments: str) -> bool:
    try:
        pairs, stray = _iozone_words(arguments)
    except getopt.GetoptError:
        return False
    return (
        bool(pairs)
        and (not stray or "-F" in dict(pairs))
        and all(_IOZONE_NUMBER.fullmatch(value) for flag, value in pairs if flag in _IOZONE_NUMBERS)
    )


_IOZONE_NUMBERS: Final = frozenset({"-g", "-i", "-j", "-l", "-n", "-q", "-r", "-s", "-t", "-u", "-y", "-S"})
_IOZONE_NUMBER: Final = re.compile(r"\d+[kmgtKMGT]?|.*\$.*")


def _bonnie_parses(arguments: str) -> bool:
    try:
        pairs, stray = _bonnie_words(arguments)
    except getopt.GetoptError:
        return False
    numbers = (value for flag, value in pairs if flag in {"-c", "-n", "-r", "-s", "-x"})
    return bool(pairs) and not stray and all(re.match(rf"\d|.*[${_UNKNOWN}]", value) for value in numbers)


_PARSES: Final = {"fio": _fio_parses, "iozone": _iozone_parses, "sysbench": _sysbench_parses}


def job_option(name: str, value: str) -> tuple[str, str]:
    """Return the key and the canonical value of a fio job's option, as job files and fio's JSON have them.

    >>> job_option("bs", "4k"), job_option("group_reporting", "")
    (('block_size', '4096'), ('grouped', 'true'))
    """
    return _setting("fio", _FIO, name, value or "true")


def _options(tool: str, arguments: str) -> Iterator[tuple[str, str]]:
    own = match[0] if (match := _OWN.match(arguments)) is not None else ""
    if tool == "iozone":
        yield from _iozone_options(own)
        return
    if tool == "bonnie++":
        yield from _bonnie_options(arguments)
        return
    options = _FIO if tool == "fio" else _SYSBENCH
    for option in _LONG_OPTION.finditer(own):
        name, value = option["name"], option["value"]
        if value is None:
            # fio takes the next word for an option's value (-iodepth 4), unless the option is a mere flag.
            value = option["next"] if tool == "fio" and name not in _FIO_FLAGS else None
        value = _unquoted(value or "")
        if "$" in value:  # what the shell put in its place is not known
            continue
        if name == "file-extra-flags":
            yield from _open_flags(value)
        elif name != "test":  # sysbench 0.4 and 0.5 name the test by an option: --test=fileio
            yield _setting(tool, options, name, value or "true")


def _unquoted(value: str) -> str:
    return value[1:-1] if re.fullmatch(_QUOTED, value) else value


def _open_flags(flags: str) -> Iterator[tuple[str, str]]:
    """Read sysbench's ``--file-extra-flags``: any of sync, dsync and direct."""
    given = set(flags.split(","))
    yield "direct", "true" if "direct" in given else "false"
    yield "sync", "true" if given & {"sync", "dsync"} else "false"


def _words(arguments: str) -> list[str]:
    return [_unquoted(word) for word in re.findall(rf"(?:{_QUOTED}|\S)+", arguments)]


def _iozone_options(arguments: str) -> Iterator[tuple[str, str]]:
    try:
        pairs, _ = _iozone_words(arguments)
    except getopt.GetoptError:
        return  # the command itself is kept
    values: dict[str, list[str]] = {}  # -i, -r and -s can be given several times, and then all of them count
    for flag, value in pairs:
        if flag == "-+":
            key, known = f"iozone.-+{value[:1]}", value[1:] or "true"
        else:
            key, known = _setting("iozone", _IOZONE, flag, value or "true")
        values.setdefault(key, []).append(known)
    for key, known_values in values.items():
        yield key, ",".join(dict.fromkeys(known_values))


def _iozone_words(arguments: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the options of iozone with their values, and the words that belong to none.

    Raises
    ------
    getopt.GetoptError
        If iozone has no such option.
    """
    return getopt.gnu_getopt(_words(_IOZONE_OPERAND.sub(r"\1", arguments)), _IOZONE_FLAGS)


def has_stray_words(command: str) -> bool:
    """Whether words of an iozone command belong to no option, as where a copy broke it inside a word.

    >>> has_stray_words("iozone -a -s 10 24 -i 0"), has_stray_words("iozone -t 2 -F one two")
    (True, False)
    """
    try:
        pairs, stray = _iozone_words(command.partition("iozone")[2])
    except getopt.GetoptError:
        return True
    return bool(stray) and "-F" not in dict(pairs)


def _bonnie_options(arguments: str) -> Iterator[tuple[str, str]]:
    """Read the options of bonnie++."""
    try:
        pairs, _ = _bonnie_words(arguments)
    except getopt.GetoptError:
        return  # the command itself is kept
    for flag, value in pairs:
        if _UNKNOWN in value or "$" in value:
            continue
        match flag:
            case "-s":
                yield from _bonnie_sizes(value)
            case "-n":
                yield from _bonnie_files(value)
            case "-b":
                yield "fsync", "1"
            case "-f":
                size_by_char = _BONNIE_FAST.search(arguments)
                yield "bonnie++.-f", size_by_char[2] if size_by_char else "true"
            case _:
                yield _setting("bonnie++", _BONNIE, flag, value or "true")


def _bonnie_words(arguments: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the options of bonnie++ with their values, up to what a shell does with its output, and other words.

    Raises
    ------
    getopt.GetoptError
        If bonnie++ has no such option.
    """
    known = _SUBSTITUTION.sub(_UNKNOWN, _SUBSTITUTION.sub(_UNKNOWN, arguments))
    words = re.split(r"\s\d?[|<>;&]|;", f" {known} ")[0]
    return getopt.gnu_getopt(_words(_BONNIE_FAST.sub(r"\1", words)), _BONNIE_FLAGS)


def _bonnie_sizes(value: str) -> Iterator[tuple[str, str]]:
    """Read ``-s``: size in MiB, size of a chunk in bytes, seeks, processes that seek."""
    keys = ("file_size", "block_size", "bonnie++.seeks", "bonnie++.seekers")
    for key, part in zip(keys, value.split(":"), strict=False):
        if part:
            number = f"{part}m" if key == "file_size" and part.isdecimal() else part
            yield key, _setting("bonnie++", {key: (key, _bytes)}, key, number)[1]


def _bonnie_files(value: str) -> Iterator[tuple[str, str]]:
    """Read ``-n``: files in units of 1024, their largest and smallest size, directories, size of a chunk."""
    keys = ("files", "largest-file", "smallest-file", "directories", "file-chunk")
    for key, part in zip(keys, value.split(":"), strict=False):
        if part and key == "files":
            yield key, str(int(part) * 1024) if part.isdecimal() else part
        elif part:
            yield f"bonnie++.{key}", _setting("bonnie++", {key: (key, _bytes)}, key, part)[1]


def _setting(tool: str, options: Options, name: str, value: str) -> tuple[str, str]:
    key, convert = options.get(name, (f"{tool}.{name}", _plain))
    try:
        return key, convert(value)
    except (ValueError, InvalidOperation):
        return key, value  # "4k,8k": not one size, but what was asked for all the same
