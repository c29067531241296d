"""Whatever changes among logs that were read before, reading them again gives what reading them first does."""

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import fsbench_kit as fsb
from fsbench_kit.data import cache
from tests.data.test_batches import undamaged_logs


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Turn the cache on, and return a folder with enough logs, among them copies, damaged ones and fio's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FSBENCH_CACHE")
    folder = tmp_path / "logs"
    folder.mkdir()
    undamaged_logs(folder, 60)
    (folder / "b").mkdir()
    (folder / "b" / "copy.txt").write_bytes((folder / "007.txt").read_bytes())
    (folder / "b" / "twice.txt").write_bytes((folder / "008.txt").read_bytes() + (folder / "009.txt").read_bytes())
    (folder / "b" / "cut.txt").write_bytes((folder / "010.txt").read_bytes()[:700])
    (folder / "b" / "broken.gz").write_bytes(b"\x1f\x8b\x08 and nothing that could be unpacked")
    (folder / "notes.txt").write_text("Nothing is measured here.\n")
    return folder


def differences(*folders: Path, first: fsb.Dataset | None = None) -> list[str]:
    """Return the frames that are not the same when the folders are read again as when they are read first."""
    again = fsb.read(*folders)
    first = first or fsb.read(*folders, cache=False)
    return [name for name, frame in again.frames.items() if not frame.equals(first.frames[name])]


def changes(folder: Path, seed: int) -> Iterator[str]:
    """Change a few files at a time, and yield what was done."""
    random_ = random.Random(seed)
    for number in range(12):
        for _ in range(random_.choice((1, 1, 1, 2, 5, 20))):
            one, other = random_.sample(sorted(path for path in folder.rglob("*") if path.is_file()), 2)
            done = random_.choice(("remove", "rename", "copy", "swap", "cut", "join", "add", "fio log"))
            match done:
                case "remove":
                    one.unlink()
                case "rename":
                    one.rename(random_.choice((folder, folder / "b")) / f"{random_.random()}.txt")
                case "copy":
                    (one.parent / f"{random_.random()}.txt").write_bytes(other.read_bytes())
                case "swap":
                    first, second = one.read_bytes(), other.read_bytes()
                    one.write_bytes(second)
                    other.write_bytes(first)
                case "cut":
                    one.write_bytes(one.read_bytes()[: random_.randrange(2000)])
                case "join":
                    one.write_bytes(one.read_bytes() + other.read_bytes())
                case "add":
                    (folder / "b" / f"{number}").mkdir(exist_ok=True)
                    (folder / "b" / f"{number}" / "new.txt").write_bytes(other.read_bytes().replace(b"1", b"2"))
                case "fio log" if number > 8:  # with one of these, all is read
                    rows = "".join(f"{500 * at}, {random_.randrange(1000)}, 0, 4096, 0\n" for at in range(1, 9))
                    (folder / f"job{number}_clat.1.log").write_text(rows)
            yield f"{done} {one.name} {other.name}"


@pytest.mark.parametrize("seed", range(2))
def test_after_any_changes(seed: int, logs: Path) -> None:
    random_ = random.Random(seed)
    done = []
    assert not differences(logs)
    for change in changes(logs, seed):
        done.append(change)
        if random_.random() < 0.7:
            time.sleep(random_.choice((0, 0.05)))
            assert not differences(logs), done
    time.sleep(0.05)
    first = fsb.read(logs, cache=False)
    assert not differences(logs, first=first), done
    assert not differences(logs, first=first), done


def test_after_an_earlier_result_was_written_last(logs: Path, tmp_path: Path) -> None:
    """It can come from a process that read before the change, and finished after it."""
    kept = tmp_path / "cache" / "fsbench_kit"
    earlier: list[dict[Path, bytes]] = []
    time.sleep(0.05)
    for number in range(5):
        assert not differences(logs)
        earlier.append({path: path.read_bytes() for path in kept.iterdir()})
        (logs / f"{number:03}.txt").write_bytes((logs / f"{number + 30:03}.txt").read_bytes())
        (logs / f"{number + 10:03}.txt").unlink()
        time.sleep(0.05)
    first = fsb.read(logs, cache=False)  # the logs stay as they are; only what is kept of them changes
    for contents in [*earlier, *reversed(earlier), *earlier]:
        for path, data in contents.items():
            path.write_bytes(data)
        assert not differences(logs, first=first)
        assert not differences(logs, first=first)


def test_a_few_changes_are_added_to_the_result_and_many_replace_it(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    write = cache._write
    monkeypatch.setattr(cache, "_write", lambda file, pieces: written.append(file.suffix) or write(file, pieces))
    numbers = []
    time.sleep(0.05)
    fsb.read(logs)
    written.clear()
    for number in range(20):
        (logs / f"{number:03}.txt").write_text((logs / f"{number:03}.txt").read_text() + "\n")
        time.sleep(0.05)
        assert not differences(logs)
        numbers.append(len(written))
    assert numbers == list(range(1, 21))
    assert set(written) == {".changes", ".frames"}
    assert written.count(".frames") < len(written) / 2


def test_a_folder_that_had_no_log_gets_one(logs: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("Nothing is measured here.\n")
    time.sleep(0.05)
    assert not differences(other, logs)
    (other / "one.txt").write_bytes((logs / "003.txt").read_bytes())
    time.sleep(0.05)
    assert not differences(other, logs)
    (other / "one.txt").unlink()
    time.sleep(0.05)
    assert not differences(other, logs)
    assert not differences(other, logs)


def test_a_run_in_another_format_is_met_again(logs: Path, root: Path) -> None:
    """What these prints share links runs only because they are in different formats."""
    printed = (root / "tests" / "data" / "fio-3.33-normal-json-terse.txt").read_text()
    report, document = printed[: printed.index("{\n")], printed[printed.index("{\n") : printed.rindex("}") + 1]
    (logs / "report.txt").write_text(report)
    (logs / "document.json").write_text(document.replace("5", "6"))
    time.sleep(0.05)
    assert not differences(logs)
    apart = fsb.read(logs).runs.height
    (logs / "document.json").write_text(document)
    assert not differences(logs)
    assert fsb.read(logs).runs.height == apart - 1


def test_what_was_not_read_stays_said(logs: Path) -> None:
    os.mkfifo(logs / "pipe")
    places = logs, logs / "gone"
    time.sleep(0.05)
    assert not differences(*places)
    (logs / "003.txt").write_bytes((logs / "004.txt").read_bytes())
    assert not differences(*places)
    assert {"SKIPPED", "UNREADABLE"} <= {*fsb.read(*places).diagnostics["code"]}
