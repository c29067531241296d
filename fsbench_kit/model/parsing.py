"""The package ``parse``, also beside a script of that name, which Python would take for it and run once more."""

from __future__ import annotations

from importlib.machinery import PathFinder
from importlib.metadata import distribution
from importlib.util import module_from_spec

_found = PathFinder.find_spec("parse", [str(distribution("parse").locate_file(""))])
if _found is None or _found.loader is None:
    raise ImportError("the package parse is not installed", name="parse")
parse = module_from_spec(_found)
_found.loader.exec_module(parse)
