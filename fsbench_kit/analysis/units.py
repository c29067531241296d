"""Determines the unit of inference: hosts, the boots and launches on a host, the rounds of a launch, or runs.

In a unit that has both groups, their comparison is free of what is specific to the unit. The spread of five or
more hosts or launches shows what another one would give: the interval is a t over them, for units like these. Two
to four are strata: the groups are compared within each, for these units only. Below them, rounds are pairs or
blocks if that keeps most of the runs; otherwise the runs of both groups are independent. If no launch has both
groups, whatever is specific to a boot (or else a launch) affects all of its runs: it is then the unit, and counts
once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import polars as pl

from fsbench_kit.analysis.groups import ROLES
from fsbench_kit.analysis.parts import Parts, have_both, numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.stats.result import Bools, Ints

Method = Literal["runs", "rounds", "units", "means", "values", "strata", "strata of rounds"]

MANY: Final = 5
"""The number of hosts or launches from which on their spread is representative of others."""

_KEPT: Final = 0.8
"""The smallest share of runs that pairing must keep."""

_BOTH: Final = pl.col("role").n_unique() == 2


@dataclass(frozen=True, slots=True)
class Plan:
    """How the runs of each pair of groups are compared, if not simply as two independent groups of all runs.

    Attributes
    ----------
    runs
        Columns ``pair``, ``role``, ``run_id``, ``method``, ``unit`` (a host or launch, or a stratum) and ``block``
        (a round). Runs that are left out have no row.
    notes
        Columns ``pair`` and ``text``: what was chosen, and why.
    """

    runs: pl.DataFrame
    notes: pl.DataFrame


NO_PLAN: Final = Plan(
    pl.DataFrame(
        schema={"pair": pl.Int64, "role": pl.Int32, "run_id": pl.String, "method": pl.String}
        | {"unit": pl.String, "block": pl.UInt32}
    ),
    pl.DataFrame(schema={"pair": pl.Int64, "text": pl.String}),
)
"""The plan for runs of one launch without rounds."""


def in_units(members: pl.DataFrame) -> pl.DataFrame:
    """Return the runs on hosts that ran both groups, each with the unit within which it is compared.

    Parameters
    ----------
    members
        Columns ``pair``, ``role``, ``run_id``, ``host``, ``launch``, ``date``, ``boot`` and ``round``.

    Returns
    -------
    pl.DataFrame
        The same with ``hosts`` and ``launches``, the numbers of those that ran both groups; ``unit``, null if
        there is only one; ``alone``, whether the run's launch is left out; and ``all``, the pair's original number
        of runs. ``boot`` is null unless every boot is known and none ran both groups, ``date`` unless every date
        is known.
    """
    pair, role, host = members["pair"].to_numpy(), members["role"].to_numpy(), numbered(members["host"])
    shared, hosts = _shared(pair, role, host)  # an unknown host counts as one, too
    pairs = Parts(pair)
    of_hosts = members.hstack([pl.Series("all", pairs.size[pairs.of]), pl.Series("hosts", hosts)])
    takes_part = shared | (hosts == 0)
    kept = of_hosts if takes_part.all() else of_hosts.filter(takes_part)

    pair, role = kept["pair"].to_numpy(), kept["role"].to_numpy()
    launch, boot = (numbered(kept[name]) for name in ("launch", "boot"))
    shared, launches = _shared(pair, role, launch)
    pairs, hosts = Parts(pair), kept["hosts"].to_numpy()
    whole = pairs.count(shared) >= _KEPT * pairs.size
    own_boots = pairs.all((boot >= 0) & ~have_both(role, pair, boot))[pairs.of]
    dated = pairs.all(numbered(kept["date"]) >= 0)[pairs.of]
    within = (launches > 0) & ((hosts < 2) | (whole[pairs.of] & (hosts < MANY)))
    in_launches = within & (launches > hosts) & (launches > 1)
    date = pl.when(pl.Series(dated)).then("date")
    return kept.with_columns_seq(
        launches=pl.Series(launches),
        boot=pl.when(pl.Series(own_boots)).then("boot"),
        date=date,
        alone=pl.Series(within & ~shared),
        unit=pl.when(pl.Series(in_launches))
        .then(_launch(date))
        .when(pl.Series(hosts > 1))
        .then(pl.format("host {}", pl.col("host").fill_null("not known"))),
    )


def _launch(date: pl.Expr) -> pl.Expr:
    """Name a launch as a unit: a date if launches are only distinguished by dates."""
    return pl.format("{} {}", pl.when(date.is_null()).then(pl.lit("launch")).otherwise(pl.lit("date")), "launch")


def _shared(pair: Ints, role: Ints, of: Ints) -> tuple[Bools, Ints]:
    """Return for each run whether both groups have one in its host or launch, and how many of these the pair has.

    The number is 0 if they would leave too few runs of a group.
    """
    shared, pairs, parts = have_both(role, pair, of), Parts(pair), Parts(pair, of)
    number = np.bincount(pairs.of[parts.first][shared[parts.first]], minlength=pairs.first.size)
    enough = [
        pairs.count(shared & (role == own)) >= np.minimum(pairs.count(role == own), 2) for own in range(len(ROLES))
    ]
    return shared, np.where(np.all(enough, axis=0), number, 0)[pairs.of]


def plan(units: pl.DataFrame, strata: pl.DataFrame) -> Plan:
    """Decide how the runs of each pair of groups are compared.

    Parameters
    ----------
    units
        The result of `in_units`.
    strata
        Columns ``pair``, ``run_id`` and ``stratum``: settings within whose values the groups must be compared.
    """
    runs = units.filter(~pl.col("alone")).join(strata, on=["pair", "run_id"], how="left", maintain_order="left")
    runs = runs.with_columns(
        unit=pl.concat_str("unit", "stratum", separator=", ", ignore_nulls=True).replace("", None),
        paired=pl.col("round").is_not_null() & _BOTH.over("pair", "launch", "round"),
        mean=pl.coalesce(pl.format("boot {}", "boot"), _launch(pl.col("date"))),
    ).with_columns(block=pl.when("paired").then(pl.struct("launch", "round").rank("dense")))
    by_pair = (
        runs.group_by("pair", maintain_order=True)
        .agg(
            *(pl.col(name).first() for name in ("all", "hosts", "launches", "boot", "date")),
            in_units=pl.col("unit").has_nulls().not_(),
            by_setting=pl.col("stratum").has_nulls().not_(),
            few=pl.when(pl.col("hosts").first() > 1).then("hosts").otherwise("launches").first() < MANY,
            runs=pl.len(),
            paired=pl.col("paired").sum(),
            in_rounds=(pl.col("paired").mean() >= _KEPT) & (_rounds() > 1),
            freedom=pl.len() > pl.struct("role", "unit").n_unique(),
            freedom_of_rounds=_rounds() > pl.col("unit").n_unique(),
            **{name: pl.col("mean").filter(pl.col("role") == role).n_unique() for role, name in enumerate(_MEANS)},
        )
        .with_columns(fewest=pl.min_horizontal(_MEANS))
    )
    few, in_units = pl.col("in_units") & pl.col("few"), pl.col("in_units")
    decided = by_pair.with_columns(
        method=pl.when("by_setting")
        .then(pl.lit("values"))
        .when(few & pl.col("in_rounds") & pl.col("freedom_of_rounds"))
        .then(pl.lit("strata of rounds"))
        .when(few & pl.col("freedom"))
        .then(pl.lit("strata"))
        .when(in_units)
        .then(pl.lit("units"))
        .when("in_rounds")
        .then(pl.lit("rounds"))
        .when((pl.col("launches") == 0) & (pl.col("fewest") > 1))
        .then(pl.lit("means"))
        .otherwise(pl.lit("runs"))
    )
    used = runs.join(
        decided.select("pair", "method", all_runs=pl.col("runs") == pl.col("all")),
        on="pair",
        maintain_order="left",
    ).filter(
        ~pl.col("method").is_in(_OF_ROUNDS) | pl.col("paired"), (pl.col("method") != "runs") | ~pl.col("all_runs")
    )
    unit = pl.when(pl.col("method") == "means").then("mean").otherwise("unit")
    notes = pl.concat(_notes(units, decided)).sort("pair", maintain_order=True)
    return Plan(used.select("pair", "role", "run_id", "method", unit.alias("unit"), "block"), notes)


_MEANS: Final = ("means_baseline", "means_candidate")
"""The numbers of boots, or else launches, of each group."""

_OF_ROUNDS: Final = ("rounds", "strata of rounds")


def _rounds() -> pl.Expr:
    return pl.col("block").drop_nulls().n_unique()


def _notes(units: pl.DataFrame, decided: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Describe which runs were left out, what the groups were compared within or over, and what this implies."""
    method, several = pl.col("method"), (pl.col("hosts") > 1) | (pl.col("launches") > 1)
    of_hosts, of_dates = pl.col("hosts") > 1, pl.col("date").is_not_null()
    name, names = (
        pl.when(of_hosts).then(pl.lit(host)).when(of_dates).then(pl.lit(date)).otherwise(pl.lit(launch))
        for host, date, launch in _NAMES
    )
    number = pl.when(of_hosts).then("hosts").otherwise("launches")
    left = units.group_by("pair", maintain_order=True).agg(
        pl.col("alone").sum(), pl.col("date").first(), elsewhere=pl.col("all").first() - pl.len()
    )
    alone = decided.select("pair", "method", alone=pl.col("runs") - pl.col("paired"))
    sentences = [
        (left, pl.col("elsewhere") > 0, _counted("elsewhere", "on a host that ran only one of the groups")),
        *(
            (
                left,
                (pl.col("alone") > 0) & which,
                _counted("alone", f"of a {unit} that had only one of the groups"),
            )
            for which, unit in ((of_dates, "date"), (~of_dates, "launch"))
        ),
        (
            alone,
            method.is_in(_OF_ROUNDS) & (pl.col("alone") > 0),
            _counted("alone", "without a partner in the same round"),
        ),
        (
            decided,
            method.is_in(["values", "strata", "strata of rounds"]) & several,
            pl.format(
                "The groups were compared within each of {} {}: the ratio is that of these {}.",
                number,
                names,
                names,
            ),
        ),
        (
            decided,
            method == "units",
            pl.format("The interval is over {} {}: the {} is the unit.", number, names, name),
        ),
        (
            decided,
            (method == "means") & pl.col("boot").is_null(),
            pl.format("No {} has enough of both groups, so the {} is the unit, and each counts once.", name, name),
        ),
        (
            decided,
            (method == "means") & pl.col("boot").is_not_null(),
            pl.format("No boot of a machine ran both groups, so the boot is the unit: {} against {}.", *_MEANS),
        ),
        (
            decided,
            ~method.is_in(_OF_ROUNDS) & (method != "units") & (pl.col("paired") > 0) & ~pl.col("in_rounds"),
            pl.format(
                "Only {} of {} runs have a partner in their round, so rounds were not paired.", "paired", "runs"
            ),
        ),
        (
            decided,
            (method == "runs") & (pl.col("launches") == 0) & (pl.col("fewest") == 1),
            pl.format(
                "No {} has enough of both groups: whatever else differs between {} is part of the ratio.",
                name,
                names,
            ),
        ),
    ]
    for frame, which, text in sentences:
        yield frame.filter(which).select("pair", text=text)


_NAMES: Final = (("host", "date", "launch"), ("hosts", "dates", "launches"))


def _counted(runs: str, which: str) -> pl.Expr:
    one, several = f"1 run {which} was left out.", f"{{}} runs {which} were left out."
    return pl.when(pl.col(runs) == 1).then(pl.lit(one)).otherwise(pl.format(several, runs))
