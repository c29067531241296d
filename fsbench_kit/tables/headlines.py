"""What a comparison found: verdicts, what is equal, inconclusive or not comparable and why; then the tallies."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.analysis.confounders.differences import DIFFERS
from fsbench_kit.analysis.metrics import PLACE, QUESTION
from fsbench_kit.analysis.verdict import REASONS, codes
from fsbench_kit.model.parsing import parse
from fsbench_kit.tables.cells import CELL, cell_label, ordered, varying
from fsbench_kit.tables.comparisons import effects
from fsbench_kit.tables.messages import counted, listed, one_line, percent, ratio_text
from fsbench_kit.tables.verdicts import DECIDED, brief, in_times, names_of, names_operation, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def findings(comparison: pl.DataFrame, most: int = 5) -> list[str]:
    """Say what a comparison found.

    One sentence for each effect with a verdict comes first, the largest before others; then what is equal, what
    is inconclusive, and what is not comparable and why; and last how many effects have which verdict. Levels are
    named in these unless there are very many: then they are counted, and what is not comparable is said by reason.

    Rows that say the same in several metrics are one effect, and what an operation shows without, with and in its
    sync is named once. Where nothing is decided because runs are single ones, the largest ratios stand first, with
    the variation that chance would need to make them.

    Parameters
    ----------
    comparison
        What `fsbench_kit.compare` returned, or some rows of it.
    most
        How many effects to name.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/recorded/ext4-xfs-loop-2026")
    >>> print(findings(fsb.compare(data, metrics=["iops"]))[0])
    ext4 writes as fast as xfs, within the margin of 5 % (0.76 % slower to 3.3 % faster; 10 rounds).
    """
    rows = ordered(effects(comparison))
    if rows.height <= 1:
        return summary(rows)
    names = varying(rows)
    decided = rows.filter(pl.col("verdict").is_in(DECIDED))
    sentences = list(_named(decided, names, most, "with a verdict"))
    if not sentences:
        single = rows.drop_nulls("break_even_cv")
        comparable = single.filter(verdict="single runs")
        sentences = list(_named(single if comparable.is_empty() else comparable, names, most, "from single runs"))
    for verdict, say in _SAYS.items():
        sentences += [say(of, names) for of in _alike(rows.filter(verdict=verdict))]
    several = pl.col("verdict").n_unique().over(_PAIR) > 1
    tallied = rows.filter(several | ~pl.col("verdict").is_in(list(_SAYS)))  # the others are there already
    if not tallied.is_empty():
        # a single effect is there already, as a rule
        sentences += [text for text in summary(tallied) if text not in sentences]
    return sentences


_PAIR: Final = ("baseline", "level")
_MOST_PAIRS: Final = 8
"""More pairs of groups than these are counted, and not named one by one."""


def _by_pair(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Split rows by the groups that they compare, unless these are very many."""
    return [rows] if _very_many(rows) else rows.partition_by(_PAIR, maintain_order=True)


