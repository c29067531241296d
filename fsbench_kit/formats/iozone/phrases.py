"""The patterns of the lines of iozone's logs, and the order of a log's parts."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from fsbench_kit.formats.iozone import tables, throughput
from fsbench_kit.formats.lexer import Lexer
from fsbench_kit.formats.signatures import Signatures

SIGN: Final = r"test\W+of\W+file|line\W+used|reclen|children\W+see|y-axis|report\W+\d"

NUMBERS: Final = {
    "file_size": (r"File size set to (?P<value>\d{1,12}) [kK]B\b", 1024),
    "block_size": (r"Record Size (?P<value>\d{1,12}) [kK]B\b", 1024),
    "iozone.-n": (r"Using minimum file size of (?P<value>\d{1,12}) kilobytes\.?", 1024),
    "iozone.-g": (r"Using maximum file size of (?P<value>\d{1,12}) kilobytes\.?", 1024),
    "iozone.-y": (r"Using Minimum Record Size (?P<value>\d{1,12}) [kK]B\b", 1024),
    "iozone.-q": (r"Using Maximum Record Size (?P<value>\d{1,12}) [kK]B\b", 1024),
    "iozone.-S": (r"Processor cache size set to (?P<value>\d{1,12}) [kK][bB]ytes\.?", 1024),
    "iozone.-L": (r"Processor cache line size set to (?P<value>\d{1,12}) bytes\.?", 1),
    "stride": (r"File stride size set to (?P<value>\d{1,12}) \* record size\.?", 1),
    "iozone.-H": (r"POSIX async I/O \(with bcopy\)\. Depth (?P<value>\d{1,9})\b", 1),
    "iozone.-k": (r"POSIX Async I/O \(no bcopy\)\. Depth (?P<value>\d{1,9})\b", 1),
    "iozone.-l": (r"Min (?:process|thread) = (?P<value>\d{1,9})\b", 1),
    "iozone.-P": (r"Binding of processors beginning with (?P<value>\d{1,9})\b", 1),
    "iozone.-u": (r"Max (?:process|thread) = (?P<value>\d{1,9})\b", 1),
    "iozone.-+C": (r"Dedup within (?P<value>\d{1,3}) percent", 1),
    "iozone.-+O": (r"Rate control active (?P<value>\d{1,12}) Ops/sec", 1),
    "iozone.-+p": (r"Percent read in mix test is (?P<value>\d{1,3})\b", 1),
    "iozone.-+q": (r"Delay (?P<value>\d{1,9}) seconds between tests enabled", 1),
    "iozone.-+w": (r"Dedup activated (?P<value>\d{1,3}) percent", 1),
    "iozone.-+y": (r"Dedup within & across (?P<value>\d{1,3}) percent", 1),
    "iozone.time_resolution": (r"Time Resolution = (?P<value>\d+\.\d+) seconds\.?", None),
    "iozone.cpu_time_resolution": (r"CPU utilization Resolution = (?P<value>\d+\.\d+) seconds\.?", None),
}
"""Setting -> the line that shows it, and the factor for its number."""

OPTIONS: Final = {
    "direct": (
        r"O_DIRECT(?:IO)? feature enabled|VxFS advanced feature SET_CACHE, VX_DIRECT enabled"
        r"|F_NOCACHE=1 - Turns data caching off"
    ),
    "sync": r"SYNC Mode\.",
    "iozone.-a": r"Auto Mode(?! 2)",
    "iozone.-B": r"Using mmap files",
    "iozone.-c": r"Include close in write timing",
    "iozone.-e": r"Include fsync in write timing",
    "iozone.-K": r"Disrupted read patterns selected\.",
    "iozone.-m": r"Multi_buffer\. Work area \d+ bytes",
    "iozone.-N": r"Microseconds/op Mode\. Output is in microseconds per operation\.",
    "iozone.-O": r"OPS Mode\. Output is in operations per second\.",
    "iozone.-p": r"Purge Mode On",
    "iozone.-Q": r"Offset/latency files enabled",
    "iozone.-R": r"Excel chart generation enabled",
    "iozone.-w": r"Setting no_unlink",
    "iozone.-W": r"Lock file when reading/writing\.",
    "iozone.-z": r"Cross over of record size disabled\.",
    "iozone.-+D": r">>> O_DSYNC mode enabled\. <<<",
    "iozone.-+n": r"No retest option selected",
    "iozone.-+r": r"Read & Write sync mode active\.",
    "iozone.-+u": r"CPU utilization Excel chart enabled",
}
"""Setting that is true -> the line that shows it."""

_S: Final = r"[^\S\n]"  # white space within a line
_HEADER: Final = "|".join(
    ("Command line used:", *(pattern for pattern, _ in NUMBERS.values()), *OPTIONS.values())
).replace("(?P<value>", "(?:")

_AFTER_COMMAND: Final = r"(?:Output is in|Time Resolution =|Compute time)"

_FAILURES: Final = (
    r"No space left on device",
    r"Input/output error",
    r"Error \w{0,6}(?:writ|read)ing block[^\S\n]*(?:at\b[^\S\n]*)?[\d,]*",
    r"Error in file: (?:Found|Position)\b",
    r"Can not f?d?open temp(?:orary)? file\b:?",
    r"(?:Fork|Thread create|Memory allocation|Mapping) failed",
    r"Shared memory not working",
    r"Error reading client file",
    r"Error: (?:minimum|maximum) record (?:size|length) [^\n]{0,80}",
    r"Error: record length \d+ is greater than filesize \d+",
    r"Can not mix throughput mode and auto-mode flags",
    r"Microsecond mode not supported in throughput mode",
    r"You must use -[fF] when using ",
    r"[iI]nvalid options:",
    r"Unsupported (?:Plus )?option ->",
    r"Usage: For usage information type iozone -h",
)

LEXER: Final = Lexer(
    # Mails break it at spaces. iozone's own lines begin with a capital letter.
    command=(
        rf"Command line used:{_S}*(?P<command>"
        rf"\S[^\n]*(?:\n{_S}*(?![A-Z])\S[^\n]*){{1,9}}(?=\s*\n{_S}*{_AFTER_COMMAND})"
        rf"|\S[^\n]*?(?={_S}*$|\s+{_AFTER_COMMAND}|\s+(?:{_HEADER})))"
    ),
    prompt=(
        rf"^(?P<shell>[^\n]{{0,200}}?[#$%>]{_S}+)?{_S}*(?:(?:sudo|time|nohup){_S}+){{0,3}}"
        rf"(?P<command>(?:[^\s\"'`]{{0,200}}/)?iozone3?{_S}+-(?:\\\n|[^\n])*?)(?<!\\)"
        rf"(?={_S}*$|\s+Iozone: Performance)"
    ),
    banner=r"Iozone: Performance Test of File I/O",
    mode=r"Compiled for (?P<mode>\d+ bit) mode\.?",
    version=r"Version \$Revision: (?P<version>\d[\d.]*) \$",
    build=rf"Build:{_S}*(?P<build>\S[^\n]*?)(?={_S}*$|\s+Contributors:)",
    began=(
        rf"Run began:{_S}*(?P<date>[A-Z][a-z]{{2}}\s+[A-Z][a-z]{{2}}\s+\d\d?\s+[\d:]{{8}}\s+\d{{4}}"
        r"|\S[^\n]{0,80})"
    ),
    # iozone truncates the name, and with it the line, to 80 characters.
    machine=rf"Machine ={_S}*(?P<machine>\S+(?:{_S}(?!{_HEADER})\S+)*)",
    **{key: pattern for key, (pattern, _) in NUMBERS.items()},
    **OPTIONS,
    kilobytes=r"Output is in [kK][bB]ytes/sec",
    **throughput.PHRASES,
    **tables.PHRASES,
    complete=r"iozone test complete\.?",
    poor_timer=(
        r"Timer resolution is poor\. Some small transfers may have "
        r"reported inaccurate results\. Sizes \d+ [kK]Bytes and below\.?"
    ),
    too_quick=(
        r"The test completed too quickly to give a good result You will get a more precise measure of this "
        r"machine's performance by re-running iozone using the command: iozone \d+"
        r"(?: \(i\.e\., file size = \d+ kilobytes64\))?"
    ),
    read_error=(
        r"I/O error during read\. Try again with the command: iozone \d+ \d+"
        r"(?: \(i\.e\. record size = \d+ bytes\))?"
    ),
    invalid=r"Performance measurements are invalid in this mode\.",
    interrupted=r"iozone: interrupted",
    failure="|".join(_FAILURES),
)

STAGES: Final = {
    name: stage
    for stage, names in enumerate(
        (
            ("prompt",),
            ("banner",),
            ("version", "mode", "build"),
            ("began",),
            ("machine", "command", "kilobytes", *OPTIONS, *NUMBERS),
            ("heading", "processes", "each", "children", "parent", "per_process", "min_xfer", "cpu_use", "child"),
            ("report", "summary", "summary_record", "summary_unit", "summary_row"),
        )
    )
    for name in names
}
"""The parts of a log in order. A part that comes too early begins another run."""

AFTER_TESTS: Final = STAGES["report"]
"""The stage of the parts that can follow the end of the tests."""

ONCE: Final = frozenset({"prompt", "banner", "began", "heading"})
"""Parts that occur once in a log. A second one begins another run."""

_MARK: Final = {
    word: pattern.replace(" ", r"\s+")
    for word, pattern in {
        "Iozone:": r"\bIozone: Performance Test of File I/O Version \$Revision",
        "reclen": tables.HEADING,
        'report"': rf'{tables.REPORT_TITLE}" "\d',
        "used:": r"\bCommand line used:\s*\S*\biozone\b",
        "Children": r"\bChildren see throughput for \d{1,6}[a-z\s-]{4,60}=\s*\d",
        "Y-axis": r"\bThroughput report Y-axis is type of test\b",
    }.items()
}
signatures: Final = Signatures(_MARK)


@cache
def starts() -> re.Pattern[str]:
    """Return the pattern of what begins a log; it is compiled for the readers of such logs only."""
    return re.compile("|".join(_MARK.values()))
