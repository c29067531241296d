"""What a claim can say: one class for each relation, which states all about it.

To add a relation, add a class here. Its ``name`` is what ``study.toml`` calls it, its docstring is what
``docs/claims.md`` says of it, `needs` names the keys without which it cannot be checked, and `findings` tells for
each cell what the figures say. How two groups differ, how sure that is, and what else sets them apart is what
`fsbench_kit.analysis.comparison` answers; here is only what a sentence makes of it.
"""
# ruff: noqa: ARG002, D102  # methods of the base are documented there, and not every relation uses every argument

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.analysis.comparison import compare_groups
from fsbench_kit.analysis.settings import NOT_KNOWN
from fsbench_kit.claims.figures import Figure, cell_name, each, figures_of, only, order, paired_cells, single_cells
from fsbench_kit.claims.sizes import Stated, stated
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fsbench_kit.analysis.design import Evidence
    from fsbench_kit.claims.figures import Cell, Order
    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.data.study import ClaimFacts

Direction = Literal["as said", "the contrary", "undecided"]
Size = Literal["reproduces", "within rounding", "within the interval", "understated", "overstated"]
Basis = Literal["prints", "interval"]
"""What the bounds of a size come from: the digits that are printed, or how runs vary."""

RELATIONS: Final[dict[str, Relation]] = {}
"""Each relation by its name."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a claim is held against: all figures of its study, the data, and what is known of the runs."""

    cells: pl.DataFrame
    dataset: Dataset
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the figures of one cell say of a claim.

    Attributes
    ----------
    cell
        Its name, for people.
    direction
        Whether they say so; ``None`` where the claim is about a size alone, or where nothing is printed.
    size
        Whether they have the size that is stated; ``None`` where none is, or where they say the contrary.
    of, than
        The figures; ``None`` where there is none.
    computed, basis
        What they give: a ratio, a difference, a share, a rank, a value; and what its bounds come from.
    comparisons
        The rows of `fsbench_kit.analysis.comparison.compare_groups` that it rests on.
    setting
        The values of the setting that was looked up, for people.
    remark
        A footnote, such as a mistake that would explain the claim.
    runs
        All runs that it rests on.
    """

    cell: str
    direction: Direction | None = None
    size: Size | None = None
    of: Figure | None = None
    than: Figure | None = None
    computed: Figure | None = None
    basis: Basis = "prints"
    comparisons: tuple[Mapping[str, Any], ...] = ()
    setting: str = ""
    remark: str = ""
    runs: frozenset[str] = field(default=frozenset())

    @property
    def is_known(self) -> bool:
        """Whether there was anything to check."""
        return self.direction is not None or self.size is not None

    @property
    def is_right(self) -> bool:
        """Whether the figures say what the claim says."""
        return self.is_known and self.direction in (None, "as said") and self.size in (None, *_FITS)

    @property
    def is_wrong(self) -> bool:
        """Whether they say otherwise, and not only leave it open."""
        return self.direction == "the contrary" or self.size in ("understated", "overstated")


_FITS: Final = ("reproduces", "within rounding", "within the interval")


class Relation(ABC):
    """What a claim can say.

    Attributes
    ----------
    needs
        The keys that a claim must have, besides ``id``, ``says`` and ``relation``.
    compares
        Whether it sets two groups side by side.
    differs
        Whether it says that they differ, which chance could explain.
    of_settings
        Whether it is about how runs were made, which the logs state, and not about figures.
    limit
        What stands before the stated size, for people.
    """

    needs: ClassVar[tuple[str, ...]] = ("metric", "size")
    compares: ClassVar[bool] = False
    differs: ClassVar[bool] = False
    of_settings: ClassVar[bool] = False
    limit: ClassVar[str] = ""

    def __init_subclass__(cls, *, name: str | None = None) -> None:
        if name is not None:
            RELATIONS[name] = cls()

    @abstractmethod
    def findings(self, claim: ClaimFacts, known: Known) -> Iterator[Finding]:
        """Check each cell of a claim."""

    @abstractmethod
    def told(self, claim: ClaimFacts, finding: Finding) -> str:
        """Say what was found in a cell."""

    def unit(self, claim: ClaimFacts) -> str:
        """Return the base unit of the stated size."""
        return METRICS[metric].unit if (metric := metric_of(claim)) else "1"

    def stated(self, claim: ClaimFacts) -> Stated | None:
        """Return what counts as the stated size, if one is stated."""
        return None if claim.size is None else stated(claim, self.unit(claim))

    def size_text(self, value: float, metric: str) -> str:
        """Write a computed or stated size for people."""
        return _value(value, metric)


class _OfFigures(Relation):
    """About figures that are printed."""

    def told(self, claim: ClaimFacts, finding: Finding) -> str:
        """Say what was found in a cell, with its figures."""
        metric = metric_of(claim)
        if finding.of is None or not finding.is_known:
            return "nothing is printed"
        text = f"{finding.of.name} {_shown(finding.of, metric)}".strip()
        if finding.than is not None:
            text += f" against {finding.than.name} {_shown(finding.than, metric)}"
        computed = self.computed_text(claim, finding)
        return f"{text}, {computed}" if computed else text

    def computed_text(self, claim: ClaimFacts, finding: Finding) -> str:
        """Say what the figures give, where they do not say it themselves."""
        return ""


class _OfOne(_OfFigures):
    """About figures by themselves."""

    def findings(self, claim: ClaimFacts, known: Known) -> Iterator[Finding]:
        counts = self.stated(claim)
        for cell in single_cells(claim, figures_of(known.cells, claim)):
            if cell.of.runs and counts is not None:
                yield self.finding(cell, counts)
            else:
                yield Finding(cell=cell.name)

    @abstractmethod
    def finding(self, cell: Cell, counts: Stated) -> Finding:
        """Check one figure."""


class Value(_OfOne, name="value"):
    """The figures of `of` are `size`."""

    def finding(self, cell: Cell, counts: Stated) -> Finding:
        size = _size(cell.of, counts, "prints")
        return Finding(cell=cell.name, size=size, of=cell.of, computed=cell.of, runs=cell.of.runs)


class AtMost(_OfOne, name="at_most"):
    """The figures of `of` are at most `size`."""

    limit = "at most "

    def stated(self, claim: ClaimFacts) -> Stated:
        return Stated(None, stated(claim, self.unit(claim)).middle, closed=True)

    def finding(self, cell: Cell, counts: Stated) -> Finding:
        direction = _within_limit(cell.of, counts)
        return Finding(cell=cell.name, direction=direction, of=cell.of, computed=cell.of, runs=cell.of.runs)


class AtLeast(AtMost, name="at_least"):
    """The figures of `of` are at least `size`."""

    limit = "at least "

    def stated(self, claim: ClaimFacts) -> Stated:
        return Stated(stated(claim, self.unit(claim)).middle, None)


class _OfTwo(_OfFigures):
    """About the figures of two groups, equal in all but what tells the groups apart."""

    compares = True
    differs = True
    neutral: ClassVar[float] = 0
    """What is computed of two equal figures."""
    falls: ClassVar[bool] = False
    """Whether what is computed falls where the first figure rises."""

    def unit(self, claim: ClaimFacts) -> str:
        return "1"

    def findings(self, claim: ClaimFacts, known: Known) -> Iterator[Finding]:
        cells = list(paired_cells(claim, figures_of(known.cells, claim)))
        for cell, row in zip(cells, _comparisons(cells, known), strict=True):
            if not (cell.of.runs and cell.than.runs):
                yield Finding(cell=cell.name)
                continue
            found = self.finding(claim, cell, row)
            yield replace(found, comparisons=() if row is None else (row,), runs=cell.of.runs | cell.than.runs)

    def finding(self, claim: ClaimFacts, cell: Cell, row: Mapping[str, Any] | None) -> Finding:
        """Check one pair of groups, given what the comparison says of them, if there is one."""
        counts = self.stated(claim)
        computed, basis = self.computed(cell, row)
        direction = self.direction(claim, counts, _order(cell, row))
        size = None
        if counts is not None and direction == "as said":
            size = _size(computed, counts, basis, neutral=self.neutral)
        remark = self.remark(claim, computed) if counts is not None and size not in _FITS else ""
        return Finding(
            cell=cell.name,
            direction=direction,
            size=size,
            of=cell.of,
            than=cell.than,
            computed=computed,
            basis=basis,
            remark=remark,
        )

    def direction(self, claim: ClaimFacts, counts: Stated | None, found: Order | None) -> Direction | None:
        """Tell whether one group is the greater one as the claim says, which states a size."""
        if counts is None or found is None:
            return None
        above = (counts.middle > self.neutral) != self.falls
        return _agreement(found, "greater" if above else "less")

    def computed(self, cell: Cell, row: Mapping[str, Any] | None) -> tuple[Figure, Basis]:
        """Return what two groups give, with what the prints or the runs' variation allow."""
        a, b = cell.of, cell.than
        if row is not None and row["ci_low"] is not None:
            base = row["value_baseline"]
            ends = [self.give(row[end] * base, base) for end in ("ci_low", "ci_high")]
            value, basis = self.give(row["ratio"] * base, base), "interval"
        else:
            ends = [self._of_known(a.low, b.high), self._of_known(a.high, b.low)]
            value, basis = self._of_known(a.value, b.value), "prints"
        low, high = reversed(ends) if self.falls else ends
        return Figure(value, low, high, "", a.runs | b.runs), basis  # type: ignore[return-value]

    def _of_known(self, x: float | None, y: float | None) -> float | None:
        return None if x is None or y is None else self.give(x, y)

    def give(self, x: float, y: float) -> float | None:
        """Compute one number of two; by default their ratio."""
        return x / y if y else None

    def remark(self, claim: ClaimFacts, computed: Figure) -> str:
        """Name a mistake that would explain a claim that the figures contradict."""
        return ""

    def computed_text(self, claim: ClaimFacts, finding: Finding) -> str:
        found = finding.computed
        if found is None or found.value is None:
            return ""
        metric = metric_of(claim)
        text = self.size_text(found.value, metric)
        if found.low is None or found.high is None or (finding.basis == "prints" and finding.size == "reproduces"):
            return text
        ends = f"{self.size_text(found.low, metric)} to {self.size_text(found.high, metric)}"
        if finding.basis == "interval":
            return f"{text} (95 % interval: {ends})"
        return f"{text}, or {ends} by rounding" if finding.size == "within rounding" else text

    def size_text(self, value: float, metric: str) -> str:
        return f"{value:.3g} times"


