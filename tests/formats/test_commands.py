"""Command lines of the tools, as they stand in logs, studies and shells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbench_kit.formats.commands import command_settings


def _known(command: str) -> dict[str, str]:
    found = list(command_settings(command, origin="command"))
    assert len({s.key for s in found}) == len(found)
    return {s.key: s.value for s in found if s.key != "command"}


def _command(command: str) -> str:
    return next(s.value for s in command_settings(command, origin="log") if s.key == "command")


def test_fio() -> None:
    command = (
        "fio --name=randrw --rw=randrw --direct=1 --ioengine=libaio --bs=16k --numjobs=8 --rwmixread=70 "
        "--size=1G --runtime=600 --group_reporting"
    )
    assert _known(command) == {
        "job_name": "randrw",
        "pattern": "randrw",
        "direct": "true",
        "engine": "libaio",
        "block_size": "16384",
        "threads": "8",
        "read_share": "0.7",
        "file_size": "1073741824",
        "time_limit": "600",
        "grouped": "true",
    }


def test_fio_with_one_dash_and_values_after_a_space() -> None:
    assert _known("fio -filename /dev/sdb -direct 0 -iodepth 32 -thread -rw=randread -bs 4k job.fio") == {
        "fio.filename": "/dev/sdb",
        "direct": "false",
        "iodepth": "32",
        "fio.thread": "true",
        "pattern": "randread",
        "block_size": "4096",
    }


def test_a_flag_does_not_take_the_job_file() -> None:
    assert _known("fio --group_reporting job.fio") == {"grouped": "true"}
    assert _known("sysbench --test=fileio --verbose run") == {"sysbench.verbose": "true"}


def test_sysbench() -> None:
    command = (
        "sysbench --num-threads=16 --test=fileio --file-total-size=150G --file-test-mode=rndrw "
        "--init-rng=on --max-time=300 --max-requests=0 --file-fsync-freq=100 run"
    )
    assert _known(command) == {
        "threads": "16",
        "total_size": "161061273600",
        "pattern": "rndrw",
        "sysbench.init-rng": "on",
        "time_limit": "300",
        "request_limit": "0",
        "fsync": "100",
    }


@pytest.mark.parametrize(
    ("flags", "direct", "sync"),
    [
        ("direct", "true", "false"),
        ("sync", "false", "true"),
        ("dsync,direct", "true", "true"),
        ("", "false", "false"),
    ],
)
def test_sysbench_open_flags(flags: str, direct: str, sync: str) -> None:
    known = _known(f"sysbench fileio --file-extra-flags={flags} run")
    assert known == {"direct": direct, "sync": sync}


def test_iozone() -> None:
    known = _known("./iozone -Ra -I -+u -y 32k -q 16m -g 2G -n 2G -f /data01/test -b /data01/test.wks")
    assert known == {
        "iozone.-R": "true",
        "iozone.-a": "true",
        "direct": "true",
        "iozone.-+u": "true",
        "iozone.-y": "32768",
        "iozone.-q": "16777216",
        "iozone.-g": "2147483648",
        "iozone.-n": "2147483648",
        "directory": "/data01/test",
        "output": "/data01/test.wks",
    }


def test_iozone_sizes_without_a_suffix_are_kilobytes_and_a_cache_line_is_bytes() -> None:
    assert _known("iozone -s 512 -r 4 -S 1024 -L 64") == {
        "file_size": "524288",
        "block_size": "4096",
        "iozone.-S": "1048576",
        "iozone.-L": "64",
    }


def test_iozone_options_that_are_given_several_times() -> None:
    assert _known("iozone -e -az -i 0 -i 1 -i 0 -r 4k -r 1m -s2g") == {
        "iozone.-e": "true",
        "iozone.-a": "true",
        "iozone.-z": "true",
        "iozone.-i": "0,1",
        "block_size": "4096,1048576",
        "file_size": "2147483648",
    }


def test_iozone_flags_without_a_value_take_none() -> None:
    """-B, -G, -K and -m are mere flags; -k, -H and -P are not."""
    assert _known("iozone -B -G -K -m -k 4 -P 2 -t 8") == {
        "iozone.-B": "true",
        "iozone.-G": "true",
        "iozone.-K": "true",
        "iozone.-m": "true",
        "iozone.-k": "4",
        "iozone.-P": "2",
        "threads": "8",
    }


def test_iozone_options_with_a_plus() -> None:
    assert _known("iozone -+p 30 -+n -+q 5 -i 8 -+w 20 -F a b -o") == {
        "iozone.-+p": "30",
        "iozone.-+n": "true",
        "iozone.-+q": "5",
        "iozone.-i": "8",
        "iozone.-+w": "20",
        "iozone.-F": "a",
        "sync": "true",
    }


def test_an_iozone_command_that_is_cut_keeps_its_words() -> None:
    assert _known("iozone -a -s") == {}
    assert _command("iozone -a -s") == "iozone -a -s"


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        ("[root@digoal current]# ./iozone -Ra", "./iozone -Ra"),
        ("root@:~/iozone3_434/src/current # ./iozone -Ra", "./iozone -Ra"),
        ("$ fio  --bs=4k \\\n   --rw=read", "fio --bs=4k --rw=read"),
        ("time /usr/local/bin/sysbench fileio run", "/usr/local/bin/sysbench fileio run"),
        ("fio--name=a", "fio--name=a"),
        (r'"C:\Program Files\fio\fio.exe" --bs=4k', r'"C:\Program Files\fio\fio.exe" --bs=4k'),
        ("bonnie++ -d /mnt", "bonnie++ -d /mnt"),
    ],
)
def test_prompts_and_line_breaks_are_no_part_of_the_command(typed: str, command: str) -> None:
    assert _command(typed) == command


def test_options_that_lost_the_spaces_between_them() -> None:
    assert _known("fio--name=randrw--rw=randrw --bs=128k--numjobs=8") == {
        "job_name": "randrw",
        "pattern": "randrw",
        "block_size": "131072",
        "threads": "8",
    }


@pytest.mark.parametrize(
    ("option", "key", "value"),
    [
        ("--bs=4k,8k", "block_size", "4k,8k"),
        ("--runtime=2m", "time_limit", "120"),
        ("--runtime=2900ms", "time_limit", "2.9"),
        ("--runtime=2.9m", "time_limit", "2"),  # fio reads no further than the point
        ("--runtime=soon", "time_limit", "soon"),
        ("--rwmixread=much", "read_share", "much"),
        ("--end_fsync=0", "final_fsync", "false"),
        ("--size=50%", "file_size", "50%"),
    ],
)
def test_values_that_are_no_number_are_kept_as_they_stand(option: str, key: str, value: str) -> None:
    assert _known(f"fio {option}") == {key: value}


def test_origin_and_line_are_handed_on() -> None:
    found = list(command_settings("fio --bs=4k", origin="stated", line=7))
    assert {(s.origin, s.line, s.scope) for s in found} == {("stated", 7, "all")}
    assert len(found) == 2


@given(st.text("-+=abcfiostuzen 0123456789k,%\\\n"))
def test_no_text_is_an_exception(words: str) -> None:
    for tool in ("fio", "sysbench", "iozone"):
        assert next(iter(command_settings(f"{tool} {words}", origin="log"))).key == "command"
        list(command_settings(f"{tool} {words}", origin="log"))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            "# bonnie++ -d /mnt -s 16G:64k:100 -n 128:1024:512:10 -m box -u root:root -bD -f -c 4 | bon_csv2html",
            {
                "directory": "/mnt",
                "file_size": str(16 * 2**30),
                "block_size": "65536",
                "files": "131072",
                "bonnie++.seeks": "100",
                "bonnie++.largest-file": "1024",
                "bonnie++.smallest-file": "512",
                "bonnie++.directories": "10",
                "description": "box",
                "bonnie++.-u": "root:root",
                "fsync": "1",
                "direct": "true",
                "bonnie++.-f": "true",
                "threads": "4",
            },
        ),
        (
            "/usr/sbin/bonnie++ -s 2048 -f20 -n0 -d $DIR",
            {"file_size": str(2**31), "bonnie++.-f": "20", "files": "0"},
        ),
        ("bonnie++ -d /mnt/ -r `free -m | awk '{print $2}'` -u me", {"directory": "/mnt/", "bonnie++.-u": "me"}),
    ],
)
def test_bonnie(command: str, expected: dict[str, str]) -> None:
    found = {s.key: s.value for s in command_settings(command, origin="log") if s.key != "command"}
    assert found == expected
