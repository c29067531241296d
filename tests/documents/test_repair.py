"""Logs put into mails, pages, terminals and wrappers by independent code come out with the same figures."""

import html
import json
import quopri
import re
import textwrap
from collections import Counter
from collections.abc import Callable
from email.message import EmailMessage
from email.policy import SMTP
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text as RichText

from fsbench_kit.documents import read_document
from fsbench_kit.documents.commands import commands
from fsbench_kit.documents.repair import repair
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic, Measurement, Run
from tests.growth import is_linear

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
PUBLISHED = ROOT / "raw_results" / "published"

LOGS = {
    "fio": DATA / "fio_normal" / "3.33-two-groups.txt",
    "iozone": DATA / "iozone" / "3.489-ops.txt",
    "sysbench": DATA / "sysbench" / "1.0.20-seqwr.txt",
    "smallfiles": ROOT
    / "raw_results"
    / "recorded"
    / "ext4-xfs-loop-2026"
    / "003-xfs-smallfiles-4k"
    / "stdout.txt",
}
WHOLE = sorted(
    path
    for folder in (DATA, PUBLISHED)
    for path in folder.glob("**/*")
    if path.suffix in {".txt", ".json", ".csv"} and path.parent.name != "other"
)


@cache
def read(data: bytes) -> tuple[list[Run], list[Diagnostic]]:
    records = list(read_document(data, "x"))
    return [r for r in records if isinstance(r, Run)], [r for r in records if isinstance(r, Diagnostic)]


def figures(runs: list[Run]) -> Counter[tuple[Any, ...]]:
    """Return all that is known of the figures, except where they stand."""
    return Counter(
        (index, m.scope, m.part, m.operation, m.metric, m.statistic, m.value, m.low, m.high, m.text, m.primary)
        for index, run in enumerate(runs)
        for m in run.measurements
    )


def codes(diagnostics: list[Diagnostic]) -> set[str]:
    return {d.code for d in diagnostics if d.code.startswith("REPAIRED")}


def number(m: Measurement) -> str:
    return re.sub(r"[^\d.].*", "", m.text)


# How copies are made


def quoted(log: str) -> str:
    return "Hi,\n\nsomebody wrote:\n" + textwrap.indent(log, "> ", lambda _: True) + "\nInteresting.\n"


def quoted_twice(log: str) -> str:
    return quoted(quoted(log))


def mailed(log: str) -> str:
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = "results = as promised"
    mail["From"] = "a@example.org"
    mail.set_content(f"Grüße, here they are:\n\n{log}\n", cte="quoted-printable")
    return mail.as_bytes().decode("ascii")


def mailed_as_quotation(log: str) -> str:
    return quopri.encodestring(quoted(log.replace("  ", " \xa0")).encode()).decode("ascii")


def on_a_page(log: str) -> str:
    return (
        "<!DOCTYPE html>\n<html><head><title>Results</title><style>p { margin: 0 }</STYLE>\n"
        "<script>if (1 < 2 && 3 > 2) { var x = '</p>'; }</script></head>\n<body>\n<!-- 17 <b> -->\n"
        f'<p>Here is what we&nbsp;saw:</p>\n<pre class="log"><code>{html.escape(log)}</code></pre>\n'
        "<p>That is all.</p></body></html>\n"
    )


def on_a_page_of_lines(log: str) -> str:
    lines = "".join(
        f"<div class='l'>{html.escape(line).replace(' ', '&nbsp;')}<br/></div>" for line in log.split("\n")
    )
    return f"<html><body><h1>Results</h1>{lines}</body></html>\n"


def highlighted(log: str) -> str:
    spans = re.sub(r"(\d+)", r'<span class="mi">\1</span>', html.escape(log))
    return f"<div class='highlight'><pre>{spans}</pre></div>\n"


def source_of_a_page(log: str) -> str:
    return html.escape(log, quote=False).replace("  ", "&nbsp; ")


def coloured(log: str) -> str:
    console = Console(file=StringIO(), force_terminal=True, color_system="256", width=1000, soft_wrap=True)
    text = RichText(log)
    text.highlight_regex(r"\d+", "bold red")
    text.highlight_regex(r"[a-z]+", "green")
    console.print(text)
    return "\x1b]0;user@host: ~\x07" + console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def in_json(log: str) -> str:
    return json.dumps({"host": "a", "rc": 0, "stdout": log, "stderr": ""})