def _alike(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Split rows of one verdict by the groups that they compare; if these are very many, by its reason before."""
    withheld = pl.lit(codes("no ratio", "verdict withheld"))
    reason = pl.col("reasons").list.set_intersection(withheld).list.first() if _very_many(rows) else pl.lit(None)
    return [
        between
        for of in rows.with_columns(reason=reason).partition_by("reason", maintain_order=True)
        for between in _by_pair(of)
    ]


def _very_many(rows: pl.DataFrame) -> bool:
    return rows.n_unique(_PAIR) > _MOST_PAIRS


def _groups(rows: pl.DataFrame) -> tuple[str, str]:
    """Name the two groups that all rows compare, or count those of each side."""
    first = rows.row(0, named=True)
    if not _very_many(rows):
        return names_of(first)
    baselines, levels = (rows[name].n_unique() for name in _PAIR)
    factor = one_line(first["factor"]).replace("_", " ")
    return counted(levels, factor), names_of(first)[1] if baselines == 1 else "others"


_ASKED: Final = (
    pl.col("operation").str.strip_suffix("_sync").alias("done"),
    pl.when(pl.col("metric").is_in(["file_rate", "elapsed", "elapsed_with_sync"]))
    .then(pl.lit("pace"))
    .otherwise(QUESTION)
    .alias("asked"),
)
_SAME: Final = (*(name for name in CELL if name != "operation"), "level", "baseline", "done", "asked")
"""What rows have in common that a headline names once: the operation, be its sync in the figure or not."""

_SIZE: Final = pl.coalesce("ratio", "rounding_low", "rounding_high").log().abs()
_ASIDE: Final = pl.col("metric").is_in(["phase_latency", "cpu"])
"""The longest of many requests, and the CPU's share: they make no headline where there is a rate or a time."""


def by_size(rows: pl.DataFrame) -> pl.DataFrame:
    """Sort effects as headlines name them: the largest first, and after it its operation's sync and other times.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> rows = effects(fsb.compare(fsb.read("raw_results/recorded/ext4-xfs-loop-2026")).filter(verdict="worse"))
    >>> [by_size(rows).row(0, named=True)[name] for name in ("operation", "metric")]
    ['delete', 'file_rate']
    """
    of_sync = pl.col("operation").str.ends_with("_sync")
    within = rows.with_columns(_ASKED).with_row_index("number").sort(of_sync, PLACE, maintain_order=True)
    firsts = within.with_columns(size=_SIZE.first().over(_SAME), first=pl.col("number").first().over(_SAME))
    in_order = firsts.sort(_ASIDE, -pl.col("size"), "first", nulls_last=True, maintain_order=True)
    return in_order.select(rows.columns)


def _named(rows: pl.DataFrame, names: Sequence[str], most: int, what: str) -> Iterator[str]:
    """Say the first of some effects, each in a sentence, and count the others."""
    rows = by_size(rows).with_columns(_ASKED)
    # The sync may be faster and the whole slower: it speaks only where the work itself is not decided.
    first = _together(rows.unique(_SAME, keep="first", maintain_order=True))
    for row in first.head(most).iter_rows(named=True):
        yield _of_cell(row, names)
    if (more := first.height - most) > 0:
        yield f"{counted(more, 'more effect')} {what}."


def _together(rows: pl.DataFrame) -> pl.DataFrame:
    """Put levels together whose single figures have one ratio: ext3 took 125 times as long as jfs and xfs.

    Very many are counted: each of 203 filesystems.
    """
    printed = pl.Series([None if ratio is None else ratio_text(ratio) for ratio in rows["ratio"]], dtype=pl.String)
    alike = pl.when(verdict="single runs").then(printed).otherwise("level").alias("alike")
    keys = [name for name in (*_SAME, "metric", "statistic", "averaged_over_candidate") if name != "level"]
    together = rows.group_by(*keys, alike, maintain_order=True)
    counts = pl.format(f"{_EACH}{{}} {{}}s", pl.len(), pl.col("factor").first().str.replace_all("_", " "))
    level = pl.when(pl.len() > _MOST_PAIRS).then(counts).otherwise(pl.col("level").str.join(" and "))
    return together.agg(pl.exclude("level", *keys).first(), level=level)


_EACH: Final = "each of "


def _of_cell(row: Mapping[str, Any], names: Sequence[str]) -> str:
    label = cell_label(row, [name for name in names if name != "operation" or not names_operation(row)])
    said = brief(row)
    if label:
        return f"{label}: {said}"
    return said.replace(_EACH, _EACH.capitalize(), 1) if said.startswith(_EACH) else said


def _equal(rows: pl.DataFrame, names: Sequence[str]) -> str:
    if rows.height == 1:
        return _of_cell(rows.row(0, named=True), names)
    level, baseline = _groups(rows)
    margin = max(rows["margin"].to_list())
    return f"{level} and {baseline} are equal within {percent(margin - 1)} in {_cells(rows, names)}."


def _open(rows: pl.DataFrame, names: Sequence[str]) -> str:
    """Say what these runs exclude where they decide nothing: the widest interval bounds the others."""
    if rows.height == 1:
        return _of_cell(rows.row(0, named=True), names)
    level, baseline = _groups(rows)
    text = f"These runs do not show whether {level} or {baseline} is better in {_cells(rows, names)}"
    ends = rows.select(pl.max_horizontal(1 / pl.col("ci_low"), "ci_high")).to_series()
    if ends.null_count() or (widest := max(ends.to_list())) > _SAYS_LITTLE:
        return f"{text}."
    apart = f"a factor of {ratio_text(widest)}" if in_times(widest) else percent(widest - 1)
    return f"{text}; they differ by {apart} at most."


_SAYS_LITTLE: Final = 5
"""Nobody expects a difference beyond such a factor, so that to exclude it says nothing."""


def _not_comparable(rows: pl.DataFrame, _names: Sequence[str]) -> str:
    """Say why most of these rows have no verdict."""
    withheld = set(codes("no ratio", "verdict withheld"))
    counts = Counter(code for reasons in rows["reasons"] for code in reasons if code in withheld)
    level, baseline = _groups(rows)
    text = f"{level} and {baseline} cannot be compared in {counted(rows.height, 'effect')}"
    if not counts:
        return f"{text}."
    code, number = counts.most_common(1)[0]
    meaning = REASONS[code].meaning
    differ = _what_differs(rows.filter(pl.col("reasons").list.contains(code)))
    why = differ or f"{meaning[:1].lower()}{meaning[1:]}"
    return f"{text}{'' if number == rows.height else f', in {number:,} of them'} because {why}"


def _what_differs(rows: pl.DataFrame) -> str | None:
    """Name the settings in which the groups of all rows differ, if any, and how where all differ in one way."""
    known = {note: parse.parse(DIFFERS, note) for note in rows["footnotes"].explode().unique().drop_nulls()}
    first, *others = (
        {found.fixed[0]: found.fixed[1:] for note in notes if (found := known[note])}
        for notes in rows["footnotes"]
    )
    settings = [
        f"{name} ({' against '.join(ends)})" if all(row[name] == ends for row in others) else name
        for name, ends in first.items()
        if all(name in row for row in others)
    ]
    return f"they differ in {listed(settings)}." if settings else None


def withheld(comparison: pl.DataFrame) -> list[str]:
    """Return the finding that says why most of what is not comparable is not, if anything is.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/sysbench-rhel72")
    >>> comparison = fsb.compare(data, metrics=["bandwidth"])
    >>> withheld(comparison)[0] in findings(comparison)
    True
    """
    rows = ordered(effects(comparison)).filter(verdict="not comparable")
    return [_not_comparable(max(_alike(rows), key=len), ())] if rows.height else []


_SAYS: Final = {"equivalent": _equal, "inconclusive": _open, "not comparable": _not_comparable}


def _cells(rows: pl.DataFrame, names: Sequence[str]) -> str:
    """Count effects, and name the first: ``4 effects (read; write; randread and 1 more)``."""
    labels = list(dict.fromkeys(cell_label(row, names) for row in rows.iter_rows(named=True)))
    if len(labels) < rows.height:  # several metrics of one cell
        return counted(rows.height, "effect")
    return f"{counted(rows.height, 'effect')} ({listed(labels)})"


def summary(comparison: pl.DataFrame) -> list[str]:
    """Count the verdicts of a comparison's effects, in one sentence for each baseline and level if these are few.

    A single effect is said in full. Nothing is weighed: different cells and metrics are different questions.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/sysbench-rhel72")
    >>> summary(fsb.compare(data, metrics=["bandwidth"]))
    ['xfs against ext4, 4 effects: not comparable in 4.']
    """
    rows = effects(comparison)
    if rows.is_empty():
        return ["These runs have no two groups to compare."]
    sentences = []
    for between in _by_pair(ordered(rows)):
        if between.height == 1:
            sentences.append(sentence(between.row(0, named=True)))
            continue
        count = Counter(between["verdict"])
        counts = [f"{text} in {count[verdict]}" for verdict, text in _TALLY.items() if verdict in count]
        groups = " against ".join(_groups(between))
        sentences.append(f"{groups}, {counted(between.height, 'effect')}: {', '.join(counts)}.")
    return sentences


_TALLY: Final = {
    "better": "better",
    "worse": "worse",
    "equivalent": "equal within the margin",
    "inconclusive": "inconclusive",
    "single runs": "no interval (single runs)",
    "bound only": "only a bound",
    "not comparable": "not comparable",
}
