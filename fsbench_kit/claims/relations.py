"""What a claim can say: one class for each relation, which states all about it.

To add a relation, add a class here. Its ``name`` is what ``study.toml`` calls it, its docstring is what
``docs/claims.md`` says of it, `needs` names the keys without which it cannot be checked, `checks` checks it, and
`found` says what was found.
"""
# ruff: noqa: ARG002, D102  # methods of the base are documented there, and not every relation uses every argument

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.analysis.settings import NOT_KNOWN
from fsbench_kit.claims.figures import (
    Band,
    Check,
    Figure,
    Outcome,
    cell_name,
    each,
    figure,
    only,
    order,
    others,
    pairs,
    stated_band,
    stated_size,
    within,
)
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.claims.figures import Chosen
    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.data.study import ClaimFacts

RELATIONS: Final[dict[str, Relation]] = {}
"""Each relation by its name."""


class Relation(ABC):
    """What a claim can say.

    Attributes
    ----------
    needs
        The keys that a claim must have, besides ``id``, ``says`` and ``relation``.
    compares
        Whether it sets two groups side by side, so that chance could explain what it says.
    of_settings
        Whether it is about how runs were made, which the logs state, and not about figures.
    limit
        What stands before the stated size, for people.
    """

    needs: ClassVar[tuple[str, ...]] = ("metric", "size")
    compares: ClassVar[bool] = False
    of_settings: ClassVar[bool] = False
    limit: ClassVar[str] = ""

    def __init_subclass__(cls, *, name: str | None = None) -> None:
        if name is not None:
            RELATIONS[name] = cls()

    @abstractmethod
    def checks(self, claim: ClaimFacts, figures: pl.DataFrame, dataset: Dataset) -> Iterator[Check]:
        """Check each cell of a claim.

        Parameters
        ----------
        figures
            `fsbench_kit.analysis.settings.cells` of the claim's study, with the filesystem as the factor.
        dataset
            The study's data.
        """

    @abstractmethod
    def found(self, claim: ClaimFacts, check: Check) -> str:
        """Say what was found in a cell."""

    def band(self, claim: ClaimFacts) -> Band:
        """Return what counts as the stated size."""
        return (None, None) if claim.size is None else stated_band(claim)


class _OfFigures(Relation):
    """About the figures of each combination of `where` and `of`."""

    def checks(self, claim: ClaimFacts, figures: pl.DataFrame, dataset: Dataset) -> Iterator[Check]:
        known = figures.filter(
            pl.col("metric") == claim.metric, pl.col("statistic") == claim.statistic, pl.col("state") != "missing"
        ).with_columns(filesystem=pl.col("level"))
        for where in each(claim.where):
            for of in each(claim.of):
                yield from self.in_cell(claim, known, where, of)

    @abstractmethod
    def in_cell(self, claim: ClaimFacts, figures: pl.DataFrame, where: Chosen, of: Chosen) -> Iterator[Check]:
        """Check one combination, among all figures of the metric."""

    def found(self, claim: ClaimFacts, check: Check) -> str:
        """Say what was found in a cell, with its figures."""
        if check.of is None:
            return "no figure is printed"
        metric = str(claim.metric)
        text = f"{check.of.name} {_shown(check.of, metric)}"
        if check.than is not None:
            text += f" against {check.than.name} {_shown(check.than, metric)}"
        computed = self.computed_text(claim, check)
        return f"{text}, {computed}" if computed else text

    def computed_text(self, claim: ClaimFacts, check: Check) -> str:
        """Say what the figures give, where they do not say it themselves."""
        return ""


class _OfOne(_OfFigures):
    """About figures by themselves."""

    def in_cell(self, claim: ClaimFacts, figures: pl.DataFrame, where: Chosen, of: Chosen) -> Iterator[Check]:
        rows = only(only(figures, where), of)
        if rows.is_empty():
            yield Check(cell_name(where) or cell_name(of), "not computable")
        for row in rows.iter_rows(named=True):
            found = figure([row], cell_name(of))
            outcome = within(found, self.band(claim), closed=True)
            yield Check(cell_name(where, row), outcome, of=found, computed=found)


class Value(_OfOne, name="value"):
    """The figures of `of` are `size`."""


class AtMost(_OfOne, name="at_most"):
    """The figures of `of` are at most `size`."""

    limit = "at most "

    def band(self, claim: ClaimFacts) -> Band:
        return None, stated_size(claim.size).value


class AtLeast(_OfOne, name="at_least"):
    """The figures of `of` are at least `size`."""

    limit = "at least "

    def band(self, claim: ClaimFacts) -> Band:
        return stated_size(claim.size).value, None


