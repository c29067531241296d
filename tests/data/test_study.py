"""What a study's description says of its runs, and what is said of a bad one."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.data.reading import read
from fsbench_kit.data.study import LogFacts, RunOfLog, StudyDescription, StudyFacts, read_study
from fsbench_kit.model.errors import InputError

STUDY = """\
[study]
id = "mine"
title = "A study"
averaged_over = 3

[system]
memory = "64 GB"

[filesystems.ext4]
mount_options = "noatime"

[[log]]
file = "a.txt"
tool = "smallfiles"
stated_command = "fio --bs=8k"
"""


@pytest.fixture
def study(tmp_path: Path, smallfiles_log: Callable[..., str]) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "a.txt").write_text(smallfiles_log() + smallfiles_log("xfs"))
    (tmp_path / "notes.txt").write_text("seen 3 times")
    return tmp_path


def _settings(frame: pl.DataFrame, key: str) -> list[tuple[str, str]]:
    return frame.filter(pl.col("key") == key).select("value", "origin").rows()


def test_a_study_gives_its_facts_to_its_runs(study: Path) -> None:
    data = read(study)
    assert data.runs.select("study", "filesystem", "averaged_over", "origin").rows() == [
        ("mine", "ext4", 3, None),
        ("mine", "xfs", 3, None),
    ]
    assert _settings(data.settings, "memory") == [("64 GB", "study")] * 2
    assert _settings(data.settings, "mount_options") == [("noatime", "study")]


def test_where_log_and_article_disagree_both_stay(study: Path) -> None:
    data = read(study)
    assert _settings(data.settings, "block_size") == [("4096", "log"), ("8192", "stated")] * 2
    disagreement = data.diagnostics.filter(pl.col("code") == "SETTINGS_DISAGREE")["message"]
    assert (
        disagreement.to_list()
        == ["block_size is 4096 according to the log, but 8192 according to the article."] * 2
    )


def test_where_the_description_and_a_file_name_disagree_both_are_named(study: Path) -> None:
    found = fsb.read(study, names="{memory}.txt").diagnostics.filter(code="SETTINGS_DISAGREE")["message"]
    said = "memory is 64 GB according to the study's description, but a according to the file's name."
    assert found.to_list().count(said) == 2


def test_logs_that_a_study_does_not_name_are_read_and_said(
    study: Path, published: Path, smallfiles_log: Callable[..., str]
) -> None:
    shutil.copy(published / "raid1-hdd-2020" / "provision-zfs.txt", study)
    (study / "command.txt").write_text(f"fio --bs=8k\n{smallfiles_log(rate=1000.0)}")
    text = STUDY.replace('stated_command = "fio --bs=8k"', 'stated_command_file = "command.txt"')
    (study / "study.toml").write_text(f'{text}[filesystems.zfs]\nprovision = "provision-zfs.txt"\n')
    (study / "deep" / "er").mkdir(parents=True)
    (study / "deep" / "er" / "b.txt").write_text(smallfiles_log(rate=3000.0))
    (study / "c.txt").write_text(smallfiles_log("xfs", rate=4000.0))
    (study / "other").mkdir()
    (study / "other" / "study.toml").write_text('[study]\nid = "other"\ntitle = "Another"\n')
    (study / "other" / "d.txt").write_text(smallfiles_log(rate=5000.0))
    data = read(study)
    unnamed = [str(study / name) for name in ("c.txt", "deep/er/b.txt", "other/d.txt")]
    named = data.runs.select("source", "study", "averaged_over").rows()
    assert sorted(named) == [
        *[(str(study / "a.txt"), "mine", 3)] * 2,
        (unnamed[0], "mine", 3),
        (unnamed[1], "mine", 3),
        (unnamed[2], "other", None),
    ]
    said = data.diagnostics.filter(code="UNNAMED_LOG")
    assert sorted(said["source"]) == unnamed
    assert set(said["severity"]) == {"warning"}
    of_unnamed = data.settings.join(data.runs.filter(source=unnamed[1]), on="run_id", how="semi")
    assert _settings(of_unnamed, "memory") == [("64 GB", "study")]
    assert _settings(of_unnamed, "mount_options") == [("noatime", "study")]
    assert _settings(of_unnamed, "block_size") == [("4096", "log")]  # and not what is stated of a.txt


def test_log_files_of_fio_are_told_from_those_that_a_study_names(tmp_path: Path) -> None:
    rows = "1, 4096, 0, 4096\n2, 4096, 0, 4096\n"
    for name in ("x_bw.1.log", "y_bw.1.log"):
        (tmp_path / name).write_text(rows)
    table = '[[log]]\nfile = "x_bw.1.log"\ntool = "fio"\nfilesystem = "xfs"\n'
    (tmp_path / "study.toml").write_text(f'[study]\nid = "s"\ntitle = "S"\n{table}')
    data = read(tmp_path)
    assert sorted(data.runs.select("filesystem", "study").rows(), key=str) == [("xfs", "s"), (None, "s")]
    said = data.diagnostics.filter(code="UNNAMED_LOG")
    assert said["source"].to_list() == [str(tmp_path / "y_bw.1.log")]


PAGE = Path(__file__).parents[1] / "data" / "iozone" / "3.x-tables-in-markdown.txt"
"""A page with a table on line 5, of which two rows follow, and another one on line 12."""


OF_PAGE = """\
[study]
id = "page"
title = "A page"

