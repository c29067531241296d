"""Logs that lie elsewhere: behind a URL, or in an archive. The servers are real ones."""

import io
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import fsbench_kit as fsb
from fsbench_kit.model.errors import InputError
from tests.ports import free_port

STUDY = "raw_results/published/sysbench-rhel72"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def study(root: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(root / STUDY, tmp_path / "logs" / "study"))


@pytest.fixture
def server(study: Path) -> Iterator[str]:
    """Serve the folder of the study, as a web server does: with a page that lists it."""
    port = free_port()
    words = ["-m", "http.server", "--bind", "127.0.0.1", "--directory", str(study.parent), str(port)]
    with _running([sys.executable, *words], port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def _running(command: list[str], port: int) -> Iterator[None]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(200):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.1)
            yield
        finally:
            process.terminate()


def _same(data: fsb.Dataset, folder: Path) -> bool:
    there = fsb.read(folder)
    figures = ["operation", "metric", "statistic", "value", "text", "line"]
    return data.measurements.select(figures).equals(there.measurements.select(figures)) and data.runs.drop(
        "source", "run_id"
    ).equals(there.runs.drop("source", "run_id"))


@pytest.mark.parametrize("name", ["logs.zip", "logs.tar", "logs.tar.gz", "logs.tgz", "logs.tar.xz"])
def test_an_archive_is_read_as_the_folder_that_it_holds(study: Path, tmp_path: Path, name: str) -> None:
    archive = tmp_path / name
    if name.endswith(".zip"):
        with zipfile.ZipFile(archive, "w") as made:
            for path in sorted(study.rglob("*")):
                made.write(path, path.relative_to(study.parent))
    else:
        with tarfile.open(
            archive, f"w:{ {'tgz': 'gz', 'tar': ''}.get(archive.suffix[1:], archive.suffix[1:]) }"
        ) as tar:
            tar.add(study, "study")
    assert _same(fsb.read(archive), study)


def test_a_folder_and_a_file_on_a_web_server(server: str, study: Path) -> None:
    assert _same(fsb.read(f"{server}/study/"), study)
    log = next(path for path in sorted(study.iterdir()) if path.suffix in {".txt", ".log", ".html", ".md"})
    assert _same(fsb.read(f"{server}/study/{log.name}"), log)
    shutil.make_archive(str(study.parent / "packed"), "gztar", study.parent, study.name)
    shutil.make_archive(str(study.parent / "packed"), "zip", study.parent, study.name)
    for name in ("packed.zip", "packed.tar.gz"):  # this server hands out no parts of a file
        assert _same(fsb.read(f"{server}/{name}"), study)


def test_what_is_gone_or_new_there_is_so_here(server: str, study: Path) -> None:
    before = fsb.read(f"{server}/study/").runs.height
    (study / "study.toml").unlink()
    for path in study.iterdir():
        (study / f"again-{path.name}").write_bytes(path.read_bytes().replace(b"1", b"2"))
        path.unlink()
    assert before > 0
    assert _same(fsb.read(f"{server}/study/"), study)


def test_only_what_changed_is_fetched_again(server: str, study: Path, tmp_path: Path) -> None:
    fsb.read(f"{server}/study/")
    copies = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    changed = next(path for path in copies if path.name in {each.name for each in study.iterdir()})
    source = study / changed.name
    time.sleep(1.1)  # the server's dates have seconds
    source.write_bytes(source.read_bytes() + b"\n")
    fsb.read(f"{server}/study/")
    fetched = [path for path, then in copies.items() if path.exists() and path.stat().st_mtime_ns != then]
    assert [path.name for path in fetched if path.name in {each.name for each in study.iterdir()}] == [
        changed.name
    ]


