"""Logs of ``example``, which writes a file and reads it back: version 1.2. Copy this module to add a format.

Say in the first sentence what the logs are and of which versions: it appears in the table of formats. Then say for
each figure what it means, its unit, how it is rounded, and where the tool's source or manual says so::

    example 1.2: 4 threads
    write: 123.4 MB/s, 0.81 s
    read: 0.0 MB/s, 12.50 s
    done

``MB/s`` are 10^6 bytes per second, rounded to one decimal; times are truncated after two. A rate printed as 0.0 is
below its last digit, and therefore censored. A log without ``done`` was cut off.

A format also needs a log that was printed by the tool itself, such as ``tests/data/example/1.2-report.txt``, and a
test, ``tests/formats/test_example.py``, that reads it and damaged copies of it. `make reference` writes its page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fsbench_kit.formats.builder import Place, RunBuilder
from fsbench_kit.formats.command_line import getopt_command_line, in_bytes, plain
from fsbench_kit.formats.headed import headed_logs
from fsbench_kit.formats.lexer import Lexer, Token
from fsbench_kit.formats.signatures import Signatures
from fsbench_kit.formats.text import Text
from fsbench_kit.formats.tool import Tool
from fsbench_kit.model.records import Record

# Describes the tool to the rest of the package: study.toml, the search for command lines, messages, ... Options
# without a word in the vocabulary need no entry; they become settings such as example.-q.
TOOL: Final = Tool(
    name="example",
    command=getopt_command_line(
        "example", "s:d:q", {"-s": ("file_size", in_bytes), "-d": ("directory", plain)}, operands=["threads"]
    ),
    logged=("threads",),
)

# What every log contains however it was damaged, in lower case; and what no other text contains.
SIGN: Final = r"example\W+\d"
signatures: Final = Signatures({"example": r"\bexample\s+\d+\.\d+:\s+\d+\s+threads?\b"})

# The phrases of a log. A space matches any white space, including none, because copies lose and gain it. Text that
# no phrase matches becomes an UNREAD token, so that no figure is lost.
_LEXER: Final = Lexer(
    command=r"^[^\n]{0,100}?\bexample\s+-[^\n]*",  # read by `documents`, which cuts out the logs
    heading=r"\bexample (?P<version>\d+\.\d+): (?P<threads>\d{1,6}) threads?\b",
    step=r"\b(?P<operation>read|write): (?P<rate>\d+\.\d) MB/s, (?P<elapsed>\d+\.\d\d) s\b",
    done=r"^ done$",
)


def parse(text: Text) -> Iterator[Record]:
    """Yield a run for each log, and a diagnostic for each figure that is not understood."""
    return headed_logs(text, _LEXER, _records, skipped={"command"})


def _records(log: list[Token]) -> Iterator[Record]:
    """Yield the run that the phrases of one log describe, and its diagnostics."""
    heading, *others = log
    threads = int(heading["threads"] or "")
    run = RunBuilder(heading.text)
    run.set("threads", str(threads), heading.start)
    for step in (token for token in others if token.name == "step"):
        place = Place(step["operation"] or "", threads=threads)
        if run.first(place, "bandwidth") is not None:
            run.say("DUPLICATE_FIGURE", f"Another {place.operation} is printed above.", step.start, step.end)
            continue
        run.add(place, "bandwidth", step.printed("rate"), unit="MB/s", zero="censored")
        run.add(place, "elapsed", step.printed("elapsed"), unit="s", rounding="down")
    is_whole = log[-1].name == "done"
    if not is_whole:
        run.say("INCOMPLETE_LOG", "The log stops before “done”.", heading.start, log[-1].end)
    yield from run.records(
        TOOL.name,
        heading.start,
        log[-1].end,
        tool_version=heading["version"],
        status="ok" if is_whole and run.measurements else "partial",
    )
