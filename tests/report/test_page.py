"""Pages and their index: they need nothing but themselves, and nothing in a log can act in them."""

import base64
import gzip
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import pytest
from nbformat import NotebookNode, v4

import fsbench_kit as fsb
from fsbench_kit import charts, report, tables
from fsbench_kit.analysis.variance_components import variance_components
from fsbench_kit.launch.replicate import side_by_side
from fsbench_kit.notebooks import display
from fsbench_kit.report import render_page, title_and_question
from fsbench_kit.report.logs import Log
from tests.pages import HOSTILE, Elements, barriers, run_of

Compare = Callable[..., pl.DataFrame]


def _output(shown: Any) -> NotebookNode:
    """Return what a kernel would write for the value of a cell."""
    return v4.new_output("execute_result", data=shown._repr_mimebundle_(), execution_count=1)


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


SORT = (Path(report.__file__).parent / "templates" / "page" / "tables.js").read_text()


def _unpacked(text: str) -> str:
    return gzip.decompress(base64.b64decode(text)).decode()


# --- pages, as text ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_as_in_a_notebook")
def test_a_page_names_no_other_resource(comparison: Compare) -> None:
    page = _page(_executed(charts.forest(comparison({}))))
    head, _, unpacking = page.split('<script type="module">')
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", head)
    assert not re.search(r"(?i)require\.js|mathjax|mermaid|jupyter-widgets|@import|url\(", head)
    assert "default-src &#39;none&#39;" in head or "default-src 'none'" in head
    assert unpacking.count("</script") == 1
    (program,) = re.findall(r'<script[^>]*id="drawing"[^>]*>([^<]*)<', page)
    assert "figure.chart" in _unpacked(program)


def test_a_page_without_charts_has_no_script_but_the_one_that_sorts(comparison: Compare) -> None:
    page = _page(_executed(tables.comparison_table(comparison({}))))
    assert Elements(page).scripts == [SORT]
    assert "unsafe-eval" not in page
    assert '1.84 <span style="white-space:nowrap">[1.71, 1.98]</span>' in page


def test_a_page_has_its_title_once_its_question_and_how_to_run_it_again() -> None:
    page = _page(_executed(), title="Mine & <yours>")
    assert page.count("<h1>") == 1
    assert "<h1>Mine &amp; &lt;yours&gt;</h1>" in page
    assert {"property": "og:title", "content": "Mine & <yours>"} in Elements(page).found["meta"]
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


def test_code_and_parameters_are_there_once_folded_and_last() -> None:
    page = _page(_executed(text="xfs"))
    main, _, footer = page.partition("<footer>")
    assert "highlight" not in main.partition("<main")[2]
    (folded,) = re.findall(r'<details class="code"><summary>([^<]*)</summary>', footer)
    assert folded == "Code and parameters"
    assert footer.count("raw_results/x") == 1
    assert "print" in footer


def test_what_a_launch_printed_stands_after_the_finding() -> None:
    main, _, footer = _page(_executed(display.Finding("xfs it is"), text="run 1 of 2")).partition("<footer>")
    assert "run 1 of 2" not in main
    assert "run 1 of 2" in footer


def test_text_above_nothing_is_left_out() -> None:
    shown = v4.new_output("execute_result", data={"text/plain": "1"}, execution_count=1)
    cells = [
        v4.new_markdown_cell("# Title\n\nWhy?"),
        v4.new_markdown_cell("## Maps\n\nA map shows it."),
        v4.new_code_cell("show(*maps)"),
        v4.new_markdown_cell("## Prose\n\nWithout code."),
        v4.new_markdown_cell("## Figures"),
        v4.new_code_cell("1", outputs=[shown]),
    ]
    says = {display.VEGA_MIME: {"mark": "text", "usermeta": {"says": ["One run of each."]}}, "image/png": ""}
    cells[4:4] = [
        v4.new_markdown_cell("## Runs\n\nA slope is drift."),
        v4.new_code_cell("order()", outputs=[v4.new_output("display_data", data=says)]),
    ]
    page = _page(v4.new_notebook(cells=cells))
    assert "A map shows it" not in page
    assert "A slope is drift" not in page
    assert "One run of each" not in page
    assert "Without code." in page
    assert re.findall(r'<h2 id="([^"]*)"', page) == ["Prose", "Figures"]


