"""Frames as tables and sentences for people.

To add a table, write a module with a function that returns a `Table`, and name the function below.
"""

from typing import TYPE_CHECKING

from fsbench_kit.model.lazy import lazily

if TYPE_CHECKING:
    from fsbench_kit.tables.cells import (
        CELL,
        cell_label,
        cell_names,
        cell_text,
        groups_text,
        metric_text,
        metric_within,
        ordered,
        varying,
    )
    from fsbench_kit.tables.claims import (
        audit_findings,
        audit_summary,
        audit_table,
        contradictions_table,
        repeats_table,
    )
    from fsbench_kit.tables.comparisons import (
        comparison_table,
        effects,
        interval_text,
        overall_table,
        reasons_table,
        summary_table,
    )
    from fsbench_kit.tables.datasets import (
        contents,
        diagnostics_table,
        failed_runs,
        figures_table,
        provenance_table,
        reading_findings,
        remarks,
        runs_table,
        settings_table,
    )
    from fsbench_kit.tables.explanations import explanation
    from fsbench_kit.tables.gates import gate_table, junit
    from fsbench_kit.tables.headlines import by_size, findings, summary, withheld
    from fsbench_kit.tables.launches import (
        launches_noted,
        machine_table,
        order_table,
        remarks_table,
        shortfalls,
        steady_state_table,
    )
    from fsbench_kit.tables.layout import Column, Group, Table, table
    from fsbench_kit.tables.messages import (
        NOTHING,
        counted,
        interval_words,
        one_line,
        percent,
        prefix,
        ratio_text,
        with_interval,
    )
    from fsbench_kit.tables.pivots import pivot_table
    from fsbench_kit.tables.provenance import versions
    from fsbench_kit.tables.replications import (
        NO_RATIO,
        came_out,
        claims_again_table,
        differences_table,
        not_judged_table,
        replication_findings,
        replication_place,
        replication_table,
        reproduced_findings,
        reproduced_table,
        varying_in_replication,
    )
    from fsbench_kit.tables.saving import save
    from fsbench_kit.tables.time_series import over_time_table, run_numbers, varying_series
    from fsbench_kit.tables.trends import effect_names, trend_findings, trend_table
    from fsbench_kit.tables.verdicts import names_of, sentence

__all__ = [
    "CELL",
    "NOTHING",
    "NO_RATIO",
    "Column",
    "Group",
    "Table",
    "audit_findings",
    "audit_summary",
    "audit_table",
    "by_size",
    "came_out",
    "cell_label",
    "cell_names",
    "cell_text",
    "claims_again_table",
    "comparison_table",
    "contents",
    "contradictions_table",
    "counted",
    "diagnostics_table",
    "differences_table",
    "effect_names",
    "effects",
    "explanation",
    "failed_runs",
    "figures_table",
    "findings",
    "gate_table",
    "groups_text",
    "interval_text",
    "interval_words",
    "junit",
    "launches_noted",
    "machine_table",
    "metric_text",
    "metric_within",
    "names_of",
    "not_judged_table",
    "one_line",
    "order_table",
    "ordered",
    "over_time_table",
    "overall_table",
    "percent",
    "pivot_table",
    "prefix",
    "provenance_table",
    "ratio_text",
    "reading_findings",
    "reasons_table",
    "remarks",
    "remarks_table",
    "repeats_table",
    "replication_findings",
    "replication_place",
    "replication_table",
    "reproduced_findings",
    "reproduced_table",
    "run_numbers",
    "runs_table",
    "save",
    "sentence",
    "settings_table",
    "shortfalls",
    "steady_state_table",
    "summary",
    "summary_table",
    "table",
    "trend_findings",
    "trend_table",
    "varying",
    "varying_in_replication",
    "varying_series",
    "versions",
    "with_interval",
    "withheld",
]

__getattr__, __dir__ = lazily(__name__)
