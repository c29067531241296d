"""Applies a plan's stopping rule while its runs are made."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.execution import STDOUT, execute
from fsbench_kit.launch.stopping import PILOT, Precision, Rule
from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from pathlib import Path

    from fsbench_kit.launch.study import LaunchedStudy

_PRECISION: Final = (sys.executable, "-P", "-m", "fsbench_kit.launch.precision")
_TIMEOUT: Final = 600.0  # seconds


class StoppingMonitor:
    """Decides after each round how many rounds to make.

    Parameters
    ----------
    study
        The study under way.
    scratch
        A folder for temporary files.
    """

    def __init__(self, study: LaunchedStudy, scratch: Path) -> None:
        self._study = study
        self._scratch = scratch
        self._rule = Rule.read(study.plan.until) if study.plan.until is not None else None
        self._last = 0  # the number of rounds after the last decision

    def after(self, rounds: int) -> tuple[int, str | None] | None:
        """Return the result of `Rule.decide` if the rule looks after this many rounds, otherwise ``None``.

        A resumed launch may ask at any point; a two-stage rule then looks back at its pilot.
        """
        if self._rule is None or rounds < PILOT or rounds == self._last:
            return None
        if self._rule.two_stages and self._last:
            return None
        self._last = rounds
        seen = PILOT if self._rule.two_stages else rounds
        return self._rule.decide(self._precision(seen), seen, self._study.plan.rounds)

    def _precision(self, rounds: int) -> Precision:
        """Ask a separate process how precise the comparisons are after this many rounds."""
        folder = self._scratch / "precision"
        folder.mkdir()
        try:
            done = execute((*_PRECISION, str(self._study.folder), str(rounds)), folder, timeout=_TIMEOUT)
            if done.failure is not None:
                what = f"cannot apply the plan's stopping rule: {done.failure}"
                raise LaunchError(what, file=self._study.folder)
            return Precision(**json.loads((folder / STDOUT).read_text(encoding="utf-8")))
        finally:
            shutil.rmtree(folder)
