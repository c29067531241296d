"""The package ``parse``, imported from its own location so that a user's ``parse.py`` cannot shadow it."""

from __future__ import annotations

from importlib.machinery import PathFinder
from importlib.metadata import distribution
from importlib.util import module_from_spec

_found = PathFinder.find_spec("parse", [str(distribution("parse").locate_file(""))])
if _found is None or _found.loader is None:
    raise ImportError("the package parse is not installed", name="parse")
parse = module_from_spec(_found)
_found.loader.exec_module(parse)