class Ratio(_OfTwo, name="ratio"):
    """The figures of `of` are `size` times those of `than`."""

    neutral = 1


class Difference(_OfTwo, name="difference"):
    """The figures of `of` are greater than those of `than` by `size`."""

    unit = Relation.unit

    def give(self, x: float, y: float) -> float | None:
        return x - y

    def size_text(self, value: float, metric: str) -> str:
        return f"a difference of {_value(value, metric)}"


class PercentLess(_OfTwo, name="percent_less"):
    """The figures of `of` are less than those of `than` by `size` of the latter."""

    falls = True

    def give(self, x: float, y: float) -> float | None:
        return 1 - x / y if y else None

    def remark(self, claim: ClaimFacts, computed: Figure) -> str:
        counts, share = self.stated(claim), computed.value
        if share is None or counts is None or share >= 1:
            return ""
        if counts.has(1 - share):
            return f"The one figure is {claim.size} of the other, not {claim.size} less."
        if counts.has(share / (1 - share)):
            return f"The other figure is {claim.size} more than the one, so the one is not {claim.size} less."
        return ""

    def size_text(self, value: float, metric: str) -> str:
        return f"{100 * value:.1f} % less"


class PercentMore(_OfTwo, name="percent_more"):
    """The figures of `of` are more than those of `than` by `size` of the latter."""

    def give(self, x: float, y: float) -> float | None:
        return x / y - 1 if y else None

    def size_text(self, value: float, metric: str) -> str:
        return f"{100 * value:.1f} % more"


