"""The report of a folder with logs, in one command."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import fsbench_kit as fsb
from fsbench_kit.cli import app
from fsbench_kit.model.errors import RequestError
from fsbench_kit.notebooks import read_parameters
from fsbench_kit.report import spec_of

NAMES = "{filesystem}_run{round}.log"


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is no project, in which another holds logs."""
    (tmp_path / "logs").mkdir()
    for number in range(1, 9):
        for filesystem, seconds in (("ext4", 1.0), ("xfs", 2.0)):
            log = f"real\t0m{seconds + number / 100:.3f}s\nuser\t0m0.250s\nsys\t0m0.100s\n"
            (tmp_path / "logs" / f"{filesystem}_run{number}.log").write_text(log)
    (tmp_path / "notes.md").touch()
    monkeypatch.chdir(tmp_path)
    return Path("logs")


@pytest.mark.slow
def test_one_command_makes_the_pages_of_a_folder(logs: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(logs), "--names", NAMES, "--to", "pages"])
    assert result.exit_code == 0, result.output
    assert "The report is pages/index.html" in result.output
    assert {path.name for path in Path("pages").glob("*.html")} == {"index.html", "compare.html", "logs.html"}
    assert "8 rounds" in Path("pages/compare.html").read_text()
    assert str(Path.cwd()) not in Path("pages/compare.html").read_text()  # it can be published
    manifest = json.loads(Path("pages/manifests/compare.json").read_text())
    assert manifest["basis"]["parameters"]["names"] == [NAMES]
    assert len(manifest["basis"]["files"]) == 16
    again = CliRunner().invoke(app, ["report", str(logs), "--names", NAMES, "--to", "pages"])
    assert again.output.count("unchanged") == 2
    Path("pages").rename(logs / "pages")  # as where one works in the folder of the logs
    again = CliRunner().invoke(app, ["report", str(logs), "--names", NAMES, "--to", str(logs / "pages")])
    assert again.output.count("unchanged") == 2
    assert fsb.read(logs, names=NAMES).diagnostics["code"].to_list() == ["REPORT_SKIPPED"]


@pytest.mark.slow
def test_a_study_outside_of_any_project_has_its_claims_checked_and_what_its_runs_lack_said_once(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(published / "sysbench-rhel72", "logs")
    result = CliRunner().invoke(app, ["report", "logs", "--to", "pages"])
    assert result.exit_code == 0, result.output
    assert "claims: ok" in result.output
    shown = Path("pages/latency.html").read_text().partition("<main")[2].partition("<footer>")[0]
    assert shown.count("figures over time") == 1
    assert "Over time" not in shown


def _names(*paths: Path | str, root: Path, **options: str | None) -> list[str]:
    options = {"factor": None, "baseline": None, **options}
    spec = spec_of([str(path) for path in paths], fsb.read(*paths), **options)  # type: ignore[arg-type]
    for page in spec.notebook:
        assert not {*page.parameters} - {*read_parameters(root / page.file)}
    return [page.name for page in spec.notebook]


def test_a_report_has_the_pages_for_which_there_are_figures(root: Path, published: Path, logs: Path) -> None:
    assert _names(logs, root=root) == ["logs"]
    assert _names(published / "sysbench-rhel72", root=root) == ["compare", "latency", "claims", "logs"]
    assert _names(published / "iozone-ssd-2015", root=root) == ["compare", "scaling", "claims", "logs"]


def test_a_page_of_many_levels_counts_them_in_its_title(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"fs{number}_run1.log").write_text("real\t0m1.000s\nuser\t0m0.250s\nsys\t0m0.100s\n")
    data = fsb.read(tmp_path, names=NAMES)
    few = data.filter(pl.col("filesystem").is_in(["fs1", "fs2"]))
    titles = [spec_of(["x"], of, factor=None, baseline=None).notebook[0].title for of in (few, data)]
    assert titles == ["fs1, fs2 compared", "30 filesystems compared"]


def test_a_page_by_a_setting_names_it_and_its_values_in_its_title(tmp_path: Path) -> None:
    for number in (4, 16, 256):
        (tmp_path / f"{number}.log").write_text("real\t0m1.000s\nuser\t0m0.250s\nsys\t0m0.100s\n")
    data = fsb.read(tmp_path, names="{threads}.log")
    assert spec_of(["x"], data, factor="threads", baseline=None).notebook[0].title == "Threads 4, 16, 256 compared"


def test_curves_of_many_runs_are_pooled(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart takes so many points; sixty logs of fio have more, and the page of their latencies failed."""
    data = fsb.read(root / "raw_results" / "recorded" / "latency-loop-2026")
    for most, pooled in ((10**6, False), (10, True)):
        monkeypatch.setattr("fsbench_kit.report.folder.MOST_ROWS", most)
        pages = spec_of(["x"], data, factor=None, baseline=None).notebook
        assert [page.parameters["pooled"] for page in pages if page.name == "latency"] == [pooled]


def test_a_factor_that_was_asked_for_has_to_be_there(root: Path, published: Path, logs: Path) -> None:
    with pytest.raises(RequestError, match="no kernel is known"):
        _names(logs, root=root, factor="kernel")
    with pytest.raises(RequestError, match="no two levels of tool"):
        _names(published / "sysbench-rhel72", root=root, factor="tool")
    with pytest.raises(RequestError, match="'ntfs' is not a filesystem"):
        _names(published / "sysbench-rhel72", root=root, baseline="ntfs")


@pytest.mark.usefixtures("logs")
def test_options_for_logs_do_nothing_in_a_project() -> None:
    result = CliRunner().invoke(app, ["report", "--names", NAMES])
    assert isinstance(result.exception, RequestError)
    assert not Path("notebooks").exists()
    result = CliRunner().invoke(app, ["report"])
    assert "fsbench report FOLDER" in str(result.exception)
