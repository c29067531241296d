"""Logs whose lines were broken at a fixed width, by a mail at spaces or by a terminal anywhere."""

import textwrap
from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest

from benchmarks.robustness import logs
from fsbench_kit.documents import read_document
from fsbench_kit.documents.repair import repair
from fsbench_kit.formats.text import Text
from fsbench_kit.records import Diagnostic, Run

LOGS = logs()


def by_mail(log: str, width: int) -> str:
    wrap = textwrap.TextWrapper(
        width, drop_whitespace=True, replace_whitespace=False, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join("\n".join(wrap.wrap(line)) for line in log.split("\n"))


def by_terminal(log: str, width: int) -> str:
    return "\n".join(
        "\n".join(line[at : at + width] for at in range(0, max(len(line), 1), width)) for line in log.split("\n")
    )


@cache
def _read(log: str) -> tuple[Counter[tuple[object, ...]], Counter[str]]:
    records = list(read_document(log.encode(), "x"))
    figures = Counter(
        (run.tool, m.operation, m.metric, m.statistic, m.state, m.value)
        for run in records
        if isinstance(run, Run)
        for m in run.measurements
    )
    return figures, Counter(record.code for record in records if isinstance(record, Diagnostic))


@pytest.mark.parametrize("width", [72, 76, 80])
@pytest.mark.parametrize("wrap", [by_mail, by_terminal])
@pytest.mark.parametrize("name", LOGS)
def test_a_figure_is_right_or_reported_lost(wrap: Callable[[str, int], str], width: int, name: str) -> None:
    log = LOGS[name].read_text(encoding="utf-8")
    intact, intact_codes = _read(log)
    figures, codes = _read(wrap(log, width))
    is_said = bool(set(codes - intact_codes) - {"REPAIRED_WRAPS", "PROGRESS", "OTHER_TEXT"})
    assert is_said or not figures - intact, sorted(map(str, figures - intact))[:5]
    assert is_said or not intact - figures, sorted(map(str, intact - figures))[:5]


@pytest.mark.parametrize(
    ("wrap", "least"),
    [
        (by_mail, {"fio_json": 1, "fio_normal": 1, "fio_terse": 0.85, "iozone": 0.95, "sysbench": 1}),
        (by_terminal, {"fio_json": 1, "fio_normal": 0.9, "fio_terse": 1, "iozone": 0.9, "sysbench": 1}),
    ],
)
def test_most_figures_are_recovered(wrap: Callable[[str, int], str], least: dict[str, float]) -> None:
    for name, share in least.items():
        logs_of_format = [path.read_text(encoding="utf-8") for path in LOGS.values() if path.parent.name == name]
        read = [(_read(log)[0], _read(wrap(log, width))[0]) for log in logs_of_format for width in (72, 80)]
        right = sum((intact & figures).total() for intact, figures in read)
        assert right >= share * sum(intact.total() for intact, _ in read), name


def test_rows_of_one_width_are_not_wrapped() -> None:
    rows = "\n".join(f"{n:>72}" for n in range(9)) + "\n"
    assert repair(Text(rows))[1] == []
