"""What SECURITY.md says of hostile logs. For pages see report/test_site.py, for times documents/ and formats/."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import fsbench_kit as fsb
from fsbench_kit.cli import app

HONEST = "raw_results/published/sysbench-rhel72"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.json", b'{"fio version": "fio-3.33", "jobs": ' + b"[" * 200_000),
        ("closed.json", b'{"fio version": "fio-3.33", "jobs": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        (
            "digits.json",
            b'{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "read": {"iops": ' + b"9" * 10**6 + b"}}]}",
        ),
        (
            "name.json",
            b'{"fio version": "fio-3.33", "jobs": [{"jobname": "\\u001b]0;owned\\u0007", "read": {"iops": 1.5}}]}',
        ),
        ("zeros.log.gz", lambda: gzip.compress(bytes(2**27))),  # made where it is needed, and only there
        ("sysbench.txt", b"sysbench 1.0.20\nreads/s: " + b"1" * 10**6 + b"\n"),
        ("fio.txt", b"fio-3.33\n" + b"a: (groupid=0, jobs=1): err= 0: pid=1\n" * 20_000),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_hostile_log_stops_nothing(
    root: Path, tmp_path: Path, name: str, content: bytes | Callable[[], bytes]
) -> None:
    figures = ["operation", "metric", "statistic", "value"]
    honest = fsb.read(root / HONEST)
    for source in (root / HONEST).glob("*.*"):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    (tmp_path / name).write_bytes(content() if callable(content) else content)
    data = fsb.read(tmp_path)
    others = data.runs.filter(~pl.col("source").str.ends_with(name))
    kept = data.measurements.join(others, on="run_id", how="semi", maintain_order="left").select(figures)
    assert kept.sort(figures).equals(honest.measurements.select(figures).sort(figures))
    shown = CliRunner().invoke(app, ["read", str(tmp_path)])
    assert shown.exit_code in (0, 1)
    assert "\x1b" not in shown.output
    assert "\x07" not in shown.output


def test_a_folder_cannot_hang_a_reader_or_lead_it_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.txt").write_text("sysbench 1.0.20 hunter2\n")
    folder = tmp_path / "study"
    folder.mkdir()
    os.mkfifo(folder / "pipe.log")
    (folder / "round").symlink_to(folder)
    (folder / "nowhere.log").symlink_to(tmp_path / "missing")
    (folder / "study.toml").write_text('id = "s"\n[[log]]\nfile = "../secret/key.txt"\n')
    shown = CliRunner().invoke(app, ["read", str(folder)])
    assert "hunter2" not in shown.output
    assert "Traceback" not in shown.output
