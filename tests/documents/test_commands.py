"""Which commands stand in a text, and which log each belongs to."""

import pytest

from fsbench_kit.documents.commands import commands
from fsbench_kit.formats.text import Text

FIO = "fio --name=x --rw=read --bs=4k"


@pytest.mark.parametrize(
    ("line", "words", "has_prompt"),
    [
        (FIO, FIO, False),
        (f"$ {FIO}", FIO, True),
        (f"root@host:~# {FIO}", FIO, True),
        (f"[user@host dir]$ {FIO}", FIO, True),
        (f"user@host:/mnt$ sudo {FIO}", FIO, True),
        (f"user@host:/mnt$ sudo -u bench time -p {FIO}", FIO, True),
        ("PS C:\\> fio.exe --name=x --rw=read", "fio.exe --name=x --rw=read", True),
        ("D:\\>fio --name=x --rw=read", "fio --name=x --rw=read", True),
        (
            r'"C:\Program Files\fio\fio" --name=x --rw=read',
            r'"C:\Program Files\fio\fio" --name=x --rw=read',
            False,
        ),
        ("$ fio --name=x\n--rw=read\nx", "fio --name=x\n--rw=read", True),
        (f"# docker exec -it bench {FIO}", FIO, True),
        (f"kubectl exec pod-0 -- {FIO}", FIO, False),
        (f"for d in a b; do {FIO}; done", FIO, False),
        (f"cd /mnt && {FIO} && sync", FIO, False),
        (f"We ran `{FIO}` and waited.", FIO, False),
        (f"We ran `sudo {FIO}` and waited.", FIO, False),
        (f"We ran `$ {FIO}`, and then `sync`.", FIO, False),
        (f"We ran `cd /mnt && {FIO}` and waited.", FIO, False),
        ("$ fio --filename=`ls /dev/sd?` --rw=read", "fio --filename=`ls /dev/sd?` --rw=read", True),
        (f"```{FIO}\n```", FIO, False),
        ("❯ /usr/local/bin/fio job.fio", "/usr/local/bin/fio job.fio", True),
        ('$ fio --name="a; b" --rw=read; sync', 'fio --name="a; b" --rw=read', True),
        ("$ fio --name=x \\\n    --rw=read\nx", "fio --name=x \\\n    --rw=read", True),
        ("$ fio --name=it's --rw=read", "fio --name=it's --rw=read", True),
        ("$ sysbench fileio --file-num=4 run", "sysbench fileio --file-num=4 run", True),
        ("$ iozone -a -i 0", "iozone -a -i 0", True),
        ("$ bonnie++ -d /mnt -u root", "bonnie++ -d /mnt -u root", True),
    ],
)
def test_a_command_is_found(line: str, words: str, has_prompt: bool) -> None:
    (command,) = commands(Text(f"Before\n{line}\n"))
    assert command.words.rstrip() == words
    assert command.has_prompt is has_prompt
    assert command.line == 2


def test_several_commands_can_share_a_line() -> None:
    found = list(commands(Text(f"$ {FIO}; sysbench --test=fileio run && iozone -a\n")))
    assert [command.tool for command in found] == ["fio", "sysbench", "iozone"]


@pytest.mark.parametrize(
    "line",
    [
        "We compared fio, sysbench and iozone - and bonnie++.",
        "$ sysbench fileio --file-num=4 prepare",
        "$ apt install fio",
        "the fio report",
    ],
)
def test_what_is_no_command_of_a_run(line: str) -> None:
    assert list(commands(Text(line))) == []
