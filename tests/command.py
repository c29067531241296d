"""The command as tests run it: in this process, since one of its own takes a second and more to start."""

import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

import pytest

from fsbench_kit import cli


def fsbench(*arguments: str | Path, cwd: Path | None = None) -> CompletedProcess[str]:
    """Run ``fsbench`` with some arguments, and return what it printed and its exit status."""
    words, out, err = ["fsbench", *map(str, arguments)], StringIO(), StringIO()
    with (
        mock.patch.object(sys, "argv", words),
        chdir(cwd or Path.cwd()),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        cli.main()
    return CompletedProcess(words, int(ended.value.code or 0), out.getvalue(), err.getvalue())
