"""Maps of ratios: what is not measured is empty, and never a zero."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
import vl_convert

from fsbench_kit import charts
from fsbench_kit.model.errors import RequestError
from tests.charts.specs import HOSTILE, data_of, explained_of, heading_of, spec_of

Compare = Callable[..., pl.DataFrame]
KIB, MIB = 2**10, 2**20


def _tile(record: int, file: int, ratio: float | None, **more: Any) -> dict[str, Any]:
    return {"tool": "iozone", "block_size": record, "file_size": file, "ratio": ratio, **more}


def test_tiles_that_were_not_measured_are_empty_and_counted(comparison: Compare) -> None:
    rows = comparison(_tile(4 * KIB, MIB, 2.0), _tile(8 * KIB, MIB, 0.5), _tile(8 * KIB, 2 * MIB, 1.0))
    spec = spec_of(charts.ratio_map(rows))
    tiles = {(row["down"], row["across"]): (row["shade"], row["text"]) for row in data_of(spec)}
    assert tiles == {
        ("4 KiB", "1 MiB"): (1.0, "2.00"),
        ("8 KiB", "1 MiB"): (-1.0, "0.50"),
        ("8 KiB", "2 MiB"): (0.0, "1.00"),
        ("4 KiB", "2 MiB"): (None, None),
    }
    assert "× marks what was not measured (1 of 4)." in explained_of(spec)
    drawn = vl_convert.vegalite_to_svg(spec)
    assert (drawn.count(">×<"), drawn.count(">null<")) == (1, 0)
    assert "file size 2 MiB, record size 4 KiB: not measured" in spec["description"]


def test_in_a_narrow_tile_a_ratio_has_four_letters_at_most(comparison: Compare) -> None:
    ratios = (0.0418, 9.99, 27.14, 462.0)
    spec = spec_of(
        charts.ratio_map(comparison(*(_tile(2**n * KIB, MIB, ratio) for n, ratio in enumerate(ratios))))
    )
    wide = vl_convert.vegalite_to_svg(spec)
    narrow = vl_convert.vegalite_to_svg(spec | {"width": 80})
    for long, short in (("0.0418", "0.04"), ("9.99", "9.99"), ("27.1", "27.1"), ("462", "462")):
        assert f">{long}<" in wide
        assert f">{short}<" in narrow
    assert ">0.0418<" not in narrow


def test_the_scale_holds_its_values_and_is_the_same_both_ways_round(comparison: Compare) -> None:
    spec = spec_of(charts.ratio_map(comparison(_tile(4 * KIB, MIB, 256.0), _tile(8 * KIB, MIB, 0.5))))
    colour = spec["layer"][0]["encoding"]["color"]
    assert colour["scale"]["domain"] == pytest.approx([-(8**0.5), 8**0.5])  # log2 of 256 is 8
    assert [row["shade"] for row in data_of(spec)] == pytest.approx([8**0.5, -1])
    assert [row["text"] for row in data_of(spec)] == ["256", "0.50"]
    assert colour["title"] == "xfs as a multiple of ext4"


def test_files_of_one_size_make_one_map_over_record_size_and_operation(comparison: Compare) -> None:
    rows = [_tile(size, MIB, 1.5, operation=name) for size in (512, 4 * KIB) for name in ("write", "random_read")]
    spec = spec_of(charts.ratio_map(comparison(*rows)))
    assert [(row["down"], row["across"]) for row in data_of(spec)] == [
        (name, size) for size in ("512 B", "4 KiB") for name in ("write", "random read")
    ]
    assert (
        heading_of(spec)
        == "Bandwidth: xfs within 5\N{NO-BREAK SPACE}% of ext4 in 0 of 4 cells, ahead in 4, behind in 0"
    )


def test_what_is_lower_is_better_is_ahead_below_1(comparison: Compare) -> None:
    latency = {"metric": "latency", "better": "lower"}
    rows = [_tile(size, MIB, ratio) | latency for size, ratio in ((512, 0.5), (KIB, 0.8), (4 * KIB, 2.0))]
    heading = heading_of(spec_of(charts.ratio_map(comparison(*rows), metric="latency")))
    assert heading == "Latency: xfs within 5\N{NO-BREAK SPACE}% of ext4 in 0 of 3 cells, ahead in 2, behind in 1"


def test_sizes_are_in_the_order_of_their_numbers_and_operations_have_panels(comparison: Compare) -> None:
    sizes = (512, 4 * KIB, 16 * KIB, 2 * MIB)
    rows = [
        _tile(size, file, 1.5, operation=name)
        for size in sizes
        for name in ("write", "random_read")
        for file in (MIB, 2 * MIB)
    ]
    spec = spec_of(charts.ratio_map(comparison(*rows)))
    assert spec["spec"]["layer"][0]["encoding"]["y"]["sort"] == ["2 MiB", "16 KiB", "4 KiB", "512 B"]
    assert spec["facet"]["sort"] == ["write", "random read"]
    assert (
        heading_of(spec)
        == "Bandwidth: xfs within 5\N{NO-BREAK SPACE}% of ext4 in 0 of 16 cells, ahead in 16, behind in 0"
    )


def test_each_matrix_of_a_comparison_has_a_map_and_nothing_else_has(comparison: Compare) -> None:
    sides = [_tile(size, MIB, 1.5, level=level) for level in ("xfs", "zfs") for size in (4 * KIB, 8 * KIB)]
    alone = _tile(4 * KIB, MIB, 1.5, study="other")
    maps = [heading_of(spec_of(chart)) for chart in charts.ratio_maps(comparison(*sides, alone))]
    assert [text.partition(" within")[0] for text in maps] == ["Bandwidth: xfs", "Bandwidth: zfs"]


def test_two_figures_for_one_tile_are_an_error(comparison: Compare) -> None:
    with pytest.raises(RequestError, match="the same record size and file size"):
        charts.ratio_map(comparison(_tile(4 * KIB, MIB, 2.0), _tile(4 * KIB, MIB, 3.0, threads=8)))


def test_without_sizes_there_is_nothing_to_draw(comparison: Compare) -> None:
    assert "No ratio of Bandwidth" in str(charts.ratio_map(comparison({"file_size": None})).to_dict())


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_logs_are_data(comparison: Compare, name: str) -> None:
    chart = charts.ratio_map(comparison(_tile(4 * KIB, MIB, 2.0, level=name), _tile(4 * KIB, MIB, 2.0)))
    assert vl_convert.vegalite_to_svg(chart.to_dict()).startswith("<svg")