class Greater(_OfTwo, name="greater"):
    """The figures of `of` are greater than those of `than`."""

    needs: ClassVar[tuple[str, ...]] = ("metric",)
    neutral = 1
    said: ClassVar[Order] = "greater"

    def direction(self, claim: ClaimFacts, counts: Stated | None, found: Order | None) -> Direction | None:
        return _agreement(found, self.said)

    def computed_text(self, claim: ClaimFacts, finding: Finding) -> str:
        return super().computed_text(claim, finding) if finding.basis == "interval" else ""


class Less(Greater, name="less"):
    """The figures of `of` are less than those of `than`."""

    said = "less"


class Equal(_OfTwo, name="equal"):
    """The figures of `of` are those of `than`, or within `size` of them."""

    needs: ClassVar[tuple[str, ...]] = ("metric",)
    differs = False
    neutral = 1

    def stated(self, claim: ClaimFacts) -> Stated | None:
        if claim.size is None:
            return None
        margin = stated(claim, "1").middle
        return Stated(1 / (1 + margin), 1 + margin, closed=True)

    def finding(self, claim: ClaimFacts, cell: Cell, row: Mapping[str, Any] | None) -> Finding:
        computed, basis = self.computed(cell, row)
        counts = self.stated(claim)
        direction: Direction | None
        if counts is not None:
            direction = _within_limit(computed, counts)
        elif cell.of.value is not None and cell.of.value == cell.than.value:
            direction = "as said"
        else:
            direction = "undecided" if order(cell.of, cell.than) == "undecided" else "the contrary"
        return Finding(
            cell=cell.name, direction=direction, of=cell.of, than=cell.than, computed=computed, basis=basis
        )

    def computed_text(self, claim: ClaimFacts, finding: Finding) -> str:
        return "" if claim.size is None and finding.basis == "prints" else super().computed_text(claim, finding)


