"""What a comparison shows, in sentences: who is better, by how much, how sure that is, or why it is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from fsbench_kit.analysis.verdict import REASONS, codes
from fsbench_kit.model.operations import OPERATIONS
from fsbench_kit.tables.messages import counted, digits, one_line, percent, ratio_text

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

    def by(self, ratio: float) -> str:
        """Say what a ratio means, without the other group: ``10 % faster``, ``2.40 times as fast``."""
        if _LEAST <= ratio < 2:
            return f"{percent(abs(ratio - 1))} {self.more if ratio >= 1 else self.less}"
        return f"{ratio_text(ratio)} {self.times}".rsplit(" ", 1)[0]

    def than(self, ratio: float) -> str:
        """Say the same beside the other group: ``10 % faster than``, ``2.40 times as fast as``."""
        if ratio == 1:
            return self.same
        return f"{self.by(ratio)}{self.noun} than" if _LEAST <= ratio < 2 else f"{ratio_text(ratio)} {self.times}"

    def end(self, ratio: float) -> str:
        """Say one end of a reach, which leaves out what it is of: ``10 % lower``, ``2.40 times``."""
        return self.by(ratio).removesuffix(f" the{self.noun}")

    def reach(self, low: float, high: float) -> str:
        """Say from where to where a ratio may lie: ``3 to 17 %``, ``2.10 to 2.40 times``."""
        if 1 < low < 2 <= high or high < _LEAST:
            return f"{ratio_text(low)} to {self.end(high)}"
        if low < _LEAST and high < 1:
            return f"{ratio_text(low)} to {ratio_text(high)} times"
        if low < 1 < high or low < 2 <= high:
            return f"{self.end(low)} to {self.end(high)}"
        if low >= 2:
            return f"{ratio_text(low)} to {ratio_text(high)} times"
        near, far = sorted((abs(low - 1), abs(high - 1)))
        ends = [percent(end).removesuffix(_PERCENT) for end in (near, far)]
        if ends[0] == ends[1]:
            ends = [digits(100 * end) for end in (near, far)]
        return " to ".join(ends) + _PERCENT


_LEAST: Final = 0.02
"""Smaller ratios are given as such: 99.6 % less is harder to grasp than 0.0040 times."""
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
        same = f"as much {noun} as"
        return _Words("takes", "took", "more", "less", f"times the {noun} of", same, f" {noun}", "take")
    noun = noun if row["statistic"] == "value" else f"{row['statistic']} {noun}"
    same = f"the same {noun} as"
    return _Words("has", "had", "higher", "lower", f"times the {noun} of", same, f" {noun}", "have")


def _doing(row: Mapping[str, Any]) -> _Words:
    """Return the words of a row with the verb of its operation: ``deletes files 10 % faster than``."""
    words = _words(row)
    if not tells_operation(row):
        return words
    operation = OPERATIONS[row["operation"]]
    what = "files" if row["metric"] == "file_rate" else ""
    present, past, bare = (str(operation.told(form, what)) for form in ("present", "past", "bare"))
    if row["metric"] in _RATES:
        return words._replace(verb=present, past=past, bare=bare)
    synced = row["metric"] == "elapsed_with_sync"
    of_time = _words({"metric": "elapsed"})
    return of_time._replace(task=f" to {bare} and sync" if synced else f" to {bare}")


def tells_operation(row: Mapping[str, Any]) -> bool:
    """Whether the `sentence` of a row has a verb for its operation, which then needs no other name."""
    operation = OPERATIONS.get(row["operation"])
    return operation is not None and operation.verb is not None and row["metric"] in _RATES | _TIMES


def compared(row: Mapping[str, Any], ratio: float, *, of_level: bool = True) -> str:
    """Say what a ratio of a row's groups means: ``xfs writes 10 % faster than ext4``, or ``wrote 10 % faster``."""
    words, (level, baseline) = _doing(row), names_of(row)
    if of_level:
        return f"{level} {words.verb} {words.than(ratio)} {baseline}{words.task}"
    if ratio == 1:
        return f"{words.past} {words.same} {baseline}"
    return f"{words.past} {words.by(ratio)}{words.noun if _LEAST <= ratio < 2 else ''}"