def in_json_with_colours(log: str) -> str:
    return json.dumps({"results": [{"stdout": coloured(log)}]}, indent=2)


def in_json_in_json(log: str) -> str:
    return json.dumps({"msg": in_json(log)})


def printed_by_python(log: str) -> str:
    return f"CompletedProcess(returncode=0, stdout={log.encode()!r})\n"


def with_no_break_spaces(log: str) -> str:
    return log.replace("  ", "\xa0 ").replace("\n", "\u200b\n")


def by_a_container(log: str) -> str:
    return "".join(
        f"2024-03-01T10:00:{i % 60:02d}.{i:09d}Z stdout F {line}\n" for i, line in enumerate(log.splitlines())
    )


def by_journalctl(log: str) -> str:
    return "".join(
        f"Mar  1 10:00:{i % 60:02d} host bench.sh[123]: {line}\n" for i, line in enumerate(log.split("\n"))
    )


def by_pdsh(log: str) -> str:
    return "".join(f"node-1: {line}\n" for line in log.splitlines())


def by_avocado(log: str) -> str:
    return "".join(f"20:17:58 DEBUG| [stdout] {line}\n" for line in log.splitlines())


def by_compose(log: str) -> str:
    return "".join(f"bench_1  | {line}\n" for line in log.splitlines())


def by_kubectl(log: str) -> str:
    return "".join(f"[pod/bench-x7/main] {line}\n" for line in log.splitlines())


def commented(log: str) -> str:
    return "#!/bin/sh\nset -e\n" + textwrap.indent(log, "# ", lambda _: True)


def barred(log: str) -> str:
    return textwrap.indent(log, "| ", lambda _: True)


def added(log: str) -> str:
    return "diff --git a/log b/log\n\n" + textwrap.indent(log, "+", lambda _: True)


def fenced(log: str) -> str:
    return f"# Results\n\nWe ran it:\n\n```text\n{log}```\n\nThat is all.\n"


def indented(log: str) -> str:
    return "Results\n=======\n\n" + textwrap.indent(log, "    ")


def escaped_markdown(log: str) -> str:
    return re.sub(r"([_\[\]|<>])", r"\\\1", log)


def typeset(log: str) -> str:
    return log.replace("...", "…").replace("fio-3", "fio‑3")


COPIES: dict[Callable[[str], str], set[str]] = {
    quoted: {"PREFIXES"},
    quoted_twice: {"PREFIXES"},
    mailed: {"CODING"},
    mailed_as_quotation: {"CODING", "SPACES", "PREFIXES"},
    on_a_page: {"HTML"},
    on_a_page_of_lines: {"HTML", "SPACES"},
    highlighted: {"HTML"},
    source_of_a_page: {"HTML", "SPACES"},
    coloured: {"TERMINAL"},
    in_json: {"ESCAPES"},
    in_json_with_colours: {"ESCAPES", "TERMINAL"},
    in_json_in_json: {"ESCAPES"},
    printed_by_python: {"ESCAPES"},
    with_no_break_spaces: {"SPACES"},
    by_a_container: {"PREFIXES"},
    by_journalctl: {"PREFIXES"},
    by_pdsh: {"PREFIXES"},
    by_compose: {"PREFIXES"},
    by_avocado: {"PREFIXES"},
    by_kubectl: {"PREFIXES"},
    commented: {"PREFIXES"},
    barred: {"PREFIXES"},
    added: {"PREFIXES"},
    fenced: set(),
    indented: set(),
    escaped_markdown: {"MARKDOWN"},
    typeset: {"PUNCTUATION"},
}


@pytest.mark.parametrize("copy", COPIES, ids=lambda copy: copy.__name__)
def test_a_copy_has_the_same_figures(copy: Callable[[str], str]) -> None:
    for name, path in LOGS.items():
        log = path.read_text(encoding="utf-8")
        runs, intact_diagnostics = read(log.encode())
        assert runs
        data = copy(log).encode()
        copied, diagnostics = read(data)
        assert len(copied) == len(runs), name
        assert figures(copied) == figures(runs), name
        assert {c.removeprefix("REPAIRED_") for c in codes(diagnostics)} <= COPIES[copy], name
        new = Counter(d.code for d in diagnostics) - Counter(d.code for d in intact_diagnostics)
        assert new["UNREAD_FIGURE"] == 0, name
        lines = data.decode().split("\n")
        for run in copied:
            for m in run.measurements:
                printed = "".join(lines[m.line - 1 : m.line + 3])
                assert number(m) in re.sub(r"\x1b\[[\d;]*m|<[^>]*>|=\r?|\\u001b\[[\d;]*m", "", printed), name


