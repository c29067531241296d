"""Gives each run its filesystem: a fresh one, or that of its target's earlier runs."""

from __future__ import annotations

import shutil
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from fsbench_kit.launch.targets import StepError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fsbench_kit.launch.consent import Consent
    from fsbench_kit.launch.targets import Ready, Target


@dataclass
class Provision:
    """The targets of a launch, made ready when they are needed. A context manager: leaving it takes them away.

    Attributes
    ----------
    scratch
        Tells a target's scratch folder.
    reused
        Tells whether a target stays ready for all of its runs.
    consent
        Which block devices may be overwritten.
    """

    scratch: Callable[[Target], Path]
    reused: Callable[[Target], bool]
    consent: Consent
    _ready: dict[str, Ready] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        self._stack.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @contextmanager
    def ready(self, target: Target) -> Iterator[Ready]:
        """Give one run an empty directory on a target.

        Raises
        ------
        StepError
            On entering, if the target cannot be made ready.
        """
        if not self.reused(target):
            with self._made(target) as ready:
                yield ready
            return
        if target.name not in self._ready:
            self._ready[target.name] = self._stack.enter_context(self._made(target))
        ready = self._ready[target.name]
        with _folder(ready.directory / "run") as directory:
            yield replace(ready, directory=directory, steps=list(ready.steps))

    @contextmanager
    def _made(self, target: Target) -> Iterator[Ready]:
        with (
            _folder(self.scratch(target) / f"target-{target.name}") as folder,
            target.ready(folder, self.consent) as ready,
        ):
            if target.ageing is None:
                yield ready
                return
            # The files are left beside those of the runs.
            if not ready.undo(folder, target.ageing.command(target.commands.directory)):
                raise StepError(ready.steps)
            ready.settings |= target.ageing.settings
            with _folder(ready.directory / "run") as directory:
                yield replace(ready, directory=directory)


@contextmanager
def _folder(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
