"""Logs that are read together say what each says alone, and cost little more than their text."""

import copy
import json
import random
import re
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fsbench_kit as fsb
from benchmarks.inputs import json_plus, without_bins
from fsbench_kit.data import batches
from fsbench_kit.formats import FORMATS, fio_formats, fio_json, fio_terse
from fsbench_kit.formats.fio_columns import frames, lots
from fsbench_kit.formats.fio_json import alike, kinds
from tests.formats import bonnie_logs, iozone_logs, sysbench_logs

DATA = Path(__file__).parents[1] / "data"
OF_RUNS = ("runs", "settings", "measurements", "distributions", "series")


def undamaged_logs(folder: Path, number: int = 24) -> None:
    """Write logs of three tools, which agree with themselves."""
    rng = random.Random(3)
    bonnie = (DATA / "bonnie" / "1.97-report.txt").read_text()
    iozone = (DATA / "iozone" / "3.489-mmap-cpu.txt").read_text()
    for index in range(number):
        reads, writes = rng.randrange(10_000, 900_000), rng.randrange(10_000, 900_000)
        text = (
            sysbench_logs.log("1.1", reads, writes, rng.uniform(50, 90), rng.uniform(1, 9)),
            bonnie_logs.varied(bonnie, rng),
            iozone_logs.varied(iozone, rng),
        )[index % 3]
        (folder / f"{index:03}.txt").write_text(text)


def mixed_logs(folder: Path) -> None:
    """Write undamaged logs, and among them one that was cut off, one with a command, and a copy."""
    undamaged_logs(folder)
    first, second, other = (folder / f"{index:03}.txt" for index in (0, 1, 3))
    first.write_text(first.read_text()[:900])
    other.write_text(f"$ sysbench fileio run\n{other.read_text()}")
    (folder / "copy.txt").write_text(second.read_text())


def test_a_folder_says_what_each_of_its_files_says(tmp_path: Path) -> None:
    mixed_logs(tmp_path)
    together = fsb.read(tmp_path)
    (tmp_path / "copy.txt").unlink()
    alone = [fsb.read(path) for path in sorted(tmp_path.iterdir())]
    for name in OF_RUNS:
        assert_frame_equal(together.frames[name], pl.concat([data.frames[name] for data in alone]))
    said = together.diagnostics.filter(pl.col("code") != "SAME_RUN")
    assert_frame_equal(said, pl.concat([data.diagnostics for data in alone]))
    assert "INCOMPLETE_LOG" in said["code"].to_list()
    assert "sysbench fileio run" in together.settings.filter(key="command")["value"].to_list()
    (copy,) = together.diagnostics.filter(code="SAME_RUN").iter_rows(named=True)
    assert copy["source"] == str(tmp_path / "copy.txt")


def test_undamaged_logs_are_read_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A format's `parse` reads an example of each kind, however many logs there are of it."""
    undamaged_logs(tmp_path, 60)
    read: list[str] = []
    for each in FORMATS:
        parse = each.parse
        monkeypatch.setattr(each, "parse", lambda text, parse=parse: read.append(text) or parse(text))
    assert fsb.read(tmp_path).runs.height == 60
    assert len(read) < 20


def test_no_break_spaces_of_web_pages_keep_no_log_from_being_read_with_others(tmp_path: Path) -> None:
    rng = random.Random(7)
    for index in range(6):
        reads, writes = rng.randrange(10_000, 900_000), rng.randrange(10_000, 900_000)
        log = sysbench_logs.log("1.1", reads, writes, rng.uniform(50, 90), rng.uniform(1, 9))
        (tmp_path / f"{index}.txt").write_text(log.replace("    ", "\N{NO-BREAK SPACE} \N{NO-BREAK SPACE} "))
    together = fsb.read(tmp_path)
    alone = [fsb.read(path.read_bytes()) for path in sorted(tmp_path.iterdir())]  # as documents
    for name in OF_RUNS:
        expected = pl.concat([data.frames[name] for data in alone])
        assert_frame_equal(
            together.frames[name].drop("source", strict=False), expected.drop("source", strict=False)
        )
    said = pl.concat([data.diagnostics for data in alone])
    assert_frame_equal(together.diagnostics.drop("source"), said.drop("source"))
    assert said["code"].to_list() == ["REPAIRED_SPACES"] * 6


