"""The index of a site: it lists every report, and finds them by words, study, tool, filesystem and verdict."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsbench_kit.report.index import Entry, render_index
from fsbench_kit.report.spec import ReportSpec
from tests.pages import HOSTILE, Elements, barriers, run_of

Write = Callable[..., Path]


def _entry(title: str, finding: str = "", status: str = "ok", **facets: list[str]) -> Entry:
    return Entry(
        title=title,
        findings=(finding,) if finding else (),
        facets={name: facets.get(name, []) for name in ("study", "tool", "filesystem", "verdict")},
        manifest=run_of("a", status=status, error="No such <log>." if status == "failed" else None),
        page="a.html" if status == "ok" else None,
    )


ENTRIES = (
    _entry("Disks", "XFS wins.", study=["s & t"], tool=["fio"], filesystem=["ext4", "xfs"], verdict=["better"]),
    _entry("Flash", "Nobody wins.", study=["other"], tool=["fio", "iozone"], filesystem=["ext4", "zfs"]),
    _entry("Tape", study=["other"], tool=["bonnie++"], filesystem=["ext4"], verdict=["single runs"]),
    _entry("Punched cards", status="failed"),
)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(*entries: Entry) -> Path:
        path = tmp_path / "index.html"
        spec = ReportSpec(title="All <reports>", intro="On & on.", notebook=())
        path.write_text(render_index(spec, entries), encoding="utf-8")
        return path

    return write


def _titles(page: Any) -> list[str]:
    return [re.sub(r"\s+failed", "", heading.inner_text()) for heading in page.locator("h2:visible").all()]


# --- as text -----------------------------------------------------------------------------------------------------


def test_the_index_has_all_that_there_is_without_its_script(write: Write) -> None:
    page = write(*ENTRIES).read_text()
    for text in (
        "All &lt;reports&gt;",
        "XFS wins.",
        "No such &lt;log&gt;.",
        "bonnie++",
        "single runs",
        "s &amp; t",
    ):
        assert text in page.partition("<script")[0]


def test_of_many_findings_three_stand_in_sight(write: Write) -> None:
    said = tuple(f"Finding {number}." for number in range(6))
    page = write(replace(ENTRIES[0], findings=said), replace(ENTRIES[1], findings=said[:4])).read_text()
    seen, *others = page.partition("<main")[2].split('<details class="others">')
    assert [text in seen for text in said] == [True] * 3 + [False] * 3
    assert [re.findall(r"(\d) more (findings?)<", of) for of in others] == [
        [("3", "findings")],
        [("1", "finding")],
    ]
    assert all(text in others[0] for text in said[3:])


def test_what_failed_is_not_linked_to(write: Write) -> None:
    page = write(ENTRIES[-1]).read_text()
    assert 'class="failed"' in page
    assert {element["href"] for element in Elements(page).found["a"]} == {"#main"}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_of_a_log_is_escaped(write: Write, text: str) -> None:
    page = write(_entry(text, text, study=[text], tool=[text], filesystem=[text], verdict=[text])).read_text()
    elements = Elements(page)
    assert len(elements.scripts) == 1
    assert not elements.found["img"]
    assert "49" not in page.partition("<body>")[2].partition("<script")[0]


# --- in a browser ------------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_words_find_reports(browser: Any, write: Write) -> None:
    opened = browser.open(write(*ENTRIES))
    page = opened.page
    assert page.locator("output").inner_text() == "4 of 4 reports"
    for words, titles in [
        ("wins", ["Disks", "Flash"]),
        ("WINS  nobody", ["Flash"]),
        ("such <log>", ["Punched cards"]),
        ("neither", []),
    ]:
        page.get_by_role("searchbox").fill(words)
        assert _titles(page) == titles
    assert page.locator("output").inner_text() == "No report fits."
    page.get_by_role("button", name="Show all").click()
    assert len(_titles(page)) == 4
    assert not page.get_by_role("button", name="Show all").is_visible()
    assert opened.is_quiet(), (opened.requests, opened.errors)


@pytest.mark.browser
def test_filters_find_reports(browser: Any, write: Write) -> None:
    page = browser.open(write(*ENTRIES)).page
    for name, value, titles in [
        ("Study", "other", ["Flash", "Tape"]),
        ("Tool", "fio", ["Flash"]),  # all filters count
        ("Study", "", ["Disks", "Flash"]),
        ("Filesystem", "xfs", ["Disks"]),
        ("Verdict", "single runs", []),
    ]:
        page.get_by_label(name, exact=True).select_option(value)
        assert _titles(page) == titles


@pytest.mark.browser
def test_the_keyboard_is_enough(browser: Any, write: Write) -> None:
    page = browser.open(write(*ENTRIES)).page
    keys = page.keyboard
    keys.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the reports"
    keys.press("Tab")
    keys.type("wins")
    keys.press("Enter")  # submits nothing
    assert _titles(page) == ["Disks", "Flash"]
    for _ in ("study", "tool"):
        keys.press("Tab")
    keys.type("iozone")
    assert _titles(page) == ["Flash"]
    for _ in ("filesystem", "verdict", "show all"):
        keys.press("Tab")
    keys.press("Enter")
    assert len(_titles(page)) == 4
    assert page.evaluate("document.activeElement.name") == "q"


@pytest.mark.browser
def test_what_is_chosen_stands_in_the_address(browser: Any, write: Write) -> None:
    path = write(*ENTRIES)
    page = browser.open(path).page
    page.get_by_role("searchbox").fill("disks & more")
    page.get_by_label("Study", exact=True).select_option("s & t")
    chosen = page.url
    assert chosen.startswith(path.as_uri() + "#")
    page.goto("about:blank")
    page.goto(chosen)
    assert page.get_by_role("searchbox").input_value() == "disks & more"
    assert page.get_by_label("Study", exact=True).input_value() == "s & t"
    assert _titles(page) == []
    page.evaluate("location.hash = '#tool=fio&study=gone'")
    page.get_by_text("2 of 4 reports").wait_for()
    assert page.get_by_label("Study", exact=True).input_value() == ""
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert _titles(page) == ["Disks", "Flash"]  # the way past the search does not end it


@pytest.mark.browser
def test_without_scripts_everything_is_listed_and_nothing_pretends_to_filter(chromium: Any, write: Write) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(write(*ENTRIES).as_uri())
    assert page.locator("h2:visible").count() == 4
    assert not page.locator("form").is_visible()
    context.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_the_index_keeps_nobody_out(browser: Any, write: Write, width: int) -> None:
    page = browser.open(write(*ENTRIES), width).page
    assert barriers(page) == []
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.get_by_role("searchbox").fill("neither")
    assert barriers(page) == []


@pytest.mark.browser
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_nothing_in_a_log_acts_or_breaks_the_index(browser: Any, write: Write, text: str) -> None:
    path = write(_entry(text, text, study=[text], filesystem=[text]), ENTRIES[0])
    for width in (1280, 390):
        opened = browser.open(path, width)
        assert not opened.scrolls_sideways()
        opened.page.get_by_label("Study", exact=True).select_option(index=1)
        assert opened.is_quiet(), (opened.requests, opened.errors)
