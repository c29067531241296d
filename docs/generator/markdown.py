"""Docstrings and tables as Markdown."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

SECTION: Final = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ITEM: Final = re.compile(r"^(\S[^\n]*)\n((?:(?:    [^\n]*|)\n?)+)", re.MULTILINE)


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Write a table; what stands in its cells may hold Markdown."""
    heads = tuple(heads)
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(text: str) -> str:
    """Write text as code, whatever backquotes and line ends it holds."""
    text = " ".join(text.split())
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}" if text else ""


def markdown(text: str) -> str:
    """Turn a docstring's reStructuredText into Markdown: literal blocks into fences, literals into code."""
    blocks = re.sub(
        r"::\n\n((?: {4}[^\n]*\n|\n)+)", lambda m: f":\n\n```text\n{_dedented(m[1])}\n```\n\n", text + "\n"
    )
    return re.sub(r"``(.+?)``", r"`\1`", blocks).rstrip("\n")


def _dedented(block: str) -> str:
    return textwrap.dedent(block).strip("\n")


def attributes(kind: type[Any]) -> dict[str, str]:
    """Return what a class's docstring, and those of its bases, say of its attributes."""
    said: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        _, *sections = SECTION.split(inspect.cleandoc(each.__dict__.get("__doc__") or ""))
        for title, text in zip(sections[::2], sections[1::2], strict=True):
            for names, meaning in ITEM.findall(text) if title == "Attributes" else ():
                said |= dict.fromkeys(names.split(", "), " ".join(markdown(meaning).split()))
    return said
