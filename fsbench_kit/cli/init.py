"""``fsbench init``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fsbench_kit.cli.console import out


def init_command(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder.")] = Path(),
) -> None:
    """Start a project: copy the notebooks, plans and studies that come with fsbench_kit into a folder."""
    from fsbench_kit.data.project import PARTS, start

    start(folder)
    out.print(f"{folder.resolve()} has {', '.join(PARTS)}. Next: fsbench report")
