"""Commands belong to the runs that they fit, and prose is no command."""

from pathlib import Path

import pytest

import fsbench_kit as fsb
from fsbench_kit.documents import read_document
from fsbench_kit.model.records import Diagnostic, Run

DATA = Path(__file__).parents[1] / "data"
SYSBENCH = (DATA / "sysbench" / "1.0.20-seqwr.txt").read_text()  # 2 threads, 4 files of 2 MiB, requests of 16 KiB
FIO = (DATA / "fio_normal" / "3.33-grouped.txt").read_text()  # random reads and writes of 8 KiB
BONNIE = (DATA / "bonnie" / "1.03e-report.txt").read_text()  # a file of 4 GiB
HEADING = """\
                                                           random    random
           kB  reclen    write  rewrite    read    reread    read     write
"""
SMALL = f"{HEADING}       102400       4     1864     1901     6688     6710     5331     2962\n"
LARGE = f"{HEADING}      2048000   16384    20351    19905    23036    23037    23036    19711\n"
OF_SMALL = "iozone -e -I -a -s 100M -r 4k -r 16k -i 0 -i 1 -i 2"
OF_LARGE = "iozone -e -I -a -s 2000M -r 16384k -i 0 -i 1 -i 2"


def _read(text: str) -> tuple[list[Run], list[Diagnostic]]:
    records = list(read_document(text.encode(), "x"))
    return [r for r in records if isinstance(r, Run)], [r for r in records if isinstance(r, Diagnostic)]


def _commands(text: str) -> list[list[str]]:
    return [[s.value for s in run.settings if s.key == "command"] for run in _read(text)[0]]


@pytest.mark.parametrize(
    "statement",
    [
        f"Tested using `{OF_SMALL} ; sleep 300 ; {OF_LARGE}` (it sleeps for a reason)\n",
        f"Tested using `{OF_SMALL}`, and then `{OF_LARGE}`:\n",
        f"{OF_SMALL}; {OF_LARGE}\n",
        f"    {OF_SMALL}\n    {OF_LARGE}\n",
        f"$ {OF_SMALL} && {OF_LARGE}",
    ],
)
def test_of_two_commands_each_table_has_the_one_that_it_fits(statement: str) -> None:
    text = f"{statement}\n{SMALL}\nAnd:\n\n{LARGE}"
    assert _commands(text) == [[OF_SMALL], [OF_LARGE]]
    sizes = [[s.value for s in run.settings if s.key == "file_size"] for run in _read(text)[0]]
    assert sizes == [["104857600"], ["2097152000"]]


def test_a_table_of_both_has_neither() -> None:
    text = f"Tested using `{OF_SMALL}; {OF_LARGE}`:\n\n{SMALL}{LARGE.removeprefix(HEADING)}"
    assert _commands(text) == [[]]
    (said,) = [d for d in _read(text)[1] if d.code == "COMMAND_LEFT_OUT"]
    assert said.message == "None of the commands on line 1 fits this run."


def test_one_job_of_two_is_known_by_its_name() -> None:
    job = "--rw=randrw --bs=8k"
    first, second = f"fio --name=a {job} --fsync=1", f"fio --name=w {job}"
    log = FIO[FIO.index("w: (g=0)") :]
    assert _commands(f"$ {first}; {second}\n{log}") == [[second]]
    other = second.replace("name=w", "name=b")
    text = f"$ {first}; {other}\n{log}"
    assert _commands(text) == [[]]  # one as well as the other
    assert "COMMAND_LEFT_OUT" in {d.code for d in _read(text)[1]}


