"""At which version or date figures changed: made logs, of which it is known."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit import charts, tables
from fsbench_kit.analysis.trend import trend
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.log import Log
from fsbench_kit.model.records import Run, Setting
from tests.analysis.made import figure

NIGHT = datetime(2026, 3, 1, 2)


def _log(level: str, number: int, at: datetime, **rates: float) -> Log:
    settings = [Setting(key="kernel", value=level, scope="all", origin="environment", line=1)]
    figures = tuple(figure(rate, 0.5, operation=operation) for operation, rate in rates.items())
    return Log(
        source=f"{level}-{number}",
        data=f"{level}{number}{rates}".encode(),
        records=[Run(tool="fio", start=0, end=8, line=1, measurements=figures, settings=tuple(settings))],
        round=number,
        host="h",
        started_at=at,
        ended_at=at + timedelta(minutes=1),
    )


def _nights(levels: Sequence[float], kernels: Mapping[int, str] | None = None) -> fsb.Dataset:
    """Three runs on each night, on the same kernel, or on another one on some nights."""
    noise = np.random.default_rng(1).normal(1, 0.01, (len(levels), 3))
    return assemble(
        _log(
            (kernels or {}).get(night, "6.12"),
            3 * night + run,
            NIGHT + timedelta(days=night, minutes=2 * run),
            read=1000 * level * noise[night, run],
        )
        for night, level in enumerate(levels)
        for run in range(3)
    )


def _kernels(rates: dict[str, float], *, rounds: int = 8) -> fsb.Dataset:
    """Runs of all kernels in turn, in an order that changes from round to round."""
    rng = np.random.default_rng(2)
    logs, at = [], NIGHT
    for number in range(1, rounds + 1):
        for level in rng.permutation(list(rates)):
            at += timedelta(minutes=2)
            logs.append(_log(str(level), number, at, read=1000 * rates[str(level)] * rng.normal(1, 0.01)))
    return assemble(logs)


def test_of_many_nights_the_change_is_found_with_its_size_and_place() -> None:
    found = trend(_nights([1.0] * 12 + [0.85] * 8), "date")
    (change,) = found.changes.to_dicts()
    assert (change["before"], change["since"]) == ("2026-03-12", "2026-03-13")
    assert change["earliest"] <= "2026-03-13" <= change["latest"]
    assert change["ci_low"] < 0.85 < change["ci_high"]
    assert change["verdict"] == "worse"
    (said,) = tables.trend_findings(found)
    assert said.startswith("Since 2026-03-13, ")
    assert "15\N{NO-BREAK SPACE}% slower than before" in said
    assert "8 dates against 12" in said


def test_a_place_that_is_not_sure_is_said_with_its_reach() -> None:
    levels = [1.0 + 0.03 * (-1) ** night for night in range(14)]
    found = trend(_nights([*levels, *(0.93 * level for level in levels)]), "date")
    (change,) = found.changes.to_dicts()
    assert change["earliest"] < change["latest"]
    assert f"any date from {change['earliest']} to {change['latest']}" in tables.trend_findings(found)[0]


def test_nights_that_only_vary_have_no_change() -> None:
    noise = np.random.default_rng(3)
    false = [trend(_nights(noise.normal(1, 0.05, 20)), "date").changes.height for _ in range(10)]
    assert sum(false) == 0


def test_of_few_kernels_each_is_compared_with_the_one_before_in_the_order_of_versions() -> None:
    found = trend(_kernels({"6.6": 1.0, "6.9": 1.0, "6.12": 0.8, "6.15": 0.8}), "kernel")
    assert found.levels == ["6.6", "6.9", "6.12", "6.15"]
    (change,) = found.changes.to_dicts()
    assert (change["before"], change["since"], change["verdict"]) == ("6.9", "6.12", "worse")
    assert tables.trend_findings(found)[0].startswith("Since kernel 6.12, read is 20")
    assert [row["level"] for row in found.course.to_dicts() if row["ratio"] == 1.0] == ["6.6"]
    drawn = charts.trend_lines(found).to_dict()
    assert drawn["spec"]["layer"][0]["encoding"]["x"]["scale"]["domain"] == found.levels


def test_commits_go_by_when_their_runs_began() -> None:
    found = trend(_kernels({"6.6": 1.0, "6.9": 1.0, "6.12": 1.0}), "kernel")
    assert tables.trend_findings(found) == ["The runs show no change from kernel 6.6 to 6.12."]
    later = ["0a1b2c3d4e5f", "f00dfacec0de", "77aa77bb77cc"]  # which sorted by name would be others
    logs = [
        _log(commit, number, NIGHT + timedelta(days=night, minutes=number), read=1000.0 + number)
        for night, commit in enumerate(later)
        for number in (1, 2, 3)
    ]
    assert trend(assemble(logs), "kernel").levels == later


def test_an_effect_that_the_first_levels_lack_has_a_course_and_changes_of_its_own() -> None:
    """It is written from the fourth night on, and slower from the 16th."""
    noise = np.random.default_rng(4).normal(1, 0.01, (24, 3))
    logs = [
        _log("6.12", 3 * night + run, NIGHT + timedelta(days=night, minutes=run), read=1000 * part, **written)
        for night, parts in enumerate(noise)
        for run, part in enumerate(parts)
        for written in [{"write": (500 if night < 15 else 400) * part} if night >= 3 else {}]
    ]
    found = trend(assemble(logs), "date")
    course = found.course.filter(operation="write")
    assert course["level"].to_list() == found.levels[3:]
    assert course["ratio"][0] == 1.0
    (said,) = tables.trend_findings(found)
    assert said.startswith("Since 2026-03-16, write is 20\N{NO-BREAK SPACE}% slower than before")


def test_levels_that_have_no_cell_in_common_have_no_trend() -> None:
    logs = [
        _log(kernel, run, NIGHT + timedelta(days=day, minutes=run), **{operation: 1000.0 + run})
        for day, (kernel, operation) in enumerate([("6.6", "read"), ("6.9", "write"), ("6.12", "fsync")])
        for run in range(3)
    ]
    found = trend(assemble(logs), "kernel")
    assert tables.trend_findings(found) == []
    assert charts.trend_lines(found).description.startswith("The factor has no order")


@pytest.mark.parametrize("factor", ["kernel", "date"])
def test_two_levels_are_a_comparison_and_no_trend(factor: str) -> None:
    assert trend(_nights([1.0, 0.5]), factor).levels == []


TWELVE_AND_EIGHT = [1.0] * 12 + [0.85] * 8


@pytest.mark.parametrize("night", [0, 5, 19])
def test_a_night_of_another_kernel_hides_no_change_of_others(night: int) -> None:
    found = trend(_nights(TWELVE_AND_EIGHT, {night: "6.6"}), "date")
    (change,) = found.changes.to_dicts()
    assert (change["since"], change["verdict"], change["reasons"]) == ("2026-03-13", "worse", [])
    assert tables.trend_findings(found)[0].endswith("8 dates against 12).")


def test_what_else_differs_at_a_change_is_said_and_there_is_no_verdict() -> None:
    found = trend(_nights(TWELVE_AND_EIGHT, dict.fromkeys(range(12), "6.6")), "date")
    (change,) = found.changes.to_dicts()
    assert (change["verdict"], change["reasons"]) == ("not comparable", ["CONFIG_MISMATCH"])
    assert change["footnotes"] == ["kernel differs: 6.6 against 6.12."]
    (said,) = tables.trend_findings(found)
    assert said.startswith("Since 2026-03-13, ")
    assert said.endswith("There is no verdict: kernel differs: 6.6 against 6.12.")


def test_so_it_is_of_few_levels() -> None:
    """The fourth night is another kernel's as well; the second is, too, and as fast as those about it."""
    kernels = {1: "6.1", **dict.fromkeys((0, 2), "6.6")}
    found = trend(_nights([1.0, 1.0, 1.0, 0.85, 0.85], kernels), "date")
    (change,) = found.changes.to_dicts()
    assert (change["before"], change["since"]) == ("2026-03-03", "2026-03-04")
    assert (change["verdict"], change["reasons"]) == ("not comparable", ["CONFIG_MISMATCH"])
    (said,) = tables.trend_findings(found)
    assert said.startswith("Since 2026-03-04, ")
    assert "There is no verdict: kernel differs: 6.6 against 6.12." in said


