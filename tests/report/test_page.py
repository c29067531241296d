"""Pages and their index: they need nothing but themselves, and nothing in a log can act in them."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from nbformat import NotebookNode, v4

from fsbench_kit import charts, report, tables
from fsbench_kit.notebooks import display
from fsbench_kit.report import render_page, title_and_question
from fsbench_kit.report.logs import Log
from tests.pages import HOSTILE, Elements, barriers, run_of

Compare = Callable[..., pl.DataFrame]


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


def _page(notebook: NotebookNode, title: str = "A page", logs: Sequence[Log] = ()) -> str:
    return render_page(notebook, title, run_of("a"), logs)


FOLD = (Path(report.__file__).parent / "templates" / "page" / "fold.js").read_text()


# --- pages, as text ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_as_in_a_notebook")
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
    assert Elements(page).scripts == [FOLD]
    assert "unsafe-eval" not in page
    assert "1.84 [1.71, 1.98]" in page


def test_a_page_has_its_title_once_its_question_and_how_to_run_it_again() -> None:
    page = _page(_executed(), title="Mine & <yours>")
    assert page.count("<h1>") == 1
    assert "<h1>Mine &amp; &lt;yours&gt;</h1>" in page
    assert "<p>Does it <em>open</em>\nanywhere?</p>" in page
    links = {element["href"] for element in Elements(page).found["a"]}
    assert links == {"index.html", "#main", "notebooks/a.ipynb", "manifests/a.json"}
    assert "2024-05-01 09:30 UTC" in page


def test_a_page_carries_parameters_versions_hashes_and_the_raw_logs() -> None:
    logs = [Log("raw/<a>.log", "5775e7", link="logs/5775e7-a_.log.txt"), Log("big", "abc", remark="not copied")]
    footer = _page(_executed(), logs=logs).partition("<footer>")[2]
    for text in ("&lt;ext4&gt;", "raw_results/x", "polars", "9.9", "c0ffee", "f00d", "5775e7", "not copied"):
        assert text in footer
    assert '<a href="logs/5775e7-a_.log.txt">raw/&lt;a&gt;.log</a>' in footer


def test_code_is_there_and_folded() -> None:
    page = _page(_executed(text="xfs"))
    assert re.findall(r"<details class=\"code\"><summary>([^<]*)</summary>", page) == [
        "Parameters",
        "Parameters of this run",
        "Code",
    ]


def test_what_a_cell_prints_line_by_line_is_one_text() -> None:
    lines = [v4.new_output("stream", name="stdout", text=f"run {number}\n") for number in (1, 2)]
    page = _page(v4.new_notebook(cells=[v4.new_code_cell("launch()", outputs=lines)]))
    assert "run 1\nrun 2\n" in page


def test_every_chart_has_its_image_and_its_words() -> None:
    data = {display.VEGA_MIME: {"mark": "bar"}, "image/png": "iVBORw==", "text/plain": 'Words "here".'}
    cell = v4.new_code_cell("", outputs=[v4.new_output("display_data", data=data)])
    page = _page(v4.new_notebook(cells=[cell]))
    images = Elements(page).found["img"]
    assert images == [{"src": "data:image/png;base64,iVBORw==", "alt": 'Words "here".'}]
    assert '<script type="application/json">{"mark": "bar"}</script>' in page


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_of_a_log_is_escaped(text: str, comparison: Compare) -> None:
    shown = display.Finding(text), tables.comparison_table(comparison({"level": text, "footnotes": [text]}))
    logs = [Log(text, text, link="logs/a.txt"), Log(text, text, remark=text)]
    page = _page(_executed(*shown, text=text), title=text, logs=logs)
    elements = Elements(page)
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
@pytest.mark.usefixtures("_as_in_a_notebook")
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
@pytest.mark.usefixtures("_as_in_a_notebook")
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_nothing_in_a_log_acts_or_breaks_a_page(
    browser: Any, page_of: Callable[..., Path], comparison: Compare, text: str
) -> None:
    rows = comparison({"level": text, "part": text, "footnotes": [text]}, {"part": "other"})
    path = page_of(
        charts.forest(rows, title=text), tables.comparison_table(rows), display.Finding(text), text=text
    )
    for width in (1280, 400):
        opened = browser.open(path, width)
        opened.page.locator(POINTS).first.hover()
        opened.page.locator("#vg-tooltip-element.visible").wait_for()
        assert opened.is_quiet(), (opened.requests, opened.errors)
        assert not opened.scrolls_sideways()


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
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


@pytest.mark.browser
def test_all_code_opens_and_folds_at_once(browser: Any, page_of: Callable[..., Path]) -> None:
    page = browser.open(page_of(text="xfs")).page
    button, open_code = page.locator("button.fold"), page.locator("details.code[open]")
    assert (button.inner_text(), open_code.count()) == ("Show all code", 0)
    button.click()
    page.get_by_role("button", name="Hide all code").wait_for()
    assert open_code.count() == 3
    page.locator("details.code summary").first.click()
    page.get_by_role("button", name="Show all code").wait_for()
    button.focus()
    for _ in range(2):  # all, and then none
        page.keyboard.press("Enter")
    assert open_code.count() == 0


@pytest.mark.browser
def test_the_way_past_the_navigation_is_the_first_thing_that_the_keyboard_reaches(
    browser: Any, page_of: Callable[..., Path]
) -> None:
    page = browser.open(page_of()).page
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the report"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_a_page_keeps_nobody_out(browser: Any, page_of: Callable[..., Path], comparison: Compare) -> None:
    rows = comparison({"footnotes": ["A note."]}, SINGLE | {"level": "zfs"})
    path = page_of(charts.forest(rows), tables.comparison_table(rows), display.Finding("xfs"), text="xfs")
    for width in (1280, 390):
        page = browser.open(path, width).page
        assert barriers(page) == []
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert barriers(page) == []


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_a_page_prints_its_charts_and_tables_whole_and_no_controls(
    browser: Any, page_of: Callable[..., Path], comparison: Compare
) -> None:
    rows = comparison(*({"part": f"job {number}"} for number in range(60)))
    page = browser.open(page_of(charts.forest(rows.head(3)), tables.comparison_table(rows))).page
    page.set_viewport_size({"width": 680, "height": 900})  # A4 between its margins
    page.emulate_media(media="print")
    for control in ("nav", "button.fold", "details.code", ".skip"):
        assert not page.locator(control).first.is_visible()
    assert page.evaluate(
        """[...document.querySelectorAll('.table, figure.chart')].every((box) =>
            box.scrollHeight <= box.clientHeight + 1 && box.getBoundingClientRect().right <= innerWidth)"""
    )
