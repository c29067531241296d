"""Logs of the package's own ``command`` workload: the resources that a program used, and figures in its output.

::

    fsbench command 1: dbench -D . -t 10 4
    figure throughput: bandwidth 512.3 MB/s
    elapsed: 10.012345 s, sync: 0.201234 s
    user: 1.234567 s, system: 8.765432 s
    memory: 5120 KiB
    read: 4096 B, written: 5368709120 B
    exit code: 0

``elapsed`` is the time of the command, and ``sync`` that of the ``sync`` after it. Processor times are those of
the command and of all processes that it waited for; the memory is that of the largest of them; the bytes are those
that they read and wrote by system calls, cached or not. Times are rounded to microseconds. Figures are as printed
by the program, with the metric and the unit specified in the plan; ``not found`` means that the output has none,
and that the run is partial. A log without ``exit code`` was cut off.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fsbench_kit.formats.builder import Place, RunBuilder
from fsbench_kit.formats.headed import headed_logs
from fsbench_kit.formats.lexer import Lexer, Token
from fsbench_kit.formats.signatures import Signatures
from fsbench_kit.formats.text import Text
from fsbench_kit.formats.tool import Tool
from fsbench_kit.model.records import Record
from fsbench_kit.model.units import quantity
from fsbench_kit.model.vocabulary import METRICS

TOOL: Final = Tool(name="command", title="fsbench command")
SIGN: Final = r"fsbench\W+command"
signatures: Final = Signatures({"fsbench": r"\bfsbench\s+command\s+1:\s"})

_SECONDS: Final = r"\d+\.\d{6}"
_LEXER: Final = Lexer(
    heading=r"\bfsbench command 1: (?P<command>[^\n]{0,4000})",
    times=rf"\belapsed: (?P<elapsed>{_SECONDS}) s, sync: (?P<sync>{_SECONDS}) s\b",
    cpu=rf"\buser: (?P<user>{_SECONDS}) s, system: (?P<system>{_SECONDS}) s\b",
    memory=r"\bmemory: (?P<memory>\d+) KiB\b",
    bytes=r"\bread: (?P<read>\d+) B, written: (?P<written>\d+) B\b",
    exit=r"\bexit code: (?P<code>-?\d+)",
    figure=(
        r"\bfigure (?P<name>[a-z]\w{0,40}): (?P<metric>[a-z_]{1,40}) "
        r"(?P<value>-?\d[\d.]*(?:[eE][+-]?\d+)?) (?P<unit>[\w/%]{1,8})(?=\s|$)"
    ),
    absent=r"\bfigure (?P<name>[a-z]\w{0,40}): not found\b",
)

_COMMAND: Final = Place("command")
_SYNC: Final = Place("command_sync")


def parse(text: Text) -> Iterator[Record]:
    """Yield a run for each log, and a diagnostic for each figure that is not understood."""
    return headed_logs(text, _LEXER, _records)


def _records(log: list[Token]) -> Iterator[Record]:
    """Yield the run that the lines of one log describe, and its diagnostics."""
    heading, *others = log
    run = RunBuilder(heading.text)
    run.set("command", (heading["command"] or "").strip(), heading.start)
    code: int | None = None
    for token in others:
        match token.name:
            case "times":
                run.add(_COMMAND, "elapsed", token.printed("elapsed"), unit="s")
                run.add(_SYNC, "elapsed", token.printed("sync"), unit="s")
            case "cpu":
                run.add(_COMMAND, "cpu_time_user", token.printed("user"), unit="s")
                run.add(_COMMAND, "cpu_time_system", token.printed("system"), unit="s")
            case "memory":
                run.add(_COMMAND, "memory_peak", token.printed("memory"), unit="KiB", rounding="exact")
            case "bytes":
                run.add(Place("read"), "bytes", token.printed("read"), unit="B", rounding="exact")
                run.add(Place("write"), "bytes", token.printed("written"), unit="B", rounding="exact")
            case "exit":
                code = int(token["code"] or "0")
            case "figure":
                _add(run, token)
            case _:
                message = f"The command printed no {token['name']}."
                run.say("INCOMPLETE_LOG", message, token.start, token.end)
    is_whole = code is not None and not any(token.name == "absent" for token in others)
    if code is None:
        run.say("INCOMPLETE_LOG", "The log stops before the exit code.", heading.start, log[-1].end)
    elif code:
        message = f"The command exited with status {code}."
        run.say("RUN_FAILED", message, others[-1].start, others[-1].end)
    yield from run.records(
        TOOL.name,
        heading.start,
        log[-1].end,
        status="failed" if code else "ok" if is_whole else "partial",
        exit_code=code,
    )


def _add(run: RunBuilder, token: Token) -> None:
    """Add a figure under its own name, if its metric can have that unit."""
    metric, unit = token["metric"] or "", token["unit"] or ""
    try:
        base = quantity("1", unit).unit
    except ValueError:
        base = ""
    if metric not in METRICS or METRICS[metric].unit != base:
        run.diagnostics.append(
            token.diagnostic("UNREAD_FIGURE", f"There is no metric {metric} that is measured in {unit}.")
        )
        return
    run.add(Place(token["name"] or ""), metric, token.printed("value"), unit=unit)
