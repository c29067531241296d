"""``fsbench devices``."""

from __future__ import annotations

import typer

from fsbench_kit.model.errors import needs_extra


def devices_command() -> None:
    """List the block devices: what each holds, who uses it, and what to write to launch on it.

    Kernel settings that a killed launch left changed are restored first.

    fsbench devices
    """
    with needs_extra("launch", "fsbench devices"):
        from fsbench_kit.launch.disks import disks
        from fsbench_kit.launch.scratch import sweep_machine
        from fsbench_kit.launch.tools import check_system

    check_system()
    for sentence in sweep_machine():
        typer.echo(sentence)
    found = list(disks())
    for disk in found:
        typer.echo(str(disk))
    if not found:
        typer.echo("The kernel shows no block device here.")
