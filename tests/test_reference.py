"""The generated parts of the manual say what the package says, and leave nothing out."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import fsbench_kit as fsb
from docs.generator import DOCS, PART, PARTS, made, vocabulary
from docs.generator.markdown import markdown
from fsbench_kit.analysis.verdict import REASONS
from fsbench_kit.model.columns import MEANINGS
from fsbench_kit.model.vocabulary import DIAGNOSTICS


@pytest.fixture(scope="module")
def pages() -> dict[Path, str]:
    return made()


def test_pages_are_up_to_date(pages: dict[Path, str]) -> None:
    stale = [str(path.relative_to(DOCS)) for path, text in pages.items() if path.read_text("utf-8") != text]
    assert stale == [], "run `make reference`"
    assert {*(DOCS / "formats").glob("*.md")} <= pages.keys()


def test_every_meaning_has_a_column(pages: dict[Path, str]) -> None:
    text = pages[DOCS / "frames.md"]  # a column without a meaning cannot be written there
    assert [name for name, meaning in MEANINGS.items() if meaning not in text] == []


def test_every_code_has_an_example() -> None:
    assert vocabulary.WRITTEN["diagnostics"].keys() == DIAGNOSTICS.keys(), "see docs/generator/examples.toml"
    assert vocabulary.WRITTEN["reasons"].keys() == REASONS.keys(), "see docs/generator/examples.toml"


def test_every_public_function_and_class_has_an_example() -> None:
    packages = (module.name for module in pkgutil.iter_modules(fsb.__path__) if module.ispkg)
    rooms = [fsb, *(importlib.import_module(f"fsbench_kit.{name}") for name in (*packages, "launch.replicate"))]
    public = {
        f"{room.__name__}.{name}": getattr(room, name) for room in rooms for name in getattr(room, "__all__", ())
    }
    described = {
        name: value for name, value in public.items() if inspect.isroutine(value) or inspect.isclass(value)
    }
    assert len(described) > 170
    assert [name for name, value in described.items() if ">>> " not in (value.__doc__ or "")] == []


def test_every_part_stands_on_one_page(pages: dict[Path, str]) -> None:
    assert sorted(part["name"] for text in pages.values() for part in PART.finditer(text)) == sorted(PARTS)


def test_every_format_has_figures_from_a_log(pages: dict[Path, str]) -> None:
    of_files_of_their_own = {"README.md", "fio_log.md"}
    of_formats = {path.name: text for path, text in pages.items() if path.parent.name == "formats"}
    without = {name for name, text in of_formats.items() if "## Figures" not in text}
    assert without == of_files_of_their_own


def test_literals_become_code() -> None:
    text = "Printed ``so``::\n\n    a: 1\n      b\n\nand on."
    assert markdown(text) == "Printed `so`:\n\n```text\na: 1\n  b\n```\n\nand on."
