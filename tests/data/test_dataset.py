"""Records become frames whose keys hold, and frames become files."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from inspect import signature
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fsbench_kit as fsb
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.log import Log
from fsbench_kit.model.errors import InputError, RequestError
from fsbench_kit.model.records import Block, Measurement, Run, Setting
from fsbench_kit.model.schema import MEASUREMENT_KEY, SCHEMAS

DATA = Path(__file__).parents[1] / "data"


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
    assert diagnostic["message"] == "iops (value) of read appears twice: 1 on line 1, and 2."


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


@pytest.fixture(scope="module")
def sysbench(published: Path) -> Dataset:
    return fsb.read(published / "sysbench-rhel72")


def test_runs_are_filtered_with_what_belongs_to_them(published: Path) -> None:
    data = fsb.read(published / "raid1-hdd-2020")
    xfs = data.filter(pl.col("filesystem") == "xfs")
    ids = set(xfs.runs["run_id"])
    assert 0 < len(ids) < data.runs.height
    for frame in (xfs.settings, xfs.measurements, xfs.distributions):
        assert set(frame["run_id"]) <= ids
    assert set(xfs.measurements["run_id"]) == ids
    _same(data.filter(filesystem="xfs"), xfs)
    with pytest.raises(
        RequestError, match=r'unable to find column "filesytem"\nThe columns of runs are run_id, study'
    ):
        data.filter(filesytem="xfs")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda runs: runs.drop("study"), 'the frame "runs" lacks the column "study"'),
        (lambda runs: runs.with_columns(mood=pl.lit("x")), 'the frame "runs" has a column "mood"'),
        (
            lambda runs: runs.with_columns(round=pl.lit("1")),
            'the column "round" of the frame "runs" has to be Int64',
        ),
        (
            lambda runs: runs.with_columns(round=pl.lit(1.5)),
            'the column "round" of the frame "runs" has to be Int64',
        ),
        (
            lambda runs: runs.with_columns(stage=pl.lit("x")),
            'the column "stage" of the frame "runs" has to be Enum',
        ),
        (lambda runs: runs.lazy(), 'the frame "runs" is a LazyFrame'),
    ],
)
def test_a_frame_that_is_none_of_a_dataset_is_refused(
    sysbench: Dataset, change: Callable[[pl.DataFrame], pl.DataFrame], message: str
) -> None:
    with pytest.raises(RequestError) as caught:
        replace(sysbench, runs=change(sysbench.runs))
    assert message in str(caught.value)


def test_columns_of_other_types_are_taken_where_nothing_is_lost(sysbench: Dataset) -> None:
    runs = sysbench.runs.with_columns(stage=pl.lit("measured"), round=pl.lit(1, pl.Int32), duration=pl.lit(None))
    changed = replace(sysbench, runs=runs.select(reversed(runs.columns)))
    assert changed.runs.schema == sysbench.runs.schema
    assert changed.runs.select("stage", "round", "duration").unique().rows() == [("measured", 1, None)]


def test_a_dataset_compares_as_the_function_does(sysbench: Dataset) -> None:
    assert_frame_equal(sysbench.compare("filesystem", "xfs"), fsb.compare(sysbench, "filesystem", "xfs"))
    ours, theirs = (list(signature(f).parameters.values())[1:] for f in (Dataset.compare, fsb.compare))
    assert [(item.name, item.kind, item.default) for item in ours] == [
        (item.name, item.kind, item.default) for item in theirs
    ]


def test_what_one_job_was_set_to_is_not_said_of_another(root: Path) -> None:
    document = json.loads((root / "tests" / "data" / "fio_json" / "3.33-grouped.json").read_text())
    one = document["jobs"][0]
    options = {key: value for key, value in one["job options"].items() if key != "fsync"}
    document["jobs"] = [
        {**one, "jobname": "a", "job options": {**options, "fsync": "8"}},
        {**one, "jobname": "b", "job options": options},
    ]
    data = fsb.read_text(json.dumps(document))
    of_parts = data.flat("fsync").select("part", "fsync").unique().sort("part").rows()
    assert of_parts == [("a", "8"), ("b", None), ("vda", "8")]
    of_rows = data.wide().select("part", "fsync").unique().sort("part").rows()
    assert of_rows == [("a", 8), ("b", None), ("vda", 8)]


def test_one_row_for_each_run_and_operation(root: Path, sysbench: Dataset) -> None:
    table = sysbench.wide()
    assert table.select("run_id", "scope", "part", "operation").is_duplicated().sum() == 0
    of_run = table.filter(filesystem="ext4", pattern="rndrd")
    row = of_run.filter(operation="read").row(0, named=True)
    log = (root / "raw_results" / "published" / "sysbench-rhel72" / "rndrd-ext4.txt").read_text()
    assert f"{row['iops']:.2f} Requests/sec" in log
    assert f"{of_run['latency_mean'].drop_nulls().item() * 1e3:.2f}ms" in log
    assert (row["block_size"], row["threads"], row["direct"]) == (16384, 4, True)
    # A job's own settings count before those of its run; a setting and a metric of one name are told apart.
    jobs = fsb.read(root / "tests" / "data" / "fio_json").wide()
    assert (
        jobs.height
        == jobs.unique(["run_id", "scope", "part", "operation", "block_size", "file_size", "threads"]).height
    )
    whole = fsb.read(root / "raw_results" / "recorded").wide()
    assert {"iodepth", "engine", "kernel"} <= set(whole.columns)
    assert not {"command", "provision"} & set(whole.columns)


def test_settings_of_jobs_stand_beside_their_measurements() -> None:
    jobs = [
        Setting(key="iodepth", value=value, scope="job", part=part) for part, value in (("a", "1"), ("b", "32"))
    ]
    measured = [_measurement("5", scope="job", part=part) for part in ("a", "b")]
    cpu = _measurement("0.5", metric="cpu", unit="1")
    run = Run(
        tool="fio",
        start=0,
        end=3,
        line=1,
        measurements=(*measured, cpu),
        settings=(*jobs, Setting(key="cpu", value="Xeon"), Setting(key="iodepth", value="7", origin="stated")),
    )
    table = assemble([Log(source="a.txt", data=b"abc", records=[run])]).wide()
    assert table.select("part", "iodepth", "iops", "cpu", "cpu_setting").rows() == [
        ("a", "1", 5.0, None, "Xeon"),
        ("b", "32", 5.0, None, "Xeon"),
        (None, "1 | 32", None, 0.5, "Xeon"),
    ]


def test_a_dataset_shows_itself_in_a_few_lines(root: Path) -> None:
    data = fsb.read(root / "raw_results")
    text = repr(data)
    assert (
        text.splitlines()[0]
        == f"Dataset: {data.runs.height} runs of filetree, fio, iozone, bonnie++, smallfiles, sysbench"
    )
    assert len(text.splitlines()) < 20
    assert f"  measurements   {data.measurements.height:,}" in text
    page = data.filter(tool="iozone")._repr_html_()
    assert ElementTree.fromstring(page).tag == "table"  # noqa: S314  # our own
    assert "bonnie++" not in page
    assert "none" in repr(data.filter(pl.lit(False)))


def test_pandas_that_is_not_installed_is_named(sysbench: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(RequestError, match=r"not installed\nInstall both: pip install pandas pyarrow"):
        sysbench.to_pandas()


def test_a_dataset_on_disk_is_scanned(sysbench: Dataset, tmp_path: Path) -> None:
    sysbench.write(tmp_path / "frames")
    lazy = fsb.scan(str(tmp_path / "frames"))
    assert lazy.measurements.filter(metric="iops").collect().height == 8
    _same(lazy.collect(), sysbench)
    with pytest.raises(InputError, match="there is no dataset in it"):
        fsb.scan(tmp_path)
    (tmp_path / "frames" / "series.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"series\.parquet"):
        fsb.scan(tmp_path / "frames")


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
    data = fsb.read(published)
    primary = data.measurements.filter("primary")
    assert primary.height > 1000
    assert primary.select("run_id", *MEASUREMENT_KEY).is_duplicated().sum() == 0
    assert "DUPLICATE_FIGURE" not in data.diagnostics["code"].to_list()


@pytest.mark.parametrize("digits", [20, 40, 149, 150, 400])
@pytest.mark.parametrize(
    ("log", "number"), [("bonnie/1.96-report.txt", "101525"), ("fio_json/3.33-idleness.json", "0.000000")]
)
def test_a_number_beyond_all_counting_costs_no_other_figure(
    tmp_path: Path, log: str, number: str, digits: int
) -> None:
    whole = (DATA / log).read_text()
    path = tmp_path / "log.txt"
    path.write_text(whole.replace(number, "9" * digits, 1))
    data = fsb.read(path)
    assert data.runs.height == 1
    assert data.measurements.height >= fsb.read(DATA / log).measurements.height - 1
    assert data.measurements.filter(pl.any_horizontal(~pl.col("value", "low", "high").is_finite())).is_empty()
    assert data.diagnostics.filter(severity="warning").height


def test_a_size_beyond_all_counting_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text((DATA / "fio_json" / "3.33-idleness.json").read_text().replace(': "4k"', f': "{"9" * 20}"'))
    data = fsb.read(path)
    assert data.measurements["block_size"].null_count() == data.measurements.height
    (item,) = data.diagnostics.filter(code="UNREAD_FIGURE").rows(named=True)
    assert item["message"] == "The block size cannot be kept, because the number is too large; the value is null."
    assert item["excerpt"] == "9" * 20


def _same(first: Dataset, second: Dataset) -> None:
    for name in SCHEMAS:
        assert_frame_equal(getattr(first, name), getattr(second, name))


def test_a_written_dataset_is_read_back(published: Path, root: Path, tmp_path: Path) -> None:
    for name in (published, root / "tests" / "data", root / "raw_results" / "recorded"):
        data = fsb.read(name)
        data.write(str(tmp_path / name.name))
        _same(fsb.read(tmp_path / name.name), data)
        assert (tmp_path / name.name / "runs.parquet").is_file()


def test_a_dataset_in_a_folder_of_logs(tmp_path: Path, smallfiles_log: Callable[..., str]) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text(smallfiles_log())
    (tmp_path / "d.txt").write_text(smallfiles_log("xfs"))
    logs = fsb.read(tmp_path)
    fsb.read(tmp_path / "d.txt", tmp_path / "c.txt").write(tmp_path / "frames")
    known = fsb.read(tmp_path)
    assert known.diagnostics["code"].to_list() == ["SAME_RUN"] * 2
    _same(replace(known, diagnostics=logs.diagnostics), logs)  # which counts no run twice
    for name in ("c.txt", "d.txt"):
        (tmp_path / name).unlink()
    both = fsb.read(tmp_path)
    assert both.runs["run_id"].to_list() == logs.runs["run_id"].gather([0, 1, 3, 2]).to_list()
    assert both.measurements.drop("run_id").equals(logs.measurements.drop("run_id"))
    logs.write(tmp_path)
    assert fsb.read(tmp_path).runs.height == 4


def test_a_dataset_that_cannot_be_used_is_said(tmp_path: Path, smallfiles_log: Callable[..., str]) -> None:
    data = fsb.read(smallfiles_log().encode())
    for name in ("good", "newer", "torn", "short", "other"):
        data.write(tmp_path / name)
    data.runs.write_parquet(tmp_path / "newer" / "runs.parquet", metadata={"fsbench_kit.schema": "2"})
    (tmp_path / "torn" / "settings.parquet").unlink()
    (tmp_path / "short" / "series.parquet").write_bytes(b"PAR1")
    data.runs.drop("status").write_parquet(tmp_path / "other" / "runs.parquet")
    read = fsb.read(tmp_path)
    assert read.runs.equals(data.runs)
    said = {
        Path(source).name: (code, message)
        for source, code, message in read.diagnostics.select("source", "code", "message").rows()
    }
    newer = "a newer version of fsbench_kit wrote the dataset (schema 2, and this one reads 1)"
    assert said["newer"] == ("UNREADABLE", f"The dataset cannot be read: {newer}.")
    with pytest.raises(InputError, match=re.escape(newer)):
        fsb.scan(tmp_path / "newer")
    assert said["settings.parquet"] == ("UNREADABLE", "The dataset cannot be read: the file does not exist.")
    assert said["series.parquet"][0] == said["runs.parquet"][0] == "UNREADABLE"
    assert "status" in said["runs.parquet"][1]
