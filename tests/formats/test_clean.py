"""What is read of many undamaged logs together is what is read of each."""

from __future__ import annotations

import os
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fsbench_kit as fsb
from benchmarks.inputs import BONNIE as BONNIE_LOGS
from benchmarks.inputs import IOZONE_WITH_CPU, SYSBENCH, other_digits
from benchmarks.robustness import logs
from fsbench_kit.formats import FORMATS, clean, name
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Block, Diagnostic, Record, Run
from tests.formats import bonnie_logs, fio_logs, iozone_logs
from tests.formats.reading import Reading
from tests.formats.sysbench_logs import LAYOUTS, log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl

OF_NAME = {name(each): each for each in FORMATS}
CORPUS = os.environ.get("FSBENCH_CORPUS")


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return frame.rows(named=True)


def _expected(frame: pl.DataFrame, of_log: list[tuple[int, Any]]) -> list[dict[str, Any]]:
    """Return the rows of records, by the columns of a frame."""
    columns = [column for column in frame.columns if column != "log"]
    return [
        {"log": index} | {column: _plain(getattr(item, column)) for column in columns} for index, item in of_log
    ]


def _plain(value: object) -> object:
    return ([word for pair in value for word in pair] or None) if isinstance(value, tuple) else value


def compare(texts: Sequence[str]) -> list[int]:
    """Hold what is read together against what is read of each; return the indexes that were left over."""
    frames, left = clean.read(texts)
    if frames is None:
        assert left == list(range(len(texts)))
        return left
    of_log = dict(frames.runs["log", "format"].rows())
    assert sorted([*of_log, *left]) == list(range(len(texts)))
    records = {
        index: [
            replace(record, format=own) if isinstance(record, Run) else record
            for record in OF_NAME[own].parse(Text(texts[index]))
        ]
        for index, own in sorted(of_log.items())
    }
    said = [(at, each) for at, some in records.items() for each in some if isinstance(each, Diagnostic)]
    assert _rows(frames.diagnostics) == _expected(frames.diagnostics, said)
    runs = [(at, each) for at, some in records.items() for each in some if isinstance(each, Run)]
    assert _rows(frames.runs) == _expected(frames.runs, runs)
    for frame, items in (
        (frames.settings, "settings"),
        (frames.measurements, "measurements"),
        (frames.distributions, "bins"),
    ):
        assert _rows(frame) == _expected(frame, [(at, item) for at, run in runs for item in getattr(run, items)])
    blocks = [(at, each) for at, some in records.items() for each in some if isinstance(each, Block)]
    assert _rows(frames.series) == [
        {
            "log": index,
            **{column: getattr(block, column) for column in ("part", "operation", "metric", "statistic")},
            "time": time,
            "value": value,
        }
        for index, block in blocks
        for time, value in zip(block.times, block.values, strict=True)
    ]
    return left


def test_every_log_of_the_project() -> None:
    """Each stands twice, so that the second is read as the first one was."""
    known = {key: path.read_text(encoding="utf-8", errors="replace") for key, path in logs().items()}
    left = compare([*known.values(), *known.values()])
    keys = [*known, *known]
    of_sysbench = {keys[index].partition("/")[2] for index in left if keys[index].startswith("sysbench/")}
    assert of_sysbench == {
        "0.5-checkpoints.txt",  # of which there is something to be said
        "1.0.20-checkpoints-histogram.txt",
        "1.0.20-fatal.txt",
        "1.0.20-prepare-rndrw-cpu-cleanup.txt",
    }


@pytest.mark.skipif(CORPUS is None, reason="FSBENCH_CORPUS names no folder of real logs")
def test_every_log_of_the_corpus() -> None:
    paths = sorted(path for path in Path(CORPUS or "").glob("*/**/*.txt") if path.stat().st_size < 50_000)
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
    assert len(compare([*texts, *texts])) < len(texts) * 2


COUNTS = st.one_of(st.integers(0, 3), st.integers(1000, 10**7), st.just(10**13))
RUNS = st.tuples(
    COUNTS,
    COUNTS,
    st.floats(0.001, 1e5).map(lambda time: round(time, 4)),
    st.one_of(st.just(0.0), st.floats(0.001, 1e4)),
    st.one_of(st.just(0), st.integers(0, 10**6)),
)


@settings(max_examples=60, deadline=None)
@given(version=st.sampled_from(sorted(LAYOUTS)), runs=st.lists(RUNS, min_size=2, max_size=5))
def test_sysbench_with_any_figures(version: str, runs: list[tuple[int, int, float, float, int]]) -> None:
    compare([log(version, *run, fsyncs=fsyncs) for *run, fsyncs in runs])