@pytest.mark.parametrize(
    ("fits", "differs", "log", "why"),
    [
        (OF_SMALL, OF_LARGE, SMALL, "file_size is 104857600 in the log, and 2097152000 in the command"),
        ("iozone -a -n 64m -g 1g", "iozone -a", LARGE.replace("2048000", "1048576"), "65536 to 536870912 in"),
        (OF_SMALL, "iozone -s 100m -r 8k", SMALL, "block_size is 4096 in the log, and 8192 in the command"),
        (OF_SMALL, "iozone -a -s 100m -i 0 -i 1", SMALL, "the log has random_read, random_write, for which"),
        (
            "fio --name=x --rw=randrw --bs=8k",
            "fio --name=x --rw=randrw --bs=4k",
            FIO[FIO.index("w: (g=0)") :],
            "block_size is 8192 in the log, and 4096 in the command",
        ),
        (
            "fio --name=x --rw=randrw",
            "fio --name=x --rw=randread",
            FIO[FIO.index("w: (groupid") :],
            "the log has a write, and pattern is randread in the command",
        ),
        (
            "sysbench fileio --threads=2 --file-test-mode=seqwr run",
            "sysbench fileio --threads=8 run",
            SYSBENCH,
            "threads is 2 in the log, and 8 in the command",
        ),
        ("bonnie++ -d /mnt -s 4g", "bonnie++ -d /mnt -s 99g", BONNIE, "and 106300440576 in the command"),
    ],
)
def test_a_command_that_does_not_fit_is_left_out_and_said(fits: str, differs: str, log: str, why: str) -> None:
    assert _commands(f"We did `{fits}` again:\n\n{log}") == [[fits]]
    text = f"We did `{differs}` again:\n\n{log}"
    assert _commands(text) == [[]]
    assert not [s for run in _read(text)[0] for s in run.settings if s.origin in {"command", "stated"}]
    (said,) = [d for d in _read(text)[1] if d.code == "COMMAND_LEFT_OUT"]
    assert said.message.startswith("The command on line 1 is not that of this run: ")
    assert why in said.message


@pytest.mark.parametrize(
    "command",
    [
        "fio --rw=read --name=a --name=w --rw=randrw --bs=8k",
        "fio --name=w --rw=randwrite --bs=8k --verify=crc32c",
        "fio --name=w --readwrite=randrw --bs=4k,16k",
        "fio --name=w --rw=$mode --bs=$size",
        "fio jobs.fio",
    ],
)
def test_a_command_that_may_fit_does(command: str) -> None:
    log = FIO[FIO.index("w: (groupid") :] if "verify" in command else FIO[FIO.index("w: (g=0)") :]
    assert _commands(f"We did `{command}` again:\n\n{log}") == [[command]]


@pytest.mark.parametrize(
    "prose",
    [
        "sysbench fileio disk performance tests are conducted in the directory below.",
        "> sysbench fileio disk performance tests are conducted in the directory below.",
        "Measured with sysbench fileio disk performance tests in the directory below.",
        "sysbench --test=fileio with 2 threads was used.",
        "sysbench fileio --threads is the number of threads",
        "fio is a tool that makes I/O.",
        "fio --bs=8k is a size that we like, and --rw=randrw too.",
        "# fio --direct bypasses caches",
        "fio job.fio was run for two hours.",
        "iozone -a for a full automatic run; other options are below.",
        "iozone -O reports operations per second",
        "# iozone -s sets the size of the file",
        "iozone -s size",
        "bonnie++ -d tells it where to write, as we all know.",
        "$ bonnie++ -s size",
    ],
)
def test_prose_is_no_command(prose: str) -> None:
    tool = next(word for word in ("sysbench", "fio ", "iozone", "bonnie++") if word in prose).strip()
    log = {"sysbench": SYSBENCH, "fio": FIO[FIO.index("w: (g=0)") :], "iozone": SMALL, "bonnie++": BONNIE}[tool]
    (run,), _ = _read(f"{prose}\n\n{log}")
    assert {setting.origin for setting in run.settings} <= {"log"}
    (alone,), _ = _read(log)
    assert [(m.metric, m.value) for m in run.measurements] == [(m.metric, m.value) for m in alone.measurements]


def test_a_sentence_can_go_on_behind_the_verb_of_sysbench() -> None:
    command = "sysbench --test=fileio --file-test-mode=seqwr run"
    assert _commands(f"They ran {command} and saw this:\n\n{SYSBENCH}") == [[command]]


def test_of_the_stated_commands_of_a_study_each_run_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text(f"{SMALL}\nAnd:\n\n{LARGE}")
    (tmp_path / "study.toml").write_text(
        '[study]\nid = "s"\ntitle = "S"\n[[log]]\nfile = "page.txt"\ntool = "iozone"\n'
        f'stated_command = "{OF_SMALL}; sleep 300; {OF_LARGE}"\n'
    )
    data = fsb.read(tmp_path)
    stated = data.settings.filter(key="command", origin="stated").join(
        data.runs.select("run_id", "line"), on="run_id"
    )
    assert stated.sort("line_right")["value"].to_list() == [OF_SMALL, OF_LARGE]
