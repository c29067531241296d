from __future__ import annotations

import io
import os
import re
import subprocess
import zlib
from typing import TYPE_CHECKING

import psutil
import pytest

from fsbench_kit.formats import smallfiles as log_format
from fsbench_kit.formats.text import Text
from fsbench_kit.launch import tools
from fsbench_kit.launch.workloads import RunContext
from fsbench_kit.launch.workloads.smallfiles import Smallfiles
from fsbench_kit.launch.workloads.smallfiles import __main__ as program
from fsbench_kit.model.records import Diagnostic, Run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def context(directory: Path, *, filesystem: str = "xfs") -> RunContext:
    return RunContext(directory=directory, beside=directory, filesystem=filesystem, seed=1)


class Watcher:
    """Looks at the directory whenever the program syncs: before the first step, and after each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[dict[str, bytes]] = []
        self.sync = program.sync
        monkeypatch.setattr(program, "sync", self.look)

    def look(self, folder: str) -> None:
        from pathlib import Path

        self.seen.append({path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())})
        self.sync(folder)


@pytest.fixture(params=["C", "Python"])
def beside(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the compiled loops, or with none."""
    folder = tmp_path_factory.mktemp("beside")
    if request.param == "C":
        if tools.find_program("cc") is None:
            pytest.skip("there is no C compiler (cc)")
        program.compile_loops(folder)
        assert (folder / "loops.so").exists()
    return folder


@pytest.fixture
def run(beside: Path) -> Callable[..., str]:
    def do(directory: Path, *, files: int = 50, size: str = "4k", seed: int = 1, **options: int) -> str:
        log = io.StringIO()
        program.run(
            directory, beside=beside, filesystem="ext4", files=files, size=size, seed=seed, log=log, **options
        )
        return log.getvalue()

    return do


