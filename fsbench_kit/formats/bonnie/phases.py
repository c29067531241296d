"""Common parts of the bonnie++ formats: the phases of a run, and the meaning of their cells.

Sources: ``bon_time.cpp``, ``bonnie.h`` and ``bonnie++.cpp`` of bonnie++ 1.03 to 2.00a.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from fsbench_kit.formats.builder import Place, RunBuilder
from fsbench_kit.formats.lexer import Printed, Token
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic, How, Measurement, Setting
from fsbench_kit.model.units import Rounding, size

PHASES: Final = {
    **dict.fromkeys(("write_char", "write", "rewrite", "read_char", "read"), "bandwidth"),
    "seek": "iops",
    **dict.fromkeys(("sequential_create", "sequential_stat", "sequential_delete"), "file_rate"),
    **dict.fromkeys(("random_create", "random_stat", "random_delete"), "file_rate"),
}
"""The phases in the order of their columns -> the metric of their rate."""
IO_PHASES: Final = tuple(PHASES)[:6]
FILE_PHASES: Final = tuple(PHASES)[6:]

SHORTEST_PHASE: Final = 0.5
"""In seconds; bonnie++ prints no rate for shorter phases (``MinTime``)."""
FILES_UNIT: Final = 1024

RATE_MARK: Final = "+++++"
CPU_MARK: Final = "+++"

_DURATION: Final = re.compile(r"(\d+)([mu]?s)")
_SIZES: Final = {"file_size", "block_size", "bonnie++.largest-file", "bonnie++.smallest-file"}
_SETTINGS: Final = _SIZES | {"threads", "seed", "bonnie++.seeks", "bonnie++.seekers", "bonnie++.directories"}


class Unit(NamedTuple):
    """The unit of a printed rate, and how it was rounded."""

    name: str
    rounding: Rounding


KIB: Final = Unit("KiB/s", "down")
SEEKS: Final = Unit("1/s", "nearest")
FILES: Final = Unit("1/s", "down")
UNITS: Final[dict[str, Unit | None]] = {
    **dict.fromkeys(IO_PHASES, KIB),
    "seek": SEEKS,
    **dict.fromkeys(FILE_PHASES, FILES),
}
"""The units in CSV lines."""


Form = Literal["CSV", "text", "HTML"]


class Field(NamedTuple):
    """A string of the log, and its position in the text."""

    chars: str = ""
    start: int = 0
    end: int = 0

    @property
    def printed(self) -> Printed:
        """The field as `RunBuilder` expects it."""
        return Printed(self.chars, self.start)

    @property
    def kind(self) -> Literal["mark", "figure", "nothing"]:
        """Whether it contains a mark (pluses), a figure, or nothing."""
        return "mark" if "+" in self.chars else "figure" if self.chars else "nothing"


class Phase(NamedTuple):
    """The cells of a phase.

    The unit of the rate is ``None`` if it is unknown.
    """

    rate: Field
    cpu: Field
    unit: Unit | None
    latency: Field = Field()


@dataclass(slots=True, kw_only=True)
class Row:
    """The contents of one print of a run.

    Attributes
    ----------
    start, end
        Its position in the text.
    version
        The version of the tool that printed it.
    glued
        The machine name and the file size, if nothing separates them.
    settings
        Setting -> its cell, as printed.
    threads
        The concurrency, if the print shows it, possibly by omitting a 1.
    seed
        The seed of the random numbers: the start time in seconds since the epoch, unless it was specified.
    phases
        The phases that ran.
    """

    form: Form
    text: Text
    start: int
    end: int
    version: str | None = None
    machine: str = ""
    glued: Field | None = None
    settings: dict[str, Field] = field(default_factory=dict)
    threads: int | None = None
    seed: str | None = None
    phases: dict[str, Phase] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @classmethod
    def of(cls, form: Form, token: Token, version: str | None, machine: str | None) -> Row:
        """Return a row without contents."""
        machine = (machine or "").strip()
        return cls(form=form, text=token.text, start=token.start, end=token.end, version=version, machine=machine)

    def take(self, values: Mapping[str, Field], units: Mapping[str, Unit | None]) -> None:
        """Set the settings and the phases that ran from cells by name."""
        self.settings = size_settings(values.get("size", Field())) | files_settings(values.get("files", Field()))
        self.settings |= {name: cell for name, cell in values.items() if name in _SETTINGS}
        self.threads = self.number("threads")
        self.phases = {
            name: Phase(values[name], values[f"{name} cpu"], units[name], values.get(f"{name} latency", Field()))
            for name in PHASES
            if name in values and f"{name} cpu" in values
        }

    @property
    def host(self) -> str | None:
        """The machine name, or ``None`` if it was replaced by something like ``#``."""
        return self.machine if re.search(r"\w", self.machine) else None

    @property
    def has_latencies(self) -> bool:
        """Whether latencies were read for this row."""
        return any(phase.latency.chars for phase in self.phases.values())

    def part_glued(self, machine: str, size: str | None = None) -> None:
        """Separate the machine name, which may be truncated, from the size, given one of them from elsewhere."""
        if self.glued is None:
            return
        size = self.glued.chars.removeprefix(machine) if size is None else size
        name = self.glued.chars.removesuffix(size)
        if not name or not machine.startswith(name) or re.fullmatch(r"\d+[MG]", size) is None:
            return
        self.settings["file_size"] = self.glued._replace(chars=size)
        self.say("REPAIRED", f"The machine's name and the size were separated: {name} {size}.")
        self.machine, self.glued = machine, None

    def say(self, code: str, message: str, start: int | None = None, end: int | None = None) -> None:
        """Add a diagnostic about the row or about a part of it."""
        stretch = Token("", self.text, self.start if start is None else start, self.end if end is None else end)
        self.diagnostics.append(stretch.diagnostic(code, message))

    def stated(self) -> Iterator[Setting]:
        """Yield the settings."""
        for key, cell in self.settings.items():
            line, start = self.text.line(cell.start), self.text.byte(cell.start)
            yield Setting(key=key, value=self._value(key) or "", line=line, start=start)
        if self.threads is not None and "threads" not in self.settings:
            yield Setting(key="threads", value=str(self.threads), line=self.text.line(self.start))

    def measurements(self) -> Sequence[Measurement]:
        """Return the figures."""
        run = RunBuilder(self.text)
        for name, phase in self.phases.items():
            file_size = self.number("file_size") if name in IO_PHASES else None
            place = Place(name, file_size=file_size, threads=self.threads)
            self._add_rate(run, place, phase)
            if phase.cpu.chars.isdecimal():
                run.add(place, "cpu", phase.cpu.printed, unit="%", rounding="down", name="cpu")
            else:
                run.add_unmeasured(place, "cpu", phase.cpu.printed, state="missing")
            for number, unit in _DURATION.findall(phase.latency.chars)[:1]:
                latency = phase.latency.printed
                run.add(
                    place,
                    "phase_latency",
                    latency,
                    "max",
                    number=number,
                    unit=unit,
                    rounding="down",
                    name="latency",
                )
        return run.measurements

    def damaged_marks(self) -> Iterator[Diagnostic]:
        """Report marks that differ from those that the tool prints."""
        for phase in self.phases.values():
            for cell, mark in ((phase.rate, RATE_MARK), (phase.cpu, CPU_MARK)):
                if cell.kind == "mark" and cell.chars != mark:
                    stretch = Token("mark", self.text, cell.start, cell.end)
                    yield stretch.diagnostic("DAMAGED_MARK", f"{cell.chars} was read as {mark}.")

    def number(self, key: str) -> int | None:
        """Return the value of a numeric setting."""
        value = self._value(key)
        return int(value) if value is not None and value.isdecimal() else None

    def _value(self, key: str) -> str | None:
        chars = self.settings.get(key, Field()).chars
        if key == "files" and chars:
            return str(int(chars) * FILES_UNIT)
        if key in _SIZES and chars[:1].isdecimal():
            return str(size(chars))
        return chars or None

    def _add_rate(self, run: RunBuilder, place: Place, phase: Phase) -> None:
        metric, printed, chars = PHASES[place.operation], phase.rate.printed, phase.rate.chars
        if phase.cpu.kind == "mark":
            work = self._work(place.operation)
            low = work / SHORTEST_PHASE if work is not None else None
            run.add_unmeasured(place, metric, printed, state="censored", low=low)
        elif phase.unit is None or not re.fullmatch(r"\d+(?:\.\d+)?[kmg]?", chars):
            # The unit is unknown, or it is not a number: -nan, or the integer that the machine converts it to.
            run.add_unmeasured(place, metric, printed, state="missing", how=How("", "exact"))
        else:
            number, (unit, rounding) = chars.rstrip("kmg"), phase.unit
            run.add(place, metric, printed, number=number, unit=unit, rounding=rounding, zero="censored")

    def _work(self, name: str) -> int | None:
        """Return the work of a phase in the unit of its rate, if the print shows it."""
        if PHASES[name] == "file_rate":
            return self.number("files")
        if name == "seek":
            return self.number("bonnie++.seeks")
        if name.endswith("_char") and (self.threads is not None or not (self.version or "1.0").startswith("1.0")):
            return None  # since 1.03 a part of the file, and the print does not say which
        return self.number("file_size")


