"""Bytes to text, and text to the one format whose log it is."""

import bz2
import codecs
import gzip
import io
import lzma
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from fsbench_kit.data.reading import read
from fsbench_kit.documents import encoding as encodings
from fsbench_kit.documents import read_document
from fsbench_kit.documents.encoding import Content, decode, zstd
from fsbench_kit.model.records import Diagnostic, Run


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


def _unpacked(data: bytes) -> tuple[bytes, list[str]]:
    content = Content(io.BytesIO(data))
    whole = content.read(10**8)
    return whole, [diagnostic.code for diagnostic in content.diagnostics]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd.compress])
def test_packed_files(pack: Callable[[bytes], bytes], smallfiles_log: Callable[..., str]) -> None:
    log = smallfiles_log().encode()
    assert _unpacked(pack(log)) == (log, [])
    assert _unpacked(pack(log[:20]) + pack(log[20:])) == (log, [])


@pytest.mark.parametrize(
    "pack",
    [gzip.compress, bz2.compress, partial(lzma.compress, preset=0), zstd.compress],
    ids=["gz", "bz2", "xz", "zst"],
)
def test_a_packed_file_that_is_cut_off_is_read_as_far_as_it_goes(pack: Callable[[bytes], bytes]) -> None:
    # bzip2 packs in blocks of 900,000 bytes and gives only whole ones
    log = bytes(random.Random(1).choices(b"0123456789\n", k=3_000_000))
    packed = pack(log)
    data, codes = _unpacked(packed[: len(packed) * 3 // 4])
    assert codes == ["DAMAGED_ARCHIVE"]
    assert len(data) > 1_500_000
    assert log.startswith(data)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd.compress])
def test_a_small_file_cannot_fill_the_memory(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encodings, "LIMIT", 1_000_000)
    data, codes = _unpacked(pack(b"0123456\n" * 1_000_000))
    assert data == (b"0123456\n" * 125_000)[:-1]
    assert codes == ["TOO_LARGE"]


def test_a_run_has_the_same_identity_packed_or_not(tmp_path: Path, smallfiles_log: Callable[..., str]) -> None:
    plain, packed = tmp_path / "plain.txt", tmp_path / "packed.txt.gz"
    plain.write_text(smallfiles_log())
    packed.write_bytes(gzip.compress(smallfiles_log().encode()))
    runs = [read(path).runs.select("run_id", "start", "end", "line").row(0) for path in (plain, packed)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark(encoding: str, smallfiles_log: Callable[..., str]) -> None:
    data = smallfiles_log().encode(encoding)
    (run,) = (r for r in read_document(data, "x") if isinstance(r, Run))
    assert data[run.start : run.end].decode(encoding).startswith("# ext4")


def test_stray_bytes_among_utf8_keep_the_offsets(smallfiles_log: Callable[..., str]) -> None:
    data = "# Größe\n".encode() + b"# gr\xf6\xdfer \x96 \x80\n" + smallfiles_log().encode()
    text = decode(data, "x")
    assert text is not None
    assert text.chars.startswith("# Größe\n# größer – €\n")
    assert text.byte(text.chars.index("# ext4")) == data.index(b"# ext4")
    assert text.position(data.index(b"# ext4")) == text.chars.index("# ext4")


def test_zeros_that_a_crash_left_hide_no_log(smallfiles_log: Callable[..., str]) -> None:
    log = smallfiles_log().encode()
    data = bytes(4096) + log + bytes(512)
    records = list(read_document(data, "x"))
    (run,) = (r for r in records if isinstance(r, Run))
    assert data[run.start : run.end].startswith(b"# ext4")
    torn = log.replace(b"2000.000", b"20\0\0.000")
    figures = [m.text for r in read_document(torn, "x") if isinstance(r, Run) for m in r.measurements]
    assert not any(text.startswith("20") for text in figures)
    assert {"ZERO_BYTES", "UNREAD_FIGURE"} <= set(_codes(torn))
