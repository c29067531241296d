"""What a comparison shows, in sentences: who is better, by how much, how sure that is, or why it is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from fsbench_kit.analysis.verdict import REASONS, codes
from fsbench_kit.model.operations import OPERATIONS
from fsbench_kit.model.order import level_name
from fsbench_kit.model.units import from_to
from fsbench_kit.tables.messages import counted, digits, one_line, percent, ratio_text, ratio_texts

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Words(NamedTuple):
    """How people compare groups by a metric: ``is 10 % faster than``, ``has 10 % lower p99 latency than``.

    The ``task`` follows the other group: ``takes 10 % less time than ext4 to delete files``.
    """

    verb: str
    past: str
    more: str
    less: str
    times: str
    same: str
    noun: str = ""
    bare: str = "be"
    task: str = ""

    def by(self, ratio: float, *, times: bool = False) -> str:
        """Say what a ratio means, without the other group: ``10 % faster``, ``2.40 times as fast``."""
        if times or in_times(ratio):
            return f"{ratio_text(ratio)} {self.times}".rsplit(" ", 1)[0]
        return f"{percent(abs(ratio - 1))} {self.more if ratio >= 1 else self.less}"

    def than(self, ratio: float, *, times: bool = False) -> str:
        """Say the same beside the other group: ``10 % faster than``, ``2.40 times as fast as``."""
        if ratio == 1:
            return self.same
        if times or in_times(ratio):
            return f"{ratio_text(ratio)} {self.times}"
        return f"{self.by(ratio)}{self.noun} than"

    def short(self, ratio: float, *, times: bool) -> str:
        """Say the same without what it is of: ``10 % lower``, ``2.40 times``."""
        if ratio == 1:
            return self.same.rsplit(" ", 1)[0]
        return self.by(ratio, times=times).removesuffix(f" the{self.noun}")

    def reach(self, low: float, high: float, *, times: bool = False) -> str:
        """Say where a ratio may lie: ``3 to 17 %``, ``4 % slower to 9 % faster``, ``2.10 to 2.40``."""
        if times or in_times(low, high):
            return from_to(*ratio_texts(low, high))
        near, far = sorted((abs(low - 1), abs(high - 1)))
        if percent(far) == percent(0):
            return "almost exactly equal"
        if low < 1 < high:
            return from_to(self.by(low), self.by(high))
        ends = [percent(end).removesuffix(_PERCENT) for end in (near, far)]
        if ends[0] == ends[1]:
            ends = [digits(100 * end) for end in (near, far)]
        return from_to(*ends) + _PERCENT


def in_times(*ratios: float | None) -> bool:
    """Whether a ratio, or the end of its interval, is given as such, and not in per cent.

    >>> in_times(1.84, 1.63, 2.07), in_times(1.25, 1.14, 1.33)
    (True, False)
    """
    return any(ratio is not None and not 1 / _LARGE < ratio < _LARGE for ratio in ratios)


_LARGE: Final = 1.5
"""A larger difference is a factor: who reads 84 % does not find it beside the 1.84 of a chart."""
_PERCENT: Final = "\N{NO-BREAK SPACE}%"
_FAST: Final = _Words("is", "was", "faster", "slower", "times as fast as", "as fast as")
_RATES: Final = frozenset({"bandwidth", "iops", "file_rate", "request_bandwidth"})
_TIMES: Final = frozenset({"elapsed", "elapsed_with_sync"})
_NOUNS: Final = {"elapsed": "time", "elapsed_with_sync": "time with its sync", "cpu": "CPU use"}


def _words(row: Mapping[str, Any]) -> _Words:
    if row["metric"] in _RATES:
        return _FAST
    noun = _NOUNS.get(row["metric"], row["metric"].replace("_", " "))
    if row["metric"] in _TIMES:
        of_sync = "" if noun == "time" else " with its sync"
        long = f"as long{of_sync} as"
        return _Words("takes", "took", "more", "less", f"times {long}", long, f" {noun}", "take")
    noun = noun if row["statistic"] == "value" else f"{row['statistic']} {noun}"
    same = f"the same {noun} as"
    return _Words("has", "had", "higher", "lower", f"times the {noun} of", same, f" {noun}", "have")


def _doing(row: Mapping[str, Any]) -> _Words:
    """Return the words of a row with the verb of its operation: ``deletes files 10 % faster than``."""
    words = _words(row)
    if not names_operation(row):
        return words
    operation = OPERATIONS[row["operation"]]
    what = "files" if row["metric"] == "file_rate" else ""
    present, past, bare = (str(operation.phrase(form, what)) for form in ("present", "past", "bare"))
    if row["metric"] in _RATES:
        return words._replace(verb=present, past=past, bare=bare)
    synced = row["metric"] == "elapsed_with_sync"
    of_time = _words({"metric": "elapsed"})
    return of_time._replace(task=f" to {bare} and sync" if synced else f" to {bare}")


def names_operation(row: Mapping[str, Any]) -> bool:
    """Whether the `sentence` of a row has a verb for its operation, which then needs no other name."""
    operation = OPERATIONS.get(row["operation"])
    return operation is not None and operation.verb is not None and row["metric"] in _RATES | _TIMES


def replicated(row: Mapping[str, Any]) -> str:
    """Say what a replication's ratio means, and in brackets its interval and, in the same form, the study's."""
    row = _from_larger(row)
    words, (level, baseline) = _doing(row), names_of(row)
    ratio, low, high, published = (row[name] for name in ("ratio", "ci_low", "ci_high", "published_ratio"))
    times = in_times(ratio, low, high, published)
    but = "" if row["direction"] == "same" else "but "
    theirs = f"{but}{words.short(published, times=times)} in the study"
    than, reach = words.than(ratio, times=times), words.reach(low, high, times=times)
    return f"{level} {words.verb} {than} {baseline}{words.task} ({reach}; {theirs})."


def _than(words: _Words, ratio: float, low: float | None, high: float | None) -> tuple[str, str]:
    """Say a ratio beside the other group, and from where to where it may lie, both in one way."""
    times = in_times(ratio, low, high)
    reach = "" if low is None or high is None else words.reach(low, high, times=times)
    return words.than(ratio, times=times), reach


def sentence(row: Mapping[str, Any]) -> str:
    r"""Say what a comparison row shows, and what it does not. The group with the larger figure is named first.

    >>> row = {"level": "xfs", "baseline": "ext4", "factor": "filesystem", "operation": "read", "metric": "iops",
    ...        "statistic": "value", "better": "higher", "ratio": 1.10, "ci_low": 1.03, "ci_high": 1.17,
    ...        "confidence": 0.95, "verdict": "better", "over": "rounds", "n_pairs": 10, "n_for": 8,
    ...        "n_against": 2, "method": "paired t on logs"}
    >>> sentence(row).replace("\xa0", " ")
    'xfs reads 10 % faster than ext4 (3 to 17 %; faster in 8 of 10 rounds).'
    """
    row = _from_larger(row)
    if row["verdict"] in DECIDED:
        return _decided(row)
    say = {"equivalent": _equivalent, "not comparable": _not_comparable}.get(row["verdict"], _open)
    return say(row)


DECIDED: Final = ("better", "worse")


def _from_larger(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Exchange the groups of a row if its ratio is below 1: charts have none of these, and nobody grasps 0.008."""
    most = row["rounding_high"] if row["ratio"] is None else row["ratio"]
    if most is None or most >= 1:
        return row
    other = {name: row[_OF_OTHER.get(name, name)] for name in row}
    inverse = {name: 1 / other[name] for name in other.keys() & _RATIOS if other[name]}
    verdict = {"verdict": DECIDED[1 - DECIDED.index(row["verdict"])]} if row.get("verdict") in DECIDED else {}
    return other | inverse | verdict