def test_an_archive_cannot_write_elsewhere(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as made:
        made.writestr("../../evil.txt", "x")
    with pytest.raises(InputError, match="leads out of it"):
        fsb.read(tmp_path / "evil.zip")
    assert not list(tmp_path.rglob("evil.txt"))


def test_links_in_an_archive_lead_to_what_it_holds_and_nowhere_else(study: Path, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("of someone else")
    for name, target in {"latest": "study", "gone": "nowhere", "out": "../../../other.txt"}.items():
        (study.parent / name).symlink_to(target)
    (study.parent / "far").symlink_to(tmp_path / "other.txt")
    with tarfile.open(tmp_path / "logs.tar.gz", "w:gz") as tar:
        tar.add(study.parent, ".")
    data = fsb.read(tmp_path / "logs.tar.gz")
    assert data.runs.drop("source", "run_id").equals(fsb.read(study).runs.drop("source", "run_id"))
    said = {Path(source).name: code for source, code in data.diagnostics.select("source", "code").rows()}
    assert {name: said.get(name) for name in ("far", "gone", "out")} == dict.fromkeys(
        ("far", "gone", "out"), "SKIPPED"
    )


def _zipped(archive: Path, log: bytes) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("log.txt", log)
    return archive


@pytest.fixture
def log(study: Path) -> bytes:
    return max((path.read_bytes() for path in study.iterdir() if path.suffix != ".toml"), key=len)


def test_an_archive_in_a_folder_is_named_and_a_pattern_leads_into_it(log: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "log.txt").write_bytes(log)
    archive = _zipped(folder / "OLD.ZIP", log)
    data = fsb.read(folder)
    assert data.diagnostics.filter(code="SKIPPED")["source"].to_list() == [str(archive)]
    assert fsb.read(folder / "*.ZIP").runs.height == data.runs.height > 0


def test_archives_of_one_name_in_two_folders_have_a_copy_each(
    log: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        _zipped(Path("logs.zip"), log)
        sources |= {*fsb.read("logs.zip").runs["source"]}
    assert len(sources) == 2


def test_a_file_that_bears_the_same_date_and_size_is_read_anew(log: bytes, tmp_path: Path) -> None:
    archive, texts = tmp_path / "logs.tar", []
    for content in (log, log.replace(b"1", b"2")):
        archive.unlink(missing_ok=True)
        with tarfile.open(archive, "w") as tar:
            member = tarfile.TarInfo("log.txt")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        texts.append(fsb.read(archive).measurements["text"].to_list())
    assert texts[0] != texts[1]


def test_names_on_a_web_server_are_those_of_its_files(server: str, study: Path, log: bytes) -> None:
    (study.parent / "more logs").mkdir()
    (study.parent / "more logs" / "xfs run 1.txt").write_bytes(log)
    (source,) = {*fsb.read(f"{server}/more%20logs/").runs["source"]}
    assert Path(source).name == "xfs run 1.txt"


def test_what_is_being_read_stays_whole_while_it_is_fetched_again(log: bytes, tmp_path: Path) -> None:
    (source,) = {*fsb.read(_zipped(tmp_path / "logs.zip", log)).runs["source"]}
    with Path(source).open("rb") as opened:
        fsb.read(_zipped(tmp_path / "logs.zip", log.replace(b"1", b"2")))
        assert opened.read() == log
    assert Path(source).read_bytes() != log


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://127.0.0.1:9/study/", "cannot be reached"),
        ("gopher://host/logs", "cannot be fetched: Protocol not known: gopher"),
        ("missing.zip", "No such file or directory"),
    ],
)
def test_what_cannot_be_fetched_is_said(url: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fsb.read(url)


@pytest.fixture
def object_server(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve a bucket by the protocol of S3."""
    if (server := shutil.which("versitygw")) is None:
        pytest.skip("versitygw is not here: go install github.com/versity/versitygw/cmd/versitygw@latest")
    shutil.copytree(study, tmp_path / "store" / "results" / "2026" / "study")
    port = free_port()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "reader")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of-logs")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    words = ["--access", "reader", "--secret", "of-logs", "--port", f"127.0.0.1:{port}", "posix"]
    with _running([server, *words, str(tmp_path / "store")], port):
        yield "s3://results"


@pytest.mark.slow
def test_a_bucket_of_an_object_server(object_server: str, study: Path, tmp_path: Path) -> None:
    assert _same(fsb.read(f"{object_server}/2026/study"), study)
    (stored,) = (tmp_path / "store").rglob("study.toml")
    stored.unlink()
    (study / "study.toml").unlink()
    assert _same(fsb.read(f"{object_server}/2026/study"), study)
    with pytest.raises(InputError, match="there is no such file"):
        fsb.read(f"{object_server}/2025")
