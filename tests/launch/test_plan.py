from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fsbench_kit.launch.plan import plan_text, read_plan
from fsbench_kit.launch.schedule import schedule
from fsbench_kit.launch.targets import LoopTarget
from fsbench_kit.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.launch import Plan

GOOD = """\
id = "quick"
title = "Two filesystems"
repeats = 6
seed = 5

[budget]
seconds = 60
bytes = "1G"

[[target]]
kind = "loop"
name = "ext4"
filesystem = "ext4"
size = "512M"

[[target]]
kind = "loop"
name = "xfs"
filesystem = "xfs"
size = "512M"

[[workload]]
tool = "fio"
name = "random"
rw = "randwrite"
bs = "4k"
size = "1M"
iodepth = 8

[[workload]]
tool = "smallfiles"
name = "small"
files = 100
size = "4k"
"""

SIZE = 'a size: a number of bytes, or text like "4k", "512M" or "2G"'
NAME = 'a name of letters, digits, ".", "_" and "-" that starts with a letter or digit'
COUNT = "a whole number of at least 1"
MILLISECONDS = "a number of seconds of at least 0.001, with no more than three decimals"

MISTAKES = {
    "below the range": ("repeats = 6", "repeats = -3", 3, f'"repeats" must be {COUNT}, not -3'),
    "text for a number": ("repeats = 6", 'repeats = "6"', 3, f'"repeats" must be {COUNT}, not "6"'),
    "truth for a number": ("iodepth = 8", "iodepth = true", 28, f'"iodepth" must be {COUNT}, not true'),
    "a key is missing": ('id = "quick"\n', "", None, f'"id" is missing from the plan: {NAME}'),
    "a key of a table is missing": (
        'bs = "4k"\n',
        "",
        22,
        f'"bs" is missing from [[workload]]: {SIZE}, or a range like "4k-64k"',
    ),
    "a table is missing": (
        GOOD[GOOD.index("[[workload]]") :],
        "",
        None,
        '"workload" is missing from the plan: a list of tables, each under a [[workload]] of its own, '
        "and at least one",
    ),
    "an unknown key": ("iodepth = 8", "iodpeth = 8", 28, '"iodpeth" is not a key of [[workload]]'),
    "an unknown table": ("[[target]]", "[[targets]]", 10, '"targets" is not a key of the plan'),
    "a key in the wrong table": (
        "seconds = 60",
        "seconds = 60\nrepeats = 6",
        8,
        '"repeats" is not a key of [budget]',
    ),
    "an unknown kind": (
        '"loop"\nname = "xfs"',
        '"lop"\nname = "xfs"',
        17,
        '"kind" must be "directory" or "loop" or "overlay" or "tmpfs" or "mirror" or "crypt" or "lvm" or "zfs" '
        'or "nfs" or "device" or "raw", not "lop"',
    ),
    "no kind": (
        'tool = "fio"\n',
        "",
        22,
        '"tool" is missing from [[workload]]: '
        '"bonnie++" or "command" or "filetree" or "fio" or "iozone" or "smallfiles" or "sysbench"',
    ),
    "an unknown filesystem": (
        'filesystem = "xfs"',
        'filesystem = "xsf"',
        19,
        '"filesystem" must be one of "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "exfat", "jfs", '
        '"nilfs2", "reiserfs", not "xsf"',
    ),
    "a size that is none": (
        'bs = "4k"',
        'bs = "4q"',
        26,
        f'"bs" must be {SIZE}, or a range like "4k-64k", not "4q"',
    ),
    "a name that leads elsewhere": (
        'name = "small"',
        'name = "../small"',
        32,
        f'"name" must be {NAME}, not "../small"',
    ),
    "equal names": ('name = "xfs"', 'name = "ext4"', 18, 'two [[target]] are named "ext4"'),
    "a device for mkfs": (
        'filesystem = "xfs"',
        'filesystem = "xfs"\nmkfs_options = ["/dev/sda"]',
        20,
        '"mkfs_options" must be a list of words without "/", not "/dev/sda"',
    ),
    "a device for mount": (
        'filesystem = "xfs"',
        'filesystem = "xfs"\nmount_options = "noatime,logdev=/dev/sda"',
        20,
        '"mount_options" must be comma-separated mount options without "/", not "noatime,logdev=/dev/sda"',
    ),
    "more than an image holds": (
        'size = "1M"',
        'size = "1G"',
        14,
        'workload "random" needs 1 GiB, which is too much for an image of 512 MiB',
    ),
    "more bytes than the budget": (
        'bytes = "1G"',
        'bytes = "1M"',
        8,
        "the runs write at least 21.4 MiB, but the budget is 1 MiB",
    ),
    "more bytes than the budget, for images": (
        'filesystem = "xfs"',
        'filesystem = "xfs"\nallocation = "written"',
        8,
        "the runs write at least 6.02 GiB, but the budget is 1 GiB",
    ),
    "a word for an allocation": (
        'filesystem = "xfs"',
        'filesystem = "xfs"\nallocation = "thick"',
        20,
        '"allocation" must be one of "unwritten", "written", "sparse", not "thick"',
    ),
    "more time than the budget": (
        "iodepth = 8",
        "runtime = 10\ntime_based = true",
        7,
        "the runs take at least 120 s, but the budget is 60 s",
    ),
    "more time than the timeout": (
        "iodepth = 8",
        "runtime = 600",
        22,
        'workload "random" runs for 600 s, but the timeout ends each run after 300 s',
    ),
    "more time than the timeout, by sysbench's default": (
        'seed = 5\n\n[budget]\nseconds = 60\nbytes = "1G"\n\n',
        'timeout = 10\n[[workload]]\ntool = "sysbench"\nfile_test_mode = "rndrw"\nfile_total_size = "16M"\n',
        5,
        'workload "sysbench" runs for 10 s, but the timeout ends each run after 10 s',
    ),
    "less than fio can tell apart": (
        "iodepth = 8",
        "runtime = 0.0004",
        28,
        f'"runtime" must be {MILLISECONDS}, not 0.0004',
    ),
    "a fraction of a second for sysbench": (
        'tool = "fio"\nname = "random"\nrw = "randwrite"\nbs = "4k"\nsize = "1M"\niodepth = 8',
        'tool = "sysbench"\nfile_test_mode = "rndrw"\nfile_total_size = "16M"\ntime = 2.9',
        26,
        '"time" must be a whole number of seconds, not 2.9',
    ),
    "no TOML": ("[budget]", "[budget", 6, "this is not TOML: "),
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def put(text: str) -> Path:
        path = tmp_path / "plan.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return put


@pytest.mark.parametrize(("right", "wrong", "line", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_mistake_is_named_with_its_place(
    write: Callable[[str], Path], right: str, wrong: str, line: int | None, sentence: str
) -> None:
    assert right in GOOD
    text = GOOD.replace(right, wrong)
    path = write(text)
    with pytest.raises(InputError) as raised:
        read_plan(path)
    place = f"{path}:{line}: " if line else f"{path}: "
    assert str(raised.value).startswith(place + sentence)
    if line is not None:
        assert raised.value.excerpt == text.splitlines()[line - 1]


@pytest.mark.parametrize(
    ("right", "wrong", "hint"),
    [
        ("repeats = 6", "repeats = 0", "Write for example: repeats = 6"),
        (
            "iodepth = 8",
            "iodpeth = 8",
            "Did you mean iodepth? Known keys: name, optional, tool, job_file, job, rw, bs, ",
        ),
        ("iodepth = 8", 'pattern = "randread"', "Did you mean rw? Known keys: name, "),
        ("[[target]]", "[[targets]]", "Did you mean target? "),
        ('filesystem = "xfs"', 'filesystem = "xsf"', "Did you mean xfs?"),
        ('tool = "fio"', 'tool = "foi"', "Did you mean fio?"),
        (
            "seconds = 60",
            "seconds = 60\nrepeats = 6",
            "It is a key of the whole plan: write it above the first table.",
        ),
        ('size = "1M"', 'size = "1G"', 'Write for example: size = "1366M"'),
    ],
)
def test_hint_says_what_to_do(write: Callable[[str], Path], right: str, wrong: str, hint: str) -> None:
    with pytest.raises(InputError) as raised:
        read_plan(write(GOOD.replace(right, wrong)))
    assert (raised.value.hint or "").startswith(hint)


def test_hint_of_an_image_that_is_too_small_is_enough(write: Callable[[str], Path]) -> None:
    read_plan(
        write(GOOD.replace('size = "512M"', 'size = "1366M"').replace('size = "1M"', 'size = "1G"\nruntime = 1'))
    )


SHORT = """\
id = "short"
[[target]]
kind = "loop"
filesystem = "xfs"
size = "512M"
[[workload]]
tool = "smallfiles"
files = 100
size = "4k"
"""


def test_short_plan_says_what_it_leaves_open_when_it_is_written_down(write: Callable[[str], Path]) -> None:
    plan = read_plan(write(SHORT))
    assert (plan.title, plan.repeats, plan.target[0].name, plan.workload[0].name) == (
        "short",
        10,
        "xfs",
        "smallfiles",
    )
    written = tomllib.loads(plan_text(plan))
    assert (written["title"], written["repeats"], written["seed"]) == ("short", 10, 1)
    assert (written["target"][0]["name"], written["workload"][0]["name"]) == ("xfs", "smallfiles")
    assert "[]" not in plan_text(plan)  # what nobody has said or decided


def test_names_that_are_left_out_must_differ_too(write: Callable[[str], Path]) -> None:
    workload = SHORT[SHORT.index("[[workload]]") :]
    with pytest.raises(InputError, match=r'plan\.toml:10: two \[\[workload\]\] are named "smallfiles"'):
        read_plan(write(SHORT + workload))


def test_unknown_filesystem_is_one_mistake_where_it_is_the_name_too(write: Callable[[str], Path]) -> None:
    with pytest.raises(InputError) as raised:
        read_plan(write(SHORT.replace('"xfs"', '"../xfs"')))
    assert (raised.value.line, raised.value.hint) == (4, "Did you mean xfs?")


def test_all_mistakes_are_told_at_once(write: Callable[[str], Path]) -> None:
    path = write(GOOD.replace("repeats = 6", "repeats = 0").replace("iodepth = 8", "iodpeth = 8"))
    with pytest.raises(InputError) as raised:
        read_plan(path)
    assert f'{path}:28: "iodpeth" is not a key of [[workload]]' in str(raised.value)


HEAD = 'id = "x"\n'
TARGET = '[[target]]\nkind = "loop"\nfilesystem = "xfs"\nsize = "512M"\n'
WORKLOAD = '[[workload]]\ntool = "smallfiles"\nfiles = 10\nsize = "4k"\n'
SECONDS = "a number of seconds above 0"
BUDGET = 'a table with "seconds" or "bytes" or both'
TARGETS = "a list of tables, each under a [[target]] of its own, and at least one"
SEED = "a whole number from 0 to 4294967295"

OTHER_MISTAKES = {
    "empty": ("", None, "the plan is empty"),
    "comments only": ("# to do\n\n", None, "the plan is empty"),
    "a list for text": (HEAD.replace('"x"', '["x"]') + TARGET + WORKLOAD, 1, f'"id" must be {NAME}, not ["x"]'),
    "a fraction": (f"{HEAD}repeats = 2.5\n{TARGET}{WORKLOAD}", 2, f'"repeats" must be {COUNT}, not 2.5'),
    "a date": (f"{HEAD}seed = 2024-01-01\n{TARGET}{WORKLOAD}", 2, f'"seed" must be {SEED}, not "2024-01-01"'),
    "too large": (f"{HEAD}seed = 4294967296\n{TARGET}{WORKLOAD}", 2, f'"seed" must be {SEED}, not 4294967296'),
    "no end": (f"{HEAD}timeout = inf\n{TARGET}{WORKLOAD}", 2, f'"timeout" must be {SECONDS}, not Infinity'),
    "an inline table": (
        f'{HEAD}budget = {{bytes = "1G", seconds = "x"}}\n{TARGET}{WORKLOAD}',
        2,
        f'"seconds" must be {SECONDS}, not "x"',
    ),
    "a dotted key": (f"{HEAD}\nbudget.secnods = 3\n{TARGET}{WORKLOAD}", 3, '"secnods" is not a key of [budget]'),
    "inline tables in a list": (
        f"""{HEAD}target = [
  {{kind = "loop", filesystem = "xfs", size = "512M"}},  # {{
  {{kind = "loop", size = "512M", filesystem = "xsf"}}]\n{WORKLOAD}""",
        4,
        '"filesystem" must be one of "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "exfat", "jfs", '
        '"nilfs2", "reiserfs", not "xsf"',
    ),
    "a text for a table": (f'{HEAD}budget = "1G"\n{TARGET}{WORKLOAD}', 2, f'"budget" must be {BUDGET}, not "1G"'),
    "a list of what is one": (
        f"{HEAD}{TARGET}{WORKLOAD}[[budget]]\nseconds = 1\n",
        10,
        f'"budget" must be {BUDGET}, not [{{"seconds": 1}}]',
    ),
    "one of what is a list": (
        HEAD + TARGET.replace("[[target]]", "[target]") + WORKLOAD,
        2,
        f'"target" must be {TARGETS}, not {{"kind": "loop", "filesystem": "xfs", "size": "512M"}}',
    ),
    "words for tables": (f'{HEAD}target = ["ext4"]\n{WORKLOAD}', 2, '[[target]] must be a table, not "ext4"'),
    "a table in a table": (
        f"{HEAD}{TARGET}[target.options]\na = 1\n{WORKLOAD}",
        6,
        '"options" is not a key of [[target]]',
    ),
    "a key in a text of several lines": (
        f'{HEAD}title = """\nrepeats = 0\n"""\nrepeats = 0\n{TARGET}{WORKLOAD}',
        5,
        f'"repeats" must be {COUNT}, not 0',
    ),
    "a key in quotes": (f'{HEAD}"repeats" = 0\n{TARGET}{WORKLOAD}', 2, f'"repeats" must be {COUNT}, not 0'),
    "a key twice": (HEAD + HEAD + TARGET + WORKLOAD, 2, "this is not TOML: Cannot overwrite a value"),
    "a rule that asks for p": (
        f'{HEAD}until = "p < 0.05"\n{TARGET}{WORKLOAD}',
        2,
        '"until" must be "half-width N %" or "stein N %", not "p < 0.05"',
    ),
    "a rule without rounds": (
        f'{HEAD}until = "stein 5 %"\nrepeats = 5\n{TARGET}{WORKLOAD}',
        2,
        "the rule first looks after 5 rounds, but there are at most 5 repeats",
    ),
    "a rule with nothing to compare": (
        f'{HEAD}until = "half-width 5%"\n{TARGET}{WORKLOAD}',
        2,
        "the rule looks at ratios to the first target, but there is only one target",
    ),
    "trimming what was filled": (
        f"{HEAD}trim = true\n{TARGET}{WORKLOAD}{WORKLOAD.replace('workload', 'precondition')}",
        2,
        "trimming would undo what [[precondition]] does to a device",
    ),
    "nested without end": (f"{HEAD}x = {'[' * 9999}", None, "this is nested too deeply for a plan"),
}


@pytest.mark.parametrize(("text", "line", "sentence"), OTHER_MISTAKES.values(), ids=OTHER_MISTAKES)
def test_other_mistake_is_named_with_its_place(
    write: Callable[[str], Path], text: str, line: int | None, sentence: str
) -> None:
    path = write(text)
    with pytest.raises(InputError) as raised:
        read_plan(path)
    assert str(raised.value).startswith(f"{path}:{line}: {sentence}" if line else f"{path}: {sentence}")


def test_binary_is_no_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_bytes(b"\x7fELF\xff")
    with pytest.raises(InputError, match=r"plan\.toml: this is not UTF-8 text \(byte 4 is 0xff\)"):
        read_plan(path)


def test_mark_of_byte_order_is_no_mistake(write: Callable[[str], Path]) -> None:
    assert read_plan(write("\ufeff" + SHORT)) == read_plan(write(SHORT))


def test_folder_is_no_plan(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the plan: Is a directory"):
        read_plan(tmp_path)


def test_missing_file_is_an_error_with_the_nearest_name(write: Callable[[str], Path]) -> None:
    path = write(GOOD)
    with pytest.raises(InputError) as raised:
        read_plan(path.with_name("paln.toml"))
    assert str(raised.value).splitlines() == [
        f"{path.with_name('paln.toml')}: cannot read the plan: No such file or directory",
        f"Did you mean {path.name}?",
    ]


@pytest.mark.parametrize("name", ["quick", "first-steps"])
def test_plan_survives_writing_and_reading(write: Callable[[str], Path], name: str) -> None:
    plan = read_plan(Path(__file__).parents[2] / "plans" / f"{name}.toml")
    assert read_plan(write(plan_text(plan))) == plan


def test_text_with_marks_survives(write: Callable[[str], Path]) -> None:
    plan = read_plan(write(GOOD.replace("Two filesystems", 'Zwölf \\"gauge\\" \\\\ # [x]')))
    assert plan.title == 'Zwölf "gauge" \\ # [x]'
    assert read_plan(write(plan_text(plan))) == plan


def test_sizes_are_powers_of_1024(write: Callable[[str], Path]) -> None:
    target = read_plan(write(GOOD)).target[0]
    assert isinstance(target, LoopTarget)
    assert target.size == 536870912


def names(plan: Plan) -> list[tuple[int, str, str]]:
    return [(planned.round, planned.target.name, planned.workload.name) for planned in schedule(plan)]


def test_each_round_has_every_cell_once(write: Callable[[str], Path]) -> None:
    order = names(read_plan(write(GOOD)))
    expected = {(r, t, w): 1 for r in range(1, 7) for t in ("ext4", "xfs") for w in ("random", "small")}
    assert Counter(order) == expected
    assert [planned[0] for planned in order] == sorted(planned[0] for planned in order)


def test_order_depends_on_the_seed_alone(write: Callable[[str], Path]) -> None:
    once, again = names(read_plan(write(GOOD))), names(read_plan(write(GOOD)))
    other = names(read_plan(write(GOOD.replace("seed = 5", "seed = 6"))))
    assert once == again
    assert once != other
    # A later version has to make the same order of the same plan. Python draws 0.623 0.742 0.795 0.942 for the
    # first round, and 0.740 0.922 0.029 0.466 for the second: the third planned comes first, then the fourth, ...
    assert once[4:8] == [(2, "xfs", "random"), (2, "xfs", "small"), (2, "ext4", "random"), (2, "ext4", "small")]


def test_rounds_differ_in_order(write: Callable[[str], Path]) -> None:
    order = names(read_plan(write(GOOD)))
    rounds = {tuple(planned[1:] for planned in order if planned[0] == number) for number in range(1, 7)}
    assert len(rounds) > 1


def test_no_place_in_a_round_is_reserved(make_plan: Callable[..., Plan]) -> None:
    targets = [{"kind": "directory", "name": name, "directory": "."} for name in "abcd"]
    plan = make_plan(target=targets, repeats=400)
    firsts = Counter(planned[1] for planned in names(plan)[::4])
    # 100 each is expected; the chance that one is beyond 60 to 140 is below 1e-4.
    assert all(60 <= firsts[name] <= 140 for name in "abcd")