[system]
host = "h1"
kernel = "6.1"

[[log]]
file = "page.txt"
tool = "iozone"
tool_version = "3.490"
"""


def _page(folder: Path, tables: str) -> Path:
    shutil.copy(PAGE, folder / "page.txt")
    (folder / "study.toml").write_text(OF_PAGE + tables)
    return folder


def test_the_runs_of_one_file_are_told_apart(tmp_path: Path) -> None:
    tables = """
[[log.run]]
number = 1
filesystem = "ext4"
round = 1
command = "iozone -a"

[[log.run]]
line = 15
filesystem = "xfs"
host = "h2"
tool_version = "3.506"
settings = { kernel = "6.5", memory = "4 GB" }
"""
    data = read(_page(tmp_path, tables))
    first, second = data.runs["run_id"]
    assert data.runs.select("line", "filesystem", "host", "round", "tool_version").rows() == [
        (5, "ext4", "h1", 1, "3.490"),
        (12, "xfs", "h2", None, "3.506"),
    ]
    assert data.settings.filter(run_id=first, key="kernel")["value"].to_list() == ["6.1"]
    of_second = data.settings.filter(run_id=second, origin="study").select("key", "value")
    assert dict(of_second.rows()) == {"host": "h2", "kernel": "6.5", "memory": "4 GB"}
    commands = data.settings.filter(key="command", origin="command")
    assert commands.select("run_id", "value").rows() == [(first, "iozone -a")]
    assert not {"NO_SUCH_RUN", "UNNAMED_RUN", "BAD_STUDY"} & set(data.diagnostics["code"])


@pytest.mark.parametrize(
    ("tables", "messages"),
    [
        (
            "[[log.run]]\nnumber = 3\n",
            [
                (14, "page.txt has no run 3; its runs begin on lines 5, 12."),
                (None, "No [[log.run]] table names the run of page.txt on line 5."),
                (None, "No [[log.run]] table names the run of page.txt on line 12."),
            ],
        ),
        (
            "[[log.run]]\nline = 7\n[[log.run]]\nline = 9\n[[log.run]]\nnumber = 1\n",
            [
                (16, "page.txt has no run on line 9; its runs begin on lines 5, 12."),
                (18, "An earlier [[log.run]] table names the same run of page.txt."),
                (None, "No [[log.run]] table names the run of page.txt on line 12."),
            ],
        ),
    ],
)
def test_tables_and_runs_that_do_not_match_are_said(
    tmp_path: Path, tables: str, messages: list[tuple[int | None, str]]
) -> None:
    data = read(_page(tmp_path, f"\n{tables}"))
    assert data.runs.height == 2
    said = data.diagnostics.filter(pl.col("code").is_in(["NO_SUCH_RUN", "UNNAMED_RUN"]))
    assert said.select("line", "message").rows() == messages
    assert set(said["source"]) == {str(tmp_path / "study.toml")}


def test_a_line_that_several_runs_share_names_none(tmp_path: Path) -> None:
    # three machines in one table of bonnie++: their runs begin on lines 1, 6 and 8, and overlap
    shutil.copy(PAGE.parents[1] / "bonnie" / "2.00a-csv2txt-three-runs.txt", tmp_path / "page.txt")
    text = OF_PAGE.replace("iozone", "bonnie++")
    (tmp_path / "study.toml").write_text(
        f'{text}\n[[log.run]]\nline = 6\nfilesystem = "xfs"\n[[log.run]]\nline = 14\n'
    )
    data = read(tmp_path)
    assert data.runs.select("line", "filesystem").rows() == [(1, None), (6, "xfs"), (8, None)]
    assert data.diagnostics.filter(code="NO_SUCH_RUN")["message"].to_list() == [
        "page.txt has more than one run on line 14: give the number of the one that is meant."
    ]


def test_a_file_that_is_named_twice_is_no_replication(tmp_path: Path) -> None:
    again = '\n[[log]]\nfile = "./page.txt"\ntool = "iozone"\nfilesystem = "xfs"\n'
    claim = """
