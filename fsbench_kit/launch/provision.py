"""Gives each run its filesystem: a fresh one, the state of one that was made once, or that of earlier runs."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from fsbench_kit.launch.targets.steps import temporary_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fsbench_kit.launch.consent import Consent
    from fsbench_kit.launch.plan import Plan
    from fsbench_kit.launch.targets import Ready, Target


@dataclass
class Provision:
    """The targets of a launch, made ready when they are needed. A context manager: leaving it takes them away.

    Attributes
    ----------
    scratch
        Tells a target's scratch folder.
    plan
        Tells which targets stay ready for all of their runs, and which are restored for each.
    consent
        Which block devices may be overwritten.
    """

    scratch: Callable[[Target], Path]
    plan: Plan
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
        freshness = self.plan.freshness(target)
        with ExitStack() as stack:
            if freshness == "fresh":
                ready = stack.enter_context(self._made(target))
            elif freshness == "restored":
                ready = stack.enter_context(self._restored(target))
            else:
                if target.name not in self._ready:
                    self._ready[target.name] = self._stack.enter_context(self._made(target))
                ready = self._ready[target.name]
                ready = replace(ready, steps=list(ready.steps))
            # A fresh one is empty but for the files of its ageing, and stays as its root directory was made.
            if freshness != "fresh" or target.ageing is not None:
                ready = replace(ready, directory=stack.enter_context(temporary_folder(ready.directory / "run")))
            yield ready

    @contextmanager
    def _made(self, target: Target) -> Iterator[Ready]:
        with (
            temporary_folder(self._folder(target)) as folder,
            target.ready(folder, self.consent) as made,
        ):
            target.age(made, folder)
            yield made

    @contextmanager
    def _restored(self, target: Target) -> Iterator[Ready]:
        """Give a run the state of a target, which is made and aged when it is needed first."""
        steps = []
        if target.name not in self._ready:
            self._ready[target.name] = self._stack.enter_context(self._kept(target))
            steps = self._ready[target.name].steps
        made = self._ready[target.name]
        with target.restored(made, self._folder(target)) as ready:
            ready.steps[:0] = steps
            yield replace(ready, text=f"{made.text}\n{ready.text}")

    @contextmanager
    def _kept(self, target: Target) -> Iterator[Ready]:
        """Make and age a target: to be copied, or to stay mounted where its filesystem has snapshots."""
        with temporary_folder(self._folder(target)) as folder, ExitStack() as mounted:
            made = mounted.enter_context(target.ready(folder, self.consent))
            target.age(made, folder)
            if target.restoring is not None and target.restoring.copied is None:
                target.keep(made, folder)
            else:
                mounted.close()
            yield made

    def _folder(self, target: Target) -> Path:
        return self.scratch(target) / f"target-{target.name}"
