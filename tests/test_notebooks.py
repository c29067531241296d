"""Notebooks as programs: their parameters are checked before a kernel starts, and each run leaves a record."""

import ast
import json
import math
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from io import StringIO
from pathlib import Path
from typing import Any

import nbformat
import papermill
import polars as pl
import pytest
import yaml
from nbformat import v4
from playwright.sync_api import expect
from rich.console import Console

import fsbench_kit as fsb
from fsbench_kit import notebooks
from fsbench_kit.model.errors import ReportError, RequestError
from fsbench_kit.notebooks import Job, Manifest, check_parameters, jobs, read_parameters, shown, sockets
from fsbench_kit.notebooks.progress import Ended, Event
from fsbench_kit.report import read_spec
from tests.ports import free_port

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
WriteNotebook = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("notebooks", "raw_results"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(project: Path) -> WriteNotebook:
    """Return a function that writes a notebook and returns its path from the project's root."""

    def write(name: str, parameters: str | None = "", code: str = "") -> str:
        cells = [v4.new_markdown_cell("# A notebook\n\nDoes it run?")]
        if parameters is not None:
            cells.append(v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}))
        cells.append(v4.new_code_cell(code))
        nbformat.write(
            v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), project / f"notebooks/{name}"
        )
        return f"notebooks/{name}"

    return write


# --- parameters --------------------------------------------------------------------------------------------------


def test_parameters_are_read_without_running_the_notebook(project: Path, write: WriteNotebook) -> None:
    path = write(
        "a.ipynb", 'data: list[str] = ["x/y"]  # where\nconfidence = 0.95\nlimit: int | None = None', "1 / 0"
    )
    parameters = read_parameters(project / path)
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        "data": ["x/y"],
        "confidence": 0.95,
        "limit": None,
    }


@pytest.mark.parametrize(
    ("source", "excerpt"),
    [
        ("data = open('x')", "data = open('x')"),
        ("import os", "import os"),
        ("a = b = 1", "a = b = 1"),
        ("data: DataFrame = 1", "data: DataFrame = 1"),
        ("limit = None", "limit = None"),
        ("data = [", "data = ["),
    ],
)
def test_what_is_no_parameter_is_shown(project: Path, write: WriteNotebook, source: str, excerpt: str) -> None:
    with pytest.raises(ReportError) as caught:
        read_parameters(project / write("a.ipynb", source))
    assert excerpt in str(caught.value)


def test_a_notebook_without_parameters_cell_is_an_error(project: Path, write: WriteNotebook) -> None:
    with pytest.raises(ReportError, match="no cell with the tag parameters"):
        read_parameters(project / write("a.ipynb", parameters=None))


def test_a_file_that_is_no_notebook_is_an_error(project: Path) -> None:
    (project / "notebooks" / "a.ipynb").write_text("{")
    with pytest.raises(ReportError, match="cannot read"):
        read_parameters(project / "notebooks" / "a.ipynb")


PARAMETERS = """
data: list[str] = ["raw_results"]
confidence: float = 0.95
runs: int = 3
fresh: bool = False
limit: int | None = None
sizes: dict[str, int] = {}
"""


def test_given_parameters_are_completed_with_defaults(project: Path, write: WriteNotebook) -> None:
    given = {"runs": 5, "confidence": 1, "limit": 7, "sizes": {"a": 1}}
    complete = check_parameters(project / write("a.ipynb", PARAMETERS), given)
    assert complete == {"data": ["raw_results"], "fresh": False} | given


def test_an_unknown_name_is_an_error_that_knows_what_was_meant(project: Path, write: WriteNotebook) -> None:
    with pytest.raises(RequestError) as caught:
        check_parameters(project / write("a.ipynb", PARAMETERS), {"confidense": 0.9})
    assert "Did you mean confidence? The choices are: data, confidence, runs," in str(caught.value)


def test_where_a_list_is_meant_a_single_item_is_a_list_of_one(project: Path, write: WriteNotebook) -> None:
    path = write(
        "a.ipynb", PARAMETERS + "\nwhere: dict[str, list[str | int | None]] = {}\nmetrics = ['bandwidth']"
    )
    given = {"data": "raw_results/published", "where": {"operation": "read", "threads": 4}, "metrics": "iops"}
    complete = check_parameters(project / path, given)
    assert complete["data"] == ["raw_results/published"]
    assert complete["where"] == {"operation": ["read"], "threads": [4]}
    assert complete["metrics"] == ["iops"]