@pytest.mark.parametrize("copy", [c for c in COPIES if COPIES[c]], ids=lambda copy: copy.__name__)
def test_what_was_repaired_is_said_once_with_its_place(copy: Callable[[str], str]) -> None:
    data = copy(LOGS["fio"].read_text(encoding="utf-8")).encode()
    _, diagnostics = read(data)
    said = [d.code for d in diagnostics if d.code.startswith("REPAIRED")]
    assert len(said) == len(set(said))
    assert {code.removeprefix("REPAIRED_") for code in said} == COPIES[copy]
    for d in diagnostics:
        if d.code.startswith("REPAIRED"):
            assert d.line is not None
            assert d.start is not None
            assert data[: d.start].count(b"\n") + 1 == d.line


def test_an_intact_log_is_left_alone() -> None:
    texts = {path: Text(path.read_text(encoding="utf-8")) for path in WHOLE}
    as_printed = {path: text for path, text in texts.items() if "\xa0" not in text.chars}  # others are of pages
    assert len(as_printed) > 100
    for path, text in as_printed.items():
        repaired, repairs = repair(text)
        assert (repaired.chars, repairs) == (text.chars, []), path


def test_line_ends_of_windows_make_no_difference() -> None:
    for path in WHOLE:
        data = path.read_bytes()
        assert figures(read(data.replace(b"\n", b"\r\n"))[0]) == figures(read(data)[0]), path


# What tools print and copies leave alone


@pytest.mark.parametrize(
    "line",
    [
        "a<b>c: (g=0): rw=read, bs=4K-4K/4K-4K, ioengine=sync, iodepth=20",
        "<node-1> job &amp; co: (groupid=0, jobs=1): err= 0: pid=1",
        "  lat (usec)   : 2=28.10%, 4=71.90%, >=64=0.0%",
        "     |  1.00th=[  322],  5.00th=[  326]",
        "in_queue=20",
        "size=3D",
        "C:\\new\\name\\nfs",
        "+++++ +++ 12 34",
        "++++,+++,1",
        "+++++,+++",
    ],
)
def test_what_only_looks_mangled_stays(line: str) -> None:
    chars = f"{line}\n" * 3
    if line == "size=3D":
        chars = "iodepth=4\nsize=32\n"
    assert repair(Text(chars))[0].chars == chars


@pytest.mark.parametrize(
    ("mangled", "meant"),
    [
        ("–bs=4k ––rw=read —direct=1 −i", "-bs=4k --rw=read -direct=1 -i"),
        ("600062–600062msec", "600062-600062msec"),
        ("well – it depends", "well – it depends"),
        ("--name=“a b”", '--name="a b"'),
        ('"jobname" : "“x”"', '"jobname" : "“x”"'),
        ("--name=‘x’", "--name='x'"),
        ("Jobs: 10%\b\b\b20%\b\b\b30%", "Jobs: 30%"),
        ("ab\b\bX", "Xb"),
        ("12\x1b[31m34\x1b[0m", "1234"),
        ("12\x1b[1;5H34", "12\n34"),
        ("a\x1b[3Cb", "a   b"),
        ("a [32mok[0m", "a ok"),
        ("1\u2009234", "1\u2009234"),
        ("1\u200b234", "1234"),
        ("12\0\0\x0034", "12\ufffd34"),
        ("a\n\0\0fio", "a\n\ufffd\nfio"),
        ("| **88826** | **+++** |", "| 88826 | +++ |"),
        ("group\\_reporting", "group_reporting"),
        ("a\rb\r\nc", "a\nb \nc"),
        ("<td><b style='x'>14116</b></td>", "14116"),
        ("<tr>\n<td>1</td>\n<td>2</td>\n</tr>", "\n 1  | 2 \n"),
    ],
)
def test_small_repairs(mangled: str, meant: str) -> None:
    assert repair(Text(mangled))[0].chars == meant


# Any text

