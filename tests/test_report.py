"""Pages and their index: they need nothing but themselves, and nothing in a log can act in them."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair as alt
import nbformat
import polars as pl
import pytest
from nbformat import NotebookNode, v4

from fsbench_kit import charts, display, tables
from fsbench_kit.errors import ReportError, RequestError
from fsbench_kit.notebooks import Basis, Manifest
from fsbench_kit.report import read_spec, render_page, report, title_and_question
from fsbench_kit.report.logs import Log

Compare = Callable[..., pl.DataFrame]

PARAMETERS = {"data": ["raw_results/x"], "level": "<ext4>"}

HOSTILE = {
    "script": '<script>window.alert("hacked")</script><img src=x onerror="alert(1)">',
    "end-of-script": "</script><script>alert(1)</script><!--",
    "quotes": "'\"`${alert(1)}\\",
    "lines": "one\ntwo\r\n\tthree\u2028four\x1b[31m\x07",
    "long": "x" * 10_000,
    "template": "{{ 7 * 7 }} {% include 'style.css' %}",
}


@pytest.fixture
def _set_up(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(root)
    renderer, theme = alt.renderers.active, alt.theme.active
    display.setup()
    yield
    alt.renderers.enable(renderer)
    alt.theme.enable(theme)


def _output(shown: Any) -> NotebookNode:
    """Return what a kernel would write for the value of a cell."""
    if isinstance(shown, tables.Table):
        data = {"text/html": shown._repr_html_(), "text/plain": repr(shown)}
    else:
        data = shown._repr_mimebundle_()
    return v4.new_output("execute_result", data=data, execution_count=1)


def _executed(*shown: Any, text: str = "") -> NotebookNode:
    cells = [
        v4.new_markdown_cell("# A notebook\n\nDoes it *open*\nanywhere?\n\nProse with `code`."),
        v4.new_code_cell("level = 'ext4'", metadata={"tags": ["parameters"]}),
        v4.new_code_cell(f"level = {text!r}", metadata={"tags": ["injected-parameters"]}),
        v4.new_code_cell("print(level)", outputs=[v4.new_output("stream", name="stdout", text=text)]),
        *(v4.new_code_cell("show()", outputs=[_output(item)]) for item in shown),
    ]
    return v4.new_notebook(cells=cells)


def _manifest(**more: Any) -> Manifest:
    versions = {"fsbench-kit": "0.1.0", "polars": "9.9"}
    basis = Basis(notebook="c0ffee", package="f00d", versions=versions, parameters=PARAMETERS, files={}, made={})
    moment = datetime(2024, 5, 1, 9, 30, tzinfo=UTC)
    facts = {"name": "a", "source": "notebooks/a.ipynb", "basis": basis}
    return Manifest.model_validate(facts | {"status": "ok", "started_at": moment, "duration": 2.5} | more)


def _page(notebook: NotebookNode, title: str = "A page", logs: Sequence[Log] = ()) -> str:
    return render_page(notebook, title, _manifest(), logs)


class _Elements(HTMLParser):
    """The elements of a page as a browser reads them: name -> attributes of each, and the text of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, list[dict[str, str | None]]] = defaultdict(list)
        self.scripts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag].append(dict(attrs))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data


FOLD = (Path(display.__file__).parent / "templates" / "page" / "fold.js").read_text()


# --- pages, as text ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_set_up")
def test_a_page_names_no_other_resource(comparison: Compare) -> None:
    page = _page(_executed(charts.forest(comparison({}))))
    head, folding, script = page.split('<script type="module">')
    assert "vegaEmbed" not in folding
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", head)
    assert not re.search(r"(?i)require\.js|mathjax|mermaid|jupyter-widgets|@import|url\(", head)
    assert "default-src &#39;none&#39;" in head or "default-src 'none'" in head
    assert script.count("</script") == 1


def test_a_page_without_charts_has_no_script_but_the_one_that_folds_code(comparison: Compare) -> None:
    page = _page(_executed(tables.comparison_table(comparison({}))))
    assert _Elements(page).scripts == [FOLD]
    assert "unsafe-eval" not in page
    assert "1.84 [1.71, 1.98]" in page


def test_a_page_has_its_title_once_its_question_and_how_to_run_it_again() -> None:
    page = _page(_executed(), title="Mine & <yours>")
    assert page.count("<h1>") == 1
    assert "<h1>Mine &amp; &lt;yours&gt;</h1>" in page
    assert "<p>Does it <em>open</em>\nanywhere?</p>" in page
    assert 'href="notebooks/a.ipynb"' in page
    assert "2024-05-01 09:30 UTC" in page


def test_code_is_there_and_folded() -> None:
    page = _page(_executed(text="xfs"))
    assert re.findall(r"<details class=\"code\"><summary>([^<]*)</summary>", page) == [
        "Parameters",
        "Parameters of this run",
        "Code",
    ]


