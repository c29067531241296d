"""``fsbench repeats``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import fsbench_kit as fsb
from fsbench_kit.cli.console import out
from fsbench_kit.cli.inputs import read
from fsbench_kit.cli.options import Names, of_factor, of_percentage, percentage
from fsbench_kit.cli.saving import To, check_endings, saved
from fsbench_kit.model.errors import RequestError, needs_extra


def repeats_command(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH]...", help="A pilot: logs of earlier runs.")
    ] = None,
    *,
    cv: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PERCENT", help="The variation between runs (CV), in place of a pilot: 5%. Can be repeated."
        ),
    ] = None,
    half_width: Annotated[float, of_percentage("Half the width of the interval.")] = "5%",  # type: ignore[assignment]  # is parsed
    effect: Annotated[float, of_percentage("The difference to detect.")] = "10%",  # type: ignore[assignment]
    margin: Annotated[float, of_factor("The largest difference that counts as equal: 5% or 1.05.")] = "5%",  # type: ignore[assignment]
    names: Names = None,
    factor: Annotated[str, typer.Option(help="The factor by which to compare the pilot's runs.")] = "filesystem",
    to: To = None,
    chart: Annotated[Path | None, typer.Option(help="Draw the half-widths to a .svg, .png or .html file.")] = None,
) -> None:
    """Say how many runs a comparison needs, given a pilot or the variation between runs.

    fsbench repeats --cv 5%
    fsbench repeats pilot/ --half-width 3% --to runs.csv
    """
    from fsbench_kit import tables
    from fsbench_kit.cli.proposals import proposals
    from fsbench_kit.data.tabular import keep_logs, sources

    check_endings(to)
    variation = [percentage(value) for value in cv] if cv else None
    pilot = read(paths, names) if paths else None
    if pilot is not None:
        for target in to or ():
            keep_logs(sources(pilot.frames), target)
    try:
        planned = fsb.sample_size(
            pilot, cv=variation, half_width=half_width, effect=effect, margin=margin, factor=factor
        )
    except RequestError as error:
        proposed = proposals(pilot, factor, "repeats", paths) if pilot is not None and paths else None
        raise RequestError(error.what, hint=proposed or error.hint) from None
    width, difference, equal = map(tables.percent, (half_width, effect, margin - 1))
    table = tables.repeats_table(
        planned,
        f"Runs in each group for an interval of ±{width}, to detect a difference of {difference}, to show equality"
        f" within {equal} (the last two with a power of 80 %)",
    )
    out.print(table)
    saved(to, planned, table)
    if chart is not None:
        with needs_extra("notebooks", "--chart"):
            from fsbench_kit.charts import runs_needed, save
        from fsbench_kit.analysis.sample_size import widths

        high = planned["cv_high"]
        pairs = bool((planned["unit"] != "run").all())
        curves = widths(variation or [high.quantile(share, "nearest") or 0 for share in (0, 0.5, 1)], pairs=pairs)
        save(runs_needed(curves, half_width=half_width), chart)
