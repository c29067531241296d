"""Bytes to text, and text to the one format whose log it is."""

import codecs
from collections.abc import Callable

import pytest

from fsbench_kit.documents import read_document
from fsbench_kit.documents.encoding import decode
from fsbench_kit.records import Diagnostic, Run


def _codes(data: bytes) -> list[str]:
    return [r.code for r in read_document(data, "x") if isinstance(r, Diagnostic)]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "EMPTY"),
        (b" \n\t\n", "EMPTY"),
        (b"\x7fELF\x02\x01\0\0\0", "NOT_TEXT"),
        (b"hdparm says 120 MB/s\n", "NO_LOG"),
    ],
)
def test_what_is_no_log_is_said_to_be_none(data: bytes, code: str) -> None:
    records = list(read_document(data, "x"))
    assert [getattr(r, "code", None) for r in records] == [code]


@pytest.mark.parametrize(
    "encoded",
    [
        lambda log: log.encode(),
        lambda log: codecs.BOM_UTF8 + log.encode(),
        lambda log: codecs.BOM_UTF16_LE + log.encode("utf-16-le"),
        lambda log: codecs.BOM_UTF16_BE + log.encode("utf-16-be"),
        lambda log: b"# m\xe4\xdfig\n" + log.encode(),
    ],
    ids=["utf-8", "utf-8-bom", "utf-16-le", "utf-16-be", "latin-1"],
)
def test_encodings(encoded: Callable[[str], bytes], smallfiles_log: Callable[..., str]) -> None:
    data = encoded(smallfiles_log())
    (run,) = (r for r in read_document(data, "x") if isinstance(r, Run))
    assert [m.text for m in run.measurements] == ["2000.000", "0.500", "0.100"]
    encoding = "utf-16-le" if data.startswith(codecs.BOM_UTF16_LE) else None
    encoding = encoding or ("utf-16-be" if data.startswith(codecs.BOM_UTF16_BE) else "latin-1")
    stretch = data[run.start : run.end].decode(encoding)
    assert stretch.startswith("# ext4")
    assert stretch.endswith("write_sync/0.100 secs")


def test_a_damaged_utf16_file_keeps_its_readable_part(smallfiles_log: Callable[..., str]) -> None:
    data = codecs.BOM_UTF16_LE + smallfiles_log().encode("utf-16-le") + b"\x0a"
    text = decode(data, "x")
    assert text is not None
    assert "write_sync/0.100" in text.chars


def test_figures_without_a_run_are_not_dropped() -> None:
    assert _codes(b"write: 1.0/sec, write/1.0 secs, write_sync/1.0 secs\n") == ["UNREAD_FIGURE"]
