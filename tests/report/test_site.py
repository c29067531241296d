"""A whole site: what it consists of, that it can be moved, and that nothing in a log can act in it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nbformat
import pytest
from nbformat import v4

from fsbench_kit.model.errors import ReportError, RequestError
from fsbench_kit.report import logs, read_spec, report
from fsbench_kit.report.logs import copy_logs, sweep
from tests.pages import HOSTILE, Elements, barriers

SPEC = """
title = "Reports <of> a project"
[[notebook]]
name = "good"
file = "notebooks/good.ipynb"
parameters = { level = "<b>xfs</b>" }
[[notebook]]
name = "bad"
file = "notebooks/bad.ipynb"
title = "The bad & the ugly"
[[notebook]]
name = "after-bad"
file = "notebooks/good.ipynb"
after = ["bad"]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for name in ("notebooks", "raw_results"):
        (tmp_path / name).mkdir()
    finding = "from fsbench_kit.notebooks.display import Finding\nFinding(f'{level} it is.')"
    for name, code in (("good", finding), ("bad", "raise ValueError('<no log>')")):
        cells = [
            v4.new_markdown_cell("# Which level?\n\nWhich level is it?"),
            v4.new_code_cell('level: str = "ext4"  # of the factor', metadata={"tags": ["parameters"]}),
            v4.new_code_cell(code),
        ]
        notebook = v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
        nbformat.write(notebook, tmp_path / "notebooks" / f"{name}.ipynb")
    (tmp_path / "notebooks" / "report.toml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.browser
def test_a_report_has_pages_for_what_succeeded_and_says_what_failed(project: Path, browser: Any) -> None:
    (project / "reports").mkdir()
    (project / "reports" / "bad.html").write_text("an older page")
    manifests = report()
    assert {name: manifest.status for name, manifest in manifests.items()} == {
        "good": "ok",
        "bad": "failed",
        "after-bad": "skipped",
    }
    pages = {path.name for path in (project / "reports").glob("*.html")}
    assert pages == {"index.html", "good.html"}

    opened = browser.open(project / "reports" / "index.html", 400)
    assert opened.is_quiet(), (opened.requests, opened.errors)
    assert not opened.scrolls_sideways()
    good, bad, after = (entry.inner_text() for entry in opened.page.locator(".reports > li").all())
    assert "Which level?" in good
    assert "<b>xfs</b> it is." in good
    assert "The bad & the ugly" in bad
    assert "failed" in bad
    assert "ValueError: <no log>" in bad
    assert "bad did not succeed" in after
    _check_links(project / "reports")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("title = ", "is not TOML: Invalid value"),
        ("title = 'a'", '"notebook" is missing'),
        ("title = 'a'\n[[notebook]]\nname = '../b'\nfile = 'c'", r'"name" in \[\[notebook\]\] must match'),
        (
            "title = 'a'\n[[notebook]]\nname = 'b'\nfiel = 'c'",
            r'"fiel" in \[\[notebook\]\] is not a known key\. Did you mean file',
        ),
    ],
)
def test_a_spec_that_is_wrong_says_where(tmp_path: Path, text: str, match: str) -> None:
    path = tmp_path / "report.toml"
    path.write_text(text)
    with pytest.raises(ReportError, match=match):
        read_spec(path)


def test_what_is_not_there_is_told_with_what_is_near(project: Path) -> None:
    folder = project / "notebooks"
    with pytest.raises(ReportError, match=r"No such file or directory\. Did you mean report\.toml\?"):
        report("notebooks/rpeort.toml")
    first = read_spec(folder / "report.toml").notebook[0].file
    (folder / "report.toml").write_text(SPEC.replace(first, first.replace(".ipynb", ".ipnyb")))
    with pytest.raises(ReportError, match=f"ipnyb: No such file or directory. Did you mean {Path(first).name}"):
        report()
    with pytest.raises(ReportError, match=r"cannot read the report's description: Is a directory"):
        read_spec(folder)


def test_a_report_with_wrong_parameters_runs_nothing(project: Path) -> None:
    (project / "notebooks" / "report.toml").write_text(SPEC.replace("level =", "levle ="))
    with pytest.raises(RequestError, match="levle"):
        report()
    assert not (project / "reports").exists()


