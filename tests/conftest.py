"""What several tests need: the project's folders, small studies written on the spot, a browser."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import settings

import fsbench_kit as fsb
from fsbench_kit.analysis.comparison import COLUMNS
from fsbench_kit.launch.locks import LOCKS

# With it, jsonschema compiles dozens of grammars for addresses: two seconds of each worker, for no test.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # cannot be imported

# What somebody read before this is no part of a test.
os.environ["FSBENCH_CACHE"] = "off"

# A busy machine is no fault. Examples are others each time, so that few of them do.
settings.register_profile("here", deadline=None, max_examples=30)
settings.load_profile("here")

SMALLFILES_LOG = """\
# datasize: 4k
-------------------------
# {filesystem}
file_create 1000
write: {rate}/sec, write/{elapsed} secs, write_sync/0.100 secs
"""


LONGEST = (
    "test_main_job.py",
    "test_replicate.py",
    "test_hosts.py",
    "test_isolation.py",
    "test_notebooks.py",
    "test_mangling.py",
    "test_coverage_page.py",
    "test_page.py",
    "test_wheel.py",
    "test_manual.py",
)
"""Files that one worker is busy with for a minute and more."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no worker is alone with one at the end."""
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.name, len(order)))


@pytest.fixture(scope="session", autouse=True)
def _own_locks(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let tests launch beside each other, and beside a launch of the one who runs them."""
    os.environ[LOCKS] = str(tmp_path_factory.mktemp("locks"))


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).parents[1]


@pytest.fixture(scope="session")
def published(root: Path) -> Path:
    return root / "raw_results" / "published"


@pytest.fixture(scope="session")
def audit(published: Path) -> pl.DataFrame:
    """Return the claims of all published studies, held against their figures, which takes five seconds."""
    return fsb.audit(published)


@pytest.fixture
def _as_in_a_notebook(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Draw charts as a notebook does that has begun with `setup`."""
    import altair as alt

    from fsbench_kit.notebooks import display

    monkeypatch.chdir(root)
    renderer, theme = alt.renderers.active, alt.theme.active
    display.setup()
    yield
    alt.renderers.enable(renderer)
    alt.theme.enable(theme)


@pytest.fixture
def smallfiles_log() -> Callable[..., str]:
    """Return a function that writes the log of one small run with a given rate."""

    def write(filesystem: str = "ext4", rate: float = 2000.0) -> str:
        return SMALLFILES_LOG.format(filesystem=filesystem, rate=f"{rate:.3f}", elapsed=f"{1000 / rate:.3f}")

    return write


@pytest.fixture(scope="session")
def comparison() -> Callable[..., pl.DataFrame]:
    """Return a function that makes a comparison of rows given by the columns that matter to a test."""

    def make(*rows: dict[str, Any]) -> pl.DataFrame:
        numbered = [COMPARISON_ROW | {"effect": number} | row for number, row in enumerate(rows)]
        return pl.DataFrame(numbered, schema=COLUMNS, orient="row")

    return make


COMPARISON_ROW: dict[str, Any] = {
    "study": "quick",
    "tool": "fio",
    "pattern": "randwrite",
    "scope": "all",
    "part": None,
    "operation": "write",
    "block_size": 4096,
    "file_size": 2**30,
    "threads": 1,
    "iodepth": "8",
    "metric": "bandwidth",
    "statistic": "value",
    "unit": "B/s",
    "better": "higher",
    "factor": "filesystem",
    "baseline": "ext4",
    "level": "xfs",
    "value_baseline": 100 * 2.0**20,
    "value_candidate": 184 * 2.0**20,
    "n_baseline": 5,
    "n_candidate": 5,
    "averaged_over_baseline": None,
    "averaged_over_candidate": None,
    "n_pairs": 5,
    "ratio": 1.84,
    "rounding_low": None,
    "rounding_high": None,
    "ci_low": 1.71,
    "ci_high": 1.98,
    "confidence": 0.95,
    "prediction_low": None,
    "prediction_high": None,
    "break_even_cv": None,
    "estimand": "ratio of geometric means",
    "method": "paired t on logs",
    "over": "rounds",
    "n_for": 5,
    "n_against": 0,
    "p": 0.0001,
    "p_adjusted": 0.001,
    "effect": 1,
    "tested": None,
    "error": None,
    "margin": 1.05,
    "verdict": "better",
    "reasons": [],
    "footnotes": [],
}
"""One row of a comparison in which everything is as it should be."""


class Browser:
    """A Chromium that may read one file, and keeps account of all else that a page tries."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser

    def open(self, path: Path, width: int = 1280) -> "Opened":
        page = self._browser.new_page(viewport={"width": width, "height": 900})
        opened = Opened(page)
        url = path.as_uri()

        def route(request_route: Any) -> None:
            if request_route.request.url == url:
                request_route.continue_()
            else:
                opened.requests.append(request_route.request.url)
                request_route.abort()

        page.route("**/*", route)
        page.on("pageerror", lambda error: opened.errors.append(str(error)))
        page.on("dialog", lambda dialog: (opened.errors.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("console", lambda m: opened.errors.append(m.text) if m.type in ("error", "warning") else None)
        page.goto(url)
        number = page.locator("figure.chart").count()
        page.wait_for_function(f"document.querySelectorAll('.vega-embed svg.marks').length === {number}")
        return opened


class Opened:
    """A page, what it asked for, and what went wrong."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.errors: list[str] = []

    def is_quiet(self) -> bool:
        return not self.requests and not self.errors

    def scrolls_sideways(self) -> bool:
        return bool(self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Return Playwright's handle of a Chromium; there can be one for each process."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    if program is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def browser(chromium: Any) -> Browser:
    return Browser(chromium)
