from __future__ import annotations

import io
import os
import re
import subprocess
import zlib
from typing import TYPE_CHECKING

import pytest

from fsbench_kit.formats import smallfiles as log_format
from fsbench_kit.formats.text import Text
from fsbench_kit.launch.workloads import Ground, Smallfiles
from fsbench_kit.launch.workloads.smallfiles import __main__ as program
from fsbench_kit.records import Diagnostic, Run

if TYPE_CHECKING:
    from pathlib import Path


def ground(directory: Path, *, filesystem: str = "xfs") -> Ground:
    return Ground(directory=directory, beside=directory, filesystem=filesystem, seed=1)


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


def run(directory: Path, *, files: int = 50, size: str = "4k", seed: int = 1, **options: int) -> str:
    log = io.StringIO()
    program.run(directory, filesystem="ext4", files=files, size=size, seed=seed, log=log, **options)
    return log.getvalue()


def test_steps_do_what_they_are_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = Watcher(monkeypatch)
    run(tmp_path, files=50, size="5000")
    before, written, rewritten, read, deleted = watcher.seen
    assert before == deleted == {}
    assert len(written) == len(rewritten) == 50
    assert {len(content) for content in [*written.values(), *rewritten.values()]} == {5000}
    assert all(written[name] != rewritten[name] for name in written)
    assert read == rewritten
    assert list(tmp_path.iterdir()) == []


def test_log_is_read_without_diagnostics(tmp_path: Path) -> None:
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
    }
    assert [m.operation for m in found.measurements if m.metric == "file_rate"] == [
        "write",
        "rewrite",
        "read",
        "delete",
    ]
    assert len(found.measurements) == 12
    assert list(log_format.marks(log))


def test_log_has_the_layout_of_2020(tmp_path: Path) -> None:
    lines = run(tmp_path, files=50, size="128k").splitlines()
    assert lines[0] == "# datasize: 128k"
    assert lines[4:6] == ["# ext4", "file_create 50"]
    step = r"{0}: \d+\.\d{{3}}/sec, {0}/\d+\.\d{{3}} secs, {0}_sync/\d+\.\d{{3}} secs"
    for line, name in zip(lines[6:], ["write", "rewrite", "read", "delete"], strict=True):
        assert re.fullmatch(step.format(name), line)


def test_data_depend_on_the_seed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = Watcher(monkeypatch)
    for seed in (7, 7, 8):
        run(tmp_path, seed=seed)
    once, again, other = watcher.seen[1], watcher.seen[6], watcher.seen[11]
    assert once == again
    assert all(once[name] != other[name] for name in once)


def test_data_can_neither_be_compressed_nor_deduplicated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = Watcher(monkeypatch)
    run(tmp_path, files=5000, size="8k")  # more files than a block has bytes, and more than one block in each
    contents = [*watcher.seen[1].values(), *watcher.seen[2].values()]
    assert all(len(zlib.compress(content)) > len(content) for content in contents[:100])
    blocks = [content[start : start + 4096] for content in contents for start in (0, 4096)]
    assert len(set(blocks)) == len(blocks) == 20000


def test_threads_share_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, percent: int
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


def test_a_full_filesystem_is_said_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program.os, "write", lambda *_: 10)
    arguments = ["--filesystem=ext4", "--files=5", "--size=4k", "--seed=1", f"--directory={tmp_path}"]
    assert program.main(arguments) == 1
    assert "it could not be written whole: " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_filesystem_is_named_as_one_word(tmp_path: Path) -> None:
    workload = Smallfiles(tool="smallfiles", name="small", files=1, size="4k")
    assert "--filesystem=fuse_sshfs" in workload.work(ground(tmp_path, filesystem="fuse.sshfs")).measured


def test_space_covers_what_files_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = Watcher(monkeypatch)
    run(tmp_path, files=30, size="5000")
    taken = sum(-(-len(content) // 4096) * 4096 for content in watcher.seen[1].values())
    assert Smallfiles(tool="smallfiles", name="small", files=30, size=5000).space >= taken


def test_program_needs_nothing_but_python(tmp_path: Path) -> None:
    workload = Smallfiles(tool="smallfiles", name="small", files=3, size="1M")
    python, program, *options = workload.work(ground(tmp_path)).measured
    # -I and -S: no packages, not even those that are installed
    done = subprocess.run([python, "-I", "-S", program, *options], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("# datasize: 1m\n")
