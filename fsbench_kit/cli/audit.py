"""``fsbench audit``."""

from __future__ import annotations

import fsbench_kit as fsb
from fsbench_kit.cli.console import out
from fsbench_kit.cli.inputs import found_path
from fsbench_kit.cli.options import Paths
from fsbench_kit.cli.saving import To, check_endings, saved


def audit_command(paths: Paths, to: To = None) -> None:
    """Check what articles claim against the figures that they print.

    fsbench audit raw_results/published
    fsbench audit my-study/ --to audit.md
    """
    from fsbench_kit import tables

    check_endings(to)
    claims = fsb.audit(*map(found_path, paths))
    shown = [tables.audit_table(rows) for _, rows in claims.group_by("study", maintain_order=True)]
    for table in shown:
        out.print(table)
    saved(to, claims, *shown)
