"""Judges a claim from the findings in its cells, keeping direction, size and evidence apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import polars as pl

from fsbench_kit.analysis.confounders import between
from fsbench_kit.analysis.confounders.figures import contradictions
from fsbench_kit.claims import messages
from fsbench_kit.claims.figures import failed_figures
from fsbench_kit.claims.relations import RELATIONS, Direction, Finding, Known

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from fsbench_kit.claims.messages import Evidence
    from fsbench_kit.data.study import ClaimFacts

Verdict = Literal[
    "supported",
    "figures agree",
    "not comparable",
    "in doubt",
    "direction only",
    "undecided",
    "contradicted",
    "no data",
    "not judged",
]


def unjudged(claim: ClaimFacts) -> dict[str, Any]:
    """Return the audit columns of a claim that cannot be judged."""
    reason = str(claim.unjudged)
    return {
        **_statement(claim),
        "verdict": "not judged",
        "evidence": "none",
        "reason": f"{reason[0].upper()}{reason[1:].removesuffix('.')}.",
        "footnotes": [],
        "cells": 0,
        "cells_right": 0,
        "comparisons": [],
        "contradicting": [],
        "not_computable": [],
        "confounders": [],
    }


def judge(claim: ClaimFacts, findings: Sequence[Finding], known: Known) -> dict[str, Any]:
    """Return the audit columns of a claim, except for its study."""
    relation = RELATIONS[str(claim.relation)]
    evidence = _evidence(claim, findings, known.cells)
    confounders, besides = between([pair for finding in findings for pair in finding.groups], known.evidence)
    runs = frozenset[str]().union(*(finding.runs for finding in findings))
    doubts = known.evidence.of(contradictions).filter(pl.col("run_id").is_in(runs))
    taints = doubts["text"].unique(maintain_order=True).to_list()
    confounders = [text for text in confounders if not text.startswith(tuple(taints))]  # it may count others
    if evidence == "replicated":
        confounders += _sentences_of_figures(findings, "withheld", confounders)
        besides += _sentences_of_figures(findings, "notes", besides)
    lost = failed_figures(known.cells, claim)
    if not relation.compares:  # remarks on a single figure are no confounders
        confounders, besides = [], [*confounders, *besides]
    direction, size = _direction(claim, findings), _size(claim, findings)
    verdict = _verdict(
        claim, findings, evidence, confounders=confounders, taints=taints, doubts=set(doubts["run_id"])
    )
    break_even_cv = _break_even(findings) if relation.differs else None
    counts = relation.stated(claim)
    single = findings[0].computed if len(findings) == 1 else None
    return {
        **_statement(claim),
        "verdict": verdict,
        "direction": direction,
        "size": size,
        "evidence": evidence,
        "reason": messages.reason(claim, findings, verdict, evidence, lost=not lost.is_empty()),
        "footnotes": list(
            messages.footnotes(
                findings,
                evidence,
                besides=list(dict.fromkeys([*taints, *confounders, *besides, *_left_out(lost)])),
                break_even_cv=break_even_cv,
                shows_something=verdict not in ("no data", "contradicted") or claim.size is not None,
            )
        ),
        "stated": claim.size,
        "stated_low": counts.low if counts else None,
        "stated_high": counts.high if counts else None,
        "computed": single.value if single else None,
        "computed_low": single.low if single else None,
        "computed_high": single.high if single else None,
        "cells": len(findings),
        "cells_right": sum(finding.is_right for finding in findings),
        "comparisons": [_comparison(claim, finding) for finding in findings],
        "contradicting": [messages.describe(claim, finding) for finding in findings if finding.is_wrong],
        "not_computable": [finding.cell for finding in findings if not finding.is_known],
        "confounders": confounders,
        "break_even_cv": break_even_cv,
    }


def _sentences_of_figures(findings: Sequence[Finding], what: str, known: Sequence[str]) -> list[str]:
    """Return further sentences of comparisons that come from the figures alone, such as that a ratio drifts."""
    sentences = (sentence for finding in findings for row in finding.comparisons for sentence in row[what])
    return [sentence for sentence in dict.fromkeys(sentences) if sentence not in known]


def _left_out(lost: pl.DataFrame) -> list[str]:
    """Report for each level how many failed and partial runs were left out."""
    runs = lost.group_by("level", maintain_order=True).agg(pl.col("run_id").n_unique())
    return [
        f"{n} failed or partial {'run' if n == 1 else 'runs'} of {level} {'was' if n == 1 else 'were'} left out."
        for level, n in runs.rows()
    ]


def _statement(claim: ClaimFacts) -> dict[str, Any]:
    return {"claim": claim.id, "place": claim.place, "says": claim.says}


def _comparison(claim: ClaimFacts, finding: Finding) -> dict[str, Any]:
    computed = finding.computed
    return {
        "direction": finding.direction,
        "size": finding.size,
        "words": messages.describe(claim, finding),
        "computed": computed.value if computed else None,
        "low": computed.low if computed else None,
        "high": computed.high if computed else None,
    }


def _direction(claim: ClaimFacts, findings: Sequence[Finding]) -> Direction | None:
    """Return the direction over all cells; undecided cells do not agree with the claim."""
    directions = [finding.direction for finding in findings]
    if not any(directions):
        return None
    right, wrong = directions.count("as said"), directions.count("the contrary")
    if claim.share == "most":
        if right > len(directions) / 2:
            return "as said"
        return "the contrary" if wrong >= len(directions) / 2 else "undecided"
    return "the contrary" if wrong else "as said" if right == len(directions) else "undecided"


def _size(claim: ClaimFacts, findings: Sequence[Finding]) -> str | None:
    """Return the size over all cells; it is ``mixed`` if they differ from the stated one in both directions."""
    if _direction(claim, findings) not in (None, "as said"):
        return None
    sizes = {finding.size for finding in findings} - {None}
    if claim.share == "most" and sum(finding.is_right for finding in findings) > len(findings) / 2:
        sizes -= {"understated", "overstated"}
    if {"understated", "overstated"} <= sizes:
        return "mixed"
    order = ("understated", "overstated", "within the interval", "within rounding", "reproduces")
    return next((size for size in order if size in sizes), None)


def _evidence(claim: ClaimFacts, findings: Sequence[Finding], cells: pl.DataFrame) -> Evidence:
    """Return what the figures or settings rest on, such as repeated or single runs."""
    known = [finding for finding in findings if finding.is_known]
    if not known:
        return "none"
    if RELATIONS[str(claim.relation)].of_settings:
        return "stated by the log"
    averaged = set(cells.filter(pl.col("averaged_over") > 1)["run_id"])
    if any(averaged & finding.runs for finding in known):
        return "means of runs"
    pairs = [(finding.of.runs, (finding.than or finding.of).runs) for finding in known if finding.of is not None]
    of_one_run = all(a == b and len(a) == 1 for a, b in pairs)
    if any(finding.than is not None for finding in known) and of_one_run:
        return "within-run only"
    fewest = [min(row["n_baseline"], row["n_candidate"]) for finding in known for row in finding.comparisons]
    fewest += [len(runs) for pair in pairs for runs in pair]
    return "replicated" if min(fewest) > 1 else "single figures"


def _break_even(findings: Sequence[Finding]) -> float | None:
    """Return the CV between runs at which chance could explain the weakest comparison that agrees."""
    found = [
        row["break_even_cv"]
        for finding in findings
        if finding.direction == "as said" or finding.size is not None
        for row in finding.comparisons
        if row["break_even_cv"] is not None
    ]
    return min(found, default=None)


def _verdict(
    claim: ClaimFacts,
    findings: Sequence[Finding],
    evidence: Evidence,
    *,
    confounders: Sequence[str],
    taints: Sequence[str],
    doubts: Set[str],
) -> Verdict:
    direction, size = _direction(claim, findings), _size(claim, findings)
    if direction is None and size is None:
        return "no data"
    if direction == "the contrary" or (direction is None and size in _OFF):
        if _is_refuted(claim, findings, doubts):
            return "contradicted"
        return "in doubt" if taints else "not comparable"
    if direction == "undecided" or (claim.share == "all" and not all(finding.is_known for finding in findings)):
        return "undecided"
    if taints:
        return "in doubt"
    if size in _OFF and not (confounders and evidence == "replicated"):
        return "direction only"
    if confounders:
        return "not comparable"
    if size == "within the interval":
        return "direction only"
    return "supported" if evidence in ("replicated", "stated by the log") else "figures agree"


def _is_refuted(claim: ClaimFacts, findings: Sequence[Finding], doubts: Set[str]) -> bool:
    """Return whether figures contradict the claim in a way that nothing else can explain.

    A sentence about an article's own single figures is wrong if these contradict it, even if the groups differ in
    other ways. For repeated runs the standard is higher: other differences between the groups can explain a
    contradiction just as they can explain agreement.
    """
    firm = [
        finding
        for finding in findings
        if finding.is_wrong
        and not finding.runs & doubts
        and not any(
            row["ci_low"] is not None and row["verdict"] == "not comparable" for row in finding.comparisons
        )
    ]
    return len(firm) >= len(findings) / 2 if claim.share == "most" else bool(firm)


_OFF: Final = ("understated", "overstated", "mixed")
