"""Small multiples: a panel for each value of a second factor."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from fsbench_kit import charts
from fsbench_kit.model.errors import RequestError
from tests.charts.specs import explained_of, heading_of, spec_of

Compare = Callable[..., pl.DataFrame]


def _rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    (rows,) = spec["datasets"].values()
    return list(rows)


def test_each_value_of_the_second_factor_has_a_panel_in_the_order_of_numbers(comparison: Compare) -> None:
    rows = [
        {"block_size": 2**size, "operation": operation, "ratio": size / 10}
        for size in (20, 9, 14)
        for operation in ("read", "write")
    ]
    spec = spec_of(charts.small_multiples(comparison(*rows), title="Mine"))
    assert spec["facet"]["sort"] == ["block size 512 B", "block size 16 KiB", "block size 1 MiB"]
    assert {(row["panel"], row["name"], row["filled"]) for row in _rows(spec)} == {
        (panel, operation, ratio)
        for panel, ratio in (("block size 512 B", 0.9), ("block size 16 KiB", 1.4), ("block size 1 MiB", 2.0))
        for operation in ("read", "write")
    }
    assert heading_of(spec) == "Mine"
    by_operation = spec_of(charts.small_multiples(comparison(*rows), by="operation"))
    assert by_operation["facet"]["sort"] == ["read", "write"]


def test_depths_are_numbers_though_they_are_told_as_text(comparison: Compare) -> None:
    rows = comparison(*({"iodepth": depth} for depth in ("16", "2", "1")))
    assert spec_of(charts.small_multiples(rows))["facet"]["sort"] == ["iodepth 1", "iodepth 2", "iodepth 16"]


def test_further_right_is_better_and_what_has_no_verdict_is_hollow(comparison: Compare) -> None:
    times = {"metric": "latency", "better": "lower", "ratio": 0.5, "ci_low": 0.4, "ci_high": 0.8}
    rows = comparison(
        times | {"threads": 1}, times | {"threads": 2, "verdict": "not comparable", "reasons": ["CACHED"]}
    )
    one, two = _rows(spec_of(charts.small_multiples(rows)))
    assert (one["filled"], one["hollow"], one["low"], one["high"]) == (2.0, None, 1.25, 2.5)
    assert (two["filled"], two["hollow"]) == (None, 2.0)


def test_very_many_effects_are_summarised_by_their_median_and_range(
    comparison: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [
        {"threads": threads, "block_size": 2**size, "operation": operation, "ratio": size / 10}
        for threads in (1, 2)
        for operation in ("read", "write")
        for size in (5, 10, 20)
    ]
    whole = spec_of(charts.small_multiples(comparison(*sizes), by="threads"))
    assert len(_rows(whole)) == 12
    monkeypatch.setattr("fsbench_kit.charts.multiples.MOST_ROWS", 11)
    spec = spec_of(charts.small_multiples(comparison(*sizes), by="threads"))
    assert {(row["panel"], row["name"], row["hollow"], row["low"], row["high"]) for row in _rows(spec)} == {
        (f"threads {threads}", operation, 1.0, 0.5, 2.0) for threads in (1, 2) for operation in ("read", "write")
    }
    assert "median of a row's effects" in explained_of(spec)
    assert "3 effects: 1.00 (0.50 to 2.00) times as good" in str(spec)


def test_a_comparison_of_any_size_is_drawn(comparison: Compare) -> None:
    rows = comparison(
        *(
            {"level": f"fs{level}", "operation": operation, "block_size": size, "ratio": 1 + level / 3000}
            for level in range(2600)
            for operation in ("read", "write")
            for size in (512, 1024)
        )
    )
    assert rows.height == 10_400
    data = _rows(spec_of(charts.small_multiples(rows, by="block_size")))
    assert {(row["panel"], row["name"], row["level"]) for row in data} == {
        (panel, operation, "all")
        for panel in ("block size 512 B", "block size 1 KiB")
        for operation in ("read", "write")
    }


def test_what_cannot_be_drawn_in_panels_is_said(comparison: Compare) -> None:
    rows = comparison({"block_size": 512}, {"block_size": 1024})
    with pytest.raises(RequestError, match="'blocksize' has no two values") as told:
        charts.small_multiples(rows, by="blocksize")
    assert "block_size" in str(told.value)
    many = comparison(*({"block_size": 512 * (number + 1)} for number in range(25)))
    with pytest.raises(RequestError, match="25 panels are too many"):
        charts.small_multiples(many)
    assert "Nothing but the factor differs" in str(spec_of(charts.small_multiples(comparison({}))))
    assert "has a ratio" in str(spec_of(charts.small_multiples(comparison({"ratio": None}))))
