from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import fsbench_kit as fsb
from fsbench_kit.launch import launch, read_plan
from fsbench_kit.launch.workloads import RunContext
from fsbench_kit.launch.workloads.fio import Fio, jobs
from fsbench_kit.launch.workloads.fio.safety import FILE_ENGINES
from fsbench_kit.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.launch import Plan

GROUND = RunContext(directory=Path("/target"), beside=Path("/beside"), filesystem="xfs", seed=7)

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio")


def test_options_of_the_plan_are_given_and_no_others() -> None:
    workload = Fio(
        tool="fio",
        name="random",
        rw="randwrite",
        bs="4k",
        size="64M",
        direct=True,
        time_based=False,
        options={"norandommap": True, "rate_iops": 500, "buffer_compress_percentage": "30"},
    )
    work = workload.work(GROUND)
    assert work.measured == (
        "fio",
        "--name=random",
        "--directory=/target/",
        "--rw=randwrite",
        "--bs=4k",
        "--size=64m",
        "--direct=1",
        "--time_based=0",
        "--norandommap=1",
        "--rate_iops=500",
        "--buffer_compress_percentage=30",
        "--randseed=7",
        "--output-format=json+",
        "--output=fio.json",
    )
    assert (work.before, work.after, work.files, work.on_target) == ((), (), {}, False)


def test_bytes_written_are_those_that_are_sure() -> None:
    job = {"tool": "fio", "name": "job", "bs": "4k", "size": "10k", "numjobs": 3}
    assert Fio(**job, rw="randwrite").least_written == 3 * 8192  # whole blocks
    assert Fio(**job, rw="randwrite", io_size="4k").least_written == 3 * 4096
    assert Fio(**job, rw="randwrite", runtime=5).least_written is None  # a slow disk may not get far
    assert Fio(**job, rw="read", runtime=5).least_written == 3 * 10240  # the files are laid out first
    assert Fio(**job, rw="read").space == 3 * 10240


def test_time_is_known_where_there_is_a_limit() -> None:
    job = {"tool": "fio", "name": "job", "rw": "randread", "bs": "4k", "size": "1M"}
    assert (Fio(**job).least_seconds, Fio(**job).stated_seconds) == (0, 0)
    limited = Fio(**job, runtime=5)
    assert (limited.least_seconds, limited.stated_seconds) == (0, 5)
    timed = Fio(**job, runtime=5, time_based=True, options={"ramp_time": "2s", "startdelay": 1})
    assert (timed.least_seconds, timed.stated_seconds) == (8, 8)


# ---- job files

JOB = """\
; two jobs after one another, and one beside the second
[global]
directory=/mnt/test   ; where its author had it
bs=4k
size=1m

[write]
rw=write
[first-read]
stonewall
rw=randread
runtime=500ms
time_based
[global]
bs=8k
[second-read]
rw=read
size=64k
numjobs=2
"""


def test_job_file_is_understood_as_fio_understands_it() -> None:
    shared = {"directory": "/mnt/test", "bs": "4k", "size": "1m"}
    assert [(job.name, job.options) for job in jobs.read(JOB)] == [
        ("write", {**shared, "rw": "write"}),
        ("first-read", {**shared, "stonewall": "", "rw": "randread", "runtime": "500ms", "time_based": ""}),
        ("second-read", {**shared, "bs": "8k", "rw": "read", "size": "64k", "numjobs": "2"}),
    ]


def from_job(text: str) -> Fio:
    return Fio(tool="fio", name="job", job=text)


def test_job_file_tells_what_it_needs() -> None:
    workload = from_job(JOB)
    assert workload.space == 2**20 + 2**20 + 2 * 2**16
    assert workload.least_written == workload.space
    assert workload.least_seconds == 0.5
    assert workload.stated_seconds == 0.5  # the first job has no limit


@pytest.mark.parametrize(
    "size", ["size=10%", "size=2*1m", "size=1.5m", "filesize=1m", "size=1m\nfill_fs=1", "size=1m\nfile_append"]
)
def test_space_that_only_the_run_knows(size: str) -> None:
    assert from_job(f"[job]\nrw=write\n{size}\n").space is None


