"""Kernels are forked from a process that has loaded what they need, and are as good as ordinary ones."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from fsbench_kit import notebooks
from fsbench_kit.notebooks import Job, Manifest
from tests.waiting import wait_for

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
PARENT = "import os; print(open(f'/proc/{os.getppid()}/cmdline').read().split(chr(0))[2])"
SERVER = "fsbench_kit.notebooks.fork_server"

Run = Callable[..., dict[str, Manifest]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Yield a function that runs notebooks of one cell in one process, and returns what was recorded of them."""
    monkeypatch.chdir(tmp_path)
    ordinary = tmp_path / "jupyter" / "kernels" / "ordinary"
    for folder in (tmp_path / "notebooks", tmp_path / "raw_results", ordinary):
        folder.mkdir(parents=True)
    argv = ["python", "-X", "utf8", "-m", "ipykernel_launcher", "-f", "{connection_file}"]  # which nobody forks
    (ordinary / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "x", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:

        def run(kernel: str = "python3", **code: str) -> dict[str, Manifest]:
            return notebooks.run_all(_jobs(tmp_path, kernel, code), executor=process, fresh=True)

        yield run


def _jobs(folder: Path, kernel: str, code: dict[str, str]) -> list[Job]:
    jobs = []
    for name, source in code.items():
        cells = [v4.new_code_cell("", metadata={"tags": ["parameters"]}), v4.new_code_cell(source)]
        path = f"notebooks/{name}.ipynb"
        metadata = {"kernelspec": {"name": kernel, "display_name": "x", "language": "python"}}
        nbformat.write(v4.new_notebook(cells=cells, metadata=metadata), folder / path)
        jobs.append(Job(name=name, notebook=path, out=folder / "reports"))
    return jobs


def _printed(tmp_path: Path, name: str) -> str:
    notebook = nbformat.read(tmp_path / "reports" / "notebooks" / f"{name}.ipynb", as_version=4)
    return "".join(output.text for output in notebook.cells[-1].outputs)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_kernels_are_forked_and_begin_as_ordinary_ones(run: Run, tmp_path: Path) -> None:
    state = (
        "import os, signal, sys, threading\n"
        "for said in (sys.argv[1:2], sys.path[1:], os.getcwd(), os.getpgid(0) == os.getpid(), __name__,"
        " [name for name in os.environ if name.startswith(('OMP', 'OPENBLAS', 'MKL'))], signal.getsignal(2),"
        " sys.stdin.read(), 'polars' in sys.modules): print(said)"
    )
    random = "import numpy; print(numpy.random.rand())"
    ran = run(forked=PARENT, state=state, one=random, other=random)
    assert {manifest.status for manifest in ran.values()} == {"ok"}
    assert _printed(tmp_path, "forked") == f"{SERVER}\n"
    assert _printed(tmp_path, "one") != _printed(tmp_path, "other")
    forked = _printed(tmp_path, "state")
    assert forked.endswith("False\n")
    run("ordinary", forked=PARENT, state=state)
    assert _printed(tmp_path, "forked") != f"{SERVER}\n"
    assert _printed(tmp_path, "state") == forked


@pytest.mark.slow
def test_kernels_of_several_processes_are_forked_from_one_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("notebooks", "raw_results"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    both_run = (
        "import os, pathlib, time; pathlib.Path(f'{os.getpid()}.here').touch(); end = time.time() + 60\n"
        "while len(list(pathlib.Path().glob('*.here'))) < 2: assert time.time() < end; time.sleep(0.05)\n"
    )
    ran = notebooks.run_all(
        _jobs(tmp_path, "python3", dict.fromkeys(["one", "other"], f"{both_run}{PARENT}; print(os.getppid())"))
    )
    assert {manifest.status for manifest in ran.values()} == {"ok"}
    assert _printed(tmp_path, "one").startswith(f"{SERVER}\n")
    assert _printed(tmp_path, "one") == _printed(tmp_path, "other")


@pytest.mark.slow
def test_a_forked_kernel_that_dies_is_reported(run: Run) -> None:
    code = {"dead": "import os; os.kill(os.getpid(), 9)", "bad": "1 / 0"}
    forked = run(**code)
    assert forked["bad"].error == "ZeroDivisionError: division by zero"
    ordinary = run("ordinary", **code)
    assert ordinary["dead"].error is not None
    assert [manifest.error for manifest in ordinary.values()] == [manifest.error for manifest in forked.values()]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["python3", "ordinary"])
def test_what_a_notebook_leaves_for_its_end_is_done(kernel: str, run: Run, tmp_path: Path) -> None:
    code = (
        "import atexit, multiprocessing.util, pathlib, tempfile, threading, time\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def late(name, seconds=0, sleep=time.sleep, Path=pathlib.Path): sleep(seconds); Path(name).touch()\n"
        "atexit.register(late, 'registered.here')\n"
        "threading.Thread(target=late, args=['thread.here', 1]).start()\n"
        "pool = ThreadPoolExecutor(1); pool.submit(late, 'first.here', 1); pool.submit(late, 'second.here', 1)\n"
        "multiprocessing.util.Finalize(None, late, ['finalized.here'], exitpriority=1)\n"
        "folder = tempfile.TemporaryDirectory(dir='.', suffix='.here')\n"
    )
    assert run(kernel, left=code)["left"].status == "ok"
    left = ["finalized.here", "first.here", "registered.here", "second.here", "thread.here"]
    assert sorted(path.name for path in tmp_path.glob("*.here")) == left


@pytest.mark.slow
def test_without_a_server_kernels_are_ordinary_ones(run: Run, tmp_path: Path) -> None:
    ran = run(killed="import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)")
    assert ran["killed"].error is not None
    assert "Kernel died" in ran["killed"].error
    assert run(after=PARENT)["after"].status == "ok"
    assert _printed(tmp_path, "after") != f"{SERVER}\n"


@pytest.mark.slow
def test_a_server_ends_with_its_process_and_kernels_with_it(tmp_path: Path) -> None:
    for name in ("notebooks", "raw_results"):
        (tmp_path / name).mkdir()
    waiting = "import os, time; open('pids', 'w').write(f'{os.getpid()} {os.getppid()}\\n'); time.sleep(600)"
    cells = [v4.new_code_cell("", metadata={"tags": ["parameters"]}), v4.new_code_cell(waiting)]
    nbformat.write(v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), tmp_path / "notebooks/a.ipynb")
    (tmp_path / "report.toml").write_text('title = "x"\n[[notebook]]\nname = "a"\nfile = "notebooks/a.ipynb"\n')
    for how in (signal.SIGKILL, signal.SIGINT):
        command = [Path(sys.executable).with_name("fsbench"), "report", "report.toml"]
        with subprocess.Popen(command, cwd=tmp_path, start_new_session=True, stderr=subprocess.DEVNULL) as process:
            pids = wait_for(lambda: _read(tmp_path / "pids"))
            assert all(map(_is_running, pids))
            os.kill(process.pid, how)
        wait_for(lambda pids=pids: not any(map(_is_running, pids)))
        (tmp_path / "pids").unlink()


def _read(path: Path) -> list[int]:
    text = path.read_text() if path.exists() else ""
    return [int(word) for word in text.split()] if text.endswith("\n") else []


def test_nothing_is_forked_where_a_thread_runs() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        code = f"import polars, sys; sys.argv[1:] = ['{theirs.fileno()}']\nfrom {SERVER} import main; main()"
        subprocess.run([sys.executable, "-c", code], pass_fds=[theirs.fileno()], check=True, timeout=60)
        theirs.close()
        assert ours.recv(1) == b""  # it has ended, and asked for nothing