def test_every_chart_has_its_image_and_its_words() -> None:
    data = {display.VEGA_MIME: {"mark": "bar"}, "image/png": "iVBORw==", "text/plain": 'Words "here".'}
    cell = v4.new_code_cell("", outputs=[v4.new_output("display_data", data=data)])
    page = _page(v4.new_notebook(cells=[cell]))
    images = _Elements(page).found["img"]
    assert images == [{"src": "data:image/png;base64,iVBORw==", "alt": 'Words "here".'}]
    assert '<script type="application/json">{"mark": "bar"}</script>' in page


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_of_a_log_is_escaped(text: str, comparison: Compare) -> None:
    shown = display.Finding(text), tables.comparison_table(comparison({"level": text, "footnotes": [text]}))
    logs = [Log(text, text, link="logs/a.txt"), Log(text, text, remark=text)]
    page = _page(_executed(*shown, text=text), title=text, logs=logs)
    elements = _Elements(page)
    assert elements.scripts == [FOLD]
    assert not elements.found["img"]
    assert "49" not in page.partition("<main>")[2].partition("</main>")[0]


def test_title_and_question_of_a_notebook() -> None:
    assert title_and_question(_executed()) == ("A notebook", "Does it *open* anywhere?")
    assert title_and_question(v4.new_notebook(cells=[v4.new_code_cell("1")])) == ("", "")
    assert title_and_question(v4.new_notebook()) == ("", "")


# --- pages, in a browser -----------------------------------------------------------------------------------------


@pytest.fixture
def page_of(tmp_path: Path) -> Callable[..., Path]:
    def write(*shown: Any, text: str = "") -> Path:
        path = tmp_path / "page.html"
        path.write_text(_page(_executed(*shown, text=text), title=text or "A page"), encoding="utf-8")
        return path

    return write


POINTS = "figure.chart svg .mark-symbol.role-mark path"
SINGLE = {"ci_low": None, "ci_high": None, "confidence": None, "break_even_cv": 0.2, "verdict": "single runs"}


@pytest.mark.browser
@pytest.mark.usefixtures("_set_up")
@pytest.mark.parametrize("width", [1280, 400])
def test_a_page_opens_from_a_file_and_draws_every_chart(
    browser: Any, page_of: Callable[..., Path], comparison: Compare, width: int
) -> None:
    rows = comparison({}, SINGLE | {"level": "zfs"}, {"operation": "read"})
    opened = browser.open(
        page_of(charts.forest(rows), tables.comparison_table(rows), charts.forest(rows.head(1))), width
    )
    assert opened.is_quiet(), (opened.requests, opened.errors)
    assert opened.page.locator("figure.chart > img").count() == 0  # the images have given way
    assert opened.page.locator(POINTS).count() == 4
    assert not opened.scrolls_sideways()


@pytest.mark.browser
@pytest.mark.usefixtures("_set_up")
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_nothing_in_a_log_acts_or_breaks_a_page(
    browser: Any, page_of: Callable[..., Path], comparison: Compare, text: str
) -> None:
    rows = comparison({"level": text, "part": text, "footnotes": [text]}, {"part": "other"})
    path = page_of(charts.forest(rows), tables.comparison_table(rows), display.Finding(text), text=text)
    for width in (1280, 400):
        opened = browser.open(path, width)
        opened.page.locator(POINTS).first.hover()
        opened.page.locator("#vg-tooltip-element.visible").wait_for()
        assert opened.is_quiet(), (opened.requests, opened.errors)
        assert not opened.scrolls_sideways()


@pytest.mark.browser
@pytest.mark.usefixtures("_set_up")
def test_a_chart_that_cannot_be_drawn_keeps_its_image(
    browser: Any, page_of: Callable[..., Path], comparison: Compare
) -> None:
    path = page_of(charts.forest(comparison({})))
    path.write_text(path.read_text().replace('"facet": {', '"no facet": {'))
    page = browser._browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_function("document.querySelectorAll('figure.chart > div').length === 0")
    assert page.locator("figure.chart > img").is_visible()


@pytest.mark.browser
def test_code_opens_with_the_keyboard(browser: Any, page_of: Callable[..., Path]) -> None:
    page = browser.open(page_of(text="xfs")).page
    for _ in ("skip", "all reports", "all code", "this piece"):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    assert page.locator("details.code[open]").count() == 1


# --- a whole report ----------------------------------------------------------------------------------------------

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
    finding = "from fsbench_kit.display import Finding\nFinding(f'{level} it is.')"
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
    assert "Which level is it?" in good
    assert "<b>xfs</b> it is." in good
    assert "The bad & the ugly" in bad
    assert "failed" in bad
    assert "ValueError: <no log>" in bad
    assert "bad did not succeed" in after
    for link in opened.page.locator("main a").all():
        assert (project / "reports" / str(link.get_attribute("href"))).is_file()


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("title = ", "cannot be read"),
        ("title = 'a'", "notebook: Field required"),
        ("title = 'a'\n[[notebook]]\nname = '../b'\nfile = 'c'", "notebook.0.name: String should match"),
        ("title = 'a'\n[[notebook]]\nname = 'b'\nfiel = 'c'", "notebook.0.fiel: Extra inputs"),
    ],
)
def test_a_spec_that_is_wrong_says_where(tmp_path: Path, text: str, match: str) -> None:
    path = tmp_path / "report.toml"
    path.write_text(text)
    with pytest.raises(ReportError, match=match):
        read_spec(path)


def test_a_report_with_wrong_parameters_runs_nothing(project: Path) -> None:
    (project / "notebooks" / "report.toml").write_text(SPEC.replace("level =", "levle ="))
    with pytest.raises(RequestError, match="levle"):
        report()
    assert not (project / "reports").exists()


def test_the_report_of_this_project_can_be_read(root: Path) -> None:
    spec = read_spec(root / "notebooks" / "report.toml")
    assert all((root / notebook.file).is_file() for notebook in spec.notebook)