def test_jobs_after_one_another_add_up_their_time() -> None:
    text = "[global]\nruntime=1m\n[a]\nrw=read\n[b]\nrw=read\nruntime=90\n[c]\nstonewall\nrw=read\nramp_time=1s\n"
    assert from_job(text).stated_seconds == 90 + 61


SHARED = "[global]\nfilename=one\nrw=write\nsize=64k\n" + "".join(f"[job{n}]\nstonewall\n" for n in range(7))
FILES = {
    "seven jobs on one file": (SHARED, 64, 7 * 64),
    "two jobs of one name": ("[a]\nrw=write\nsize=64k\n[a]\nrw=write\nsize=128k\n", 128, 64 + 128),
    "two names": ("[a]\nfilename=x:y\nrw=write\nsize=64k\nnumjobs=3\n", 64, 3 * 64),
    "several files": ("[a]\nrw=write\nsize=64k\nnrfiles=4\nnumjobs=2\n", 128, 128),
    "a format without the copy's number": (
        "[a]\nfilename_format=x.$filenum\nrw=write\nsize=64k\nnrfiles=2\nnumjobs=3\n",
        64,
        0,
    ),
    "parts of one file": (
        "[a]\nfilename=x\nrw=write\nsize=64k\noffset=8k\noffset_increment=128k\nnumjobs=3",
        8 + 2 * 128 + 64,
        3 * 64,
    ),
    "read after it was written": (
        "[global]\nfilename=x\nsize=64k\n[a]\nrw=write\n[b]\nstonewall\nrw=read\n",
        64,
        64,
    ),
    "an end in time": ("[a]\nrw=write\nsize=64k\nruntime=1\n", 64, 0),
    "an end by number": ("[a]\nrw=write\nsize=64k\nnumber_ios=2\n", 64, 0),
}


@pytest.mark.slow
@needs_fio
def test_files_are_counted_once_and_bytes_where_they_are_certain(tmp_path: Path) -> None:
    for number, (name, (job, space, written)) in enumerate(FILES.items()):
        workload = from_job(job)
        assert (workload.space, workload.least_written) == (space * 1024, written * 1024 or None), name
        # What fio makes of it: how large its files are, and how much it has written.
        folder = tmp_path / str(number)
        (folder / "target").mkdir(parents=True)
        work = workload.work(replace(GROUND, directory=folder / "target"))
        (folder / "job.fio").write_text(work.files["job.fio"], encoding="utf-8")
        subprocess.run(work.measured, cwd=folder, check=True, capture_output=True)
        assert sum(file.stat().st_size for file in (folder / "target").iterdir()) == space * 1024, name
        report = json.loads((folder / "fio.json").read_text(encoding="utf-8"))
        assert sum(job["write"]["io_bytes"] for job in report["jobs"]) >= written * 1024, name


PLAN = """\
id = "jobs"
[[target]]
kind = "directory"
name = "here"
directory = "."

[[workload]]
tool = "fio"
name = "job"
job_file = "jobs/one.fio"
"""


def write_plan(folder: Path, job: str | None, plan: str = PLAN) -> Path:
    path = folder / "plan.toml"
    path.write_text(plan, encoding="utf-8")
    if job is not None:
        (folder / "jobs").mkdir()
        (folder / "jobs" / "one.fio").write_text(job, encoding="utf-8")
    return path


OPTIONS = PLAN.replace('job_file = "jobs/one.fio"', 'rw = "read"\nbs = "4k"\nsize = "1M"\n')


@needs_fio
@pytest.mark.parametrize(
    ("plan", "job", "line", "said"),
    [
        (
            PLAN,
            "[one]\nsize=1m\nbsz=4k\n",
            10,
            'fio does not accept line 3 of the job file, "bsz=4k": Bad option <bsz=4k>\nDid you mean bs?',
        ),
        (
            PLAN,
            "[one]\nsize=1m\niodepth=many\n",
            10,
            'fio does not accept line 3 of the job file, "iodepth=many": failed parsing iodepth=many\nfio ',
        ),
        (
            PLAN,
            "[one]\nsize=1m\nramp_time=1.5m\n",
            10,
            'fio would read line 3 of the job file, "ramp_time=1.5m", as ramp_time=1\nWrite a whole number, ',
        ),
        (
            OPTIONS + "options = { ramp_time = 0.5 }\n",
            None,
            14,
            "fio would read ramp_time=0.5 as ramp_time=0\nWrite a whole number, ",
        ),
        (
            OPTIONS + "options = { iodpth = 3 }\n",
            None,
            14,
            "fio does not accept this: unrecognized option '--iodpth=3'\nDid you mean iodepth?",
        ),
    ],
)
def test_what_fio_does_not_accept_is_said_before_anything_starts(
    tmp_path: Path, plan: str, job: str | None, line: int, said: str
) -> None:
    with pytest.raises(InputError) as raised:
        read_plan(write_plan(tmp_path, job, plan))
    assert raised.value.line == line
    assert f"{raised.value.what}\n{raised.value.hint}".startswith(said)
    assert {path.name for path in tmp_path.iterdir()} <= {"plan.toml", "jobs"}