def _alike(number: int) -> list[str]:
    """Return consistent logs of all versions."""
    rng = random.Random(1)
    made = []
    for index in range(number):
        time, reads, writes = (
            round(rng.uniform(10, 600), 4),
            rng.randrange(10**3, 10**6),
            rng.randrange(10**3, 10**6),
        )
        busy = 4e3 * time / (reads + writes)
        made.append(log(sorted(LAYOUTS)[index % len(LAYOUTS)], reads, writes, time, busy * rng.uniform(0.9, 0.99)))
    return made


def parsed(texts: Sequence[str], before: Sequence[str] = ()) -> int:
    """Return how many logs a format parses while all are read, by who has read no others than those before."""
    count = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clean, "_EXAMPLES", {})
        clean.read(before)
        for each in FORMATS:

            def counted(text: Text, parse: Callable[[Text], Iterator[Record]] = each.parse) -> Iterator[Record]:
                nonlocal count
                count += 1
                return parse(text)

            patch.setattr(each, "parse", counted)
        clean.read(texts)
    return count


def test_undamaged_logs_of_all_versions_are_read_together() -> None:
    texts = _alike(200)
    assert parsed(texts) < 30  # one of each kind
    assert compare(texts) == []


def test_texts_of_which_none_is_ascii_are_left_over() -> None:
    assert clean.read(["é 1", "ü 2"]) == (None, [0, 1])


def test_the_only_log_of_its_kind_is_parsed() -> None:
    """Its columns would cost more than they save, also if an example of its kind is known."""
    one, *others = _alike(len(LAYOUTS) + 1)
    assert compare(2 * [one, *others]) == []
    assert compare([one, others[0], others[0]]) == [0]


@pytest.mark.parametrize(("number", "tried"), [(8, 1), (20, 2)])
def test_logs_of_two_runs_are_rarely_tried_as_examples(number: int, tried: int) -> None:
    """Each is parsed again, with all that is in its file."""
    texts = [2 * log(max(LAYOUTS), 1000 + index, 2000, 60.0, 1.0) for index in range(number)]
    assert clean.read(texts) == (None, list(range(number)))
    assert parsed(texts) == tried


def test_examples_are_remembered() -> None:
    """So a kind of logs is parsed once, in however many lots they come."""
    rng = random.Random(4)
    fio = (fio_logs.DATA / "3.33-grouped.txt").read_text(encoding="utf-8")
    iozone = IOZONE_WITH_CPU[0].read_text(encoding="utf-8")
    one, other = ([other_digits(text, rng) for text in (fio, iozone) for _ in range(9)] for _ in range(2))
    sysbench = _alike(40)
    one, other = [*one, *sysbench[:20]], [*other, *sysbench[20:]]
    assert parsed(other, before=one) < parsed(other) / 3  # one has a line that none had before
    assert compare(2 * one) == compare(2 * other) == []  # so that none is the only one of its kind


@pytest.mark.parametrize("version", sorted(LAYOUTS))
def test_sysbench_with_other_settings(version: str) -> None:
    """Figures that are multiples of a setting are held against that of their own log."""
    texts = []
    for threads, block in ((1, 4), (64, 4), (1, 256), (4, 16)):
        for deviation in ("0.00", "0.25"):
            text = log(version, 40_000, 20_000, 60.0, 3.9, fsyncs=600 if deviation == "0.00" else 0)
            text = re.sub(
                "(Number of threads: )4", rf"\g<1>{threads}", re.sub("(Block size )16", rf"\g<1>{block}", text)
            )
            text = re.sub(r"(\bmin: +)\d\.\d\d", rf"\g<1>{deviation}", text)
            texts.append(re.sub(r"(execution time \(avg/stddev\):.*/)\S+", rf"\g<1>{deviation}", text))
    found = clean.read(texts)[0]
    assert set(found.measurements["threads"]) == {1, 4, 64}
    assert set(found.measurements["block_size"]) == {2**12, 2**14, 2**18}
    assert set(found.diagnostics["log"]) == set(range(6))  # whose threads or blocks do not make these figures
    assert parsed(texts) <= 2
    assert compare(texts) == []


@pytest.mark.parametrize("version", sorted(LAYOUTS))
def test_settings_with_leading_zeros_are_those_of_one_log(version: str) -> None:
    texts = [log(version, 40_000, 20_000, 60.0, 3.9) for _ in range(4)]
    texts += [re.sub("(Number of threads: )4", r"\g<1>04", text) for text in texts]
    texts += [re.sub("(Block size )16", r"\g<1>016", text) for text in texts]
    assert compare(texts) == []