def test_the_report_of_this_project_can_be_read(root: Path) -> None:
    spec = read_spec(root / "notebooks" / "report.toml")
    assert all((root / notebook.file).is_file() for notebook in spec.notebook)


# --- raw logs ----------------------------------------------------------------------------------------------------

A_LOG = "5775e775a009a883570f8738b2efba72ebd889bebd792398088abf4b78a55133"
"""printf 'a log' | sha256sum"""


@pytest.fixture
def log(tmp_path: Path) -> Callable[[str], Path]:
    def write(name: str) -> Path:
        path = tmp_path / "raw" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("a log")
        return path

    return write


@pytest.mark.parametrize(
    ("name", "copied"),
    [
        ("run.txt", "run.txt"),
        ("run.log", "run.log.txt"),
        ("page.html", "page.html.txt"),  # or its scripts would act
        ("run.json.gz", "run.json.gz"),
        (".hidden", "hidden.txt"),
        ("<img src=x>\n\u2028#?%.txt", "img_src_x_.txt"),
        ("y" * 250, "y" * 80 + ".txt"),
    ],
)
def test_a_copy_is_named_so_that_any_link_and_server_can_bear_it(
    tmp_path: Path, log: Callable[[str], Path], name: str, copied: str
) -> None:
    path = str(log(name).relative_to(tmp_path))
    (found,) = copy_logs({path: A_LOG}, tmp_path, tmp_path / "site")
    assert (found.path, found.link) == (path, f"logs/5775e775a009a883-{copied}")
    assert (tmp_path / "site" / str(found.link)).read_text() == "a log"


def test_what_is_not_copied_is_named_with_the_reason(
    tmp_path: Path, log: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "LARGEST", 4)
    log("large.txt")
    log("changed.txt").write_text("b")
    files = {"raw/large.txt": A_LOG, "raw/changed.txt": A_LOG, "raw/gone.txt": A_LOG, "raw/never-there": None}
    found = copy_logs(files, tmp_path, tmp_path / "site")
    assert [log.link for log in found] == [None] * 3
    assert [str(log.remark).partition(": ")[2] for log in found] == [
        "larger than 0 MiB",
        "it has changed since",
        "No such file or directory",
    ]


def test_copies_that_no_page_links_to_are_removed(tmp_path: Path, log: Callable[[str], Path]) -> None:
    log("a.txt")
    kept = copy_logs({"raw/a.txt": A_LOG}, tmp_path, tmp_path)
    (tmp_path / "logs" / "older.txt").write_text("")
    sweep(tmp_path, kept)
    assert [path.name for path in (tmp_path / "logs").iterdir()] == ["5775e775a009a883-a.txt"]


def _check_links(site: Path) -> None:
    for page in site.glob("*.html"):
        elements = Elements(page.read_text(encoding="utf-8")).found
        places = {str(one["id"]) for of_kind in elements.values() for one in of_kind if "id" in one}
        for element in elements["a"]:
            link = str(element["href"])
            if link.startswith("data:"):
                assert element["download"], (page.name, link[:80])
            elif link.startswith("#"):
                assert unquote(link[1:]) in places, (page.name, link)
            else:
                assert (site / link).is_file(), (page.name, link)


# --- a study in which every name is hostile ----------------------------------------------------------------------

FILES = (
    'script"><img src=x onerror=alert(1)>.json',
    "</script><script>alert(1)<",
    "quotes'`${alert(1)}.json",
    "one\ntwo\u2028three.json",
    "long" * 60,
    "{{ 7 * 7 }}.json",
)


