"""Runs that were launched bring their record."""

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl

from fsbench_kit.data.reading import read


def _settings(frame: pl.DataFrame, key: str) -> list[tuple[str, str]]:
    return frame.filter(pl.col("key") == key).select("value", "origin").rows()


def launched(folder: Path, log: str, **changes: object) -> Path:
    folder.mkdir(parents=True)
    (folder / "stdout.txt").write_text(log)
    facts = {
        "schema": 1,
        "study": "live",
        "round": 2,
        "order": 5,
        "target": "loop",
        "workload": "files",
        "tool": "smallfiles",
        "filesystem": "ext4",
        "host": "here",
        "argv": ["python", "-m", "x"],
        "exit_code": 0,
        "status": "ok",
        "started_at": "2026-01-02T03:04:05+02:00",
        "ended_at": "2026-01-02T03:04:06+02:00",
        "duration": 1.0,
        "logs": ["stdout.txt"],
        "settings": {"kernel": "6.1"},
        "sha256": {"stdout.txt": hashlib.sha256(log.encode()).hexdigest()},
    }
    (folder / "run.json").write_text(json.dumps(facts | changes))
    return folder


def test_a_launched_run_brings_its_record(tmp_path: Path, smallfiles_log: Callable[..., str]) -> None:
    folder = tmp_path / "raw_results" / "runs" / "live" / "001"
    data = read(launched(folder, smallfiles_log()).parent)
    row = data.runs.row(0, named=True)
    assert (row["origin"], row["round"], row["order"], row["host"]) == ("launched", 2, 5, "here")
    assert (row["stage"], row["target"], row["workload"]) == ("measured", "loop", "files")
    assert str(row["started_at"]) == "2026-01-02 01:04:05"
    assert _settings(data.settings, "kernel") == [("6.1", "environment")]
    assert data.diagnostics.is_empty()


def test_a_run_that_warms_up_has_no_round(tmp_path: Path, smallfiles_log: Callable[..., str]) -> None:
    launched(tmp_path / "001", smallfiles_log(), stage="warm-up", round=None)
    assert read(tmp_path).runs.select("stage", "round").rows() == [("warm-up", None)]


def test_a_record_of_a_newer_version_loses_no_run(tmp_path: Path, smallfiles_log: Callable[..., str]) -> None:
    conditions = [
        {"code": "MACHINE_LOADED", "message": "The load was 9."},
        {"code": "MACHINE_ON_FIRE", "message": "It is 600 K warm."},
    ]
    launched(tmp_path / "001", smallfiles_log(), schema=2, conditions=conditions, smoke={"colour": "grey"})
    data = read(tmp_path)
    assert data.runs.select("study", "round", "status").rows() == [("live", 2, "ok")]
    said = dict(data.diagnostics.select("code", "message").rows())
    assert said.keys() == {"NEWER_RECORD", "MACHINE_LOADED", "UNKNOWN_CONDITION"}
    assert "(schema 2, not 1)" in said["NEWER_RECORD"]
    assert said["UNKNOWN_CONDITION"] == "The run's record says MACHINE_ON_FIRE: It is 600 K warm."


def test_a_record_that_cannot_be_used_says_what_is_wrong_with_it(
    tmp_path: Path, smallfiles_log: Callable[..., str]
) -> None:
    launched(tmp_path / "001", smallfiles_log())
    launched(tmp_path / "002", smallfiles_log(), status="cancelled", order="last")
    data = read(tmp_path)
    assert data.runs.height == 1
    (message,) = data.diagnostics.filter(code="BAD_STUDY")["message"]
    assert "\"order\" must be a whole number, not 'last'" in message
    assert "\"status\" must be 'ok', 'failed' or 'partial'" in message
    assert "pydantic" not in message


def test_a_log_that_was_changed_after_its_run_is_named(tmp_path: Path, smallfiles_log: Callable[..., str]) -> None:
    folder = launched(tmp_path / "001", smallfiles_log())
    (folder / "stdout.txt").write_text(smallfiles_log(rate=4000.0))
    assert read(tmp_path).diagnostics["code"].to_list() == ["CHANGED_SINCE_RECORDED"]


def test_a_packed_log_is_held_against_the_hash_of_its_file(
    tmp_path: Path, smallfiles_log: Callable[..., str]
) -> None:
    packed = gzip.compress(smallfiles_log().encode())
    hashes = {"stdout.txt.gz": hashlib.sha256(packed).hexdigest()}
    folder = launched(tmp_path / "001", "", logs=["stdout.txt.gz"], sha256=hashes)
    (folder / "stdout.txt.gz").write_bytes(packed)
    assert read(folder).diagnostics.is_empty()
    (folder / "stdout.txt.gz").write_bytes(gzip.compress(smallfiles_log(rate=4000.0).encode()))
    assert read(folder).diagnostics["code"].to_list() == ["CHANGED_SINCE_RECORDED"]


def test_a_log_file_of_fio_that_was_changed_is_named(tmp_path: Path, smallfiles_log: Callable[..., str]) -> None:
    rows = "1, 4096, 0, 4096\n2, 4096, 0, 4096\n"
    hashes = {
        name: hashlib.sha256(text.encode()).hexdigest()
        for name, text in (("stdout.txt", smallfiles_log()), ("x_bw.1.log", rows))
    }
    folder = launched(tmp_path / "001", smallfiles_log(), sha256=hashes)
    (folder / "x_bw.1.log").write_text(rows)
    assert "CHANGED_SINCE_RECORDED" not in read(folder).diagnostics["code"]
    (folder / "x_bw.1.log").write_text(rows.replace("4096\n2", "4096\n3"))
    changed = read(folder).diagnostics.filter(code="CHANGED_SINCE_RECORDED")
    assert changed["source"].to_list() == [str(folder / "x_bw.1.log")]


def test_a_failed_launch_marks_a_run_whose_log_looks_well(
    tmp_path: Path, smallfiles_log: Callable[..., str]
) -> None:
    launched(tmp_path / "001", smallfiles_log(), status="failed", exit_code=1)
    assert read(tmp_path).runs.select("status", "exit_code").rows() == [("failed", 1)]
