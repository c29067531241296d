"""Logs whose lines were broken at a fixed width, by a mail at spaces or by a terminal anywhere."""

import textwrap
from collections.abc import Callable

import pytest

from fsbench_kit.documents.repair import repair
from fsbench_kit.formats.text import Text
from tests.damage import LOGS, figures, intact, invented, lost_in_silence, read

WIDTHS = (72, 76, 80)


def by_mail(log: str, width: int) -> str:
    wrap = textwrap.TextWrapper(
        width, drop_whitespace=True, replace_whitespace=False, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join("\n".join(wrap.wrap(line)) for line in log.split("\n"))


def by_terminal(log: str, width: int) -> str:
    return "\n".join(
        "\n".join(line[at : at + width] for at in range(0, max(len(line), 1), width)) for line in log.split("\n")
    )


@pytest.mark.parametrize("name", LOGS)
def test_no_figure_is_invented_nor_lost_in_silence(name: str) -> None:
    log = LOGS[name].read_text(encoding="utf-8")
    for broken in {wrap(log, width) for wrap in (by_mail, by_terminal) for width in WIDTHS} - {log}:
        damaged = read(broken.encode())
        assert invented(name, damaged) == [], broken
        assert lost_in_silence(name, damaged) == [], broken


@pytest.mark.parametrize(
    ("wrap", "least"),
    [
        (by_mail, {"fio_json": 1, "fio_normal": 1, "fio_terse": 0.85, "iozone": 0.95, "sysbench": 1}),
        (by_terminal, {"fio_json": 1, "fio_normal": 0.9, "fio_terse": 1, "iozone": 0.9, "sysbench": 1}),
    ],
)
def test_most_figures_are_recovered(wrap: Callable[[str, int], str], least: dict[str, float]) -> None:
    for format_name, share in least.items():
        names = [name for name in LOGS if name.startswith(f"{format_name}/")]
        whole = [figures(intact(name)) for name in names]
        broken = [
            figures(read(wrap(LOGS[name].read_text(encoding="utf-8"), width).encode()))
            for width in (72, 80)
            for name in names
        ]
        right = sum((one & other).total() for one, other in zip(whole * 2, broken, strict=True))
        assert right >= share * sum(one.total() for one in whole * 2), format_name


def test_rows_of_one_width_are_not_wrapped() -> None:
    rows = "\n".join(f"{n:>72}" for n in range(9)) + "\n"
    assert repair(Text(rows))[1] == []
