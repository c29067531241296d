"""What was read before is taken from the cache if it is the same, and read anew if it may not be."""

import os
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fsbench_kit as fsb
from fsbench_kit.data import assembly, cache, columns
from fsbench_kit.formats import FORMATS, clean
from tests.data.test_batches import undamaged_logs

Count = Callable[[], int]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Return a folder with enough logs, one of them damaged, which were written a while ago."""
    folder = tmp_path / "logs"
    folder.mkdir()
    undamaged_logs(folder, 60)
    (folder / "000.txt").write_text((folder / "000.txt").read_text()[:900])
    time.sleep(0.05)
    return folder


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Turn the cache on, and return its folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FSBENCH_CACHE")
    return tmp_path / "cache" / "fsbench_kit"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Count:
    """Return how many texts were parsed since it was asked last; no example is remembered."""
    monkeypatch.setattr(clean, "_LONGEST", 0)
    monkeypatch.setattr(clean, "_EXAMPLES", {})
    texts: list[object] = []
    for each in FORMATS:
        parse = each.parse
        monkeypatch.setattr(each, "parse", lambda text, parse=parse: texts.append(text) or parse(text))

    def count() -> int:
        number = len(texts)
        texts.clear()
        return number

    return count


def same(one: fsb.Dataset, other: fsb.Dataset) -> bool:
    return all(frame.equals(other.frames[name]) for name, frame in one.frames.items())


def runs_put_together(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by the number of runs each time that some are put together."""
    sizes: list[int] = []
    same_runs = assembly.same_runs
    monkeypatch.setattr(
        assembly, "same_runs", lambda found, marks: sizes.append(len(found)) or same_runs(found, marks)
    )
    return sizes