def test_half_a_no_break_space_keeps_no_other_log_from_being_read(tmp_path: Path) -> None:
    undamaged_logs(tmp_path, 6)
    alone = {path.name: fsb.read(path.read_bytes()) for path in tmp_path.iterdir()}
    first, *_ = sorted(tmp_path.iterdir())
    first.write_bytes(first.read_bytes().replace(b" ", b" \xc2", 1) + b"\xa0\n")
    data = fsb.read(tmp_path)
    assert data.runs.height == sum(each.runs.height for each in alone.values())
    damaged, expected = data.diagnostics.filter(source=str(first)), fsb.read(first.read_bytes()).diagnostics
    assert_frame_equal(damaged.drop("source"), expected.drop("source"))


def test_a_count_that_fits_no_column_keeps_no_other_log_from_being_read(tmp_path: Path) -> None:
    text = (DATA / "fio_normal" / "3.33-decimal.txt").read_text()
    for digits in (18, 20, 21):
        dated = text.replace("2026", f"20{digits}")  # runs of their own
        (tmp_path / f"{digits}.txt").write_text(re.sub(r"samples=\d+", f"samples={'9' * digits}", dated))
    data = fsb.read(tmp_path)
    assert data.runs.height == 3
    assert data.measurements["samples"].drop_nulls().unique().to_list() == [int("9" * 18)]
    unread = data.diagnostics.filter(code="UNREAD_FIGURE")
    assert {Path(source).name for source in unread["source"]} == {"20.txt", "21.txt"}


def test_a_number_beyond_all_counting_keeps_no_other_log_from_being_read(tmp_path: Path) -> None:
    undamaged_logs(tmp_path, 3)
    text = (tmp_path / "000.txt").read_text()
    (tmp_path / "huge.txt").write_text(re.sub(r"(min:\s+)[\d.]+", rf"\g<1>{'9' * 400}", text))
    data = fsb.read(tmp_path)
    assert data.runs.height == 4
    assert "UNREAD_FIGURE" in data.diagnostics.filter(source=str(tmp_path / "huge.txt"))["code"].to_list()


def documents(folder: Path, number: int = 12) -> None:
    """Write documents of fio, of which each has other digits, so that checks fail in most of them."""
    rng = random.Random(7)
    names = ("3.33-grouped.json", "3.33-client.json")
    for index in range(number):
        text = (DATA / "fio_json" / names[index % len(names)]).read_text()
        changed = re.sub(r"(?<=: )\d{4,}", lambda figure: f"{figure[0][:-1]}{rng.randrange(10)}", text)
        (folder / f"{index:03}.json").write_text(changed)


def test_documents_that_are_read_together_say_what_each_says_alone(tmp_path: Path) -> None:
    documents(tmp_path)
    first, second = (tmp_path / f"{index:03}.json" for index in (0, 1))
    first.write_text(first.read_text()[:4000])
    second.write_text(f"$ fio --name=load --rw=read job.fio\n{second.read_text()}")
    together = fsb.read(tmp_path)
    alone = [fsb.read(path) for path in sorted(tmp_path.iterdir())]
    for name in OF_RUNS:
        assert_frame_equal(together.frames[name], pl.concat([data.frames[name] for data in alone]))
    said = together.diagnostics.filter(pl.col("code") != "SAME_FIGURES")
    assert_frame_equal(said, pl.concat([data.diagnostics for data in alone]))
    assert {"INCOMPLETE_LOG", "FIGURES_DISAGREE"} <= set(said["code"])


