"""Targets on what this kernel may lack: their commands, and what is said where they cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fsbench_kit.launch import cleanup, launch, tools
from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsbench_kit.launch import Plan

IMAGE = {"filesystem": "xfs", "size": "400M", "name": "here"}
CONFIG = (
    'devices { filter=["a|^/dev/loopN$|","a|^/dev/loopM$|","r|.*|"] use_devicesfile=0 } '
    "activation { udev_sync=0 udev_rules=0 }"
)
TARGETS: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "crypt": (
        {"kind": "crypt", **IMAGE},
        [
            "cryptsetup open --type plain --batch-mode --key-file /dev/urandom --key-size 512 "
            "--cipher aes-xts-plain64 /dev/loopN NAME",
            "mkfs.xfs -f -K -L fsbench /dev/mapper/NAME",
            "mount -t xfs /dev/mapper/NAME mount",
        ],
        ["umount mount", "cryptsetup close NAME"],
    ),
    "lvm": (
        {"kind": "lvm", "layout": "striped", **IMAGE},
        [
            f"lvm vgcreate --config {CONFIG} GROUP /dev/loopN /dev/loopM",
            f"lvm lvcreate --config {CONFIG} --yes --name data "
            "--type striped --stripes 2 --extents 100%FREE GROUP",
            "mkfs.xfs -f -K -L fsbench /dev/GROUP/data",
            "mount -t xfs /dev/GROUP/data mount",
        ],
        ["umount mount", f"lvm vgremove --config {CONFIG} --force --yes GROUP"],
    ),
    "nfs": (
        {"kind": "nfs", "name": "here", "mount_options": "vers=4.2"},
        [
            "exportfs -o rw,sync,no_root_squash,no_subtree_check localhost:FOLDER/export",
            "mount -t nfs -o vers=4.2 localhost:FOLDER/export mount",
        ],
        ["umount mount", "exportfs -u localhost:FOLDER/export"],
    ),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_commands_are_those_that_a_person_would_type(make_plan: Callable[..., Plan], kind: str) -> None:
    table, make, remove = TARGETS[kind]
    (target,) = make_plan(target=[table]).target
    assert [" ".join(command) for command in target.commands.make][-len(make) :] == make
    assert [" ".join(command) for command in target.commands.remove] == remove


@pytest.mark.parametrize("kind", TARGETS)
def test_what_the_kernel_lacks_is_said(make_plan: Callable[..., Plan], tmp_path: Path, kind: str) -> None:
    if tools.has_device_mapper() or tools.has_mount_type("nfs") or tools.isolation_problem():
        pytest.skip("this kernel has them, or nothing can be mounted")
    lack = "the kernel has no NFS" if kind == "nfs" else "the kernel has no device mapper, which this needs"
    with pytest.raises(LaunchError, match=f'Target "here" is not available: {lack}.'):
        launch(make_plan(target=[TARGETS[kind][0]]), root=tmp_path)


def test_what_a_killed_launch_has_left_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "etab"
    table.write_text(f"{tmp_path}/scratch/target-a/export\tlocalhost(rw)\n/home\t*(ro)\n", encoding="utf-8")
    monkeypatch.setattr(cleanup, "_EXPORTED", table)
    assert cleanup.exported_below(tmp_path / "scratch") == [tmp_path / "scratch/target-a/export"]
    assert cleanup.mapped_on(tmp_path) == []
