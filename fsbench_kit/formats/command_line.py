r"""The command lines of tools: how to tell them from sentences, and which settings their options specify.

A format describes its tool's options in a table, option -> setting and conversion of its value, and the rules of
its command line in a `CommandLine`. Options without a word in `fsbench_kit.model.vocabulary` are kept as
``<tool>.<option>``, with their values as written.
"""

from __future__ import annotations

import getopt
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from fsbench_kit.model.records import Origin, Setting
from fsbench_kit.model.units import size

OptionNames = dict[str, tuple[str, Callable[[str], str]]]
"""Option -> setting, and a function that converts its value."""
Pairs = Iterable[tuple[str, str]]
"""Settings and their values."""


# Conversion of values


def plain(value: str) -> str:
    """Return a value unchanged."""
    return value


def in_bytes(value: str) -> str:
    """Return a size in bytes.

    >>> in_bytes("4k")
    '4096'
    """
    return str(size(value))


def truth(value: str) -> str:
    """Return ``true`` for an option that is on, possibly just by being present.

    >>> truth(""), truth("off")
    ('true', 'false')
    """
    return {"": "true", "1": "true", "on": "true", "yes": "true", "0": "false", "off": "false"}.get(value, value)


_TIME_UNITS: Final = {
    "us": Decimal("0.000001"),
    "ms": Decimal("0.001"),
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
}


def in_seconds(value: str) -> str:
    """Return a time in seconds, read like fio does: its ``str_to_decimal`` reads 2.9 and 2.9m as 2.

    >>> in_seconds("2m")
    '120'
    """
    match = re.fullmatch(r"(\d+)(?:\.\d+[a-z]*|(us|ms|[smhd])?)", value.lower())
    if match is None:
        raise ValueError(f"{value!r} is not a time")
    return f"{(int(match[1]) * _TIME_UNITS[match[2] or 's']).normalize():f}"


def share(value: str) -> str:
    """Return a percentage as a share of 1."""
    return str(float(Decimal(value) / 100))


def setting_of(tool: str, options: OptionNames, name: str, value: str) -> tuple[str, str]:
    """Return the setting that an option specifies, and its value.

    >>> setting_of("fio", {"bs": ("block_size", in_bytes)}, "bs", "4k")
    ('block_size', '4096')
    """
    key, convert = options.get(name, (f"{tool}.{name}", plain))
    try:
        return key, convert(value)
    except (ValueError, InvalidOperation):
        return key, value  # "4k,8k" is not one size, but it is what was requested


# Words of a command line

QUOTED: Final = r"""(?:"[^"\n]*"|'[^'\n]*'|“[^”\n]*”|‘[^’\n]*’)"""
PUNCTUATION: Final = ".,:;!?)"

GOES_ON: Final = r"\\[^\S\n]*\n|\n(?=[^\S\n]*--[a-z])|(?<=[\s=\"])`[^`\n]{1,200}`"
"""What continues a command line: a backslash, options that a mail wrapped to the next line, and a command
substitution in backquotes. A single backquote ends text that was marked as code."""

# If a copy lost its spaces, two dashes directly follow the previous value.
_LONG_OPTION: Final = re.compile(
    r"(?:(?<![\w-])-{1,2}|--)(?P<name>[A-Za-z][\w-]+?)"
    rf"(?:=(?P<value>{QUOTED}|\S*?)|\s+(?P<next>{QUOTED}|[^\s-]\S*?))?(?=\s|--[a-z]|$)"
)
# After the tool's own arguments come other commands or redirections. A bar can also come from a table.
_OWN: Final = re.compile(rf"(?:{QUOTED}|(?!\|\s{{0,20}}(?:awk|cut|grep|head|less|sed|sort|tail|tee)\b)[^;&<>`])*")
_CONTINUATION: Final = re.compile(r"\\(?=\s|$)")


def unquoted(value: str) -> str:
    """Return a word without surrounding quotes."""
    return value[1:-1] if re.fullmatch(QUOTED, value) else value


def words_of(arguments: str) -> list[str]:
    """Return the words of a command line, unquoted.

    >>> words_of('-d "my folder" -q')
    ['-d', 'my folder', '-q']
    """
    return [unquoted(word) for word in re.findall(rf"(?:{QUOTED}|\S)+", arguments)]


def own(arguments: str) -> str:
    """Return the arguments of a command, without redirections and other commands after them.

    >>> own("-a -s 1g > log.txt")
    '-a -s 1g '
    """
    return match[0] if (match := _OWN.match(arguments)) is not None else ""


def all_own(arguments: str) -> str:
    """Return the same, also without the number of a redirected stream and anything after a bar.

    >>> all_own("-a -s 1g 2>&1"), all_own("-a | xargs")
    ('-a -s 1g', '-a')
    """
    words = re.split(r"\s\|(?:\s|$)", own(arguments))[0]
    return re.sub(r"\s\d$", "", words) if arguments[len(words) :].startswith((">", "<")) else words


