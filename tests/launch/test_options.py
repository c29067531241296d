"""Options without a key of their own: given to the tool, or refused with the reason."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fsbench_kit.launch import read_plan
from fsbench_kit.launch.workloads import RunContext
from fsbench_kit.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

IOZONE = 'tool = "iozone"\nmode = "single"\nfile_size = "1M"\nrecord_size = "4k"\n'
BONNIE = 'tool = "bonnie++"\nsize = "8M"\nram_size = 0\n'
SYSBENCH = 'tool = "sysbench"\nfile_test_mode = "rndrd"\nfile_total_size = "16M"\n'
FIO = 'tool = "fio"\njob_file = "job.fio"\n'
CONTEXT = RunContext(directory=Path("target"), beside=Path("beside"), filesystem="ext4", seed=1)


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str], Path]:
    def write(workload: str) -> Path:
        path = tmp_path / "plan.toml"
        path.write_text(f'id = "p"\n[[target]]\nkind = "directory"\ndirectory = "."\n[[workload]]\n{workload}')
        return path

    return write


@pytest.mark.parametrize(
    ("workload", "options", "words"),
    [
        (IOZONE, "-K -+a 50", ("-K", "-+a", "50")),
        (BONNIE, "-q -x 2", ("-q", "-x", "2")),
        (SYSBENCH, "--rate=50", ("--rate=50",)),
    ],
)
def test_options_reach_the_tool(
    put: Callable[[str], Path], workload: str, options: str, words: tuple[str, ...]
) -> None:
    (one,) = read_plan(put(f'{workload}options = "{options}"\n')).workload
    argv = one.work(CONTEXT).measured
    start = argv.index(words[0])
    assert argv[start : start + len(words)] == words


@pytest.mark.parametrize(
    ("workload", "options", "sentence"),
    [
        (IOZONE, "-s 5", 'the option "-s" is refused: it has a key of its own here'),
        (IOZONE, "-U mnt", 'the option "-U" is refused: it mounts and unmounts'),
        (IOZONE, "-Y /etc/passwd", 'the word "/etc/passwd" is refused'),
        (SYSBENCH, "--file-num=5", 'the option "--file-num" is refused: it has a key of its own here'),
        (SYSBENCH, "--rate='5", "this cannot be split into words"),
    ],
)
def test_option_that_reaches_elsewhere_is_refused(
    put: Callable[[str], Path], workload: str, options: str, sentence: str
) -> None:
    with pytest.raises(InputError) as error:
        read_plan(put(f'{workload}options = "{options}"\n'))
    assert sentence in error.value.what
    assert (error.value.line, error.value.excerpt) == (5 + workload.count("\n") + 1, f'options = "{options}"')


@pytest.mark.parametrize(("workload", "option"), [(IOZONE, "-+9"), (BONNIE, "-E"), (SYSBENCH, "--no-such-option")])
def test_option_that_the_tool_lacks_is_refused(put: Callable[[str], Path], workload: str, option: str) -> None:
    tool = workload.split('"')[1]
    if shutil.which(tool) is None:
        pytest.skip(f"needs {tool}")
    with pytest.raises(InputError, match=r"has no option"):
        read_plan(put(f'{workload}options = "{option}"\n'))


def test_variables_of_a_job_file_are_recorded_with_it(
    put: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "job.fio").write_text("[a]\nrw=read\nsize=${FSBENCH_SIZE}\n")
    with pytest.raises(InputError, match="FSBENCH_SIZE}, but no such variable is set"):
        read_plan(put(FIO))
    monkeypatch.setenv("FSBENCH_SIZE", "4m")
    (one,) = read_plan(put(FIO)).workload
    assert one.work(CONTEXT).files["job.fio"] == "[a]\nrw=read\nsize=4m\n"
    assert one.space == 4 * 2**20


def test_shares_and_ranges_of_sizes_reach_fio(put: Callable[[str], Path]) -> None:
    (one,) = read_plan(put('tool = "fio"\nrw = "randwrite"\nbs = "4k-64k"\nsize = "50%"\n')).workload
    argv = one.work(CONTEXT).measured
    assert {"--bsrange=4k-64k", "--size=50%"} <= set(argv)
    assert one.space is None
