"""Gives each run its filesystem: a fresh one, a copy of one, or that of its target's earlier runs."""

from __future__ import annotations

import shutil
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from fsbench_kit.launch.targets import StepError
from fsbench_kit.launch.targets.loop import IMAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fsbench_kit.launch.consent import Consent
    from fsbench_kit.launch.plan import Plan
    from fsbench_kit.launch.targets import Ready, Target
    from fsbench_kit.launch.targets.loop import LoopTarget


@dataclass
class Provision:
    """The targets of a launch, made ready when they are needed. A context manager: leaving it takes them away.

    Attributes
    ----------
    scratch
        Tells a target's scratch folder.
    plan
        Tells which targets stay ready for all of their runs, and which are copied for each.
    consent
        Which block devices may be overwritten.
    """

    scratch: Callable[[Target], Path]
    plan: Plan
    consent: Consent
    _ready: dict[str, Ready] = field(default_factory=dict)
    _images: dict[str, Ready] = field(default_factory=dict)
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
        if self.plan.restores(target):
            with self._restored(target) as ready:
                yield ready
            return
        if not self.plan.reuses(target):
            with self._made(target) as ready:
                yield ready
            return
        if target.name not in self._ready:
            self._ready[target.name] = self._stack.enter_context(self._made(target))
        ready = self._ready[target.name]
        with _folder(ready.directory / "run") as directory:
            yield replace(ready, directory=directory, steps=list(ready.steps))

    @contextmanager
    def _restored(self, target: LoopTarget) -> Iterator[Ready]:
        """Copy the image of a target, which is made and aged when it is needed first."""
        image, steps = f"image-{target.name}", []
        if target.name not in self._images:
            with ExitStack() as stack:
                folder = stack.enter_context(_folder(self.scratch(target) / image))
                with target.ready(folder, self.consent) as made, self._aged(target, made, folder):
                    pass
                self._images[target.name] = made
                self._stack.enter_context(stack.pop_all())
            steps = made.steps
        made = self._images[target.name]
        with (
            _folder(self.scratch(target) / f"target-{target.name}") as folder,
            target.restored(folder, f"../{image}/{IMAGE}") as ready,
            _folder(ready.directory / "run") as directory,
        ):
            ready.steps[:0] = steps
            text = f"{made.text}\n{ready.text}"
            yield replace(ready, directory=directory, settings=made.settings | ready.settings, text=text)

    @contextmanager
    def _made(self, target: Target) -> Iterator[Ready]:
        with (
            _folder(self.scratch(target) / f"target-{target.name}") as folder,
            target.ready(folder, self.consent) as made,
            self._aged(target, made, folder) as ready,
        ):
            yield ready

    @contextmanager
    def _aged(self, target: Target, ready: Ready, folder: Path) -> Iterator[Ready]:
        """Age a target, if it is to be aged, and give its runs a folder beside the files of that."""
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