@pytest.mark.usefixtures("_as_in_a_notebook")
def test_headings_charts_and_tables_have_addresses_and_tables_their_files(comparison: Compare) -> None:
    rows = comparison({})
    notebook = _executed(charts.forest(rows), tables.comparison_table(rows))
    headings = [v4.new_markdown_cell(f"## {text}") for text in ("The ratios", "More", "Last")]
    notebook.cells = [notebook.cells[0], headings[0], *notebook.cells[1:], *headings[1:]]
    page = _page(notebook)
    contents = page.partition('aria-label="Contents"')[2].partition("</nav>")[0]
    assert re.findall(r'href="#([^"]*)"', contents) == ["The-ratios", "More", "Last"]
    ids = {element["id"] for of in Elements(page).found.values() for element in of if element.get("id")}
    assert {"The-ratios", "More", "Last", "the-ratios-chart", "the-ratios-table"} <= ids
    links = {link.get("download"): link["href"] for link in Elements(page).found["a"]}
    csv = base64.b64decode(str(links["a-the-ratios-table.csv"]).partition(",")[2]).decode()
    assert csv == tables.comparison_table(rows).frame().write_csv()
    assert b"\\toprule" in base64.b64decode(str(links["a-the-ratios-table.tex"]).partition(",")[2])


@pytest.mark.usefixtures("_as_in_a_notebook")
def test_a_file_that_would_make_a_page_slow_is_compressed() -> None:
    long = tables.table(pl.DataFrame({"run": [f"run {number}, {'x' * 50}" for number in range(4000)]}), "Runs")
    page = _page(_executed(long))
    links = {link.get("download"): str(link["href"]) for link in Elements(page).found["a"]}
    kind, _, packed = links["a-table.csv.gz"].partition(",")
    assert kind == "data:application/gzip;base64"
    assert gzip.decompress(base64.b64decode(packed)).decode() == long.frame().write_csv()
    assert not any(name and name.endswith(".tex") for name in links)


def test_what_a_cell_prints_line_by_line_is_one_text() -> None:
    lines = [v4.new_output("stream", name="stdout", text=f"run {number}\n") for number in (1, 2)]
    page = _page(v4.new_notebook(cells=[v4.new_code_cell("launch()", outputs=lines)]))
    assert "run 1\nrun 2\n" in page


def _chart_cell(image: str) -> NotebookNode:
    data = {display.VEGA_MIME: {"mark": "bar"}, "image/png": image, "text/plain": 'Words "here".'}
    return v4.new_code_cell("", outputs=[v4.new_output("display_data", data=data)])


def test_every_chart_has_its_image_and_its_words() -> None:
    page = _page(v4.new_notebook(cells=[_chart_cell("iVBORw==")]))
    images = Elements(page).found["img"]
    assert images == [{"src": "data:image/png;base64,iVBORw==", "alt": 'Words "here".'}]
    (spec,) = re.findall(r'<script type="application/gzip">([^<]*)</script></figure>', page)
    assert json.loads(_unpacked(spec)) == {"mark": "bar"}


