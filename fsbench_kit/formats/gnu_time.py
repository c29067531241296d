"""Output of ``time``: GNU's default format, with ``-v`` and with ``-p``, and that of bash and of BusyBox.

Sources: ``time.c``, ``resuse.c`` and the manual of GNU time 1.9; ``execute_cmd.c`` and ``lib/sh/timeval.c`` of
bash; ``time.c`` of BusyBox.

GNU time, by default::

    0.01user 0.02system 0:01.00elapsed 3%CPU (0avgtext+0avgdata 2000maxresident)k
    0inputs+8outputs (0major+100minor)pagefaults 0swaps

Elapsed time is ``minutes:seconds``, from one hour on ``hours:minutes:seconds``. All times and the share of one
processor are truncated to the digits printed; the share is ``?%`` if no time passed. ``maxresident`` is in KiB; a
0 means that the kernel does not record it. GNU time 1.7 mistakes these KiB for pages, and prints four times as
much if pages have 4 KiB. The version is not printed, so the interval of any multiple of 16 KiB allows for that.
Inputs and outputs are blocks of 512 bytes that Linux counts at the block layer: reads served by the page cache are
not included, and writes are counted when a page is dirtied. Linux does not record average sizes, messages and
signals; their constant 0 is not a figure.

``-v`` prints the same figures one per line, with the command. ``-p``, like bash's ``time -p``, prints ``real``,
``user`` and ``sys`` in seconds with two decimals. Bash prints minutes and three decimals, rounded; its ``-p``
truncates after rounding to three decimals. BusyBox prints minutes and two decimals, truncated. These formats do
not include the exit status of the command.

The operation is ``mkfs``, ``mount``, ``umount`` or ``sync`` if ``-v`` shows that this was the command, otherwise
``command``. A command fails if it exits with a status other than 0 or is killed by a signal. If the command is a
benchmark, whose own log is printed before these lines, this is a separate run, of the tool ``time``.
A time printed as 0 is below its last digit, and is therefore censored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from fsbench_kit.formats.builder import Bounds, Place, RunBuilder
from fsbench_kit.formats.lexer import UNREAD, Lexer, Token, unread_figure
from fsbench_kit.formats.repairs import without_repeats
from fsbench_kit.formats.signatures import Signatures
from fsbench_kit.formats.text import Text
from fsbench_kit.formats.tool import Tool
from fsbench_kit.model.records import Measurement, Record, State
from fsbench_kit.model.units import Rounding, quantity

TOOL: Final = Tool(name="time", title="GNU time")
SIGN: Final = r"\d\W*user\W*\d|being\W+timed|real\W*\d"

_COUNT: Final = r"(?<![\d.,])\d+"
_SECONDS: Final = r"(?<![\d.,:])\d+[.,]\d\d(?!\d)"
_CLOCK: Final = r"(?<![\d.,:])(?:\d+:)?\d+:\d\d(?:[.,]\d\d)?(?!\d)"
_SHELL: Final = r"\d+m\s?\d+[.,]\d{2,3}s"

_LEXER: Final = Lexer(
    exited=r"Command exited with non-zero status (?P<status>\d+)",
    killed=r"Command (?:terminated|stopped) by signal (?P<signal>\d+)",
    # default format
    usage=(
        rf"(?P<user>{_SECONDS})user (?P<system>{_SECONDS})system (?P<elapsed>{_CLOCK})elapsed "
        rf"(?:(?P<cpu>\d+)|\?)%CPU(?: \(0avgtext\+0avgdata (?P<resident>\d+)maxresident\)k)?"
    ),
    paging=(
        rf"(?P<inputs>{_COUNT})inputs\+(?P<outputs>\d+)outputs "
        r"\((?P<major>\d+)major\+(?P<minor>\d+)minor\)pagefaults (?P<swaps>\d+)swaps"
    ),
    # with -v
    command=r'Command being timed: "(?P<command>[^\n]{0,4000}?)"(?=\s*(?:\n|$|User time))',
    user=rf"User time \(seconds\): (?P<user>{_SECONDS})",
    system=rf"System time \(seconds\): (?P<system>{_SECONDS})",
    cpu=r"Percent of CPU this job got: (?:(?P<cpu>\d+)|\?)%",
    elapsed=rf"Elapsed \(wall clock\) time \(h:mm:ss or m:ss\): (?P<elapsed>{_CLOCK})",
    resident=r"Maximum resident set size \(kbytes\): (?P<resident>\d+)",
    major=r"Major \(requiring I/O\) page faults: (?P<major>\d+)",
    minor=r"Minor \(reclaiming a frame\) page faults: (?P<minor>\d+)",
    voluntary=r"Voluntary context switches: (?P<voluntary>\d+)",
    involuntary=r"Involuntary context switches: (?P<involuntary>\d+)",
    swaps=r"Swaps: (?P<swaps>\d+)",
    inputs=r"File system inputs: (?P<inputs>\d+)",
    outputs=r"File system outputs: (?P<outputs>\d+)",
    status=r"Exit status: (?P<status>\d+)",
    page_size=r"Page size \(bytes\): \d+",
    not_kept=(
        r"(?:Average (?:shared text|unshared data|stack|total|resident set) size \(kbytes\)"
        r"|Socket messages (?:sent|received)|Signals delivered): 0(?!\d)"
    ),
    # shells and POSIX
    shells=rf"\breal (?P<elapsed>{_SHELL}) user (?P<user>{_SHELL})(?: sys (?P<system>{_SHELL}))?",
    posix=rf"\breal (?P<elapsed>{_SECONDS}) user (?P<user>{_SECONDS})(?: sys (?P<system>{_SECONDS}))?",
)
_FIRST: Final = {"usage", "command", "shells", "posix"}
"""The phrases that begin the output for a command, apart from how it ended."""
_ENDED: Final = {"exited", "killed"}
_SKIPPED: Final = {"page_size", "not_kept"}


class _Figure(NamedTuple):
    metric: str
    unit: str = ""
    rounding: Rounding = "exact"


_FIGURES: Final = {
    "elapsed": _Figure("elapsed", "s", "down"),
    "user": _Figure("cpu_time_user", "s", "down"),
    "system": _Figure("cpu_time_system", "s", "down"),
    "cpu": _Figure("cpu", "%", "down"),
    "resident": _Figure("memory_peak", "KiB"),
    "major": _Figure("major_faults"),
    "minor": _Figure("minor_faults"),
    "voluntary": _Figure("voluntary_switches"),
    "involuntary": _Figure("involuntary_switches"),
    "swaps": _Figure("swaps"),
    "inputs": _Figure("block_inputs"),
    "outputs": _Figure("block_outputs"),
}

_PAGE: Final = 4 * 1024
_TIMES: Final = 4
"""The factor by which GNU time 1.7 exaggerates memory, which a kernel counts in whole pages."""

_BASH_ROUNDS: Final = 0.0005
"""The rounding error, in seconds, of bash before `-p` truncates."""

_OPERATIONS: Final = {"mkfs": "mkfs", "mke2fs": "mkfs", "mount": "mount", "umount": "umount", "sync": "sync"}

_BEFORE: Final = (
    r"(?:Command\s(?:exited\swith\snon-zero\sstatus|terminated\sby\ssignal|stopped\sby\ssignal)\s\d+\s+)?"
)
signatures: Final = Signatures(
    {
        "elapsed": rf"{_BEFORE}(?<![\d.,:])\d+[.,]\d\duser\s*\d+[.,]\d\dsystem\s*[\d:]+(?:[.,]\d\d)?elapsed",
        "timed:": rf'{_BEFORE}Command\sbeing\stimed:\s"',
        "real": rf"{_BEFORE}\breal\s*{_SHELL}\s+(?:real\s*{_SHELL}\s+)?user\s*{_SHELL}",
        "user": (rf"{_BEFORE}^[^\S\n]*real\s+\d+[.,]\d\d\s+(?:real\s+\d+[.,]\d\d\s+)?user\s+\d+[.,]\d\d(?!\d)"),
    },
    re.VERBOSE | re.MULTILINE,
)


def parse(text: Text) -> Iterator[Record]:
    """Yield a run for each command that was timed, and a diagnostic for figures that are not understood."""
    text, repairs = without_repeats(text)
    yield from repairs
    log: list[Token] = []
    for token in _LEXER.tokens(text):
        if token.name == UNREAD:
            yield from filter(None, [unread_figure(token)])
        elif token.name not in _SKIPPED:
            if log and _is_of_another(token, {each.name for each in log}):
                yield from _records(log)
                log = []
            log.append(token)
    if log:
        yield from _records(log)


def _is_of_another(token: Token, seen: set[str]) -> bool:
    """Whether a phrase belongs to another command than those seen so far."""
    if token.name in _ENDED:
        return True
    return token.name in seen or (token.name in _FIRST and not seen <= _ENDED)


def _records(log: Sequence[Token]) -> Iterator[Record]:
    """Yield the run that the phrases of one command describe, and its diagnostics."""
    text, start, end = log[0].text, log[0].start, log[-1].end
    tokens = {group: token for token in log for group in token.groups}
    figures = {group: token for group, token in tokens.items() if group in _FIGURES}
    if not figures:
        stretch = Token("time", text, start, end)
        yield stretch.diagnostic("UNREAD_FIGURE", "This says how a command ended, but nothing else about it.")
        return
    command, status, signal = (
        tokens[group][group] if group in tokens else None for group in ("command", "status", "signal")
    )
    run = RunBuilder(text)
    if command is not None:
        run.set("command", command, tokens["command"].start)
    for group, token in figures.items():
        _add(run, Place(_operation(command or "")), token, group)
    by_metric = {item.metric: item for item in run.measurements}
    elapsed = by_metric.get("elapsed")
    exit_code = int(status) if status is not None and signal is None else None
    if signal is not None:
        run.say("RUN_FAILED", f"The command was ended by signal {signal}.", start, end)
    elif exit_code:
        run.say("RUN_FAILED", f"The command exited with status {exit_code}.", start, end)
    if missing := {"elapsed", "user", "system"} - figures.keys():
        run.say("INCOMPLETE_LOG", f"The times lack {', '.join(sorted(missing))}.", start, end)
    if (message := _contradiction(by_metric)) is not None:
        run.say("FIGURES_DISAGREE", message, start, end)
    yield from run.records(
        TOOL.name,
        start,
        end,
        duration=(elapsed.value or 0.0) if elapsed is not None else None,
        status="failed" if signal is not None or exit_code else "ok" if elapsed is not None else "partial",
        exit_code=exit_code,
    )


def _contradiction(figures: Mapping[str, Measurement]) -> str | None:
    """Check the share of a processor against the times that it is computed from."""
    if not figures.keys() >= _COMPUTED:
        return None
    elapsed, user, system, cpu = (figures[metric] for metric in ("elapsed", *_CPU_TIMES, "cpu"))
    least, most = (user.low or 0) + (system.low or 0), (user.high or 0) + (system.high or 0)
    if not elapsed.low or not elapsed.high:
        return None
    if least / elapsed.high < (cpu.high or 0) and most / elapsed.low >= (cpu.low or 0):
        return None
    times = (item.value or 0 for item in (user, system, elapsed))
    return "{:g} + {:g} s of {:g} s are not {:.0f} %.".format(*times, 100 * (cpu.value or 0))


_CPU_TIMES: Final = ("cpu_time_user", "cpu_time_system")
_COMPUTED: Final = {"elapsed", *_CPU_TIMES, "cpu"}


def _operation(command: str) -> str:
    words = command.removeprefix("sudo ").split()
    name = words[0].rpartition("/")[2].partition(".")[0] if words else ""
    return _OPERATIONS.get(name, "command")


def _add(run: RunBuilder, place: Place, token: Token, group: str) -> None:
    """Add the figure of a group; a time can include hours and minutes."""
    metric, unit, rounding = _FIGURES[group]
    printed = token.printed(group)
    number = text = token[group] or ""
    bounds: Bounds | None = None
    zero: State = "censored" if rounding == "down" else "measured"
    if unit == "s":
        seconds = Decimal(0)
        for part in re.split(r"[:m]", text.rstrip("s").replace(",", ".")):
            seconds = seconds * 60 + Decimal(part)
        number = str(seconds)
        if token.name == "shells" and seconds.as_tuple().exponent == -3:
            rounding = "nearest"
        amount = quantity(number, "s", rounding=rounding)
        if token.name == "posix" and amount.low is not None:
            bounds = max(0.0, amount.low - _BASH_ROUNDS), amount.high
    elif group == "resident":
        zero = "missing"
        amount = quantity(text, unit, rounding=rounding)
        if not amount.value % (_TIMES * _PAGE):  # GNU time 1.7 may have multiplied it by four
            bounds = amount.value / _TIMES, amount.high
    run.add(place, metric, printed, unit=unit, rounding=rounding, number=number, bounds=bounds, zero=zero)
