"""Whole documents: several tools in one text, with prose, commands and tables of other numbers between."""

import html
import os
import re
from pathlib import Path

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.documents import read_document
from fsbench_kit.model.records import Diagnostic, Run

DATA = Path(__file__).parents[1] / "data"
FIO = (DATA / "fio_normal" / "3.33-grouped.txt").read_text()
FIO_REPORT = FIO[FIO.index("(g=0)") - 20 :].split("\n", 1)[1] if FIO.startswith("$") else FIO
SYSBENCH = (DATA / "sysbench" / "1.0.20-seqwr.txt").read_text()
SMALLFILES = "# ext4\nfile_create 1000\nwrite: 2000.000/sec, write/0.500 secs, write_sync/0.100 secs\n"

ARTICLE = f"""\
# Which filesystem for our 12 servers?

We bought 3 machines with 64 GB of memory each in 2019, and tried them for two weeks.

| disk | price | size |
|------|-------|------|
| A    | 120   | 2000 |
| B    | 95    | 1000 |

## Sequential writes

First the files are laid out with `sysbench fileio --file-num=4 prepare`, then:

```console
user@host:~$ sysbench fileio --file-num=4 --file-test-mode=seqwr run
{SYSBENCH}```

That was about what we expected from a disk of 7200 turns per minute.

## Mixed

With `fio --name=mix --rw=randrw --bs=8k` we had these results on the first machine:

```
{FIO_REPORT}```

And the small files, which we made with a script of our own that took us 3 days to write:

    {SMALLFILES.replace(chr(10), chr(10) + "    ").rstrip()}

All in all, we take the disk B, and save 25 dollars for each of the machines.
"""


def _read(data: bytes) -> tuple[list[Run], list[Diagnostic]]:
    records = list(read_document(data, "x"))
    return [r for r in records if isinstance(r, Run)], [r for r in records if isinstance(r, Diagnostic)]


def test_an_article_has_its_logs_and_no_others() -> None:
    runs, diagnostics = _read(ARTICLE.encode())
    assert [run.tool for run in runs] == ["sysbench", "fio", "smallfiles"]
    sysbench, fio, smallfiles = runs
    assert _commands(sysbench) == [("sysbench fileio --file-num=4 --file-test-mode=seqwr run", "command")]
    assert _commands(fio) == [("fio --name=mix --rw=randrw --bs=8k", "stated")]
    assert _commands(smallfiles) == []
    for run, log in ((sysbench, SYSBENCH), (fio, FIO_REPORT)):
        (alone,) = _read(log.encode())[0]
        assert [m.text for m in run.measurements] == [m.text for m in alone.measurements]
        offset = ARTICLE[: ARTICLE.index(log)].count("\n")
        assert [m.line - offset for m in run.measurements] == [m.line for m in alone.measurements]
    assert not [d for d in diagnostics if d.code == "UNREAD_FIGURE"]


def _commands(run: Run) -> list[tuple[str, str]]:
    return [(s.value, s.origin) for s in run.settings if s.key == "command"]


IOZONE = (DATA / "iozone" / "3.489-direct.txt").read_text()
COMMANDS = {
    "fio": ("fio --name=mix --rw=randrw --bs=8k", FIO_REPORT),
    "sysbench": ("sysbench fileio --file-num=4 --file-test-mode=seqwr run", SYSBENCH),
    "iozone": ("iozone -a -i 0 -i 6", re.sub(r".*Command line.*\n", "", IOZONE)),
    "bonnie++": ("bonnie++ -d /mnt -u root", (DATA / "bonnie" / "2.00a-report.txt").read_text()),
}
SENTENCES = [
    "<p>With <code>{}</code>, which gave:</p>",
    "<P>The <TT CLASS='sh'>{}</TT> of our 3 machines\ntook 12 hours.</p>",
    "<p>With <kbd>{}</kbd> &amp; <code>sync</code> we had these results:</p>",
    "With `{}`, which gave:\n",
    "On 3 machines, ``{}`` took `12 hours`:\n",
]


@pytest.mark.parametrize("tool", COMMANDS)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_command_in_a_sentence_ends_where_its_marks_do(sentence: str, tool: str) -> None:
    command, log = COMMANDS[tool]
    article = f"{sentence.format(command)}\n<pre>\n{html.escape(log)}</pre>\n<p>All of it.</p>\n"
    (run,) = _read(article.encode())[0]
    assert _commands(run) == [(command, "stated")]