_RATIOS: Final = frozenset(
    (
        "ratio",
        "published_ratio",
        *(f"{of}_{end}" for of in ("ci", "prediction", "rounding") for end in ("low", "high")),
    )
)
_PAIRS: Final = (
    ("level", "baseline"),
    ("n_for", "n_against"),
    *((f"{of}_baseline", f"{of}_candidate") for of in ("n", "averaged_over")),
    *((f"{of}_low", f"{of}_high") for of in ("ci", "prediction", "rounding")),
)
_OF_OTHER: Final = dict(_PAIRS) | {other: one for one, other in _PAIRS}


def changed(row: Mapping[str, Any]) -> str:
    """Say how a figure is since a change of a trend, beside what it was before."""
    words, factor = _words(row), one_line(row["factor"]).replace("_", " ")
    evidence = (
        f"{counted(row['n_candidate'], factor)} against {row['n_baseline']}"
        if row["over"] == "levels"
        else _evidence(row)
    )
    earliest, latest = one_line(row["earliest"]), one_line(row["latest"])
    place = "" if earliest == latest else f"; it may have come with any {factor} from {earliest} to {latest}"
    than, reach = _than(words, row["ratio"], row["ci_low"], row["ci_high"])
    reach = f"{reach}{_unless_usual(row)}; " if reach else ""
    besides = f" There is no verdict: {' '.join(row['footnotes'])}" if row["verdict"] not in DECIDED else ""
    return f"{words.verb} {than} before ({reach}{evidence}{place}).{besides}"


