"""``fsbench explore``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import fsbench_kit as fsb
from fsbench_kit.cli.console import err
from fsbench_kit.cli.inputs import found_path, read
from fsbench_kit.cli.options import Names, Paths
from fsbench_kit.model.errors import needs_extra


def explore_command(
    paths: Paths,
    *,
    names: Names = None,
    factor: Annotated[
        str, typer.Option(help="The factor to start with: filesystem, host, or the key of a setting.")
    ] = ("filesystem"),
    baseline: Annotated[str, typer.Option(help="The baseline to start with.")] = "",
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help="Serve the page on this port without opening a browser; 0 picks a free port."
        ),
    ] = 0,
) -> None:
    """Open a page in the browser to choose a comparison and see it at once.

    fsbench explore results/
    """
    from fsbench_kit.data.written import is_written

    with needs_extra("notebooks", "fsbench explore"):
        from fsbench_kit.explore import explore

    # Reports problems with the paths here, before the page opens.
    if len(paths) == 1 and is_written(Path(paths[0])):
        fsb.scan(paths[0])
    else:
        read(paths, names)
    where = f"is at http://127.0.0.1:{port}/" if port else "opens in the browser"
    err.print(f"In a few seconds the page {where}. Ctrl-C ends it.")
    explore(
        [str(found_path(path)) for path in paths],
        names=names or (),
        factor=factor,
        baseline=baseline,
        port=port,
    )