@needs_fio
def test_job_file_is_run_on_the_target_and_kept(tmp_path: Path) -> None:
    plan = read_plan(write_plan(tmp_path, JOB.replace("/mnt/test", "/nowhere/at/all")))
    plan = plan.model_copy(update={"repeats": 1, "drop_caches": False})
    root = tmp_path / "elsewhere"
    root.mkdir()
    result = launch(plan, root=root)
    assert result.failures == {}
    (run,) = result.runs
    ran = (run / "job.fio").read_text(encoding="utf-8")
    assert ran == JOB.replace("directory=/mnt/test", "; directory=/nowhere/at/all")
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    assert "job.fio" in record["sha256"]
    assert record["argv"][-1] == "job.fio"
    # What was recorded needs no job file beside it.
    again = read_plan(result.folder / "plan.toml")
    assert again.workload == plan.workload
    # fio's own counts: what each job has moved.
    report = json.loads((run / "fio.json").read_text(encoding="utf-8"))
    moved = {
        (j["jobname"], d): j[d]["io_bytes"] for j in report["jobs"] for d in ("read", "write") if j[d]["io_bytes"]
    }
    assert moved["write", "write"] == 2**20
    assert moved["second-read", "read"] == 2**16
    figures = fsb.read(result.folder).measurements.filter(metric="bytes", operation="write")
    assert set(figures["value"]) == {2**20}


@needs_fio
def test_logs_over_time_become_series(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object]
) -> None:
    job = {**fio, "size": "64k", "runtime": 0.5, "time_based": True, "log_interval": 0.1}
    result = launch(make_plan(workload=[job], repeats=1), root=tmp_path)
    assert result.failures == {}
    (run,) = result.runs
    names = {path.name for path in run.glob("*.log")}
    assert {"fio_bw.1.log", "fio_iops.1.log", "fio_lat.1.log"} <= names
    data = fsb.read(result.folder)
    assert data.runs.height == 1
    series = data.series.filter(metric="bandwidth", operation="write")
    rows = (run / "fio_bw.1.log").read_text().splitlines()
    # fio's log holds KiB/s in its second column.
    assert series["value"].to_list() == [int(row.split(",")[1]) * 1024 for row in rows]


@needs_fio
@pytest.mark.parametrize("seconds", [0.6, 1.4])
def test_a_fraction_of_a_second_is_run_and_recorded(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], seconds: float
) -> None:
    job = {**fio, "size": "64k", "runtime": seconds, "time_based": True}
    result = launch(make_plan(workload=[job], repeats=1), root=tmp_path)
    report = json.loads((result.runs[0] / "fio.json").read_text(encoding="utf-8"))
    assert (
        1000 * seconds - 50 <= report["jobs"][0]["job_runtime"] < 1000 * seconds + 10_000
    )  # a busy machine is late
    limits = fsb.read(result.folder).settings.filter(key="time_limit")
    assert set(limits["value"]) == {str(seconds)}


@needs_fio
def test_every_engine_that_is_allowed_is_one_of_fios() -> None:
    said = subprocess.run(["fio", "--enghelp"], capture_output=True, text=True, check=True).stdout
    known = set(said.split())
    # dircreate, dirstat and dirdelete are of fio 3.36
    assert set(FILE_ENGINES) - known <= {"dircreate", "dirstat", "dirdelete"}


# ---- what is refused

