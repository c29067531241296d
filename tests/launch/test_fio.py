from __future__ import annotations

from pathlib import Path

from fsbench_kit.launch.workloads import Fio


def test_options_of_the_plan_are_given_and_no_others() -> None:
    workload = Fio(tool="fio", name="random", rw="randwrite", bs="4k", size="64M", direct=True, time_based=False)
    assert workload.argv(Path("/target"), filesystem="xfs", seed=7) == (
        "fio",
        "--name=random",
        "--directory=/target",
        "--rw=randwrite",
        "--bs=4k",
        "--size=64m",
        "--direct=1",
        "--time_based=0",
        "--randseed=7",
        "--output-format=json+",
        "--output=fio.json",
    )


def test_bytes_written_are_those_that_are_sure() -> None:
    job = {"tool": "fio", "name": "job", "bs": "4k", "size": 1000, "numjobs": 3}
    assert Fio(**job, rw="randwrite").least_written == 3000
    assert Fio(**job, rw="randwrite", io_size=500).least_written == 1500
    assert Fio(**job, rw="randwrite", runtime=5).least_written == 0  # a slow disk may not get far
    assert Fio(**job, rw="read", runtime=5).least_written == 3000  # the files are laid out first
    assert Fio(**job, rw="read").space == 3000
