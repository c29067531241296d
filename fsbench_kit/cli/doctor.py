"""``fsbench doctor``."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from fsbench_kit.cli.console import err, out
from fsbench_kit.model.errors import needs_extra


def doctor_command(
    *,
    install: Annotated[
        bool, typer.Option("--install", help="Install what is missing (on Debian, as root).")
    ] = False,
) -> None:
    """Show what this machine can run and what is missing.

    fsbench doctor
    """
    with needs_extra("launch", "fsbench doctor"):
        from fsbench_kit.launch import list_capabilities, machine
    from fsbench_kit import tables

    here = machine(Path.cwd())
    out.print(tables.machine_table(here, tuple(list_capabilities(Path.cwd()))))
    wanted = here.packages_to_install
    if not wanted:
        return
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *wanted]
    if install and os.geteuid() == 0 and shutil.which("apt-get") and not os.environ.get("FSBENCH_NO_INSTALL"):
        out.print(f"Installing from the distribution (FSBENCH_NO_INSTALL=1 prevents it): {', '.join(wanted)}")
        _install(command)
    else:
        err.print(f"Missing: {', '.join(wanted)}. On Debian, install them as root: {' '.join(command)}")


def _install(command: list[str]) -> None:
    """Install packages. A failure is reported but does not stop: launches use what is there."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["apt-get", "update", "--quiet=2"], command):
        result = subprocess.run(step, env=environment, capture_output=True, text=True, check=False)
        if result.returncode:
            reason = (result.stderr.strip() or "no reason given").splitlines()[-1]
            err.print(f"{' '.join(step)} failed: {reason}")
            return