def test_hard_blanks_of_web_pages() -> None:
    """They are two bytes each, as the places of what is said about a log show."""
    texts = [text.replace("      ", " \xa0 \xa0 \xa0") for text in 2 * _alike(12)]
    texts[20:] = [re.sub(r"(total number of events: \D+)\d", r"\g<1>9", text) for text in texts[20:]]
    assert compare(texts) == []
    for said in clean.read(texts)[0].diagnostics.drop_nulls("start").rows(named=True):
        phrase = texts[said["log"]].encode()[said["start"] : said["end"]].decode()
        assert " ".join(phrase.split()) == said["excerpt"]


def test_what_contradicts_itself_is_said_as_of_one_log() -> None:
    texts = _alike(40)
    wrong = [re.sub(r"(total number of events: +)\d", r"\g<1>9", text) for text in texts]
    assert wrong != texts
    idle = next(index for index in range(30, 40) if "sysbench 0.5:" in texts[index])
    texts[idle] = re.sub(r"(execution time \(avg/stddev\): +)([\d.]+)/\S+", r"\1\2/999.00", texts[idle])
    changed = [index for index, text in enumerate(wrong) if text != texts[index] and index != idle]
    mixed = [*texts, *(wrong[index] for index in changed)]
    found, left = clean.read(mixed)
    said = found.diagnostics
    assert said.filter(log=idle)["code"].to_list() == ["IDLE_THREAD"]
    assert set(said["log"]) == {idle, *range(40, len(mixed))}
    assert compare(mixed) == left == []


def test_what_stands_beside_a_log_is_left_over() -> None:
    texts = _alike(4)
    assert compare([f"These are 3 runs.\n\n{text}" for text in texts]) == [0, 1, 2, 3]
    assert compare([f"{text}{text}" for text in texts]) == [0, 1, 2, 3]
    assert compare([text.replace("avg:", "avg") for text in texts]) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "originals", [SYSBENCH, BONNIE_LOGS, IOZONE_WITH_CPU], ids=["sysbench", "bonnie", "iozone"]
)
def test_logs_with_other_digits_at_random(originals: Sequence[Path]) -> None:
    """Nearly each contradicts itself: what is printed twice gets other digits line by line."""
    rng = random.Random(7)
    lines = [path.read_text(encoding="utf-8").splitlines(keepends=True) for path in originals]
    texts = ["".join(other_digits(line, rng) for line in of_one) for of_one in lines for _ in range(4)]
    said = clean.read(texts)[0].diagnostics
    assert said["log"].n_unique() > len(texts) / 2
    assert parsed(texts) < len(texts) / 2
    assert compare(texts) == []


IOZONE = (
    "3.489-mmap-cpu.txt",
    "3.424-subset.txt",
    "3.489-microseconds.txt",
    "3.493-auto.txt",
    "3.489-extended.txt",
)


def test_iozone_with_other_figures_and_dates() -> None:
    rng = random.Random(2)
    originals = [(iozone_logs.DATA / file).read_text(encoding="utf-8") for file in IOZONE]
    texts = [iozone_logs.varied(text, rng) for text in originals for _ in range(4)]
    found, _ = clean.read(texts)
    assert found.runs["started_at"].n_unique() == 20
    assert compare(texts) == []


def test_iozone_with_a_date_that_is_none() -> None:
    rng = random.Random(9)
    text = (iozone_logs.DATA / IOZONE[0]).read_text(encoding="utf-8")
    texts = [iozone_logs.varied(text, rng) for _ in range(4)]
    texts[2] = re.sub(r"\d\d(:\d\d:\d\d \d{4})", r"77\1", texts[2])
    assert compare(texts) == [2]


def test_iozone_with_several_processes() -> None:
    """What is said where a line is read leaves a log over; what its processes come to does not."""
    rng = random.Random(8)
    text = (iozone_logs.DATA / "3.489-throughput-readers-only.txt").read_text(encoding="utf-8")
    texts = [re.sub(r"\d\d(?= 20\d\d\n)", f"{rng.randrange(60):02}", text) for _ in range(6)]
    texts[2] = re.sub(r"(Child\[0\].*Throughput = +)\d", r"\g<1>1", texts[2], count=1)
    texts[3] = re.sub(r"(Max throughput .*= +)\d", r"\g<1>1", texts[3], count=1)
    texts[4] = re.sub(r"(Min throughput .*= +)[\d.]+", r"\g<1>0.00", texts[4], count=1)
    assert parsed(texts) == 2  # one more is the example of those with a 0
    assert compare(texts) == [3, 4]
    assert set(clean.read(texts)[0].diagnostics["log"]) == {2}


