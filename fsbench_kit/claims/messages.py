"""Explains the verdict on a claim in words that need no statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.analysis.intervals import FEWEST_UNITS
from fsbench_kit.claims.figure_text import metric_of
from fsbench_kit.claims.relations import RELATIONS, Finding
from fsbench_kit.claims.relations.setting import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.data.study import ClaimFacts

Evidence = Literal["replicated", "means of runs", "within-run only", "single figures", "stated by the log", "none"]

_SHOWN: Final = 3
"""The number of cells that a sentence names; the rest are counted."""

_UNREPLICATED: Final = {
    "single figures": "it rests on single runs",
    "means of runs": "only means are printed",
    "within-run only": "each comparison is within one run",
}


def reason(claim: ClaimFacts, findings: Sequence[Finding], verdict: str, evidence: Evidence, *, lost: bool) -> str:
    """Explain the verdict on a claim in one sentence; `lost` is whether failed runs have figures for it."""
    but = ""
    if verdict == "not comparable":
        but = "; but the groups differ in more than the claim speaks of"
        if any(row["withheld"] for finding in findings for row in finding.comparisons):
            but = "; but the ratio is not the same in all of these runs"
    elif verdict == "in doubt":
        but = "; but a log that it rests on contradicts itself"
    elif verdict == "figures agree":
        but = f"; but {_UNREPLICATED[evidence]}"
    elif verdict == "undecided":
        but = _left_open(findings)
    if len(findings) == 1 and (RELATIONS[str(claim.relation)].of_settings or findings[0].is_known):
        text = describe(claim, findings[0])
        if findings[0].cell:
            return f"{text}{but}."  # begins with a tool's own word
    else:
        text = _counted(claim, findings, lost=lost)
    return f"{text[0].upper()}{text[1:]}{but}."


def _left_open(findings: Sequence[Finding]) -> str:
    """Explain why a single comparison is undecided; if there are several, these are named instead."""
    if len(findings) > 1:
        return ""
    rows = [row for row in findings[0].comparisons if row["ci_low"] is not None]
    if any((row["n_pairs"] or min(row["n_baseline"], row["n_candidate"])) < FEWEST_UNITS for row in rows):
        return "; but two runs of each group are too few for a verdict"
    return "; that leaves it open"


def footnotes(
    findings: Sequence[Finding],
    evidence: Evidence,
    *,
    besides: Sequence[str],
    break_even_cv: float | None,
    shows_something: bool,
) -> Iterator[str]:
    """Yield what else readers should know: other differences between the groups, and what chance could do."""
    yield from dict.fromkeys(finding.remark for finding in findings if finding.remark)
    yield from besides
    if not shows_something:
        return
    if evidence == "means of runs":
        yield "Only means of several runs are printed, so nobody knows how much the runs varied."
    if break_even_cv is not None and evidence in {"means of runs", "single figures"}:
        least = f"{100 * break_even_cv:.0f} %" if break_even_cv >= 0.01 else "less than 1 %"
        start = "Each group has one run: if" if evidence == "single figures" else "If"
        yield f"{start} runs vary by {least} (CV), chance alone can set two equal filesystems this far apart."
    if evidence == "within-run only":
        yield "The figures compared are of one run each, which says nothing about how runs vary."


def describe(claim: ClaimFacts, finding: Finding) -> str:
    """Describe what was found in a cell, and what the claim states."""
    relation = RELATIONS[str(claim.relation)]
    found = _found(claim, finding)
    if claim.size is None or not (finding.is_known or relation.of_settings):
        return found
    size = "" if finding.size in (None, "reproduces") else f"; {_SIZES[finding.size]}"
    return f"{found} (stated: {relation.limit}{in_words(claim.size)}{_taken_as(claim)}{size})"


_SIZES: Final = {
    "within rounding": "possible within the rounding",
    "within the interval": "the interval allows that, and other sizes",
    "understated": "the effect is larger than that",
    "overstated": "the effect is smaller than that",
}


def _taken_as(claim: ClaimFacts) -> str:
    """Describe what counts as the stated size, if it is more than what rounds to its digits."""
    if claim.band is not None:
        return f", taken as {claim.band[0]} to {claim.band[1]}"
    relation = RELATIONS[str(claim.relation)]
    counts = relation.stated(claim)
    if counts is None or counts.low is None or counts.high is None or not str(claim.size).startswith("about"):
        return ""
    return f", taken as {relation.range_text(counts.low, counts.high, metric_of(claim))}"


def _found(claim: ClaimFacts, finding: Finding) -> str:
    found = RELATIONS[str(claim.relation)].describe(claim, finding)
    return f"{finding.cell}: {found}" if finding.cell else found


def _counted(claim: ClaimFacts, findings: Sequence[Finding], *, lost: bool) -> str:
    """Describe in how many cells a claim is right, and name some of those in which it is not."""
    of_settings = RELATIONS[str(claim.relation)].of_settings
    right = [_found(claim, finding) for finding in findings if finding.is_right]
    wrong = [_found(claim, finding) for finding in findings if finding.is_wrong]
    unknown = [finding.cell for finding in findings if not finding.is_known]
    open_ = [
        _found(claim, finding)
        for finding in findings
        if finding.is_known and not finding.is_right and not finding.is_wrong
    ]
    cells = _list(list(dict.fromkeys(unknown)))
    if len(unknown) == len(findings):
        if of_settings:
            return f"no log states{f': {cells}' if cells else ''}"
        metric, of_cells = _metric(claim), f" for {cells}" if cells else ""
        if apart := list(dict.fromkeys(finding.apart for finding in findings if finding.apart)):
            return f"no {metric} of the same work is printed{of_cells}: the groups differ in {_list(apart, '; ')}"
        if any(finding.is_scattered for finding in findings):
            return f"{metric}{of_cells} is printed, but cannot be taken together: no run or round has all of it"
        if lost:
            return f"no {metric} that counts is printed{of_cells}: runs failed or are incomplete"
        return f"no {metric} is printed{of_cells}"
    noun = "tests" if of_settings else "comparisons" if RELATIONS[str(claim.relation)].compares else "figures"
    if len(right) == len(findings):
        every = f"both {noun}" if len(findings) == 2 else f"all {len(findings)} {noun}"
        return f"{every} agree, for example {right[0]}"
    parts = [f"{len(right) or 'none'} of {len(findings)} {noun} agree{'' if len(right) > 1 else 's'}"]
    if not wrong and right:
        parts[0] += f" (for example {right[0]})"
    if len(wrong) == len(findings):
        parts[0] += f" ({_list(wrong, '; ')})"
    elif wrong:
        parts.append(f"{len(wrong)} {'does' if len(wrong) == 1 else 'do'} not ({_list(wrong, '; ')})")
    if open_:
        parts.append(f"{len(open_)} {'is' if len(open_) == 1 else 'are'} left open ({_list(open_, '; ')})")
    if unknown:
        nothing = "nothing of the same work" if any(finding.apart for finding in findings) else "nothing"
        why = "the log does not say" if of_settings else f"{nothing} is printed"
        parts.append(f"{len(unknown)} cannot be checked because {why} ({cells})")
    return "; ".join(parts)


def _list(names: Sequence[str], separator: str = ", ") -> str:
    shown = separator.join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown}{separator}and {len(names) - _SHOWN} more"


def _metric(claim: ClaimFacts) -> str:
    name = {"elapsed": "elapsed time", "iops": "IOPS"}.get(str(claim.metric), str(claim.metric).replace("_", " "))
    return name if claim.statistic == "value" else f"{name} ({claim.statistic})"
