"""Devices without a filesystem: consent first, nothing but the device is written, and only fio runs there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

import fsbench_kit as fsb
from fsbench_kit.launch import dry_run, launch, tools
from fsbench_kit.model.errors import LaunchError
from tests.launch.test_devices import attached

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsbench_kit.launch import Plan

TRIMS = {"tool": "fio", "rw": ["randwrite", "randtrim"], "bs": "4k-16k", "size": "25%", "io_size": "1M"}


@pytest.mark.slow
@pytest.mark.root
@pytest.mark.skipif(not tools.is_administrator(), reason="needs root")
@pytest.mark.skipif(not tools.has_loop_devices(), reason="needs loop devices")
def test_device_is_written_only_where_it_was_named_twice_and_is_as_it_was_left(
    make_plan: Callable[..., Plan], tmp_path: Path
) -> None:
    image, root = tmp_path / "disk", tmp_path / "root"
    root.mkdir()
    image.write_bytes(b"mine" * 2**20)
    with attached(image) as device:
        target = {"kind": "raw", "device": device}
        notes = dry_run(make_plan(target=[target | {"signature": "unknown"}], workload=[TRIMS]), root).notes
        assert f"The launch would destroy all data on {device}; confirm with: --device {device}" in notes
        with pytest.raises(LaunchError, match="name it again: --device"):
            launch(make_plan(target=[target], workload=[TRIMS]), root=root)
        with pytest.raises(LaunchError, match='signature = "unknown"'):
            launch(make_plan(target=[target], workload=[TRIMS]), root=root, devices=[device])
        assert image.read_bytes() == b"mine" * 2**20
        plan = make_plan(target=[target | {"signature": "unknown"}], workload=[TRIMS])
        result = launch(plan, root=root, devices=[device])
        assert result.failures == {}
        assert image.read_bytes() != b"mine" * 2**20
    runs = fsb.read(result.folder)
    assert set(runs.runs["filesystem"]) == {"raw"}
    assert set(runs.measurements["operation"]) >= {"write", "trim"}
    assert "mount_options" not in set(runs.settings["key"])
    files = {path.name for run in result.runs for path in run.iterdir()}
    assert files == {"run.json", "fio.json", "samples.csv", "stdout.txt", "stderr.txt"}
    assert sum(path.stat().st_size for run in result.runs for path in run.iterdir()) < 2**20


RAW = {"kind": "raw", "device": "/dev/loop99"}
HERE = {"kind": "directory", "directory": "."}


@pytest.mark.parametrize(
    ("target", "workload", "sentence"),
    [
        (RAW, {"tool": "smallfiles", "files": 5, "size": "4k"}, "smallfiles needs a filesystem"),
        (RAW, {"tool": "fio", "job": "[a]\nrw=read\nsize=1m\nfilename=b"}, "a device has no files"),
        (HERE, {"tool": "fio", "rw": "trim", "bs": "4k", "size": "1M"}, "fio does not discard in files"),
    ],
)
def test_workload_that_cannot_run_there_is_refused(
    make_plan: Callable[..., Plan], target: dict[str, str], workload: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValidationError, match=sentence):
        make_plan(target=[target], workload=[workload])