def reach(row: Mapping[str, Any], low: float, high: float) -> str:
    """Say from where to where the ratio of a row may lie."""
    return _words(row).reach(low, high)


def sentence(row: Mapping[str, Any]) -> str:
    r"""Say what a comparison row shows, and what it does not; the better group is named where it is known.

    >>> row = {"level": "xfs", "baseline": "ext4", "operation": "read", "metric": "iops", "statistic": "value",
    ...        "better": "higher", "ratio": 1.10, "ci_low": 1.03, "ci_high": 1.17, "confidence": 0.95,
    ...        "verdict": "better", "over": "rounds", "n_pairs": 10, "n_for": 8, "n_against": 2,
    ...        "method": "paired t on logs"}
    >>> sentence(row).replace("\xa0", " ")
    'xfs reads 10 % faster than ext4 (3 to 17 %; ahead in 8 of 10 rounds).'
    """
    if row["verdict"] in DECIDED:
        return _decided(row)
    if row["ratio"] is not None and row["ratio"] < _TURNED:
        row = _turned(row)
    say = {"equivalent": _equivalent, "not comparable": _not_comparable}.get(row["verdict"], _open)
    return say(row)


DECIDED: Final = ("better", "worse")

_TURNED: Final = 0.1
"""A smaller ratio is told from the other group: 125 times is easier to grasp than 0.008 times."""