def test_a_wrong_share_is_found_where_another_job_of_the_group_did_nothing(tmp_path: Path) -> None:
    document = json.loads((DATA / "fio_json" / "3.33-grouped.json").read_text())
    (job,) = document["jobs"]
    rate = job["read"]["io_bytes"] / job["read"]["runtime"] * 1000
    idle = copy.deepcopy(job) | {"jobname": "idle"}
    idle["read"] = json.loads(re.sub(r"(?<=: )[\d.]+", "0", json.dumps(idle["read"])))
    for share in (25, 100):
        job["read"] |= {"bw_agg": share, "bw_mean": rate / 1024}
        text = json.dumps(document | {"jobs": [job, idle]}, indent=2, separators=(",", " : "))
        for time in (1, 2):
            told = text.replace(str(document["timestamp_ms"]), str(document["timestamp_ms"] + share + time))
            (tmp_path / f"{share}-{time}.json").write_text(told)
    alone = [fsb.read(path).diagnostics for path in sorted(tmp_path.iterdir())]
    together = fsb.read(tmp_path, cache=False).diagnostics
    wrong = pl.col("message").str.contains("of the group's bandwidth")
    assert pl.concat(alone).filter(wrong)["source"].str.contains("25").to_list() == [True, True]
    assert_frame_equal(together.filter(wrong), pl.concat(alone).filter(wrong))


def test_documents_say_the_same_in_lots_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents(tmp_path)
    undamaged_logs(tmp_path, 6)
    together = fsb.read(tmp_path, cache=False)
    with monkeypatch.context() as patch:
        patch.setattr(alike, "lots", lambda items, size: lots(items, size, 1))
        one_by_one = fsb.read(tmp_path, cache=False)
    for name, frame in together.frames.items():
        assert_frame_equal(one_by_one.frames[name], frame)


def test_what_documents_have_in_common_is_worked_out_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = (
        (DATA / "fio_json" / "3.33-grouped.json").read_text().replace("\n}", '\n, "x" : "%s"\n}' % ("x" * 2**17))
    )
    for number in range(70):  # 9 MB
        (tmp_path / f"{number}.json").write_text(original.replace("1795256190805", f"17952561908{number:02}"))
    made = mock.Mock(side_effect=frames._Collected)
    monkeypatch.setattr(frames, "_Collected", made)
    assert fsb.read(tmp_path, cache=False).runs.height == 70
    assert made.call_count == 1


def test_documents_are_taken_from_the_disk_when_it_is_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = (DATA / "fio_json" / "3.33-grouped.json").read_bytes()
    for number in range(6):
        (tmp_path / f"{number}.json").write_bytes(original.replace(b"1795256190805", b"179525619080%d" % number))
    order: list[str] = []
    take, hashed = batches._beginning, batches._hash

    def taken(descriptor: int, size: int) -> bytes:
        order.append("taken")
        return take(descriptor, size)

    def noted(*span: Any) -> str:
        order.append("read")
        return hashed(*span)

    monkeypatch.setattr(batches, "_beginning", taken)
    monkeypatch.setattr(batches, "_hash", noted)
    monkeypatch.setattr(alike, "lots", lambda items, size: lots(items, size, 1))
    fsb.read(tmp_path, cache=False)
    assert order == ["taken", "read"] * 6


def test_the_text_of_a_document_is_let_go_before_the_next_lot_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    original = (DATA / "fio_json" / "3.33-grouped.json").read_bytes()
    texts = {number: original.replace(b"1795256190805", b"%d" % (1795256190805 + number)) for number in range(6)}
    held: list[int] = []

    def lots_of_one(items: Any, size: Any) -> Any:
        for lot in lots(items, size, 1):
            held.append(len(texts))
            yield lot

    def is_read(number: int, *_: int) -> None:
        del texts[number]

    monkeypatch.setattr(alike, "lots", lots_of_one)
    logs, left = fio_json.together(texts, [*texts], is_read)
    assert logs is not None
    assert logs.runs.height == 6
    assert left == []
    assert held == [6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("reader", "name"), [(fio_json, "fio_json/3.33-grouped.json"), (fio_terse, "fio_terse/3.33-v3-two-jobs.txt")]
)
def test_where_a_report_ends_is_told_with_how_many_lines_end_before(reader: Any, name: str) -> None:
    report = (DATA / name).read_bytes().rstrip()
    told: list[tuple[int, int, int]] = []
    reader.together({3: report + b"\n\n", 5: report}, [3, 5], lambda *some: told.append(some))
    assert told == [(number, len(report), report.count(b"\n")) for number in (3, 5)]
    assert report.count(b"\n") > 0


