"""Published ratios next to those of a replication."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.analysis.verdict import REASONS, codes
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import setting_texts
from fsbench_kit.tables.cells import cell_label, cell_text, metric_text
from fsbench_kit.tables.layout import Column, Group, Table
from fsbench_kit.tables.messages import NOTHING, Footnotes, counted, interval, one_line, with_interval
from fsbench_kit.tables.verdicts import names_operation, replicated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fsbench_kit.data.dataset import Dataset

_SETTINGS: Final = ("pattern", "block_size", "file_size", "threads", "iodepth")
_CELL: Final = ("tool", "pattern", "operation", "block_size", "file_size", "threads", "iodepth")
NO_RATIO: Final = "No ratio is known from both the study and its replication."


def replication_table(found: pl.DataFrame) -> Table:
    """Make the table of a replication: each published effect, the replicated one, and how they compare.

    Parameters
    ----------
    found
        What `fsbench_kit.launch.replicate.side_by_side` returned.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.launch.replicate import side_by_side
    >>> published = fsb.read("raw_results/published/fio-nvme-2021")
    >>> again = fsb.read("raw_results/replicated/fio-nvme-2021-again")
    >>> [column.head for column in replication_table(side_by_side(published, again)).columns][2:]
    ['one more like the published', 'direction', 'size', 'notes']
    """
    effects = found.filter("stands_for_effect").with_columns(
        _pair("level", "baseline", "\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}").alias("ratio of"),
        _pair("n_candidate", "n_baseline", " and ").alias("runs"),
    )
    names = varying_in_replication(effects)
    varying_facts = [name for name in ("ratio of", "runs") if effects[name].drop_nulls().n_unique() > 1]
    rows = sorted(effects.iter_rows(named=True), key=lambda row: row["direction"] == _NOT_RUN)
    notes = [list(_notes(row)) for row in rows]
    footnotes = Footnotes(notes)
    columns = (
        *(
            Column(name.replace("_", " "), "right" if effects[name].dtype.is_integer() else "left")
            for name in names
        ),
        *map(Column, varying_facts),
        Column("published [rounding]"),
        Column("replicated [95 % CI]"),
        Column("one more like the published"),
        Column("direction"),
        Column("size"),
        Column("notes"),
    )
    groups: dict[str, list[tuple[str, ...]]] = {}
    for row, of_row in zip(rows, notes, strict=True):
        head = metric_text(row["metric"], row["statistic"])
        groups.setdefault(f"{head}, not run again" if row["direction"] == _NOT_RUN else head, []).append(
            (
                *(cell_text(name, row[name]) or NOTHING for name in names),
                *(row[name] or NOTHING for name in varying_facts),
                with_interval(row["published_ratio"], row["published_low"], row["published_high"]),
                with_interval(row["ratio"], row["ci_low"], row["ci_high"]),
                NOTHING
                if row["prediction_low"] is None
                else interval(row["prediction_low"], row["prediction_high"]),
                _DIRECTIONS[row["direction"]],
                row["size"] or NOTHING,
                footnotes.marks(of_row),
            )
        )
    return Table(
        f"Published and replicated ratios ({_in_common(effects, names, varying_facts)})" if groups else NO_RATIO,
        columns,
        tuple(Group(head, tuple(of)) for head, of in groups.items()),
        footnotes.texts,
        (_LEGEND,),
    )


def _pair(one: str, other: str, between: str) -> pl.Expr:
    return pl.concat_str(pl.col(one), pl.lit(between), pl.col(other))


def _notes(row: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"Published: {note}" for note in row["published_notes"])
    yield from (note if row["direction"] == _NOT_RUN else f"Replication: {note}" for note in row["notes"])


def _in_common(effects: pl.DataFrame, names: list[str], varying_facts: list[str]) -> str:
    """Name what all effects have in common."""
    row = effects.row(0, named=True)
    cell = cell_label(row, [name for name in _CELL if name not in (*names, _OF_SCALE)])
    runs = effects["runs"].drop_nulls()
    return ", ".join(
        filter(
            None,
            (
                cell,
                one_line(row["ratio of"]) if "ratio of" not in varying_facts else "",
                f"{runs[0]} runs" if "runs" not in varying_facts and len(runs) else "",
            ),
        )
    )


def varying_in_replication(found: pl.DataFrame) -> list[str]:
    """Name the columns that tell the cells of a replication apart, as `varying` does for a comparison.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.launch.replicate import side_by_side
    >>> published = fsb.read("raw_results/published/sysbench-rhel72")
    >>> again = fsb.read("raw_results/replicated/sysbench-rhel72-again")
    >>> varying_in_replication(side_by_side(published, again, metrics=["bandwidth"]))
    ['pattern', 'operation']
    """
    everywhere = found.select(pl.col(_CELL).n_unique()).row(0, named=True)
    within = found.group_by("study", "tool").agg(pl.col(_SETTINGS).n_unique()).max().row(0, named=True)
    varied = everywhere | {name: within[name] for name in _SETTINGS}
    names = [name for name in _CELL if (varied[name] or 0) > 1 and name != _OF_SCALE]
    ratios = [*names, "study", "metric", "statistic", "baseline", "level"]
    return [*names, _OF_SCALE] if found.select(pl.struct(ratios).is_duplicated().any()).item() else names


_OF_SCALE: Final = "file_size"
"""What the scale changes: it is a part of a cell's name only where nothing else tells cells apart."""


