"""Figures over time of a sysbench run: ``--report-interval``, and the reports at ``--report-checkpoints``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsbench_kit.model.records import Block

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.formats.lexer import Token
    from fsbench_kit.formats.sysbench.figures import Report
    from fsbench_kit.model.records import Diagnostic


def of_intervals(intervals: Sequence[Token]) -> Iterator[Block]:
    """Yield the series of bandwidth, of fsyncs, and of the latency's percentile."""
    times = [float(token["time"] or "") for token in intervals]
    lines = [token.line for token in intervals]
    for operation, metric, factor in (
        ("read", "bandwidth", 2**20),  # 0.5 says MB/s and means MiB/s
        ("write", "bandwidth", 2**20),
        ("other", "iops", 1),
    ):
        values = [float(token[operation] or "") * factor for token in intervals]
        if any(values):
            yield Block(operation=operation, metric=metric, times=times, values=values, lines=lines)
    ranks = [token["rank"] or token["response_rank"] or "" for token in intervals]
    latencies = [float(token["latency"] or token["response"] or "") / 1e3 for token in intervals]
    for rank in sorted(set(ranks) - {"0"}):
        points = [
            point for point in zip(times, latencies, lines, ranks, strict=True) if point[1] and point[3] == rank
        ]
        if points:
            yield Block(
                operation="all",
                metric="latency",
                statistic=f"p{rank}",
                times=[point[0] for point in points],
                values=[point[1] for point in points],
                lines=[point[2] for point in points],
            )


def of_checkpoints(interim: Sequence[Report], first: Token) -> Iterator[Block | Diagnostic]:
    """Yield the rates and latencies of the interim reports of a log, each at the time of its report."""
    points: dict[tuple[str, str, str], list[tuple[float, float, int | None]]] = {}
    for report in interim:
        where = report.checkpoint or next(iter(report.tokens.values()), first)
        yield where.diagnostic(
            "INTERIM_REPORT",
            "sysbench starts its counters again after this report; the last one is of what follows it.",
        )
        total_time = report.figures.get("total_time")
        printed = report.checkpoint["time"] if report.checkpoint is not None else None
        time = float(printed) if printed is not None else total_time.value if total_time is not None else None
        for figure in report.measurements:
            rate = figure.primary and figure.metric in {"bandwidth", "iops", "latency"}
            if rate and figure.scope == "all" and figure.value is not None and time is not None:
                key = (figure.operation, figure.metric, figure.statistic)
                points.setdefault(key, []).append((time, figure.value, figure.line))
    for (operation, metric, statistic), found in points.items():
        yield Block(
            operation=operation,
            metric=metric,
            statistic=statistic,
            part="checkpoints",
            times=[point[0] for point in found],
            values=[point[1] for point in found],
            lines=[point[2] for point in found],
        )