def size_settings(cell: Field) -> dict[str, Field]:
    """Return the settings in a size: file size, chunk size, concurrency, seeks and seeking processes.

    >>> [f"{key} {cell.chars}" for key, cell in size_settings(Field("64G:4k::65536")).items()]
    ['file_size 64G', 'block_size 4k', 'bonnie++.seeks 65536']
    """
    keys = ("file_size", "block_size", "threads", "bonnie++.seeks", "bonnie++.seekers")
    return _parts(cell, keys, ":")


def files_settings(cell: Field) -> dict[str, Field]:
    """Return the settings in *Num Files*: number, sizes, directories.

    >>> [f"{key} {cell.chars}" for key, cell in files_settings(Field("16:1024:512/10")).items()]
    ['files 16', 'bonnie++.largest-file 1024', 'bonnie++.smallest-file 512', 'bonnie++.directories 10']
    """
    sizes, _, directories = cell.chars.partition("/")
    keys = ("files", "bonnie++.largest-file", "bonnie++.smallest-file", "bonnie++.directories")
    found = _parts(cell._replace(chars=sizes), keys, ":")
    return found | ({"bonnie++.directories": cell._replace(chars=directories)} if directories else {})


def _parts(cell: Field, keys: Iterable[str], separator: str) -> dict[str, Field]:
    parts = zip(keys, cell.chars.split(separator), strict=False)
    return {key: cell._replace(chars=part) for key, part in parts if part}


