"""Records become frames whose keys hold, and frames become files."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from fsbench_kit.dataset import FIGURE_KEY, Dataset, Log, assemble
from fsbench_kit.errors import RequestError
from fsbench_kit.records import Block, Measurement, Run


def _measurement(text: str, **changes: object) -> Measurement:
    facts = {"operation": "read", "metric": "iops", "value": float(text), "unit": "1/s", "text": text, "line": 1}
    return Measurement(**(facts | changes))  # type: ignore[arg-type]


def _dataset(*measurements: Measurement, blocks: tuple[Block, ...] = ()) -> Dataset:
    run = Run(tool="fio", start=0, end=3, line=1, measurements=measurements)
    return assemble([Log(source="a.txt", data=b"abc", records=[run, *blocks])])


def test_a_figure_that_stands_twice_is_primary_once() -> None:
    data = _dataset(_measurement("1"), _measurement("2", line=7))
    assert data.measurements["primary"].to_list() == [True, False]
    (diagnostic,) = data.diagnostics.iter_rows(named=True)
    assert diagnostic["code"] == "DUPLICATE_FIGURE"
    assert diagnostic["line"] == 7
    assert diagnostic["message"] == "iops (value) of read stands twice: 1 on line 1, and 2."


def test_a_second_printing_is_no_duplicate() -> None:
    data = _dataset(_measurement("1"), _measurement("1.1", primary=False))
    assert data.measurements["primary"].to_list() == [True, False]
    assert data.diagnostics.is_empty()


def test_the_clock_of_a_launch_is_one_for_all_runs() -> None:
    ours, theirs = datetime(2026, 1, 1, 10), datetime(2026, 1, 1, 12)
    run = Run(
        tool="fio", start=0, end=3, line=1, started_at=theirs, ended_at=theirs + timedelta(seconds=9), duration=9
    )
    end = ours + timedelta(seconds=10)
    alone = Log(source="a.txt", data=b"abc", records=[run])
    launched = replace(alone, started_at=ours, ended_at=end, duration=10.0)
    columns = ("started_at", "ended_at", "duration")
    assert assemble([alone]).runs.select(columns).row(0) == (theirs, theirs + timedelta(seconds=9), 9)
    assert assemble([launched]).runs.select(columns).row(0) == (ours, end, 10)


def test_blocks_become_series_of_their_run() -> None:
    block = Block(operation="read", metric="bandwidth", times=[0.5, 1.0], values=[10, 12], lines=[1, 2])
    data = _dataset(blocks=(block,))
    run_id = data.runs["run_id"][0]
    assert data.series.rows() == [
        (run_id, None, "read", "bandwidth", "value", 0.5, 10.0),
        (run_id, None, "read", "bandwidth", "value", 1.0, 12.0),
    ]


def test_selecting_runs_selects_what_belongs_to_them(published: Path) -> None:
    import fsbench_kit as fsb

    data = fsb.read(published / "raid1-hdd-2020")
    xfs = data.select(pl.col("filesystem") == "xfs")
    ids = set(xfs.runs["run_id"])
    assert 0 < len(ids) < data.runs.height
    for frame in (xfs.settings, xfs.measurements, xfs.distributions):
        assert set(frame["run_id"]) <= ids
    assert set(xfs.measurements["run_id"]) == ids


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".json"])
def test_one_flat_table(tmp_path: Path, ending: str) -> None:
    data = _dataset(_measurement("1"), _measurement("2", statistic="max"))
    target = tmp_path / "new" / f"x{ending}"
    data.write(target)
    read = {".parquet": pl.read_parquet, ".csv": pl.read_csv, ".json": pl.read_json}[ending](target)
    assert read["value"].to_list() == [1.0, 2.0]
    assert read["tool"].to_list() == ["fio", "fio"]


def test_six_frames_in_a_folder(tmp_path: Path) -> None:
    data = _dataset(_measurement("1"))
    data.write(tmp_path / "six")
    names = {path.stem for path in (tmp_path / "six").iterdir()}
    assert names == {"runs", "settings", "measurements", "distributions", "series", "diagnostics"}
    assert pl.read_parquet(tmp_path / "six" / "runs.parquet").equals(data.runs)


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"\.parquet, \.csv or \.json"):
        _dataset(_measurement("1")).write(tmp_path / "x.xlsx")


def test_primary_figures_of_the_published_studies_are_unique(published: Path) -> None:
    import fsbench_kit as fsb

    data = fsb.read(published)
    primary = data.measurements.filter("primary")
    assert primary.height > 1000
    assert primary.select(FIGURE_KEY).is_duplicated().sum() == 0
    assert "DUPLICATE_FIGURE" not in data.diagnostics["code"].to_list()