class _OfTwo(_OfFigures):
    """About the figures of two groups, equal in all but what tells the groups apart."""

    compares = True
    falls: ClassVar[bool] = False
    """Whether what is computed falls where the first figure rises."""

    def in_cell(self, claim: ClaimFacts, figures: pl.DataFrame, where: Chosen, of: Chosen) -> Iterator[Check]:
        cell = only(figures, where)
        for than in each(claim.than) if claim.than else others(figures, claim.of):
            found = list(pairs(cell, of, than))
            if not found:
                yield Check(cell_name(where) or f"{cell_name(of)} against {cell_name(than)}", "not computable")
            for a, b, row in found:
                computed = self.computed(a, b)
                outcome = self.outcome(claim, a, b, computed)
                at = (
                    where
                    if "filesystem" in of.keys() | than.keys()
                    else {**where, "filesystem": row["filesystem"]}
                )
                remark = self.remark(claim, computed) if outcome == "contradicted" else ""
                yield Check(cell_name(at, row), outcome, of=a, than=b, computed=computed, remark=remark)

    def computed(self, a: Figure, b: Figure) -> Figure:
        """Return what two figures give, with what their rounding allows."""

        def give(x: float | None, y: float | None) -> float | None:
            return None if x is None or y is None else self.give(x, y)

        low, high = give(a.low, b.high), give(a.high, b.low)
        return Figure(give(a.value, b.value), *((high, low) if self.falls else (low, high)), "", a.runs | b.runs)

    def give(self, x: float, y: float) -> float | None:
        """Compute one number of two; by default their ratio."""
        return x / y if y else None

    def outcome(self, claim: ClaimFacts, a: Figure, b: Figure, computed: Figure) -> Outcome:
        """Tell whether the figures say the same as the claim."""
        return within(computed, self.band(claim))

    def remark(self, claim: ClaimFacts, computed: Figure) -> str:
        """Name a mistake that would explain a claim that the figures contradict."""
        return ""

    def computed_text(self, claim: ClaimFacts, check: Check) -> str:
        found = check.computed
        if found is None:
            return ""
        text = self.size_text(found.value, str(claim.metric))
        if check.outcome != "within rounding":
            return text
        low, high = (self.size_text(end, str(claim.metric)) for end in (found.low, found.high))
        return f"{text}, or {low} to {high} by rounding"

    def size_text(self, value: float | None, metric: str) -> str:
        """Print what was computed."""
        return "" if value is None else f"{value:.3g} times"


class Ratio(_OfTwo, name="ratio"):
    """The figures of `of` are `size` times those of `than`."""


class Difference(_OfTwo, name="difference"):
    """The figures of `of` are greater than those of `than` by `size`."""

    def give(self, x: float, y: float) -> float | None:
        return x - y

    def size_text(self, value: float | None, metric: str) -> str:
        return "" if value is None else f"a difference of {_value(value, metric)}"


class PercentLess(_OfTwo, name="percent_less"):
    """The figures of `of` are less than those of `than` by `size` of the latter."""

    falls = True

    def give(self, x: float, y: float) -> float | None:
        return 1 - x / y if y else None

    def remark(self, claim: ClaimFacts, computed: Figure) -> str:
        low, high = stated_band(claim)
        share = computed.value
        if share is not None and low <= 1 - share < high:
            return f"The one figure is {claim.size} of the other, not {claim.size} less."
        if share is not None and low <= share / (1 - share) < high:
            return f"The other figure is {claim.size} more than the one, so the one is not {claim.size} less."
        return ""

    def size_text(self, value: float | None, metric: str) -> str:
        return "" if value is None else f"{100 * value:.1f} % less"


class Greater(_OfTwo, name="greater"):
    """The figures of `of` are greater than those of `than`."""

    needs = ("metric",)

    def outcome(self, claim: ClaimFacts, a: Figure, b: Figure, computed: Figure) -> Outcome:
        return order(a, b)

    def computed_text(self, claim: ClaimFacts, check: Check) -> str:
        return ""


class Less(Greater, name="less"):
    """The figures of `of` are less than those of `than`."""

    def outcome(self, claim: ClaimFacts, a: Figure, b: Figure, computed: Figure) -> Outcome:
        return super().outcome(claim, b, a, computed)