_NOT_RUN: Final = "not run"
_DIRECTIONS: Final = {
    "same": "supported",
    "opposite": "contradicted",
    "no difference": "contradicted: equal",
    "open": "open",
    "not comparable": "not comparable",
    _NOT_RUN: NOTHING,
}
"""What a replication says of a published direction, in a cell of a table."""
_LEGEND: Final = (
    "Direction: whether the verdict on the replication supports the published one or contradicts it; open, where "
    "these runs or the study's figures decide nothing; not comparable, where more than the filesystem may have "
    "made the difference. Size: whether the published ratio lies where one more of as few runs is expected."
)


def replication_findings(found: pl.DataFrame, most: int = 3) -> list[str]:
    """Say which published effects a replication decides, the largest published ones first, and count all.

    Parameters
    ----------
    found
        What `fsbench_kit.launch.replicate.side_by_side` returned.
    most
        How many effects to name.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.launch.replicate import side_by_side
    >>> published = fsb.read("raw_results/published/sysbench-rhel72")
    >>> again = fsb.read("raw_results/replicated/sysbench-rhel72-again")
    >>> found = side_by_side(published, again, metrics=["bandwidth"])
    >>> replication_findings(found, most=1)[0].split(":")[0]
    'seqwr'
    """
    names = varying_in_replication(found) if found.height else []
    judged = found.filter("stands_for_effect", pl.col("direction").is_in(_JUDGED), pl.col("ratio").is_not_null())
    largest = judged.sort(pl.col("published_ratio").log().abs(), descending=True, maintain_order=True)
    return [_finding(row, names) for row in largest.head(most).iter_rows(named=True)]


_JUDGED: Final = ("same", "opposite", "no difference")


def _finding(row: Mapping[str, Any], names: list[str]) -> str:
    text = replicated({**row, "factor": "filesystem"})
    others = [name for name in names if name != "operation" or not names_operation(row)]
    return f"{cell}: {text}" if (cell := cell_label(row, others)) else text


def reproduced_findings(counts: pl.DataFrame) -> list[str]:
    """Say of how many published effects the direction and the size came out again, and count the others.

    Parameters
    ----------
    counts
        What `fsbench_kit.launch.replicate.reproduced` returned. Studies are counted together.

    Examples
    --------
    >>> from fsbench_kit.launch.replicate import replications, reproduced
    >>> counts = reproduced(replications("raw_results/published/fio-nvme-2021"))
    >>> reproduced_findings(counts)[0].partition(" came out ")[0]
    'All 4 published effects that can be judged'
    """
    if counts.is_empty():
        return [NO_RATIO]
    total = counts.sum().row(0, named=True)
    run, effects, judged = total["run"], total["effects"], total["judged"]
    if not run:
        return [f"None of {effects} published effects was run again."]
    some = f"Of {effects} published effects, {run}" if run < effects else f"All {effects} published effects"
    others = _listed(total, {"open": "are inconclusive", "not comparable": "cannot be compared"})
    if not judged:
        return [f"{some} were run again, and none can be judged: {others}."]
    same = came_out(judged, total["same"], total["size"])
    against = _listed(
        total, {"opposite": "came out in the other direction", "no difference": "without a difference"}
    )
    missing = f"{effects - run} were not run again" if run < effects else ""
    rest = ", ".join(filter(None, (others, missing)))
    return ["; ".join(filter(None, (same, against))) + ".", *([f"Of the others, {rest}."] if rest else [])]


