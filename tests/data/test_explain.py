"""What each part of a file became is told in the file's order, once, and without harm."""

import re
from pathlib import Path

import pytest

from fsbench_kit.data.explain import Stretch, explain
from fsbench_kit.documents import read_document
from fsbench_kit.model.records import Run
from fsbench_kit.tables import explanation

DATA = Path(__file__).parents[1] / "data"
ONE_LINER = "raid1-hdd-2020/fio-randrw-128k-ext4.txt"


def _explained(path: Path) -> list[Stretch]:
    return list(explain(path.read_bytes(), path.name))


def _logs(published: Path) -> list[Path]:
    return sorted([*published.glob("*/*.txt"), *DATA.glob("*/*.txt"), *DATA.glob("*/*.json")])


def test_every_character_is_shown_once_in_order(published: Path) -> None:
    for path in _logs(published):
        lines = path.read_bytes().decode().split("\n")  # a carriage return ends no line
        stretches = _explained(path)
        at = 0
        for stretch in stretches:
            assert stretch.first in (at, at + 1), path
            at = stretch.last
        assert at == len(lines)
        for number in {stretch.first for stretch in stretches if stretch.became}:
            shown = "".join(stretch.text for stretch in stretches if stretch.first == number)
            assert re.sub(r"[\s␍]", "", shown) == re.sub(r"\s", "", lines[number - 1])


def test_every_figure_is_told_once(published: Path) -> None:
    for path in _logs(published):
        runs = [record for record in read_document(path.read_bytes(), path.name) if isinstance(record, Run)]
        told = [words for stretch in _explained(path) for words in stretch.became]
        states = [words for words in told if re.search(r"^[^(]* = .*", words) and not words.startswith("setting ")]
        assert len(states) == sum(len(run.measurements) for run in runs), path
        assert sum(words.startswith("run ") for words in told) == len(runs)


def test_a_figure_with_its_interval_and_run() -> None:
    (stretch,) = (s for s in _explained(DATA / "sysbench" / "1.0.20-seqwr.txt") if "written, MiB/s" in s.text)
    assert stretch.became == ("write bandwidth = 1847.67 MiB/s [1847.665, 1847.675] bs=16384 threads=2",)
    assert stretch.run == 1


def test_a_log_on_one_line_is_told_piece_by_piece(published: Path) -> None:
    first, *_ = pieces = [stretch for stretch in _explained(published / ONE_LINER) if stretch.became]
    assert any(words.startswith("run 1: fio 3.7, read as fio_normal, line 1, ok") for words in first.became)
    (bandwidth,) = (s for s in pieces if "BW=14.5MiB/s" in s.text)
    words = "job randrw: read bandwidth = 14.5 MiB/s [14.45, 14.55] bs=131072 threads=8"
    assert words in bandwidth.became
    second = next(word for word in bandwidth.became if "second printing" in word)
    assert second.startswith("job randrw: read bandwidth = 15.2 MB/s [15.15, 15.25]")
    order = [n for n, stretch in enumerate(pieces) for mark in ("slat (usec)", "cpu") if mark in stretch.text]
    assert order == sorted(order)
    assert len(pieces) > 20


def test_an_article_tells_prose_from_logs(published: Path) -> None:
    log = (published / "sysbench-rhel72" / "rndrd-ext4.txt").read_text()
    article = f"In 2019 we bought 3 machines.\n\n\nThen:\n\n{log}\n\nThat was 18 MiB/s on 4 threads.\n"
    stretches = list(explain(article.encode(), "article"))
    assert stretches[0].run is None
    assert "[OTHER_TEXT]" in stretches[0].became[0]
    assert stretches[1].nothing == "3 lines: part of what is reported above"
    assert any("[OTHER_TEXT]" in words for words in stretches[-2].became)


def test_what_is_broken_is_told_where_it_stands() -> None:
    log = (DATA / "sysbench" / "1.0.20-seqwr.txt").read_text().replace("written, MiB/s:", "wri, ten, MiBs:")
    (stretch,) = (s for s in explain(log.encode(), "x") if "wri, ten" in s.text)
    assert any("[UNREAD_FIGURE]" in words for words in stretch.became)


@pytest.mark.parametrize("data", [b"", b"\x7fELF\0\0", b"no log at all, 12\n"])
def test_what_is_no_log_is_told_as_well(data: bytes) -> None:
    assert [words for stretch in explain(data, "x") for words in stretch.became]


def test_lines_are_narrow_and_harmless(published: Path) -> None:
    hostile = b"\x1b[31mred 12\x1b[0m \x07\x9b31m \xe2\x80\xae\n" + (published / ONE_LINER).read_bytes()
    for line in explanation("x", explain(hostile, "x")):
        assert len(line) <= 100
        assert line.isprintable()