class Rank(_OfFigures, name="rank"):
    """The figures of `of` take place `size` among all filesystems; the best takes 1."""

    compares = True
    differs = True

    def unit(self, claim: ClaimFacts) -> str:
        return "1"

    def findings(self, claim: ClaimFacts, known: Known) -> Iterator[Finding]:
        """Count those that are better; where the order is open, count both ways."""
        cells = list(paired_cells(claim, figures_of(known.cells, claim)))
        counts = self.stated(claim)
        better: Order = "less" if METRICS[str(claim.metric)].better == "higher" else "greater"
        by_name: dict[tuple[str, str], list[tuple[Cell, Mapping[str, Any] | None]]] = {}
        for cell, row in zip(cells, _comparisons(cells, known), strict=True):
            by_name.setdefault((cell.name, cell.of.name), []).append((cell, row))
        for (name, _), rivals in by_name.items():
            orders = [_order(cell, row) for cell, row in rivals]
            if None in orders or counts is None:
                yield Finding(cell=name)
                continue
            least = 1 + orders.count(better)
            most = least + orders.count("undecided")
            places = [place for place in range(least, most + 1) if counts.has(place)]
            direction: Direction = (
                "undecided" if places and least < most else "as said" if places else "the contrary"
            )
            runs = frozenset[str]().union(*(cell.of.runs | cell.than.runs for cell, _ in rivals))
            yield Finding(
                cell=name,
                direction=direction,
                of=rivals[0][0].of,
                computed=Figure(least, least, most, "", runs),
                comparisons=tuple(row for _, row in rivals if row is not None),
                runs=runs,
            )

    def computed_text(self, claim: ClaimFacts, finding: Finding) -> str:
        rank = finding.computed
        if rank is None or rank.low is None or rank.high is None:
            return ""
        return f"place {rank.low:.0f}" if rank.low == rank.high else f"place {rank.low:.0f} to {rank.high:.0f}"

    def size_text(self, value: float, metric: str) -> str:
        return f"{value:g}"


