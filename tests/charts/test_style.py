"""What all charts share: colours, and heads of panels that are not cut."""

import re

import altair as alt
import polars as pl
import pytest
import vl_convert

from fsbench_kit.charts.style import captions, distinguished, panels


def test_a_filesystem_has_the_same_colour_everywhere() -> None:
    def colours(*levels: str) -> dict[str, str]:
        scale = distinguished(levels)["color"].to_dict()["scale"]
        return dict(zip(scale["domain"], scale["range"], strict=True))

    assert colours("xfs", "ext4")["ext4"] == colours("ext4", "zfs", "mine")["ext4"] == colours("EXT4")["EXT4"]
    strangers = colours("a", "b", "c", "ext4", "xfs")
    assert len(set(strangers.values())) == 5


@pytest.mark.usefixtures("_as_in_a_notebook")
def test_the_symbols_of_a_legend_are_as_strong_as_marks_where_none_overlap() -> None:
    points = alt.Chart(pl.DataFrame({"level": ["ext4", "xfs"], "x": [1, 2]})).mark_point(filled=True, opacity=0.5)
    drawn = vl_convert.vegalite_to_svg(
        points.encode(x="x:Q", color=distinguished(["ext4", "xfs"])["color"]).to_dict()
    )
    legend = re.findall(r"role-legend-symbol.*?</g>", drawn)
    assert len(legend) == 2
    assert all('opacity="1"' in symbol for symbol in legend)


def test_a_long_head_of_a_panel_is_broken_at_its_commas() -> None:
    names = ["short", "Bandwidth, bonnie++, read char, file size 1.06 GiB, in MiB/s", 'it\'s "quoted" \\ ${1}']
    points = alt.Chart(pl.DataFrame({"panel": names, "x": [1, 2, 3]})).mark_point().encode(x="x:Q")
    drawn = vl_convert.vegalite_to_svg(panels(points, names, captions("", [], ""), height=20).to_dict())
    for line in ("short", "Bandwidth, bonnie++, read char,", "file size 1.06 GiB, in MiB/s", "quoted"):
        assert line in drawn
    assert "…" not in drawn


def test_a_legend_of_many_levels_is_no_wider_than_a_page() -> None:
    few, many = (distinguished([f"fs{n:02}" for n in range(number)])["color"]["legend"] for number in (6, 40))
    assert few["columns"] is alt.Undefined
    assert many["columns"] > 1
    assert many["columns"] * 4 * 8 < 330  # a phone's width: names of four letters
    assert many["symbolLimit"] == 0
