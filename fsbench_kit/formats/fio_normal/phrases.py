"""The patterns of the lines of fio's report, regardless of changes to their white space."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fsbench_kit.formats.clean.lines import Lines
from fsbench_kit.formats.command_line import GOES_ON
from fsbench_kit.formats.fio import COMMAND
from fsbench_kit.formats.lexer import UNREAD, Lexer, Token
from fsbench_kit.formats.signatures import Signatures


def _bytes_moved(name: str) -> str:
    """Match a number of bytes directly followed by its unit: groups ``<name>`` and ``<name>_unit``."""
    return rf"(?P<{name}>-?\d+(?:\.\d+)?) (?P<{name}_unit>[kKMGTPE]?i?B)"


def _rate(name: str) -> str:
    """Match a bandwidth and its unit, which fio omits in some sums: groups ``<name>`` and ``<name>_unit``."""
    return rf"(?P<{name}>-?\d+(?:\.\d+)?) (?P<{name}_unit>(?:[kKMGTPE]i?)?(?:(?:B|bit) /s)?)"


def _counts(name: str) -> str:
    """Match counts of reads, writes and, in newer versions, trims and syncs: groups ``<name>_read`` and so on."""
    read, write, trim, sync = (rf"(?P<{name}_{word}>\d+)" for word in ("read", "write", "trim", "sync"))
    return rf"(?:r= )?{read} [,/] (?:w= )?{write}(?: [,/] (?:[td]= )?{trim}(?: [,/] {sync})?)?"


def _pair(name: str, word: str | None = None) -> str:
    word = word or name
    return rf"{word}= (?P<{name}_read>\d+)/(?P<{name}_write>\d+)"


_JOB: Final = r"(?P<name>(?:^[^\S\n]{0,80}+|(?<=>\s))[^\s:<][^\n<]{0,79}?|All\s+clients|\S{1,100}): "
_SHARES: Final = r"(?P<shares>(?:>=)?\d+= [\d.]+%(?: , (?:>=)?\d+= [\d.]+%)*)"
_LATENCY_WORD: Final = "(?=[hlsc][a-z])"
"""The beginning of latency phrases, which is found faster than a choice of words."""
_LATENCY_UNIT: Final = r"\( (?P<unit>nsec|usec|msec) \)"
_OPERATION: Final = r"(?P<operation>read|write|trim|mixed)"
_NUMBER: Final = r"\d+(?:\.\d+)?[kKMGTPE]?"
_MEAN: Final = r"(?:-?\d+\.\d\d|-?nan|-?inf)"
_STATISTICS: Final = (
    rf"min= (?P<min>{_NUMBER}) , max= (?P<max>{_NUMBER}) ,(?: per= (?P<share>{_MEAN})% ,)? "
    rf"avg= (?P<mean>{_MEAN}) , (?:st)?dev= (?P<stdev>{_MEAN})(?: , samples= (?P<samples>\d+))?"
)
_TO: Final = "[-–]"

LEXER: Final = Lexer(
    command=(
        r"(?:^[^\n@]{0,60}@(?P<host>[\w.-]{1,64})[^\n#$]{0,200}[#$] )?"
        rf"{COMMAND}(?:{GOES_ON}|(?!\S{{1,100}}: \(g(?:=|roupid)|fio-\d)[^\n`])*"
    ),
    hello=(
        r"hostname= (?P<host>[^,\s]{1,64}), be= \d+, \d+-bit, os= (?P<os>[^,\n]{1,40}), "
        r"arch= [^,\n]{1,40}, fio= (?:fio-)?(?P<version>\d[\w.-]{0,40})(?:, flags= \d+)?"
    ),
    client=r"<(?P<host>[\w.:-]{1,64})>(?=\s)(?: \.\.\.)?",
    header=(
        _JOB + r"\(g= (?P<group>\d+)\): rw= (?P<pattern>\w+), bs= (?P<sizes>[^=]{0,160}?), "
        r"ioengine= (?P<engine>[\w-]+), iodepth= (?P<iodepth>\d+)(?: \.\.\.)?"
    ),
    banner=r"(?<![/\w]-)(?<![/;])fio[-\s](?P<version>\d+\.\d+(?:\.\d+)*(?:-\d+-g[0-9a-f]+)?(?:-dirty)?)",
    started=r"Starting (?P<what>\d+ (?:process|thread)(?:es|s)?(?: and \d+ (?:process|thread)(?:es|s)?)?)",
    layout=_JOB + r"Laying out IO file[()s]* \(\d+ file[()s]* / (?:total )?(?P<size>\d+) Mi?B\)",
    progress=(
        r"(?:(?:Jobs|\^Cbs): \d+ \(f= [^)\n]*\)"
        r"(?:[^\n]{0,400}?\[ eta [\ddhms:]+\]?|, [\d.]+[kMG]?-[\d.]+[kMG]? IOPS)? )+"
    ),
    trouble=(
        r"fio: (?:pid= \d+, err= -?\d+/[^,\n]{1,200}, func= [^,\n]{1,200}, "
        r"error= (?:Unknown\s+error\s+-?\d+|[A-Z][\w/]*(?:\s(?!Run\s)[A-Za-z/]+(?![\w:.-]))*)|"
        r"io_u error on file [^\n]{1,500}?, buflen= \d+|"
        r"pid= \d+, got signal= \d+)|"
        r"client <[^>\n]{1,100}>: exited with (?:error|signal) \d+|"
        r"\S{1,100}: you need to specify size=|"
        r"error: (?:maximum number of jobs(?: \(\d+\))? reached|failed to setup shm segment)\.?|"
        r"(?:^[^\S\n]*[\w-]{1,20}:\s(?:bad\s(?:magic\s)?header|verify\sfailed)[^\n]{1,1000}$\s*)+"
    ),
    stopped=r"fio: terminating on signal \d+",
    capped=r"note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1",
    job=(
        _JOB
        + r"\(groupid= (?P<group>\d+)(?:, jobs= (?P<jobs>\d{1,9}))?\): "
        + r"err= (?P<error>-?\d{1,15})(?: \([^\n]{0,500}?\))?:(?: pid= (?P<pid>\d+))?"
        r"(?:: (?P<date>[A-Z][a-z]{2} [A-Z][a-z]{2} \d{1,2} \d\d:\d\d:\d\d \d{4}))?"
    ),
    description=r"Description : \[(?P<description>[^\]\n]*)\]",
    rate=(
        rf"{_OPERATION} : IOPS= (?P<iops>{_NUMBER}), BW= {_rate('rate')} "
        rf"\( {_rate('rate_again')} \) "
        rf"\( {_bytes_moved('bytes')} / (?P<runtime>\d{{1,15}}) msec \)(?: ; (?P<resets>\d+) zone resets)?"
    ),
    old_rate=(
        rf"{_OPERATION} : io= {_bytes_moved('bytes')} , bw= {_rate('rate')} , "
        rf"(?:iops= (?P<iops>{_NUMBER}) , )?runt= (?P<runtime>\d{{1,15}}) msec"
    ),
    latency=(
        rf"{_LATENCY_WORD}(?:(?P<level>high|low) prio_)?(?P<kind>slat|clat|lat|sync)"
        r"(?: prio (?P<priority>\d+/\d+(?:/\d+)?))? "
        rf"{_LATENCY_UNIT} : {_STATISTICS}"
    ),
    percentiles=(
        rf"{_LATENCY_WORD}(?:(?P<level>high|low) prio \( (?P<level_share>{_MEAN})% \) )?"
        r"(?P<kind>slat|clat|lat|sync)"
        rf"(?: prio (?P<priority>\d+/\d+(?:/\d+)?) \( (?P<priority_share>{_MEAN})% of IOs \))? "
        rf"percentiles {_LATENCY_UNIT} : "
        r"(?P<cells>(?:[|\s]*+\d+(?:\.\d+)?th= \[ \d+ \] ,?)+)"
    ),
    sync=r"fsync/fdatasync/sync_file_range[/\w]* :",
    bandwidths=rf"bw \( (?P<unit>[kKMG]?i?(?:B|bit)) /s \) : {_STATISTICS}",
    iops=rf"iops : {_STATISTICS}",
    buckets=rf"lat {_LATENCY_UNIT} : {_SHARES}",
    cpu=(
        r"cpu : usr= (?P<user>[\d.]+)%, sys= (?P<system>[\d.]+)%, ctx= (?P<switches>\d+)"
        r"(?:, majf= (?P<major>\d+), minf= (?P<minor>\d+))?"
    ),
    depths=rf"(?P<name>IO\s+depths|submit|complete) : {_SHARES}",
    issued=(
        rf"issued (?:rwts?|r/w(?:/d)?)? : total= {_counts('total')} ,? short= {_counts('short')}"
        rf"(?: ,? drop(?:ped)?= {_counts('dropped')})?"
    ),
    errors=r"errors : total= (?P<total>\d+), first_error= (?P<first>\d+)/<[^>]{0,200}>",
    target=(
        r"latency : target= (?P<target>[\d.]+)(?P<target_unit>[nmu]?s)?, "
        r"window= (?P<window>[\d.]+)(?P<window_unit>[nmu]?s)?, "
        r"percentile= (?P<percentile>[\d.]+)%, depth= (?P<depth>\d+)"
    ),
    steady=(
        rf"steadystate : attained= (?P<attained>yes|no), bw= {_rate('rate')}(?: \( [^)\n]{{1,40}} \))?, "
        rf"iops= (?P<iops>{_NUMBER}),(?: lat= (?P<latency>{_NUMBER}) (?P<unit>nsec|usec|msec),)? "
        r"(?P<criterion>(?:iops|bw|lat) (?:slope|mean dev)= (?:-?\d+\.\d+|-?nan|-?inf) %?)"
    ),
    group=r"Run status group (?P<group>\d+) \(all jobs\):",
    total=(
        r"(?P<operation>READ|WRITE|TRIM|MIXED) : "
        rf"bw= {_rate('rate')} \( {_rate('rate_again')} \), {_rate('min')} {_TO} {_rate('max')} "
        rf"\( {_rate('min_again')} {_TO} {_rate('max_again')} \), "
        rf"io= {_bytes_moved('bytes')} \( {_bytes_moved('bytes_again')} \), "
        rf"run= (?P<shortest>\d+) {_TO} (?P<longest>\d+) msec"
    ),
    old_total=(
        rf"(?P<operation>READ|WRITE|TRIM|MIXED) : io= {_bytes_moved('bytes')}, aggrb= {_rate('rate')}, "
        rf"minb= {_rate('min')}, maxb= {_rate('max')}, "
        r"mint= (?P<shortest>\d+) msec, maxt= (?P<longest>\d+) msec"
    ),
    disks=r"Disk stats \(read/write\):",
    disk=(
        r"(?P<name>[\w.!-]{1,64}): "
        rf"{_pair('ios')}, (?:{_pair('sectors')}, )?{_pair('merge')}, {_pair('ticks')}, "
        r"in_queue= (?P<queue>\d+), util= (?P<util>[\d.]+)%"
        rf"(?P<members>, {_pair('all_ios', 'aggrios')}, (?:{_pair('all_sectors', 'aggr?sectors')}, )?"
        rf"{_pair('all_merge', 'aggrmerge')}, {_pair('all_ticks', 'aggrticks')}, "
        r"aggrin_queue= (?P<all_queue>\d+), aggrutil= (?P<all_util>[\d.]+)%)?"
    ),
    idleness=(
        r"CPU idleness:|(?<!\w)system: (?P<system>\d+\.\d\d)%(?=[\s|]{1,20}(?:percpu|unit\s+work):)|"
        r"percpu: (?P<each>\d+\.\d\d%(?:, \d+\.\d\d%)*)|"
        r"unit\s+work: mean= (?P<mean>[\d.]+) us, stddev= (?P<stdev>[\d.]+)"
    ),
    lifetimes=(
        r"block lifetime percentiles :(?:[|\s]*+\d+(?:\.\d+)?th= \d+ ,?)+ states :(?:[a-z\s]{1,20}= \d+,?)+"
    ),
    said=r"(?<![\w./-])fio: [^\n]{1,300}$",
)

SET_UP: Final = {"command", "hello", "header", "banner", "started"}
PREAMBLE: Final = {*SET_UP, "client", "layout", "progress", "capped"}
SUMMARY: Final = {"group", "total", "old_total", "disks", "disk", "idleness"}
BESIDE: Final = {UNREAD, "said"}

ONLY_MARKS: Final = {"banner", "sync", "disks"}
"""Phrases without figures of their own; the version is looked up separately."""

MARKS: Final = Signatures(
    {
        "(groupid=": r"\(groupid=\s*\d+(?:,\s*jobs=\s*\d+)?\):\s*err=",
        "IOPS=": r"\bIOPS=\s*[\d.]+[kMG]?,\s*BW=\s*-?\d",
        "Run status group": r"Run status group \d+",
        "io=": r":\s*io=\s*[\d.]+\s*\w*\s?,\s*(?:bw|aggrb)=\s*-?\d",
        "bw=": r"\b(?:READ|WRITE|TRIM|MIXED):\s*bw=\s*-?\d",
        "(g=": r"\(g=\s*\d+\):\s*rw=",
        "hostname=": r"\bhostname=[^,\s]{1,64}, be=\d",
    }
)

_PREFIX: Final = r"[kKMGTPE](?=i?(?:B|bit)(?:/s)?(?!\w))"
LINES: Final = Lines(
    sign="(groupid=",
    unit=re.compile(rf"(?<=\()[num](?=sec\)(?: *:|:))|{_PREFIX}|(?<=\0)[kMGTPE](?=[, ]|$)"),
    goes_on=re.compile(r" +\|"),
    bins=re.compile(r" *lat \([num]sec\) *:(?:(?: >=)?\0=\0%,?)+"),
)
"""Units, and the buckets of latencies. A rate in powers of 1000 stays one: the job's other rates depend on it."""

ALL_CLIENTS: Final = "All clients"


def job_name(token: Token) -> str:
    """Return the name of a job, without any prefix that a copy added."""
    return " ".join((token["name"] or "").lstrip("|>`").split())


PERCENTILE: Final = re.compile(r"(?P<rank>\d+(?:\.\d+)?)th=\s*\[\s*(?P<value>\d+)\s*\]")
SHARE: Final = re.compile(r"(?P<label>(?:>=)?\d+)=\s*(?P<share>\d[\d.]*)%")
IDLE: Final = re.compile(r"(?P<share>[\d.]+)%")
"""Patterns that phrases contain several times."""


def cells(token: Token, group: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern inside a group of a phrase."""
    if token.match is not None and token[group] is not None:
        yield from pattern.finditer(token.text.chars, *token.match.span(group))
