"""Mails as mail programs save them: logs in parts of several kinds are read, with the lines of the file."""

import base64
import gzip
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

import pytest

from fsbench_kit.data.explain import explain
from fsbench_kit.documents import read_document
from fsbench_kit.model.records import Diagnostic, Run

DATA = Path(__file__).parents[1] / "data"
LOGS = {
    "fio": (DATA / "fio_normal" / "3.33-grouped.txt").read_text(),
    "sysbench": (DATA / "sysbench" / "1.0.20-seqwr.txt").read_text(),
    "iozone": (DATA / "iozone" / "3.489-direct.txt").read_text(),
    "bonnie": (DATA / "bonnie" / "2.00a-report.txt").read_text(),
}


def _read(data: bytes) -> tuple[list[Run], list[str]]:
    records = list(read_document(data, "mail"))
    runs = [record for record in records if isinstance(record, Run)]
    return runs, [record.code for record in records if isinstance(record, Diagnostic)]


def _figures(runs: list[Run]) -> list[tuple[object, ...]]:
    return [(m.operation, m.metric, m.statistic, m.value, m.text) for run in runs for m in run.measurements]


def _mail(text: str, cte: str, charset: str = "utf-8") -> EmailMessage:
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = "results = as promised"
    mail["From"] = "a@example.org"
    mail.set_content(text, cte=cte, charset=charset)
    return mail


def _decoded(data: bytes, line: int) -> bytes:
    """Decode some lines in base64: a row of a table, which has the line of its start, can be longer than one."""
    return b"".join(map(base64.b64decode, data.split(b"\n")[line - 1 : line + 3]))


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1"])
@pytest.mark.parametrize("name", LOGS)
def test_a_body_in_base64(name: str, charset: str) -> None:
    log = LOGS[name]
    data = _mail(f"Grüße aus Köln,\n\nhere they are:\n\n{log}\n", "base64", charset).as_bytes()
    runs, codes = _read(data)
    assert _figures(runs) == _figures(_read(log.encode())[0])
    assert "REPAIRED_CODING" in codes
    assert "UNREAD_FIGURE" not in codes
    for m in runs[0].measurements:
        assert m.line is not None
        assert m.text.strip("+").encode() in _decoded(data, m.line)


@pytest.mark.parametrize("cte", ["base64", "quoted-printable", "7bit"])
def test_a_log_attached(cte: str) -> None:
    mail = _mail("The log is attached, 3 runs of it.\n", "quoted-printable")
    mail.add_attachment(LOGS["fio"], filename="fio.log", cte=cte)
    runs, _ = _read(mail.as_bytes())
    assert _figures(runs) == _figures(_read(LOGS["fio"].encode())[0])


def test_several_parts_in_base64_are_several_logs() -> None:
    mail = _mail("Both of them.\n", "7bit")
    for name in ("sysbench", "iozone"):
        mail.add_attachment(LOGS[name].encode(), "application", "octet-stream", filename=f"{name}.txt")
    runs, _ = _read(mail.as_bytes())
    assert [run.tool for run in runs] == ["sysbench", "iozone"]
    assert _figures(runs) == [
        f for name in ("sysbench", "iozone") for f in _figures(_read(LOGS[name].encode())[0])
    ]


def test_what_is_no_text_stays_as_it_is() -> None:
    mail = _mail(f"See the picture of it.\n\n{LOGS['sysbench']}", "base64")
    mail.add_attachment(gzip.compress(bytes(range(256)) * 9), "image", "png", filename="plot.png")
    runs, _ = _read(mail.as_bytes())
    assert _figures(runs) == _figures(_read(LOGS["sysbench"].encode())[0])


def test_what_only_looks_like_a_part_stays() -> None:
    mail = _mail(LOGS["sysbench"], "base64").as_bytes()
    assert _read(mail)[0]
    assert not _read(mail.replace(b"Encoding: base64", b"Encoding: base32"))[0]
    padding_inside = mail.replace(b"\r\n\r\n", b"\r\n\r\nQQ==\r\n", 1)
    assert not _read(padding_inside)[0]


def test_it_can_be_explained() -> None:
    data = _mail(LOGS["sysbench"], "base64").as_bytes()
    told = [words for stretch in explain(data, "mail") for words in stretch.became]
    runs, _ = _read(data)
    assert sum(words.startswith("run ") for words in told) == len(runs) == 1
    assert any("write bandwidth = 1847.67 MiB/s" in words for words in told)