@pytest.mark.parametrize(("night", "dates"), [(0, "8 dates against 11"), (15, "7 dates against 12")])
def test_a_level_in_doubt_takes_no_part_and_others_do(night: int, dates: str) -> None:
    """The log of its first run contradicts itself."""
    own = _nights(TWELVE_AND_EIGHT)
    said = {"severity": "warning", "code": "FIGURES_DISAGREE", "message": "IOPS and bandwidth disagree."}
    doubt = (
        own.runs.filter(source=f"6.12-{3 * night}")
        .select("source", "line", **{name: pl.lit(text) for name, text in said.items()})
        .cast({name: own.diagnostics.schema[name] for name in said})
    )
    diagnostics = pl.concat([own.diagnostics, doubt], how="diagonal")
    found = trend(replace(own, diagnostics=diagnostics), "date")
    (change,) = found.changes.to_dicts()
    assert (change["since"], change["verdict"]) == ("2026-03-13", "worse")
    assert dates in tables.trend_findings(found)[0]


def test_a_first_level_that_failed_to_do_anything_hides_no_change() -> None:
    found = trend(_nights([0.0, *TWELVE_AND_EIGHT]), "date")
    (change,) = found.changes.to_dicts()
    assert (change["before"], change["since"]) == ("2026-03-13", "2026-03-14")
    assert change["n_baseline"] == 12
