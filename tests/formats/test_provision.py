from __future__ import annotations

from pathlib import Path

import pytest

from fsbench_kit.formats.provision import provision_settings

PUBLISHED = Path(__file__).parents[2] / "raw_results" / "published"

# Written from the files by eye.
EXPECTED = {
    "fio-nvme-2021/provision-zfs.txt": {
        "zpool.ashift": "13",
        "zpool.autoreplace": "on",
        "disks": "nvme6n1",
        "zfs.mountpoint": "/mnt/nvme6",
        "zfs.atime": "off",
        "zfs.compression": "lz4",
        "zfs.dnodesize": "auto",
        "zfs.primarycache": "metadata",
        "zfs.recordsize": "131072",
        "zfs.xattr": "sa",
        "zfs.acltype": "posixacl",
    },
    "iozone-ssd-2015/provision-btrfs.txt": {
        "mkfs_options": "-m single -n 4096 -f",
        "disks": "sdb1",
        "mount_options": "ssd,discard,nodatacow,noatime,nodiratime,compress=no,space_cache,ssd_spread",
    },
    "iozone-ssd-2015/provision-ext4.txt": {
        "disks": "sdb1",
        "mount_options": "defaults,noatime,nodiratime,discard,data=ordered",
    },
    "iozone-ssd-2015/provision-zfs.txt": {
        "zpool.ashift": "13",
        "disks": "sdb1",
        "log_device": "sdb2",
        "zfs.atime": "off",
        "zfs.canmount": "on",
        "zfs.compression": "off",
        "zfs.dedup": "off",
        "zfs.mountpoint": "/data01",
        "zfs.nbmand": "off",
        "zfs.primarycache": "metadata",
        "zfs.recordsize": "131072",
        "zfs.secondarycache": "none",
    },
    "raid1-hdd-2020/provision-ext4.txt": {"disks": "md0"},
    "raid1-hdd-2020/provision-xfs.txt": {"disks": "md1"},
    "raid1-hdd-2020/provision-zfs.txt": {
        "zpool.ashift": "12",
        "zpool.layout": "mirror",
        "disks": "ata-HGST_HTE541010A9E680_J540001MJGTEXC ata-HGST_HTE541010A9E680_J5400013JZ6NAC",
        "zfs.recordsize": "131072",
    },
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_commands_of_articles(name: str) -> None:
    text = (PUBLISHED / name).read_text(encoding="utf-8")
    assert {s.key: s.value for s in provision_settings(text, origin="study")} == EXPECTED[name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # what a launch records: an image has no device of its own
        (
            "fallocate --length 536870912 image\nmkfs.ext4 -F -E nodiscard,lazy_itable_init=0 -m 0 image\n"
            "mount -t ext4 -o loop,noatime image mount\nlosetup --direct-io=on /dev/loopN",
            {"mkfs_options": "-F -E nodiscard,lazy_itable_init=0 -m 0", "mount_options": "loop,noatime"},
        ),
        ("mkfs -t ext4 /dev/sda", {}),  # that mkfs hands its options on is not known to this reader
        (
            "mdadm --create /dev/md0 --level=1 --raid-devices=2 /dev/sda1 /dev/sdb1",
            {"md.level": "1"},
        ),
        (
            "zpool create -O recordsize=16K -O atime=off tank raidz2 sda sdb sdc sdd cache nvme0n1p1",
            {
                "zfs.recordsize": "16384",
                "zfs.atime": "off",
                "zpool.layout": "raidz2",
                "disks": "sda sdb sdc sdd",
                "cache_device": "nvme0n1p1",
            },
        ),
        ("zfs set recordsize=8k tank\nzfs set recordsize=1M tank", {"zfs.recordsize": "1048576"}),
        ("the mount was slow, and mkfs.xfs too", {}),
        ("mkfs.xfs", {}),
        ("mount -o", {}),
        ("zpool create tank mirror /pool/one /pool/two", {"zpool.layout": "mirror"}),
    ],
)
def test_other_commands(text: str, expected: dict[str, str]) -> None:
    assert {s.key: s.value for s in provision_settings(text, origin="environment")} == expected