def _turned(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as it would be with its two groups exchanged."""
    turned = {**row, "level": row["baseline"], "baseline": row["level"], "ratio": 1 / row["ratio"]}
    for end in ("ci", "prediction"):
        low, high = row[f"{end}_low"], row[f"{end}_high"]
        turned |= {
            f"{end}_low": low if high is None else 1 / high,
            f"{end}_high": high if low is None else 1 / low,
        }
    for of_group in ("n", "averaged_over"):
        of = [row[f"{of_group}_{group}"] for group in ("baseline", "candidate")]
        turned |= {f"{of_group}_candidate": of[0], f"{of_group}_baseline": of[1]}
    return turned | {"n_for": row["n_against"], "n_against": row["n_for"]}


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
    reach = "" if row["ci_low"] is None else f"{words.reach(row['ci_low'], row['ci_high'])}{_unless_usual(row)}; "
    besides = f" There is no verdict: {' '.join(row['footnotes'])}" if row["verdict"] not in DECIDED else ""
    return f"{words.verb} {words.than(row['ratio'])} before ({reach}{evidence}{place}).{besides}"


def names_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Name the two groups, a bare number by its factor as well: ``iodepth 16``, ``kernel 6.12``."""
    level, baseline = one_line(row["level"]), one_line(row["baseline"])
    if not (level[:1].isdigit() and baseline[:1].isdigit()):
        return level, baseline
    factor = one_line(row["factor"]).replace("_", " ")
    return f"{factor} {level}", f"{factor} {baseline}"


def _decided(row: Mapping[str, Any]) -> str:
    """Say which group is better, and by how much."""
    words, (level, baseline) = _doing(row), names_of(row)
    worse = row["verdict"] == "worse"
    better, other = (baseline, level) if worse else (level, baseline)
    if row["ratio"] is None:
        bound = row["rounding_low"] if (row["rounding_low"] or 0) > 1 else row["rounding_high"]
        than = words.than(1 / bound if worse else bound)
        return f"{better} {words.verb} at least {than} {other}{words.task} ({_evidence(row, better)}; a bound)."
    ratio, low, high = row["ratio"], row["ci_low"], row["ci_high"]
    if worse:
        ratio, low, high = (None if end is None else 1 / end for end in (ratio, high, low))
    reach = "" if low is None else f"{words.reach(low, high)}{_unless_usual(row)}; "
    return f"{better} {words.verb} {words.than(ratio)} {other}{words.task} ({reach}{_evidence(row, better)})."


def _evidence(row: Mapping[str, Any], better: str | None = None) -> str:
    """Say what an interval rests on: ``ahead in 8 of 10 rounds``, ``5 runs each``."""
    level, baseline = names_of(row)
    alone = ", by rounding alone" if row["method"] == "rounding alone" else ""
    if row["n_pairs"]:
        blocks = f"{row['n_pairs']} {row['over']}"
        count = {level: row["n_for"], baseline: row["n_against"]}.get(better or "")
        if count is None:
            return f"{blocks}{alone}"
        return f"ahead in {'all' if count == row['n_pairs'] else f'{count} of'} {blocks}{alone}"
    if row["n_baseline"] == row["n_candidate"]:
        return f"{counted(row['n_baseline'], 'run')} each{alone}"
    return f"{counted(row['n_candidate'], 'run')} of {level}, {row['n_baseline']} of {baseline}{alone}"


def _unless_usual(row: Mapping[str, Any]) -> str:
    """Name the confidence of an interval where it is not the usual one."""
    return "" if row["confidence"] == _USUAL else f" with {percent(row['confidence'])} confidence"


_USUAL: Final = 0.95


def _equivalent(row: Mapping[str, Any]) -> str:
    words, (level, baseline) = _doing(row), names_of(row)
    margin, low, high = percent(row["margin"] - 1), row["ci_low"], row["ci_high"]
    if low is None or low <= 1 <= high:
        reach = "" if low is None else f"{words.reach(low, high)}; "
        said = f"{level} {words.verb} {words.same} {baseline}{words.task}, within the margin of {margin}"
        return f"{said} ({reach}{_evidence(row)})."
    said = f"{words.reach(low, high)} {words.more if low > 1 else words.less}{words.noun}"
    than = f"{level} {words.verb} {said} than {baseline}{words.task}"
    return f"{than}, within the {margin} that count as equal ({_evidence(row)})."


def _open(row: Mapping[str, Any]) -> str:
    """Say what is left open, what is excluded all the same, and why there is no more."""
    words, (level, baseline) = _doing(row), names_of(row)
    if row["ratio"] is None:
        return _bound(row)
    measured = f"{level} {words.past} {words.than(row['ratio'])} {baseline}{words.task}"
    if row["break_even_cv"] is not None:
        vary = f"runs that vary by {percent(row['break_even_cv'])} (CV) or more could differ as much by chance"
        return f"{measured} in {single_figures(row)}; {vary}."
    if row["prediction_low"] is not None:
        reach = words.reach(row["prediction_low"], row["prediction_high"])
        return (
            f"{measured}, with {single_figure(row)} in one group: {reach} if that group varies as much as the "
            "other, which these runs cannot show."
        )
    low, high = row["ci_low"], row["ci_high"]
    if low is None:
        return f"{measured}, but no confidence interval is possible."
    if low <= 1 <= high:
        reach = f"{words.bare} anywhere from {words.end(low)} to {words.than(high)} {baseline}{words.task}"
        return f"{level} may {reach} ({_evidence(row)}): these runs leave open which is better."
    measured = f"{measured} ({words.reach(low, high)}{_unless_usual(row)}; {_evidence(row)})"
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
        reach = f"{words.by(low)} to {words.than(high)} {baseline}{words.task}"
        return f"{level} {words.past} {reach}: only bounds are known."
    side, end = ("more than", low) if low is not None else ("less than", high)
    ratio = f"{ratio_text(end)} {words.times}"
    return f"{level} {words.past} {side} {ratio} {baseline}{words.task} ({_evidence(row)}): only a bound is known."


def _not_comparable(row: Mapping[str, Any]) -> str:
    words, (level, baseline) = _doing(row), names_of(row)
    withheld = [code for code in row["reasons"] if code in codes("no ratio", "verdict withheld")]
    why = " ".join(REASONS[code].meaning for code in withheld)
    if row["ratio"] is None:
        return f"{level} and {baseline} cannot be compared: {why[:1].lower()}{why[1:]}"
    reach = "" if row["ci_low"] is None else f"{words.reach(row['ci_low'], row['ci_high'])}; "
    said = f"{level} {words.past} {words.than(row['ratio'])} {baseline}{words.task} ({reach}{_evidence(row)})"
    return f"{said}. There is no verdict: {why[:1].lower()}{why[1:]}"


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
