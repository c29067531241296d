"""The commands that make a target ready: what they say, and what they took."""

from __future__ import annotations

import os
import resource
import signal
import time
from pathlib import Path

import pytest

from fsbench_kit.launch.targets import Step, StepError, steps
from fsbench_kit.launch.targets.steps import run_step
from fsbench_kit.model.errors import LaunchError


def step(folder: Path, script: str, *, may_fail: bool = False) -> Step:
    """Run a script of the shell as a step."""
    done: list[Step] = []
    run_step(done, folder, "sh", "-c", script, may_fail=may_fail)
    (found,) = done
    return found


def test_step_runs_in_its_folder_without_input_and_all_it_says_is_kept_in_order(tmp_path: Path) -> None:
    found = step(tmp_path, "echo one; pwd >&2; cat; printf 'caf\\351\\n'; echo $LC_ALL")
    assert found.output == f"one\n{tmp_path}\ncaf\ufffd\nC.UTF-8\n"
    assert found.argv[:2] == ("sh", "-c")


def test_step_that_fails_ends_the_target(tmp_path: Path) -> None:
    done: list[Step] = []
    with pytest.raises(StepError) as raised:
        run_step(done, tmp_path, "sh", "-c", "echo no room; exit 3")
    assert [found.output for found in raised.value.steps] == ["no room\n"]
    assert step(tmp_path, "kill -9 $$", may_fail=True).output == ""


@pytest.mark.parametrize("word", ["{}", "of={}", "device=/dev/null,device={}"])
def test_command_gets_no_block_device_that_nobody_looked_at(tmp_path: Path, word: str) -> None:
    device = next((path for path in sorted(Path("/dev").iterdir()) if path.is_block_device()), None)
    if device is None:
        pytest.skip("this machine shows no block devices")
    with pytest.raises(LaunchError, match=f"cannot run touch on {device}"):
        run_step([], tmp_path, "touch", "proof", word.format(device))
    assert not (tmp_path / "proof").exists()


def test_what_a_step_took(tmp_path: Path) -> None:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    idle, busy = step(tmp_path, "sleep 0.2"), step(tmp_path, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    assert idle.elapsed >= 0.2
    assert idle.elapsed + busy.elapsed < end - start
    assert idle.user + idle.system < 0.1
    # Nothing else was started but `true`, before each.
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert 0.5 * taken < busy.user + busy.system <= min(taken, busy.elapsed + 0.01)
    assert 0 < idle.minor_faults + busy.minor_faults < after.ru_minflt - before.ru_minflt


def test_step_that_leaves_a_program_behind_is_not_waited_for(tmp_path: Path) -> None:
    left = int(step(tmp_path, "sleep 600 & echo $!").output)
    os.kill(left, signal.SIGKILL)  # which it could not be if it had ended


def test_step_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "_TIMEOUT", 0.2)
    found = step(tmp_path, "exec sleep 600", may_fail=True)
    assert found.output == "did not finish within 0.2 s"
    assert 0.2 <= found.elapsed < 60


def test_programs_get_the_signals_that_python_ignores(tmp_path: Path) -> None:
    of_python = [signal.SIGPIPE, signal.SIGXFSZ]
    assert all(signal.getsignal(each) == signal.SIG_IGN for each in of_python)
    ignored = int(step(tmp_path, "grep SigIgn /proc/self/status").output.split()[1], 16)
    # What else is ignored was so before Python started: nohup ignores SIGHUP.
    assert [each for each in of_python if ignored >> each - 1 & 1] == []
