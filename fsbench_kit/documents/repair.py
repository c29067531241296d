r"""Reverses the damage done to logs by mails, web pages, terminals, wrapping and word processors.

Each kind of repair is a search for edits, so that every character keeps its position in the file. A repair is made
only if its symptom is unambiguous; text without symptoms is unchanged. What a repair cannot restore is left alone
or made unreadable, so that it is reported as unread: figures are never guessed.

The order matters, because the last transformation has to be undone first: a log with colours was put into a JSON
string, that was quoted in a mail, and the mail was encoded.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from fsbench_kit.documents import mails, markup, prefixes
from fsbench_kit.documents.numerals import numerals
from fsbench_kit.formats import sniff
from fsbench_kit.formats.text import Edit, Text
from fsbench_kit.model.records import Run
from fsbench_kit.model.units import MOST_DIGITS


class Repair(NamedTuple):
    """A kind of repair, identified by its diagnostic code, with the edits that it made to a text."""

    code: str
    text: Text
    edits: list[Edit]

    def starts(self, runs: Iterable[Run]) -> list[int]:
        """Return the byte offsets in the file of the repairs that were made inside the given runs.

        Lost bytes always count: they may have been a log.
        """
        if self.code == "ZERO_BYTES":
            found = set(range(len(self.edits)))
        else:
            found = {
                index
                for run in runs
                for index in range(
                    bisect_left(self.edits, run.start, key=lambda edit: self.text.byte(edit.end)),
                    bisect_right(self.edits, run.end, key=lambda edit: self.text.byte(edit.start)),
                )
            }
        return [self.text.byte(self.edits[index].start) for index in sorted(found)]


def repair(text: Text) -> tuple[Text, list[Repair]]:
    """Return a text as it was before it was damaged, and the kinds of repairs that were necessary."""
    if "\r" in text.chars:
        # A carriage return starts a line: progress output overwrites earlier progress.
        text = text.replaced(text.chars.replace("\r\n", " \n").replace("\r", "\n"))
    return _repaired(text, _REPAIRS)


def repair_log(text: Text) -> tuple[Text, list[Repair]]:
    """Repair the text of one tool's logs where damage shows only when their figures are compared."""
    return _repaired(text, _REPAIRS_OF_LOGS)


_Search = tuple[str, "Callable[[str], Iterator[Edit]]"]


def _repaired(text: Text, searches: Sequence[_Search]) -> tuple[Text, list[Repair]]:
    repairs = []
    for code, find in searches:
        edits = list(find(text.chars))
        if edits:
            repairs.append(Repair(code, text, edits))
            text = text.edited(edits)
    return text, repairs


_ZEROS: Final = re.compile("(?P<line_start>^)?\0+", re.MULTILINE)


def _zero_bytes(chars: str) -> Iterator[Edit]:
    """Replace zero bytes by a mark that no figure contains, so that digits on both sides are not joined."""
    if "\0" not in chars:
        return
    for match in _ZEROS.finditer(chars):
        mark = "\N{REPLACEMENT CHARACTER}"
        yield Edit(match.start(), match.end(), mark if match["line_start"] is None else f"{mark}\n")


# A stretch without quotes or line breaks, in which a backslash escapes the next character.
_STRING: Final = re.compile(r'(?:[^"\\\n]|\\[^\n])+')
_LINE: Final = re.compile(r"^[^\n]*\\n[^\n]*", re.MULTILINE)
_OPENING: Final = re.compile(r"""(?<![^\s:=,(\[{b])["']""")
_CLOSING: Final = re.compile(r"""["'](?=\s*[,)}\]]|\s*$)""", re.MULTILINE)
_LINE_BREAKS_OF_A_LOG: Final = 3
_ESCAPE: Final = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|x(?P<byte>[0-9a-fA-F]{2})|(?P<char>[^\n]))")
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\n", "b": "\b", "f": "\n", "e": "\x1b"}


