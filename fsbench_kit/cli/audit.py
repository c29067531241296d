"""``fsbench audit``."""

from __future__ import annotations

import fsbench_kit as fsb
from fsbench_kit.cli.console import out
from fsbench_kit.cli.inputs import found_path
from fsbench_kit.cli.options import Paths


def audit_command(paths: Paths) -> None:
    """Check what articles claim against the figures that they print."""
    from fsbench_kit import tables

    for _, claims in fsb.audit(*map(found_path, paths)).group_by("study", maintain_order=True):
        out.print(tables.audit_table(claims))
