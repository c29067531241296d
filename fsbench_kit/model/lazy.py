"""Lazy imports: packages whose names cost nothing until they are used."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def lazily(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package that imports its names on first use.

    The names and their modules are read from the package's own imports, which it lists once for type checkers
    under ``if TYPE_CHECKING:``. No name may equal that of a submodule: importing the submodule would replace it.

    Parameters
    ----------
    package
        The package's name.
    """
    spec = find_spec(package)
    source = spec.loader.get_source(package) if spec and spec.loader else None  # type: ignore[attr-defined]
    homes = {
        name.name: node.module
        for node in ast.walk(ast.parse(source or ""))
        if isinstance(node, ast.ImportFrom) and node.module and f"{node.module}.".startswith(f"{package}.")
        for name in node.names
    }

    def get(name: str) -> Any:
        match homes.get(name):
            case None:
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
            case module if module == package:
                return import_module(f"{package}.{name}")
            case module:
                value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def offered() -> list[str]:
        known = vars(sys.modules[package])
        return sorted({*known["__all__"], *(name for name in known if name.startswith("__"))})

    return get, offered


def skip_iri_grammar() -> None:
    """Keep jsonschema, which Altair and nbformat import, from compiling its IRI grammar, which takes a second.

    Notebooks and charts contain no IRIs; without the grammar jsonschema skips checking them.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