def _escapes(chars: str) -> Iterator[Edit]:
    r"""Undo the escapes of a string (of JSON, Python, ...) that contains a whole log: \n, \t, \", \u001b."""
    if "\\" not in chars or "\\n" not in chars:  # searching for a single character is far faster
        return
    for line in _LINE.finditer(chars):
        strings = [match.span() for match in _STRING.finditer(chars, *line.span())]
        logs = [(start, end) for start, end in strings if _is_escaped_log(chars[start:end])]
        if not logs:
            continue
        # Quotes inside the log do not end the string: everything between parts of the log belongs to it.
        escapes = [match for span in strings for match in _ESCAPE.finditer(chars, *span)]
        edits = [Edit(match.start(), match.end(), _unescaped(match)) for match in escapes]
        # Text beyond the string's own quotes does not belong to the log.
        opening = _OPENING.search(chars, max(logs[0][0] - 1, line.start()), edits[0].start)
        closing = _CLOSING.search(chars, edits[-1].end, line.end())
        edits += (Edit(*quote.span(), "\n\n") for quote in (opening, closing) if quote is not None)
        yield from sorted(edits, key=lambda edit: edit.start)


def _is_escaped_log(string: str) -> bool:
    if string.count("\\n") < _LINE_BREAKS_OF_A_LOG:
        return False
    log = _ESCAPE.sub(_unescaped, _ESCAPE.sub(_unescaped, string))  # a string can be nested in another
    return bool(sniff(_CONTROL_SEQUENCE.sub("", log)))


def _unescaped(match: re.Match[str]) -> str:
    code = match["code"] or match["byte"]
    if code is not None:
        char = chr(int(code, 16))
        return char if not 0xD800 <= ord(char) < 0xE000 else "\N{REPLACEMENT CHARACTER}"
    return _ESCAPED.get(match["char"], match["char"])


_CONTROL_SEQUENCE: Final = re.compile(
    r"""(?:\x1b\[|\x9b|\^\[\[)(?P<parameters>[0-?]{0,40})[\x20-/]{0,4}(?P<final>[@-~])
    | \x1b[\]PX^_][^\x07\x1b\n]{0,1000}(?:\x07|\x1b\\)?
    | \x1b[\x20-/]{0,4}[0-~]
    | \x1b | \a
    | (?P<lost_escape>\[(?:\d{1,2}(?:;\d{1,3}){0,4})?m)""",
    re.VERBOSE,
)
_MOVES_TO_ANOTHER_PLACE: Final = frozenset("ABEFGHSTdf")
_MOST_COLUMNS: Final = 500


def _terminal(chars: str) -> Iterator[Edit]:
    """Remove control sequences such as colours; moving the cursor elsewhere starts a new line."""
    escapes_lost = "\x1b" not in chars and "[0m" in chars
    has_carets = "^" in chars and "^[[" in chars
    if not escapes_lost and not has_carets and not any(sign in chars for sign in ("\x1b", "\x9b", "\a")):
        return
    for match in _CONTROL_SEQUENCE.finditer(chars):
        replacement = ""
        if match["lost_escape"] is not None and not escapes_lost:
            continue
        if match["final"] == "C":
            columns = match["parameters"]
            replacement = " " * min(int(columns) if columns.isdecimal() else 1, _MOST_COLUMNS)
        elif match["final"] in _MOVES_TO_ANOTHER_PLACE:
            replacement = "\n"
        yield Edit(match.start(), match.end(), replacement)


_OVERSTRUCK: Final = re.compile(r"[^\n\x08]*\x08[^\n]*")


def _backspaces(chars: str) -> Iterator[Edit]:
    """Apply backspaces by overwriting characters, as a terminal does."""
    if "\b" not in chars:
        return
    for line in _OVERSTRUCK.finditer(chars):
        cells: list[str] = []
        cursor = 0
        for char in line[0]:
            if char == "\b":
                cursor = max(cursor - 1, 0)
            else:
                cells[cursor : cursor + 1] = [char]
                cursor += 1
        yield Edit(line.start(), line.end(), "".join(cells))


_WIDTHS: Final = range(70, 81)
_FEWEST_WRAPS: Final = 3


