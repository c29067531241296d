"""Copies of studies, altered in one place: each finding follows, in the audit and in the comparison alike."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from shutil import copytree
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import fsbench_kit as fsb

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import polars as pl

Row = dict[str, Any]


class Copy(NamedTuple):
    """What is found in an altered copy: the claims of its article, and the comparison of its runs."""

    claims: dict[str, Row]
    comparison: pl.DataFrame

    def rows(self, **chosen: object) -> list[Row]:
        return self.comparison.filter(**chosen).rows(named=True)


def _altered(
    published: Path,
    to: Path,
    name: str,
    /,
    added: str = "",
    baseline: str | None = None,
    **changes: dict[str, str],
) -> Copy:
    """Replace text in a copy of a study, given for each file by its name without its suffix."""
    folder = to / name
    copytree(published / name, folder)
    for file, replaced in changes.items():
        (path,) = folder.glob(f"{file.replace('_', '-')}.*")
        text = path.read_text(encoding="utf-8")
        for old, new in replaced.items():
            assert old in text
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
    with (folder / "study.toml").open("a", encoding="utf-8") as study:
        study.write(added)
    claims = {row["claim"]: row for row in fsb.audit(folder).iter_rows(named=True)}
    return Copy(claims, fsb.compare(fsb.read(folder), baseline=baseline))


def _said(rows: Sequence[Row]) -> str:
    return "\n".join(sentence for row in rows for sentence in row["footnotes"])


# ---- published studies


def test_equal_hosts_set_nothing_apart(published: Path, tmp_path: Path) -> None:
    logs = ("seqwr_xfs", "seqrd_ext4", "rndwr_ext4", "rndrd_ext4")  # those of host01
    found = _altered(published, tmp_path, "sysbench-rhel72", **{log: {"host01": "host02"} for log in logs})
    claims = found.claims
    assert (claims["same-host"]["verdict"], claims["same-host"]["direction"]) == ("supported", "as said")
    assert (claims["rndrd-4"]["verdict"], claims["rndrd-4"]["confounders"]) == ("figures agree", [])
    assert not any("CONFIG_MISMATCH" in row["reasons"] for row in found.rows())


IDLE = {"46591.0000/26773.96": "46591.0000/12.00", "130.8748/75.55": "130.8748/0.05"}
BUSY = {"48552.0000/559.95": "48552.0000/28031.51", "173.6025/0.45": "173.6025/100.23", "694.4098s": "520.8075s"}


@pytest.mark.parametrize("of_ext4", [False, True])
def test_the_idle_thread_can_be_removed_and_moved(published: Path, tmp_path: Path, of_ext4: bool) -> None:
    moved = {"rndwr_ext4": BUSY} if of_ext4 else {}
    found = _altered(published, tmp_path, "sysbench-rhel72", rndwr_xfs=IDLE, **moved)
    of_claim = "\n".join(found.claims["rndwr-0.7"]["footnotes"])
    of_rows = _said(found.rows(pattern="rndwr"))
    for said in (of_claim, of_rows):
        assert ("ext4: One of 4 threads" in said) is of_ext4
        assert "xfs: One of 4 threads" not in said


def test_a_run_with_the_other_name(published: Path, tmp_path: Path) -> None:
    swap = {
        'filesystem = "xfs"\nstated': "?",
        'filesystem = "zfs"\nstated': "!",
        "?": 'filesystem = "zfs"\nstated',
        "!": 'filesystem = "xfs"\nstated',
    }
    found = _altered(published, tmp_path, "fio-nvme-2021", study=swap)
    claims = found.claims
    answers = {
        name: (claims[name]["verdict"], claims[name]["direction"])
        for name in ("zfs-incredibly-slower", "zfs-85-percent-fewer")
    }
    assert set(answers.values()) == {("contradicted", "the contrary")}
    assert claims["xfs-189k"]["size"] == "overstated"  # it is 28.3k then
    assert claims["zfs-28.3k"]["size"] == "understated"
    (row,) = found.rows(metric="iops")
    assert (row["baseline"], row["level"], row["ratio"]) == ("xfs", "zfs", pytest.approx(189 / 28.3))


def test_direct_io_for_all(published: Path, tmp_path: Path) -> None:
    plain = "Command line used: ./iozone "
    log = (published / "iozone-ssd-2015" / "iozone-zfs-freebsd.txt").read_text(encoding="utf-8")
    assert plain in log
    assert "O_DIRECT" not in log
    direct = {plain: f"O_DIRECT feature enabled\n\t{plain}-I "}
    found = _altered(published, tmp_path, "iozone-ssd-2015", iozone_zfs_freebsd=direct)
    assert found.claims["o-direct-throughout"]["verdict"] == "supported"
    assert not any(text.startswith("direct differs") for text in found.claims["zfs-lower-cpu"]["confounders"])
    assert "direct differs" not in _said(found.rows())


def test_a_log_that_contradicts_itself_taints_what_rests_on_it(published: Path, tmp_path: Path) -> None:
    twice = {"18.118Mb/sec": "19.118Mb/sec", "1159.54 Requests": "1259.54 Requests"}
    found = _altered(published, tmp_path, "sysbench-rhel72", rndrd_ext4=twice)
    claims = found.claims
    assert claims["rndrd-4"]["verdict"] == "in doubt"
    assert claims["rndrd-4"]["confounders"] == ["host differs: host01 against host02."]
    assert "\n".join(claims["rndrd-4"]["footnotes"]).count("The log contradicts itself") == 2
    assert "The log contradicts itself" in claims["rndrd-4"]["footnotes"][0]
    assert "rndrd-ext4.txt" in claims["rndrd-4"]["footnotes"][0]
    assert claims["seqrd-20"]["verdict"] == "not comparable"
    for row in found.rows():
        assert ("IN_DOUBT" in row["reasons"]) is (row["pattern"] == "rndrd")
    assert f"{claims['rndrd-4']['footnotes'][0]} And 1 more like it." in _said(found.rows(pattern="rndrd"))


def test_a_figure_that_is_printed_as_two_taints_what_rests_on_its_log(published: Path, tmp_path: Path) -> None:
    """110 MiB/s are 115 to 116 MB/s."""
    other = {"(116MB/s)(32.3GiB": "(126MB/s)(32.3GiB"}
    found = _altered(published, tmp_path, "fio-nvme-2021", fio_randwrite_zfs=other)
    verdicts = {name: found.claims[name]["verdict"] for name in ("zfs-85-percent-fewer", "zfs-28.3k", "xfs-189k")}
    assert list(verdicts.values()) == ["in doubt", "in doubt", "figures agree"]
    said = "bandwidth of write is printed as 110, and again as 126."
    assert said in found.claims["zfs-28.3k"]["footnotes"][0]
    assert all("IN_DOUBT" in row["reasons"] and said in _said([row]) for row in found.rows())


def test_a_run_that_failed_shows_nothing(published: Path, tmp_path: Path) -> None:
    failed = {"err= 0": "err= 5"}
    found = _altered(published, tmp_path, "fio-nvme-2021", fio_randwrite_zfs=failed)
    assert found.claims["zfs-incredibly-slower"]["verdict"] == "no data"
    assert found.claims["xfs-189k"]["verdict"] == "figures agree"
    assert found.comparison.is_empty()


LESS = """
[[claim]]
id = "zfs-below-{than}"
says = "ZFS does less than {than}"
relation = "less"
metric = "iops"
where = {{ operation = "read", block_size = 131072 }}
of = {{ filesystem = "zfs" }}
than = {{ filesystem = "{than}" }}
"""


@pytest.mark.parametrize(("end", "beside"), [("00:31:15", "ext4"), ("00:45:15", "xfs"), ("01:45:15", None)])
def test_runs_overlap_where_their_ends_say_so(
    published: Path, tmp_path: Path, end: str, beside: str | None
) -> None:
    # each ran for 600 s: ext4 until 00:29:37, XFS until 00:42:49
    found = _altered(
        published,
        tmp_path,
        "raid1-hdd-2020",
        added="".join(LESS.format(than=than) for than in ("ext4", "xfs")),
        fio_randrw_128k_zfs={"00:31:15": end},
    )
    overlapped = "Runs of the two groups overlapped in time."
    of_claims = [
        than for than in ("ext4", "xfs") if overlapped in found.claims[f"zfs-below-{than}"]["confounders"]
    ]
    assert of_claims == [beside] * (beside is not None)
    (row,) = found.rows(level="zfs", tool="fio", block_size=131072, metric="iops", operation="read")
    assert ("CONCURRENT_RUNS" in row["reasons"]) is (beside == "ext4")


CLAIM = """
[[claim]]
id = "{id}"
says = "such"
{claim}
"""
OF_LATENCY = 'metric = "{}"\nstatistic = "mean"\nwhere = {{ operation = "read", block_size = 131072 }}\n'
ZFS_LESS = 'relation = "less"\nof = { filesystem = "zfs" }\nthan = { filesystem = "ext4" }\n'


def test_confounders_are_those_of_the_figures_that_a_claim_is_about(published: Path, tmp_path: Path) -> None:
    added = {
        "completion": OF_LATENCY.format("completion_latency") + ZFS_LESS,
        "total": OF_LATENCY.format("latency") + ZFS_LESS,
        "best": OF_LATENCY.format("completion_latency")
        + 'relation = "rank"\nof = { filesystem = "zfs" }\nsize = "1"\n',
        "single": OF_LATENCY.format("completion_latency")
        + 'relation = "at_most"\nof = { filesystem = "zfs" }\nsize = "1 s"\n',
    }
    claims = "".join(CLAIM.format(id=name, claim=claim) for name, claim in added.items())
    found = _altered(published, tmp_path, "raid1-hdd-2020", added=claims).claims
    blocked = {name: _blocked(found[name]["confounders"]) for name in added}
    assert blocked == {"completion": ["ext4", "zfs"], "total": [], "best": ["ext4", "xfs", "zfs"], "single": []}
    assert _blocked(found["single"]["footnotes"]) == ["zfs"]
    assert not any("overlapped" in text for text in found["single"]["footnotes"])  # a run is at the time of itself
    disks = (
        "disks differs: ata-HGST_HTE541010A9E680_J540001MJGTEXC ata-HGST_HTE541010A9E680_J5400013JZ6NAC against"
    )
    assert all(disks in " ".join(found[name]["confounders"]) for name in ("completion", "total", "best"))


SUM = 'metric = "bandwidth"\nwhere = { operation = ["read", "fread"], block_size = 32768 }\nover = "sum"\n'


def test_what_holds_of_a_figure_holds_of_the_sum_it_is_in(published: Path, tmp_path: Path) -> None:
    added = {
        "two": SUM + 'relation = "less"\nof = { filesystem = "ext4" }\nthan = { filesystem = "btrfs" }\n',
        "one": SUM + 'relation = "at_least"\nof = { filesystem = "ext4" }\nsize = "1 MB/s"\n',
    }
    claims = "".join(CLAIM.format(id=name, claim=claim) for name, claim in added.items())
    found = _altered(published, tmp_path, "iozone-ssd-2015", added=claims).claims
    for name in added:
        assert any("through the page cache" in text for text in found[name]["footnotes"])


def _blocked(sentences: list[str]) -> list[str]:
    return sorted(text.partition(":")[0] for text in sentences if "spent in its submission" in text)


@pytest.mark.parametrize(
    ("old", "new", "direction", "size"),
    [
        ('size = "2"\nband = ["1.75", "2.25"]', 'size = "2.4"', "as said", "reproduces"),
        ('band = ["1.75", "2.25"]', 'band = ["2.5", "3"]', "as said", "overstated"),
        ('band = ["1.75", "2.25"]', 'band = ["2.41874", "2.42"]', "as said", "within rounding"),
        ('size = "2"\nband = ["1.75", "2.25"]', 'size = "> 2"', "as said", "reproduces"),
        ('size = "2"\nband = ["1.75", "2.25"]', 'size = "> 200%"', "as said", "reproduces"),
        ('size = "2"\nband = ["1.75", "2.25"]', 'size = "0.5"', "the contrary", None),
        ('relation = "ratio"', 'relation = "less"', "the contrary", None),
    ],
)
def test_another_claim_about_the_same_figures(
    published: Path, tmp_path: Path, *, old: str, new: str, direction: str, size: str | None
) -> None:
    row = _altered(published, tmp_path, "sysbench-rhel72", study={old: new}).claims["seqwr-twice"]
    assert (row["direction"], row["size"]) == (direction, size)


# ---- launched runs: twenty of one workload in random order, ten of each filesystem


def _launched(root: Path, to: Path, *alter: Callable[[list[Row]], None]) -> Row:
    """Compare a copy of launched runs, given what changes in their records, which stand in their order."""
    study = root / "raw_results" / "recorded" / "ext4-xfs-loop-2026"
    folders = sorted(study.glob("*-randwrite-4k"))
    records = [json.loads((folder / "run.json").read_text(encoding="utf-8")) for folder in folders]
    for change in alter:
        change(records)
    for folder, record in zip(folders, records, strict=True):
        copytree(folder, to / folder.name)
        (to / folder.name / "run.json").write_text(json.dumps(record), encoding="utf-8")
    found = fsb.compare(fsb.read(to), metrics=["iops"])
    (row,) = found.rows(named=True)
    return row


def _moved(record: Row, name: str, seconds: float) -> None:
    at = datetime.fromisoformat(record[name]) + timedelta(seconds=seconds)
    record[name] = at.isoformat()


def _longer(records: list[Row]) -> None:
    _moved(records[4], "ended_at", 3600)


def _one_after_the_other(records: list[Row]) -> None:
    for record in records:
        if record["filesystem"] == "xfs":
            for name in ("started_at", "ended_at"):
                _moved(record, name, 86400)


def _untimed(records: list[Row]) -> None:
    for record in records:
        del record["started_at"], record["ended_at"], record["round"]


def _with(key: str, value: str, *, of: Callable[[Row], bool]) -> Callable[[list[Row]], None]:
    def change(records: list[Row]) -> None:
        for record in records:
            if of(record):
                record["settings"][key] = value

    return change


def _is_xfs(record: Row) -> bool:
    return bool(record["filesystem"] == "xfs")


def _is_of_round_1(record: Row) -> bool:
    return _is_xfs(record) and record["round"] == 1


@pytest.mark.parametrize(
    ("change", "reasons", "said"),
    [
        (lambda _: None, [], ""),
        (_longer, ["CONCURRENT_RUNS"], "overlapped in time"),
        (_one_after_the_other, ["BLOCKED_ORDER"], "drift cannot be told apart from the effect"),
        (_with("kernel", "6.1", of=_is_xfs), ["CONFIG_MISMATCH"], "kernel differs: 6.18.44-fc-v669 against 6.1."),
        (_with("kernel", "6.1", of=_is_of_round_1), ["UNBALANCED"], "6.1 in 0 of 10 runs against 1 of 10"),
        (_with("kernel", "6.1", of=lambda record: record["round"] == 1), [], "in equal shares of both groups"),
        (_with("mount_options", "rw,nobarrier", of=_is_xfs), ["CONFIG_MISMATCH"], "barrier against nobarrier"),
        (_with("scheduler", "bfq", of=_is_xfs), ["CONFIG_MISMATCH"], "none, mq-deadline against bfq"),
    ],
)
def test_what_is_recorded_of_runs_decides_what_is_said(
    root: Path, tmp_path: Path, change: Callable[[list[Row]], None], reasons: list[str], said: str
) -> None:
    row = _launched(root, tmp_path, change)
    assert row["reasons"] == reasons
    assert said in _said([row])
    assert (row["verdict"] == "not comparable") is bool(reasons)