DANGERS = {
    "a device": ("filename=/dev/sda", "a path could lead outside the target"),
    "a device behind a file": ("filename=one:/dev/sda", "a path could lead outside the target"),
    "a device in a variable": ("filename=$DEVICE", "the value of a variable would not be recorded"),
    "a path upwards": ("filename=../../precious", "a path could lead outside the target"),
    "a path in a format": ("filename_format=/dev/$jobname", "a path could lead outside the target"),
    "a log elsewhere": ("write_bw_log=/etc/log", "a path could lead outside the target"),
    "a program": ("exec_prerun=rm -r *", "it runs a program"),
    "whatever is found": ("opendir=here", "it writes to all files that it finds"),
    "a replay": ("read_iolog=recorded.log", "a replay writes to where it was recorded"),
    "a disk's scheduler": ("ioscheduler=none", "it changes the scheduler of a disk permanently"),
    "another file": ("include other.fio", "it reads another file, whose text would not be recorded"),
    "an engine without files": (
        "ioengine=rbd",
        f"only engines that work on files are run: {', '.join(FILE_ENGINES)}",
    ),
    "a job that is called as a path": ("[../../dev/sda]", "a path could lead outside the target"),
}


@pytest.mark.parametrize(("line", "why"), DANGERS.values(), ids=DANGERS)
def test_job_that_could_reach_beyond_the_target(tmp_path: Path, line: str, why: str) -> None:
    path = write_plan(tmp_path, f"[job]\nrw=write\nsize=1m\n  {line}  ; really\n")
    with pytest.raises(InputError) as raised:
        read_plan(path)
    sentence = f'line 4 of the job file, "{line}", is refused: {why}'
    assert (raised.value.what, raised.value.line) == (sentence, 10)
    assert raised.value.excerpt == 'job_file = "jobs/one.fio"'


SIMPLE = PLAN.replace('job_file = "jobs/one.fio"', 'rw = "read"\nbs = "4k"\nsize = "1M"\n')


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            'filename = "/dev/sda"',
            'the option "filename" is refused: a path could lead outside the target',
        ),
        ('directory = "sub"', 'the option "directory" is refused: the target says where the files are'),
        ("iodepth = 4", 'the option "iodepth" is refused: it has a key of its own here'),
        ('readwrite = "write"', 'the option "readwrite" is refused: it has a key of its own here'),
        ('exec_postrun = "reboot"', 'the option "exec_postrun" is refused: it runs a program'),
    ],
)
def test_option_that_is_refused(tmp_path: Path, options: str, sentence: str) -> None:
    path = write_plan(tmp_path, None, f"{SIMPLE}options = {{ {options} }}\n")
    with pytest.raises(InputError) as raised:
        read_plan(path)
    assert (raised.value.what, raised.value.line) == (sentence, 14)


@pytest.mark.parametrize(
    ("more", "sentence", "line"),
    [
        ('rw = "read"', '"rw" cannot be combined with a job file', 11),
        ("options = { thread = true }", '"options" cannot be combined with a job file', 11),
        ("", "cannot read the job file jobs/one.fio: No such file or directory", 10),
    ],
)
def test_job_file_that_cannot_be_used(tmp_path: Path, more: str, sentence: str, line: int) -> None:
    path = write_plan(tmp_path, "[job]\nrw=write\n" if more else None, f"{PLAN}{more}\n")
    with pytest.raises(InputError) as raised:
        read_plan(path)
    assert (raised.value.what, raised.value.line) == (sentence, line)


def test_job_file_without_a_job(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the job file has no job"):
        read_plan(write_plan(tmp_path, "[global]\nrw=write\n"))


def test_engine_for_devices_is_no_engine_of_a_plan(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='"ioengine" must be one of fio\'s engines that work on files: '):
        read_plan(write_plan(tmp_path, None, f'{SIMPLE}ioengine = "sg"\n'))


def test_options_survive_writing_and_reading(tmp_path: Path) -> None:
    from fsbench_kit.launch.plan import plan_text

    path = write_plan(
        tmp_path, None, SIMPLE + 'options = { norandommap = true, bssplit = "4k/50:8k/50", nice = 5 }\n'
    )
    plan = read_plan(path)
    path.write_text(plan_text(plan), encoding="utf-8")
    assert read_plan(path) == plan
    (workload,) = plan.workload
    assert isinstance(workload, Fio)
    assert workload.options == {"norandommap": True, "bssplit": "4k/50:8k/50", "nice": 5}