SIGNS = "<>=|&;\\\"'\n\r\t \b\0\x1b[]*#+-`0123456789“”–…\xa0\u200b\u2009"
SCRAPS = re.findall(
    r"\S+",
    r"""<b> </b> <pre> <tr> <td> <!-- --> <script> &gt; &#65; =3D =C2=A0 \n \u001b \" **1** ## host: [a]
    fio --name=x 2024-03-01T10:00:00Z IOPS=115,BW=14.5MiB/s(15.2MB/s)(8671MiB/600062msec) (g=0):rw=read""",
)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from([*SIGNS, *SCRAPS]), max_size=60).map("".join))
def test_every_character_keeps_its_place(chars: str) -> None:
    repaired, repairs = repair(Text(chars))
    places = [repaired.byte(position) for position in range(len(repaired.chars) + 1)]
    assert places == sorted(places)
    assert places[0] >= 0
    assert places[-1] <= len(chars.encode())
    for _, text, edits in repairs:
        ends = [(text.byte(edit.start), text.byte(edit.end)) for edit in edits]
        assert all(0 <= start <= end <= len(chars.encode()) for start, end in ends)
    list(read_document(chars.encode(), "x"))


REPEATED = re.findall(
    r"\S+",
    r"""< <a <!-- <!--</p> <p_title=" </p> <td> = =3D > | 1 1, \\n \\ " ' “ * **1 & &amp &gt; — ( ` fio $_fio_-""",
)
WITH_LINES = [
    "=\n",
    "=20\n",
    "> \n",
    "|\n",
    "+\n",
    "a: b\n",
    "[a] \n",
    "a|\n",
    "2024-01-01T00:00:00Z \n",
    "<td>\n",
    "<code>",
    "<code></code>",
    "<code>fio --a",
    "Content-Transfer-Encoding: base64\n",
    "Content-Transfer-Encoding: base64\n\nQUJD\n",
    "a: base64\n \n",
]
CONTROLS = [" ", "\x1b[", "\x1b]", "\b", "a\b", "\0", "1\u2009", "fio --a "]


def test_hostile_text_takes_linear_time() -> None:
    def read(chars: str) -> None:
        repaired, _ = repair(Text(chars))
        list(commands(repaired))

    scraps = (scrap.replace("_", " ") for scrap in (*REPEATED, *WITH_LINES, *CONTROLS))
    assert [scrap for scrap in scraps if not is_linear(read, scrap)] == []


MESSAGE = "[12345.678901] EXT4-fs (sda1): mounted filesystem with ordered data mode. Opts: (null)\n"


@pytest.mark.parametrize(
    ("console", "meant"),
    [
        (f"4096  4  5385{MESSAGE}23  1032766\n", "4096  4  538523  1032766\n"),
        (f"4096  4  5385{MESSAGE}{MESSAGE}23  1032766\n", "4096  4  538523  1032766\n"),
        (f"4096  4  538523\n{MESSAGE}    8192  4  538524\n", "4096  4  538523\n    8192  4  538524\n"),
        (f"4096  4  5385\n{MESSAGE}23  1032766\n", "4096  4  5385\ufffd23  1032766\n"),  # rows, or one number
        (f"4096  4  5385<4>{MESSAGE}23\n", "4096  4  538523\n"),
        (f"4096  4  5385Nov 21 10:05:11 host kernel: {MESSAGE}23\n", "4096  4  538523\n"),
        ("time [12.5] at [12345.678901]\n", "time [12.5] at [12345.678901]\n"),
    ],
)
def test_what_the_kernel_says_is_taken_out(console: str, meant: str) -> None:
    assert repair(Text(console))[0].chars == meant


def test_a_log_that_was_printed_through_the_kernel_stays() -> None:
    lines = (DATA / "sysbench" / "1.0.20-seqwr.txt").read_text().splitlines()
    log = "".join(f"[  123.{number:06}] {line}\n" for number, line in enumerate(lines))
    assert repair(Text(log))[0].chars == log


def test_places_are_computed_of_edits_in_logs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    byte = Text.byte

    def counting(text: Text, position: int) -> int:
        nonlocal asked
        asked += 1
        return byte(text, position)

    monkeypatch.setattr(Text, "byte", counting)
    log = "<pre>real\t0m1.500s\nuser\t<b>0m0.250s</b>\nsys\t0m0.100s\n</pre>"
    page = f"<html>{'<p>A <b>word</b></p>' * 2_000}{log}{'<p>A <b>word</b></p>' * 2_000}</html>"
    records = list(read_document(page.encode(), "x"))
    (said,) = [item for item in records if isinstance(item, Diagnostic) and item.code == "REPAIRED_HTML"]
    assert said.message.endswith("Places: 3, the first of them here.")
    assert asked < 200