[[claim]]
id = "c"
says = "ext4 writes faster"
relation = "greater"
metric = "bandwidth"
where = { operation = "write" }
of = { filesystem = "ext4" }
"""
    with pytest.raises(InputError) as caught:
        fsb.audit(_page(tmp_path, f'filesystem = "ext4"\n{again}{claim}'))
    assert str(caught.value) == (
        f"{tmp_path}/study.toml:15: two [[log]] tables name the file './page.txt' on lines 9 and 15: each of its "
        "runs would count twice\nName it once, and tell its runs apart by a [[log.run]] table for each, with its "
        "number or one of its lines."
    )
    with pytest.raises(InputError, match=r"on lines 9 and 15.*\[\[log\.run\]\] table for each"):
        read(tmp_path)
    runs = "".join(f'[[log.run]]\nnumber = {n}\nfilesystem = "{fs}"\n' for n, fs in enumerate(("ext4", "xfs"), 1))
    audited = fsb.audit(_page(tmp_path, f"\n{runs}{claim}"))
    assert audited["evidence"].to_list() == ["single figures"]


def test_the_manual_s_example_is_read(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "study.md").read_text()
    example, *others = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    for other in others:
        (tmp_path / "study.toml").write_text(other)
        read_study(tmp_path)
    (tmp_path / "study.toml").write_text(example)
    for name in set(re.findall(r'(?:_file|provision) = "([^"]+)"', example)):
        (tmp_path / name).write_text("zpool create tank mirror sda sdb")
    study = read_study(tmp_path)
    for table in (StudyDescription, StudyFacts, LogFacts, RunOfLog):
        unsaid = {name for name in table.model_fields if f"`{name}`" not in text and f"{name} = " not in text}
        assert unsaid <= {"study", "system", "filesystems", "workload", "log", "claim", "run"}
    shutil.copy(PAGE, tmp_path / study.log[0].file)
    data = read(tmp_path)
    assert data.runs["filesystem"].to_list() == ["ext4", "zfs"]
    assert not {"NO_SUCH_RUN", "UNNAMED_RUN", "BAD_STUDY"} & set(data.diagnostics["code"])


def test_every_tool_that_is_read_can_be_named_in_a_study(study: Path) -> None:
    (study / "study.toml").write_text(STUDY.replace('tool = "smallfiles"', 'tool = "time"'))
    (study / "a.txt").write_text("real\t0m1.500s\nuser\t0m0.250s\nsys\t0m0.100s\n")
    data = read(study)
    assert data.runs.select("study", "tool").rows() == [("mine", "time")]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "title",
            "titel",
            'study.toml:3: "title" in [study] is missing\n"titel" in [study] is not a known key.',
        ),
        ("averaged_over = 3", "averaged_over = 1", 'study.toml:4: "averaged_over" in [study] must be greater'),
        ("[study]", "[study", "study.toml: this is not TOML"),
        (
            'tool = "smallfiles"',
            'tool = "dd"',
            'study.toml:14: "tool" in [[log]] must be one of bonnie++, filetree, fio, time',
        ),
        ("stated_command", "[[log.run]]\nround = 1\nstated_command", 'named by its "number" or by a "line" of it'),
        (
            "mount_options",
            'provision = "gone"\nmount_options',
            "it names the file 'gone', which is not in its folder",
        ),
    ],
)
def test_a_bad_description_is_explained(study: Path, before: str, after: str, message: str) -> None:
    (study / "study.toml").write_text(STUDY.replace(before, after))
    with pytest.raises(InputError) as caught:
        read_study(study)
    assert message in str(caught.value)
    with pytest.raises(InputError, match=r"study\.toml"):
        read(study)
