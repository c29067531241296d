"""Identifies the fields of a job's line by their kinds, even if the line is broken or cut off."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, TypeVar

from fsbench_kit.formats.fio import undescribed
from fsbench_kit.formats.lexer import Printed
from fsbench_kit.formats.signatures import Signatures
from fsbench_kit.formats.text import Text

_T = TypeVar("_T")

MARKS: Final = Signatures(
    {
        "fio": r"(?<![\w.;%])[3-5];\s*fio[-\s]\d[^;\n]{0,60};",
        "2;": r"(?<![\w.;%=])2;[^\n]{1,100}?;\s*\d+;\s*\d+(?:;\s*\d+){5,6};\s*\d+\.\d+;",
    }
)


_NUMBER: Final = r"\d{1,20}\.\d{1,9}|-?(?:nan|inf)"
_KIND: Final = re.compile(
    rf"(?P<I>\d{{1,20}})|(?P<N>-\d{{1,20}})|(?P<F>{_NUMBER})|(?P<P>(?:{_NUMBER})%)"
    r"|(?P<Q>\d{1,3}(?:\.\d{1,9})?%=\d{1,20})"
)
_OTHER: Final = "X"
_BLANK: Final = re.compile(r"\s")


@lru_cache(maxsize=2**12)
def _kind(text: str) -> str:
    found = _KIND.fullmatch(text)
    return found.lastgroup or _OTHER if found is not None else _OTHER


def statistics(name: str, words: Iterable[str] = ("min", "max", "mean", "stdev")) -> tuple[str, ...]:
    """Return the names of the fields that contain the statistics of one quantity."""
    return tuple(f"{name}_{word}" for word in words)


INTERVAL_STATISTICS: Final = ("min", "max", "share", "mean", "stdev")


RATES: Final = ("bytes", "bandwidth", "iops", "runtime")
PERCENTILES: Final = tuple(f"percentile_{index}" for index in range(20))
_DIRECTION: Final = (
    *RATES,
    *statistics("slat"),
    *statistics("clat"),
    *PERCENTILES,
    *statistics("lat"),
    *statistics("bw", INTERVAL_STATISTICS),
)
_NEW_DIRECTION: Final = (*_DIRECTION, "bw_samples", *statistics("iops"), "iops_samples")
_OLD_DIRECTION: Final = tuple(name for name in _DIRECTION if name not in {"iops", *PERCENTILES})


def _kinds(names: Iterable[str]) -> str:
    """Return the kinds of a direction's fields, one letter each."""
    by_word = {"mean": "F", "stdev": "F", "share": "P"}
    return "".join("Q" if name in PERCENTILES else by_word.get(name.rpartition("_")[2], "I") for name in names)


_LAYOUTS: Final[dict[str, tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]]] = {
    "2": ((_DIRECTION, _OLD_DIRECTION), ("read", "write", "trim")),
    "3": ((_DIRECTION,), ("read", "write")),
    "4": ((_DIRECTION,), ("read", "write", "trim")),
    "5": ((_NEW_DIRECTION,), ("read", "write", "trim")),
}
"""Layout -> the possible fields of a direction, and the directions."""


