"""What people give is found and opened: each file once, regular ones only, a string as one path."""

import io
import lzma
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path

import pytest

import fsbench_kit as fsb
from fsbench_kit.data import batches
from fsbench_kit.model.errors import InputError, RequestError
from tests.command import fsbench

FSBENCH = Path(sys.executable).with_name("fsbench")

LogWriter = Callable[..., str]


def _sources(data: fsb.Dataset) -> list[str]:
    return [Path(source).name for source in data.runs["source"]]


def _remarks(data: fsb.Dataset, code: str) -> list[tuple[str, str]]:
    found = data.diagnostics.filter(code=code).select("source", "message").rows()
    return [(Path(source).name, message) for source, message in found]


@pytest.fixture
def logs(tmp_path: Path, smallfiles_log: LogWriter) -> Path:
    """Return a folder with two logs, ``a.txt`` and ``more/b.txt``."""
    folder = tmp_path / "logs"
    (folder / "more").mkdir(parents=True)
    (folder / "a.txt").write_text(smallfiles_log())
    (folder / "more" / "b.txt").write_text(smallfiles_log("xfs"))
    return folder


def test_what_is_no_regular_file_is_named_and_not_opened(logs: Path, tmp_path: Path) -> None:
    os.mkfifo(logs / "fifo_bw.1.log")
    (logs / "device").symlink_to("/dev/null")
    (logs / "broken").symlink_to("nothing")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(logs / "socket"))
        # Where it is opened, a FIFO that nobody writes to waits for ever.
        command = [FSBENCH, "read", logs, "--to", tmp_path / "frames"]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode == 0, result.stderr
    assert "2 runs, 6 figures" in result.stdout
    assert [line for line in result.stderr.splitlines() if "SKIPPED" in line] == [
        f"warning: {logs}/broken: It is a link to nothing, and was not opened. [SKIPPED; 3 more in 4 files]"
    ]
    said = fsb.read(tmp_path / "frames").diagnostics.filter(code="SKIPPED").select("source", "message").rows()
    assert said == [
        (f"{logs}/broken", "It is a link to nothing, and was not opened."),
        (f"{logs}/device", "It is a character device, and was not opened."),
        (f"{logs}/fifo_bw.1.log", "It is a FIFO, and was not opened."),
        (f"{logs}/socket", "It is a socket, and was not opened."),
    ]


def test_a_report_beside_its_logs_is_read_only_by_its_own_path(logs: Path, tmp_path: Path) -> None:
    for name, text in (("notebooks/a.ipynb", "{}"), ("manifests/a.json", "{}")):
        (logs / "pages" / name).parent.mkdir(parents=True)
        (logs / "pages" / name).write_text(text)
    (logs / "pages" / "logs").mkdir()
    (logs / "pages" / "logs" / "0a-copy.txt").write_bytes((logs / "a.txt").read_bytes().replace(b"1", b"3"))
    said = ("pages", "It is a report, with copies of logs, and was not read: give its own path to read it.")
    in_bulk = tmp_path / "frames"
    fsb.ingest([logs], to=in_bulk)
    for data in (fsb.read(logs), fsb.read(in_bulk)):
        assert _sources(data) == ["a.txt", "b.txt"]
        assert _remarks(data, "REPORT_SKIPPED") == [said]
    assert _sources(fsb.read(logs / "pages")) == ["0a-copy.txt"]
    (empty := tmp_path / "empty").mkdir()
    (logs / "pages").rename(empty / "pages")
    with pytest.raises(InputError, match="There is no log in this folder"):
        fsb.read(empty)
    (empty / "pages").rename(logs / "pages")
    (logs / "pages" / "manifests" / "a.json").rename(logs / "pages" / "manifests" / "b.json")  # of no page
    assert _sources(fsb.read(logs)) == ["a.txt", "b.txt", "0a-copy.txt"]


