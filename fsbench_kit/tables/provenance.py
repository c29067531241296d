"""What a report was made by."""

import platform
from importlib.metadata import version


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages whose results end up in a report.

    Examples
    --------
    >>> sorted(versions())
    ['Python', 'altair', 'fsbench-kit', 'numpy', 'polars', 'scipy']
    """
    packages = ("fsbench-kit", "altair", "numpy", "polars", "scipy")
    return {"Python": platform.python_version()} | {name: version(name) for name in packages}