def test_a_log_that_is_not_read_as_its_like_in_an_earlier_folder(tmp_path: Path) -> None:
    text = (iozone_logs.DATA / "3.489-throughput-readers-only.txt").read_text(encoding="utf-8")
    (tmp_path / "earlier").mkdir()
    for number in (1, 2):
        (tmp_path / "earlier" / f"{number}.txt").write_text(text.replace(":39 2026", f":0{number} 2026"))
    odd = tmp_path / "odd.txt"
    odd.write_text(re.sub(r"(Max throughput .*= +)\d", r"\g<1>1", text, count=1))
    alone = fsb.read_text(odd.read_text()).measurements.drop("run_id")
    fsb.read(tmp_path / "earlier", cache=False)
    assert fsb.read(odd, cache=False).measurements.drop("run_id").equals(alone)


def test_iozone_whose_report_differs_from_its_table() -> None:
    rng = random.Random(3)
    text = (iozone_logs.DATA / IOZONE[0]).read_text(encoding="utf-8")
    texts = [iozone_logs.varied(text, rng) for _ in range(4)]
    table, report = texts[2].split('"Writer report"')
    figure = re.findall(r"\d{5,}", report)[0]
    texts[2] = f'{table}"Writer report"{report.replace(figure, figure[::-1], 1)}'
    (said,) = clean.read(texts)[0].diagnostics.rows(named=True)
    assert (said["log"], said["code"]) == (2, "SECOND_PRINTING_DIFFERS")
    assert f"the report says {figure[::-1]}." in said["message"]
    assert texts[2][said["start"] : said["end"]].split()[1] == figure[::-1]
    assert compare(texts) == []


def test_figures_of_iozone_in_other_columns_are_of_another_kind() -> None:
    """Nothing but the blanks tells that the first test was not run in half of these logs, and another one was."""
    heading = f"{'kB':>16}  reclen" + "".join(f"{name:>9}" for name in ("write", "rewrite", "read", "reread"))
    texts = [
        f"Command line used: iozone -a\nOutput is in kBytes/sec\n{heading}\n"
        f"{64:>16}{4:>8}{blanks}{one:>9}{other:>9}{after}\n\niozone test complete.\n"
        for one, other in ((51234, 61234), (71234, 81234))
        for blanks, after in (("", ""), (" " * 18, ""))
    ]
    parsed = [[m.operation for m in Reading(OF_NAME["iozone"]).run_of(text).measurements] for text in texts]
    assert parsed == [["write", "rewrite"], ["read", "reread"]] * 2
    compare(texts)


BONNIE = ("1.03e-report.txt", "1.03e-chunk-and-sizes.txt", "1.96-report.txt", "1.97-report.txt")


def test_bonnie_with_other_figures_and_seeds() -> None:
    rng = random.Random(4)
    originals = [(bonnie_logs.DATA / file).read_text(encoding="utf-8") for file in BONNIE]
    texts = [bonnie_logs.varied(text, rng) for text in originals for _ in range(4)]
    assert len(set(texts)) == 16
    found, left = clean.read(texts)
    assert found.runs["identity"].n_unique() > 4
    assert (compare(texts), left) == ([], [])


@pytest.mark.parametrize("file", [*BONNIE[2:], "1.98-report.txt", "2.00a-report.txt"])
def test_bonnie_with_other_units(file: str) -> None:
    """Each latency, and since 1.98 each rate, has the unit that suits it; and some CPU shares round to 0 %."""
    rng = random.Random(6)
    texts = []
    for _ in range(8):
        text = (bonnie_logs.DATA / file).read_text(encoding="utf-8")
        for figure, units in (
            (r"\d+[mu]?s", ("us", "ms", "s")),
            (r"\d{2,}[km](?=  )", "km"),
            (r"14(?=[ ,])", ("",)),
        ):
            for each in set(re.findall(rf"(?<=[ ,]){figure}\b", text)):
                other = f"{rng.randrange(99) if units != ('',) else 0}{rng.choice(units)}"
                text = re.sub(rf"(?<= ){each}\b", other.rjust(len(each)), text)
                text = re.sub(rf"(?<=,){each}\b", other, text)
        texts.append(text)
    assert len(set(texts)) == len(texts)
    assert parsed(texts) == 1
    assert compare(texts) == []