def test_a_file_replaced_after_it_was_found_is_only_opened_if_it_is_still_regular(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, digit in (("c.txt", "3"), ("d.txt", "4")):
        (logs / name).write_text((logs / "a.txt").read_text().replace("1", digit))
    descriptor_of = batches.descriptor_of

    def too_late(path: str, **options: bool) -> tuple[int, os.stat_result]:
        if Path(path).name == "a.txt":
            Path(path).unlink()
            os.mkfifo(path)
        if Path(path).name == "b.txt":
            Path(path).unlink()
            Path(path).symlink_to("/dev/null")
        if Path(path).name == "d.txt":
            Path(path).rename(logs / ".d")
            Path(path).symlink_to(logs / ".d")
        return descriptor_of(path, **options)

    opened: list[str] = []
    open_ = os.open

    def noted(path: str, *how: int) -> int:
        descriptor = open_(path, *how)
        opened.append(Path(path).name)
        return descriptor

    monkeypatch.setattr(batches, "descriptor_of", too_late)
    with monkeypatch.context() as context:
        context.setattr(os, "open", noted)
        data = fsb.read(logs, cache=False)
    assert {"c.txt", "d.txt"} <= set(opened)
    assert "b.txt" not in opened  # opening a device can change its state
    assert _sources(data) == ["c.txt", "d.txt"]
    assert _remarks(data, "UNREADABLE") == [
        ("a.txt", "The file cannot be read: it is a FIFO."),
        ("b.txt", "The file cannot be read: it is a character device."),
    ]


def test_a_device_given_by_name_is_an_error() -> None:
    with pytest.raises(InputError, match="/dev/null: The file cannot be read: it is a character device"):
        fsb.read("/dev/null")


def test_a_study_cannot_have_a_fifo_read(tmp_path: Path, smallfiles_log: LogWriter) -> None:
    os.mkfifo(tmp_path / "log.txt")
    study = '[study]\nid = "x"\ntitle = "X"\n[[log]]\nfile = "log.txt"\ntool = "smallfiles"\n'
    (tmp_path / "study.toml").write_text(study)
    data = fsb.read(tmp_path, smallfiles_log().encode())
    assert _remarks(data, "UNREADABLE") == [("log.txt", "The file cannot be read: it is a FIFO.")]


def test_links_that_go_round_in_circles_read_each_log_once(logs: Path) -> None:
    (logs / "self").symlink_to(".")
    (logs / "more" / "up").symlink_to("..")
    (logs / "more" / "first").symlink_to("../x")
    (logs / "x").mkdir()
    (logs / "x" / "second").symlink_to("../more")
    (logs / "out").symlink_to("/")
    data = fsb.read(logs)
    assert _sources(data) == ["a.txt", "b.txt"]
    assert {name for name, _ in _remarks(data, "SKIPPED")} == {"self", "up", "out"}
    assert {name for name, _ in _remarks(data, "READ_BEFORE")} == {"second", "x"}


def test_a_file_with_several_names_is_read_once(logs: Path) -> None:
    (logs / "c.txt").hardlink_to(logs / "a.txt")
    (logs / "d.txt").symlink_to("more/b.txt")
    data = fsb.read(logs, logs / "a.txt", f"{logs}/more/../a.txt", logs / "more")
    assert _sources(data) == ["a.txt", "d.txt"]
    read_before = sorted(name for name, _ in _remarks(data, "READ_BEFORE"))
    assert read_before == ["a.txt", "a.txt", "b.txt", "c.txt", "more"]


def test_equal_logs_of_two_runs_that_share_their_bytes_on_disk_stay_two(
    tmp_path: Path, smallfiles_log: LogWriter
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(smallfiles_log())
    assert fsb.read(tmp_path).runs.height == 2


@pytest.fixture
def closed(logs: Path) -> Iterator[Path]:
    """Return a folder that may not be looked into, in one that may."""
    folder = logs / "more"
    for parent in takewhile(lambda parent: parent != Path(tempfile.gettempdir()), (logs, *logs.parents)):
        parent.chmod(0o755)
    folder.chmod(0)
    user = os.geteuid()
    if user == 0:
        fsb.read(logs / "a.txt")  # loads all that reading needs: the interpreter's own files may be root's alone
        os.seteuid(65534)
    yield folder
    os.seteuid(user)
    folder.chmod(0o755)


def test_a_folder_that_cannot_be_read_stops_nothing(closed: Path) -> None:
    data = fsb.read(closed.parent)
    assert _sources(data) == ["a.txt"]
    assert _remarks(data, "UNREADABLE") == [("more", "The folder cannot be read: Permission denied.")]
    with pytest.raises(InputError, match=r"b\.txt: The file cannot be read: Permission denied"):
        fsb.read(closed / "b.txt")


def test_a_pipe_is_read_where_somebody_names_it(tmp_path: Path, smallfiles_log: LogWriter) -> None:
    packed = tmp_path / "log.xz"
    packed.write_bytes(lzma.compress(smallfiles_log().encode()))
    command = f"{FSBENCH} read <(xz -dc {packed}) && {FSBENCH} read - < {packed}"
    result = subprocess.run(["/bin/bash", "-c", command], capture_output=True, text=True, check=False)
    assert result.stdout.count("1 run, 3 figures") == 2, result.stderr
    explained = subprocess.run(
        [FSBENCH, "read", "--explain", "-"], check=False, input=smallfiles_log().encode(), capture_output=True
    )
    assert b"<stdin>" in explained.stdout
    assert b"write_sync elapsed = 0.1 s" in explained.stdout


def test_a_string_is_one_path(logs: Path) -> None:
    for given in (str(logs), logs, [str(logs)], [logs / "a.txt", [f"{logs}/more"]], (f"{logs}/*",)):
        assert _sources(fsb.read(given)) == ["a.txt", "b.txt"]
    assert fsb.audit("raw_results/published/sysbench-rhel72").equals(
        fsb.audit(["raw_results/published/sysbench-rhel72"])
    )


def test_a_path_in_letters_searches_nothing(logs: Path) -> None:
    with pytest.raises(InputError, match="/: The whole machine is not searched"):
        fsb.read(*str(logs))
    for empty in ("", [""]):
        with pytest.raises(RequestError, match="an empty string is not a path"):
            fsb.read(empty)


def test_patterns_stand_for_what_matches_them(logs: Path, smallfiles_log: LogWriter) -> None:
    assert _sources(fsb.read(f"{logs}/*.txt")) == ["a.txt"]
    assert _sources(fsb.read(f"{logs}/**/*.txt")) == ["a.txt", "b.txt"]
    (logs / "[ab].txt").write_text(smallfiles_log("btrfs"))
    assert _sources(fsb.read(f"{logs}/[ab].txt")) == ["[ab].txt"]
    with pytest.raises(InputError, match=r"\*\.json: No file matches this pattern. .* has "):
        fsb.read(f"{logs}/*.json")


def test_open_files_bytes_and_text(logs: Path, smallfiles_log: LogWriter) -> None:
    path = logs / "a.txt"
    expected = fsb.read(path)
    with path.open("rb") as binary, path.open() as text:
        for opened in (binary, text):
            assert fsb.read(opened).measurements.equals(expected.measurements)
            assert fsb.read(opened, path).runs["source"].to_list() == [str(path)]
            opened.seek(0)
    content = smallfiles_log()
    for given in (
        content.encode(),
        io.BytesIO(content.encode()),
        io.StringIO(content),
        lzma.compress(content.encode()),
    ):
        assert fsb.read(given).measurements.equals(expected.measurements)
    assert fsb.read(content.encode(), content.encode()).runs.select("source").rows() == [
        ("<file 1>",),
        ("<file 2>",),
    ]


def test_a_packed_file_that_cannot_be_read_is_named_in_a_folder(logs: Path, smallfiles_log: LogWriter) -> None:
    packed = lzma.compress(smallfiles_log().encode())
    (logs / "torn.xz").write_bytes(packed[:40])
    (logs / "picture.png").write_bytes(bytes(range(256)))
    data = fsb.read(logs)
    assert _sources(data) == ["a.txt", "b.txt"]
    assert data.diagnostics.select("code", "severity").rows() == [("DAMAGED_ARCHIVE", "warning")]


def test_what_can_be_no_log_is_a_request_error(tmp_path: Path, smallfiles_log: LogWriter) -> None:
    (tmp_path / "latin1.txt").write_bytes(b"M\xe4rz")
    with (
        (tmp_path / "latin1.txt").open(encoding="utf-8") as text,
        pytest.raises(RequestError, match="binary mode"),
    ):
        fsb.read(text)
    with pytest.raises(RequestError, match="a log's text is not a path"):
        fsb.read(smallfiles_log())
    for wrong in (None, 3, {"a": "b"}):
        with pytest.raises(RequestError, match="cannot read"):
            fsb.read(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("folder", ["/proc", "/proc/self", "/sys", "/sys/kernel"])
def test_what_the_kernel_shows_of_itself_is_not_searched(folder: str) -> None:
    with pytest.raises(InputError, match=f"{folder}: This is a filesystem of the kernel itself"):
        fsb.read(folder)
    ran = fsbench("read", "--explain", folder)
    assert ran.returncode != 0
    assert "This is a filesystem of the kernel itself" in ran.stderr


@pytest.mark.parametrize("bulk", [False, True])
def test_below_a_folder_it_is_left_out_and_said(tmp_path: Path, *, bulk: bool) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log").write_text("real\t0m1.500s\nuser\t0m0.250s\nsys\t0m0.100s\n")
    (tmp_path / "logs" / "machine").symlink_to("/proc")
    if bulk:
        data = fsb.ingest(tmp_path / "logs", to=tmp_path / "dataset").collect()
    else:
        data = fsb.read(tmp_path / "logs")
    assert data.runs.height == 1
    (said,) = data.diagnostics.filter(code="SKIPPED").rows(named=True)
    assert Path(said["source"]).name == "machine"
    assert said["message"].startswith("This is a filesystem of the kernel itself (proc)")
