"""The noise budget as stacked bars."""

import itertools

import polars as pl
import pytest
import vl_convert

from fsbench_kit import charts
from fsbench_kit.analysis.variance_components import BETWEEN, COLUMNS, LEVELS, WITHIN
from tests.charts.specs import HOSTILE, data_of, explained_of, heading_of, spec_of


def _noise(*shares: tuple[str, float], operation: str = "write", study: str = "s") -> pl.DataFrame:
    rows = [
        {
            "study": study,
            "tool": "fio",
            "operation": operation,
            "metric": "bandwidth",
            "statistic": "value",
            "source": source,
            "share": share,
            "variance": share / 100,
        }
        for source, share in shares
    ]
    return pl.DataFrame(rows, schema=COLUMNS)


THREE = ((WITHIN, 0.2), (BETWEEN, 0.5), (LEVELS, 0.3))


def test_shares_lie_end_to_end() -> None:
    rows = data_of(spec_of(charts.variance_shares(_noise(*THREE))))
    assert [(row["source"], row["start"], row["end"]) for row in rows] == [
        (WITHIN, pytest.approx(0.0), pytest.approx(0.2)),
        (BETWEEN, pytest.approx(0.2), pytest.approx(0.7)),
        (LEVELS, pytest.approx(0.7), pytest.approx(1.0)),
    ]


def test_the_title_says_where_most_of_it_lies() -> None:
    both = pl.concat([_noise(*THREE), _noise((BETWEEN, 0.1), (LEVELS, 0.9), operation="read")])
    spec = spec_of(charts.variance_shares(both))
    assert heading_of(spec) == "Most of the variation lies between runs in 1, between groups in 1 of 2 cells"
    assert "variation within runs is unknown" not in explained_of(spec)


def test_without_series_the_inside_of_runs_is_said_to_be_unknown() -> None:
    assert "variation within runs is unknown" in explained_of(
        spec_of(charts.variance_shares(_noise((BETWEEN, 1.0))))
    )


def test_sources_differ_in_lightness() -> None:
    bars = spec_of(charts.variance_shares(_noise(*THREE)))["layer"][0]
    colours = bars["encoding"]["color"]["scale"]["range"]
    lightness = [int(colour[1:3], 16) for colour in colours]
    assert lightness == sorted(lightness, reverse=True)
    assert min(a - b for a, b in itertools.pairwise(lightness)) > 50


def test_no_cell_with_repeats_is_said() -> None:
    assert "No cell has two runs" in str(charts.variance_shares(_noise()).to_dict())


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_logs_are_data(name: str) -> None:
    rows = pl.concat([_noise(*THREE, study=name), _noise(*THREE)])
    assert vl_convert.vegalite_to_svg(charts.variance_shares(rows).to_dict()).startswith("<svg")
