"""Paths set side by side: each is a group, and what is compared is always said."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.model.errors import RequestError
from tests.command import fsbench

Logs = Callable[..., Path]


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    """Return a function that writes a folder of fio's logs, one for each rate, an hour apart in time."""

    def write(folder: str, rates: Sequence[float], *, first: int = 0, bs: str = "4096") -> Path:
        for number, rate in enumerate(rates, 1):
            side = {
                "iops": rate,
                "bw_bytes": int(rate * 4096),
                "io_bytes": int(rate * 4096 * 10),
                "total_ios": 10 * rate,
            }
            log = {
                "fio version": "fio-3.33",
                "time": f"{datetime(2026, 1, 1) + timedelta(seconds=7200 * number + first):%a %b %d %H:%M:%S %Y}",
                "jobs": [
                    {
                        "jobname": "j",
                        "error": 0,
                        "job options": {
                            "rw": "randread",
                            "bs": bs,
                            "direct": "1",
                            "iodepth": "1",
                            "ioengine": "psync",
                        },
                        "read": {**side, "runtime": 10_000},
                    }
                ],
            }
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / f"run{number}.json").write_text(json.dumps(log))
        return tmp_path / folder

    return write


OLD, NEW = (1000.0, 1010.0, 990.0, 1005.0, 995.0), (1300.0, 1310.0, 1290.0, 1305.0, 1295.0)


def _rows(comparison: pl.DataFrame, metric: str = "iops") -> list[tuple[object, ...]]:
    return comparison.filter(metric=metric).select("baseline", "level", pl.col("ratio").round(2), "verdict").rows()


def test_two_folders_are_two_groups_and_the_first_line_says_so(logs: Logs, tmp_path: Path) -> None:
    logs("z", OLD)
    logs("a", NEW, first=3600)
    result = fsbench("compare", "z", "a", "--metric", "iops", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0].startswith("Each path is a group: z (5 runs) against a (5 runs).")
    assert "--factor NAME" in result.stdout
    assert "1.30 [1.29, 1.31]" in result.stdout
    assert "better" in result.stdout


