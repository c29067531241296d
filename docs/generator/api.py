"""The Python API, from the docstrings of the public names."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, Final

import fsbench_kit as fsb
from docs.generator.markdown import ITEM, SECTION, markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLE: Final = re.compile(
    r"^={3,}[ =]*\n(?:[^\n]+\n)+?={3,}[ =]*\n(?:[^\n]+\n)+?={3,}[ =]*(?:\n|$)", re.MULTILINE
)
_EXAMPLE: Final = re.compile(r"((?:^(?:>>>|\.\.\.)[^\n]*\n?(?:^(?!>>>|\.\.\.)\S[^\n]*\n?)*)+)", re.MULTILINE)


def described() -> str:
    """Return what each public function and class says of itself."""
    functions = [name for name in fsb.__all__ if inspect.isfunction(getattr(fsb, name))]
    classes = [name for name in fsb.__all__ if inspect.isclass(getattr(fsb, name))]
    parts: list[str] = []
    for name in functions:
        parts += _described(f"fsb.{name}", getattr(fsb, name), "##")
    for name in classes:
        kind = getattr(fsb, name)
        parts += [f"## `fsb.{name}`", *_sections(inspect.getdoc(kind) or "")]
        for method, value in vars(kind).items():
            if not method.startswith("_") and inspect.isfunction(value):
                parts += _described(f"{name}.{method}", value, "###")
    return "\n\n".join(parts)


class _Bare(str):
    """An annotation that is written without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _described(name: str, function: Any, heading: str) -> Iterator[str]:
    """Yield a function's heading, its signature, and what its docstring says."""
    signature = inspect.signature(function)
    parameters = [
        each.replace(annotation=_Bare(each.annotation))
        for each in signature.parameters.values()
        if each.name != "self"
    ]
    bare = signature.replace(parameters=parameters, return_annotation=_Bare(signature.return_annotation))
    yield f"{heading} `{name}`"
    yield f"```text\n{name}{bare}\n```"
    yield from _sections(inspect.getdoc(function) or "")


def _sections(doc: str) -> Iterator[str]:
    """Yield the parts of a docstring in NumPy's style as Markdown."""
    summary, *sections = SECTION.split(doc)
    yield markdown(summary).strip()
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        yield f"**{title}**"
        match title:
            case "Examples":
                yield _EXAMPLE.sub(lambda code: f"```pycon\n{code[1].rstrip()}\n```\n", text).strip()
            case "Notes":
                yield _TABLE.sub(lambda table: f"```text\n{table[0].strip()}\n```\n", markdown(text)).strip()
            case _:
                yield "\n".join(_item(match[1], match[2]) for match in ITEM.finditer(text))


def _item(name: str, text: str) -> str:
    return f"- `{name}`: {' '.join(markdown(text).split())}"