def test_bonnie_whose_line_differs_from_its_table() -> None:
    rng = random.Random(5)
    text = (bonnie_logs.DATA / BONNIE[3]).read_text(encoding="utf-8")
    texts = [bonnie_logs.varied(text, rng) for _ in range(4)]
    line = next(line for line in texts[2].splitlines() if line.count(",") > 20)
    figure = re.findall(r"(?<=,)\d{4,6}(?=,)", line)[0]
    texts[2] = texts[2].replace(line, line.replace(figure, str(int(figure) + 1)))
    (said,) = clean.read(texts)[0].diagnostics.rows(named=True)
    assert (said["log"], said["code"]) == (2, "SECOND_PRINTING_DIFFERS")
    assert said["excerpt"] == f"{int(figure) + 1} … {figure}"
    assert compare(texts) == []


FIO = (
    "3.33-grouped.txt",
    "3.33-bits.txt",
    "3.33-reads-writes-and-both.txt",
    "3.33-three-jobs.txt",
    "3.33-two-groups.txt",
    "3.33-decimal.txt",
)


def test_fio_with_other_figures_processes_and_dates() -> None:
    rng = random.Random(7)
    originals = [(fio_logs.DATA / file).read_text(encoding="utf-8") for file in FIO]
    texts = [fio_logs.varied(text, rng) for text in originals for _ in range(4)]
    frames, left = clean.read(texts)
    assert (compare(texts), left) == ([], [])
    assert frames.runs["identity"].n_unique() == 24
    assert frames.runs["ended_at"].n_unique() > 12
    # The sum of reads and writes is printed as 0, and a heading names a wrong unit.
    assert frames.diagnostics["log"].unique().to_list() == [8, 9, 10, 11, 20, 21, 22, 23]


def test_fio_in_other_units_and_with_other_buckets() -> None:
    rng = random.Random(10)
    text = (fio_logs.DATA / "3.33-three-jobs.txt").read_text(encoding="utf-8")
    texts = [fio_logs.in_other_units(fio_logs.varied(text, rng), rng) for _ in range(60)]
    left = compare(texts)
    assert len(left) < 10  # which have units that nothing else is printed in
    assert parsed(texts) < 40
    lengths = {len(text.splitlines()) for text in texts}
    assert len(lengths) > 2  # so that the same figures stand on other lines


def test_remarks_on_fio_in_other_units_stand_where_they_are_printed() -> None:
    """Lines that only some logs have move the phrases behind them."""
    rng = random.Random(3)
    text = (fio_logs.DATA / "3.33-decimal.txt").read_text(encoding="utf-8")
    texts = [fio_logs.in_other_units(fio_logs.varied(text, rng), rng) for _ in range(30)]
    compare(texts)
    said = clean.read(texts)[0].diagnostics
    assert said["start"].drop_nulls().n_unique() > 1


def test_fio_whose_total_differs_from_its_jobs() -> None:
    rng = random.Random(8)
    text = (fio_logs.DATA / FIO[0]).read_text(encoding="utf-8")
    texts = [fio_logs.varied(text, rng) for _ in range(4)]
    texts[2] = texts[2].replace("io=1984KiB", "io=1985KiB").replace("avg=410", "avg=999410")
    assert compare(texts) == []
    said = clean.read(texts)[0].diagnostics
    assert said["log"].unique().to_list() == [2]
    for figure in ("mean completion_latency of read", "bytes of read"):
        assert said["message"].str.contains(figure).any()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[ 3184]", "[ 3185]"),  # which is the middle of no bin
        ("total=248,264,0,25", "total=248,264,3,25"),
        ("short=0,0", "short=0,1"),
        ("err= 0", "err= 5"),
        ("samples=2", "samples=2400"),  # so that each request is a sample
        ("fio-3.33", "fio-3.25"),
        ("Nov 21", "Nov 31"),
    ],
)
def test_fio_whose_numbers_mean_something_else(old: str, new: str) -> None:
    rng = random.Random(9)
    for file in FIO[:2]:
        text = (fio_logs.DATA / file).read_text(encoding="utf-8")
        texts = [fio_logs.varied(text, rng) for _ in range(6)]
        texts[2:4] = [text.replace(old, new) for text in texts[2:4]]
        texts[5] = texts[5].replace("BW=18.1MiB/s", "BW=18.0MiB/s")
        compare(texts)


def test_fio_that_may_have_lost_its_carry() -> None:
    """Up to fio 3.25 18.0 can be almost 19."""
    rng = random.Random(11)
    text = (fio_logs.DATA / FIO[0]).read_text(encoding="utf-8").replace("fio-3.33", "fio-3.25")
    text = text.replace("19.0MB/s", "19.1MB/s").replace("IOPS=2317", "IOPS=12.3k")
    texts = [fio_logs.varied(text, rng) for _ in range(4)]
    texts[2] = texts[2].replace("IOPS=12.3k", "IOPS=12.0k")
    assert compare(texts) == [2]
