"""Of a dataset on disk a comparison reads what it needs, and says what it says of the whole."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fsbench_kit as fsb
from fsbench_kit.analysis.needed import needed
from fsbench_kit.data.assembly import assemble
from fsbench_kit.model.errors import RequestError
from tests.analysis.made import figure, runs


@pytest.fixture(scope="module")
def folder(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset in parts of studies of all tools, which one machine made again."""
    folder = tmp_path_factory.mktemp("data") / "history"
    fsb.ingest(root / "raw_results", to=folder)
    return folder


@pytest.fixture(scope="module")
def whole(folder: Path) -> fsb.Dataset:
    return fsb.read(folder)


@pytest.mark.parametrize(
    ("factor", "options"),
    [
        ("filesystem", {}),
        ("filesystem", {"metrics": ["elapsed_with_sync"], "where": {"tool": "smallfiles"}}),
        ("filesystem", {"where": {"study": ["sysbench-rhel72", "raid1-hdd-2020"], "tool": "sysbench"}}),
        ("pattern", {"metrics": "iops"}),
        ("block_size", {"where": {"filesystem": ["ext4", "xfs"]}}),
        ("filesystem", {"metrics": ["bandwidth"], "where": {"operation": ["delete", "read", "seek"]}}),
    ],
)
def test_it_says_what_it_says_of_the_whole(
    folder: Path, whole: fsb.Dataset, factor: str, options: Mapping[str, object]
) -> None:
    for function in (fsb.compare, fsb.geometric_mean):
        told = function(whole, factor, **options)  # type: ignore[operator]
        assert_frame_equal(function(fsb.scan(folder), factor, **options), told)  # type: ignore[operator]
        assert told.height


def test_disks_that_only_figures_name_set_groups_apart(tmp_path: Path) -> None:
    data = assemble(
        log
        for filesystem, disk in (("ext4", "sda"), ("xfs", "sdb"))
        for log in runs(
            filesystem, [[figure(100.0), figure(1.0, metric="utilisation", scope="disk", part=disk)]] * 3
        )
    )
    data.write(tmp_path)
    told = fsb.compare(data)
    assert "sda against sdb" in str(told["footnotes"].to_list()) + str(told["reasons"].to_list()), told.to_dicts()
    assert_frame_equal(fsb.compare(fsb.scan(tmp_path)), told)


def test_no_more_is_read_than_it_needs(folder: Path, whole: fsb.Dataset) -> None:
    read = needed(fsb.scan(folder), "host", ["iops"], {"tool": "fio", "filesystem": "xfs"})
    assert set(read.runs.select("tool", "filesystem").rows()) == {("fio", "xfs")}
    own = whole.filter(tool="fio", filesystem="xfs")
    assert read.runs.height == own.runs.height
    assert 0 < read.measurements.height < own.measurements.height / 2
    assert not read.measurements["statistic"].str.starts_with("p9").any()
    assert read.series.is_empty()
    assert read.distributions.is_empty()
    assert own.distributions.height


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"where": {"filesystem": "xsf"}}, "no figure has filesystem 'xsf'\nDid you mean xfs?"),
        ({"where": {"tool": []}}, "and all of what was chosen"),
        ({"where": {"tool": "sysbench", "filesystem": "reiserfs"}}, "no figure has filesystem 'reiserfs'"),
        ({"metrics": ["bandwith"]}, "'bandwith' is not a metric\nDid you mean bandwidth?"),
        ({"metrics": ["score"]}, "no run has a figure of score\nThe choices are: bandwidth, "),
        ({"where": "xfs"}, "'xfs' chooses no cells"),
        (
            {"metrics": ["bandwidth"], "where": {"operation": "delete"}},
            "no run has a figure of bandwidth\nThe choices are: elapsed, elapsed_with_sync, file_rate.",
        ),
    ],
)
def test_what_cannot_be_met_says_what_can(folder: Path, options: Mapping[str, object], message: str) -> None:
    with pytest.raises(RequestError) as caught:
        fsb.compare(fsb.scan(folder), **options)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_an_error_of_another_tool_is_still_said(tmp_path: Path, published: Path) -> None:
    (tmp_path / "empty.txt").touch()
    fsb.ingest(published / "sysbench-rhel72", tmp_path / "empty.txt", to=tmp_path / "data")
    scan = fsb.scan(tmp_path / "data")
    errors = scan.diagnostics.filter(severity="error").collect()
    assert errors.height == 1
    read = needed(scan, "host", where={"tool": "sysbench"})
    assert read.diagnostics.filter(severity="error").equals(errors)
    assert read.diagnostics.filter(pl.col("severity") != "error").height