def _wraps(chars: str) -> Iterator[Edit]:
    """Join lines that a terminal broke in the middle of words, all at the same width, which no line exceeds.

    Breaks at spaces need no repair, because formats read across line breaks. Mails break only at spaces, which
    makes many of their lines slightly shorter than the width.
    """
    lines = chars.split("\n")
    width = max(map(len, lines))
    if width not in _WIDTHS:
        return
    lengths = Counter(map(len, lines))
    if lengths[width] < 2 * sum(lengths[width - less] for less in range(1, 9)):
        return
    breaks: list[int] = []
    broken: list[tuple[str, str]] = []
    position = -1
    for line, following in pairwise(lines):
        position += len(line) + 1
        if len(line) == width and not line[-1:].isspace() and following and not following[0].isspace():
            breaks.append(position)
            broken.append((line, following))
    # The rest of a wrapped line can have any length, whereas the rows of a table are about equally long.
    rows = sum(width - 8 <= len(rest) < width for _, rest in broken)
    if len(breaks) >= _FEWEST_WRAPS and 4 * rows <= len(breaks) and not _are_between_words(broken, chars):
        yield from (Edit(position, position + 1, "") for position in breaks)


def _are_between_words(broken: Sequence[tuple[str, str]], chars: str) -> bool:
    """Whether lines were broken at spaces: the words on both sides also occur by themselves elsewhere."""
    sides = [(line.split()[-1], rest.split()[0]) for line, rest in broken]
    elsewhere = Counter(chars.split())
    elsewhere.subtract(word for side in sides for word in side)
    worded = [side for side in sides if not any(word.strip(".,:;").isdecimal() for word in side)]
    apart = sum(all(elsewhere[word] > 0 for word in side) for side in worded)
    return 2 * apart > len(worded)


_SPACES: Final = re.compile(
    r"""(?P<break>[\x85\u2028\u2029])
    | (?P<width>[\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+)
    | (?P<separator>(?<=\d)[\u2009\u202f](?=\d{3}))
    | [\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]+""",
    re.VERBOSE,
)


def _spaces(chars: str) -> Iterator[Edit]:
    for match in _beyond_ascii(_SPACES, chars):
        if match["break"] is not None:
            yield Edit(match.start(), match.end(), "\n")
        elif match["width"] is not None:
            yield Edit(match.start(), match.end(), "")
        elif match["separator"] is None:  # a thin space between digits is a thousands separator, not a blank
            yield Edit(match.start(), match.end(), " " * len(match[0]))


_LAST_OF_ASCII: Final = 127


def _beyond_ascii(pattern: re.Pattern[str], chars: str) -> Iterator[re.Match[str]]:
    """Yield matches of a pattern that begin with a non-ASCII character; most texts have few of these."""
    if chars.isascii():
        return
    codes = np.frombuffer(chars.encode("utf-32-le", "surrogatepass"), np.uint32)
    end = 0
    for at in np.flatnonzero(codes > _LAST_OF_ASCII).tolist():
        if at >= end and (match := pattern.match(chars, at)) is not None:
            yield match
            end = match.end()


_PUNCTUATION: Final = re.compile(
    r"""(?P<quotes>[“”„‟″])
    | (?P<apostrophe>[‘’‚‛′])
    | (?P<dash>[‐‑−]
        | (?<![^\s=("'\[|>:,–—-])[‒–—―](?=[\w+–—-])     # of an option, of a negative number
        | (?<=\w)[‒–](?=\d))                            # of a range
    | (?P<ellipsis>(?<![^\W\d_])…)""",
    re.VERBOSE,
)


def _punctuation(chars: str) -> Iterator[Edit]:
    """Undo typographic punctuation, except for quotes on lines that also have plain ones of the same kind."""
    line_end, on_line = -1, ""
    for match in _beyond_ascii(_PUNCTUATION, chars):
        if match.start() > line_end:
            line_start, line_end = chars.rfind("\n", 0, match.start()) + 1, chars.find("\n", match.start())
            line_end = line_end if line_end >= 0 else len(chars)
            on_line = "".join(quote for quote in "\"'" if chars.find(quote, line_start, line_end) >= 0)
        plain = {"quotes": '"', "apostrophe": "'", "dash": "-", "ellipsis": "..."}[match.lastgroup or ""]
        if plain not in on_line:
            yield Edit(match.start(), match.end(), plain)


