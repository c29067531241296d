"""Finds what else differs between two groups, or makes their comparison untrustworthy.

Each confounder is a function that finds it, decorated with its code, kind and meaning. The function takes the
`Design` and returns a frame with the affected rows, or pairs of sets of runs, and with a column ``text`` if there
is more to say than the meaning. They are reported theme by theme, in the order in which they are registered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fsbench_kit.analysis.confounders import caches, differences, figures, order, runs, work
from fsbench_kit.analysis.confounders.entry import ENTERED, Confounder
from fsbench_kit.analysis.design import Design, Evidence
from fsbench_kit.analysis.groups import paired
from fsbench_kit.analysis.reasons import Remarks

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl


_THEMES: Final = (differences, order, figures, caches, work, runs)

CONFOUNDERS: Final[tuple[Confounder, ...]] = tuple(
    entry for theme in _THEMES for entry in ENTERED if entry.find.__module__ == theme.__name__
)
"""All confounders, in the order in which they are reported."""


def check(design: Design, *, footnotes: bool = True, of_one: bool = False) -> Remarks:
    """Check a design for all confounders, or only for those that concern a group by itself."""
    remarks = Remarks()
    for entry in CONFOUNDERS:
        if (entry.kind == "footnote" and not footnotes) or (of_one and not entry.of_one):
            continue
        found = entry.find(design)
        if found.is_empty():
            continue
        if "pair" in found.columns:
            found = design.rows.join(found, on="pair", maintain_order="left_right")
        remarks.because(found["row"], entry, found["text"] if "text" in found.columns else None)
    return remarks


def between(pairs: Sequence[Sequence[pl.DataFrame]], evidence: Evidence) -> tuple[list[str], list[str]]:
    """Describe what sets groups apart that the caller has paired, and what else to know about them.

    Parameters
    ----------
    pairs
        The measurements of the baseline and of the candidate, as rows of `fsbench_kit.analysis.settings.cells`.
        Pairs of the same runs are only checked for confounders that concern a group by itself.
    evidence
        What is known about their runs.

    Returns
    -------
    reasons, footnotes
        The sentences about all pairs, without duplicates.
    """
    found: tuple[list[str], list[str]] = [], []
    for of_one in (False, True):
        chosen = [pair for pair in pairs if pair[0].height and _of_same_runs(*pair) == of_one]
        if chosen:
            sentences = check(Design(paired(chosen), evidence), of_one=of_one).sentences()
            for known, new in zip(found, sentences, strict=True):
                known += [sentence for sentence in new if sentence not in known]
    return found


def _of_same_runs(a: pl.DataFrame, b: pl.DataFrame) -> bool:
    return set(a["run_id"]) == set(b["run_id"])