def long_options(
    tool: str, options: OptionNames, arguments: str, is_flag: Callable[[str], bool] = lambda _: True
) -> Iterator[tuple[str, str]]:
    """Yield the settings of options like ``--name=value``; options that are not flags may take the next word."""
    for option in _LONG_OPTION.finditer(own(arguments)):
        name, value = option["name"], option["value"]
        if value is None and not is_flag(name):
            value = option["next"]
        value = unquoted(value or "")
        if "$" not in value:  # the value of a shell variable is not known
            yield setting_of(tool, options, name, value or "true")


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    r"""The syntax of a tool's command line.

    Attributes
    ----------
    program
        A regular expression for the program's name.
    settings
        A function that returns the settings that arguments specify, and their values.
    takes
        A function that returns whether the tool accepts all of its arguments; otherwise the text is a sentence
        about it.
    begins
        A regular expression for the first argument, if that need not be an option.
    ends
        A regular expression for a complete command line that can be followed by a sentence.

    Examples
    --------
    >>> dd = CommandLine(program="dd", settings=lambda words: [("dd.words", words.strip())], takes=bool)
    >>> [f"{setting.key}={setting.value}" for setting in dd.read("# dd if=a of=b", origin="command")]
    ['command=dd if=a of=b', 'dd.words=if=a of=b']
    """

    program: str
    settings: Callable[[str], Pairs]
    takes: Callable[[str], bool]
    begins: str | None = None
    ends: str | None = None

    def read(self, command: str, *, origin: Origin, line: int | None = None) -> Iterator[Setting]:
        """Yield the command itself, and the settings that it specifies.

        It may span several lines, follow a prompt, and lack spaces.
        """
        words = one_line(command)
        found = self.search(words)
        yield Setting(key="command", value=words[found.start() if found else 0 :], origin=origin, line=line)
        for key, value in self.settings(words[found.end() :]) if found else ():
            yield Setting(key=key, value=value, origin=origin, line=line)

    def parses(self, command: str) -> bool:
        """Whether a text is a command line whose words are all accepted by the tool."""
        words = one_line(command)
        found = self.search(words)
        return found is not None and self.takes(words[found.end() :])

    def search(self, words: str) -> re.Match[str] | None:
        """Find the program, including its path, in a command line."""
        return re.search(rf"(?:\"[A-Z]:\\[^\"]*?|\S*?)\b{self.program}(?:\.exe)?(?:\"(?=\s)|(?=\s|-|$))", words)


def one_line(command: str) -> str:
    r"""Return a command line without line breaks.

    >>> one_line("fio \\\n  --bs=4k")
    'fio --bs=4k'
    """
    return " ".join(_CONTINUATION.sub(" ", command).split())


def getopt_words(arguments: str, flags: str, names: Sequence[str] = ()) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the options of a command line with their values, and its other words.

    Both are empty if the tool lacks one of the options: then nothing but the command itself is known.

    >>> getopt_words("-t 60 4", "t:"), getopt_words("-x", "t:")
    (([('-t', '60')], ['4']), ([], []))
    """
    try:
        return getopt.gnu_getopt(words_of(arguments), flags, names)
    except getopt.GetoptError:
        return [], []


def getopt_command_line(
    tool: str, flags: str, options: OptionNames, *, long: Iterable[str] = (), operands: Iterable[str] = ()
) -> CommandLine:
    """Return the command line of a tool that parses its options with ``getopt``.

    Parameters
    ----------
    tool
        The name of the tool, which is also that of its program.
    flags, long
        Its options in the syntax of ``getopt``: ``"ab:"`` for ``-a`` and ``-b VALUE``.
    options
        The options that correspond to settings of the vocabulary: ``-b``, ``--long``.
    operands
        The settings that its other words specify, in order.

    Examples
    --------
    >>> command = getopt_command_line("dbench", "t:", {"-t": ("time_limit", in_seconds)}, operands=["threads"])
    >>> list(command.settings(" -t 60 4 > log")), command.takes(" is a tool of Samba's")
    ([('time_limit', '60'), ('threads', '4')], False)
    """
    names, keys = list(long), list(operands)

    def settings(arguments: str) -> Iterator[tuple[str, str]]:
        found, others = getopt_words(all_own(arguments), flags, names)
        yield from (setting_of(tool, options, flag, value or "true") for flag, value in found)
        yield from zip(keys, others, strict=False)

    def takes(arguments: str) -> bool:
        found, others = getopt_words(all_own(arguments), flags, names)
        numbers = all(re.search(r"\d", word) for word in others)
        return bool(found or others) and len(others) <= len(keys) and numbers

    begins = r"\d" if keys else None
    return CommandLine(program=re.escape(tool), settings=settings, takes=takes, begins=begins)
