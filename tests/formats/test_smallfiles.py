"""The smallfiles script: every figure of both published logs, transcribed by eye."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbench_kit.formats import smallfiles
from fsbench_kit.formats.text import Text
from tests.formats.reading import Reading

PUBLISHED = Path(__file__).parents[2] / "raw_results" / "published" / "raid1-hdd-2020"
LOGS = {size: (PUBLISHED / f"smallfiles-{size}.txt").read_text() for size in ("4k", "128k")}
STEPS = ("write", "rewrite", "read", "delete")

# Files per second, seconds of the step, seconds of its sync; for write, rewrite, read, delete.
BY_EYE = {
    ("4k", "ext4"): "16592.003 6.027 7.022 9100.009 10.989 0.524 38387.716 2.605 0.817 28161.081 3.551 0.951",
    ("4k", "xfs"): "10093.873 9.907 14.865 8312.552 12.030 8.461 35880.875 2.787 6.708 7859.781 12.723 6.815",
    ("4k", "zfs"): "4301.075 23.250 7.250 1630.683 61.324 1.212 29770.765 3.359 0.018 2045.073 48.898 0.143",
    ("128k", "ext4"): "1185.579 84.347 181.638 625.403 159.897 0.263 10447.137 9.572 0.431 17721.070 5.643 0.829",
    ("128k", "xfs"): "4438.132 22.532 179.358 433.937 230.448 6.740 9834.776 10.168 5.795 4660.918 21.455 0.591",
    ("128k", "zfs"): "356.019 280.884 103.739 433.661 230.595 103.261 181.663 550.469 0.005 1975.075 50.631 5.093",
}


READING = Reading(smallfiles)
_parse = READING.parsed


@pytest.mark.parametrize(("size", "filesystem"), BY_EYE)
def test_every_figure_by_eye(size: str, filesystem: str) -> None:
    runs, diagnostics = _parse(LOGS[size])
    assert diagnostics == []
    run = {r.filesystem: r for r in runs}[filesystem]
    figures = [
        (m.operation, m.metric, m.unit, m.text, m.value, m.low, m.high, m.block_size) for m in run.measurements
    ]
    texts = iter(BY_EYE[size, filesystem].split())
    expected = []
    for step in STEPS:
        for operation, metric, unit in (
            (step, "file_rate", "1/s"),
            (step, "elapsed", "s"),
            (f"{step}_sync", "elapsed", "s"),
        ):
            text = next(texts)
            value = float(text)
            block = {"4k": 4096, "128k": 131072}[size]
            low, high = pytest.approx(value - 0.0005, rel=1e-12), pytest.approx(value + 0.0005, rel=1e-12)
            expected.append((operation, metric, unit, text, value, low, high, block))
    assert figures == expected


@pytest.mark.parametrize("size", LOGS)
def test_runs_share_one_line_and_no_byte(size: str) -> None:
    data = LOGS[size].encode()
    runs, _ = _parse(LOGS[size])
    assert [r.filesystem for r in runs] == ["ext4", "xfs", "zfs"]
    assert {(r.tool, r.line, r.status) for r in runs} == {("smallfiles", 1, "ok")}
    stretches = [data[r.start : r.end].decode() for r in runs]
    for run, stretch in zip(runs, stretches, strict=True):
        assert stretch.startswith(f"# {run.filesystem} file_create 100000 write: ")
        assert stretch.endswith(" secs")
        assert stretch.count("delete_sync/") == 1
    assert all(before.end < after.start for before, after in itertools.pairwise(runs))
    assert {(s.key, s.value, s.line) for r in runs for s in r.settings} == {
        ("block_size", {"4k": "4096", "128k": "131072"}[size], 1),
        ("files", "100000", 1),
    }


def test_line_breaks_do_not_matter() -> None:
    broken = LOGS["4k"].replace(" # ", "\n# ").replace(" file_create", "\nfile_create").replace(" re", "\nre")
    runs, _ = _parse(broken)
    assert [r.line for r in runs] == [2, 10, 18]
    assert [[m.text for m in r.measurements] for r in runs] == [
        [m.text for m in r.measurements] for r in _parse(LOGS["4k"])[0]
    ]


def test_bytes_are_counted_in_bytes() -> None:
    log = "# geprüft\n" + LOGS["4k"]
    runs, _ = _parse(log)
    assert log.encode()[runs[0].start :].startswith(b"# ext4 file_create")


@pytest.mark.parametrize("name", ["zfs-fuse", "ext4.noatime", "btrfs+raid1"])
def test_names_of_more_than_letters(name: str) -> None:
    runs, _ = _parse(LOGS["4k"].replace("# zfs ", f"# {name} "))
    assert [r.filesystem for r in runs] == ["ext4", "xfs", name]
    assert [len(r.measurements) for r in runs] == [12, 12, 12]


def test_without_a_size_it_is_unknown() -> None:
    (run, *_), _ = _parse(LOGS["4k"].partition("------ ")[2])
    assert [s.key for s in run.settings] == ["files"]
    assert {m.block_size for m in run.measurements} == {None}


def test_figures_that_do_not_fit_each_other_are_named() -> None:
    _, diagnostics = _parse(LOGS["4k"].replace("write/6.027", "write/6.028"))
    assert [(d.code, d.message) for d in diagnostics] == [
        ("FIGURES_DISAGREE", "100000 files in 6.028 s are not 16592.003 files/s.")
    ]


@pytest.mark.parametrize(
    ("damaged", "lost"),
    [
        ("write: 16592.003.1/sec", 3),
        ("write: 16592,003/sec", 3),
        ("write: /sec", 3),
        ("write: 16592.003 files", 3),
        ("write: 16592.003/sec, rewrite/6.027 secs,", 3),
    ],
)
def test_a_step_that_is_not_understood_is_named(damaged: str, lost: int) -> None:
    log = LOGS["4k"].replace("write: 16592.003/sec", damaged)
    runs, diagnostics = _parse(log)
    assert len(runs[0].measurements) == 12 - lost
    assert {d.code for d in diagnostics} == {"UNREAD_FIGURE"}
    covered = b" ".join(log.encode()[d.start : d.end] for d in diagnostics)
    assert b"6.027 secs" in covered


def test_a_number_of_files_that_is_none_is_named() -> None:
    runs, diagnostics = _parse(LOGS["4k"].replace("file_create 100000", f"file_create {'9' * 5000}"))
    assert [s.key for s in runs[0].settings] == ["block_size"]
    assert {d.code for d in diagnostics} == {"UNREAD_FIGURE"}


def test_steps_without_a_filesystem_are_named() -> None:
    runs, diagnostics = _parse("write: 1.000/sec, write/2.000 secs, write_sync/3.000 secs\n")
    assert runs == []
    assert [d.code for d in diagnostics] == ["UNREAD_FIGURE"]


def test_lines_that_stand_twice_count_once() -> None:
    lines = LOGS["4k"].replace(" # ", "\n# ").replace(" file_create", "\nfile_create")
    lines = lines.replace(" write:", "\nwrite:").replace(" re", "\nre").replace(" delete:", "\ndelete:") + "\n"
    runs, diagnostics = _parse("".join(line * 2 for line in lines.splitlines(keepends=True)))
    whole, _ = _parse(LOGS["4k"])
    assert [[m.text for m in run.measurements] for run in runs] == [
        [m.text for m in r.measurements] for r in whole
    ]
    assert [d.code for d in diagnostics] == ["REPAIRED"]


@pytest.mark.parametrize("lost", ["# xfs", "# xfs file_create 100000"])
def test_figures_whose_heading_is_lost_are_those_of_no_run(lost: str) -> None:
    runs, diagnostics = _parse(LOGS["4k"].replace(lost, ""))
    assert [run.filesystem for run in runs] == ["ext4", "zfs"]
    assert [[m.text for m in run.measurements] for run in runs] == [
        BY_EYE["4k", filesystem].split() for filesystem in ("ext4", "zfs")
    ]
    assert {d.code for d in diagnostics} == {"UNREAD_FIGURE"}
    assert "10093.873" in " ".join(d.excerpt or "" for d in diagnostics)


def test_a_run_without_steps_is_partial() -> None:
    (run,), _ = _parse("# ext4\nfile_create 100000\n")
    assert (run.status, run.measurements) == ("partial", ())


@pytest.mark.parametrize("text", ["", "write: 3.0/sec", "write_sync is 3 secs", "# ext4\n"])
def test_other_text_is_not_recognised(text: str) -> None:
    assert all(list(smallfiles.signatures(LOGS[size])) for size in ("4k", "128k"))
    assert not list(smallfiles.signatures(text))


@settings(max_examples=100, deadline=None)
@given(size=st.sampled_from(["4k", "128k"]), end=st.integers(0, 900))
def test_a_log_that_is_cut_has_no_other_figures(size: str, end: int) -> None:
    runs, _ = _parse(LOGS[size][:end])
    for run, whole in zip(runs, _parse(LOGS[size])[0], strict=False):
        assert run.filesystem == whole.filesystem
        assert run.measurements == whole.measurements[: len(run.measurements)]


@settings(max_examples=100, deadline=None)
@given(spot=st.integers(0, 900), length=st.integers(0, 40), junk=st.text(max_size=20))
def test_damage_is_never_an_exception(spot: int, length: int, junk: str) -> None:
    list(smallfiles.parse(Text(LOGS["4k"][:spot] + junk + LOGS["4k"][spot + length :])))
