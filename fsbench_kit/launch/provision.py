"""Provides each run with its filesystem: a fresh one, a restored state, or the one of earlier runs."""

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
    """The targets of a launch, prepared on demand. A context manager, which removes them on exit.

    Attributes
    ----------
    scratch
        Returns a target's scratch folder.
    plan
        Says which targets stay mounted for all of their runs, and which are restored for each.
    consent
        The block devices that may be overwritten.
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
        """Provide one run with an empty directory on a target.

        Raises
        ------
        StepError
            On entering, if the target cannot be prepared.
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
            # A fresh filesystem contains only its ageing files, and keeps its root directory as mkfs made it.
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
        """Provide a run with a target's saved state, creating and ageing the target on first use."""
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
        """Create and age a target, to be copied or, if its filesystem has snapshots, to stay mounted."""
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