class Setting(Relation, name="setting"):
    """All runs have the setting `setting` with the value `size`, or with one value where there is no `size`."""

    needs = ("setting",)
    of_settings = True

    def stated(self, claim: ClaimFacts) -> Stated | None:
        return None

    def findings(self, claim: ClaimFacts, known: Known) -> Iterator[Finding]:
        """Look up the settings of runs. What the article states proves nothing of what it says."""
        runs = _with_setting(known, str(claim.setting))
        if claim.setting in _HARDWARE:  # a device of the same name in another host is another one
            in_host = pl.concat_str("setting", pl.lit(" in "), "host").fill_null(pl.col("setting"))
            runs = runs.with_columns(setting=in_host)
        for where in each({**claim.where, **claim.of}, "each"):
            chosen = only(runs, where)
            if claim.size is not None:
                yield self._finding(claim, chosen, cell_name(where))
                continue
            for (_, pattern), group in chosen.group_by("tool", "pattern", maintain_order=True):
                if group["filesystem"].n_unique() > 1:
                    at = where if pattern is None else {**where, "pattern": pattern}
                    yield self._finding(claim, group, cell_name(at))

    def told(self, claim: ClaimFacts, finding: Finding) -> str:
        setting = str(claim.setting)
        name = _SETTINGS.get(setting, setting.replace("_", " "))
        return f"{name} is {finding.setting}" if finding.setting else f"no log tells {name}"

    def _finding(self, claim: ClaimFacts, cell: pl.DataFrame, name: str) -> Finding:
        by_filesystem = cell.group_by("filesystem", maintain_order=True).agg(
            pl.col("setting").unique(maintain_order=True)
        )
        on: dict[str, list[str]] = {}
        for filesystem, values in by_filesystem.rows():
            text = " and ".join(NOT_KNOWN if value is None else _readable(value) for value in values)
            on.setdefault(text, []).append(str(filesystem))
        told = ", ".join(f"{text} on {' and '.join(filesystems)}" for text, filesystems in on.items())
        if len(on) == 1 and by_filesystem.height > 1:
            told = f"{next(iter(on))} on all"
        shown = cell.drop_nulls("setting")
        values = set(shown["setting"])
        agree = len(values) <= 1 if claim.size is None else all(_is_setting(value, claim) for value in values)
        direction: Direction | None = "the contrary"
        if agree:
            told += " by the study's description alone" if values and not shown["is_shown"].any() else ""
            is_known = cell["is_shown"].all() and not cell.is_empty()
            direction = "as said" if is_known else "undecided" if shown["is_shown"].any() else None
        return Finding(
            cell=name, direction=direction, setting=told if values else "", runs=frozenset(cell["run_id"])
        )


_HARDWARE: Final = ("device", "disks", "log_device", "cache_device")
_SETTINGS: Final = {"direct": "direct I/O", "disks": "the disk"}
_BYTES: Final = 2**20
_TRUTH: Final = {**dict.fromkeys(("true", "yes", "on"), "true"), **dict.fromkeys(("false", "no", "off"), "false")}


def _with_setting(known: Known, key: str) -> pl.DataFrame:
    """Return the runs with a setting, and whether it is shown by more than words about them."""
    described = pl.col("origin").is_in(["study", "stated"])
    origins = settings.effective(known.dataset.settings.filter(key=key)).select("run_id", "origin")
    values = settings.known(
        replace(known.dataset, settings=known.dataset.settings.filter(pl.col("origin") != "stated"))
    )
    values = values.filter(key=key).select("run_id", setting="value").join(origins, on="run_id", how="left")
    measured = known.dataset.measurements
    printed = (  # by the figures themselves
        measured.drop_nulls(key)
        .group_by("run_id")
        .agg(printed=pl.col(key).unique().sort().cast(pl.String).str.join(" | "))
        if key in _OF_FIGURES
        else measured.select("run_id", printed=pl.lit(None, pl.String)).clear()
    )
    return (
        known.cells.select("run_id", "tool", "pattern", "block_size", "host", "filesystem")
        .unique(maintain_order=True)
        .join(values, on="run_id", how="left", maintain_order="left")
        .join(printed, on="run_id", how="left", maintain_order="left")
        .with_columns(is_shown=pl.col("setting").is_not_null() & ~described.fill_null(value=False))
        .with_columns(
            setting=pl.coalesce("setting", "printed"),
            is_shown=pl.col("is_shown") | pl.col("printed").is_not_null(),
        )
    )


_OF_FIGURES: Final = ("block_size", "file_size", "threads")


def _is_setting(value: str, claim: ClaimFacts) -> bool:
    """Compare a setting with the stated one: as a number where both are, else as text."""
    size = str(claim.size)
    if not value.isdecimal():
        return value == _TRUTH.get(size.lower(), size)
    unit = "B" if size[-1:] == "B" else "s" if size[-1:] == "s" else "1"
    return stated(claim, unit).has(float(value))