_SIGN_OF_A_MESSAGE: Final = re.compile(r"\[ {0,6}\d{1,8}\.\d{6}\][ \[]")
_MESSAGE: Final = re.compile(
    r"""(?:<\d{1,3}>)?
    (?:[A-Z][a-z]{2}\ [\ \d]\d\ \d\d:\d\d:\d\d\ \S{1,64}\ )?(?:kernel:\ ?)?
    \[\ {0,6}\d{1,8}\.\d{6}\](?P<message>[\ \[][^\n]{1,250})(?:\n|\Z)""",
    re.VERBOSE,
)


_MESSAGES: Final = re.compile(rf"(?:{_MESSAGE.pattern.replace('?P<message>', '')})+", re.VERBOSE)


def _messages(chars: str) -> Iterator[Edit]:
    """Remove kernel messages from console output, up to the end of line: the line they interrupt continues there.

    A message between two digits may have split a number, which is made unreadable. If the messages themselves
    contain a log, it was printed through the kernel log.
    """
    if _SIGN_OF_A_MESSAGE.search(chars) is None:
        return
    if sniff("\n".join(match["message"] for match in _MESSAGE.finditer(chars))):
        return
    for match in _MESSAGES.finditer(chars):
        start, end = match.span()
        is_in_doubt = re.fullmatch(r"\d\n\d", chars[start - 2 : start] + chars[end : end + 1]) is not None
        yield Edit(start - 1, end, "\N{REPLACEMENT CHARACTER}") if is_in_doubt else Edit(start, end, "")


_MARKDOWN: Final = re.compile(
    r"(?P<escape>\\(?<![\\:]\\)(?=[_*\[\]|<>~]))"
    r"|(?P<bold>\*\*)(?=[\d+][^*\n]{0,40}\*\*)|\*\*(?<=[\d+%a-zA-Z]\*\*)"
)


_MARKDOWN_ESCAPE: Final = re.compile(r"\\[_\[|*>]")


def _markdown(chars: str) -> Iterator[Edit]:
    r"""Remove the backslash of ``\_`` and the asterisks of figures in bold."""
    if not ("*" in chars and "**" in chars) and not ("\\" in chars and _MARKDOWN_ESCAPE.search(chars)):
        return
    is_bold = False
    for match in _MARKDOWN.finditer(chars):
        if match["escape"] is not None:
            yield Edit(match.start(), match.end(), "")
        elif match["bold"] is not None or is_bold:
            is_bold = match["bold"] is not None
            yield Edit(match.start(), match.end(), "")


_OVERLONG: Final = re.compile(rf"\d{{{MOST_DIGITS},}}")
_ALL_ZEROS: Final = bytes.maketrans(b"123456789", b"0" * 9)


def _overlong_numbers(chars: str) -> Iterator[Edit]:
    """Replace numbers with too many digits for arithmetic by ``nan``."""
    # Searching for a run of digits takes ten times as long as searching for a run of zeros.
    if not chars.isascii() or b"0" * MOST_DIGITS in chars.encode().translate(_ALL_ZEROS):
        for match in _OVERLONG.finditer(chars):
            yield Edit(match.start(), match.end(), "nan".rjust(len(match[0])))


_REPAIRS: Final[tuple[_Search, ...]] = (
    ("REPAIRED_CODING", mails.base64_parts),
    ("ZERO_BYTES", _zero_bytes),
    ("REPAIRED_ESCAPES", _escapes),
    ("REPAIRED_ESCAPES", _escapes),  # a string nested in another
    ("REPAIRED_TERMINAL", _terminal),
    ("REPAIRED_TERMINAL", _backspaces),
    ("REPAIRED_CODING", mails.quoted_printable),
    ("REPAIRED_HTML", markup.hypertext),
    ("REPAIRED_SPACES", _spaces),
    ("REPAIRED_PUNCTUATION", _punctuation),
    *(("REPAIRED_PREFIXES", find) for find in prefixes.PREFIXES),
    ("REPAIRED_MESSAGES", _messages),
    ("REPAIRED_MARKDOWN", _markdown),
    ("REPAIRED_WRAPS", _wraps),
    ("REPAIRED_NUMBERS", numerals),
    ("OVERLONG_NUMBER", _overlong_numbers),
)
_REPAIRS_OF_LOGS: Final[tuple[_Search, ...]] = (("REPAIRED_NUMBERS", numerals),)
