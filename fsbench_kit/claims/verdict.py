"""From the checks of a claim to its verdict, with the reason in words that need no statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.units import humanise
from fsbench_kit.vocabulary import METRICS, REASONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.archive import ClaimFacts
    from fsbench_kit.claims.checks import Check, Figure
    from fsbench_kit.confounders import Confounders

Arithmetic = Literal["reproduces", "within rounding", "differs", "not computable"]
Evidence = Literal["replicated", "averaged", "within-run only", "single figures", "stated by the log", "none"]

_CONFIDENCE: Final = 0.95
_SHOWN: Final = 3
"""As many cells are named in a sentence; the rest are counted."""


def judge(
    claim: ClaimFacts, checks: Sequence[Check], figures: pl.DataFrame, confounders: Confounders
) -> dict[str, Any]:
    """Return the columns of an audit for one claim, but for its study."""
    arithmetic = _arithmetic(claim, checks)
    evidence = _evidence(claim, checks, figures)
    apart = _confounders(checks, figures, confounders)
    noise = _break_even(claim, checks)
    verdict = _verdict(claim, arithmetic, evidence, apart)
    single = [check.computed for check in checks if check.computed is not None]
    computed = single[0] if len(single) == len(checks) == 1 else None
    return {
        "claim": claim.id,
        "says": claim.says,
        "verdict": verdict,
        "arithmetic": arithmetic,
        "evidence": evidence,
        "reason": " ".join(
            _reason(claim, checks, arithmetic=arithmetic, evidence=evidence, apart=apart, noise=noise)
        ),
        "stated": claim.size,
        "computed": computed.value if computed else None,
        "computed_low": computed.low if computed else None,
        "computed_high": computed.high if computed else None,
        "cells": len(checks),
        "cells_holding": sum(check.outcome == "holds" for check in checks),
        "contradicting": [_told(claim, check) for check in checks if check.outcome == "contradicted"],
        "not_computable": [check.cell for check in checks if check.outcome == "not computable"],
        "confounders": apart,
        "break_even_cv": noise,
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


def _evidence(claim: ClaimFacts, checks: Sequence[Check], figures: pl.DataFrame) -> Evidence:
    """Tell how many runs stand behind the figures, or the settings."""
    pairs = [(check.of.runs, (check.than or check.of).runs) for check in checks if check.of is not None]
    pairs += [(check.runs, check.runs) for check in checks if check.runs and check.outcome != "not computable"]
    runs = frozenset[str]().union(*(a | b for a, b in pairs))
    if not runs:
        return "none"
    if claim.relation == "setting":
        return "stated by the log"
    if figures.filter(pl.col("run_id").is_in(list(runs)))["averaged_over"].drop_nulls().len():
        return "averaged"
    if all(check.than is not None for check in checks if check.of) and all(a == b for a, b in pairs):
        return "within-run only"
    return "replicated" if all(min(len(a), len(b)) > 1 for a, b in pairs) else "single figures"


def _confounders(checks: Sequence[Check], figures: pl.DataFrame, confounders: Confounders) -> list[str]:
    """Name what besides the filesystem sets the two sides of a check apart."""
    found: dict[str, None] = {}
    seen = set()
    for check in checks:
        if check.of is None or check.than is None or check.of.runs == check.than.runs:
            continue
        sides = check.of.runs, check.than.runs
        if sides in seen:
            continue
        seen.add(sides)
        a, b = (
            confounders.side(
                figures.filter(pl.col("run_id").is_in(list(side))).unique("run_id", maintain_order=True)
            )
            for side in sides
        )
        for code, details in confounders.between(a, b):
            found |= dict.fromkeys(details or [REASONS[code][1]])
    return list(found)


def _break_even(claim: ClaimFacts, checks: Sequence[Check]) -> float | None:
    """Return the noise at which chance could explain the weakest of the checks that hold."""
    if claim.relation not in {"ratio", "percent_less", "greater", "less", "difference"}:
        return None
    ratios = [
        check.of.value / check.than.value
        for check in checks
        if check.outcome == "holds" and check.of is not None and check.than is not None
        if check.of.value and check.than.value and check.of.runs != check.than.runs
    ]
    if not ratios:
        return None
    weakest = min(ratios, key=lambda ratio: abs(np.log(ratio)))
    return float(stats.break_even(weakest, _CONFIDENCE).cv)


def _verdict(claim: ClaimFacts, arithmetic: Arithmetic, evidence: Evidence, apart: list[str]) -> str:
    if arithmetic == "not computable":
        return "no data"
    if claim.relation == "setting":
        return "contradicted" if arithmetic == "differs" else "supported"
    if arithmetic == "differs":
        return "arithmetically wrong"
    if apart:
        return "not comparable"
    return "supported" if evidence == "replicated" else "arithmetically right, unreplicated"


# ---- words


def _reason(
    claim: ClaimFacts,
    checks: Sequence[Check],
    *,
    arithmetic: Arithmetic,
    evidence: Evidence,
    apart: list[str],
    noise: float | None,
) -> Iterator[str]:
    """Yield the sentences that explain a verdict."""
    yield f"{_told(claim, checks[0])}." if len(checks) == 1 else _counted(claim, checks)
    if arithmetic == "within rounding":
        yield "The digits that are printed do not exclude it."
    yield from dict.fromkeys(check.found for check in checks if check.found and claim.relation == "percent_less")
    if apart:
        yield f"The sides differ in more than the filesystem: {' '.join(apart)}"
    if arithmetic in {"differs", "not computable"}:
        return
    if noise is not None and evidence == "single figures":
        least = f"{noise:.0%}" if noise >= 0.01 else "less than 1 %"
        yield f"Each side ran once: where runs vary by {least} among themselves, chance alone can look like this."
    elif evidence == "averaged":
        yield "Only means are printed; how much the runs varied is not known."
    elif evidence == "within-run only":
        yield "The figures are of one run each, which shows nothing of how runs vary."


def _counted(claim: ClaimFacts, checks: Sequence[Check]) -> str:
    """Say in how many cells a claim holds, and name some of those in which it does not."""
    against = [_told(claim, check) for check in checks if check.outcome == "contradicted"]
    holding = [_told(claim, check) for check in checks if check.outcome == "holds"]
    missing = list(dict.fromkeys(check.cell for check in checks if check.outcome == "not computable"))
    if len(missing) == len({check.cell for check in checks}) and not holding and not against:
        return f"What it takes is not printed: {claim.metric} of {_list(missing)}."
    text = f"It holds in {len(holding)} of {len(checks)} comparisons"
    if against:
        text += f"; not in {_list(against, '; ')}"
    elif holding:
        text += f", as in {holding[0]}"
    if missing:
        text += f". For {_list(missing)} nobody can compute it, because not all of the figures are printed"
    return text + "."


def _list(names: Sequence[str], separator: str = ", ") -> str:
    shown = separator.join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown}{separator}and {len(names) - _SHOWN} more"


def _told(claim: ClaimFacts, check: Check) -> str:
    """Say what was found in a cell, with its figures."""
    cell = f"{check.cell}: " if check.cell else ""
    if claim.relation == "setting":
        said = f", said {claim.size}" if claim.size is not None else ""
        return f"{cell}{claim.setting} is {check.found}{said}"
    if check.of is None:
        return f"{cell}no figure is printed"
    metric = str(claim.metric)
    of = f"{check.of.name} {_shown(check.of, metric)}"
    if claim.relation in {"value", "at_most", "at_least"}:
        return f"{cell}{of}, said {_LIMITS.get(claim.relation, '')}{claim.size}"
    if claim.relation == "rank":
        return f"{cell}{of}, place {_places(check.computed)}"
    than = f"{check.than.name} {_shown(check.than, metric)}" if check.than is not None else ""
    text = f"{cell}{of} against {than}"
    if check.computed is None or claim.relation in {"greater", "less"}:
        return text
    if claim.relation == "ratio":
        return f"{text}, which is {_plain(check.computed)} times, said {claim.size}"
    if claim.relation == "percent_less":
        return f"{text}, which is {_percent(check.computed)} less, said {claim.size}"
    return f"{text}, a difference of {_shown(check.computed, metric)}, said {claim.size}"


_LIMITS: Final = {"at_most": "at most ", "at_least": "at least "}


def _shown(figure: Figure, metric: str) -> str:
    if figure.value is not None:
        return _value(figure.value, metric)
    return " to ".join(_value(end, metric) for end in (figure.low, figure.high) if end is not None)


_SHARES: Final = ("cpu", "capacity", "capacity_change")


def _value(value: float, metric: str) -> str:
    return f"{100 * value:.4g} %" if metric in _SHARES else humanise(value, METRICS[metric].unit)


def _plain(figure: Figure) -> str:
    return "unknown" if figure.value is None else f"{figure.value:.3g}"


def _percent(figure: Figure) -> str:
    return "unknown" if figure.value is None else f"{figure.value:.1%}"


def _places(rank: Figure | None) -> str:
    if rank is None or rank.low is None or rank.high is None:
        return "unknown"
    return f"{rank.low:.0f}" if rank.low == rank.high else f"{rank.low:.0f} or {rank.high:.0f}"