class Rank(_OfFigures, name="rank"):
    """The figures of `of` take place `size` among all filesystems; the best takes 1."""

    def band(self, claim: ClaimFacts) -> Band:
        return None, None

    def in_cell(self, claim: ClaimFacts, figures: pl.DataFrame, where: Chosen, of: Chosen) -> Iterator[Check]:
        """Count those that are better; where the print leaves the order open, count both ways."""
        cell = only(figures, where)
        own = only(cell, of)
        rivals = [group for (level,), group in cell.group_by("filesystem") if level != of.get("filesystem")]
        if own.height != 1 or not rivals or any(group.height != 1 for group in rivals):
            yield Check(cell_name({**where, **of}), "not computable")
            return
        found = figure(own.to_dicts(), cell_name(of))
        better = METRICS[str(claim.metric)].better
        orders = []
        for group in rivals:
            rival = figure(group.to_dicts(), "")
            orders.append(order(rival, found) if better == "higher" else order(found, rival))
        least = 1 + orders.count("holds")
        most = least + orders.count("within rounding")
        stated = stated_size(claim.size).value
        outcome: Outcome = "holds" if least == most == stated else "contradicted"
        if least < most and least <= stated <= most:
            outcome = "within rounding"
        rank = Figure(least, least, most, "", frozenset(cell["run_id"]))
        yield Check(cell_name(where), outcome, of=found, computed=rank)

    def computed_text(self, claim: ClaimFacts, check: Check) -> str:
        rank = check.computed
        if rank is None or rank.low is None or rank.high is None:
            return ""
        return f"place {rank.low:.0f}" if rank.low == rank.high else f"place {rank.low:.0f} or {rank.high:.0f}"


class Setting(Relation, name="setting"):
    """All runs have the setting `setting` with the value `size`, or with one value where there is no `size`."""

    needs = ("setting",)
    of_settings = True

    def band(self, claim: ClaimFacts) -> Band:
        return None, None

    def checks(self, claim: ClaimFacts, figures: pl.DataFrame, dataset: Dataset) -> Iterator[Check]:
        """Look up the settings of runs. What the article states proves nothing of what it says."""
        shown = replace(dataset, settings=dataset.settings.filter(pl.col("origin") != "stated"))
        known = settings.known(shown).filter(key=claim.setting).select("run_id", setting="value")
        runs = (
            figures.select("run_id", "tool", "pattern", "block_size", "host", filesystem="level")
            .unique(maintain_order=True)
            .join(known, on="run_id", how="left", maintain_order="left")
        )
        if claim.setting in _HARDWARE:  # a device of the same name in another host is another one
            in_host = pl.concat_str("setting", pl.lit(" in "), "host").fill_null(pl.col("setting"))
            runs = runs.with_columns(setting=in_host)
        for where in each(claim.where):
            chosen = only(runs, where)
            if claim.size is not None:
                yield self._check(claim, chosen, cell_name(where))
                continue
            for (_, pattern), group in chosen.group_by("tool", "pattern", maintain_order=True):
                if group["filesystem"].n_unique() > 1:
                    at = where if pattern is None else {**where, "pattern": pattern}
                    yield self._check(claim, group, cell_name(at))

    def found(self, claim: ClaimFacts, check: Check) -> str:
        setting = str(claim.setting)
        return f"{_SETTINGS.get(setting, setting.replace('_', ' '))} is {check.setting}"

    def _check(self, claim: ClaimFacts, cell: pl.DataFrame, name: str) -> Check:
        by_filesystem = cell.group_by("filesystem", maintain_order=True).agg(
            pl.col("setting").unique(maintain_order=True)
        )
        on: dict[str, list[str]] = {}
        for filesystem, values in by_filesystem.rows():
            text = " and ".join(NOT_KNOWN if value is None else _readable(value) for value in values)
            on.setdefault(text, []).append(filesystem)
        told = ", ".join(f"{text} on {' and '.join(filesystems)}" for text, filesystems in on.items())
        if len(on) == 1 and by_filesystem.height > 1:
            told = f"{next(iter(on))} on all"
        values = set(cell["setting"]) - {None}
        agree = len(values) <= 1 if claim.size is None else all(_is_setting(value, claim) for value in values)
        outcome: Outcome = "contradicted"
        if agree:
            outcome = "not computable" if cell["setting"].null_count() or cell.is_empty() else "holds"
        return Check(name, outcome, runs=frozenset(cell["run_id"]), setting=told)


_HARDWARE: Final = ("device", "disks", "log_device", "cache_device")
_SETTINGS: Final = {"direct": "direct I/O", "disks": "the disk"}
_BYTES: Final = 2**20


def _is_setting(value: str, claim: ClaimFacts) -> bool:
    """Compare a setting with the stated one: as a number where both are, else as text."""
    if not value.isdecimal():
        return value == claim.size
    low, high = stated_band(claim)
    return low <= float(value) < high


def _readable(value: str) -> str:
    """Write a setting for people; whole numbers above a few thousands are bytes."""
    return humanise(int(value), "B") if value.isdecimal() and int(value) >= _BYTES else value


# ---- figures for people


def _shown(found: Figure, metric: str) -> str:
    if found.value is not None:
        return _value(found.value, metric)
    return " to ".join(_value(end, metric) for end in (found.low, found.high) if end is not None)


_SHARES: Final = ("cpu", "capacity", "capacity_change")


def _value(value: float, metric: str) -> str:
    if metric in _SHARES:
        return f"{100 * value:.4g} %"
    text = humanise(value, METRICS[metric].unit)
    return f"{text.removesuffix('/s')} IOPS" if metric == "iops" else text
