"""The relation about how runs were made."""
# ruff: noqa: ARG002, D102  # methods of the base are documented there, and not every relation uses every argument

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.analysis.settings import NOT_KNOWN
from fsbench_kit.claims.figures import cell_name, each, only
from fsbench_kit.claims.relations.base import Direction, Finding, Known, Relation
from fsbench_kit.claims.sizes import Stated, stated
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.data.study import ClaimFacts


class Setting(Relation, name="setting"):
    """All runs have the setting `setting` with the value `size`, or with one value where there is no `size`."""

    needs = ("setting",)
    of_settings = True

    def stated(self, claim: ClaimFacts) -> Stated | None:
        return None

    def findings(self, claim: ClaimFacts, known: Known) -> Iterator[Finding]:
        """Look up the settings of runs. Settings that only the article states are no evidence for what it says."""
        runs = _with_setting(known, str(claim.setting))
        if claim.setting in _HARDWARE:  # devices of the same name in different hosts are different
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

    def describe(self, claim: ClaimFacts, finding: Finding) -> str:
        setting = str(claim.setting)
        plain = f"the option {setting.replace('.', ' ')}" if "." in setting else f"the {setting.replace('_', ' ')}"
        name = _SETTINGS.get(setting, plain)
        if not finding.setting:
            return f"no log states {name}"
        is_switch = finding.setting.startswith(("yes", "no "))
        return f"{name}: {finding.setting}" if is_switch else f"{name} is {finding.setting}"

    def _finding(self, claim: ClaimFacts, cell: pl.DataFrame, name: str) -> Finding:
        by_filesystem = cell.group_by("filesystem", maintain_order=True).agg(
            pl.col("setting").unique(maintain_order=True)
        )
        on: dict[str, list[str]] = {}
        for filesystem, values in by_filesystem.rows():
            text = " and ".join(
                NOT_KNOWN if value is None else _readable(value, str(claim.setting)) for value in values
            )
            on.setdefault(text, []).append(str(filesystem))
        words = ", ".join(f"{text} on {' and '.join(filesystems)}" for text, filesystems in on.items())
        if len(on) == 1 and by_filesystem.height > 1:
            words = f"{next(iter(on))} on all"
        shown = cell.drop_nulls("setting")
        values = set(shown["setting"])
        agree = len(values) <= 1 if claim.size is None else all(_is_setting(value, claim) for value in values)
        direction: Direction | None = "the contrary"
        if agree:
            words += " by the study's description alone" if values and not shown["is_shown"].any() else ""
            is_known = cell["is_shown"].all() and not cell.is_empty()
            direction = "as said" if is_known else "undecided" if shown["is_shown"].any() else None
        return Finding(
            cell=name, direction=direction, setting=words if values else "", runs=frozenset(cell["run_id"])
        )


_HARDWARE: Final = ("device", "disks", "log_device", "cache_device")

_SETTINGS: Final = {
    "direct": "direct I/O",
    "disks": "the disk",
    "files": "the number of files",
    "threads": "the number of threads",
}

_BYTES: Final = 2**20

_BYTES_OF: Final = ("block_size", "file_size", "total_size", "memory", "memory_limit")

_TRUTH: Final = {**dict.fromkeys(("true", "yes", "on"), "true"), **dict.fromkeys(("false", "no", "off"), "false")}


def _with_setting(known: Known, key: str) -> pl.DataFrame:
    """Return the runs with a setting, and whether it is documented by more than a description."""
    described = pl.col("origin").is_in(["study", "stated"])
    origins = settings.effective(known.dataset.settings.filter(key=key)).select("run_id", "origin")
    values = settings.known(
        replace(known.dataset, settings=known.dataset.settings.filter(pl.col("origin") != "stated"))
    )
    values = values.filter(key=key).select("run_id", setting="value").join(origins, on="run_id", how="left")
    measured = known.dataset.measurements
    printed = (  # from the figures themselves
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
    """Return whether a setting is the stated one, comparing numbers as such and everything else as text."""
    size = str(claim.size)
    if not value.isdecimal():
        return value == _TRUTH.get(size.lower(), size)
    unit = "B" if size[-1:] == "B" else "s" if size[-1:] == "s" else "1"
    return stated(claim, unit).has(float(value))


def in_words(value: str) -> str:
    """Write true and false as yes and no."""
    return {"true": "yes", "false": "no"}.get(value, value)


def _readable(value: str, key: str) -> str:
    """Format a setting for readers; integers are bytes if they are sizes or large."""
    if value.isdecimal() and (key in _BYTES_OF or int(value) >= _BYTES):
        return humanise(int(value), "B")
    return in_words(value)