@pytest.fixture(scope="module")
def hostile(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of a study in which jobs, files, hosts and filesystems have hostile names."""
    project = tmp_path_factory.mktemp("hostile")
    shutil.copytree(root / "notebooks", project / "notebooks")
    study = project / "raw_results" / "study"
    study.mkdir(parents=True)
    about = [f"[study]\nid = {json.dumps(HOSTILE['script'])}\ntitle = {json.dumps(HOSTILE['lines'])}"]
    about.append(f"[system]\nhost = {json.dumps(HOSTILE['end-of-script'])}")
    log = json.loads((root / "tests" / "data" / "fio_json" / "3.33-single-requests.json").read_text())
    for file, text in zip(FILES, HOSTILE.values(), strict=True):
        for filesystem in ("ext4", text):
            path = Path(filesystem[:1].replace("<", "b")) / file.lstrip("/")
            (study / path).parent.mkdir(parents=True, exist_ok=True)
            for number, job in enumerate(log["jobs"]):
                job["jobname"] = f"{text}{number}"
            log["timestamp"] += 60
            (study / path).write_text(json.dumps(log))
            about.append(
                f'[[log]]\nfile = {json.dumps(str(path))}\ntool = "fio"\nfilesystem = {json.dumps(filesystem)}'
            )
    (study / "study.toml").write_text("\n".join(about), encoding="utf-8")
    (study / "page.html").write_text("<p>A page<script>alert(1)</script><img src=x onerror=alert(1)>")
    (project / "notebooks" / "report.toml").write_text(
        f"""
        title = {json.dumps(HOSTILE["template"])}
        [[notebook]]
        name = "ingest"
        file = "notebooks/02_ingest.ipynb"
        title = {json.dumps(HOSTILE["script"])}
        parameters = {{ data = ["raw_results/study"] }}
        [[notebook]]
        name = "compare"
        file = "notebooks/03_compare.ipynb"
        parameters = {{ data = ["raw_results/study"], baseline = "ext4", title = {json.dumps(HOSTILE["lines"])} }}
        """
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        manifests = report()
    assert [manifest.error for manifest in manifests.values()] == [None, None]
    return project / "reports"


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("name", ["index", "ingest", "compare"])
def test_nothing_in_a_hostile_study_acts_or_breaks_a_page(browser: Any, hostile: Path, name: str) -> None:
    for width in (1280, 390):
        opened = browser.open(hostile / f"{name}.html", width)
        opened.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert opened.is_quiet(), (opened.requests, opened.errors)
        assert not opened.scrolls_sideways()
        assert barriers(opened.page) == []
        assert "49" not in opened.page.locator("h1").inner_text()
        opened.page.close()


@pytest.mark.slow
@pytest.mark.browser
def test_a_hostile_study_can_be_found(browser: Any, hostile: Path) -> None:
    opened = browser.open(hostile / "index.html")
    choices = opened.page.get_by_label("Filesystem", exact=True)
    for value in choices.locator("option").all()[1:]:
        choices.select_option(str(value.get_attribute("value")))
        assert opened.page.locator("output").inner_text() == "2 of 2 reports"
    assert choices.locator("option").count() == 1 + 1 + len(HOSTILE)  # any, ext4
    opened.page.get_by_role("searchbox").fill(HOSTILE["script"])
    assert opened.page.locator("output").inner_text() == "2 of 2 reports"
    assert opened.is_quiet(), (opened.requests, opened.errors)


@pytest.mark.slow
@pytest.mark.browser
def test_a_site_can_be_moved_and_its_logs_are_shown_as_text(browser: Any, hostile: Path, tmp_path: Path) -> None:
    site = tmp_path / "published"
    shutil.copytree(hostile, site)
    _check_links(site)
    (copy,) = (site / "logs").glob("*-page.html*")
    opened = browser.open(copy)
    assert "<script>alert(1)</script>" in opened.page.locator("body").inner_text()
    assert opened.is_quiet(), (opened.requests, opened.errors)
    assert len(list((site / "logs").iterdir())) == 2 * len(FILES) + 2  # study.toml, page.html


@pytest.mark.slow
def test_a_notebook_holds_a_picture_of_each_chart_for_those_who_cannot_draw(hostile: Path) -> None:
    notebook = nbformat.read(hostile / "notebooks" / "compare.ipynb", as_version=4)
    outputs = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    drawn = [data for data in outputs if "application/vnd.vegalite.v5+json" in data]
    assert len(drawn) == 3
    assert all(data["image/png"].startswith("iVBORw0KGgo") for data in drawn)