@pytest.mark.parametrize("tool", COMMANDS)
def test_a_command_right_above_its_log_is_the_one_that_ran(tool: str) -> None:
    command, log = COMMANDS[tool]
    for page in (
        f"<p><code>{command}</code></p><pre>{html.escape(log)}</pre>",
        f"<pre><code>{command}\n{html.escape(log)}</code></pre>",
        f"<code>$ {command}<br>{html.escape(log).replace(chr(10), '<br>')}</code>",
        f"```\n{command}\n{log}```\n",
    ):
        (run,) = _read(page.encode())[0]
        assert _commands(run) == [(command, "command")]


def test_a_second_run_does_not_take_the_command_of_the_first() -> None:
    report = (DATA / "fio_json" / "3.33-grouped.json").read_text()
    runs, _ = _read(f"$ fio --output-format=json job.fio\n{report}\nAnd on XFS:\n\n{report}".encode())
    assert [_commands(run)[0][1] for run in runs] == ["command", "stated"]


CORPUS = Path(os.environ.get("FSBENCH_CORPUS", "/nonexistent"))
MANGLED = {
    "fio/normal/lore_gup_3.x_qp_nbsp_inline_reply.txt": {
        "CODING",
        "SPACES",
        "PREFIXES",
    },
    "fio/normal/lore_gup_reader_3.3_qp.txt": {"CODING"},
}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="FSBENCH_CORPUS names no folder of real logs")
@pytest.mark.parametrize("name", MANGLED)
def test_mangled_logs_of_other_people(name: str) -> None:
    runs, diagnostics = _read((CORPUS / name).read_bytes())
    assert len(runs) == 1
    assert len(runs[0].measurements) > 30
    repaired = [d.code.removeprefix("REPAIRED_") for d in diagnostics if d.code.startswith("REPAIRED_")]
    assert len(repaired) == len(set(repaired))
    assert set(repaired) == MANGLED[name]
    assert not [d for d in diagnostics if d.code == "UNREAD_FIGURE"]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="FSBENCH_CORPUS names no folder of real logs")
def test_nothing_stops_the_reading_of_real_logs() -> None:
    for path in CORPUS.glob("*/*/*"):
        data = path.read_bytes()
        for record in read_document(data, str(path)):
            if isinstance(record, Run):
                assert 0 <= record.start < record.end <= len(data)
                assert data[: record.start].count(b"\n") + 1 == record.line


@pytest.mark.parametrize(
    ("line", "is_heading"),
    [
        ("Test 3: 4k random read, 2 threads", True),
        ("### 4. sysbench rndrd, 8M files, run 2 of 3", True),
        ("11. again, 2nd pass 2024-01-15 10:20:30", True),
        ("=== 12/12: fio, iodepth=8 (took 3 minutes) ===", True),
        ("Starting Run 06/22/2015 for 60 seconds", True),
        ("## Results on ext4 (512 GB SSD, kernel 5.15.0-91)", True),
        ("Test 3: 4k random read, 512 MB/s", False),
        ("Test 3: 90 % of the rest", False),
        ("Result: 123.45", False),
        ("Run 2: 48123", False),
        ("Run 2: 7353 IOPS", False),
        ("Test 4: lat=250", False),
        ("RandRead: 7353 - RandWrite: 3432", False),
    ],
)
def test_a_heading_above_a_log_is_no_figure_that_was_lost(tmp_path: Path, line: str, is_heading: bool) -> None:
    log = Path("tests/data/fio_normal/3.33-grouped.txt").read_text()
    path = tmp_path / "page.txt"
    path.write_text(f"{log}{line}\n{log.replace('pid=19275', 'pid=19276')}")
    data = fsb.read(path)
    assert data.runs.height == 2
    (item,) = data.diagnostics.filter(pl.col("excerpt") == line).rows(named=True)
    assert item["code"] == ("OTHER_TEXT" if is_heading else "UNREAD_FIGURE")


@pytest.mark.parametrize("limit", ["", " (4096)"])
def test_fio_s_own_error_is_understood(tmp_path: Path, limit: str) -> None:
    message = f"error: maximum number of jobs{limit} reached.\n"
    for name, status in (("fio_normal/3.33-grouped.txt", "failed"), ("fio_json/3.33-grouped.json", "ok")):
        path = tmp_path / "log.txt"
        path.write_text(message + Path("tests/data", name).read_text())
        data = fsb.read(path)
        assert data.runs["status"].to_list() == [status]
        assert "UNREAD_FIGURE" not in data.diagnostics["code"]
        assert data.diagnostics.filter(pl.col("excerpt") == message.strip()).height == 1
