"""Logs of more runs of a workload, as its tool would print them, made from the log of one.

What a tool measures is drawn at random: how long a run took, how much it did, how long its requests took. What the
tool computes of these is computed as it does, and printed by its rules. So no figure of a log contradicts another
one, as in the folder of somebody who has run the same workload again and again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from math import ceil
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random

_NUMBER: Final = re.compile(r"([^\S\n]*)(\d+(?:\.\d+)?)")


def another_run(text: str, rng: random.Random) -> str:
    """Return what one of the tools might print of one more run, given what it has printed of one."""
    return next(another(text, rng) for sign, another in _TOOLS.items() if sign in text)


def _at_another_time(text: str, rng: random.Random) -> str:
    hours, minutes, seconds = rng.randrange(24), rng.randrange(60), rng.randrange(60)
    return re.sub(r"\d\d:\d\d:\d\d (?=\d{4})", f"{hours:02}:{minutes:02}:{seconds:02} ", text)


def _near(value: float, rng: random.Random, spread: float = 0.05) -> float:
    """Return a figure of another run, which differs by about such a share."""
    return value * rng.lognormvariate(0, spread)


def _numbers(text: str) -> list[float]:
    return [float(number) for _, number in _NUMBER.findall(text)]


def _filled(text: str, values: Iterable[str]) -> str:
    """Return a text with other numbers; one that has several blanks before it ends where the old one did."""
    given = iter(values)

    def filled(old: re.Match[str]) -> str:
        blanks, number = old.groups()
        new = next(given)
        return blanks[max(0, min(len(new) - len(number), len(blanks) - 1)) :] + new

    return _NUMBER.sub(filled, text)


# sysbench


def _sysbench(text: str, rng: random.Random) -> str:
    settings, sign, report = re.split(r"(Threads\s*started!)", text)
    threads = int(re.findall(r"of\s*threads:\s*(\d+)", settings)[0])
    block = 1024 * int(re.findall(r"Block\s*size\s*(\d+)K", settings)[0])
    printed = _sysbench_11 if "IOPS=" in report else _sysbench_10 if "reads/s" in report else _sysbench_05
    return settings + sign + _filled(report, printed(_numbers(report), threads, block, rng))


def _sysbench_05(old: list[float], threads: int, block: int, rng: random.Random) -> Iterator[str]:
    faster, time = rng.lognormvariate(0, 0.05), old[9] + rng.random() / 100
    reads, writes, others = (round(count * faster) for count in old[:3])
    events, busy = reads + writes, old[11] * time / old[9]
    yield from map(str, (reads, writes, others, events + others))
    amounts = reads * block, writes * block, events * block, events * block / time
    for before, amount in zip(old[4:8], amounts, strict=True):  # in the same units
        yield f"{min((amount / 2**power for power in (0, 10, 20, 30)), key=lambda each: abs(each - before)):.5g}"
    yield f"{events / time:.2f}"
    yield f"{time:.4f}"
    yield str(events)
    yield f"{busy:.4f}"
    yield from (f"{each:.2f}" for each in (_near(old[12], rng), busy / events * 1000, _near(old[14], rng, 0.3)))
    yield f"{old[15]:.0f}"
    yield f"{old[16] / faster:.2f}"
    yield from _threads(old[17:], events, busy, threads, rng)


def _sysbench_10(old: list[float], threads: int, block: int, rng: random.Random) -> Iterator[str]:
    time = old[5] + rng.random() / 1000
    counts = reads, writes, _ = [round(_near(rate, rng) * time) for rate in old[:3]]
    events, busy = sum(counts), _near(old[12], rng, 0.01) / 1000
    yield from (f"{count / time:.2f}" for count in counts)
    yield from (f"{count * block / 2**20 / time:.2f}" for count in (reads, writes))
    yield f"{time:.4f}"
    yield str(events)
    yield from _latencies(old[7:], events, busy, rng)
    yield from _threads(old[13:], events, busy, threads, rng)


def _sysbench_11(old: list[float], _: int, block: int, rng: random.Random) -> Iterator[str]:
    intervals, final = old[:-13], old[-13:]
    counts = [round(_near(final[at], rng) * intervals[-6]) for at in (0, 3, 6)]
    read, write, sync = (count / intervals[-6] for count in counts)
    for end, *_, rank, percentile in zip(*(intervals[at::6] for at in range(6)), strict=True):
        yield f"{end:.0f}"
        shown = read * block / 2**20, write * block / 2**20, sync
        yield from (f"{_near(each, rng, 0.01):.2f}" for each in shown)
        yield f"{rank:.0f}"
        yield f"{_near(percentile, rng):.3f}"
    for rate in (read, write):
        yield from (f"{each:.2f}" for each in (rate, rate * block / 2**20, rate * block / 1e6))
    yield f"{sync:.2f}"
    yield from _latencies(final[7:], sum(counts), _near(final[12], rng, 0.01) / 1000, rng)


def _latencies(old: list[float], events: int, busy: float, rng: random.Random) -> Iterator[str]:
    """Yield the latencies that sysbench prints since 1.0."""
    mean = busy / events * 1000
    yield from (f"{each:.2f}" for each in (old[0], mean, _near(old[2], rng, 0.3)))
    yield f"{old[3]:.0f}"
    yield from (f"{each:.2f}" for each in (old[4] * (mean / old[1] if old[1] else 1), busy * 1000))


def _threads(old: list[float], events: int, busy: float, threads: int, rng: random.Random) -> Iterator[str]:
    """Yield how evenly the threads shared the work."""
    yield f"{events / threads:.4f}"
    yield f"{_near(old[1], rng):.2f}"
    yield f"{busy / threads:.4f}"
    yield f"{old[3]:.2f}"


# bonnie++


def _bonnie(text: str, rng: random.Random) -> str:
    """Give the CSV line other figures, and print in the tables what stands there."""
    *report, line = text.rstrip("\n").split("\n")
    fields = line.split(",")
    is_1_03 = len(fields) < 30
    io, files = (slice(2, 14), slice(15, 27)) if is_1_03 else (slice(-41, -29), slice(-24, -12))
    for cells in (io, files):
        fields[cells] = [_cell(cell, rng, most=100 if at % 2 else None) for at, cell in enumerate(fields[cells])]
    rows = [fields[io], fields[files]]
    if not is_1_03:
        fields[4] = str(int(fields[4]) + rng.randrange(10**6))  # the seed, which is the time
        latencies = [re.sub(r"\d+", lambda old: f"{_near(int(old[0]), rng):.0f}", cell) for cell in fields[-12:]]
        fields[-12:] = latencies
        rows = [rows[0], latencies[:6], rows[1], latencies[6:]]
    places = [at for at, row in enumerate(report) if _ROW.search(row)]
    for at, row in zip(places, rows, strict=True):
        report[at] = _row(report[at], row)
    return "\n".join([*report, ",".join(fields)]) + "\n"


_ROW: Final = re.compile(r"^Latency  |(?: +[\d.+]+[kmg]? +(?:\d+|\+\+\+)){6}$")
_NO_RATES: Final = {"1", "1024", "16384"}
"""What 1.98 and later print instead of rates of files."""


def _cell(cell: str, rng: random.Random, most: float | None) -> str:
    if not cell.strip("+"):
        return cell
    value = _near(float(cell), rng)
    return f"{value if most is None else min(value, most):.{1 if '.' in cell else 0}f}"


def _row(row: str, cells: list[str]) -> str:
    """Return a row with other cells, each printed as the one that was there."""
    old = re.findall(r" +\S+", row)[-len(cells) :]
    new = (_printed(word.strip(), cell).rjust(len(word) - 1) for word, cell in zip(old, cells, strict=True))
    return row[: -len("".join(old))] + "".join(f" {each}" for each in new)


def _printed(word: str, cell: str) -> str:
    """Return a cell of the CSV line as a table has it."""
    if word in _NO_RATES:
        return word
    if word.endswith(("k", "m", "g")):
        value = int(cell) / 1024 ** "kmg".index(word[-1])
        return f"{value:.{1 if '.' in word or (value < 100 and word[-1] != 'k') else 0}f}{word[-1]}"
    return f"{float(cell):.0f}" if "." not in word and "." in cell else cell


# fio


def _fio(text: str, rng: random.Random) -> str:
    """Let a run do the same in another time, and a multiple of it if that was a few milliseconds."""
    slower, block = rng.lognormvariate(0, 0.05), int(re.findall(r"bs=\(R\) (\d+)B", text)[0])
    old_time = int(re.findall(r"/(\d+)msec\)", text)[0])
    more, of_requests = ceil(1000 / old_time), slower
    time = round(old_time * more * slower)
    issued = [more * int(count) for count in re.findall(r"total=(\d+),(\d+)", text)[0]]
    done = dict(zip(("read", "write"), issued, strict=True)) | {"mixed": sum(issued)}

    def rates(size: int, separator: str = " ") -> str:
        bits, mark = (8, "bit/s") if "bit/s" in text else (1, "B/s")
        rate = size * 1000 // time * bits
        return f"{_short(rate, 1024)}{mark}{separator}({_short(rate, 1000)}{mark})"

    def of_job(old: re.Match[str]) -> str:
        if old[2] == "IOPS=0":
            return f"{old[1]}: IOPS=0, BW=0 (0)(0B/{time}msec)"
        count = done[old[1]]
        size = count * block
        iops = _short(count * 1000 // time, 1000)
        return f"{old[1]}: IOPS={iops}, BW={rates(size)}({_short(size, 1024)}B/{time}msec)"

    def of_group(old: re.Match[str]) -> str:
        size = done[old[1].lower()] * block
        each = sorted([done["read"], done["write"]] if old[1] == "MIXED" else [done[old[1].lower()]])
        least, most = (rates(count * block) for count in (each[0], each[-1]))
        ranges = (
            "-".join(word.split()[0] for word in (least, most)),
            "-".join(word.split()[1][1:-1] for word in (least, most)),
        )
        amounts = f"io={_short(size, 1024)}B ({_short(size, 1000)}B), run={time}-{time}msec"
        return f"{old[1]}: bw={rates(size)}, {ranges[0]} ({ranges[1]}), {amounts}"

    def of_line(line: str) -> str:
        nonlocal of_requests
        if re.match(r" +(?:slat|clat|lat|sync) \(", line) and "min=" in line:
            if not line.lstrip().startswith("lat"):  # which goes with the one before it
                of_requests = slower * rng.lognormvariate(0, 0.05)
            return _scaled(line, of_requests)
        if "th=[" in line:
            unit = 1 if "(nsec)" in text[: text.index(line)].rsplit("percentiles", 1)[-1][:9] else 1000
            return re.sub(
                r"\[ *(\d+)\]",
                lambda old: f"[{_bin(int(old[1]) * unit * of_requests, unit):{len(old[0]) - 2}}]",
                line,
            )
        if re.match(r" +(?:bw|iops) +[(:]", line):
            head, sign, rest = line.partition("min=")
            rest, samples, number = rest.partition(", samples=")
            return head + _scaled(sign + rest, 1 / slower, "per=100.00%") + samples + number
        if re.match(r"  lat \(", line):
            return _shifted(line, rng)
        if line.startswith("  cpu "):
            return _scaled(line, rng.lognormvariate(0, 0.05), "majf=0")
        return line

    text = "\n".join(map(of_line, text.split("\n")))
    text = re.sub(r"\bpid=\d+", f"pid={rng.randrange(1000, 99999)}", _at_another_time(text, rng))
    text = re.sub(
        r"total=\d+,\d+,0,(\d+)", lambda old: f"total={issued[0]},{issued[1]},0,{int(old[1]) * more}", text
    )
    text = re.sub(r"(\w+): (IOPS=[\w.]+), BW=.*?msec\)", of_job, text)
    return re.sub(r"(READ|WRITE|MIXED): bw=.*", of_group, text)


def _scaled(line: str, factor: float, kept: str = "") -> str:
    """Return a line with all of its figures so many times as large; each as long as before, if that can be."""
    before, mark, behind = line.partition(kept) if kept else (line, "", "")

    def scaled(old: re.Match[str]) -> str:
        blanks, number = old.groups()
        new = f"{float(number) * factor:.{len(number.partition('.')[2])}f}"
        return new.rjust(len(old[0])) if blanks else new

    return mark.join(re.sub(r"(?<==)( *)(\d+(?:\.\d+)?)", scaled, part) for part in (before, behind))


def _shifted(line: str, rng: random.Random) -> str:
    """Let a little of one share of a line belong to another one."""
    large = [old for old in re.finditer(r"(?<==)\d+\.\d\d(?=%)", line) if float(old[0]) > 1]
    if len(large) < 2:
        return line
    one, other = large[0], large[-1]
    by = rng.randrange(-50, 50) / 100
    pieces = line[: one.start()], line[one.end() : other.start()], line[other.end() :]
    return f"{pieces[0]}{float(one[0]) + by:.2f}{pieces[1]}{float(other[0]) - by:.2f}{pieces[2]}"


def _short(value: int, base: int) -> str:
    """Return an amount in four characters, as fio's ``num2str`` does."""
    units, left = iter(("k", "M", "G") if base == 1000 else ("Ki", "Mi", "Gi")), float(value)
    unit = ""
    while round(left) > 9999:
        left, unit = left / base, next(units)
    return f"{left:.{max(0, 3 - len(str(int(left)))) if unit else 0}f}{unit}"


def _bin(nanoseconds: float, unit: int) -> int:
    """Return the latency that stands for those of its bin."""
    whole = round(nanoseconds)
    shift = max(0, whole.bit_length() - 7)
    return ceil((((whole >> shift) << shift) + ((1 << shift) >> 1)) / unit)


def _iozone(text: str, rng: random.Random) -> str:
    """Give each figure another one, which is the same in the table and in the reports for Excel."""
    head, sign, tables = text.partition("reclen")
    new: dict[str, str] = {}

    def other(old: re.Match[str]) -> str:
        figure = old[2]
        known = new.setdefault(figure, f"{_near(float(figure), rng):.{2 if '.' in figure else 0}f}")
        return " " + known.rjust(len(old[0]) - 1)

    return _at_another_time(head, rng) + sign + re.sub(r"( +)(\d{6,}|\d+\.\d\d)", other, tables)


_TOOLS: Final[dict[str, Callable[[str, random.Random], str]]] = {
    "sysbench": _sysbench,
    "Sequential Output": _bonnie,
    "fio-": _fio,
    "iozone": _iozone,
}
