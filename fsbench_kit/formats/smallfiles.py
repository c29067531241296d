"""Logs of the package's own ``smallfiles`` workload, and of the script of 2020 on which it is based.

Many files of one size are created, rewritten, read and deleted; the sync after each step is timed separately::

    # datasize: 4k
    # data: random bytes, not compressible, different in each file
    # threads: 1
    # engine: C
    -------------------------
    # ext4
    file_create 100000
    write: 16592.003/sec, write/6.027 secs, write_sync/7.022 secs
    rewrite: 9100.009/sec, rewrite/10.989 secs, rewrite_sync/0.524 secs
    read: 38387.716/sec, read/2.605 secs, read_sync/0.817 secs
    delete: 28161.081/sec, delete/3.551 secs, delete_sync/0.951 secs

Each ``# <filesystem>`` starts a run; the lines above the rule apply to all that follow. ``# data``, ``# threads``
and ``# engine`` are printed by the package's workload only. Data of which
``30 % of every 4096 bytes are zeros, the others random`` can be compressed by that share. The engine is the
language of the loops that create the files, C or Python. ``file_create`` is the number of files. ``write:`` is
files per second without the sync, ``write/`` and ``write_sync/`` are the seconds of the step and of the sync after
it. All figures are rounded to three decimals. The step times determine the rates (files / seconds = rate), which
is checked.

A repeated step or number of files belongs to another run whose heading was lost in copying.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from fsbench_kit.formats.builder import Place, RunBuilder
from fsbench_kit.formats.lexer import Lexer, Token, unread_figure
from fsbench_kit.formats.repairs import without_repeats
from fsbench_kit.formats.signatures import Signatures
from fsbench_kit.formats.text import Text
from fsbench_kit.formats.tool import Tool
from fsbench_kit.model.records import Measurement, Record, Setting
from fsbench_kit.model.units import size

TOOL: Final = Tool(name="smallfiles")
SIGN: Final = "datasize:|file_create|write_sync/"

_NUMBER: Final = r"\d+(?:\.\d+)?"

_LEXER: Final = Lexer(
    data_size=r"\# datasize: (?P<size>\d{1,9}[kKmMgG]?)\b",
    data=(
        r"\# data: (?:random bytes, not compressible,|"
        r"(?P<zeros>\d{1,3}) % of every 4096 bytes are zeros, the others random;) different in each file"
    ),
    threads=r"\# threads: (?P<threads>\d{1,6})\b",
    engine=r"\# engine: (?P<engine>C|Python)\b",
    rule=r"-{5,}",
    filesystem=r"\# (?P<name>\w\S*)(?=\s+file_create)",
    files=r"file_create\s+(?P<files>\d{1,12})\b",
    step=(
        rf"(?P<step>write|rewrite|read|delete): (?P<rate>{_NUMBER})/sec, "
        rf"(?P=step)/(?P<elapsed>{_NUMBER}) secs, (?P=step)_sync/(?P<sync>{_NUMBER}) secs"
    ),
)


signatures: Final = Signatures(
    {
        "datasize:": r"^[^\S\n]*\# datasize:",
        "file_create": r"(?:^[^\S\n]*\#[^\n]{1,80}\n\s{0,80})?\bfile_create\s{1,80}\d",
        "write_sync/": r"\bwrite_sync/[\d.]+\s*secs",
    },
    re.MULTILINE,
)


def parse(text: Text) -> Iterator[Record]:
    """Yield a run for each filesystem, and a diagnostic for each figure that is not understood."""
    text, repairs = without_repeats(text)
    yield from repairs
    above: dict[str, Setting] = {}
    run: _OpenRun | None = None
    for token in _LEXER.tokens(text):
        if token.name in _ABOVE:
            key, convert = _ABOVE[token.name]
            above[key] = Setting(key=key, value=convert(token), line=token.line)
        elif token.name == "filesystem":
            if run is not None:
                yield from run.close()
            run = _OpenRun(token, above.values())
        elif token.name == "files" and run is not None and not run.is_over_before(token):
            run.read_files(token)
        elif token.name == "step" and run is not None and not run.is_over_before(token):
            run.read_step(token)
        elif token.name != "rule" and (diagnostic := unread_figure(token)) is not None:
            yield diagnostic
            if run is not None and run.is_over_before(token):
                yield from run.close()
                run = None
    if run is not None:
        yield from run.close()


_ABOVE: Final[dict[str, tuple[str, Callable[[Token], str]]]] = {
    "data_size": ("block_size", lambda token: str(size(token["size"] or ""))),
    "data": ("compressibility", lambda token: str(int(token["zeros"] or "0") / 100)),
    "threads": ("threads", lambda token: str(int(token["threads"] or ""))),
    "engine": ("engine", lambda token: token["engine"] or ""),
}
"""Phrase above the runs -> the setting that it shows, and a function that returns its value."""


class _OpenRun:
    """A run whose log has not ended yet."""

    def __init__(self, first: Token, above: Iterable[Setting]) -> None:
        self.first = self.last = first
        self.files: int | None = None
        self.run = RunBuilder(first.text)
        self.run.settings += above
        self.block_size = next((int(item.value) for item in above if item.key == "block_size"), None)

    def is_over_before(self, token: Token) -> bool:
        """Whether a phrase belongs to another run, whose heading was lost."""
        if token.name == "files":
            return self.files is not None or bool(self.run.measurements)
        return token.name == "step" and self.run.first(self._place(token["step"] or ""), "file_rate") is not None

    def _place(self, operation: str) -> Place:
        return Place(operation, block_size=self.block_size)

    def read_files(self, token: Token) -> None:
        self.last = token
        self.files = int(token["files"] or "")
        self.run.set("files", str(self.files), token.start)

    def read_step(self, token: Token) -> None:
        self.last = token
        step = token["step"] or ""
        self.run.add(self._place(step), "file_rate", token.printed("rate"), unit="1/s")
        self.run.add(self._place(step), "elapsed", token.printed("elapsed"), unit="s")
        self.run.add(self._place(f"{step}_sync"), "elapsed", token.printed("sync"), unit="s")
        rate, elapsed, _ = self.run.measurements[-3:]
        if self.files is not None and not _agree(self.files, rate, elapsed):
            message = f"{self.files} files in {elapsed.text} s are not {rate.text} files/s."
            self.run.say("FIGURES_DISAGREE", message, token.start, token.end)

    def close(self) -> Iterator[Record]:
        status = "ok" if self.run.measurements else "partial"
        start, end = self.first.start, self.last.end
        yield from self.run.records(TOOL.name, start, end, filesystem=self.first["name"], status=status)


def _agree(files: int, rate: Measurement, elapsed: Measurement) -> bool:
    """Whether a printed rate can be the number of files over a printed time, given their rounding."""
    if not elapsed.low or elapsed.high is None or rate.low is None or rate.high is None:
        return True
    return files / elapsed.high <= rate.high and rate.low <= files / elapsed.low
