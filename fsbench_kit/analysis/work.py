"""Distinguishes runs by their work: by every setting of it that is neither a column of a cell nor the factor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import polars as pl

from fsbench_kit.model.vocabulary import ASKED, FOLLOWS, setting_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Work: TypeAlias = tuple[str | None, ...]
"""The values of the settings in which runs differ."""


def work_of(runs: pl.DataFrame, settings: pl.DataFrame, alike: Sequence[str], factor: str) -> pl.Series:
    """Return for each run, as text, the settings in which its work differs from that of others, or null.

    Work that only one level did is matched with the most similar work of the others, so that the difference
    between them is reported as one of the groups instead of making another cell.

    Parameters
    ----------
    runs
        With ``level``, and ``workload``, the name that a plan gave the work, if any.
    settings
        The result of `fsbench_kit.analysis.settings.effective`.
    alike
        Columns of ``runs`` that are also part of a cell.
    factor
        The factor; neither it nor what follows from it is a difference of the work.
    """
    kinds = {key: setting_kind(key) for key in settings["key"].unique()}
    own = {factor, f"{ASKED}{factor}", *FOLLOWS.get(factor, ()), *alike}
    keys = [key for key, kind in kinds.items() if kind == "workload" and key not in own]
    is_named = factor != _NAME and runs["workload"].count() > 0
    if not keys and not is_named:
        return pl.Series("work", [None] * runs.height, dtype=pl.String)
    named = runs.select("run_id", key=pl.lit(_NAME), value="workload").drop_nulls().filter(pl.lit(is_named))
    known = pl.concat([settings.filter(pl.col("key").is_in(keys)).select(named.columns), named])
    cells = runs.select("run_id", "level", cell=pl.struct(alike).rank("dense")).drop_nulls("level")
    values = pl.col("value").n_unique()
    varied = known.join(cells, on="run_id").filter(
        values.over("cell", "key") > 1,
        # values that no two runs share identify runs, not workloads
        (values.over("cell", "key") < pl.len().over("cell", "key")) | (pl.len().over("cell", "key") < _FEWEST),
    )
    texts: dict[str, str] = {}
    for _, rows in varied.group_by("cell", maintain_order=True):
        texts |= _texts(rows)
    return pl.Series("work", [texts.get(run) for run in runs["run_id"]], dtype=pl.String)


_NAME: Final = "workload"
_FEWEST: Final = 3
"""The number of runs from which on it is significant that each has a value of its own."""


def _texts(rows: pl.DataFrame) -> dict[str, str]:
    """Describe the work of each run by the settings in which the cells of these runs differ."""
    keys = sorted(set(rows["key"]), key=lambda key: (key == _NAME, key))
    values: dict[str, dict[str, str]] = {}
    level_of = {}
    for run, level, key, value in rows.select("run_id", "level", "key", "value").rows():
        values.setdefault(run, {})[key] = value
        level_of[run] = level
    works = {run: tuple(known.get(key) for key in keys) for run, known in values.items()}
    done: dict[str, dict[Work, None]] = {}
    for run, work in works.items():
        done.setdefault(level_of[run], {})[work] = None
    # the level with the most kinds of work has a partner for those of all others
    first = max(sorted(done), key=lambda level: len(done[level]))
    partner = {level: _partners(own, done[first]) for level, own in done.items()}
    cell_of = {run: partner[level_of[run]][work] for run, work in works.items()}
    kinds = set(cell_of.values())
    telling = [place for place in range(len(keys)) if len({kind[place] for kind in kinds}) > 1]
    if (
        len(telling) > 1
        and keys[telling[-1]] == _NAME
        and len({_only(kind, telling[:-1]) for kind in kinds}) == len(kinds)
    ):
        del telling[-1]
    return {
        run: ", ".join(f"{keys[place].removeprefix(ASKED)} {kind[place] or 'not known'}" for place in telling)
        for run, kind in cell_of.items()
        if telling
    }


def _partners(own: Iterable[Work], others: Iterable[Work]) -> dict[Work, Work]:
    """Return for each kind of work the same one of the others, or else the one with the most equal settings."""
    own, others = list(own), list(others)
    free = [work for work in others if work not in own]
    return {
        work: work if work in others or not free else max(free, key=lambda other: _equal(work, other))
        for work in own
    }


def _equal(one: Work, other: Work) -> int:
    return sum(x == y and x is not None for x, y in zip(one, other, strict=True))


def _only(work: Work, places: Iterable[int]) -> Work:
    return tuple(work[place] for place in places)