@pytest.mark.parametrize(
    "given",
    [
        {"data": [1]},
        {"data": None},
        {"runs": 2.5},
        {"runs": "3"},
        {"runs": True},
        {"fresh": 1},
        {"confidence": None},
        {"limit": "none"},
        {"sizes": {"a": "b"}},
    ],
)
def test_a_value_of_another_type_is_an_error(project: Path, write: WriteNotebook, given: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match=f"the parameter '{next(iter(given))}' cannot be"):
        check_parameters(project / write("a.ipynb", PARAMETERS), given)


# --- runs, without a kernel --------------------------------------------------------------------------------------


class _Kernel:
    """Stands in for papermill: writes the notebook as it is, and fails or makes files when told to."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.calls = 0
        self.refusals: list[str] = []
        self.failing: set[str] = set()
        self.makes: dict[str, Path] = {}
        self.active: set[str] = set()
        self.together: list[set[str]] = []
        self.meeting: dict[str, threading.Barrier] = {}

    def __call__(self, source: Path, out: Path, **_options: Any) -> None:
        self.calls += 1
        if self.refusals:
            raise RuntimeError(self.refusals.pop())
        notebook = nbformat.read(source, as_version=4)
        notebook.metadata.papermill = {"input_path": str(source), "output_path": str(out)}
        nbformat.write(notebook, out)
        self.ran.append(out.stem)
        self.active.add(out.stem)
        self.together.append(set(self.active))
        if out.stem in self.meeting:
            self.meeting[out.stem].wait(60)
        self.active.remove(out.stem)
        if out.stem in self.makes:
            self.makes[out.stem].write_text(f"made, time {len(self.ran)}")
        if out.stem in self.failing:
            raise papermill.PapermillExecutionError(2, 1, "1 / 0", "ZeroDivisionError", "division by zero", [])

    def run_all(self, *jobs: Job, fresh: bool = False) -> dict[str, Manifest]:
        with ThreadPoolExecutor(2) as executor:
            return notebooks.run_all(jobs, executor=executor, fresh=fresh)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> _Kernel:
    kernel = _Kernel()
    monkeypatch.setattr(papermill, "execute_notebook", kernel)
    return kernel


def _job(project: Path, name: str, notebook: str, **more: Any) -> Job:
    return Job(name=name, notebook=notebook, out=project / "reports", **more)


def test_jobs_run_after_those_that_they_need(project: Path, write: WriteNotebook, kernel: _Kernel) -> None:
    path = write("a.ipynb")
    jobs = [
        _job(project, "last", path, after=("middle", "first")),
        _job(project, "middle", path, after=("first",)),
        _job(project, "first", path),
    ]
    manifests = kernel.run_all(*jobs)
    assert kernel.ran == ["first", "middle", "last"]
    assert list(manifests) == ["last", "middle", "first"]
    assert {manifest.status for manifest in manifests.values()} == {"ok"}


def test_what_measures_runs_first_and_alone(project: Path, write: WriteNotebook, kernel: _Kernel) -> None:
    path = write("a.ipynb")
    others = [_job(project, name, path) for name in ("a", "b", "c")]
    kernel.meeting = dict.fromkeys(("a", "b"), threading.Barrier(2))
    kernel.run_all(*others, _job(project, "measures", path, alone=True))
    assert kernel.ran[0] == "measures"
    assert [names for names in kernel.together if "measures" in names] == [{"measures"}]
    assert any(len(names) > 1 for names in kernel.together)


def test_others_run_while_one_that_ended_is_told(project: Path, write: WriteNotebook, kernel: _Kernel) -> None:
    path = write("a.ipynb")
    kernel.meeting = {"other": threading.Barrier(2)}

    def follow(event: Event) -> None:
        if isinstance(event, Ended) and event.manifest.name == "measures":
            kernel.meeting["other"].wait(20)

    with ThreadPoolExecutor(1) as executor:
        jobs = [_job(project, "measures", path, alone=True), _job(project, "other", path)]
        notebooks.run_all(jobs, executor=executor, progress=follow)
    assert kernel.ran == ["measures", "other"]


def test_a_run_leaves_the_notebook_and_a_record(project: Path, write: WriteNotebook, kernel: _Kernel) -> None:
    (project / "raw_results" / "log.txt").write_text("a log")
    job = _job(project, "a", write("a.ipynb", 'data: str = "raw_results/log.txt"\nlevel: str = "ext4"'))
    kernel.run_all(job)
    record = json.loads(job.manifest.read_text())
    assert record["status"] == "ok"
    assert record["basis"]["parameters"] == {"data": "raw_results/log.txt", "level": "ext4"}
    # printf 'a log' | sha256sum
    assert record["basis"]["files"] == {
        "raw_results/log.txt": "5775e775a009a883570f8738b2efba72ebd889bebd792398088abf4b78a55133"
    }
    assert record["basis"]["versions"]["fsbench-kit"]
    assert str(project) not in job.executed.read_text()
    assert not job.failed.exists()


def test_a_failure_is_recorded_and_stops_only_what_needs_it(
    project: Path, write: WriteNotebook, kernel: _Kernel
) -> None:
    path = write("a.ipynb")
    jobs = [_job(project, "bad", path), _job(project, "needs", path, after=("bad",)), _job(project, "other", path)]
    kernel.run_all(*jobs)
    kernel.failing = {"bad"}
    manifests = kernel.run_all(*jobs, fresh=True)
    assert {name: manifest.status for name, manifest in manifests.items()} == {
        "bad": "failed",
        "needs": "skipped",
        "other": "ok",
    }
    assert manifests["bad"].error == "ZeroDivisionError: division by zero"
    assert "bad did not succeed" in (manifests["needs"].error or "")
    assert jobs[0].failed.is_file()
    assert [job.executed.is_file() for job in jobs] == [False, False, True]  # nothing old passes for new


def test_what_has_not_changed_is_not_run_again(project: Path, write: WriteNotebook, kernel: _Kernel) -> None:
    log = project / "raw_results" / "log.txt"
    log.write_text("1")
    path = write("a.ipynb", 'data: list[str] = ["raw_results/log.txt"]\nruns: int = 1')

    def runs_again(**more: Any) -> bool:
        before = len(kernel.ran)
        (manifest,) = kernel.run_all(_job(project, "a", path, **more)).values()
        assert manifest.status == "ok"
        return len(kernel.ran) > before

    assert runs_again()
    assert not runs_again()
    log.write_text("2")
    assert runs_again()
    assert not runs_again()
    assert runs_again(parameters={"runs": 2})
    assert not runs_again(parameters={"runs": 2})
    write("a.ipynb", 'data: list[str] = ["raw_results/log.txt"]\nruns: int = 1', "print(1)")
    assert runs_again(parameters={"runs": 2})
    (project / "reports" / "notebooks" / "a.ipynb").unlink()
    assert runs_again(parameters={"runs": 2})


def test_another_version_of_the_package_runs_everything_again(
    project: Path,
    write: WriteNotebook,
    kernel: _Kernel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = _job(project, "a", write("a.ipynb"))
    kernel.run_all(job)
    monkeypatch.setattr(jobs, "versions", lambda: {"fsbench-kit": "99"})
    kernel.run_all(job)
    assert kernel.ran == ["a", "a"]


def test_a_failed_notebook_is_run_again(project: Path, write: WriteNotebook, kernel: _Kernel) -> None:
    job = _job(project, "a", write("a.ipynb"))
    kernel.failing = {"a"}
    kernel.run_all(job)
    kernel.failing = set()
    assert kernel.run_all(job)["a"].status == "ok"


def test_what_a_notebook_makes_is_not_a_change_unless_it_is_gone(
    project: Path, write: WriteNotebook, kernel: _Kernel
) -> None:
    made = project / "raw_results" / "made.txt"
    kernel.makes = {"maker": made}
    jobs = [
        _job(project, "maker", write("a.ipynb"), makes=("raw_results/made.txt",)),
        _job(project, "reader", write("b.ipynb", 'data: str = "raw_results/made.txt"'), after=("maker",)),
    ]
    kernel.run_all(*jobs)
    kernel.run_all(*jobs)
    assert kernel.ran == ["maker", "reader"]
    made.unlink()
    kernel.run_all(*jobs)
    assert kernel.ran == ["maker", "reader", "maker", "reader"]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Kernel died before replying to kernel_info", (2, "ok")),
        ("Kernel didn't respond in 60 seconds", (2, "ok")),
        ("Kernel died", (1, "failed")),  # in the midst of it: what it has done, it has done
    ],
)
def test_a_kernel_that_did_not_start_gets_a_second_chance(
    project: Path, write: WriteNotebook, kernel: _Kernel, message: str, expected: tuple[int, str]
) -> None:
    kernel.refusals = [message]
    (manifest,) = kernel.run_all(_job(project, "a", write("a.ipynb"))).values()
    assert (kernel.calls, manifest.status) == expected


def test_nothing_runs_where_a_request_is_wrong(project: Path, write: WriteNotebook, kernel: _Kernel) -> None:
    path = write("a.ipynb", "runs: int = 1")
    good = _job(project, "good", path)
    for wrong, match in [
        (_job(project, "b", path, parameters={"rnus": 1}), "Did you mean runs"),
        (_job(project, "b", path, after=("god",)), "Did you mean good"),
        (_job(project, "good", path), "two notebooks are called 'good'"),
        (_job(project, "b", path, after=("b",)), "wait for one another"),
    ]:
        with pytest.raises(RequestError) as caught:
            kernel.run_all(good, wrong)
        assert match in str(caught.value)
    assert kernel.ran == []


def test_a_log_of_a_report_says_how_each_notebook_ended(
    project: Path, write: WriteNotebook, kernel: _Kernel
) -> None:
    path = write("a.ipynb")
    work = [_job(project, "good", path), _job(project, "bad", path), _job(project, "after", path, after=("bad",))]
    kernel.failing = {"bad"}
    for status in ("ok, N s", "ok, unchanged"):
        text = StringIO()
        with shown(Console(file=text, width=40)) as progress, ThreadPoolExecutor(1) as executor:
            notebooks.run_all(work, executor=executor, progress=progress)
        lines = re.sub(r"\d+ s$", "N s", text.getvalue(), flags=re.MULTILINE).splitlines()
        assert lines[0] == "3 notebooks"
        assert sorted(lines[1:]) == ["after: skipped", "bad: failed, N s", f"good: {status}"]


@pytest.mark.usefixtures("kernel")
def test_a_terminal_shows_what_is_under_way(
    project: Path, write: WriteNotebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    text = StringIO()
    console = Console(file=text, width=60, force_terminal=True, color_system=None)
    with shown(console) as progress, ThreadPoolExecutor(1) as executor:

        def look(event: Event) -> None:
            progress(event)
            text.write("|")

        notebooks.run_all([_job(project, "first", write("a.ipynb"))], executor=executor, progress=look)
    assert re.search(r"first: ok, \d+ s", text.getvalue())
    assert "1 of 1 notebooks" in text.getvalue()


def test_a_process_that_is_killed_is_told(project: Path, write: WriteNotebook) -> None:
    class Killed(ThreadPoolExecutor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(BrokenProcessPool("A process in the process pool was terminated abruptly"))
            return future

    with Killed() as executor, pytest.raises(ReportError, match="while it ran the notebook 'a'"):
        notebooks.run_all([_job(project, "a", write("a.ipynb"))], executor=executor)


# --- with kernels ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_notebooks_run_in_processes_from_the_projects_root(project: Path, write: WriteNotebook) -> None:
    code = "from pathlib import Path\nassert Path('raw_results').is_dir()\nprint(f'{level} is the level')"
    jobs = [
        _job(project, "good", write("good.ipynb", 'level: str = "ext4"', code), parameters={"level": "xfs"}),
        _job(project, "bad", write("bad.ipynb", "", "raise ValueError('<no>')")),
    ]
    manifests = notebooks.run_all(jobs)
    assert manifests["good"].error is None
    assert "xfs is the level" in jobs[0].executed.read_text()
    assert manifests["bad"].error == "ValueError: <no>"


# --- the notebooks of this project -------------------------------------------------------------------------------

ROOT = Path(__file__).parents[1]
OURS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(params=OURS, ids=lambda path: path.stem)
def ours(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_there_are_notebooks() -> None:
    assert [path.stem[:2] for path in OURS] == ["01", "02", "03", "04", "05", "06", "07", "08", "09"]


def test_a_committed_notebook_holds_no_outputs(ours: Path) -> None:
    for cell in nbformat.read(ours, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_a_notebook_asks_its_question_first_and_says_last_what_it_rests_on(ours: Path) -> None:
    cells = nbformat.read(ours, as_version=4).cells
    title, question = cells[0].source.split("\n\n")[:2]
    assert title.startswith("# ")
    assert question.endswith("?")
    assert "provenance_table" in cells[-1].source


def test_a_notebook_has_parameters_with_defaults_and_their_meaning(ours: Path) -> None:
    parameters = read_parameters(ours)
    assert parameters
    assert check_parameters(ours, {}) == {name: parameter.default for name, parameter in parameters.items()}
    (cell,) = (c for c in nbformat.read(ours, as_version=4).cells if "parameters" in c.metadata.get("tags", []))
    lines = cell.source.splitlines()
    for statement in ast.parse(cell.source).body:
        assert any("  # " in line for line in lines[statement.lineno - 1 : statement.end_lineno])


SCREEN = 30
"""Lines of code that JupyterLab shows at once."""


def test_no_cell_is_longer_than_a_screen_and_code_before_the_finding_is_folded(ours: Path) -> None:
    cells = nbformat.read(ours, as_version=4).cells
    assert all(len(cell.source.splitlines()) <= SCREEN for cell in cells)
    (setup,) = (cell for cell in cells if cell.id == "setup")
    assert setup.metadata["jupyter"]["source_hidden"]
    assert len(setup.source.splitlines()) <= SCREEN / 2


def test_the_cells_of_a_notebook_have_names_that_stay(ours: Path) -> None:
    ids = [cell.id for cell in nbformat.read(ours, as_version=4).cells]
    assert len(set(ids)) == len(ids)
    assert all(name.replace("-", "").isalpha() for name in ids)


# The main job runs the others, and those below are given parameters.
@pytest.mark.slow
def test_plain_papermill_runs_a_notebook_from_anywhere(tmp_path: Path) -> None:
    papermill_program = Path(sys.executable).with_name("papermill")
    command = [papermill_program, ROOT / "notebooks" / "07_explore.ipynb", "out.ipynb", "--no-progress-bar"]
    result = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "out.ipynb").read_text()
    assert "application/vnd.fsbench.finding" in text
    assert "application/vnd.vegalite.v5+json" in text


@pytest.mark.slow
def test_papermill_takes_parameters_by_name_and_from_a_file_and_runs_twice_at_once(tmp_path: Path) -> None:
    """Two schedulers may start at the same time, from folders that are not the project's."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    study = "raw_results/published/fileserver-debian-2006"
    (here / "given.yaml").write_text(f"data: [{study}]\n")
    command = [Path(sys.executable).with_name("papermill"), "--no-progress-bar"]
    started = [
        subprocess.Popen([*command, ROOT / "notebooks" / name, there / f"{number}.ipynb", *given], cwd=here)
        for number, (name, given) in enumerate(
            [
                ("02_ingest.ipynb", ["-p", "data", study]),
                ("03_compare.ipynb", ["-f", "given.yaml", "-p", "baseline", "jfs", "-p", "margin", "1.5"]),
            ]
        )
    ]
    assert [process.wait(300) for process in started] == [0, 0]
    assert {path.name for path in here.iterdir()} == {"given.yaml"}
    ingested, compared = ((there / f"{number}.ipynb").read_text() for number in range(2))
    assert f'data = \\"{study}\\"' in ingested  # a string, which is one path
    assert "4 runs of filetree" in ingested
    assert all("application/vnd.fsbench.finding" in text for text in (ingested, compared))
    assert "application/vnd.vegalite.v5+json" in compared
    assert "against jfs" in compared
    assert "margin = 1.5" in compared


