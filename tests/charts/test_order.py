"""Runs in their order: which are drawn, where they stand, and what is said of them."""

from datetime import datetime
from typing import Any

import pytest

from fsbench_kit import charts
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.log import Log
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.records import Measurement, Run
from tests.charts.specs import data_of, explained_of, heading_of, spec_of


def _run(number: int, filesystem: str, rate: float, *, block_size: int = 4096, **facts: Any) -> Log:
    """Return a log of one run that wrote at a rate, in B/s."""
    figure = Measurement(
        operation="write", metric="bandwidth", value=rate, unit="B/s", text="", line=1, block_size=block_size
    )
    run = Run(tool="fio", start=0, end=9, line=1, filesystem=filesystem, measurements=(figure,))
    return Log(source=f"{number}.txt", data=f"run {number:05}".encode(), records=[run], study="s", **facts)


def _runs(*rates: tuple[str, float]) -> Dataset:
    # The files' names are in the opposite order of the runs.
    return assemble(_run(99 - i, filesystem, rate, order=i) for i, (filesystem, rate) in enumerate(rates, 1))


MIB = 2.0**20


def test_runs_stand_in_the_order_in_which_they_were_made() -> None:
    spec = spec_of(charts.run_order(_runs(("ext4", 100 * MIB), ("xfs", 150 * MIB), ("ext4", 200 * MIB))))
    assert [
        (row["place"], row["level"], row["value"]) for row in sorted(data_of(spec), key=lambda r: r["place"])
    ] == [
        (1, "ext4", 100.0),
        (2, "xfs", 150.0),
        (3, "ext4", 200.0),
    ]
    assert spec["facet"]["sort"] == ["Bandwidth, in MiB/s"]


def test_the_title_names_the_runs_that_vary_most() -> None:
    # ln 2 apart: variance of the logs ln(2)^2/2 = 0.2402, CV sqrt(exp(0.2402) - 1) = 0.521
    dataset = _runs(("ext4", 100 * MIB), ("xfs", 150 * MIB), ("ext4", 200 * MIB), ("xfs", 150 * MIB))
    spec = spec_of(charts.run_order(dataset))
    assert heading_of(spec) == "Runs vary most for ext4: Bandwidth (CV 52\N{NO-BREAK SPACE}%)"
    assert "xfs, Bandwidth: CV 0\N{NO-BREAK SPACE}% over 2 runs." in spec["description"]


def test_without_replicates_a_sentence_stands_for_a_choice_of_dots() -> None:
    said = "There is one run of each kind: how runs vary is unknown"
    dataset = _runs(("ext4", 1.0), ("xfs", 2.0))
    assert heading_of(spec_of(charts.run_order(dataset))) == said  # all of them are drawn
    assert spec_of(charts.run_order(dataset, most=0))["usermeta"] == {"says": [f"{said}."]}


def test_the_time_of_a_run_decides_where_no_order_was_recorded() -> None:
    dataset = assemble(_run(day, "ext4", float(day), started_at=datetime(2024, 5, day)) for day in (3, 1, 2))
    spec = spec_of(charts.run_order(dataset))
    assert [row["value"] for row in sorted(data_of(spec), key=lambda r: r["place"])] == [1, 2, 3]
    assert "in order of execution" in explained_of(spec)


def test_runs_of_unknown_time_are_said_to_stand_in_the_order_of_their_files() -> None:
    spec = spec_of(charts.run_order(assemble([_run(1, "ext4", 5.0), _run(2, "ext4", 6.0)])))
    assert "in the order of the files, as the times of the runs are unknown" in explained_of(spec)


def test_failed_runs_are_left_out_and_said_to_be() -> None:
    spec = spec_of(
        charts.run_order(
            assemble(
                [
                    _run(1, "ext4", 5.0, order=1),
                    _run(2, "ext4", 9.0, status="failed"),
                    _run(3, "ext4", 6.0, order=3),
                ]
            )
        )
    )
    assert [row["value"] for row in data_of(spec)] == [5.0, 6.0]
    assert "Left out: runs that failed or are partial." in explained_of(spec)


def test_the_cells_that_vary_most_are_kept() -> None:
    figures = [(4096, 10.0), (4096, 20.0), (8192, 10.0), (8192, 11.0)]
    logs = [_run(i, "ext4", rate, block_size=size, order=i) for i, (size, rate) in enumerate(figures)]
    spec = spec_of(charts.run_order(assemble(logs), most=1))
    assert spec["facet"]["sort"] == ["block size 4 KiB, in B/s"]
    assert "Shown: 1 of 2 cells." in explained_of(spec)


def test_a_metric_that_no_run_has_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(RequestError) as caught:
        charts.run_order(_runs(("ext4", 1.0)), "iops")
    assert "bandwidth" in str(caught.value)


def test_of_too_many_runs_an_even_share_of_each_group_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fsbench_kit.charts.order.MOST_ROWS", 10)
    rates = [("xfs" if i % 4 else "ext4", (100 + i) * MIB) for i in range(24)]
    spec = spec_of(charts.run_order(_runs(*rates)))
    drawn = {level: [row["place"] for row in data_of(spec) if row["level"] == level] for level in ("ext4", "xfs")}
    assert drawn == {"ext4": [1, 13], "xfs": [2, 6, 10, 14, 18, 22]}
    assert "Shown: one in 3 runs of each cell and group." in explained_of(spec)