@cache
def _pattern(layout: str, fields: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of the kinds in a line, which may be cut off.

    The rest of a complete line is the description.
    """
    return re.compile(
        rf"I{'.' if layout != '2' else ''}(?P<name>.+?)(?P<group>I)(?P<error>[IN])"
        rf"(?P<directions>(?:{_kinds(fields)}){{1,4}})"
        r"(?:(?P<cpu>PPIII)(?:(?P<depths>P{7})(?:(?P<us>P{10})(?:(?P<ms>P{12})"
        r"(?P<disks>(?:.I{7}P)*)(?P<errors>II)?)?)?)?)?(?P<rest>.*)"
    )


_CUT_DISK: Final = re.compile(r".I{1,7}")


@dataclass(frozen=True, slots=True)
class Line:
    """The line of a job: its fields by name, and its position in the text.

    Attributes
    ----------
    directions
        The fields of each direction, by operation.
    is_whole
        Whether the line is complete.
    is_mended
        Whether it was joined from pieces.
    """

    start: int
    end: int
    layout: str
    version: str | None
    name: str
    group: int
    error: int
    directions: dict[str, dict[str, Printed]]
    cpu: list[Printed]
    depths: list[Printed]
    us: list[Printed]
    ms: list[Printed]
    disks: list[list[Printed]]
    errors: list[Printed]
    description: str | None
    is_whole: bool
    is_mended: bool

    @property
    def job(self) -> tuple[int, str]:
        """What identifies a job, as far as it is printed."""
        return self.group, self.name

    def disk_texts(self) -> list[str]:
        """Return the texts of all fields about disks."""
        return [field.text for disk in self.disks for field in disk]

    def counts(self) -> list[int]:
        """Return the counts that cannot decrease during a run."""
        work = [fields[name] for fields in self.directions.values() for name in ("bytes", "runtime")]
        return [int(field.text) for field in (*work, *self.cpu[2:])]

    def has_worked(self) -> bool:
        """Whether the job made any request."""
        names = ("bytes", "bandwidth", "iops", "clat_max", "lat_max")
        return any(
            is_work(fields[name] for name in names if name in fields) for fields in self.directions.values()
        )

    def runtime(self) -> int:
        """Return how long the job ran, in ms."""
        return max(int(fields["runtime"].text) for fields in self.directions.values())


_MOST_PIECES: Final = 100
_PREFIX: Final = re.compile(r"[>+|#*/\s]*(?:[A-Z]\s+)?")
_ANNOTATION: Final = re.compile(r"(?<=[;%\d])\s+(?:[(\[#<]|//).*")


def lines(text: Text) -> Iterator[Line]:
    """Yield the job lines of a text, complete or cut off."""
    for start, limit in pairwise([*undescribed(MARKS, text.chars), len(text.chars)]):
        line = _line(text, start, limit)
        if line is not None:
            yield line


def _line(text: Text, start: int, limit: int) -> Line | None:
    """Read the line that begins at a position, joined from pieces if that yields more of it."""
    fields: list[Printed] = []
    best: Line | None = None
    for count, (piece_start, piece_end) in enumerate(_pieces(text.chars, start, limit)):
        fields = _joined(fields, text.chars[piece_start:piece_end], piece_start)
        line = _match(fields, is_mended=count > 0)
        if line is None:
            continue
        if line.is_whole and line.description is None and fields[-1].text.strip():
            return _with_description(line, text, limit)
        if best is None or (line.is_whole, len(line.directions)) > (best.is_whole, len(best.directions)):
            best = line
    return best


def _pieces(chars: str, start: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield the pieces that a job's line may be broken into, without prefixes and annotations."""
    for _ in range(_MOST_PIECES):
        end = chars.find("\n", start, limit)
        end = limit if end < 0 else end
        annotation = _ANNOTATION.search(chars, start, end)
        piece_end = annotation.start() if annotation is not None else end
        if ";" not in chars[start:piece_end]:
            return
        yield start, piece_end
        prefix = _PREFIX.match(chars, end, limit)
        start = prefix.end() if prefix is not None else end


def _joined(fields: list[Printed], piece: str, position: int) -> list[Printed]:
    """Append the fields of a piece; its first field continues the last one."""
    added = []
    for text in piece.split(";"):
        blanks = len(text) - len(text.lstrip()) if text[:1].isspace() else 0
        added.append(Printed(text, position + blanks))
        position += len(text) + 1
    if fields:
        last = fields[-1]
        added[0] = Printed(last.text + added[0].text, last.position if last.text.strip() else added[0].position)
    return [*fields[:-1], *added]


def _match(fields: list[Printed], *, is_mended: bool) -> Line | None:
    """Identify the fields of a line by matching their kinds with its layout."""
    fields, end = _without_other_text(fields)
    words = [
        Printed("".join(field.text.split()), field.position) if _BLANK.search(field.text) else field
        for field in fields
    ]
    kinds = "".join(_kind(word.text) for word in words)
    layout = words[0].text
    for names in _LAYOUTS[layout][0]:
        found = _pattern(layout, names).match(kinds)
        if found is None:
            continue
        found_words = {name: words[slice(*found.span(name))] if found[name] else [] for name in found.groupdict()}
        rest = found["rest"]
        is_whole = found["ms"] is not None and not _CUT_DISK.fullmatch(rest)
        directions = split(found_words["directions"], len(names))
        is_cut = not found["cpu"] and not rest
        if is_cut:
            del directions[-1]  # its last field may have lost digits
        if not found["depths"] and not rest:
            found_words["cpu"] = []  # as above
        operations = _operations(layout, len(directions), "I" if is_cut else found["cpu"] or rest[:-1])
        if not operations:
            return None
        name, left = (fields[slice(*found.span(group))] for group in ("name", "rest"))
        return Line(
            start=fields[0].position,
            end=end if is_whole or not left else left[0].position,
            layout=layout,
            version=words[1].text[len("fio-") :] if layout != "2" else None,
            name=" ".join(";".join(field.text for field in name).split()),
            group=int(found_words["group"][0].text),
            error=int(found_words["error"][0].text),
            directions={
                operation: dict(zip(names, direction, strict=True))
                for operation, direction in zip(operations, directions, strict=True)
            },
            **{key: found_words[key] for key in ("cpu", "depths", "us", "ms", "errors")},
            disks=split(found_words["disks"], 9),
            description=" ".join(";".join(field.text for field in left).split()) or None if is_whole else None,
            is_whole=is_whole,
            is_mended=is_mended,
        )
    return None


def _without_other_text(fields: list[Printed]) -> tuple[list[Printed], int]:
    """Cut off other text after the last field on its line, and return where the line ends."""
    *others, last = fields
    first, *more = last.text.split() or [""]
    if more and _kind("".join(last.text.split())) == _OTHER and _kind(first) != _OTHER:
        last = Printed(first, last.position)
    return [*others, last], last.position + len(last.text.strip())


def split(fields: list[_T], size: int) -> list[list[_T]]:
    """Return fields, or lines, in chunks of a given size."""
    return [fields[start : start + size] for start in range(0, len(fields), size)]


def _operations(layout: str, count: int, following: str) -> tuple[str, ...]:
    """Return the operations of a line's directions, or nothing if they are uncertain.

    `following` are the kinds of the complete fields after the directions, which begin with a share if there are no
    more directions.
    """
    each = _LAYOUTS[layout][1]
    if count == 1 and not following.startswith("I"):
        return ("mixed",) if following.startswith("P") else ()
    if following.startswith("P") and count not in {len(each), len(each) + 1} and (layout, count) != ("2", 2):
        return ()
    return (*each, "mixed")[:count]


_DESCRIPTION: Final = re.compile(r"\s*;([^\n]*)")


def _with_description(line: Line, text: Text, limit: int) -> Line:
    """Add the description that follows a line of layout 2."""
    match = _DESCRIPTION.match(text.chars, line.end, limit)
    if line.layout != "2" or match is None:
        return line
    return replace(line, description=match[1].strip() or None, end=match.end())


def is_work(fields: Iterable[Printed]) -> bool:
    """Whether any of the fields is not zero."""
    return any(field.text.strip("-0.%") for field in fields)


def count(fields: list[Printed]) -> int:
    """Return the integer in the first of the fields, or 0 if there is none."""
    return int(fields[0].text) if fields else 0
