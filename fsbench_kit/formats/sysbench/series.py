"""Series of a sysbench run: ``--report-interval``, and the reports at ``--report-checkpoints``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fsbench_kit.formats.lexer import Token
from fsbench_kit.formats.sysbench.figures import Report
from fsbench_kit.model.records import Block, Diagnostic


def of_intervals(intervals: Sequence[Token]) -> Iterator[Block]:
    """Yield the series of bandwidth, fsyncs and the latency percentile."""
    times = [float(token["time"] or "") for token in intervals]
    lines = [token.line for token in intervals]
    for operation, metric, factor in (
        ("read", "bandwidth", 2**20),  # 0.5 prints MB/s but means MiB/s
        ("write", "bandwidth", 2**20),
        ("other", "iops", 1),
    ):
        values = [float(token[operation] or "") * factor for token in intervals]
        if any(values):
            starts = [token.text.byte(token.start_of(operation)) for token in intervals]
            yield Block(
                operation=operation,
                metric=metric,
                times=times,
                values=values,
                lines=lines,
                starts=starts,
                unit=(factor, 1),
            )
    for rank in sorted({token["rank"] or token["response_rank"] or "" for token in intervals} - {"0"}):
        found = [
            (time, float(token[group] or "") / 1e3, line, token.text.byte(token.start_of(group)))
            for time, line, token in zip(times, lines, intervals, strict=True)
            for group in ("latency" if token["latency"] is not None else "response",)
            if rank == (token["rank"] or token["response_rank"]) and float(token[group] or "")
        ]
        if found:
            of_rank, values, of_lines, starts = map(list, zip(*found, strict=True))
            yield Block(
                operation="all",
                metric="latency",
                statistic=f"p{rank}",
                times=of_rank,
                values=values,
                lines=of_lines,
                starts=starts,
                unit=(1, 1e3),
            )


def of_checkpoints(interim: Sequence[Report], first: Token) -> Iterator[Block | Diagnostic]:
    """Yield series of rates and latencies from interim reports, and a diagnostic for each report."""
    points: dict[tuple[str, str, str], list[tuple[float, float, int | None]]] = {}
    for report in interim:
        where = report.checkpoint or report.first or first
        yield where.diagnostic(
            "INTERIM_REPORT",
            "sysbench resets its counters after this report; its last report covers only what follows.",
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