def test_documents_that_differ_in_their_zeros_are_read_like_one_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands where is found out once, although other blocks are empty in each of them."""
    rng = random.Random(5)
    original = (DATA / "fio_json" / "3.33-grouped.json").read_text()
    for index in range(20):
        zeros = re.sub(r"(?<= : )[1-9]\d{3,5}(?=,)", lambda figure: rng.choice((figure[0], "0")), original)
        time = re.sub(r'(?<="timestamp_ms" : )[^,]*', str(1795256190805 + 10_000 * index), zeros)
        (tmp_path / f"{index:02}.json").write_text(time)
    read = []
    reader = kinds.DocumentKind
    monkeypatch.setattr(alike, "DocumentKind", lambda *given: read.append(given) or reader(*given))
    assert fsb.read(tmp_path).runs.height == 20
    assert len(read) <= 2


def test_documents_with_late_bins_say_together_what_each_says_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bins are looked for in the beginning only, as fio prints them for all jobs or for none."""
    *without, last = json_plus(4).rpartition('"jobname"')
    text = "".join([*map(without_bins, without), last])
    assert text.index('"bins"') > 2 * alike._FIRST_BINS
    for number in range(3):
        time = re.sub(r'(?<="timestamp_ms" : )[^,]*', str(1795256190805 + 10_000 * number), text)
        (tmp_path / f"{number:02}.json").write_text(time)
    together = fsb.read(tmp_path, cache=False)
    assert together.distributions["count"].sum() > 0
    monkeypatch.setattr(fio_json, "together", lambda _, which, *__: (None, [*which]))
    by_themselves = fsb.read(tmp_path, cache=False)
    for name, frame in by_themselves.frames.items():
        assert_frame_equal(together.frames[name], frame)


