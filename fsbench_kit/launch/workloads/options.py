"""Tool options without a key of their own: command-line words, checked against the tool's own help."""

from __future__ import annotations

import re
import shlex
import subprocess
from abc import ABC
from functools import cache
from typing import Annotated, ClassVar, Final, Self

from pydantic import Field, model_validator

from fsbench_kit.launch.plan_errors import Place, PlanError
from fsbench_kit.launch.tools import asked
from fsbench_kit.launch.workloads.base import BaseWorkload

_TIMEOUT: Final = 10.0
_FLAG: Final = re.compile(r"--[a-z][\w-]*|-\+?\w")
_LISTED: Final = re.compile(r"(?<![\w-])(?:--[a-z][\w-]*|-\+?\w)")


class OptionsWorkload(BaseWorkload, ABC):
    """A workload that accepts further words of its tool's command line.

    Attributes
    ----------
    options
        Further command-line options. Options that have a key, or that could reach beyond the target, are refused.
    """

    helps: ClassVar[tuple[tuple[str, ...], ...]]
    """The commands that list the tool's options."""

    keyed: ClassVar[frozenset[str]]
    """The options that have a key."""

    refused: ClassVar[dict[str, str]] = {}
    """Option -> why it is refused."""

    options: Annotated[str, Field(description="words as on the tool's command line", examples=["-K"])] | None = (
        None
    )

    @property
    def words(self) -> tuple[str, ...]:
        """The options, split into words."""
        return tuple(shlex.split(self.options or ""))

    @model_validator(mode="after")
    def _has_safe_options(self) -> Self:
        try:
            words = self.words
        except ValueError as error:
            raise _refusal("this cannot be split into words", str(error)) from None
        for word in words:
            flag = _flag(word)
            if flag in self.keyed:
                raise _refusal(f'the option "{flag}" is refused', "it has a key of its own here")
            if flag in self.refused:
                raise _refusal(f'the option "{flag}" is refused', self.refused[flag])
            if "/" in word:
                raise _refusal(f'the word "{word}" is refused', "a path could lead outside the target")
        return self

    def program_error(self) -> PlanError | None:
        """Check that the tool's help lists each option."""
        known = _listed(self.helps)
        for word in self.words if known else ():
            if (flag := _flag(word)) is not None and flag not in known:
                return _refusal(f'{self.tool} has no option "{flag}"', f"see {' '.join(self.helps[0])}")
        return None


def _flag(word: str) -> str | None:
    """Return the option in a word, without its value.

    >>> _flag("-+w50"), _flag("--rate=5"), _flag("5"), _flag("-5")
    ('-+w', '--rate', None, None)
    """
    found = _FLAG.match(word)
    return None if found is None or found[0][1:].isdigit() else found[0]


def _refusal(what: str, why: str) -> PlanError:
    return PlanError(f"{what}: {why}", Place(key="options"), hint="Take it out of the options.")


@cache
def _listed(helps: tuple[tuple[str, ...], ...]) -> frozenset[str]:
    """Return all options in a tool's help; empty if it is not installed or prints none."""
    found: set[str] = set()
    for words in helps:
        try:
            answer = asked(*words, timeout=_TIMEOUT)
        except (OSError, subprocess.TimeoutExpired):
            return frozenset()  # the run will show the error
        found.update(_LISTED.findall(answer.stdout + answer.stderr))
    return frozenset(found)