@pytest.mark.slow
def test_plain_papermill_ends_with_a_sentence_where_a_parameter_is_wrong(tmp_path: Path) -> None:
    command = [Path(sys.executable).with_name("papermill"), ROOT / "notebooks" / "03_compare.ipynb", "out.ipynb"]
    given = ["--no-progress-bar", "-p", "basline", "xfs"]
    result = subprocess.run([*command, *given], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    _, said, hint = result.stderr.rpartition("Exception encountered at")[2].strip().splitlines()
    assert said == "this notebook has no parameter 'basline'"
    assert hint.startswith("Did you mean baseline? The choices are: data, names, factor, baseline,")


@pytest.mark.slow
def test_a_recorded_replication_is_told_from_what_runs_here(tmp_path: Path) -> None:
    command = [Path(sys.executable).with_name("papermill"), ROOT / "notebooks" / "05_replicate.ipynb", "out.ipynb"]
    given = ["--no-progress-bar", "-p", "study", "raw_results/published/fio-nvme-2021"]
    result = subprocess.run([*command, *given], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    said = {
        cell.id: "".join(output.get("text", "") or output["data"]["text/plain"] for output in cell.outputs)
        for cell in nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
        if cell.cell_type == "code"
    }
    assert said["launch"] == ""
    recorded = ROOT / "raw_results" / "replicated" / "fio-nvme-2021-again"
    run = json.loads(next(recorded.glob("001-*/run.json")).read_text())
    assert f"Recorded on {run['started_at'][:10]} on the host {run['host']} (" in said["finding"]
    (now,) = tomllib.loads((recorded / "plan.toml").read_text())["workload"]
    assert f"{now['size'] // 2**20} MiB instead of 10 GiB" in said["changes-list"]
    assert not [name for name, text in said.items() if re.search(r"\b(ours?|here|this machine)\b", text)]


def test_only_what_runs_on_this_machine_is_called_that_in_the_report() -> None:
    """A study that is run again can be a recorded one, where this machine lacks something."""
    spec = read_spec(ROOT / "notebooks" / "report.toml")
    called = {notebook.file for notebook in spec.notebook if "This machine" in (notebook.title or "")}
    assert called == {"notebooks/01_launch.ipynb", "notebooks/03_compare.ipynb"}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a JupyterLab whose folder holds the notebooks, and return that folder's address."""
    folder = tmp_path_factory.mktemp("lab")
    for path in OURS:
        shutil.copy(path, folder)
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser"]
    options = {
        "port": port,
        "ServerApp.ip": "127.0.0.1",
        "IdentityProvider.token": "test",
        "ServerApp.root_dir": folder,
    }
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(folder / "config")}
    server = subprocess.Popen(
        [*command, *(f"--{name}={value}" for name, value in options.items())],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(240):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.25)
        yield f"http://127.0.0.1:{port}/lab/tree"
    finally:
        server.terminate()
        server.wait(30)


RUN_ALL = """async () => {
    await jupyterapp.restored;
    const context = jupyterapp.shell.currentWidget.sessionContext;
    await context.ready;
    // What is sent to a kernel that is still starting can get lost.
    while (context.session?.kernel?.status !== 'idle') await new Promise((wake) => setTimeout(wake, 200));
    await jupyterapp.commands.execute('notebook:run-all-cells');
}"""


ALL_RAN = """() => {
    const cells = [...jupyterapp.shell.currentWidget.content.model.cells].filter((cell) => cell.type === 'code');
    const outputs = cells.flatMap(({outputs}) => Array.from({length: outputs.length}, (_, i) => outputs.get(i)));
    return outputs.some((output) => output.type === 'error') ? 'error' : cells.at(-1).outputs.length > 0 && 'all';
}"""


@pytest.fixture
def run_in_lab(lab: str, chromium: Any) -> Iterator[Callable[..., list[Any]]]:
    """Return a function that runs notebooks at a time and returns their pages; nothing may leave the machine."""
    elsewhere: list[str] = []
    window = chromium.new_context(viewport={"width": 1280, "height": 4000})

    def route(attempt: Any) -> None:
        if attempt.request.url.startswith(("http://127.0.0.1", "data:", "blob:")):
            attempt.continue_()
        else:
            elsewhere.append(attempt.request.url)
            attempt.abort()

    def start(name: str) -> Any:
        page = window.new_page()
        page.route("**/*", route)
        page.goto(f"{lab}/{name}.ipynb?reset&token=test")
        page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for(timeout=60_000)
        page.evaluate(RUN_ALL)
        return page

    def run(*names: str) -> list[Any]:
        pages = [start(name) for name in names]
        for page in pages:
            page.bring_to_front()
            assert page.wait_for_function(ALL_RAN, timeout=120_000).json_value() == "all"
            page.locator(".vega-embed :is(svg, canvas)").first.wait_for(timeout=30_000)
            errors = page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']")
            assert errors.count() == 0
        return pages

    yield run
    window.close()
    assert elsewhere == []


@pytest.mark.slow
@pytest.mark.browser
def test_jupyterlab_launches_and_compares_and_draws_charts_without_a_network(
    run_in_lab: Callable[..., list[Any]],
) -> None:
    run_in_lab("01_launch", "03_compare")


def _ratio(operation: str) -> float:
    """Return the ratio of the geometric means of a recorded file rate, XFS to ext4."""
    data = fsb.read(ROOT / "raw_results" / "recorded" / "ext4-xfs-loop-2026")
    rates = data.measurements.filter(metric="file_rate", operation=operation, primary=True)
    of_filesystem = rates.join(data.runs, on="run_id").group_by("filesystem")
    logs = dict(of_filesystem.agg(pl.col("value").log().mean()).rows())
    return math.exp(logs["xfs"] - logs["ext4"])


@pytest.mark.slow
@pytest.mark.browser
def test_what_is_chosen_by_mouse_and_by_keyboard_is_followed(
    run_in_lab: Callable[..., list[Any]], tmp_path: Path
) -> None:
    expect.set_options(timeout=30_000)  # a busy machine is no fault
    (page,) = run_in_lab("07_explore")
    panel = page.locator(".widget-hbox").filter(has=page.get_by_label("Study")).last
    status, chart = panel.get_by_role("status"), panel.locator(".vega-embed svg.marks")

    def choose(name: str, text: str) -> None:
        """Go to a list with Tab, and to a value with the arrow keys."""
        page.get_by_label("Study", exact=True).focus()
        while page.evaluate("document.activeElement.labels?.[0]?.innerText") != name:
            page.keyboard.press("Tab")
        options = page.get_by_label(name, exact=True).locator("option").all_inner_texts()
        page.keyboard.press("Home")
        for _ in range([option.replace("\xa0", " ").startswith(text) for option in options].index(True)):
            page.keyboard.press("ArrowDown")

    expect(status).to_contain_text("smallfiles: ext4 deletes files")
    page.get_by_label("Tool", exact=True).locator("option", has_text="smallfiles").click()
    expect(status).to_contain_text(re.compile("^ext4 deletes files"))
    expect(chart).to_contain_text("ext4 deletes files")
    assert chart.evaluate(
        "e => e.getBoundingClientRect().right <= e.closest('.lm-Panel').getBoundingClientRect().right"
    )
    expect(panel.locator("ol")).to_have_css("list-style-type", "lower-alpha")  # as the marks in the table
    for operation in ("delete", "read"):
        words = f"{1 / _ratio(operation):.2f} times as fast"
        choose("Metric", "File rate")
        choose("Operation", operation)
        expect(panel.get_by_role("status")).to_contain_text(words)
        expect(chart).to_contain_text(words)
        expect(panel.locator("tbody td").filter(has_text=f"{_ratio(operation):.2f} [")).to_have_count(1)
    choose("Baseline", "xfs")
    expect(panel.locator("tbody td").filter(has_text=f"{1 / _ratio('read'):.2f} [")).to_have_count(1)

    python = panel.get_by_label("As Python").input_value()
    command = [sys.executable, "-c", f"{python}\nprint(*comparison['ratio'])"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(result.stdout) == pytest.approx(1 / _ratio("read"))
    with page.expect_download() as download:
        panel.get_by_role("link", name="Save params.yaml").click()
    download.value.save_as(tmp_path / "params.yaml")
    assert yaml.safe_load((tmp_path / "params.yaml").read_text()) == {
        "data": ["raw_results/recorded", "raw_results/published"],
        "baseline": "xfs",
        "metrics": ["file_rate"],
        "where": {"operation": ["read"], "study": ["ext4-xfs-loop-2026"], "tool": ["smallfiles"]},
    }


@pytest.mark.slow
def test_nbval_runs_a_notebook() -> None:
    path = ROOT / "notebooks" / "04_audit.ipynb"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "nbval", "--nbval-lax", "-p", "no:cacheprovider", path]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    # a cell of code is a test
    cells = sum(cell.cell_type == "code" for cell in nbformat.read(path, as_version=4).cells if cell.source)
    assert f"{cells} passed" in result.stdout


def _as_saved(path: Path) -> str:
    """Return a notebook that was run, as JupyterLab and the kernel write it."""
    saved = json.loads(path.read_text(encoding="utf-8"))
    view = {
        "application/vnd.jupyter.widget-view+json": {"model_id": "e724", "version_major": 2, "version_minor": 0}
    }
    shown = {"output_type": "display_data", "data": view | {"text/plain": "HBox()"}, "metadata": {}}
    for number, cell in enumerate(saved["cells"]):
        if cell["cell_type"] == "code":
            cell |= {"execution_count": number, "outputs": [shown]}
            cell["metadata"]["execution"] = {"iopub.execute_input": "2026-01-01T00:00:00Z"}
    saved["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {"e724": {}}}}
    saved["metadata"]["language_info"] |= {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3.13.1",
    }
    return json.dumps(saved)


def test_notebooks_that_were_run_and_saved_are_what_was_committed(tmp_path: Path) -> None:
    """Git gives the command each notebook by itself. It takes seconds to start, and so gets the others at once."""
    line = re.search(
        r'^git config filter\.notebook\.clean "(.*)"$', (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE
    )
    assert line is not None
    program, *options = shlex.split(line[1])
    command = [Path(sys.executable).with_name(Path(program).name), *options]
    first, *others = OURS
    cleaned = subprocess.run(command, input=_as_saved(first), capture_output=True, text=True, check=True).stdout
    assert cleaned == first.read_text(encoding="utf-8")
    for path in others:
        (tmp_path / path.name).write_text(_as_saved(path), encoding="utf-8")
    subprocess.run([*command, *(tmp_path / path.name for path in others)], check=True)
    for path in others:
        assert (tmp_path / path.name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8"), path.name


STRICT = ROOT / "tests" / "notebooks"


def _strictly(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "nbval", "--nbval"]
    command += ["--nbval-sanitize-with", str(STRICT / "sanitise.cfg"), *map(str, folder.glob("*.ipynb"))]
    # Else the two versions of a chart, a line of JSON each, are compared character by character: a minute.
    command += ["--override-ini", "assertion_text_diff_style=block"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_notebooks_that_are_compared_were_executed() -> None:
    paths = sorted(STRICT.glob("*.ipynb"))
    assert len(paths) == 2
    for path in paths:
        code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
        assert sum(bool(cell.outputs) for cell in code) == len(code) - 1  # all but the imports


@pytest.mark.slow
def test_notebooks_say_what_they_said() -> None:
    result = _strictly(STRICT)
    assert result.returncode == 0, result.stdout
    assert "10 passed" in result.stdout


@pytest.mark.slow
def test_another_output_is_noticed(tmp_path: Path) -> None:
    text = (STRICT / "compare.ipynb").read_text()
    for said, changed in [
        ('finding": "ext4 deletes files', 'finding": "ext4 deleted files'),  # cell 1
        ("63.8  0.54 [0.48", "63.8  0.54 [0.47"),  # a table, cell 2
        ('"1.49 (1.19 to 1.86)"', '"1.48 (1.19 to 1.86)"'),  # a chart, cell 3
    ]:
        assert text.count(said) == 1
        text = text.replace(said, changed)
    (tmp_path / "compare.ipynb").write_text(text)
    result = _strictly(tmp_path)
    assert result.returncode == 1
    assert re.findall(r"FAILED .*::Cell (\d)", result.stdout) == ["1", "2", "3"]


def test_sockets_of_killed_reports_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "_parent", lambda: tmp_path)
    ended = subprocess.Popen(["true"])
    ended.wait()
    swept, *kept = (
        tmp_path / f"fsbench-kernel-{owner}" for owner in (f"{ended.pid}-a", f"{os.getpid()}-a", "abc-a", "abc")
    )
    for folder in (swept, *kept):
        folder.mkdir()
    with sockets.kernel_sockets() as made:
        assert Path(made["ip"]).parent in tmp_path.iterdir()
    assert sorted(tmp_path.iterdir()) == sorted(kept)


def test_a_long_path_for_temporary_files_is_none_for_sockets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with sockets.kernel_sockets() as made, socket.socket(socket.AF_UNIX) as kernel:
        kernel.bind(f"{made['ip']}-1")
