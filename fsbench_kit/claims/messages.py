"""Says why a claim has its verdict, in words that need no statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.claims.relations import RELATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.claims.figures import Check
    from fsbench_kit.data.study import ClaimFacts

Arithmetic = Literal["reproduces", "within rounding", "differs", "not computable"]
Evidence = Literal["replicated", "averaged", "within-run only", "single figures", "stated by the log", "none"]

_SHOWN: Final = 3
"""As many cells are named in a sentence; the rest are counted."""

_UNREPLICATED: Final[dict[Evidence, str]] = {
    "single figures": "it rests on single runs",
    "averaged": "only means are printed",
    "within-run only": "each comparison is within one run",
}


def reason(claim: ClaimFacts, checks: Sequence[Check], verdict: str, evidence: Evidence) -> str:
    """Say in one sentence why a claim has its verdict."""
    but = ""
    if verdict == "not comparable":
        but = "; but the two groups differ in more than the filesystem"
    elif verdict == "arithmetically right, unreplicated":
        but = f"; but {_UNREPLICATED[evidence]}"
    if len(checks) == 1 and (RELATIONS[claim.relation].of_settings or checks[0].outcome != "not computable"):
        text = told(claim, checks[0])
        if checks[0].cell:
            return f"{text}{but}."  # begins with a tool's own word
    else:
        text = _counted(claim, checks)
    return f"{text[0].upper()}{text[1:]}{but}."


def footnotes(
    checks: Sequence[Check],
    evidence: Evidence,
    *,
    differences: Sequence[str],
    break_even_cv: float | None,
    shows_something: bool,
) -> Iterator[str]:
    """Yield what else a reader should know: what else differs between the groups, and what chance could do."""
    yield from dict.fromkeys(check.remark for check in checks if check.remark)
    yield from differences
    if not shows_something:
        return
    if evidence == "averaged":
        yield "Only means of several runs are printed, so nobody knows how much the runs varied."
    if break_even_cv is not None and evidence in {"averaged", "single figures"}:
        least = f"{100 * break_even_cv:.0f} %" if break_even_cv >= 0.01 else "less than 1 %"
        start = "Each group has one run: if" if evidence == "single figures" else "If"
        yield f"{start} runs vary by {least} (CV), chance alone can set two equal filesystems this far apart."
    if evidence == "within-run only":
        yield "The figures compared are of one run each, which says nothing about how runs vary."


def told(claim: ClaimFacts, check: Check) -> str:
    """Say what was found in a cell, and what the claim states."""
    relation = RELATIONS[claim.relation]
    found = _found(claim, check)
    if claim.size is None or (check.of is None and not relation.of_settings):
        return found
    stated = f"{relation.limit}{claim.size}"
    if check.outcome == "contradicted" and not relation.of_settings:
        return f"{found}, not {stated}"
    return f"{found} (stated: {stated})"


def _found(claim: ClaimFacts, check: Check) -> str:
    found = RELATIONS[claim.relation].found(claim, check)
    return f"{check.cell}: {found}" if check.cell else found


def _counted(claim: ClaimFacts, checks: Sequence[Check]) -> str:
    """Say in how many cells a claim holds, and name some of those in which it does not."""

    def those(outcome: str) -> list[str]:
        return [_found(claim, check) for check in checks if check.outcome == outcome]

    of_settings = RELATIONS[claim.relation].of_settings
    agree, undecided, against = those("holds"), those("within rounding"), those("contradicted")
    missing = [check.cell for check in checks if check.outcome == "not computable"]
    cells = _list(list(dict.fromkeys(missing)))
    if not (agree or undecided or against):
        if of_settings:
            return f"no log tells{f': {cells}' if cells else ''}"
        return f"the {_metric(str(claim.metric))} of {cells} is not printed"
    noun = "tests" if of_settings else "comparisons"
    if len(agree) == len(checks):
        every = f"both {noun}" if len(checks) == 2 else f"all {len(checks)} {noun}"
        return f"{every} agree, for example {agree[0]}"
    parts = [f"{len(agree) or 'none'} of {len(checks)} {noun} agree{'' if len(agree) > 1 else 's'}"]
    if not against and agree:
        parts[0] += f" (for example {agree[0]})"
    if len(against) == len(checks):
        parts[0] += f" ({_list(against, '; ')})"
    elif against:
        parts.append(f"{len(against)} {'does' if len(against) == 1 else 'do'} not ({_list(against, '; ')})")
    if undecided:
        parts.append(f"the printed digits leave {len(undecided)} open ({_list(undecided, '; ')})")
    if missing:
        why = "the log does not tell" if of_settings else "the figures are not printed"
        parts.append(f"{len(missing)} cannot be checked because {why} ({cells})")
    return "; ".join(parts)


def _list(names: Sequence[str], separator: str = ", ") -> str:
    shown = separator.join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown}{separator}and {len(names) - _SHOWN} more"


def _metric(name: str) -> str:
    return "elapsed time" if name == "elapsed" else name.replace("_", " ")
