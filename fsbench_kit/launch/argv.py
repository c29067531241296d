"""Commands in a plan: lists of words that no shell interprets and that name no device."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from fsbench_kit.launch.plan_errors import Place, PlanError

_HARMLESS: Final = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/stdin",
    "/dev/stdout",
)


def _beside_the_plan(words: Any, info: ValidationInfo) -> Any:
    """Resolve a first word like ``./build.sh`` relative to the plan's folder."""
    if isinstance(words, list) and words and str(words[0]).startswith("./") and info.context:
        return [str(Path(info.context, words[0]).resolve()), *words[1:]]
    return words


def _without_devices(words: tuple[str, ...]) -> tuple[str, ...]:
    for word in words:
        parts = re.split("[=,]", word)
        if any(re.fullmatch(r"/dev/\S+", part) and part not in _HARMLESS for part in parts):
            what = f'the word "{word}" names a device, which commands must not use'
            raise PlanError(what, Place(), hint="Let the command write to its working directory.")
    return words


Argv = Annotated[
    tuple[str, ...],
    BeforeValidator(_beside_the_plan),
    AfterValidator(_without_devices),
    Field(strict=False, min_length=1, description="a list of words", examples=[["dbench", "-t", "10", "4"]]),
]
"""A command. A first word like ``./build.sh`` is a file beside the plan."""

Around = Annotated[
    tuple[Argv, ...],
    Field(strict=False, description="a list of commands, each a list of words", examples=[[["./quiet.sh", "on"]]]),
]
"""Commands before or after a run, executed in the run's directory on the target."""