def test_a_very_large_image_is_left_out_and_words_stand_in_its_place() -> None:
    page = _page(v4.new_notebook(cells=[_chart_cell("A" * 300_000)]))
    assert "A" * 1000 not in page
    assert not Elements(page).found["img"]
    assert '<p class="undrawn">Words "here".</p>' in page


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_of_a_log_is_escaped(text: str, comparison: Compare) -> None:
    shown = display.Finding(text), tables.comparison_table(comparison({"level": text, "footnotes": [text]}))
    logs = [Log(text, text, link="logs/a.txt"), Log(text, text, remark=text)]
    page = _page(_executed(*shown, text=text), title=text, logs=logs)
    elements = Elements(page)
    assert elements.scripts == [SORT]
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
@pytest.mark.parametrize(("largest", "left"), [(200_000, "img"), (0, ".undrawn")])
def test_a_chart_that_cannot_be_drawn_keeps_its_image_or_its_words(
    browser: Any,
    page_of: Callable[..., Path],
    comparison: Compare,
    largest: int,
    left: str,
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("fsbench_kit.report.figures._LARGE_IMAGE", largest)
        path = page_of(charts.forest(comparison({})))
    drawn = browser.open(path).page
    assert drawn.locator(f"figure.chart > {left}").count() == 0
    path.write_text(re.sub('gzip">[^<]{9}', 'gzip">AAAAAAAAA', path.read_text(), count=1))
    page = browser._browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_function("document.querySelectorAll('figure.chart > div').length === 0")
    assert page.locator(f"figure.chart > {left}").is_visible()


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_a_screen_reader_hears_of_no_point_that_is_not_there(browser: Any, page_of: Callable[..., Path]) -> None:
    rows = pl.DataFrame({"x": [1, 2, 3], "y": [None, 1.0, 2.0]})
    points = alt.Chart(rows).encode(x="x:Q", y="y:Q", tooltip="y:Q")
    page = browser.open(page_of(points.mark_line() + points.mark_point().transform_filter("datum.y > 0"))).page
    assert page.locator("figure.chart svg [role=graphics-symbol][aria-roledescription=point]").count() == 2
    assert page.locator("figure.chart svg [aria-label*=null]").count() == 0


@pytest.mark.browser
def test_code_opens_with_the_keyboard(browser: Any, page_of: Callable[..., Path]) -> None:
    page = browser.open(page_of(text="xfs")).page
    page.locator("details.code summary").focus()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    assert page.locator("details.code[open]").count() == 1


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_a_chart_is_as_wide_as_the_page_and_its_names_stand_above_its_marks_where_it_is_narrow(
    browser: Any, page_of: Callable[..., Path], comparison: Compare
) -> None:
    path = page_of(charts.forest(comparison({}, {"operation": "read"})))
    for width in (1400, 400):
        page = browser.open(path, width).page
        figure, drawn = (page.locator(of).bounding_box() for of in ("figure.chart", "figure.chart svg"))
        assert 0.9 * figure["width"] < drawn["width"] <= figure["width"]
        mark = page.locator(POINTS).first.bounding_box()
        name = page.locator("figure.chart text", has_text="read").first.bounding_box()
        value = page.locator("figure.chart text", has_text="1.84 (1.71 to 1.98)").first.bounding_box()
        assert value["x"] + value["width"] <= width
        if width == 400:
            assert name["y"] + name["height"] <= mark["y"] + 4
            assert name["x"] < mark["x"]


UNREADABLE = """() => [...document.querySelectorAll('figure.chart svg')].flatMap((svg) => {
    const boxes = (what) => [...svg.querySelectorAll(what)].map((one) => one.getBoundingClientRect());
    const symbols = boxes('.mark-symbol.role-mark path');
    const marks = symbols.length ? symbols : boxes('.mark-rect.role-mark path'); // else these are bands
    const texts = boxes('.role-axis-label text, .role-title-text text');
    const over = ({ left, right, top, bottom }, mark) =>
        Math.min(right, mark.right) - Math.max(left, mark.left) > 1
        && Math.min(bottom, mark.bottom) - Math.max(top, mark.top) > 2;
    return texts.filter((text) => marks.some((mark) => over(text, mark))).map(({ top }) => [svg.ariaLabel, top]);
})"""
BEYOND = """() => [...document.querySelectorAll('figure.chart')]
    .map((figure) => figure.querySelector('svg').viewBox.baseVal.width - figure.clientWidth)
    .filter((by) => by > 1)"""


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_on_a_phone_names_of_rows_stand_beside_no_mark_and_no_chart_is_scaled_down(
    browser: Any, page_of: Callable[..., Path], comparison: Compare, root: Path, published: Path
) -> None:
    recorded = fsb.read(root / "raw_results" / "recorded" / "ext4-xfs-loop-2026")
    again = fsb.read(root / "raw_results" / "replicated" / "sysbench-rhel72-again")
    found = side_by_side(fsb.read(published / "sysbench-rhel72"), again)
    wide = {
        "ratio": 0.0675,
        "ci_low": 0.0593,
        "ci_high": 0.077,
        "part": "a job whose name is longer than a line of it",
    }
    path = page_of(
        charts.forest(comparison(wide, {})),
        charts.variance_shares(variance_components(recorded)),
        charts.replication(found),
        charts.replication_plane(found),
        charts.claimed_sizes(fsb.audit(published / "fileserver-debian-2006")),
    )
    page = browser.open(path, 400).page
    assert page.locator("figure.chart svg").count() == 5
    assert page.evaluate(UNREADABLE) == []
    assert page.evaluate(BEYOND) == []
    explained = page.get_by_text("Bars are 95").bounding_box()
    assert explained["y"] > page.locator("figure.chart svg").first.bounding_box()["y"]


@pytest.mark.browser
def test_on_a_phone_a_table_is_moved_below_a_caption_that_stays(
    browser: Any, page_of: Callable[..., Path], comparison: Compare
) -> None:
    page = browser.open(page_of(tables.comparison_table(comparison({"operation": "read"}, {}))), 400).page
    table, caption = page.locator("main .table"), page.locator("main caption")
    for moved in (0, 100):
        table.evaluate("(box, by) => box.scrollTo(by, 0)", moved)
        assert table.evaluate("box => box.scrollLeft") == moved
        box = caption.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 400


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_charts_can_be_saved_under_a_name_that_tells_what_they_show(
    browser: Any, page_of: Callable[..., Path], comparison: Compare
) -> None:
    page = browser.open(page_of(charts.forest(comparison({})))).page
    for ending, start in (
        ("SVG", b"<svg"),
        ("PNG", b"\x89PNG"),
        ("CSV", b"effect,group,ratio,low,high,times as good,finding\nbandwidth,xfs,1.84,1.71,1.98,"),
    ):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save this chart as {ending}").click()
        assert download.value.suggested_filename == f"a-chart.{ending.lower()}"
        assert Path(download.value.path()).read_bytes().startswith(start)


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_a_chart_is_saved_as_it_looks(browser: Any, page_of: Callable[..., Path], comparison: Compare) -> None:
    rows = comparison(
        *({"operation": name, "block_size": 2**n} for name in ("read", "write") for n in range(9, 12))
    )
    page = browser.open(page_of(charts.forest(rows, most=3))).page
    page.locator("select[name=view]").select_option("randwrite, read")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this chart as SVG").click()
    saved = Path(download.value.path()).read_text()
    assert "block size 512 B" in saved
    assert "write, block size" not in saved


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_the_figures_of_a_chart_are_saved_and_not_those_of_its_lines(
    browser: Any, page_of: Callable[..., Path]
) -> None:
    line = alt.Chart(pl.DataFrame({"one": [1.0]})).mark_rule().encode(x="one:Q")
    points = alt.Chart(pl.DataFrame({"x": [1, 2], "y": [3, 4]})).mark_point().encode(x="x:Q", y="y:Q")
    page = browser.open(page_of(line + points)).page
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this chart as CSV").click()
    assert Path(download.value.path()).read_text() == "x,y\n1,3\n2,4"


@pytest.mark.browser
def test_tables_are_sorted_by_a_click_and_with_the_keyboard(
    browser: Any, page_of: Callable[..., Path], comparison: Compare
) -> None:
    sizes = [{"block_size": 2**number} for number in (20, 9, 14)]
    page = browser.open(page_of(tables.comparison_table(comparison(*sizes)))).page
    cells = page.locator("main td:first-child")
    head = page.get_by_role("button", name="block size")
    head.click()
    assert cells.all_inner_texts() == ["512 B", "16 KiB", "1 MiB"]
    page.keyboard.press("Enter")
    assert cells.all_inner_texts() == ["1 MiB", "16 KiB", "512 B"]
    assert page.locator("th[aria-sort=descending]").count() == 1


@pytest.mark.browser
def test_bounds_are_sorted_among_figures_and_a_table_is_copied_as_it_looks(
    browser: Any, page_of: Callable[..., Path], comparison: Compare
) -> None:
    bound = {"ratio": None, "ci_low": None, "ci_high": None, "rounding_high": 1.85, "verdict": "bound only"}
    sizes = [{"block_size": 512, "ratio": 1.9}, {"block_size": 1024} | bound, {"block_size": 2048, "ratio": 1.8}]
    opened = browser.open(page_of(tables.comparison_table(comparison(*sizes))))
    page = opened.page
    page.get_by_role("button", name="ratio").click()
    assert page.locator("main td:first-child").all_inner_texts() == ["2 KiB", "1 KiB", "512 B"]
    page.evaluate("getSelection().selectAllChildren(document.querySelector('main table'))")
    head, group, *rows = page.evaluate("getSelection().toString()").strip().splitlines()[1:]
    assert head.split("\t")[:3] == ["block size", "ext4", "xfs"]
    assert group == "Bandwidth, in MiB/s (higher is better)"
    assert [row.split("\t")[0] for row in rows] == ["2 KiB", "1 KiB", "512 B"]


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_on_a_phone_the_finding_and_its_chart_are_on_the_first_screen(
    browser: Any, page_of: Callable[..., Path], comparison: Compare
) -> None:
    said = [
        "ext4 deletes files 1.84 times as fast as xfs (1.63 to 2.07; 10 rounds).",
        *(f"Others say {number}. " * 9 for number in range(3)),
    ]
    path = page_of(display.Finding(said), charts.forest(comparison({}, {"operation": "read"})))
    page = browser.open(path, 400).page
    marks = page.locator("figure.chart svg .mark-symbol path")
    marks.first.wait_for()
    assert all(mark.bounding_box()["y"] < 800 for mark in marks.all())
    assert not page.get_by_text("Others say").first.is_visible()
    page.get_by_text("3 more findings").click()
    assert [one.is_visible() for one in page.get_by_text("Others say").all()] == [True] * 3
    assert browser.open(path, 1400).page.get_by_text("Others say").first.is_visible()


@pytest.mark.browser
def test_rows_of_a_table_are_found_by_typing(
    browser: Any, page_of: Callable[..., Path], comparison: Compare
) -> None:
    sizes = [
        {"block_size": 2**number, "metric": metric} for number in range(9, 16) for metric in ("bandwidth", "iops")
    ]
    opened = browser.open(
        page_of(tables.comparison_table(comparison(*sizes)), tables.comparison_table(comparison({})))
    )
    page = opened.page
    field = page.get_by_role("searchbox", name="Rows with")  # a short table has none
    assert barriers(page) == []
    field.fill("iops 2 kib")
    assert page.locator("main td:first-child").filter(visible=True).all_inner_texts()[0] == "2 KiB"
    assert page.locator("main tbody").filter(visible=True).count() == 2  # of the metric, and the short table
    assert page.get_by_role("status").inner_text() == "2 of 14 rows"  # 32 KiB too
    field.fill("<b>")
    assert page.get_by_role("status").inner_text() == "0 of 14 rows"
    field.fill("")
    assert page.locator("main td:first-child").filter(visible=True).count() == 15
    assert opened.is_quiet(), (opened.requests, opened.errors)


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_rows_of_a_forest_plot_are_found_by_typing(
    browser: Any, page_of: Callable[..., Path], comparison: Compare
) -> None:
    sizes = [{"block_size": 2**number} for number in range(9, 21)]
    opened = browser.open(page_of(charts.forest(comparison(*sizes, {"verdict": "worse"} | sizes[0]))))
    marks = opened.page.locator("figure.chart svg .mark-symbol path")
    assert marks.count() == 13
    field = opened.page.get_by_role("searchbox", name="Rows with")
    field.fill("SIZE 1 m")
    marks.nth(1).wait_for(state="detached")
    assert marks.count() == 1
    assert "ahead of ext4" not in opened.page.locator("figure.chart svg").text_content()
    field.fill("")
    marks.nth(12).wait_for()
    assert barriers(opened.page) == []
    assert opened.is_quiet(), (opened.requests, opened.errors)


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_a_dark_page_keeps_nobody_out(browser: Any, page_of: Callable[..., Path], comparison: Compare) -> None:
    rows = comparison({"footnotes": ["A note."]}, SINGLE | {"level": "zfs"})
    page = browser.open(page_of(charts.forest(rows), tables.comparison_table(rows), display.Finding("xfs"))).page
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 26, 33)"
    svg = "getComputedStyle(document.querySelector('figure.chart svg')).backgroundColor"
    assert page.evaluate(svg) == "rgba(0, 0, 0, 0)"
    assert barriers(page) == []


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
    metrics = (
        "bandwidth",
        "iops",
        "file_rate",
        "elapsed",
        "cpu",
        "latency",
        "completion_latency",
        "phase_latency",
    )
    rows = comparison(*({"part": f"job {number}", "metric": metric} for metric in metrics for number in range(9)))
    page = browser.open(page_of(charts.forest(rows.head(3)), tables.comparison_table(rows))).page
    page.set_viewport_size({"width": 680, "height": 900})  # A4 between its margins
    page.emulate_media(media="print")
    for control in ("nav", ".save", "details.code", ".skip"):
        assert not page.locator(control).first.is_visible()
    assert page.evaluate(
        """[...document.querySelectorAll('.table, figure.chart')].every((box) =>
            box.scrollHeight <= box.clientHeight + 1 && box.getBoundingClientRect().right <= innerWidth)"""
    )


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_on_paper_letters_keep_their_size_and_long_tables_their_first_rows(
    browser: Any, page_of: Callable[..., Path], comparison: Compare
) -> None:
    rows = comparison(*({"part": f"job {number}"} for number in range(300)))
    page = browser.open(page_of(charts.forest(rows.head(35)), tables.comparison_table(rows)), 1400).page
    sheets = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type */Page\b", sheets)) <= 3
    page.emulate_media(media="print")
    assert page.locator("main tbody tr:visible").count() == 4  # the head of the group, and three rows
    width = "document.querySelector('figure.chart svg').viewBox.baseVal.width"
    on_screen = page.evaluate(width)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert 600 < page.evaluate(width) <= 680  # a sheet of A4 between its margins
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(width) == pytest.approx(on_screen, abs=1)


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_on_paper_the_first_chart_stands_below_the_finding(
    browser: Any, page_of: Callable[..., Path], comparison: Compare
) -> None:
    rows = comparison(*({"part": f"job {number}"} for number in range(36)))
    path = page_of(display.Finding(["xfs is slower."] * 4), charts.forest(rows))
    page = browser.open(path, 1400).page
    high = "document.querySelector('figure.chart svg').viewBox.baseVal.height"
    on_screen = page.evaluate(high)
    assert on_screen > 700
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 680, "height": 1031})  # A4 between its margins
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(100)
    end = "document.querySelector('figure.chart svg').getBoundingClientRect().bottom"
    assert page.evaluate(end) <= 1031
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.wait_for_timeout(100)
    assert page.evaluate(high) == pytest.approx(on_screen, abs=1)


@pytest.mark.browser
@pytest.mark.usefixtures("_as_in_a_notebook")
def test_on_a_phone_no_row_is_empty_above_a_head(
    browser: Any, page_of: Callable[..., Path], comparison: Compare
) -> None:
    rows = comparison({"verdict": "better", "ratio": 2.0}, {"verdict": "worse", "operation": "read"})
    opened = browser.open(page_of(charts.forest(rows)), 400)
    labels = "figure.chart svg .role-axis-label text"
    every = browser.open(page_of(charts.forest(rows)), 1400).page.locator(labels).count()
    assert opened.page.locator(labels).count() == every - 2  # one for each of the two groups
