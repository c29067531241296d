"""Lists in a plan are varied: each combination is made, named, recorded, and can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import fsbench_kit as fsb
from fsbench_kit.launch import Plan, dry_run, launch, read_plan
from fsbench_kit.launch.plan import plan_text
from fsbench_kit.launch.schedule import schedule
from fsbench_kit.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LADDER = """\
id = "ladder"
repeats = 3
[[target]]
kind = "loop"
filesystem = ["ext4", "xfs"]
mount_options = ["", "noatime"]
size = "512M"
[[workload]]
tool = "fio"
rw = ["randread", "randwrite"]
iodepth = [1, 4, 16]
bs = "4k"
size = "8M"
[[exclude]]
filesystem = "xfs"
rw = "randread"
iodepth = [4, 16]
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def put(text: str) -> Path:
        path = tmp_path / "ladder.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return put


def test_each_combination_is_run_but_those_that_are_excluded(write: Callable[[str], Path]) -> None:
    plan = read_plan(write(LADDER))
    assert [target.name for target in plan.target] == ["ext4", "ext4-noatime", "xfs", "xfs-noatime"]
    reads = ["randread-iodepth1", "randread-iodepth4", "randread-iodepth16"]
    writes = [name.replace("read", "write") for name in reads]
    assert [workload.name for workload in plan.workload] == reads + writes
    made = {(run.target.name, run.workload.name) for run in schedule(plan)}
    for target in ("xfs", "xfs-noatime"):
        assert {name for where, name in made if where == target} == {reads[0], *writes}
    assert len(schedule(plan)) == 3 * (6 + 6 + 4 + 4)


def test_plan_that_was_varied_survives_writing_and_reading(write: Callable[[str], Path]) -> None:
    plan = read_plan(write(LADDER))
    assert read_plan(write(plan_text(plan))) == plan


NAMES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "truth": ({"name": "x", "direct": [True, False]}, ["x-direct", "x-no-direct"]),
    "sizes": ({"bs": ["4k", "1M"]}, ["fio-bs4k", "fio-bs1M"]),
    "an option": ({"options": {"rate_iops": [5, 10]}}, ["fio-rate_iops5", "fio-rate_iops10"]),
    "of the whole plan": ({}, ["fio-drop_caches", "fio-no-drop_caches"]),
}


@pytest.mark.parametrize(("changes", "names"), NAMES.values(), ids=NAMES)
def test_names_are_short(make_plan: Callable[..., Plan], changes: dict[str, Any], names: list[str]) -> None:
    fio = {"tool": "fio", "rw": "read", "bs": "4k", "size": "1M", **changes}
    plan = make_plan(workload=[fio], drop_caches=True if changes else [True, False])
    assert [workload.name for workload in plan.workload] == names


def test_lists_of_lists_vary_what_is_a_list(make_plan: Callable[..., Plan]) -> None:
    image = {"kind": "loop", "filesystem": "ext4", "size": "64M", "mkfs_options": [[], ["-m", "0"]]}
    plan = make_plan(target=[image])
    assert [(target.name, target.mkfs_options) for target in plan.target] == [  # type: ignore[union-attr]
        ("ext4", ()),
        ("ext4-m-0", ("-m", "0")),
    ]
    (one,) = make_plan(target=[{**image, "mkfs_options": ["-m", "0"]}]).target
    assert one.varied == {}


MISTAKES = {
    "one of several values": (
        "[1, 4, 16]",
        "[1, 0, 16]",
        11,
        '"iodepth" must be a whole number of at least 1, not 0',
    ),
    "a value twice": ("[1, 4, 16]", "[1, 4, 4]", 11, '"iodepth" lists 4 twice'),
    "nothing is excluded": ("[4, 16]\n", "32\n", 14, "this excludes nothing"),
    "an unknown key is excluded": (
        'rw = "randread"\n',
        "pattern = 1\n",
        16,
        'no target and no workload has the key "pattern"',
    ),
    "a key of both is excluded": ('rw = "randread"\n', 'size = "8M"\n', 16, "both targets and workloads have"),
    "the second table": ('"8M"\n', '"8M"\n[[workload]]\ntool = "fio"\nrw = 5\n', 16, '"rw" must be one of'),
}


@pytest.mark.parametrize(("right", "wrong", "line", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_mistake_is_told_once_and_where_it_was_written(
    write: Callable[[str], Path], right: str, wrong: str, line: int, sentence: str
) -> None:
    with pytest.raises(InputError) as error:
        read_plan(write(LADDER.replace(right, wrong)))
    assert sentence in error.value.what
    assert (error.value.line, str(error.value).count(sentence)) == (line, 1)


def test_workload_may_have_fewer_repeats_and_a_timeout_of_its_own(
    make_plan: Callable[..., Plan], tmp_path: Path
) -> None:
    small = {"tool": "smallfiles", "files": 20, "size": "4k"}
    slow = {**small, "name": "slow", "repeats": 2, "timeout": 900}
    plan = make_plan(workload=[{**small, "name": "fast"}, slow], repeats=7)
    rounds = [run.round for run in schedule(plan) if run.workload.name == "slow"]
    assert (rounds, len(schedule(plan))) == ([1, 2], 9)
    assert any("at most 2010 s" in sentence for sentence in dry_run(plan, tmp_path).estimates)


def test_dry_run_fits_on_a_screen(write: Callable[[str], Path], make_plan: Callable[..., Plan]) -> None:
    small = {"tool": "smallfiles", "files": [20, 40], "size": ["4k", "8k"], "threads": [1, 2, 4]}
    preview = dry_run(make_plan(workload=[small], repeats=6), write("").parent)
    said = str(preview).splitlines()
    assert len(said) < 24
    assert "files: 20, 40" in said
    assert any(line.split() == ["smallfiles-files20-size8k-threads4", "6"] for line in said)
    assert any(line.startswith("72 runs in 6 rounds") for line in said)
    assert len(preview.steps) == 72


@pytest.mark.slow
def test_each_varied_key_can_be_the_factor_and_the_others_are_cells(
    make_plan: Callable[..., Plan], tmp_path: Path
) -> None:
    small = {"tool": "smallfiles", "files": 20, "size": "4k", "threads": [1, 2]}
    result = launch(make_plan(workload=[small], drop_caches=[True, False]), root=tmp_path)
    assert result.failures == {}
    data = fsb.read(result.folder)
    of = {"metrics": ["file_rate"], "where": {"operation": ["write"]}}
    by_threads = fsb.compare(data, factor="threads", **of)
    assert by_threads.select("baseline", "level", "work").sort("work").rows() == [
        ("1", "2", "drop_caches false"),
        ("1", "2", "drop_caches true"),
    ]
    by_caches = fsb.compare(data, factor="drop_caches", **of)
    assert by_caches.select("baseline", "level", "threads").sort("threads").rows() == [
        ("false", "true", 1),
        ("false", "true", 2),
    ]
    assert by_caches["n_pairs"].to_list() == [2, 2]