def test_what_belongs_to_runs_is_packed_once(logs: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed: list[pl.DataFrame] = []
    write = pl.DataFrame.write_ipc_stream
    monkeypatch.setattr(
        pl.DataFrame,
        "write_ipc_stream",
        lambda frame, *own, **more: packed.append(frame) or write(frame, *own, **more),
    )
    first = fsb.read(logs)
    assert len(list(kept.iterdir())) == 2
    of_measurements = [frame.columns for frame in packed if frame.height == first.measurements.height]
    assert list(chain.from_iterable(of_measurements)).count("value") == 1
    assert same(fsb.read(logs), first)


def test_what_was_read_is_not_read_again(logs: Path, kept: Path, parsed: Count) -> None:
    first = fsb.read(logs, cache=False)
    assert not kept.exists()
    assert same(fsb.read(logs), first)
    assert parsed()
    assert same(fsb.read(logs), first)
    paths = sorted(logs.iterdir())[:30]
    some = fsb.read(paths)
    assert parsed() == 0
    assert same(some, fsb.read(paths, cache=False))


def test_nothing_is_kept_where_nobody_is_at_home(logs: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fsb.read(logs, cache=False)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    assert same(fsb.read(logs), whole)
    assert not kept.exists()


@pytest.mark.usefixtures("kept")
def test_a_changed_file_is_read_again_and_no_other(logs: Path, parsed: Count) -> None:
    fsb.read(logs)
    damaged = logs / "000.txt"
    (logs / "030.txt").write_text(damaged.read_text())
    at = damaged.stat()
    changed = damaged.read_text().replace("Number of threads: 4", "Number of threads: 8")
    damaged.write_text(changed)
    os.utime(damaged, ns=(at.st_atime_ns, at.st_mtime_ns))  # as a copy does that keeps the time
    (logs / "059.txt").unlink()
    parsed()
    again = fsb.read(logs)
    assert 0 < parsed() <= 5
    assert same(again, fsb.read(logs, cache=False))


@pytest.mark.usefixtures("kept")
def test_a_file_is_read_again_that_was_written_the_moment_before(
    logs: Path, parsed: Count, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could have been written once more while its clock stood still."""
    now = time.time() + 1
    os.utime(logs / "003.txt", (now, now))
    first = fsb.read(logs)
    parsed()
    with monkeypatch.context() as patch:
        sizes = runs_put_together(patch)
        assert same(fsb.read(logs), first)
    assert 0 < parsed() <= 2
    assert sizes == [1]


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "version"])
def test_a_cache_that_is_of_no_use_is_written_anew(
    damage: str, logs: Path, kept: Path, parsed: Count, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fsb.read(logs)
    for file in kept.iterdir():
        data = bytearray(file.read_bytes())
        match damage:
            case "cut":
                data = data[: len(data) // 2]
            case "bit":
                data[len(data) // 2] ^= 1
            case "empty":
                data.clear()
            case "version":
                monkeypatch.setattr(cache, "_version", lambda: b"another".ljust(32))
        file.write_bytes(data)
    parsed()
    assert same(fsb.read(logs), first)
    assert parsed()
    assert same(fsb.read(logs), first)
    assert parsed() == 0


def test_a_change_is_stored_beside_the_result_that_it_changes(logs: Path, kept: Path, parsed: Count) -> None:
    def change(*numbers: int) -> bytes:
        """Change some files, and return the content of the file for changes."""
        for number in numbers:
            with (logs / f"{number:03}.txt").open("a") as file:
                file.write("\n")
        time.sleep(0.05)
        assert same(fsb.read(logs), fsb.read(logs, cache=False))
        parsed()
        assert same(fsb.read(logs), fsb.read(logs, cache=False))
        return beside.read_bytes()

    fsb.read(logs)
    (result,), (columns,) = (kept.glob(f"*.{kind}") for kind in ("frames", "columns"))
    beside, whole = result.with_suffix(".changes"), result.read_bytes()
    assert not beside.exists()
    few = change(3)
    assert result.read_bytes() == whole
    assert len(few) < (len(whole) + len(columns.read_bytes())) / 3
    change(*range(5, 25))
    assert result.read_bytes() != whole
    beside.write_bytes(few)  # as if another process had written late
    parsed()
    again = fsb.read(logs)
    assert parsed() == 0
    assert same(again, fsb.read(logs, cache=False))


def test_a_cache_that_cannot_be_written_is_none(logs: Path, kept: Path) -> None:
    kept.parent.mkdir()
    kept.touch()
    assert same(fsb.read(logs), fsb.read(logs, cache=False))


def test_what_was_not_used_for_longest_goes_first(
    logs: Path, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    undamaged_logs(other, 60)
    time.sleep(0.05)
    fsb.read(logs)
    old = set(kept.iterdir())
    for file in old:
        os.utime(file, (1, 1))
    monkeypatch.setattr(cache, "LIMIT", int(1.5 * sum(file.stat().st_size for file in old)))
    fsb.read(other)
    assert len(old) == len(set(kept.iterdir()) - old) == 2
    assert old - set(kept.iterdir())


@pytest.mark.parametrize("names", [None, "{number}.txt"])
def test_room_is_made_for_changes_and_for_what_has_no_result(
    names: str | None, logs: Path, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With names, only what was read of each file is kept."""
    (other := tmp_path / "other").mkdir()
    undamaged_logs(other, 60)
    time.sleep(0.05)
    fsb.read(logs)
    old = set(kept.iterdir())
    if names is None:
        fsb.read(other)
        (other / "000.txt").write_text((other / "000.txt").read_text() + "\n")
        time.sleep(0.05)
    for file in old:
        os.utime(file, (1, 1))
    before = set(kept.iterdir())
    monkeypatch.setattr(cache, "LIMIT", sum(file.stat().st_size for file in before))
    fsb.read(other, names=names)
    (added,) = set(kept.iterdir()) - before
    assert added.suffix == (".changes" if names is None else ".columns")
    assert old - set(kept.iterdir())


@pytest.mark.usefixtures("kept")
def test_only_what_bears_on_a_changed_file_is_put_together_anew(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy is one run with its original, wherever either comes from and goes to; all other runs stay."""
    (logs / "notes.txt").write_text("Nothing is measured here.\n")
    (logs / "broken.gz").write_bytes(b"\x1f\x8b\x08 and nothing that could be unpacked")
    whole = (logs / "021.txt").read_text()
    changes: list[Callable[[], object]] = [
        lambda: (logs / "009.txt").write_text(whole),
        lambda: (logs / "000-copy.txt").write_text(whole),
        (logs / "021.txt").unlink,
        lambda: (logs / "notes.txt").write_text((logs / "000.txt").read_text()),
        lambda: (logs / "000.txt").write_text("It is lost.\n"),
        lambda: (logs / "009.txt").write_text(whole[: len(whole) // 2]),
        lambda: (logs / "021.txt").write_text(whole),
    ]
    time.sleep(0.05)
    fsb.read(logs)
    sizes = runs_put_together(monkeypatch)
    for change in changes:
        change()
        time.sleep(0.05)
        again = fsb.read(logs)
        assert sizes.pop() <= 6
        assert not sizes
        assert same(fsb.read(logs), again)
        assert not sizes
        assert same(again, fsb.read(logs, cache=False))
        sizes.clear()


def test_only_the_frame_that_is_needed_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    known, *frames = (pl.DataFrame({"row": [number]}) for number in range(3))
    packed = b"".join(columns.packed([known, *frames], [known]))
    made: list[object] = []
    read = pl.read_ipc_stream
    monkeypatch.setattr(pl, "read_ipc_stream", lambda stream: made.append(stream) or read(stream))
    unpacked = columns.Unpacked(packed, [known])
    assert unpacked[0] is known
    assert made == []
    assert unpacked[2].equals(frames[1])
    assert unpacked[2] is unpacked[2]
    assert len(made) == 1


def test_frames_of_any_length_are_the_same_after_packing() -> None:
    frames = [pl.DataFrame({"row": range(rows), "name": ["a"] * rows}) for rows in (0, 1, 200_000)]
    unpacked = columns.Unpacked(b"".join(columns.packed(frames)))
    assert len(unpacked) == len(frames)
    for frame, again in zip(frames, unpacked, strict=True):
        assert_frame_equal(again, frame)
