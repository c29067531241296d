"""Says why a claim has its verdict, in words that need no statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.claims.checks import Check, Figure
    from fsbench_kit.data.study import ClaimFacts

Arithmetic = Literal["reproduces", "within rounding", "differs", "not computable"]
Evidence = Literal["replicated", "averaged", "within-run only", "single figures", "stated by the log", "none"]

_SHOWN: Final = 3
"""As many cells are named in a sentence; the rest are counted."""

_UNREPLICATED: Final[dict[Evidence, str]] = {
    "single figures": "it was measured once",
    "averaged": "only means are printed",
    "within-run only": "each of them is within one run",
}


def reason(claim: ClaimFacts, checks: Sequence[Check], verdict: str, evidence: Evidence) -> str:
    """Say in one sentence why a claim has its verdict."""
    but = ""
    if verdict == "not comparable":
        but = "; but more than the filesystem sets the two sides apart"
    elif verdict == "arithmetically right, unreplicated":
        but = f"; but {_UNREPLICATED[evidence]}"
    if len(checks) == 1 and checks[0].cell and checks[0].outcome != "not computable":
        return f"{told(claim, checks[0])}{but}."  # begins with a tool's own word
    found = _of_settings(claim, checks) if claim.relation == "setting" else _counted(claim, checks)
    return f"{found[0].upper()}{found[1:]}{but}."


def footnotes(
    claim: ClaimFacts,
    checks: Sequence[Check],
    arithmetic: Arithmetic,
    evidence: Evidence,
    *,
    apart: Sequence[str],
    noise: float | None,
) -> Iterator[str]:
    """Yield what else a reader should know: what sets the sides apart, and what chance could do."""
    yield from dict.fromkeys(check.found for check in checks if check.found and claim.relation == "percent_less")
    yield from apart
    if arithmetic == "not computable" or (arithmetic == "differs" and claim.size is None):
        return
    if evidence == "averaged":
        yield "Only means of several runs are printed; how much the runs varied is not known."
    if noise is not None and evidence in {"averaged", "single figures"}:
        least = f"{100 * noise:.0f} %" if noise >= 0.01 else "less than 1 %"
        once = "Each side ran once: where" if evidence == "single figures" else "Where"
        yield (
            f"{once} runs vary by {least} among themselves, chance alone can set two equal filesystems as far "
            "apart as this."
        )
    if evidence == "within-run only":
        yield "The figures compared are of one run each, which shows nothing of how runs vary."


def _of_settings(claim: ClaimFacts, checks: Sequence[Check]) -> str:
    """Say in how many tests a setting is what is said."""
    if len(checks) == 1:
        return told(claim, checks[0])
    against = [_found(claim, check) for check in checks if check.outcome == "contradicted"]
    missing = [check.cell for check in checks if check.outcome == "not computable"]
    text = f"it is so in {len(checks) - len(missing)} of {len(checks)} tests"
    if against:
        text = f"it is not so in {len(against)} of {len(checks)} tests ({_list(against, '; ')})"
    return f"{text}; of {_list(missing)} the log does not tell" if missing else text


def _counted(claim: ClaimFacts, checks: Sequence[Check]) -> str:
    """Say in how many cells a claim holds, and name some of those in which it does not."""

    def those(outcome: str) -> list[str]:
        return [_found(claim, check) for check in checks if check.outcome == outcome]

    agree, undecided, against = those("holds"), those("within rounding"), those("contradicted")
    missing = list(dict.fromkeys(check.cell for check in checks if check.outcome == "not computable"))
    if not (agree or undecided or against):
        return f"what it takes is not printed: the {_metric(str(claim.metric))} of {_list(missing)}"
    if len(agree) == len(checks):
        every = "both comparisons" if len(checks) == 2 else f"all {len(checks)} comparisons"
        return f"{every} agree, as in {agree[0]}"
    parts = [f"{len(agree) or 'none'} agree{'' if len(agree) > 1 else 's'}"]
    if agree and not against:
        parts[0] += f" (as in {agree[0]})"
    if undecided:
        verb = "is" if len(undecided) == 1 else "are"
        parts.append(
            f"{len(undecided)} {verb} left open by the digits that are printed ({_list(undecided, '; ')})"
        )
    if against:
        verb = "does" if len(against) == 1 else "do"
        parts.append(f"{len(against)} {verb} not ({_list(against, '; ')})")
    if missing:
        number = sum(check.outcome == "not computable" for check in checks)
        parts.append(f"{number} cannot be made because figures are not printed ({_list(missing)})")
    *most, last = parts
    return f"of {len(checks)} comparisons {', '.join(most)}{',' if len(most) > 1 else ''} and {last}"


def _list(names: Sequence[str], separator: str = ", ") -> str:
    shown = separator.join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown}{separator}and {len(names) - _SHOWN} more"


def told(claim: ClaimFacts, check: Check) -> str:
    """Say what was found in a cell, and hold it against what is said."""
    found = _found(claim, check)
    if claim.size is None or (check.of is None and claim.relation != "setting"):
        return found
    stated = f"{_LIMITS.get(claim.relation, '')}{claim.size}"
    if check.outcome == "contradicted" and claim.relation != "setting":
        return f"{found}, and not {stated}"
    return f"{found} (said: {stated})"


def _found(claim: ClaimFacts, check: Check) -> str:
    """Say what was found in a cell, with its figures."""
    cell = f"{check.cell}: " if check.cell else ""
    if claim.relation == "setting":
        setting = str(claim.setting)
        return f"{cell}{_SETTINGS.get(setting, setting.replace('_', ' '))} is {check.found}"
    if check.of is None:
        return f"{cell}no figure is printed"
    metric = str(claim.metric)
    of = f"{check.of.name} {_shown(check.of, metric)}"
    if claim.relation in {"value", "at_most", "at_least"}:
        return f"{cell}{of}"
    if claim.relation == "rank":
        return f"{cell}{of}, place {_places(check.computed)}"
    than = f"{check.than.name} {_shown(check.than, metric)}" if check.than is not None else ""
    text = f"{cell}{of} against {than}"
    if check.computed is None or claim.relation in {"greater", "less"}:
        return text
    size = _SIZES[claim.relation].format(_size(claim, check.computed.value))
    return f"{text}, {size}{_rounding(claim, check)}"


_SETTINGS: Final = {"direct": "direct I/O", "disks": "the disk"}
_SIZES: Final = {"ratio": "{} times", "percent_less": "{} less", "difference": "a difference of {}"}
_LIMITS: Final = {"at_most": "at most ", "at_least": "at least "}


def _rounding(claim: ClaimFacts, check: Check) -> str:
    """Say what the digits allow, where that decides."""
    if check.outcome != "within rounding" or check.computed is None:
        return ""
    low, high = (_size(claim, end) for end in (check.computed.low, check.computed.high))
    return f" or, by the rounding of the digits, {low} to {high}"


def _size(claim: ClaimFacts, value: float | None) -> str:
    if value is None:
        return "unknown"
    if claim.relation == "ratio":
        return f"{value:.3g}"
    if claim.relation == "percent_less":
        return f"{100 * value:.1f} %"
    return _value(value, str(claim.metric))


def _metric(name: str) -> str:
    return "elapsed time" if name == "elapsed" else name.replace("_", " ")


def _shown(figure: Figure, metric: str) -> str:
    if figure.value is not None:
        return _value(figure.value, metric)
    return " to ".join(_value(end, metric) for end in (figure.low, figure.high) if end is not None)


_SHARES: Final = ("cpu", "capacity", "capacity_change")


def _value(value: float, metric: str) -> str:
    if metric in _SHARES:
        return f"{100 * value:.4g} %"
    text = humanise(value, METRICS[metric].unit)
    return f"{text.removesuffix('/s')} IOPS" if metric == "iops" else text


def _places(rank: Figure | None) -> str:
    if rank is None or rank.low is None or rank.high is None:
        return "unknown"
    return f"{rank.low:.0f}" if rank.low == rank.high else f"{rank.low:.0f} or {rank.high:.0f}"