def cell_names(phases: Iterable[str]) -> list[str]:
    """Return the cell names of phases in the order in which they are printed.

    >>> cell_names(["write", "seek"])
    ['write', 'write cpu', 'seek', 'seek cpu']
    """
    return [f"{phase}{cell}" for phase in phases for cell in ("", " cpu")]


_VALUES: Final = {
    **dict.fromkeys(PHASES, r"-?\d+(?:\.\d+)?|-?nan|-?inf|\++"),
    **{f"{name} cpu": r"-?\d{1,4}|-\d+|-?nan|-?inf|\++" for name in PHASES},
    **{f"{name} latency": r"\d+[mu]?s" for name in PHASES},
    "size": r"\d+[MG](?::\d+k?)?",
    "files": r"\d+(?::(?:\d+:\d+|link|symlink))?(?:/\d+)?",
    **dict.fromkeys(("file_size", "block_size"), r"\d+[MGkm]?"),
    **dict.fromkeys(("threads", "bonnie++.seeks", "bonnie++.seekers", "bonnie++.directories"), r"\d+"),
    **dict.fromkeys(("bonnie++.largest-file", "bonnie++.smallest-file"), r"\d+|link|symlink"),
    "seed": r".*",
}


def can_hold(name: str, chars: str) -> bool:
    """Whether the named cell of a CSV line or an HTML table can contain a string; every cell can be empty.

    >>> can_hold("write cpu", "12"), can_hold("write cpu", "12.5"), can_hold("write", "")
    (True, False, True)
    """
    return not chars or (name in _VALUES and re.fullmatch(_VALUES[name], chars) is not None)


def fit(rate: Field, cpu: Field) -> bool:
    """Whether two cells belong to one phase: rates go with CPU shares, and marks with marks.

    If a cell is lost, all following cells are shifted. The converters print 0 instead of the mark of some rates.
    """
    return rate.kind == cpu.kind or (cpu.kind == "mark" and rate.chars in {"0", "0k"})


def all_fit(values: Mapping[str, Field]) -> bool:
    """Whether the cells of each phase fit each other."""
    return all(fit(values.get(name, Field()), values.get(f"{name} cpu", Field())) for name in PHASES)


def cells_of(token: Token, group: str, separator: str) -> Iterator[Field]:
    """Yield the cells of a row, without whitespace."""
    position = token.start_of(group)
    for part in (token[group] or "").split(separator):
        start = position + len(part) - len(part.lstrip())
        yield Field("".join(part.split()), start, start + len(part.strip()))
        position += len(part) + len(separator)
