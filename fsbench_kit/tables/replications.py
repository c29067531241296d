"""Published ratios next to those of a replication."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.model.units import humanise
from fsbench_kit.tables.cells import cell_label, cell_text, metric_text
from fsbench_kit.tables.layout import Column, Group, Table
from fsbench_kit.tables.messages import NOTHING, Footnotes, interval, one_line, with_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsbench_kit.data.dataset import Dataset


def replication_table(found: pl.DataFrame) -> Table:
    """Make the table of a replication: each published ratio, the replicated one, and how they compare.

    Parameters
    ----------
    found
        What `fsbench_kit.launch.replicate.side_by_side` returned.
    """
    varied = found.select(pl.col(_CELL).n_unique() > 1).row(0, named=True)
    names = [name for name in _CELL if varied[name]]
    same = {name: found[name][0] for name in _CELL if found.height and not varied[name]}
    notes = [
        [
            *(f"Published: {note}" for note in row["published_notes"]),
            *(note if row["ratio"] is None else f"Replication: {note}" for note in row["notes"]),
        ]
        for row in found.iter_rows(named=True)
    ]
    footnotes = Footnotes(notes)
    columns = (
        *(
            Column(name.replace("_", " "), "right" if name in ("block_size", "threads") else "left")
            for name in names
        ),
        Column("ratio of"),
        Column("published [rounding]"),
        Column("replicated [95 % CI]"),
        Column("one more pair of runs"),
        Column("runs", "right"),
        Column("published ratio"),
        Column("notes"),
    )
    groups: dict[str, list[tuple[str, ...]]] = {}
    for row, of_row in zip(found.iter_rows(named=True), notes, strict=True):
        groups.setdefault(metric_text(row["metric"], row["statistic"]), []).append(
            (
                *(cell_text(name, row[name]) or NOTHING for name in names),
                one_line(f"{row['level']} to {row['baseline']}"),
                with_interval(row["published_ratio"], row["published_low"], row["published_high"]),
                with_interval(row["ratio"], row["ci_low"], row["ci_high"]),
                NOTHING
                if row["prediction_low"] is None
                else interval(row["prediction_low"], row["prediction_high"]),
                NOTHING if row["ratio"] is None else f"{row['n_baseline']} and {row['n_candidate']}",
                _FINDINGS[row["finding"]][0],
                footnotes.marks(of_row),
            )
        )
    caption = f"Published and replicated ratios ({cell_label(same, list(same))})"
    return Table(
        caption if groups else NO_RATIO,
        columns,
        tuple(Group(head, tuple(rows)) for head, rows in groups.items()),
        footnotes.texts,
    )


def reproduced_sentence(counts: Mapping[str, int]) -> str:
    """Say what became of published effects: of how many the direction came out again, and of how many the size.

    Parameters
    ----------
    counts
        The row that `fsbench_kit.launch.replicate.reproduced` returned.
    """
    run, effects = counts["run"], counts["effects"]
    if not run:
        return f"None of {effects} published effects was run again."
    some = f"Of {effects} published effects, {run}" if run < effects else f"All {effects} published effects"
    return (
        f"{some} were run again: {counts['same']} go in the published direction, {counts['opposite']} in the "
        f"other, {counts['no difference']} show no difference, {counts['open']} are left open, and "
        f"{counts['not comparable']} cannot be compared. In {counts['size']}, the published size is what one "
        "more pair of runs would give. This neither confirms nor refutes the study: the machine, the "
        "versions and the sizes differ."
    )


NO_RATIO: Final = "No ratio is known from both the study and its replication."
_CELL: Final = ("tool", "pattern", "operation", "block_size", "threads")


def differences_table(found: pl.DataFrame) -> Table:
    """Make the table of what differed between a study and its replication.

    Parameters
    ----------
    found
        What `fsbench_kit.launch.replicate.differences` returned.
    """
    columns = tuple(map(Column, ("setting", "filesystem", "in the study", "in the replication")))
    groups = tuple(
        Group(
            _KINDS[str(kind)],
            tuple(
                (
                    row["setting"].replace("_", " "),
                    row["filesystem"] or "all",
                    *(_setting(row["setting"], row[origin]) for origin in ("published", "replicated")),
                )
                for row in rows.iter_rows(named=True)
            ),
        )
        for (kind,), rows in found.group_by("kind", maintain_order=True)
    )
    return Table("What was different" if groups else "No known setting was different.", columns, groups)


_KINDS: Final = {"workload": "The workload", "system": "The machine", "target": "The filesystem"}


def _setting(key: str, value: str) -> str:
    return humanise(int(value), "B") if key.endswith("_size") and value.isdecimal() else one_line(value)


_FINDINGS: Final = {
    "inside": ("inside", "lies where one more pair of runs is to be expected"),
    "inside, as 1": (
        "inside; no difference shown",
        "lies where one more pair of runs is to be expected, and the replication shows no difference",
    ),
    "same direction": (
        "outside, same side of 1",
        "lies outside of what one more pair of runs would give, on the same side of 1",
    ),
    "other direction": (
        "outside, other side of 1",
        "lies outside of what one more pair of runs would give, on the other side of 1",
    ),
    "open": (
        "outside; no difference shown",
        "lies outside of what one more pair of runs would give, and the replication shows no difference",
    ),
    "no interval": ("no interval", "has no interval to compare with"),
    "not run": ("not run again", "was not run again"),
}
"""Where a published ratio lies, as a cell of a table and in a sentence."""


def replication_finding(finding: str) -> str:
    """Say where a published ratio lies, after ``the published ratio``."""
    return _FINDINGS[finding][1]


def replication_place(replicated: Dataset, *, here: bool) -> str:
    """Say where and when a study was run again.

    Parameters
    ----------
    replicated
        The runs.
    here
        Whether they have just been made on this machine.
    """
    hosts = ", ".join(map(one_line, replicated.runs["host"].drop_nulls().unique().sort()))
    day = replicated.runs["started_at"].min()
    when = f" on {day:%Y-%m-%d}" if isinstance(day, datetime) else ""
    if here:
        return f"Run on this machine{when}."
    return f"Not run on this machine: recorded{f' on the host {hosts}' if hosts else ''}{when}."