def test_steps_do_what_they_are_called(
    run: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Watcher(monkeypatch)
    run(tmp_path, files=50, size="5000")
    before, written, rewritten, read, deleted = watcher.seen
    assert before == deleted == {}
    assert len(written) == len(rewritten) == 50
    assert {len(content) for content in [*written.values(), *rewritten.values()]} == {5000}
    assert all(written[name] != rewritten[name] for name in written)
    assert read == rewritten
    assert list(tmp_path.iterdir()) == []


def test_log_is_read_without_diagnostics(run: Callable[..., str], beside: Path, tmp_path: Path) -> None:
    log = run(tmp_path, files=50, size="4k")
    records = list(log_format.parse(Text(log)))
    assert [r for r in records if isinstance(r, Diagnostic)] == []
    (found,) = (r for r in records if isinstance(r, Run))
    assert found.filesystem == "ext4"
    assert {s.key: s.value for s in found.settings} == {
        "block_size": "4096",
        "files": "50",
        "threads": "1",
        "compressibility": "0.0",
        "engine": "C" if any(beside.iterdir()) else "Python",
    }
    assert [m.operation for m in found.measurements if m.metric == "file_rate"] == [
        "write",
        "rewrite",
        "read",
        "delete",
    ]
    assert len(found.measurements) == 12
    assert list(log_format.signatures(log))


def test_log_has_the_layout_of_2020(run: Callable[..., str], tmp_path: Path) -> None:
    lines = run(tmp_path, files=50, size="128k").splitlines()
    assert lines[0] == "# datasize: 128k"
    assert lines[5:7] == ["# ext4", "file_create 50"]
    step = r"{0}: \d+\.\d{{3}}/sec, {0}/\d+\.\d{{3}} secs, {0}_sync/\d+\.\d{{3}} secs"
    for line, name in zip(lines[7:], ["write", "rewrite", "read", "delete"], strict=True):
        assert re.fullmatch(step.format(name), line)


def test_data_depend_on_the_seed_alone(
    run: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Watcher(monkeypatch)
    for seed in (7, 7, 8):
        run(tmp_path, seed=seed)
    once, again, other = watcher.seen[1], watcher.seen[6], watcher.seen[11]
    assert once == again
    assert all(once[name] != other[name] for name in once)


@pytest.mark.slow
def test_data_can_neither_be_compressed_nor_deduplicated(
    run: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Watcher(monkeypatch)
    run(tmp_path, files=5000, size="8k")  # more files than a block has bytes, and more than one block in each
    contents = [*watcher.seen[1].values(), *watcher.seen[2].values()]
    assert all(len(zlib.compress(content)) > len(content) for content in contents[:100])
    blocks = [content[start : start + 4096] for content in contents for start in (0, 4096)]
    assert len(set(blocks)) == len(blocks) == 20000


def test_threads_share_the_files(run: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = Watcher(monkeypatch)
    log = run(tmp_path, files=50)
    shared = run(tmp_path, files=50, threads=3)
    # The same files with the same data after each step, and none at the end.
    assert watcher.seen[:5] == watcher.seen[5:]
    assert len(watcher.seen[6]) == 50
    assert [line for line in shared.splitlines() if line.startswith("# threads")] == ["# threads: 3"]
    (made,) = (r for r in log_format.parse(Text(shared)) if isinstance(r, Run))
    assert {s.key: s.value for s in made.settings}["threads"] == "3"
    assert len(made.measurements) == 12
    assert shared.count("\n") == log.count("\n")


def test_threads_end_with_the_program(run: Callable[..., str], tmp_path: Path) -> None:
    before = psutil.Process().children()
    run(tmp_path, files=50, threads=3)
    threads = [each for each in psutil.Process().children() if each not in before]
    assert psutil.wait_procs(threads, timeout=10)[1] == []


def test_each_thread_does_its_share_in_a_process_of_its_own(tmp_path: Path) -> None:
    names = []
    for number in range(3):
        path = tmp_path / f"share-{number}"
        names.append(path)
    shares = [{"write": lambda path=path: path.write_text(str(os.getpid()))} for path in names]
    program._together(shares)("write")
    processes = {path.read_text() for path in names}
    assert len(processes) == 3
    assert str(os.getpid()) not in processes


def test_thread_that_fails_fails_the_step(tmp_path: Path) -> None:
    shares = [{"delete": lambda path=path: path.unlink()} for path in (tmp_path / "a", tmp_path / "b")]
    (tmp_path / "a").touch()
    with pytest.raises(FileNotFoundError, match="b"):
        program._together(shares)("delete")


@pytest.mark.parametrize("percent", [0, 30, 99])
def test_data_can_be_compressed_by_their_share(
    run: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, percent: int
) -> None:
    watcher = Watcher(monkeypatch)
    log = run(tmp_path, files=300, size="8k", compressibility=percent)
    contents = [*watcher.seen[1].values(), *watcher.seen[2].values()]
    packed = sum(len(zlib.compress(content)) for content in contents)
    assert packed / (8192 * len(contents)) == pytest.approx(1 - percent / 100, abs=0.02)  # zlib adds some
    blocks = [content[start : start + 4096] for content in contents for start in (0, 4096)]
    assert len(set(blocks)) == len(blocks)
    records = list(log_format.parse(Text(log)))
    assert [r for r in records if isinstance(r, Diagnostic)] == []
    (made,) = (r for r in records if isinstance(r, Run))
    assert {s.key: s.value for s in made.settings}["compressibility"] == str(percent / 100)


@pytest.mark.parametrize(
    ("step", "content", "error"),
    [
        ("write", b"12345678", FileExistsError),
        ("rewrite", None, FileNotFoundError),
        ("read", None, FileNotFoundError),
        ("read", b"1234567", OSError),
        ("read", b"123456789", OSError),
        ("delete", None, FileNotFoundError),
    ],
)
def test_step_ends_at_the_first_file_that_fails(
    beside: Path, tmp_path: Path, step: str, content: bytes | None, error: type[OSError]
) -> None:
    paths = [tmp_path / name for name in ("first", "bad", "last")]
    for path in paths:
        if step != "write":
            path.write_bytes(b"12345678")
    paths[1].unlink(missing_ok=True)
    if content is not None:
        paths[1].write_bytes(content)
    windows = [memoryview(bytearray(b"abcdefgh"))] * 3
    steps = program._steps(program._compiled(beside), [bytes(path) for path in paths], windows, windows, 8)
    with pytest.raises(error, match=r"No such file|File exists|it could not be written or read whole") as raised:
        steps[step]()
    assert raised.value.filename == bytes(paths[1])
    first, last = (path.read_bytes() if path.exists() else None for path in (paths[0], paths[2]))
    assert first == {"delete": None, "read": b"12345678"}.get(step, b"abcdefgh")
    assert last == (None if step == "write" else b"12345678")


def test_a_file_cut_short_is_said_on_standard_error(beside: Path, tmp_path: Path) -> None:
    work = Smallfiles(tool="smallfiles", name="small", files=5, size=4096).work(
        RunContext(directory=tmp_path, beside=beside, filesystem="ext4", seed=1)
    )
    done = subprocess.run(["prlimit", "--fsize=10", *work.measured], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("smallfiles: [Errno 0] it could not be written or read whole: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("compiler", "sentence"),
    [
        (None, "there is no C compiler ([Errno 2] No such file or directory: 'cc')"),
        ("#!/bin/sh\necho no such header >&2; exit 1\n", "cc failed: no such header"),
    ],
)
def test_without_a_compiler_it_is_said_that_the_loops_are_in_python(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    compiler: str | None,
    sentence: str,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if compiler is not None:
        (tmp_path / "cc").write_text(compiler)
        (tmp_path / "cc").chmod(0o755)
    assert program.main(["loops", f"--beside={tmp_path}"]) == 0
    assert capfd.readouterr().err == f"smallfiles: the loops are in Python, because {sentence}\n"
    workload = Smallfiles(tool="smallfiles", name="small", files=1, size=1)
    if compiler is None:
        assert str(workload.remark()).startswith(
            "cc is not installed (Debian: gcc, libc6-dev), so its loops run in Python"
        )


def test_loops_that_cannot_be_loaded_are_in_python(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "loops.so").write_bytes(b"junk")
    assert program._compiled(tmp_path) is None
    assert "loops.so: " in capfd.readouterr().err


def test_filesystem_is_named_as_one_word(tmp_path: Path) -> None:
    workload = Smallfiles(tool="smallfiles", name="small", files=1, size="4k")
    assert "--filesystem=fuse_sshfs" in workload.work(context(tmp_path, filesystem="fuse.sshfs")).measured


def test_space_covers_what_files_take(
    run: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Watcher(monkeypatch)
    run(tmp_path, files=30, size="5000")
    taken = sum(-(-len(content) // 4096) * 4096 for content in watcher.seen[1].values())
    assert Smallfiles(tool="smallfiles", name="small", files=30, size=5000).space >= taken


def test_program_needs_nothing_but_python(tmp_path: Path) -> None:
    workload = Smallfiles(tool="smallfiles", name="small", files=3, size="1M")
    work = workload.work(context(tmp_path))
    for python, path, *options in (*work.before, work.measured):
        # -I and -S: no packages, not even those that are installed
        done = subprocess.run(
            [python, "-I", "-S", path, *options],
            env={"PATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
    assert done.stdout.startswith("# datasize: 1m\n")
    assert "# engine: Python\n" in done.stdout