def names_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Name the two groups, a bare number by its factor as well: ``iodepth 16``, ``kernel 6.12``.

    Examples
    --------
    >>> names_of({"level": "6.12", "baseline": "6.1", "factor": "kernel"})
    ('kernel 6.12', 'kernel 6.1')
    """
    factor = one_line(row["factor"])
    return level_name(one_line(row["level"]), factor), level_name(one_line(row["baseline"]), factor)


def _decided(row: Mapping[str, Any]) -> str:
    """Say which group is ahead or behind, and by how much."""
    words, (level, baseline) = _doing(row), names_of(row)
    if row["ratio"] is None:
        than = words.than(row["rounding_low"])
        return f"{level} {words.verb} at least {than} {baseline}{words.task} ({_evidence(row)}; a bound)."
    than, reach = _than(words, row["ratio"], row["ci_low"], row["ci_high"])
    reach = f"{reach}{_unless_usual(row)}; " if reach else ""
    return f"{level} {words.verb} {than} {baseline}{words.task} ({reach}{_evidence(row)})."


def _evidence(row: Mapping[str, Any]) -> str:
    """Say what an interval rests on: ``faster in 8 of 10 rounds``, ``5 runs each``."""
    alone = ", by rounding alone" if row["method"] == "rounding alone" else ""
    if row["n_pairs"]:
        blocks = f"{row['n_pairs']} {row['over']}{alone}"
        if row["verdict"] not in DECIDED:
            return blocks
        count = row["n_for"] if row["verdict"] == "better" else row["n_against"]
        many = "all" if count == row["n_pairs"] else f"{count} of"
        return f"{_in_each(row)} {'on' if row['over'] == 'hosts' else 'in'} {many} {blocks}"
    if row["n_baseline"] == row["n_candidate"]:
        return f"{counted(row['n_baseline'], 'run')} each{alone}"
    level, baseline = names_of(row)
    return f"{counted(row['n_candidate'], 'run')} of {level}, {row['n_baseline']} of {baseline}{alone}"


def _in_each(row: Mapping[str, Any]) -> str:
    """Say what a group was in each round that agrees with the verdict: faster, whatever tells how fast; higher."""
    is_better = row["verdict"] == "better"
    if row["metric"] in _RATES | _TIMES:
        return "faster" if is_better else "slower"
    return "higher" if is_better == (row["better"] == "higher") else "lower"


def _unless_usual(row: Mapping[str, Any]) -> str:
    """Name the confidence of an interval where it is not the usual one."""
    return "" if row["confidence"] == _USUAL else f" with {percent(row['confidence'])} confidence"


_USUAL: Final = 0.95


def _equivalent(row: Mapping[str, Any]) -> str:
    words, (level, baseline) = _doing(row), names_of(row)
    margin, low, high = percent(row["margin"] - 1), row["ci_low"], row["ci_high"]
    if low is None or low <= 1 <= high or in_times(low, high):
        reach = "" if low is None else f"{words.reach(low, high)}; "
        text = f"{level} {words.verb} {words.same} {baseline}{words.task}, within the margin of {margin}"
        return f"{text} ({reach}{_evidence(row)})."
    text = f"{words.reach(low, high)} {words.more}{words.noun}"
    than = f"{level} {words.verb} {text} than {baseline}{words.task}"
    return f"{than}, within the {margin} that count as equal ({_evidence(row)})."


def _open(row: Mapping[str, Any]) -> str:
    """Say what was measured, what is excluded, and why there is no verdict."""
    words, (level, baseline) = _doing(row), names_of(row)
    if row["ratio"] is None:
        return _bound(row)
    low, high = row["ci_low"], row["ci_high"]
    ends = (low, high) if row["prediction_low"] is None else (row["prediction_low"], row["prediction_high"])
    than, reach = _than(words, row["ratio"], *ends)
    measured = f"{level} {words.past} {than} {baseline}{words.task}"
    if row["break_even_cv"] is not None:
        return f"{measured} ({_of_chance(row)})."
    if row["prediction_low"] is not None:
        return (
            f"{measured}, with {single_figure(row)} in one group: {reach} if that group varies as much as the "
            "other, which these runs cannot show."
        )
    if low is None:
        return f"{measured}, but no confidence interval is possible."
    if low <= 1 <= high:
        times = in_times(low, high)
        lowest = ratio_text(low) if times else words.short(low, times=False)
        anywhere = f"{lowest} to {words.than(high, times=times)} {baseline}"
        text = f"{level} may {words.bare} anywhere from {anywhere}{words.task} ({_evidence(row)})"
        return f"{text}: these runs do not show which is better."
    measured = f"{measured} ({reach}{_unless_usual(row)}; {_evidence(row)})"
    if row["p_adjusted"] is None:
        return f"{measured}, but two {row['over']} are too few for a verdict."
    if row["p"] >= 1 - row["confidence"]:
        return f"{measured}, but figures of this kind vary so much that it could be chance."
    return f"{measured}, which is not significant among {counted(row['tested'], 'test')}."


def _bound(row: Mapping[str, Any]) -> str:
    """Say which side of a bound a ratio lies on."""
    words, (level, baseline) = _doing(row), names_of(row)
    low, high = row["rounding_low"], row["rounding_high"]
    if low is None and high is None:
        return f"{level} and {baseline} have no ratio: only bounds of their figures are known."
    if low is not None and high is not None:
        reach = from_to(words.by(low), words.by(high)).removesuffix(words.by(high))
        return f"{level} {words.past} {reach}{words.than(high)} {baseline}{words.task}: only bounds are known."
    side, end = ("more than", low) if low is not None else ("less than", high)
    ratio = f"{ratio_text(end)} {words.times}"
    return f"{level} {words.past} {side} {ratio} {baseline}{words.task} ({_evidence(row)}): only a bound is known."


def _not_comparable(row: Mapping[str, Any]) -> str:
    level, baseline = names_of(row)
    withheld = [code for code in row["reasons"] if code in codes("no ratio", "verdict withheld")]
    why = " ".join(REASONS[code].meaning for code in withheld)
    if row["ratio"] is None:
        return f"{level} and {baseline} cannot be compared: {why[:1].lower()}{why[1:]}"
    return f"{_withheld(row)}). There is no verdict: {why[:1].lower()}{why[1:]}"


def brief(row: Mapping[str, Any]) -> str:
    """Say what a row shows as `sentence` does, but for why there is no verdict."""
    if row["verdict"] != "not comparable" or row["ratio"] is None:
        return sentence(row)
    return f"{_withheld(_from_larger(row))}; no verdict)."


def _withheld(row: Mapping[str, Any]) -> str:
    words, (level, baseline) = _doing(row), names_of(row)
    than, reach = _than(words, row["ratio"], row["ci_low"], row["ci_high"])
    reach = f"{reach}; " if reach else ""
    basis = f"{reach}{_evidence(row)}" if row["break_even_cv"] is None else _of_chance(row)
    return f"{level} {words.past} {than} {baseline}{words.task} ({basis}"


def _of_chance(row: Mapping[str, Any]) -> str:
    """Say what single figures are of, and how much runs would have to vary for chance to make their ratio."""
    vary = f"a run-to-run variation (CV) of {percent(row['break_even_cv'])} could explain it"
    return f"{single_figures(row)}; {vary}"


def single_figures(row: Mapping[str, Any]) -> str:
    """Say what the single figures of both groups are of."""
    candidate, baseline = (_figure_of(row[f"averaged_over_{group}"]) for group in ("candidate", "baseline"))
    if candidate == baseline:
        return f"{candidate} each"
    return f"{candidate} of {one_line(row['level'])} and {baseline} of {one_line(row['baseline'])}"


def single_figure(row: Mapping[str, Any]) -> str:
    """Say what the only figure of one group is of, beside the several of the other."""
    group = "candidate" if row["n_candidate"] == 1 else "baseline"
    return _figure_of(row[f"averaged_over_{group}"])


ONE_RUN_EACH: Final = "one run each"


def _figure_of(averaged_over: int | None) -> str:
    return "one run" if averaged_over is None else f"one mean of {averaged_over} runs"


def tested(comparison: pl.DataFrame) -> str | None:
    """Say for how many tests verdicts are corrected, and how sure all of them together are; ``None`` for none."""
    families = (
        comparison.drop_nulls("tested")
        .group_by("study", "tool", maintain_order=True)
        .agg(pl.col("tested", "error").first())
    )
    if families.is_empty():
        return None
    several = families["study"].n_unique() > 1
    of = [
        f"{number} of {tool}" + (f" in {one_line(study)}" if several and study else "")
        for study, tool, number in families.select("study", "tool", "tested").rows()
    ]
    return (
        f"Verdicts are corrected for the number of tests ({', '.join(of)}). The chance of any false better or "
        f"worse in the whole comparison is {percent(families['error'][0])} at most, and of any false equivalent "
        "as much."
    )
