"""Which format a text is of: exactly one for each published log, none for what is no log."""

import os
from collections.abc import Iterable
from pathlib import Path

from fsbench_kit.formats import sniff

PUBLISHED = Path(__file__).parents[2] / "raw_results" / "published"

OWNERS = {
    "bonnie-*.txt": "bonnie",
    "fio-*.txt": "fio_normal",
    "iozone-*.txt": "iozone",
    "rnd*.txt": "sysbench",
    "seq*.txt": "sysbench",
    "smallfiles-*.txt": "smallfiles",
    "tasks.csv": "filetree",
}
"""Name of a published log -> the module that reads it."""

LOGS = {path: owner for pattern, owner in OWNERS.items() for path in sorted(PUBLISHED.glob(f"*/{pattern}"))}


def _sniffers(chars: str) -> list[str]:
    return sorted({getattr(log_format, "__name__", "").rpartition(".")[2] for _, log_format in sniff(chars)})


def test_every_published_file_is_a_log_or_a_known_companion() -> None:
    companions = {
        *PUBLISHED.glob("*/study.toml"),
        *PUBLISHED.glob("*/provision-*.txt"),
        *PUBLISHED.glob("*/command.txt"),
    }
    assert {path for path in PUBLISHED.rglob("*") if path.is_file()} == {*LOGS, *companions}


def _known(paths: Iterable[Path]) -> dict[Path, list[str]]:
    return {path: _sniffers(path.read_text(encoding="utf-8", errors="replace")) for path in paths}


def test_exactly_one_format_knows_each_published_log() -> None:
    assert _known(LOGS) == {path: [owner] for path, owner in LOGS.items()}


def test_commands_that_make_filesystems_are_no_log() -> None:
    provisions = sorted(PUBLISHED.glob("*/provision-*.txt"))
    assert _known(provisions) == {path: [] for path in provisions}
    assert provisions


def test_at_most_one_format_knows_a_fixture() -> None:
    known = _known((PUBLISHED.parents[1] / "tests" / "data").glob("*[!_]/*"))
    assert len(known) > 200
    assert {path: formats for path, formats in known.items() if len(formats) > 1} == {}


OTHER_TEXTS = sorted((PUBLISHED.parents[1] / "tests" / "data" / "other").glob("*"))
"""Programs, system logs, other benchmarks' output, the tools' own help, ..."""


def test_no_format_knows_another_text() -> None:
    assert len(OTHER_TEXTS) > 95
    assert {path: formats for path, formats in _known(OTHER_TEXTS).items() if formats} == {}


def test_no_format_knows_a_program() -> None:
    programs = sorted(Path(os.__file__).parent.glob("*.py"))
    assert len(programs) > 100
    assert {path: formats for path, formats in _known(programs).items() if formats} == {}


NO_LOGS = {
    "nothing": "",
    "blank": " \n\t\n",
    "python": 'def write(path: str) -> float:\n    """Return MiB/s."""\n    return 512 / 3.5  # iops=12\n',
    "c": '#include <stdio.h>\nint main(void) { printf("%8llu KB/s reclen %d\\n", 12ULL, 4); return 0; }\n',
    "shell": "#!/bin/sh\nset -e\nfor bs in 4k 16k; do\n  iozone -a -r $bs -s 4g > out.$bs\ndone\nfio job.fio\n",
    "makefile": "bench:\n\tfio --output-format=json job.fio > run.json\n\tsysbench fileio prepare\n",
    "job file": "[global]\nioengine=libaio\nbs=4k\ndirect=1\nruntime=60\n\n[randread]\nrw=randread\nsize=1G\n",
    "syslog": (
        "Nov 30 02:13:32 tub kernel: [ 12.345678] XFS (sdb1): Mounting V5 Filesystem\n"
        "Nov 30 02:13:33 tub kernel: [ 12.445678] XFS (sdb1): Ending clean mount\n"
        "Nov 30 02:14:01 tub CRON[812]: (root) CMD (iozone -a > /var/log/io)\n"
    ),
    "csv": "date,filesystem,read MB/s,write MB/s\n2015-11-30,ext4,512,430\n2015-11-30,zfs,310,287\n",
    "csv of tasks": "task,owner,metric,value\nmkfs,ann,hours,3\n",
    "tsv": "kB\tseconds\n4\t0.3\n8\t0.5\n",
    "prose": (
        "We ran iozone in auto mode with record sizes from 32 kB to 16384 kB. The writer report shows that EXT4 "
        "reaches 394 MB/s, and ZFS 196 MB/s; fio and sysbench fileio agree, at 189k IOPS. See bonnie++ below.\n"
    ),
    "prose on options": '-R makes iozone print a report; "Output is in kBytes/sec" then heads the 1st part.\n',
    "dd": (
        "1024+0 records in\n1024+0 records out\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.34567 s, 458 MB/s\n"
    ),
    "hdparm": (
        "\n/dev/sda:\n Timing cached reads:   24912 MB in  2.00 seconds = 12470.31 MB/sec\n"
        " Timing buffered disk reads: 1532 MB in  3.00 seconds = 510.42 MB/sec\n"
    ),
    "iostat": (
        "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s\n"
        "sda              1.20     45.10     0.11   8.40    0.42    37.58    3.10     88.90\n"
    ),
    "vmstat": (
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
        " 1  0      0 813244  91204 918272    0    0    12    34   56   78  1  1 98  0  0\n"
    ),
    "df": "Filesystem 1K-blocks    Used Available Use% Mounted on\n/dev/sda1  41151808 9876543  29154321  26% /\n",
    "mkfs": (
        "mke2fs 1.47.0 (5-Feb-2023)\nCreating filesystem with 262144 4k blocks and 65536 inodes\n"
        "Superblock backups stored on blocks:\n\t32768, 98304, 163840, 229376\n"
    ),
    "json": '{"name": "run", "read": 12.5, "write": [1, 2, 3], "jobs": 4}\n',
    "toml": '[study]\nid = "mine"\ntool = "fio"\nyear = 2015\n\n[[log]]\nfile = "iozone-ext4.txt"\n',
    "html": "<html><body><h1>Version 1.98</h1><p>Size 16G, 424 M/sec, 97 % CPU</p></body></html>\n",
    "markdown table": "| filesystem | read MB/s | write MB/s |\n|---|---|---|\n| ext4 | 512 | 430 |\n",
    "prose on time": "The real 2.50 of it is user 0.50 and sys 0.10; 3.2elapsed 50%CPU is what time prints.\n",
    "ls": "total 864\n-rw-r--r-- 1 ann ann 844312 Nov 21 09:35 iozone.c\n-rw-r--r-- 1 ann ann 3989 Nov 21 fio\n",
    "numbers": "2097152 32 134418 137172\n2097152 64 134167 202202\n",
}


def test_what_is_no_log_is_none() -> None:
    assert {name: _sniffers(chars) for name, chars in NO_LOGS.items() if _sniffers(chars)} == {}


def test_the_surest_format_is_chosen() -> None:
    table = "              kB  reclen    write  rewrite\n            4096       4    35031    66759\n"
    assert _sniffers(table) == ["iozone"]
