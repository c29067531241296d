from __future__ import annotations

import io
import re
import subprocess
import zlib
from typing import TYPE_CHECKING

from fsbench_kit.formats import smallfiles as log_format
from fsbench_kit.formats.text import Text
from fsbench_kit.launch.workloads import Ground, Smallfiles
from fsbench_kit.launch.workloads.smallfiles import __main__ as program
from fsbench_kit.records import Diagnostic, Run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


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


def run(directory: Path, *, files: int = 50, size: str = "4k", seed: int = 1) -> str:
    log = io.StringIO()
    program.run(directory, filesystem="ext4", files=files, size=size, seed=seed, log=log)
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
    assert {s.key: s.value for s in found.settings} == {"block_size": "4096", "files": "50"}
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
    assert lines[3:5] == ["# ext4", "file_create 50"]
    step = r"{0}: \d+\.\d{{3}}/sec, {0}/\d+\.\d{{3}} secs, {0}_sync/\d+\.\d{{3}} secs"
    for line, name in zip(lines[5:], ["write", "rewrite", "read", "delete"], strict=True):
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


def test_a_full_filesystem_is_said_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program.os, "write", lambda *_: 10)
    arguments = ["--filesystem=ext4", "--files=5", "--size=4k", "--seed=1", f"--directory={tmp_path}"]
    assert program.main(arguments) == 1
    assert "00000000 could not be written whole" in capsys.readouterr().err
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
