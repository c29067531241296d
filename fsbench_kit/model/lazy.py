"""Imports that cost nothing until something is used."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__``.

    No name may be that of a module as well, which would take its place once it is imported.

    Parameters
    ----------
    package
        The package's name.
    homes
        Each public name -> the module in the package that has it.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *homes})


def skip_iri_grammar() -> None:
    """Keep jsonschema, which Altair and nbformat import, from compiling a grammar of IRIs, which takes a second.

    Nothing in a notebook or a chart is an IRI; without the grammar jsonschema does not check any.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
