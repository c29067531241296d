"""The strongest origin counts, and what is known of runs is known by key."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

import fsbench_kit as fsb
from benchmarks.designs import dataset
from fsbench_kit.analysis.settings import effective, known, values_of, wide
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.log import Log
from fsbench_kit.model.records import Run, Setting


def _dataset(*runs: list[Setting]) -> Dataset:
    return assemble(
        Log(source="a", data=bytes([n]), records=[Run(tool="fio", start=0, end=1, line=1, settings=tuple(items))])
        for n, items in enumerate(runs)
    )


def _set(key: str, value: str, **facts: object) -> Setting:
    return Setting(key=key, value=value, **facts)  # type: ignore[arg-type]


def test_the_strongest_origin_counts() -> None:
    data = _dataset(
        [_set("direct", "true", origin="stated"), _set("direct", "false", origin="command")],
        [_set("direct", "true", origin="stated")],
    )
    assert effective(data.settings).select("key", "value", "origin").rows() == [
        ("direct", "false", "command"),
        ("direct", "true", "stated"),
    ]


def test_parts_that_differ_are_all_named() -> None:
    data = _dataset(
        [_set("block_size", "4096", scope="job", part="a"), _set("block_size", "8192", scope="job", part="b")]
    )
    assert effective(data.settings)["value"].to_list() == ["4096 | 8192"]


def test_wide_has_a_row_for_each_run_and_null_for_unknown() -> None:
    data = _dataset([_set("direct", "true")], [_set("engine", "sync")])
    assert wide(data.settings, ["direct", "engine"]).select("direct", "engine").rows() == [
        ("true", None),
        (None, "sync"),
    ]


def test_devices_that_a_job_wrote_to_count_as_settings_and_files_do_not() -> None:
    names = ["/mnt/file", "/dev/sda", "/dev/shm/file", "/dev/shm/file:/dev/sdb"]
    data = _dataset(*([_set("fio.filename", name)] for name in names))
    assert values_of(known(data), data.runs["run_id"]) == {"fio.filename": ["/dev/sda", "/dev/shm/file:/dev/sdb"]}


def test_the_host_and_the_version_of_a_run_count_as_settings() -> None:
    runs = [Run(tool="fio", start=0, end=1, line=1, host=host, tool_version="3.33") for host in ("a", "b")]
    data = assemble(Log(source=run.host or "", data=b"x", records=[run]) for run in runs)
    assert values_of(known(data), data.runs["run_id"]) == {"host": ["a", "b"], "tool_version": ["3.33"]}


def test_options_of_tools_are_factors_by_the_names_that_plans_give_them() -> None:
    facts = [{"filesystem": "ext4", "engine": engine} for engine in ("sync", "libaio") * 3]
    made = dataset(facts, np.random.default_rng(1).lognormal(0, 0.02, (2, 6)))
    assert set(fsb.compare(made, "ioengine")["factor"]) == {"engine"}
    assert fsb.compare(made, "ioengine").equals(fsb.compare(made, "engine"))


def test_a_word_in_names_is_a_factor_unless_a_column_of_that_name_has_values(tmp_path: Path) -> None:
    for number, milliseconds in enumerate(range(100, 900, 100)):
        log = f"real\t0m1.{milliseconds}s\nuser\t0m0.250s\nsys\t0m0.100s\n"
        (tmp_path / f"{['old', 'new'][number % 2]}-{number // 2 + 1}.txt").write_text(log)
    named = fsb.read(tmp_path, names="{stage}-{round}.txt")
    expected = fsb.compare(fsb.read(tmp_path, names="{phase}-{round}.txt"), "phase")
    found = fsb.compare(named, "stage")
    assert found.select("baseline", "level", "n_baseline").rows() == [("new", "old", 4)]
    assert found.drop("factor").equals(expected.drop("factor"))
    launched = replace(named, runs=named.runs.with_columns(stage=pl.lit("measured", named.runs.schema["stage"])))
    assert fsb.compare(launched, "stage").is_empty()  # all were made for the same
