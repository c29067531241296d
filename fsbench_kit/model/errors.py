"""The package's exceptions, written for people: what happened, where, and what to do next.

Only failures that stop a request are exceptions. Oddities *inside* a log are
`fsbench_kit.model.records.Diagnostic` records, which travel beside the figures.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def legible(text: str) -> str:
    r"""Escape bytes that are not UTF-8, which file names may contain and nothing can print or save.

    Examples
    --------
    >>> import os
    >>> legible(os.fsdecode(b"caf\xe9.json"))
    'caf\\udce9.json'
    """
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


class FsbenchError(Exception):
    """Base class of all errors that this package raises on purpose.

    Parameters
    ----------
    what
        What happened, as a sentence without a full stop.
    file
        The file in which it happened.
    line
        The line in that file, counted from 1.
    excerpt
        The offending text.
    hint
        What to do next, as a sentence.

    Notes
    -----
    ``str(error)`` is the whole message, one line per part::

        plans/quick.toml:7: "repeats" must be a whole number of at least 1, not -3
            repeats = -3
        Write for example: repeats = 6
    """

    def __init__(
        self,
        what: str,
        *,
        file: Path | str | None = None,
        line: int | None = None,
        excerpt: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.file = file
        self.line = line
        self.excerpt = excerpt
        self.hint = hint

    def __str__(self) -> str:
        place = ""
        if self.file is not None:
            place = f"{self.file}:{self.line}: " if self.line is not None else f"{self.file}: "
        parts = [place + self.what]
        if self.excerpt is not None:
            parts.append("    " + self.excerpt)
        if self.hint is not None:
            parts.append(self.hint)
        return legible("\n".join(parts))

    def _render_traceback_(self) -> list[str]:
        """Show the message in a notebook, where IPython asks for it, instead of a traceback."""
        return str(self).splitlines()


class InputError(FsbenchError):
    """A given file or folder cannot be read, or is not of the expected kind."""


class RequestError(FsbenchError):
    """The request contradicts itself or names something that does not exist, such as a level or column."""


class RangeError(RequestError, ValueError):
    """A number is out of range, such as a confidence of 95."""


class LaunchError(FsbenchError):
    """A launch cannot start or cannot continue."""


class ReportError(FsbenchError):
    """A notebook or report could not be made."""


def check_given(given: object, kind: type, maker: str, *columns: str) -> None:
    """Check that a value is of the expected kind and has the expected columns.

    Parameters
    ----------
    maker
        The call that makes such a value, such as ``fsb.compare(dataset)``; quoted in the hint.

    Raises
    ------
    RequestError
        If the value is something else.

    Examples
    --------
    >>> check_given(3, str, "fsb.read(path)")
    Traceback (most recent call last):
    fsbench_kit.model.errors.RequestError: int is not what is needed here
    Give what fsb.read(path) returns.
    """
    if not isinstance(given, kind):
        wrong = f"{type(given).__name__} is not what is needed here"
    elif missing := [name for name in columns if name not in given.columns]:  # type: ignore[attr-defined]
        wrong = f"there is no column {missing[0]!r}"
    else:
        return
    raise RequestError(wrong, hint=f"Give what {maker} returns{', or some rows of it' if columns else ''}.")


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Turn a failed import into an error that says which extra of the package to install.

    Raises
    ------
    RequestError
        If a library that `what` needs cannot be imported.

    Examples
    --------
    >>> with needs_extra("notebooks", "fsbench report"):
    ...     import no_such_library
    Traceback (most recent call last):
    fsbench_kit.model.errors.RequestError: fsbench report needs no_such_library, which is not installed
    Install it: pip install "fsbench-kit[notebooks]"
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("fsbench_kit"):
            raise
        library = error.name.partition(".")[0]
        raise RequestError(
            f"{what} needs {library}, which is not installed",
            hint=f'Install it: pip install "fsbench-kit[{extra}]"',
        ) from error