def test_documents_without_some_figures_say_the_same_in_lots_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a block size is too large to be kept."""
    rng = random.Random(7)
    for index, (key, name) in enumerate(
        product(("io_kbytes", "iops", "total_ios", "bs"), ("grouped", "idleness"))
    ):
        original = (DATA / "fio_json" / f"3.33-{name}.json").read_text()
        for number in range(3 * index, 3 * index + 3):
            end = str(2**63) if key == "bs" else str(rng.randrange(10))
            changed = re.sub(rf'(?<="{key}" : )(\d*)\d|(?<="{key}" : ")\w+', rf"\g<1>{end}", original)
            time = re.sub(r'(?<="timestamp_ms" : )[^,]*', str(1795256190805 + 10_000 * number), changed)
            (tmp_path / f"{number:02}.json").write_text(time)
    together = fsb.read(tmp_path, cache=False)
    monkeypatch.setattr(alike, "lots", lambda items, size: lots(items, size, 1))
    in_lots = fsb.read(tmp_path, cache=False)
    monkeypatch.setattr(fio_json, "together", lambda _, which, *__: (None, [*which]))
    by_themselves = fsb.read(tmp_path, cache=False)
    assert any("too large" in text for text in by_themselves.diagnostics["message"])
    for name, frame in by_themselves.frames.items():
        assert_frame_equal(together.frames[name], frame)
        assert_frame_equal(in_lots.frames[name], frame)


def test_runs_in_three_formats_are_read_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(9)
    original = (DATA / "fio-3.33-normal-json-terse.txt").read_text()
    for index in range(6):
        text = re.sub(r"(?<=\d\.\d{5})\d(?![%\d])", lambda _: str(rng.randrange(1, 10)), original)
        (tmp_path / f"{index}.txt").write_text(re.sub(r"(?<=pid=)\d+", str(1000 + index), text))
    (tmp_path / "6.txt").write_text(original.replace("\n{\n", "\nAnd then: 17 MB/s\n{\n"))
    alone = []
    for path in sorted(tmp_path.iterdir()):
        with path.open("rb") as opened:
            alone.append(fsb.read(opened))
    parsed = []
    for log_format in (fio_json, fio_terse):
        parse = log_format.parse
        monkeypatch.setattr(log_format, "parse", lambda text, parse=parse: parsed.append(text) or parse(text))
    together = fsb.read(tmp_path, cache=False)
    assert {Path(text.source).name for text in parsed} == {"6.txt"}  # with a sentence in it
    for name in OF_RUNS:
        each = pl.concat([data.frames[name] for data in alone])
        assert_frame_equal(together.frames[name].drop("run_id"), each.drop("run_id"))
    said = together.diagnostics.filter(pl.col("code") != "SAME_FIGURES")
    assert_frame_equal(said, pl.concat([data.diagnostics for data in alone]))


def test_lines_beside_documents_say_together_what_each_says_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a direction, a statistic or a bucket is empty, or a percentile is none that fio can print."""
    rng = random.Random(4)
    text = (DATA / "fio-3.33-normal-json-terse.txt").read_text()
    (line,) = re.findall(r"^[3-5];fio-.*$", text, re.MULTILINE)[-1:]
    for index in range(24):
        fields = line.split(";")
        for at in rng.sample(range(5, len(fields)), rng.choice((1, 2, 40))):
            odd = rng.choice(("0", "0", "7", "123", "nan", "5.", "12345678901234567890"))
            fields[at] = re.sub(r"(?<!=)\d[\d.]*(?=%?\Z)|(?<==)\d+", odd, fields[at])
        changed = re.sub(r"(?<=pid=)\d+", str(1000 + index), text.replace(line, ";".join(fields)))
        (tmp_path / f"{index:02}.txt").write_text(changed)
    fsb.read(DATA / "fio-3.33-normal-json-terse.txt", cache=False)  # whose layout is known from now on
    together = fsb.read(tmp_path, cache=False)
    monkeypatch.setattr(fio_formats, "may_hold", lambda _: False)
    alone = fsb.read(tmp_path, cache=False)
    for name in OF_RUNS:
        assert_frame_equal(together.frames[name], alone.frames[name])
    assert sorted(map(repr, together.diagnostics.rows())) == sorted(map(repr, alone.diagnostics.rows()))
    assert {"UNREAD_FIGURE", "FIGURES_DISAGREE"} <= set(alone.diagnostics["code"])


def test_documents_that_differ_in_their_numbers_say_together_what_each_says_by_itself(tmp_path: Path) -> None:
    """Also where a percentile or bin is none, a figure is 0 or too large, or a number has no place."""
    documents(tmp_path, 8)
    original = (DATA / "fio_json" / "3.33-grouped.json").read_text()
    original = original.replace('"ctx" : ', '"novelty" : 3,\n      "ctx" : ')
    numbers = ("0", "7", "7.5", "5.", ".5", "1.2.3", "1e3", "12345678901234567")
    for index, (key, odd) in enumerate(product(("runtime", "N", "99.000000", "iops", "novelty"), numbers)):
        changed = re.sub(rf'(?<="{key}" : )[1-9][0-9.]*', odd, original)
        time = re.sub(r'(?<="timestamp_ms" : )[^,]*', str(1795256190805 + 10_000 * index), changed)
        (tmp_path / f"odd-{index:02}.json").write_text(time)
    together = fsb.read(tmp_path)
    alone = []
    for path in sorted(tmp_path.iterdir()):
        with path.open("rb") as opened:
            alone.append(fsb.read(opened))
    for name in OF_RUNS:
        each = pl.concat([data.frames[name] for data in alone])
        assert_frame_equal(together.frames[name].drop("run_id"), each.drop("run_id"))
    said = together.diagnostics.filter(pl.col("code") != "SAME_FIGURES")
    assert_frame_equal(said, pl.concat([data.diagnostics for data in alone]))
    assert {"UNREAD_FIGURE", "FIGURES_DISAGREE"} <= set(said["code"])
