"""What names of files say of their runs; the names are such as people give."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from pathlib import PurePosixPath as Name

import polars as pl
import pytest
from typer.testing import CliRunner

import fsbench_kit as fsb
from fsbench_kit.cli import app
from fsbench_kit.data.name_proposals import proposed, proposed_for_each
from fsbench_kit.data.names import Named, NameTemplate, plain_names
from fsbench_kit.model.errors import RequestError
from tests.command import fsbench


def _said(named: Named | None) -> dict[str, str | int] | None:
    return None if named is None else {**named.facts, **{item.key: item.value for item in named.settings}}


XFS, EXT4 = {"filesystem": "xfs"}, {"filesystem": "ext4"}


@pytest.mark.parametrize(
    ("template", "name", "said"),
    [
        ("{filesystem}.json", "xfs.json", XFS),
        ("{filesystem}.json", "XFS.json", XFS),
        ("{filesystem}.json", "deep/down/xfs.json", XFS),
        ("{filesystem}.json", "xfs.txt", None),
        ("{filesystem}.json", "xfs.json.bak", None),
        ("{filesystem}_run{round}.json", "xfs_run3.json", {**XFS, "round": 3}),
        ("{filesystem}_run{round}.json", "xfs_run03.json", {**XFS, "round": 3}),
        ("{filesystem}_run{round}.json", "xfs_run.json", None),
        ("{filesystem}-{}-{round}.log", "ext4-4k-rr-1.log", {**EXT4, "round": 1}),
        ("{}/{filesystem}/fio.json", "2024-03-01/xfs/fio.json", XFS),
        ("{date}/{filesystem}/fio.json", "2024-03-01/xfs/fio.json", {**XFS, "date": "2024-03-01"}),
        ("{date}-{filesystem}.json", "2024-03-01-xfs.json", {**XFS, "date": "2024-03-01"}),
        ("{date}{filesystem}.json", "20240301xfs.json", {**XFS, "date": "2024-03-01"}),
        ("{date}-{round}.json", "20240301-12.json", {"date": "2024-03-01", "round": 12}),
        ("{date} {filesystem}.json", "20240301-143022 xfs.json", {**XFS, "date": "2024-03-01 14:30:22"}),
        ("{timestamp}_{filesystem}.json", "2024-03-01T14:30_xfs.json", {**XFS, "date": "2024-03-01 14:30"}),
        ("{date}_{time}_{filesystem}.json", "2024_03_01_14-30_xfs.json", {**XFS, "date": "2024-03-01 14:30"}),
        ("{day}/{filesystem}.json", "monday/xfs.json", {**XFS, "date": "monday"}),
        ("{date}_{filesystem}.json", "2024-13-45_xfs.json", {**XFS, "date": "2024-13-45"}),
        ("{host}/{filesystem}/run{round}.json", "node7/xfs/run12.json", {"host": "node7", **XFS, "round": 12}),
        ("{host}/{filesystem}/run{round}.json", "xfs/run12.json", None),
        ("run_{round} ({copy}).txt", "run_3 (copy).txt", {"round": 3, "copy": "copy"}),
        (
            "{filesystem}_{workload}_bs{block_size}_qd{iodepth}_run{round}.json",
            "xfs_randread_bs4k_qd32_run3.json",
            {**XFS, "workload": "randread", "block_size": "4096", "iodepth": "32", "round": 3},
        ),
        (
            "{filesystem}_{workload}_bs{block_size}_qd{iodepth}_run{round}.json",
            "ext4_seq_write_bs1M_qd1_run10.json",
            {**EXT4, "workload": "seq_write", "block_size": "1048576", "iodepth": "1", "round": 10},
        ),
        (
            "{filesystem}_{block_size}_{iodepth}.json",
            "xfs_16KiB_qd8.json",
            {**XFS, "block_size": "16384", "iodepth": "8"},
        ),
        ("{threads}-{filesystem}.txt", "16threads-xfs.txt", {"threads": "16", **XFS}),
        ("{threads}-{filesystem}.txt", "1thread-xfs.txt", {"threads": "1", **XFS}),
        ("fio-{kernel}-{filesystem}.json", "fio-6.12.3-xfs.json", {"kernel": "6.12.3", **XFS}),
        ("bench {filesystem} no {round}.out", "bench xfs no 2.out", {**XFS, "round": 2}),
        ("{filesystem}.{round}", "xfs.7", {**XFS, "round": 7}),
        ("{mkfs.reflink}_{filesystem}.log", "off_xfs.log", {"mkfs.reflink": "off", **XFS}),
        (
            "{scheduler}/{filesystem}/{block_size}.json",
            "mq-deadline/xfs/4096.json",
            {"scheduler": "mq-deadline", **XFS, "block_size": "4096"},
        ),
        ("{filesystem}_direct{direct}.json", "xfs_direct1.json", {**XFS, "direct": "true"}),
        ("{filesystem}_direct{direct}.json", "xfs_direct0.json", {**XFS, "direct": "false"}),
        ("{filesystem}_{round}.json", "xfs_final.json", None),
        ("{filesystem}_{block_size}.json", "xfs_small.json", None),
        # without an ending
        ("{filesystem}/{} run {round}", "xfs/randrw_4k run 1.json", {**XFS, "round": 1}),
        ("{host}.{filesystem}", "db.xfs.log.gz", {"host": "db", **XFS}),
        ("{filesystem}-{kernel}", "xfs-6.12.LOG", {"kernel": "6.12", **XFS}),
        ("{filesystem}-{kernel}", "xfs-6.12", {"kernel": "6.12", **XFS}),
        ("{host}", "db.local", {"host": "db.local"}),
        ("{filesystem}/run{round}", "xfs.json/run3", {"filesystem": "xfs.json", "round": 3}),
    ],
)
def test_templates(template: str, name: str, said: dict[str, str | int] | None) -> None:
    assert _said(NameTemplate(template).read(Name(name))) == said


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("xfs.json", "this is not a name template"),
        ("{}.json", "this is not a name template"),
        ("{filesystem.json", "this is not a name template"),
        ("filesystem}.json", "this is not a name template"),
        ("{file system}.json", "{file system} is not a key"),
        ("{1}.json", "{1} is not a key"),
        ("{a:d}.json", "{a:d} is not a key"),
    ],
)
def test_what_is_no_template(template: str, message: str) -> None:
    with pytest.raises(RequestError, match=re.escape(message)):
        NameTemplate(template)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fs=xfs/bs=4k/run=3.json", {**XFS, "block_size": "4096", "round": 3}),
        ("filesystem=ext4/kernel=6.1/fio.json", {**EXT4, "kernel": "6.1"}),
        ("results/fs=xfs_qd=32_run=1.json", {**XFS, "iodepth": "32", "round": 1}),
        ("fs=xfs,bs=1m,rw=randread.txt", {**XFS, "block_size": "1048576", "pattern": "randread"}),
        ("rep=2/ioengine=io_uring.log", {"round": 2, "engine": "io_uring"}),
        ("numjobs=8/size=1g/x.json", {"threads": "8", "file_size": "1073741824"}),
        ("commit=abc123/x.json", {"commit": "abc123"}),
        ("date=20240301/fs=xfs.json", {**XFS, "date": "2024-03-01"}),
        (
            "nvme0n1/fio/4k/run-1/randread-16-1.json",
            {"target": "nvme0n1", "block_size": "4096", "round": 1, "iodepth": "16", "threads": "1"},
        ),
        (
            "bench/TARGET/rwmix75/64k/run-2/randrw-32-8.json",
            {"target": "TARGET", "block_size": "65536", "round": 2, "iodepth": "32", "threads": "8"},
        ),
        ("xfs-4k-rr-1.log", {}),
        ("a=b=c.log", {}),
        ("x=.log", {}),
        ("e-mc2.log", {}),
        ("2024-03-01/xfs/fio.json", {}),
    ],
)
def test_names_that_say_it_by_themselves(name: str, said: dict[str, str | int]) -> None:
    assert _said(plain_names(Name(name))) == said


@pytest.mark.parametrize(
    ("names", "template"),
    [
        (["xfs.json", "ext4.json"], "{filesystem}.json"),
        (["XFS.log", "ext4.log", "btrfs.log"], "{filesystem}.log"),
        (["xfs_run1.json", "xfs_run2.json", "ext4_run1.json"], "{filesystem}_run{round}.json"),
        (["ext4-4k-rr-1.log", "ext4-4k-rw-1.log", "xfs-4k-rr-2.log"], "{filesystem}-4k-{pattern}-{round}.log"),
        (
            ["xfs_randread_bs4k_qd32_run3.json", "ext4_randread_bs64k_qd1_run1.json"],
            "{filesystem}_randread_bs{block_size}_qd{iodepth}_run{round}.json",
        ),
        (["fio-xfs-4k.json", "fio-xfs-128k.json"], "fio-xfs-{block_size}.json"),
        (["2024-03-01/xfs/fio.json", "2024-03-01/ext4/fio.json"], "{filesystem}/fio.json"),
        (["a/xfs/1.json", "a/xfs/2.json", "a/ext4/1.json"], "{filesystem}/{round}.json"),
        (
            ["linux/xfs/1.json", "linux/ext4/1.json", "bsd/zfs/1.json", "bsd/ufs/1.json"],
            "{os}/{filesystem}/1.json",
        ),
        (
            ["Debian/xfs/1.json", "Debian/ext4/1.json", "DragonFly/hammer2/1.json", "DragonFly/ufs/1.json"],
            "{os}/{filesystem}/1.json",
        ),
        (["9f2/xfs.json", "a01/ext4.json"], "{filesystem}.json"),
        (["run_1 (copy).txt", "run_2 (copy).txt"], "run_{round} (copy).txt"),
        (["before.json", "after.json"], "{name1}.json"),
        (["old-kernel/1.json", "new-kernel/1.json"], "{name1}-kernel/1.json"),
        (["t4_xfs.log", "t8_xfs.log"], "t{threads}_xfs.log"),
        (["node1-xfs.log", "node2-ext4.log"], "node{host}-{filesystem}.log"),
        (["xfs_rndrd_1.txt", "xfs_seqwr_1.txt"], "xfs_{pattern}_1.txt"),
        (["sysbench 1.log", "sysbench 2.log"], "sysbench {round}.log"),
        (["2024-03-01_xfs.json", "2024-04-02_ext4.json"], "{date}_{filesystem}.json"),
        (["20240301-143022 xfs.log", "20240301-150102 ext4.log"], "{date} {filesystem}.log"),
        (["result.ext4.1", "result.ext4.2", "result.xfs.1"], "result.{filesystem}.{round}"),
        (["xfs_seq_read_1.json", "xfs_randread_1.json", "xfs_rand-write_1.json"], "xfs_{pattern}_1.json"),
        (["xfs-qd-32-run-01.json", "xfs-qd-1-run-02.json"], "xfs-qd-{iodepth}-run-{round}.json"),
        (["rr-q1-8jobs.json", "rr-q32-16jobs.json"], "rr-q{iodepth}-{threads}.json"),
        (["ext4 (1).html", "xfs (2).html"], "{filesystem} ({round}).html"),
        (["linux-6.1.0-xfs.json", "linux-6.12-xfs.json"], "linux-{kernel}-xfs.json"),
        (["FIO_XFS_RUN_01.TXT", "FIO_EXT4_RUN_02.TXT"], "FIO_{filesystem}_RUN_{round}.TXT"),
        (["size1G_xfs.txt", "size16G_xfs.txt"], "size{file_size}_xfs.txt"),
        (["xfs 4k randread (1).json", "ext4 4k randread (2).json"], "{filesystem} 4k randread ({round}).json"),
        (["linux-6.12-rc3_xfs.json", "linux-6.11_ext4.json"], "linux-{kernel}_{filesystem}.json"),
        (["xfs-6.12-rc3-1.json", "xfs-6.11-2.json"], "xfs-{name1}-{round}.json"),
        (
            ["kernel-6.1.0-18-amd64_ext4.log", "kernel-6.1.0-20-amd64_ext4.log"],
            "kernel-{kernel}_ext4.log",
        ),
        (
            [
                "Debian-12/a_run1.json",
                "Debian-12/a_run2.json",
                "FreeBSD-14.1/a_run1.json",
                "FreeBSD-14.1/a_run2.json",
            ],
            "{os}/a_run{round}.json",
        ),
        (["rhel-9_xfs_1.json", "ubuntu-24.04_xfs_2.json"], "{os}_xfs_{round}.json"),
        (["debian-1.json", "debian-2.json"], "debian-{round}.json"),
        (["db-1_run_1.json", "db-2_run_2.json"], "db-{name1}_run_{round}.json"),
        (["kernel5.15-xfs.json", "kernel6.8-xfs.json"], "kernel{kernel}-xfs.json"),
        (["5.15.0-91-generic/xfs-1.json", "6.8.0-31-generic/xfs-2.json"], "xfs-{round}.json"),
        (["xfs-5.15.0-91-generic.json", "xfs-6.8.0-31-generic.json"], "xfs-{kernel}.json"),
        (["nfs4.1_1.json", "nfs4.2_2.json"], "{filesystem}_{round}.json"),
        (["xfs+randread+4k.json", "ext4+randread+4k.json"], "{filesystem}+randread+4k.json"),
        (["xfs~1.log", "xfs~2.log"], "xfs~{round}.log"),
        (["thread-8-ext4.json", "thread-16-xfs.json"], "thread-{threads}-{filesystem}.json"),
        (
            ["fio_out_xfs_nvme0n1_4k_iod32_nj4_1.json", "fio_out_ext4_nvme0n1_4k_iod16_nj1_2.json"],
            "fio_out_{filesystem}_nvme0n1_4k_iod{iodepth}_nj{threads}_{round}.json",
        ),
        (["iozone-ext4-8G-r4k.txt", "iozone-xfs-8G-r64k.txt"], "iozone-{filesystem}-8G-r{block_size}.txt"),
        (["ext4_100pct_read.json", "ext4_50pct_read.json"], "ext4_{name1}_read.json"),
        (["xfs.1.json.gz", "xfs.2.json.gz"], "xfs.{round}.json.gz"),
        (["Ergebnis ext4 Lauf 1.txt", "Ergebnis xfs Lauf 2.txt"], "Ergebnis {filesystem} Lauf {round}.txt"),
        (
            ["results-2026-01-05T10:00:00-xfs.json", "results-2026-01-06T10:00:00-ext4.json"],
            "results-{date}-{filesystem}.json",
        ),
        (["seqwrite-1m-xfs-01of10.json", "seqwrite-1m-xfs-02of10.json"], "seqwrite-1m-xfs-{name1}.json"),
        (["PM9A3_xfs_4k.json", "P5800X_xfs_4k.json"], "{name1}_xfs_4k.json"),
        (["2026w03_xfs.json", "2026w04_xfs.json"], "{name1}_xfs.json"),
        (["test1-ext4-final.json", "test2-xfs-final-v2.json"], None),
        (["db-prod-1_xfs.json", "db-prod-2_ext4.json"], "{host}_{filesystem}.json"),
        (["xfs-prod-1-run-1.json", "ext4-stage-02-run-2.json"], "{filesystem}-{host}-run-{round}.json"),
        (["web01-xfs.json", "web02-xfs.json", "app1-ext4.json"], "{host}-{filesystem}.json"),
        (
            [
                "ip-10-0-0-12/xfs_1.json",
                "ip-10-0-0-12/xfs_2.json",
                "ip-10-0-0-9/xfs_1.json",
                "ip-10-0-0-9/xfs_2.json",
            ],
            "{host}/xfs_{round}.json",
        ),
        (["prod-xfs-1.json", "stage-xfs-2.json"], "{name1}-xfs-{round}.json"),
        (["xfs_128KiB_1.json", "xfs_1MiB_2.json"], "xfs_{block_size}_{round}.json"),
        (["xfs_1M_rand.json", "ext4_4K_seq.json"], "{filesystem}_{block_size}_{pattern}.json"),
        (["rand-rw-70-30_xfs.json", "rand-rw-50-50_xfs.json"], "{workload}_xfs.json"),
        (["node-01.example.org_xfs.json", "node-02.example.org_xfs.json"], "node-{host}.example.org_xfs.json"),
        (
            ["März/xfs 1.json", "März/ext4 1.json", "Mai/xfs 1.json", "Mai/ext4 1.json"],
            "{name1}/{filesystem} 1.json",
        ),
        (["fio_XFS_QD=32.json", "fio_EXT4_QD=1.json"], "fio_{filesystem}_QD={iodepth}.json"),
        (["03-11-2026_xfs.json", "04-11-2026_ext4.json"], "{date}_{filesystem}.json"),
        (["2026-11-03_14-30-22/xfs.json", "2026-11-04_14-40-22/ext4.json"], "{filesystem}.json"),
        (["Nov03-xfs.json", "Nov04-xfs.json"], "Nov{date}-xfs.json"),
        (["nvme0n1-ext4.json", "nvme1n1-xfs.json"], "{device}-{filesystem}.json"),
        (["fio-3.33-xfs.json", "fio-3.36-ext4.json"], "fio-{tool_version}-{filesystem}.json"),
        (["xfs@host1.json", "ext4@host2.json"], "{filesystem}@host{host}.json"),
        (["ubuntu22.04-ext4.json", "debian12-xfs.json"], "{os}-{filesystem}.json"),
        (["io_uring-xfs.json", "libaio-xfs.json"], "{engine}-xfs.json"),
        (["mq-deadline_xfs.json", "none_xfs.json"], "{scheduler}_xfs.json"),
        (["raid0-xfs.log", "raid10-xfs.log"], "raid{raid}-xfs.log"),
        (["xfs_q1t1.json", "xfs_q32t16.json"], "xfs_q{iodepth}t{threads}.json"),
        (["fileserver-xfs-t1.log", "varmail-xfs-t1.log"], "{workload}-xfs-t1.log"),
        (["bcachefs_v6.7_#1.txt", "bcachefs_v6.7_#2.txt"], "bcachefs_v6.7_#{round}.txt"),
        (["テスト1.json", "テスト2.json"], "テスト{name1}.json"),
        (["1234-xfs.json", "98765-xfs.json"], "{name1}-xfs.json"),
        (["xfs_1.json", "xfs_2.json", "ext4_1.json", "notes.json"], "{filesystem}_{round}.json"),
        (["sysbench_16_rndrw_ext4.log", "sysbench_32_rndrw_xfs.log"], "sysbench_{name1}_rndrw_{filesystem}.log"),
        (["dbench-1-client.txt", "dbench-64-client.txt"], "dbench-{name1}-client.txt"),
        (["ext4-256-inode-1.json", "ext4-128-inode-1.json"], "ext4-{name1}-inode-1.json"),
        (["read-4k-32-1.json", "read-4k-64-2.json"], "read-4k-{name1}-{round}.json"),
        (["xfs-50-1.json", "xfs-100-2.json", "xfs-50-3.json"], "xfs-{name1}-{round}.json"),
        (["output_1.txt", "output_2.txt", "output_10.txt"], "output_{round}.txt"),
        (["xfs 8.log", "xfs 9.log", "xfs 10.log"], "xfs {round}.log"),
        (["xfs_1job.json", "xfs_8job.json"], "xfs_{threads}.json"),
        (["xfs_t16_b4k.log", "xfs_t1_b64k.log"], "xfs_t{threads}_b{block_size}.log"),
        (["iozone_r4k_s1g_xfs.xls", "iozone_r64k_s4g_xfs.xls"], "iozone_r{block_size}_s{file_size}_xfs.xls"),
        (["tmpfs.json", "ramfs.json"], "{filesystem}.json"),
        (["v1.2.3/xfs.json", "v1.3.0/xfs.json"], "v{name1}/xfs.json"),
        (["xfs.1st.json", "xfs.2nd.json"], "xfs.{name1}.json"),
        (["ext4_1718200000.json", "xfs_1718203600.json"], "{filesystem}_{name1}.json"),
        (["2026/03/01/xfs.json", "2026/03/02/ext4.json"], "{filesystem}.json"),
        (["btrfs-zstd3-1.json", "btrfs-lzo-2.json"], "btrfs-{name1}-{round}.json"),
        (["a{1}.json", "a{2}.json"], None),
        (["xfs.json"], None),
        (["xfs.json", "xfs-again.json"], None),
        (
            ["s1/old/fio.json", "s1/old/seq.txt", "s1/new/fio.json", "s1/new/seq.txt"],
            "{name1}/{}",
        ),
        (
            [f"sess{n}/{kind}/{file}" for n in (1, 2) for kind in ("xfs", "ext4") for file in ("a.json", "b.txt")],
            "sess{round}/{filesystem}/{}",
        ),
        (["xfs/a.json", "xfs/b.txt", "ext4/a.json", "ext4/c.txt"], None),
        ([], None),
    ],
)
def test_proposals(names: list[str], template: str | None) -> None:
    found = proposed(map(Name, names))
    assert (None if found is None else found.template) == template


@pytest.mark.parametrize("number", [8, 3])  # as many of the second kind as of the first, or fewer
def test_each_of_two_patterns_has_a_template(tmp_path: Path, number: int) -> None:
    names = [f"{side}_run{n}.log" for side in ("ext4", "xfs") for n in range(8)]
    names += [f"sysbench-rndwr-{side}-{n}.log" for side in ("ext4", "xfs") for n in range(number)]
    folder = _logs(tmp_path, *names, "odd.log")
    templates = [found.template for found in proposed_for_each(map(Name, names))]
    assert templates == ["sysbench-rndwr-{filesystem}-{round}.log", "{filesystem}_run{round}.log"]
    said = str(CliRunner().invoke(app, ["compare", str(folder)]).exception)
    assert "--names 'sysbench-rndwr-{filesystem}-{round}.log' --names '{filesystem}_run{round}.log'" in said
    assert "1 more, such as odd.log, does not match." in said
    runs = fsb.read(folder, names=templates).runs
    assert runs.group_by("filesystem").len().sort("filesystem", nulls_last=True).rows() == [
        ("ext4", 8 + number),
        ("xfs", 8 + number),
        (None, 1),
    ]
    wrong = str(CliRunner().invoke(app, ["compare", str(folder), "--names", "x{round}"]).exception)
    assert "Those that match: --names 'sysbench-" in wrong


@pytest.mark.parametrize(
    ("files", "templates"),
    [
        (["fio.json", "iozone.log", "bonnie.txt"], ["{filesystem}/{}"]),  # which say no more than their folders
        (
            ["fio rw 1.out", "fio rw 2.out", "iozone 64k 1.txt", "iozone 64k 2.txt"],
            ["{filesystem}/fio rw {round}.out", "{filesystem}/iozone 64k {round}.txt"],
        ),
        (
            ["fio.json", "iozone_1.log", "iozone_2.log"],
            ["{filesystem}/iozone_{round}.log", "{filesystem}/fio.json"],
        ),
    ],
)
def test_the_same_names_in_several_folders_are_read_if_they_say_more(
    files: list[str], templates: list[str]
) -> None:
    names = [f"{filesystem}/{file}" for filesystem in ("ext4", "xfs") for file in files]
    assert [found.template for found in proposed_for_each(map(Name, names))] == templates


@pytest.mark.parametrize(
    ("of_logs", "of_folders"),
    [
        ("alpha", "{name2}/{name1}_run{round}.txt"),
        ("home", "{name1}/{name2}_run{round}.txt"),
        ("neither", "{name2}/{name3}_run{round}.txt"),
    ],
)
def test_a_word_means_the_same_in_all_templates(of_logs: str, of_folders: str) -> None:
    names = [f"{name}_run{n}.log" for name in (of_logs, "other") for n in (1, 2)]
    names += [
        f"{place}/{name}_run{n}.txt" for place in ("home", "lab") for name in ("alpha", "beta") for n in (1, 2)
    ]
    found = proposed_for_each(map(Name, names))
    assert [each.template for each in found] == ["{name1}_run{round}.log", of_folders]
    for each in found:
        for name, said in each.examples:
            read = NameTemplate(each.template).read(Name(name))
            assert _said(read) == {**said, "round": int(said["round"])}


def test_what_all_templates_read_is_the_factor(tmp_path: Path) -> None:
    names = [
        f"{place}-{name}-run{n}.txt" for place in ("home", "lab") for name in ("alpha", "beta") for n in (1, 2)
    ]
    names += [f"{name}_run{n}.log" for name in ("alpha", "beta") for n in (1, 2)]
    command = str(CliRunner().invoke(app, ["compare", str(_logs(tmp_path, *names))]).exception).splitlines()[-1]
    assert command.endswith(
        "--names '{name1}-{name2}-run{round}.txt' --names '{name2}_run{round}.log' --factor name2"
    )


def test_a_proposal_says_what_it_would_mean_and_can_be_used() -> None:
    names = [
        f"{filesystem}_qd{depth}_run{n}.json"
        for filesystem in ("xfs", "ext4")
        for depth in (1, 32)
        for n in (1, 2)
    ]
    found = proposed(map(Name, names))
    assert found is not None
    assert found.examples[3] == ("xfs_qd32_run2.json", {"filesystem": "xfs", "iodepth": "32", "round": "2"})
    assert len(found.examples) == 5
    assert _said(NameTemplate(found.template).read(Name(names[3]))) == {**XFS, "iodepth": "32", "round": 2}


def test_examples_of_folders_are_names_of_files() -> None:
    names = [f"{folder}/{file}" for folder in ("xfs", "ext4") for file in ("fio.json", "seq.txt")]
    found = proposed(map(Name, names))
    assert found is not None
    said = {name: known["filesystem"] for name, known in found.examples}
    assert said == {"xfs/fio.json": "xfs", "ext4/fio.json": "ext4"}


def test_proposing_a_template_looks_at_each_name_a_few_times() -> None:
    def looks(number: int) -> int:
        count = 0

        class Counted(Name):
            @property
            def parts(self) -> tuple[str, ...]:
                nonlocal count
                count += 1
                return super().parts

        assert proposed([Counted(f"logs/ext4_run{run}.json") for run in range(number)]) is not None
        return count

    assert looks(400) == 4 * looks(100)


# ---- through the doors

LOG = "real\t0m{seconds}s\nuser\t0m0.250s\nsys\t0m0.100s\n"


def _logs(folder: Path, *names: str) -> Path:
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LOG.format(seconds=f"{1 + number / 100:.3f}"))
    return folder


def test_a_script_may_be_called_parse(tmp_path: Path) -> None:
    """Python takes it for the package of that name, and would run it again."""
    (tmp_path / "xfs_1.log").write_text("real\t0m1.500s\nuser\t0m0.100s\nsys\t0m0.200s\n")
    (tmp_path / "parse.py").write_text(
        "import fsbench_kit as fsb\n"
        "runs = fsb.read('xfs_1.log', names='{filesystem}_{round}.log').runs\n"
        "print(runs.select('filesystem', 'round').row(0))\n"
    )
    command = [sys.executable, tmp_path / "parse.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "('xfs', 1)\n"), found.stderr


def test_names_say_what_logs_do_not(tmp_path: Path) -> None:
    folder = _logs(tmp_path, "xfs_qd1_run1.log", "xfs_qd32_run2.log", "notes of mine.log")
    data = fsb.read(folder, names="{filesystem}_qd{iodepth}_run{round}.log")
    assert data.runs.select("filesystem", "round").rows() == [(None, None), ("xfs", 1), ("xfs", 2)]
    depths = data.settings.filter(key="iodepth")
    assert depths.select("value", "origin").rows() == [("1", "name"), ("32", "name")]
    (said,) = data.diagnostics.filter(code="NAME_DOES_NOT_FIT").rows(named=True)
    assert Path(said["source"]).name == "notes of mine.log"
    assert "does not fit {filesystem}_qd{iodepth}_run{round}.log" in said["message"]


def test_a_study_goes_before_names(tmp_path: Path) -> None:
    folder = _logs(tmp_path, "fs=xfs_run=1.log")
    assert fsb.read(folder).runs.select("filesystem", "round").rows() == [("xfs", 1)]
    of_log = 'file = "fs=xfs_run=1.log"\ntool = "time"\nfilesystem = "ext4"\n'
    (folder / "study.toml").write_text(f'[study]\nid = "s"\ntitle = "S"\n[[log]]\n{of_log}')
    assert fsb.read(folder).runs.select("filesystem", "round").rows() == [("ext4", 1)]


def test_what_is_read_with_names_is_not_taken_for_what_is_read_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FSBENCH_CACHE", "on")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = _logs(tmp_path / "logs", "a-xfs.log", "b-ext4.log")
    for names in (None, "{}-{filesystem}.log", "{filesystem}-{}.log", None):
        expected = {None: [None, None], "{}-{filesystem}.log": ["xfs", "ext4"]}.get(names, ["a", "b"])
        assert fsb.read(folder, names=names).runs["filesystem"].to_list() == expected


def test_the_command_proposes_a_template_and_takes_it(tmp_path: Path) -> None:
    folder = _logs(tmp_path / "logs", *(f"{side}/run{n}.log" for side in ("ext4", "xfs") for n in (1, 2, 3)))
    refused = CliRunner().invoke(app, ["compare", str(folder)])
    assert isinstance(refused.exception, RequestError)
    assert "\n    ext4/run1.log: filesystem ext4, round 1\n" in str(refused.exception)
    assert f"fsbench compare {folder} --names '{{filesystem}}/run{{round}}.log'" in str(refused.exception)
    template = "{filesystem}/run{round}.log"
    result = CliRunner().invoke(app, ["compare", str(folder), "--names", template])
    assert result.exit_code == 0, result.output
    assert "3 rounds" in result.output
    read = CliRunner().invoke(app, ["read", str(folder), "--names", template, "--to", str(tmp_path / "runs.csv")])
    assert read.exit_code == 0, read.output
    assert set(pl.read_csv(tmp_path / "runs.csv")["filesystem"]) == {"ext4", "xfs"}


def test_what_does_not_fit_is_said_by_compare_too(tmp_path: Path) -> None:
    folder = _logs(tmp_path, *(f"{name}_run{n}.log" for name in ("ext4", "xfs") for n in (1, 2)), "odd.log")
    said = fsbench("compare", folder, "--names", "{filesystem}_run{round}.log").stderr
    assert f"{folder}/odd.log: Its name does not fit {{filesystem}}_run{{round}}.log" in said
    asked = fsbench("read", folder, "--names", "{filesytem}_run{round}.log").stderr
    assert "'filesytem' becomes a setting of that name. Did you mean filesystem?" in asked
    assert "Did you mean" not in fsbench("read", folder, "--names", "{commit}_run{round}.log").stderr


# ---- in a study


def _study(folder: Path, names: str, more: str = "") -> Path:
    (folder / "study.toml").write_text(f'[study]\nid = "s"\ntitle = "S"\nnames = {names}\n{more}')
    return folder


def test_a_study_says_what_names_mean(tmp_path: Path) -> None:
    names = '["{host}/{filesystem}_run{round}.log", "single/{kernel}.log"]'
    of_log = '[[log]]\nfile = "b/xfs_run2.log"\ntool = "time"\nround = 7\n'
    facts = f'[filesystems.xfs]\nmount_options = "noatime"\n{of_log}'
    folder = _logs(tmp_path / "s", "a/ext4_run1.log", "b/xfs_run2.log", "single/6.12.log", "else/what.log")
    data = fsb.read(_study(folder, names, facts))
    runs = data.runs.with_columns(pl.col("source").str.strip_prefix(f"{folder}/")).sort("source")
    assert runs.select("source", "study", "host", "filesystem", "round").rows() == [
        ("a/ext4_run1.log", "s", "a", "ext4", 1),
        ("b/xfs_run2.log", "s", "b", "xfs", 7),  # as the table says of it
        ("else/what.log", "s", None, None, None),
        ("single/6.12.log", "s", None, None, None),
    ]
    said = data.settings.filter(pl.col("origin").is_in(["name", "study"])).select("key", "value", "origin")
    assert sorted(said.rows()) == [("kernel", "6.12", "name"), ("mount_options", "noatime", "study")]
    (odd,) = data.diagnostics.filter(pl.col("severity") != "note").rows(named=True)
    assert (Path(odd["source"]).name, odd["code"]) == ("what.log", "NAME_DOES_NOT_FIT")


def test_names_of_a_study_begin_in_its_folder(tmp_path: Path) -> None:
    folder = _study(_logs(tmp_path / "box1", "xfs.log"), '"{host}/{filesystem}.log"')
    data = fsb.read(folder)
    assert data.runs.select("host", "filesystem").rows() == [(None, None)]
    assert fsb.read(folder, names="{host}/{filesystem}.log").runs["host"].to_list() == ["box1"]


def test_a_bad_template_in_a_study_is_said_with_its_line(tmp_path: Path) -> None:
    data = fsb.read(
        _study(_logs(tmp_path / "s", "xfs.log"), '["{filesystem}.log",\n "{a b}.log"]'),
        _logs(tmp_path / "other", "b.log"),
    )
    (said,) = data.diagnostics.filter(code="BAD_STUDY").rows(named=True)
    assert (Path(said["source"]).name, said["line"]) == ("study.toml", 4)
    assert "{a b}.log: {a b} is not a key" in said["message"]


def test_what_varies_between_runs_is_proposed_as_the_factor(root: Path, tmp_path: Path) -> None:
    """bonnie++'s label says what nothing else does."""
    report = (root / "tests" / "data" / "bonnie" / "1.98-report.txt").read_text()
    for number, label in enumerate(("ext4", "xfs", "ext4", "xfs")):
        text = report.replace("newbox", label.ljust(6)).replace(f"{label:6},", f"{label},")
        (tmp_path / f"{number}.log").write_text(text.replace("1576316721", str(1576316721 + number)))
    refused = CliRunner().invoke(app, ["compare", str(tmp_path)])
    assert "no filesystem is known" in str(refused.exception)
    assert "These runs differ in host: ext4, xfs." in str(refused.exception)
    assert "--names" not in str(refused.exception)
    by_host = CliRunner().invoke(app, ["compare", str(tmp_path), "--factor", "host"])
    assert by_host.exit_code == 0, by_host.output
