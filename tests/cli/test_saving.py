"""What commands write on request, and what they say of it."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl

import fsbench_kit as fsb
from fsbench_kit.cli.exits import STATUSES
from tests.command import fsbench
from tests.data.test_launched import launched

ENDINGS = (".csv", ".json", ".parquet", ".md", ".tex")


def test_compare_audit_and_repeats_write_every_format(published: Path, tmp_path: Path) -> None:
    study = published / "fio-nvme-2021"
    for command in (["compare", study], ["audit", study], ["repeats", "--cv", "5"]):
        targets = [tmp_path / f"{command[0]}{ending}" for ending in ENDINGS]
        result = fsbench(*command, *(word for target in targets for word in ("--to", target)))
        assert result.returncode == 0, result.stderr
        assert all(f"Wrote {target}" in result.stderr for target in targets)
        frames = [pl.read_csv(targets[0]), pl.read_json(targets[1]), pl.read_parquet(targets[2])]
        assert len({frame.height for frame in frames}) == 1
        assert result.stdout.splitlines()[0].strip() in targets[3].read_text().replace("\\", "")


def test_read_writes_settings_as_columns(published: Path, tmp_path: Path) -> None:
    result = fsbench("read", published / "sysbench-rhel72", "--to", tmp_path / "w.csv", "--wide")
    assert f"Wrote {tmp_path}/w.csv: a row for each run and operation." in result.stderr
    table = pl.read_csv(tmp_path / "w.csv")
    assert set(table["pattern"]) == {"rndrd", "rndwr", "seqrd", "seqwr"}
    assert table.filter(pattern="seqwr", filesystem="xfs", operation="write")["bandwidth"].to_list() == [
        883823738.88
    ]


def test_wide_needs_a_file(published: Path, tmp_path: Path) -> None:
    assert "Add --to figures.csv" in fsbench("read", published, "--wide").stderr
    result = fsbench("read", published / "fio-nvme-2021", "--wide", "--to", tmp_path)
    assert (result.returncode, "six frames are not one wide table" in result.stderr) == (2, True)


def test_a_gate_writes_junit_by_the_rules_of_its_schema(published: Path, tmp_path: Path) -> None:
    target = tmp_path / "gate.xml"
    study = published / "sysbench-rhel72"
    assert fsbench("compare", study, "--gate", "--to", target, "--to", tmp_path / "gate.md").returncode == 4
    root = ET.parse(target).getroot()  # noqa: S314  # the kit's own
    assert (root.tag, root.attrib) == ("testsuites", {})
    for number, suite in enumerate(root):
        assert set(suite.attrib) == {
            *("id", "package", "name", "timestamp", "hostname", "tests", "failures", "errors", "time")
        }
        assert suite.get("id") == str(number)
        assert datetime.strptime(suite.get("timestamp", ""), "%Y-%m-%dT%H:%M:%S")  # as the schema has it
        tags = [each.tag for each in suite]
        assert tags == ["properties", *["testcase"] * int(suite.get("tests", "")), "system-out", "system-err"]
        tests = suite.findall("testcase")
        assert all(set(test.attrib) == {"name", "classname", "time"} and len(test) <= 1 for test in tests)
        assert len({test.get("name") for test in tests}) == len(tests)
        assert len(suite.findall("testcase/failure")) == int(suite.get("failures", ""))
        errors = suite.findall("testcase/error")
        assert len(errors) == int(suite.get("errors", "")) > 0
        assert all({"type", "message"} == set(error.attrib) for error in errors)
    assert "comparisons are not comparable" in (tmp_path / "gate.md").read_text()


def test_a_gate_counts_bandwidth_and_iops_of_a_job_once(root: Path, tmp_path: Path) -> None:
    study = root / "raw_results" / "recorded" / "ext4-xfs-loop-2026"
    fsbench("compare", study, "--gate", "--to", tmp_path / "gate.xml", "--to", tmp_path / "all.md")
    tests = ET.parse(tmp_path / "gate.xml").getroot().findall(".//testcase")  # noqa: S314
    comparison = fsb.compare(fsb.read(study))
    assert len(tests) == comparison["effect"].n_unique() < comparison.height


def test_junit_without_a_gate_is_refused(published: Path, tmp_path: Path) -> None:
    result = fsbench("compare", published / "fio-nvme-2021", "--to", tmp_path / "gate.xml")
    assert (result.returncode, result.stdout) == (2, "")
    assert "cannot write a table as '.xml'" in result.stderr


def test_help_has_every_exit_status() -> None:
    shown = " ".join(fsbench("--help").stdout.split())
    assert all(f"{status}: {meaning}" in shown for status, meaning in STATUSES.items())


def test_what_is_written_for_others_names_no_host(tmp_path: Path, smallfiles_log: Callable[..., str]) -> None:
    for number, host in enumerate(("lab-7", "lab-8"), 1):
        launched(tmp_path / f"{number}", smallfiles_log(rate=1000.0 * number), host=host)
    command = ("compare", tmp_path, "--factor", "host", "--to")
    assert fsbench(*command, tmp_path / "plain.csv").returncode == 0
    assert fsbench(*command, tmp_path / "masked.csv", "--to", tmp_path / "masked.md", "--mask").returncode == 0
    plain, masked, table = (
        (tmp_path / name).read_text(encoding="utf-8") for name in ("plain.csv", "masked.csv", "masked.md")
    )
    assert "lab-7" in plain
    assert "lab-" not in masked + table
    assert masked.count("\n") == plain.count("\n")
