"""Logs are found in texts of any length, of which only what stands around the logs is held in memory."""

import codecs
import gzip
import itertools
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit import documents
from fsbench_kit.documents import search
from fsbench_kit.model.errors import InputError

FSBENCH = Path(sys.executable).with_name("fsbench")
PROSE = (
    "XFS came in 1993, ext4 in 2008; a report of 12 reads, with real files of 3 users – “fast enough” for all.\n"
    "Everything else is a matter of <b>taste</b>, of time (1 h 20 min, say) and of what the 4 disks are made of.\n"
)


def _prose(size: int) -> str:
    return PROSE * (size // len(PROSE))


LogWriter = Callable[..., str]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search files of few bytes as if they were large, in windows of few lines."""
    monkeypatch.setattr(documents, "WHOLE", 1000)
    monkeypatch.setattr(search, "WINDOW", 512)


def _figures(data: fsb.Dataset, *, without: int = 0) -> pl.DataFrame:
    return data.measurements.drop("run_id").with_columns(pl.col("line") - without)


@pytest.mark.usefixtures("small")
def test_logs_in_a_large_text_are_where_they_were(tmp_path: Path, smallfiles_log: LogWriter) -> None:
    first, second = smallfiles_log("ext4"), smallfiles_log("xfs", 3000.0)
    text = _prose(300_000) + "\n" + first + "\n" + _prose(400_000) + "\n" + second + "\n" + _prose(200_000)
    for encoding, mark in (("utf-8", b""), ("utf-16-le", codecs.BOM_UTF16_LE), ("cp1252", b"")):
        coded = mark + text.encode(encoding)
        (tmp_path / "log.txt").write_bytes(coded)
        (tmp_path / "log.txt.gz").write_bytes(gzip.compress(coded))
        for name in ("log.txt", "log.txt.gz"):
            data = fsb.read(tmp_path / name)
            for run, log in zip(data.runs.iter_rows(named=True), (first, second), strict=True):
                at = text.index(log[log.index("# ext4" if log is first else "# xfs") :])
                assert run["start"] == len(mark + text[:at].encode(encoding))
                assert run["line"] == text.count("\n", 0, at) + 1
                assert coded[run["start"] : run["end"]].decode(encoding) in log
            alone = fsb.read(first.encode(), second.encode())
            assert _figures(data).drop("line").equals(_figures(alone).drop("line"))
            assert data.runs["sha256"].to_list() == alone.runs["sha256"].to_list() or encoding == "utf-16-le"
            assert "LEFT_OUT" in data.diagnostics["code"]
            assert "OTHER_TEXT" not in data.diagnostics["code"] or data.diagnostics.height < 2000


LOGS = sorted(
    path
    for folder in ("tests/data", "raw_results/published")
    for path in (Path(__file__).parents[2] / folder).rglob("*")
    if path.is_file()
    and path.suffix in {".txt", ".json", ".html", ".csv", ".md", ".log"}
    and path.stat().st_size < 2**16
)


@pytest.mark.usefixtures("small")
def test_every_log_is_found_in_a_large_text() -> None:
    """What any log looks like is known to the search; else it would be lost in large texts only."""
    lines = _prose(12_000)
    hidden = [lambda text: text, lambda text: "".join(f"> {line}\n" for line in text.splitlines())]
    missed, read = [], 0
    for path, hide in itertools.product(LOGS[::9], hidden):
        text = path.read_bytes().decode("utf-8", "replace")
        try:
            alone = fsb.read((lines[:300] + "\n\n" + hide(text)).encode())
        except InputError:
            continue  # which is no log by itself
        read += 1
        whole = f"{lines}\n\n{hide(text)}\n\n{lines}"
        try:
            found = fsb.read(whole.encode())
        except InputError:
            missed.append(path.name)
            continue
        if sorted(found.runs["tool"]) != sorted(alone.runs["tool"]):
            missed.append(path.name)
    assert read > 20
    assert missed == []


def test_prose_that_was_packed_small_takes_little_memory(tmp_path: Path, smallfiles_log: LogWriter) -> None:
    packed = tmp_path / "prose.gz"
    prose = _prose(1_000_000).encode()
    with gzip.open(packed, "wb", compresslevel=1) as file:
        for _ in range(12):
            file.write(prose)
        file.write(f"\n\n{smallfiles_log()}\n\n".encode())
        for _ in range(12):
            file.write(prose)
    result = subprocess.run(
        [FSBENCH, "read", packed],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (2**28 + 2**27, 2**28 + 2**27)),
    )
    assert result.returncode == 0, result.stderr[-1000:]
    assert "1 run, 3 figures" in result.stdout


@pytest.mark.usefixtures("small")
def test_a_limit_is_kept_and_said(
    tmp_path: Path, smallfiles_log: LogWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MOST", 20_000)
    logs = "".join(smallfiles_log("ext4", rate) + "\n" for rate in range(1000, 2000))
    many = tmp_path / "many.txt"
    many.write_text(logs)
    data = fsb.read(many)
    (said,) = data.diagnostics.filter(code="TOO_LARGE").iter_rows(named=True)
    assert said["severity"] == "error"
    assert "Split the file." in said["message"]
    assert data.runs.height > 0
