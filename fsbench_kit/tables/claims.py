"""What articles claim, and how many runs it takes to know."""

from __future__ import annotations

from typing import Final

import polars as pl

from fsbench_kit.tables.cells import varying
from fsbench_kit.tables.layout import Column, Group, Table, table
from fsbench_kit.tables.messages import NOTHING, Footnotes, counted, one_line, percent


def audit_table(audit: pl.DataFrame) -> Table:
    """Make the table of an audit: each claim, with its verdict and the reason.

    Parameters
    ----------
    audit
        What `fsbench_kit.claims.audit` returned, or some rows of it.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> claims = fsb.audit("raw_results/published/fio-nvme-2021")
    >>> audit_table(claims).frame().select("verdict", "evidence").row(0)
    ('not comparable', 'single figures')
    """
    footnotes = Footnotes(audit["footnotes"])
    columns = tuple(map(Column, ("claim", "verdict", "figures", "evidence", "reason", "notes")))
    rows = tuple(
        (
            _in_line(f"{row['says']} ({row['place']})" if row["place"] else row["says"]),
            row["verdict"],
            ", ".join(filter(None, (row["direction"], row["size"]))) or NOTHING,
            row["evidence"],
            _in_line(row["reason"]),
            footnotes.marks(row["footnotes"]),
        )
        for row in audit.iter_rows(named=True)
    )
    caption = ", ".join(audit["study"].unique(maintain_order=True))
    return Table(caption, columns, (Group(None, rows),), footnotes.texts)


def _in_line(text: str) -> str:
    """Put a text on one line, however long: names in logs can hold anything."""
    return " ".join(text.split())


def contradictions_table(audit: pl.DataFrame) -> Table:
    """List every comparison that contradicts a claim of an audit, under the claim.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> contradictions_table(fsb.audit("raw_results/published/raid1-hdd-2020")).caption
    '3 comparisons against 3 claims'
    """
    groups = tuple(
        Group(
            one_line(f"{row['study']}: {row['says']}"), tuple((one_line(text),) for text in row["contradicting"])
        )
        for row in audit.iter_rows(named=True)
        if row["contradicting"]
    )
    number = sum(len(group.rows) for group in groups)
    return Table(
        f"{counted(number, 'comparison')} against {counted(len(groups), 'claim')}",
        (Column("what the figures show"),),
        groups,
    )


def audit_summary(audit: pl.DataFrame) -> str:
    """Sum up an audit in two sentences: how many claims have which verdict, and how many rest on repeated runs.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> claims = fsb.audit("raw_results/published/fio-nvme-2021")
    >>> audit_summary(claims.filter(verdict="contradicted")).split(". ")[0]
    'Of 1 claim: 1 contradicted'
    """
    counts = dict(audit["verdict"].value_counts().rows())
    text = ", ".join(
        f"{counts[verdict]} {words}" for verdict, words in _VERDICTS_OF_CLAIMS.items() if verdict in counts
    )
    replicated = audit.filter(evidence="replicated").height
    return (
        f"Of {counted(audit.height, 'claim')}: {text}. "
        f"Repeated runs that were printed one by one support {replicated or 'none'} of them."
    )


def audit_findings(audit: pl.DataFrame, most: int = 4) -> list[str]:
    """Say what an audit found: what the figures contradict, an example from each study, and last the counts.

    Parameters
    ----------
    audit
        What `fsbench_kit.claims.audit` returned, or some rows of it.
    most
        How many examples to give.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> audit_findings(fsb.audit("raw_results/published/fio-nvme-2021"))[1]
    '"Both were tested on the same disk" (fio-nvme-2021): randwrite: the disk is nvme7n1 on xfs, nvme6n1 on zfs.'
    """
    wrong = audit.filter(verdict="contradicted")
    claims = f"of {counted(audit.height, 'claim')}"
    text = f"The figures contradict {wrong.height or 'none'} {claims}"
    another_size = pl.col("size").is_in(["understated", "overstated", "mixed"])
    if other := audit.filter(another_size, verdict="direction only").height:
        text += f", and {other} of the others {'states' if other == 1 else 'state'} another size than they give"
    repeated = audit.filter(evidence="replicated").height or "None"
    rests = "rests" if repeated in (1, "None") else "rest"
    examples = wrong.unique("study", keep="first", maintain_order=True).head(most)
    return [
        f"{text}. {repeated} {rests} on repeated runs that were printed one by one.",
        *(
            one_line(f'"{row["says"]}" ({row["study"]})') + f": {_in_line(row['reason'])}"
            for row in examples.iter_rows(named=True)
        ),
        audit_summary(audit),
    ]


_VERDICTS_OF_CLAIMS: Final = {
    "supported": "supported",
    "figures agree": "in agreement with the figures, without replication",
    "not comparable": "about groups that differ in more than the claim speaks of",
    "in doubt": "resting on a log that contradicts itself",
    "direction only": "right in direction alone",
    "undecided": "left open by the figures",
    "contradicted": "contradicted",
    "no data": "about figures that are not printed",
    "not judged": "beyond what figures can tell",
}


def repeats_table(planned: pl.DataFrame, caption: str) -> Table:
    """Make the table of how many runs each group needs, with the cells named by what tells them apart.

    Parameters
    ----------
    planned
        What `fsbench_kit.sample_size` returned.
    caption
        What the numbers of runs are for.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> print(str(repeats_table(fsb.sample_size(cv=[0.02, 0.05]), "Runs for 5 %")).rstrip())
    Runs for 5 %
      CV   for half width  for effect  for equality
    ───────────────────────────────────────────────
      2 %               3           3             4
      5 %              10           6            19
    """
    names = [*varying(planned), "metric", "statistic"] if "metric" in planned.columns else []
    shown = planned.select(*names, pl.col("^(unit|pilot_runs|cv.*|for_.*)$")).with_columns(
        pl.col("cv", "cv_high").map_elements(percent, return_dtype=pl.String)
    )
    if planned["cv"].equals(planned["cv_high"]):
        shown = shown.drop("cv_high", "unit")
    return table(shown, caption, heads={"cv": "CV", "cv_high": "CV at most", "for_equivalence": "for equality"})
