"""What tests of pages share: texts that try to act, pages as a browser reads them, and axe-core's judgement."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any, Final

from axe_playwright_python.sync_playwright import Axe

from fsbench_kit.notebooks import Basis, Manifest

HOSTILE: Final = {
    "script": '<script>window.alert("hacked")</script><img src=x onerror="alert(1)">',
    "end-of-script": "</script><script>alert(1)</script><!--",
    "quotes": "'\"`${alert(1)}\\",
    "lines": "one\ntwo\r\n\tthree\u2028four\x1b[31m\x07",
    "long": "x" * 10_000,
    "template": "{{ 7 * 7 }} {% include 'style.css' %}",
}


def run_of(name: str, **more: Any) -> Manifest:
    """Return the record of a run."""
    basis = Basis(
        notebook="c0ffee",
        package="f00d",
        versions={"fsbench-kit": "0.1.0", "polars": "9.9"},
        parameters={"data": ["raw_results/x"], "level": "<ext4>"},
        files={},
        made={},
    )
    moment = datetime(2024, 5, 1, 9, 30, tzinfo=UTC)
    facts = {"name": name, "source": "notebooks/a.ipynb", "basis": basis, "status": "ok", "duration": 2.5}
    return Manifest.model_validate(facts | {"started_at": moment} | more)


class Elements(HTMLParser):
    """The elements of a page as a browser reads them: name -> attributes of each, and the text of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, list[dict[str, str | None]]] = defaultdict(list)
        self.scripts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of an element."""
        self.found[tag].append(dict(attrs))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        """Keep the text of a script."""
        if self.cdata_elem == "script":
            self.scripts[-1] += data


def barriers(page: Any) -> list[str]:
    """Return what axe-core finds on a page that keeps people with disabilities out of it, or makes it harder."""
    found = Axe().run(page).response["violations"]
    return [f"{rule['id']}: {node['html'][:200]}" for rule in found for node in rule["nodes"]]
