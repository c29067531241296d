"""The special functions of SciPy, which is loaded when one of them is first used: it takes half a second."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    value = globals()[name] = getattr(import_module("scipy.special"), name)
    return value