def came_out(judged: int, same: int, size: int) -> str:
    """Say of how many effects the direction came out again, and of how many the size.

    Examples
    --------
    >>> came_out(judged=4, same=3, size=1)
    '3 of 4 published effects that can be judged came out in the same direction, 1 of them with the same size'
    """
    them = f"{counted(judged, 'published effect')} that can be judged came out in the same direction"
    if not same:
        return f"None of {them}"
    some = f"All {them}" if same == judged > 1 else f"{same} of {them}"
    return f"{some}, {'all' if size == same > 1 else size or 'none'} of them with the same size"


def _listed(total: Mapping[str, int], words: Mapping[str, str]) -> str:
    return ", ".join(f"{total[name]} {text}" for name, text in words.items() if total[name])


def reproduced_table(counts: pl.DataFrame) -> Table:
    """Make the table of what became of the published effects of several studies.

    Parameters
    ----------
    counts
        What `fsbench_kit.launch.replicate.reproduced` returned.

    Examples
    --------
    >>> from fsbench_kit.launch.replicate import replications, reproduced
    >>> found = replications("raw_results/published/fio-nvme-2021")
    >>> reproduced_table(reproduced(found)).frame().select("published effects", "run again").row(0)
    ('4', '4')
    """
    heads = {
        "study": "study",
        "effects": "published effects",
        "run": "run again",
        "judged": "judged",
        "same": "same direction",
        "size": "and size",
        "opposite": "other direction",
        "no difference": "equal",
        "open": "open",
        "not comparable": "not comparable",
    }
    total = counts.select(pl.lit("all").alias("study"), pl.exclude("study").sum())
    rows = tuple(
        tuple(one_line(str(value)) for value in row)
        for row in pl.concat([counts, total], how="vertical_relaxed").select(*heads).iter_rows()
    )
    columns = tuple(Column(head, "left" if name == "study" else "right") for name, head in heads.items())
    return Table("What became of published effects", columns, (Group(None, rows[:-1]), Group(None, rows[-1:])))


def not_judged_table(found: pl.DataFrame) -> Table:
    """Count why published effects cannot be judged, the most frequent reasons of each study first.

    Parameters
    ----------
    found
        What `fsbench_kit.launch.replicate.replications` returned.

    Examples
    --------
    >>> from fsbench_kit.launch.replicate import replications
    >>> found = replications("raw_results/published/fio-nvme-2021")
    >>> not_judged_table(found.filter(direction="same")).frame().height  # all of these are judged
    0
    """
    effects = found.filter("stands_for_effect", pl.col("direction").is_in(_JUDGED).not_())
    counts = (
        pl.DataFrame(
            [(row["study"], why) for row in effects.iter_rows(named=True) for why in _why_open(row)],
            schema={"study": pl.String, "why": pl.String},
            orient="row",
        )
        .group_by("study", "why", maintain_order=True)
        .len("effects")
        .sort("effects", descending=True, maintain_order=True)
    )
    groups = tuple(
        Group(
            one_line(str(study)), tuple((str(n), one_line(why)) for n, why in of.select("effects", "why").rows())
        )
        for (study,), of in counts.group_by("study", maintain_order=True)
    )
    return Table(
        "Effects that cannot be judged" if groups else "All effects can be judged.",
        (Column("effects", "right"), Column("why")),
        groups,
    )


