"""The verdict on a claim, from the checks of its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.confounders import between
from fsbench_kit.claims import messages
from fsbench_kit.claims.relations import RELATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fsbench_kit.analysis.design import Evidence as RunEvidence
    from fsbench_kit.claims.figures import Check, Figure
    from fsbench_kit.claims.messages import Arithmetic, Evidence
    from fsbench_kit.data.study import ClaimFacts

_CONFIDENCE: Final = 0.95


def judge(claim: ClaimFacts, checks: Sequence[Check], figures: pl.DataFrame, known: RunEvidence) -> dict[str, Any]:
    """Return the columns of an audit for one claim, but for its study."""
    arithmetic = _arithmetic(claim, checks)
    averaged_over = dict(figures.select("run_id", "averaged_over").drop_nulls().rows())
    evidence = _evidence(claim, checks, averaged_over)
    differences, besides = _confounders(checks, figures, known)
    break_even_cv = _break_even(claim, checks, averaged_over)
    verdict = _verdict(claim, arithmetic, evidence, differences)
    low, high = RELATIONS[claim.relation].band(claim)
    single = [check.computed for check in checks if check.computed is not None]
    computed = single[0] if len(single) == len(checks) == 1 else None
    return {
        "claim": claim.id,
        "says": claim.says,
        "verdict": verdict,
        "arithmetic": arithmetic,
        "evidence": evidence,
        "reason": messages.reason(claim, checks, verdict, evidence),
        "footnotes": list(
            messages.footnotes(
                checks,
                evidence,
                differences=[*differences, *besides],
                break_even_cv=break_even_cv,
                shows_something=arithmetic != "not computable"
                and (arithmetic != "differs" or claim.size is not None),
            )
        ),
        "stated": claim.size,
        "stated_low": low,
        "stated_high": high,
        "computed": computed.value if computed else None,
        "computed_low": computed.low if computed else None,
        "computed_high": computed.high if computed else None,
        "cells": len(checks),
        "cells_holding": sum(check.outcome == "holds" for check in checks),
        "comparisons": [_comparison(claim, check) for check in checks],
        "contradicting": [messages.told(claim, check) for check in checks if check.outcome == "contradicted"],
        "not_computable": [check.cell for check in checks if check.outcome == "not computable"],
        "confounders": differences,
        "break_even_cv": break_even_cv,
    }


def _comparison(claim: ClaimFacts, check: Check) -> dict[str, Any]:
    computed = check.computed
    return {
        "outcome": check.outcome,
        "words": messages.told(claim, check),
        "computed": computed.value if computed else None,
        "low": computed.low if computed else None,
        "high": computed.high if computed else None,
    }


def _arithmetic(claim: ClaimFacts, checks: Sequence[Check]) -> Arithmetic:
    outcomes = [check.outcome for check in checks]
    if claim.mostly and outcomes.count("holds") > len(outcomes) / 2:
        return "reproduces"
    if "contradicted" in outcomes:
        return "differs"
    if "not computable" in outcomes or not outcomes:
        return "not computable"
    return "within rounding" if "within rounding" in outcomes else "reproduces"


def _evidence(claim: ClaimFacts, checks: Sequence[Check], averaged_over: Mapping[str, int]) -> Evidence:
    """Tell how many runs stand behind the figures, or the settings."""
    pairs = [(check.of.runs, (check.than or check.of).runs) for check in checks if check.of is not None]
    pairs += [(check.runs, check.runs) for check in checks if check.runs and check.outcome != "not computable"]
    runs = frozenset[str]().union(*(a | b for a, b in pairs))
    if not runs:
        return "none"
    if RELATIONS[claim.relation].of_settings:
        return "stated by the log"
    if runs & averaged_over.keys():
        return "averaged"
    if all(check.than is not None for check in checks if check.of) and all(a == b for a, b in pairs):
        return "within-run only"
    return "replicated" if all(min(len(a), len(b)) > 1 for a, b in pairs) else "single figures"


def _confounders(
    checks: Sequence[Check], figures: pl.DataFrame, known: RunEvidence
) -> tuple[list[str], list[str]]:
    """Name what begroups the filesystem differs between the groups of a check, and what else is odd about them."""
    pairs = {
        (check.of.runs, check.than.runs): None
        for check in checks
        if check.of is not None and check.than is not None and check.of.runs != check.than.runs
    }
    of_runs = figures.unique("run_id", maintain_order=True)
    groups = [[of_runs.filter(pl.col("run_id").is_in(list(runs))) for runs in pair] for pair in pairs]
    return between(groups, known)


def _break_even(claim: ClaimFacts, checks: Sequence[Check], averaged_over: Mapping[str, int]) -> float | None:
    """Return the CV between runs at which chance could explain the weakest of the checks that hold.

    Where a size is claimed it is that of all checks: an effect of another size is an effect all the same.
    """
    if not RELATIONS[claim.relation].compares:
        return None
    pairs = [
        (check.of, check.than)
        for check in checks
        if (check.outcome == "holds" or claim.size is not None)
        if check.of is not None and check.than is not None and check.of.runs != check.than.runs
    ]
    found = [
        stats.break_even(
            of.value / than.value,
            _CONFIDENCE,
            runs_a=_runs_behind(than, averaged_over),
            runs_b=_runs_behind(of, averaged_over),
        ).cv
        for of, than in pairs
        if of.value and than.value
    ]
    return float(min(found)) if found else None


def _runs_behind(figure: Figure, averaged_over: Mapping[str, int]) -> float:
    """Return how many runs a mean would have to be of to vary as much as a figure, itself a mean over logs."""
    return len(figure.runs) ** 2 / sum(1 / averaged_over.get(run, 1) for run in figure.runs)


def _verdict(claim: ClaimFacts, arithmetic: Arithmetic, evidence: Evidence, differences: list[str]) -> str:
    if arithmetic == "not computable":
        return "no data"
    if RELATIONS[claim.relation].of_settings:
        return "contradicted" if arithmetic == "differs" else "supported"
    if arithmetic == "differs":
        return "arithmetically wrong"
    if differences:
        return "not comparable"
    return "supported" if evidence == "replicated" else "arithmetically right, unreplicated"