def _readable(value: str) -> str:
    """Write a setting for people; whole numbers above a few thousands are bytes."""
    return humanise(int(value), "B") if value.isdecimal() and int(value) >= _BYTES else value


# ---- what two groups show


def _comparisons(cells: Sequence[Cell], known: Known) -> list[Mapping[str, Any] | None]:
    """Compare the groups of all cells that have both: those of the same runs by themselves, run by run."""
    found: list[Mapping[str, Any] | None] = [None] * len(cells)
    for within in (False, True):
        chosen = [
            number
            for number, cell in enumerate(cells)
            if cell.of.runs and cell.than.runs and cell.is_within_runs == within
        ]
        pairs = [
            tuple(
                _named(rows, figure.name, within=within)
                for rows, figure in (
                    (cells[number].than_rows, cells[number].than),
                    (cells[number].of_rows, cells[number].of),
                )
            )
            for number in chosen
        ]
        if pairs:
            rows = compare_groups(pairs, known.evidence, within_runs=within).rows(named=True)
            for number, row in zip(chosen, rows, strict=True):
                found[number] = row
    return found


def _named(rows: pl.DataFrame, name: str, *, within: bool) -> pl.DataFrame:
    """Give a group its name; the figures of a run are a round of their own."""
    named = rows.with_columns(level=pl.lit(name))
    if within:
        named = named.with_columns(
            host=pl.lit(None, pl.String), round=pl.col("run_id").rank("dense").cast(pl.Int64)
        )
    return named


def _order(cell: Cell, row: Mapping[str, Any] | None) -> Order | None:
    """Tell which group is the greater one: by the interval where there is one, else by the prints."""
    if row is None or row["ci_low"] is None:
        return order(cell.of, cell.than)
    if row["verdict"] in ("equivalent", "inconclusive") or row["ci_low"] <= 1 <= row["ci_high"]:
        return "undecided"
    return "greater" if row["ratio"] > 1 else "less"


def _agreement(found: Order | None, said: Order) -> Direction | None:
    if found is None or found == "undecided":
        return found
    return "as said" if found == said else "the contrary"


def _within_limit(found: Figure, counts: Stated) -> Direction:
    """Tell whether a figure keeps within a limit, or could by its digits."""
    told = (found.low, found.high) if found.value is None else (found.value,)
    if all(size is not None and counts.has(size) for size in told):
        return "as said"
    return "undecided" if counts.may_be(found.low, found.high) else "the contrary"


def _size(found: Figure, counts: Stated, basis: Basis, *, neutral: float = 0) -> Size:
    """Tell how a computed size stands to the stated one: it is understated where the effect is larger."""
    told = (found.low, found.high) if found.value is None else (found.value,)
    if all(size is not None and counts.has(size) for size in told):
        return "reproduces"
    if (found.low is not None or found.high is not None) and counts.may_be(found.low, found.high):
        return "within rounding" if basis == "prints" else "within the interval"
    values = [end for end in (found.value, found.low, found.high) if end is not None]
    above = bool(values) and values[0] > counts.middle
    return "understated" if above == (counts.middle >= neutral) else "overstated"


# ---- figures for people


def _shown(found: Figure, metric: str) -> str:
    if found.value is not None:
        return _value(found.value, metric)
    match found.low, found.high:
        case float(low), None:
            return f"at least {_value(low, metric)}"
        case None, float(high):
            return f"at most {_value(high, metric)}"
        case float(low), float(high):
            return f"{_value(low, metric)} to {_value(high, metric)}"
    return "nothing"


def metric_of(claim: ClaimFacts) -> str:
    """Return the metric that a claim's figures are of; those that are a ratio of two are of none."""
    return "" if claim.over == "ratio" else str(claim.metric)


_SHARES: Final = ("cpu", "capacity", "capacity_change")


def _value(value: float, metric: str) -> str:
    if not metric:
        return f"{value:.3g}"
    if metric in _SHARES:
        return f"{100 * value:.4g} %"
    text = humanise(value, METRICS[metric].unit)
    return f"{text.removesuffix('/s')} IOPS" if metric == "iops" else text
