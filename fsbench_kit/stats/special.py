"""SciPy's special functions, imported on first use because that takes half a second."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    value = globals()[name] = getattr(import_module("scipy.special"), name)
    return value
