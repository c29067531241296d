"""The manual: links lead somewhere, code is code, commands exist; the site is built, and needs no network."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import typer

import fsbench_kit as fsb
from docs.generator import DOCS
from fsbench_kit.cli import app
from fsbench_kit.data.study import StudyDescription
from fsbench_kit.launch import read_plan

ROOT = DOCS.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.glob("*.md")),
    *sorted(DOCS.glob("start/*.md")),
]
BLOCK = re.compile(r"^( *)```\{?(\w+)\}?[^\n]*\n((?: *:[\w-]+:[^\n]*\n)*)(.*?)^\1```$", re.MULTILINE | re.DOTALL)
OF_THE_SYSTEM = {
    *("cat", "cd", "cp", "echo", "git", "grep", "head", "ls", "mkdir", "sed"),
    *("conda", "docker", "jupyter", "papermill", "pip", "pre-commit", "python", "python3"),
}


def blocks(*languages: str) -> Iterator[tuple[str, str]]:
    """Yield each block of code in some languages, with the page's name."""
    for path in PAGES:
        for block in BLOCK.finditer(path.read_text(encoding="utf-8")):
            if block[2] in languages:
                yield path.name, block[4]


def commands() -> Iterator[tuple[str, list[str]]]:
    """Yield the words of each command line, with the page's name."""
    for page, code in blocks("sh", "shell"):
        plain = re.sub(r"<<'END'\n.*?^END$", "", code, flags=re.MULTILINE | re.DOTALL).replace("\\\n", " ")
        for line in plain.splitlines():
            words = re.split(r"\s+#|[|>]|2>&1", line)[0].strip()
            if words and not re.match(r"(for|do|done|if|fi|  |\w+=|[{}])", line):
                yield page, [word.strip("'\"") for word in re.findall(r"'[^']*'|\"[^\"]*\"|\S+", words)]


def test_links_lead_somewhere() -> None:
    nowhere = [
        f"{path.name}: {target}"
        for path in PAGES
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", path.read_text(encoding="utf-8"))
        if not (path.parent / target).exists()
    ]
    assert nowhere == []


def test_code_can_be_parsed() -> None:
    of_python = list(blocks("python"))
    assert len(of_python) > 20
    for _, code in of_python:
        ast.parse(code)
    for _, code in blocks("toml"):
        tomllib.loads(code)


def test_plans_are_plans_and_studies_are_studies(tmp_path: Path) -> None:
    plans = [code for _, code in blocks("toml") if "[[workload]]" in code and "[[target]]" in code]
    assert plans
    for code in plans:
        (tmp_path / "plan.toml").write_text(code)
        assert read_plan(tmp_path / "plan.toml").repeats == 10
    studies = [tomllib.loads(code) for _, code in blocks("toml") if "id = " in code and "[study]" in code]
    assert studies
    for study in studies:
        assert StudyDescription.model_validate(study).study.id == study["study"]["id"]


def test_commands_are_known() -> None:
    """What fsbench is asked to do it understands; targets of make are in the Makefile."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    group: Any = typer.main.get_command(app)
    seen = 0
    for page, (program, *words) in commands():
        name = program.rpartition("/")[2]
        if name == "fsbench":
            command = group.commands[words[0]]
            command.make_context(words[0], [word for word in words[1:] if word != "..."])
            seen += 1
        elif name == "make":
            assert {word for word in words if "=" not in word} <= targets, page
        else:
            assert name in OF_THE_SYSTEM, (page, program)
    assert seen > 20


def test_the_gallery_has_every_chart() -> None:
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    missing = [name for name in fsb.charts.__all__ if f"fsb.charts.{name}(" not in gallery]
    assert missing == []


def test_the_dockerfile_names_what_is_there() -> None:
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    sources = [
        word
        for line in re.findall(r"^COPY --chown=kit:kit (.*) \S+$", text, re.MULTILINE)
        for word in line.split()
    ]
    assert [name for name in sources if not (ROOT / name).exists()] == []
    minimum = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    version = re.search(r"^FROM python:3\.(\d+)", text, re.MULTILINE)
    assert version is not None
    assert int(version[1]) >= int(minimum.rpartition(".")[2])
    assert re.search(r'^CMD \["make", "test"\]$', text, re.MULTILINE)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site, built as `make docs` builds it: every block is run, and a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "-b", "html", DOCS, folder]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return folder


class _Loads(HTMLParser):
    """Collects what a page makes a browser load."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.loads += [value for value in (given.get("src"), given.get("srcset")) if value]
        if tag == "link":
            self.loads.append(given.get("href") or "")


@pytest.mark.slow
def test_no_page_of_the_site_loads_anything_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        parser = _Loads()
        parser.feed(page.read_text(encoding="utf-8"))
        assert [url for url in parser.loads if re.match(r"(?:\w+:)?//", url)] == [], page.name
    for sheet in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")) == []
    assert len(list((site / "_images").glob("gallery-*.svg"))) >= 12


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (400, "dark")])
def test_the_site_opens_as_files_and_is_searched(site: Path, chromium: Any, width: int, scheme: str) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    for name in ("index", "start/logs", "gallery", "frames", "plan"):
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
    page.goto((site / "search.html").as_uri() + "?q=CONFIG_MISMATCH")
    page.wait_for_selector("#search-results li a")
    found = page.locator("#search-results li a").evaluate_all("links => links.map(link => link.href)")
    assert any("vocabulary" in link for link in found)
    page.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert errors == []