def test_patterns_labels_and_three_groups(logs: Logs, tmp_path: Path) -> None:
    for number, rates in enumerate((OLD, NEW, OLD)):
        for path in logs(f"g{number}", rates, first=1200 * number).iterdir():
            path.rename(tmp_path / f"g{number}-{path.name}")
    result = fsbench(
        "compare",
        "g0-*.json",
        "g1-*.json",
        "g2-*.json",
        "--labels",
        "6.1,6.8,6.12",
        "--metric",
        "iops",
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert "6.1 (5 runs) against 6.8 (5 runs), 6.12 (5 runs)" in result.stdout
    assert "equivalent" in result.stdout


def test_python_takes_paths_and_datasets_by_their_label(logs: Logs) -> None:
    groups = {"old": logs("old", OLD), "new": fsb.read(logs("new", NEW, first=3600))}
    assert _rows(fsb.compare(groups)) == [("old", "new", 1.30, "better")]
    assert _rows(fsb.compare(groups, baseline="new")) == [("new", "old", 0.77, "worse")]
    assert fsb.geometric_mean(groups, metrics=["iops"])["level"].to_list() == ["new"]


def test_runs_that_came_one_group_after_the_other_get_no_verdict(logs: Logs) -> None:
    groups = {"old": logs("old", OLD), "new": logs("new", NEW, first=10**6)}
    assert _rows(fsb.compare(groups)) == [("old", "new", 1.30, "not comparable")]


def test_what_differs_between_groups_is_named_and_withholds_no_verdict(logs: Logs) -> None:
    old, new = (fsb.read(logs(name, rates)) for name, rates in (("old", OLD), ("new", NEW)))
    groups = {
        name: fsb.Dataset(
            **data.frames | {"runs": data.runs.with_columns(host=pl.lit(name), filesystem=pl.lit(fs))}
        )
        for name, data, fs in (("old", old, "ext4"), ("new", new, "xfs"))
    }
    rows = fsb.compare(groups, metrics=["iops"])
    assert _rows(rows) == [("old", "new", 1.30, "better")]
    assert "The groups differ in filesystem (ext4 against xfs), host (old against new)." in rows["footnotes"][0]


def test_paths_of_other_filesystems_are_one_pool_unless_they_have_labels(
    tmp_path: Path, smallfiles_log: Callable[..., str]
) -> None:
    for name, rate in (("ext4", 2000.0), ("xfs", 3000.0)):
        (tmp_path / f"{name}.txt").write_text(smallfiles_log(name, rate))
    pool = fsbench("compare", "ext4.txt", "xfs.txt", cwd=tmp_path)
    assert pool.stdout.startswith("All runs are compared by filesystem")
    assert "Filesystem compared" in pool.stdout
    groups = fsbench("compare", "ext4.txt", "xfs.txt", "--labels", "a,b", cwd=tmp_path)
    assert groups.stdout.startswith("Each path is a group: a (1 run) against b (1 run)")
    assert "The groups differ in filesystem (ext4 against xfs)." in groups.stdout


def test_groups_that_did_other_work_are_told_by_what_to_compare(logs: Logs, tmp_path: Path) -> None:
    logs("old", OLD)
    logs("new", NEW, bs="8192")
    result = fsbench("compare", "old", "new", "--metric", "iops", cwd=tmp_path)
    assert result.returncode == 2
    assert "they differ in block_size (8 KiB against 4 KiB)\n" in result.stderr
    assert "make it the factor: --factor block_size" in result.stderr


def test_groups_without_a_figure_in_common_are_no_factor(root: Path) -> None:
    # They have the jobs' context switches in common, which are compared only if asked for.
    logs = [root / "tests" / "data" / "fio_normal" / f"3.33-{name}.txt" for name in ("single-requests", "fsync")]
    result = fsbench("compare", *logs, "--factor", "pattern", cwd=root)
    assert result.returncode == 2
    assert "operation (read against sync | write)" in result.stderr
    assert result.stderr.endswith("\nAdd runs that measure the same, or choose another factor.\n")
    asked = fsbench("compare", *logs, "--factor", "pattern", "--metric", "context_switches", cwd=root)
    assert "they differ in block_size (4 KiB against 16 KiB), file_size (unknown against 16 MiB)\n" in asked.stderr
    assert "make it the factor: --factor block_size" in asked.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["old", "old"], "'old' stands for two groups"),
        (["old/run1.json", "old"], "a run is in two groups"),
        (["old", "none"], "No such file or directory"),
        (["old", "new", "--labels", "a"], "there are not as many labels (1) as paths (2)"),
        (["old", "new", "--labels", "a,b", "--factor", "host"], "cannot be combined"),
        (["old", "new", "--baseline", "x"], "The choices are: new, old."),
    ],
)
def test_groups_that_cannot_be(logs: Logs, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    logs("old", OLD)
    logs("new", NEW, first=3600)
    result = fsbench("compare", *arguments, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert sentence in result.stderr


def test_one_group_alone_is_nothing_to_compare(logs: Logs) -> None:
    with pytest.raises(RequestError, match="there is only one group"):
        fsb.compare({"old": logs("old", OLD)})


def test_names_are_asked_of_all_groups(logs: Logs, tmp_path: Path) -> None:
    """A template may fit one group alone, and one that fits none is proposed by the names in all groups."""
    logs("old", OLD)
    for path in logs("new", NEW, first=3600).iterdir():
        path.rename(path.with_name(path.name.replace("run", "xfs-run")))
    fits_old = fsbench("compare", "old", "new", "--names", "run{round}.json", cwd=tmp_path)
    assert fits_old.returncode == 0, fits_old.stderr
    assert "does not fit run{round}.json" in fits_old.stderr
    for path in (tmp_path / "old").iterdir():
        path.rename(path.with_name(path.name.replace("run", "ext4-run")))
    fits_none = fsbench("compare", "old", "new", "--names", "{filesytem}.log", cwd=tmp_path)
    assert "One that matches: --names '{filesystem}-run{round}.json'" in fits_none.stderr
    assert fits_none.stderr.count("Did you mean filesystem?") == 1
    without = fsbench("compare", "old", "new", cwd=tmp_path)
    assert "(filesystem, round): add --names '{filesystem}-run{round}.json'" in without.stdout
    by_name = fsbench("compare", "old", "new", "--names", "{filesystem}-run{round}.json", cwd=tmp_path)
    assert by_name.stdout.startswith("All runs are compared by filesystem")
    assert "add --names" not in by_name.stdout
    read = fsbench("read", "old", "new", cwd=tmp_path)
    assert "(filesystem, round): add --names" in read.stderr
