"""What Python reaches, the command line reaches as well."""

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import fsbench_kit as fsb
from tests.command import fsbench

Log = Callable[..., str]


@pytest.fixture
def logs(tmp_path: Path, smallfiles_log: Log) -> Path:
    for name in ("ext4", "xfs"):
        for number in range(3):
            rate = (2000.0 if name == "ext4" else 3000.0) + number
            (tmp_path / f"{name}-{number}.txt").write_text(smallfiles_log(name, rate))
    return tmp_path


def _written(folder: Path, *options: str) -> pl.DataFrame:
    result = fsbench("compare", folder, "--to", folder / "out.parquet", *options)
    assert result.returncode == 0, result.stderr
    return pl.read_parquet(folder / "out.parquet")


def test_where_and_confidence(logs: Path) -> None:
    rows = _written(logs, "--where", "operation=write", "--where", "file_size=none", "--confidence", "99%")
    assert set(rows["operation"]) == {"write"}
    assert set(rows["confidence"].drop_nulls()) == {0.99}
    assert rows.equals(_written(logs, "--where", "operation=write", "--confidence", "0.99"))
    sizes = fsb.compare(fsb.read(logs), where={"operation": ["write"]}, confidence=0.99)
    assert rows["ratio"].equals(sizes["ratio"])


def test_failed_runs_take_part_where_that_is_asked_for(logs: Path) -> None:
    data = fsb.read(logs)
    failed = data.runs.with_columns(status=pl.lit("failed"))
    fsb.Dataset(**data.frames | {"runs": failed}).write(logs / "failed")
    left_out = fsbench("compare", logs / "failed").stderr
    assert "all runs that have a filesystem here failed or are partial\nFailed runs count only if" in left_out
    assert fsbench("compare", logs / "failed", "--include-failed").returncode == 0


def test_percentages_are_written_alike(logs: Path) -> None:
    assert _written(logs, "--margin", "5%").equals(_written(logs, "--margin", "1.05"))
    plan = fsbench("repeats", "--cv", "5%", "--half-width", "5%", "--effect", "10%", "--margin", "5%").stdout
    assert plan == fsbench("repeats", "--cv", "5", "--margin", "1.05").stdout
    assert " ".join(plan.split()).endswith("5 % 10 6 19")


def test_a_version_of_fio_is_assumed_for_a_lone_latency_log(tmp_path: Path) -> None:
    log = tmp_path / "x_clat.1.log"
    log.write_text("".join(f"{second * 1000}, {1_000_000 + second}, 0, 4096\n" for second in range(5)))
    assert "--assume fio_version" in fsbench("read", log).stderr
    result = fsbench(
        "read", log, "--assume", "fio_version=3.1", "--assume", "filesystem=xfs", "--to", tmp_path / "t.csv"
    )
    assert result.returncode == 0
    assert "UNKNOWN_UNIT" not in result.stderr
    table = pl.read_csv(tmp_path / "t.csv")
    assert table.filter(pl.col("metric") == "completion_latency", statistic="mean")["value"].to_list() == [
        0.001000002
    ]
    assert set(table["filesystem"]) == {"xfs"}
    data = fsb.read(log, assume={"fio_version": "3.1", "kernel": "6.1"})
    assert data.settings.filter(key="kernel")["origin"].to_list() == ["assumed"]
    assert "fio_version 3.1" in data.diagnostics.filter(code="ASSUMED")["message"][0]


def test_what_a_log_tells_goes_before_what_is_assumed(logs: Path) -> None:
    data = fsb.read(logs / "ext4-0.txt", assume={"filesystem": "btrfs"})
    assert data.runs["filesystem"].to_list() == ["ext4"]


def test_explain_takes_a_folder(logs: Path) -> None:
    (logs / ".hidden").write_text("nothing\n")
    shown = fsbench("read", "--explain", logs).stdout
    assert len(re.findall(r"^.*-\d\.txt$", shown, re.MULTILINE)) == 6
    assert ".hidden" not in shown


def test_remarks_of_a_kind_are_one_and_the_table_comes_last(tmp_path: Path, smallfiles_log: Log) -> None:
    for number in range(30):
        (tmp_path / f"{number}.txt").write_text(smallfiles_log(rate=2000 + number))
    (tmp_path / "ext4-1.txt").write_text(smallfiles_log(rate=1900))
    result = fsbench("read", tmp_path, "--names", "{filesystem}-{round}.txt")
    assert len(result.stderr.splitlines()) <= 4, result.stderr
    assert "NAME_DOES_NOT_FIT; 29 more in 30 files" in result.stderr
    assert "--to FOLDER writes all of them" in result.stderr
    assert "31 runs" in result.stdout
    to = tmp_path / "data"
    for more in ((), ("--assume", "host=a")):  # read in bulk or at once
        written = fsbench("read", tmp_path, "--names", "{filesystem}-{round}.txt", "--to", to, *more)
        assert f'more remarks; fsb.read("{to}").diagnostics has all of them.' in written.stderr, written.stderr
        assert fsb.read(to).diagnostics.height > 29


def test_where_a_run_breaks_off_is_said_but_not_what_another_log_lacks(tmp_path: Path, root: Path) -> None:
    logs = root / "tests" / "data" / "fio_json"
    head, _, _ = (logs / "3.33-grouped.json").read_text().partition('      "usr_cpu"')
    (tmp_path / "cut.json").write_text(head)
    other = re.sub(r'  "fio version" : .*\n', "", (logs / "3.33-steady-state.json").read_text())
    (tmp_path / "no-version.json").write_text(other)
    line = head.count("\n")
    for more in ((), ("--to", tmp_path / "data")):
        result = fsbench("read", tmp_path, *more)
        said = "The document breaks off; the part before that was read. [INCOMPLETE_LOG]"
        assert f"cut.json:{line}: {said}" in result.stderr
        assert "1 more remark; " in result.stderr


def test_a_plan_goes_by_its_bare_name(tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    for name in ("quick", "plans/quick.toml", "quick.toml"):
        result = fsbench("launch", name, "--dry-run", cwd=tmp_path)
        assert "no such plan" not in result.stderr