def _why_open(row: Mapping[str, Any]) -> list[str]:
    """Say what keeps an effect from being judged."""
    if row["direction"] == _NOT_RUN:
        return list(row["notes"])
    if withheld := [
        REASONS[code].meaning for code in row["reasons"] if code in codes("no ratio", "verdict withheld")
    ]:
        return withheld
    if row["published_low"] is not None and row["published_low"] <= 1 <= row["published_high"]:
        return ["The study's own figures have no direction: their rounding allows both."]
    if unsure := [REASONS[code].meaning for code in row["reasons"] if code in codes("no interval")]:
        return unsure
    return ["The replication's runs vary too much for their number."]


def differences_table(found: pl.DataFrame) -> Table:
    """Make the table of what differed between a study and its replication.

    Parameters
    ----------
    found
        What `fsbench_kit.launch.replicate.differences` returned.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.launch.replicate import differences
    >>> published = fsb.read("raw_results/published/fio-nvme-2021")
    >>> again = fsb.read("raw_results/replicated/fio-nvme-2021-again")
    >>> differences_table(differences(published, again)).groups[0].rows[0][:3]
    ('file size', 'all', '10 GiB')
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


def claims_again_table(theirs: pl.DataFrame, again: pl.DataFrame) -> Table:
    """Make the table of an article's claims, each judged on its own figures and on a replication's.

    Parameters
    ----------
    theirs, again
        What `fsbench_kit.audit` returned for the study, without and with the replication's runs.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> theirs = fsb.audit("raw_results/published/fio-nvme-2021")
    >>> claims_again_table(theirs, theirs).caption
    '18 claims of the article, judged twice'
    """
    both = theirs.join(again, on=["study", "claim"], how="left", maintain_order="left", suffix="_again")
    footnotes = Footnotes(both["footnotes_again"])
    columns = tuple(map(Column, ("claim", "on the article's figures", "on these runs", "why", "notes")))
    rows = tuple(
        (
            " ".join(row["says"].split()),
            row["verdict"],
            row["verdict_again"],
            " ".join(row["reason_again"].split()),
            footnotes.marks(row["footnotes_again"]),
        )
        for row in both.iter_rows(named=True)
    )
    caption = f"{counted(both.height, 'claim')} of the article, judged twice"
    return Table(caption, columns, (Group(None, rows),), footnotes.texts)


def _setting(key: str, value: str) -> str:
    return one_line(" | ".join(setting_texts(key, value.split(" | "))))


def replication_place(replicated: Dataset, *, here: bool) -> str:
    """Say where and when a study was run again.

    Parameters
    ----------
    replicated
        The runs.
    here
        Whether they have just been made on this machine.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> replication_place(fsb.read("raw_results/published/fio-nvme-2021"), here=True)
    'Run on this machine.'
    """
    day = replicated.runs["started_at"].min()
    when = f" on {day:%Y-%m-%d}" if isinstance(day, datetime) else ""
    if here:
        return f"Run on this machine{when}."
    hosts = ", ".join(map(one_line, replicated.runs["host"].drop_nulls().unique().sort()))
    facts = _machine(replicated)
    machine = f" ({', '.join(facts)})" if hosts and facts else ""
    return f"Recorded{when}{f' on the host {hosts}' if hosts else ''}{machine}."


def _machine(dataset: Dataset) -> list[str]:
    """Name what the machine of some runs is, as far as all of them tell the same."""
    values_of = (
        dataset.settings.filter(pl.col("key").is_in(_OF_A_MACHINE)).group_by("key").agg(pl.col("value").unique())
    )
    known = {key: one_line(values[0]) for key, values in values_of.rows() if len(values) == 1}
    processors = " × ".join(known[key] for key in ("cpus", "cpu") if key in known)
    memory = known.get("memory", "")
    return [
        fact
        for fact in (
            processors,
            f"{humanise(int(memory), 'B')} of memory" if memory.isdecimal() else memory,
            f"Linux {known['kernel']}" if "kernel" in known else "",
        )
        if fact
    ]


_OF_A_MACHINE: Final = ("cpus", "cpu", "memory", "kernel")
