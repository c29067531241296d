"""Claims are held against the figures; what is expected was computed by hand from the printed logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import fsbench_kit as fsb
from docs.claims import PAGE, page
from fsbench_kit.model.errors import InputError, RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture(scope="session")
def audited(published: Path) -> dict[str, dict[str, Any]]:
    return {
        row["claim"] if row["claim"] != "same-disk" else f"same-disk of {row['study']}": row
        for row in (fsb.audit(published).iter_rows(named=True))
    }


WRONG, UNREPLICATED, OTHER = "arithmetically wrong", "arithmetically right, unreplicated", "not comparable"

VERDICTS = {
    # host01 and host02 in every pair of logs
    "same-host": ("contradicted", "differs", "stated by the log"),
    "same-disk of sysbench-rhel72": ("contradicted", "differs", "stated by the log"),
    "seqwr-twice": (WRONG, "differs", "single figures"),  # 842.88 / 348.48 = 2.42
    "seqrd-20": (WRONG, "differs", "single figures"),  # 887.34 - 864.70 = 22.64
    "rndwr-0.7": (OTHER, "reproduces", "single figures"),  # 16.855 - 16.171 = 0.68
    "rndrd-4": (OTHER, "reproduces", "single figures"),  # 18.118 - 14.308 = 3.81
    # nvme7n1 in the log of XFS, nvme6n1 in the command that made the pool
    "same-disk of fio-nvme-2021": ("contradicted", "differs", "stated by the log"),
    "one-command": ("contradicted", "differs", "stated by the log"),  # the job of ZFS is zfs-fio
    "xfs-189k": (UNREPLICATED, "reproduces", "single figures"),
    "zfs-28.3k": (UNREPLICATED, "reproduces", "single figures"),
    "zfs-85-percent-fewer": (OTHER, "reproduces", "single figures"),  # 1 - 28.3 / 189 = 85.03 %
    "zfs-throughput-accordingly": (OTHER, "reproduces", "single figures"),  # 1 - 110 / 738 = 85.09 %
    "o-direct-throughout": ("contradicted", "differs", "stated by the log"),
    "zfs-lower-cpu": (WRONG, "differs", "single figures"),
    "ext4-wins-all-but-record-rewrite": (WRONG, "differs", "single figures"),
    "rewrite-above-write": (UNREPLICATED, "reproduces", "within-run only"),
    "reread-above-read": (WRONG, "differs", "within-run only"),
    "direct-io": ("contradicted", "differs", "stated by the log"),
    "bonnie-beyond-memory": ("contradicted", "differs", "stated by the log"),
    "mkfs-2-seconds": (WRONG, "differs", "averaged"),  # ReiserFS 2.2 s
    "reiserfs-umount-2": ("no data", "not computable", "none"),
    "umount-cpu-2": (WRONG, "differs", "averaged"),  # 37/14, 37/27, 45/14, 45/27: 2.6, 1.4, 3.2, 1.7
    "jfs-least-cpu": (WRONG, "differs", "averaged"),  # ReiserFS 14 %, JFS 27 % for umount
    "reiserfs-most-page-faults": ("no data", "not computable", "averaged"),
    "xfs-most-capacity": (UNREPLICATED, "reproduces", "averaged"),
    "residual-capacity": (UNREPLICATED, "reproduces", "averaged"),
    "residual-capacity-same": (UNREPLICATED, "reproduces", "averaged"),
    "ext3-least-capacity": (UNREPLICATED, "reproduces", "averaged"),
    "reiserfs-mount-5-to-15": (
        UNREPLICATED,
        "within rounding",
        "averaged",
    ),  # 2.3 / 0.5 = 4.6, at most 2.35 / 0.45
    "iso-removal-100": (UNREPLICATED, "reproduces", "averaged"),  # 75 and 125
    "ext3-tree-removal-2": (WRONG, "differs", "averaged"),  # 22 / 8.2 = 2.7
    "xfs-quickest-mkfs-mount-umount": (WRONG, "differs", "averaged"),  # mount: 0.5 s against 0.2 s
    "xfs-quickest-large-file": (UNREPLICATED, "within rounding", "averaged"),  # JFS and XFS both print 0.02 s
    "xfs-second-tree": (UNREPLICATED, "reproduces", "averaged"),
    "reiserfs-most-cpu-listing": (UNREPLICATED, "reproduces", "averaged"),
}


def test_every_claim_of_the_articles_is_audited(audited: dict[str, dict[str, Any]]) -> None:
    found = {name: (row["verdict"], row["arithmetic"], row["evidence"]) for name, row in audited.items()}
    assert found == VERDICTS


def test_the_figure_that_belongs_in_the_place_of_the_stated_one(audited: dict[str, dict[str, Any]]) -> None:
    assert audited["seqwr-twice"]["computed"] == pytest.approx(842.88 / 348.48, abs=2e-4)
    assert audited["seqrd-20"]["computed"] / 2**20 == pytest.approx(887.34 - 864.70, abs=0.011)
    row = audited["zfs-85-percent-fewer"]
    assert row["computed"] == pytest.approx(1 - 28.3 / 189)
    assert row["computed_low"] == pytest.approx(1 - 28.35 / 188.5)
    assert row["computed_high"] == pytest.approx(1 - 28.25 / 189.5)
    # ln(189 / 28.3) / (1.96 sqrt 2) = 0.685 as a log-sd; sqrt(exp(s^2) - 1) = 0.774
    assert row["break_even_cv"] == pytest.approx(0.774, abs=1e-3)
    # The weakest of means of three: ln(99.82 / 92.77) / (1.96 sqrt 2) = 0.02643, times sqrt 3
    assert audited["ext3-least-capacity"]["break_even_cv"] == pytest.approx(0.0458, abs=5e-5)
    assert "If runs vary by 5 % (CV)" in audited["ext3-least-capacity"]["footnotes"][1]


def test_the_cells_that_contradict_are_named(audited: dict[str, dict[str, Any]]) -> None:
    cells = [text.split(":")[0] for text in audited["ext4-wins-all-but-record-rewrite"]["contradicting"]]
    assert cells == [
        *(f"write, {size} KiB" for size in (32, 64, 128, 256)),
        *(f"{operation}, 128 KiB" for operation in ("random read", "backward read", "stride read")),
    ]
    assert (audited["reread-above-read"]["cells_holding"], audited["reread-above-read"]["cells"]) == (14, 30)
    assert audited["xfs-quickest-mkfs-mount-umount"]["not_computable"] == ["umount"] * 3


def test_confounders_stand_beside_the_verdict(audited: dict[str, dict[str, Any]]) -> None:
    assert audited["seqwr-twice"]["confounders"] == ["host differs: host01 against host02."]
    assert audited["zfs-85-percent-fewer"]["confounders"] == ["disks differs: nvme6n1 against nvme7n1."]
    assert audited["ext4-wins-all-but-record-rewrite"]["confounders"] == [
        "log_device differs: not known against sdb2.",
        "tool_build differs: linux-AMD64 against freebsd.",
        "direct differs: true against false.",
    ]


REASONS = {
    "seqwr-twice": "seqwr, write, 16 KiB: xfs 843 MiB/s against ext4 348 MiB/s, 2.42 times, not 2.",
    "seqrd-20": (
        "seqrd, read, 16 KiB: xfs 887 MiB/s against ext4 865 MiB/s, a difference of 22.6 MiB/s, not 20 MiB/s."
    ),
    "zfs-85-percent-fewer": (
        "write, 4 KiB: zfs 28.3 k IOPS against xfs 189 k IOPS, 85.0 % less (stated: 85 %); "
        "but the two groups differ in more than the filesystem."
    ),
    "xfs-189k": "write, 4 KiB: xfs 189 k IOPS (stated: 189k); but it rests on single runs.",
    "reiserfs-umount-2": "The elapsed time of umount is not printed.",
    "mkfs-2-seconds": "2 of 3 comparisons agree; 1 does not (mkfs: reiserfs 2.2 s).",
    "reiserfs-mount-5-to-15": (
        "2 of 3 comparisons agree (for example mount: reiserfs 2.3 s against ext3 200 ms, 11.5 times); "
        "the printed digits leave 1 open (mount: reiserfs 2.3 s against xfs 500 ms, "
        "4.6 times, or 4.09 times to 5.22 times by rounding); but only means are printed."
    ),
    "o-direct-throughout": "Direct I/O is true on ext4 and btrfs, false on zfs (stated: true).",
    "bonnie-beyond-memory": "bonnie++: file size is 126 GiB on all (stated: 128 GiB).",
    "direct-io": (
        "None of 2 tests agrees; 1 does not (fio, 128 KiB: direct I/O is false on all); "
        "1 cannot be checked because the log does not tell (fio, 16 KiB)."
    ),
    "residual-capacity": (
        "Both comparisons agree, for example capacity residual: jfs -0.02 %; but only means are printed."
    ),
}


@pytest.mark.parametrize("claim", REASONS)
def test_a_verdict_is_followed_by_its_reason(audited: dict[str, dict[str, Any]], claim: str) -> None:
    assert audited[claim]["reason"] == REASONS[claim]


def test_every_reason_is_one_sentence_without_words_of_the_code(audited: dict[str, dict[str, Any]]) -> None:
    for row in audited.values():
        assert row["reason"].endswith(".")
        assert ". " not in row["reason"]
        assert "_" not in row["reason"]


def test_footnotes_name_what_chance_could_do(audited: dict[str, dict[str, Any]]) -> None:
    # ln(842.88 / 348.48) / (1.96 sqrt 2) = 0.319; sqrt(exp(0.319^2) - 1) = 0.327
    assert audited["seqwr-twice"]["footnotes"] == [
        "host differs: host01 against host02.",
        "mount_options: attr2,inode64,noquota,seclabel against seclabel, which come with the filesystem.",
        "Each group has one run: if runs vary by 33 % (CV), chance alone can set two equal filesystems this far "
        "apart.",
    ]
    assert audited["umount-cpu-2"]["footnotes"] == [
        "Only means of several runs are printed, so nobody knows how much the runs varied.",
        # of three runs each: ln(37 / 27) / (1.96 sqrt 2) = 0.1137, as a cv 0.1140, times sqrt 3
        "If runs vary by 20 % (CV), chance alone can set two equal filesystems this far apart.",
    ]


def test_equal_figures_of_unknown_rounding_decide_nothing(audited: dict[str, dict[str, Any]]) -> None:
    # JFS has less CPU in 10 of the pairs that are printed; 10 % (twice), 15 %, 35 % and 6 % are equal
    row = audited["jfs-least-cpu"]
    assert row["cells_holding"] == 10
    assert sum(found["outcome"] == "within rounding" for found in row["comparisons"]) == 5


def test_each_comparison_of_a_claim_is_kept(audited: dict[str, dict[str, Any]]) -> None:
    row = audited["reiserfs-mount-5-to-15"]
    assert (row["stated_low"], row["stated_high"]) == (5, 15)
    assert sorted(found["computed"] for found in row["comparisons"]) == pytest.approx([4.6, 11.5, 11.5])
    assert max(found["high"] for found in row["comparisons"]) == pytest.approx(2.35 / 0.15)
    assert (audited["mkfs-2-seconds"]["stated_low"], audited["mkfs-2-seconds"]["stated_high"]) == (None, 2)


# ---- studies made for the purpose

LOG = """task,filesystems,metric,value,low,high,unit,qualifier
mkfs,a,elapsed,{a},,,s,
mkfs,b,elapsed,{b},,,s,
"""
STUDY = """[study]
id = "made"
title = "Made"

[[log]]
file = "tasks.csv"
tool = "filetree"

[[claim]]
id = "c"
says = "a takes what is said of b"
metric = "elapsed"
of = {{ filesystem = "a" }}
{claim}
"""


def _audit(folder: Path, claim: str, a: str = "2.0", b: str = "4.0") -> dict[str, Any]:
    (folder / "tasks.csv").write_text(LOG.format(a=a, b=b), encoding="utf-8")
    (folder / "study.toml").write_text(STUDY.format(claim=claim), encoding="utf-8")
    return fsb.audit(folder).row(0, named=True)


@pytest.mark.parametrize(
    ("claim", "arithmetic"),
    [
        ('relation = "ratio"\nsize = "0.5"', "reproduces"),
        ('relation = "ratio"\nsize = "0.6"', "differs"),
        ('relation = "ratio"\nsize = "0.5"\nband = ["0.501", "0.6"]', "within rounding"),
        ('relation = "difference"\nsize = "-2 s"', "reproduces"),
        ('relation = "difference"\nsize = "2 s"', "differs"),
        ('relation = "percent_less"\nsize = "50 %"', "reproduces"),
        ('relation = "percent_less"\nsize = "40 %"', "differs"),
        ('relation = "less"', "reproduces"),
        ('relation = "greater"', "differs"),
        ('relation = "rank"\nsize = "1"', "reproduces"),
        ('relation = "rank"\nsize = "2"', "differs"),
        ('relation = "value"\nsize = "2 s"', "reproduces"),
        ('relation = "value"\nsize = "3 s"', "differs"),
        ('relation = "at_most"\nsize = "2 s"', "reproduces"),
        ('relation = "at_most"\nsize = "1.99 s"', "within rounding"),
        ('relation = "at_least"\nsize = "2.1 s"', "differs"),
        ('relation = "less"\nwhere = { operation = "mount" }', "not computable"),
    ],
)
def test_relations(tmp_path: Path, claim: str, arithmetic: str) -> None:
    assert _audit(tmp_path, claim)["arithmetic"] == arithmetic


TASKS = ("mkfs", "mount", "umount", "list_tree", "find_in_tree")


def _audit_tasks(
    folder: Path, claim: str, pairs: list[tuple[float, float]], *, runs: Sequence[str] = ("ab",)
) -> dict[str, Any]:
    """Audit a claim over the times that a and b took for several tasks, in a run of both or several of some."""
    study = STUDY.format(claim=claim).partition("[[log]]")[0]
    for number, names in enumerate(runs):
        rows = [
            f"{task},{name},elapsed,{seconds + number / 1000:.6f},,,s,"
            for task, pair in zip(TASKS, pairs, strict=False)
            for name, seconds in zip("ab", pair, strict=True)
            if name in names
        ]
        (folder / f"{number}.csv").write_text("\n".join([LOG.splitlines()[0], *rows]), encoding="utf-8")
        study += f'[[log]]\nfile = "{number}.csv"\ntool = "filetree"\n\n'
    where = ", ".join(f'"{task}"' for task in TASKS[: len(pairs)])
    study += "[[claim]]" + STUDY.format(claim=claim).partition("[[claim]]")[2]
    (folder / "study.toml").write_text(f"{study}where = {{ operation = [{where}] }}\n", encoding="utf-8")
    return fsb.audit(folder).row(0, named=True)


LESS, MORE = (2.0, 4.0), (4.0, 2.0)


@pytest.mark.parametrize(
    ("pairs", "arithmetic"),
    [([LESS] * 3 + [MORE] * 2, "reproduces"), ([LESS, MORE], "differs"), ([LESS] * 2 + [MORE] * 2, "differs")],
)
def test_mostly_is_more_than_half(tmp_path: Path, pairs: list[tuple[float, float]], arithmetic: str) -> None:
    assert _audit_tasks(tmp_path, 'relation = "less"\nmostly = true', pairs)["arithmetic"] == arithmetic
    assert _audit_tasks(tmp_path, 'relation = "less"', pairs)["arithmetic"] == "differs"


# Of a ratio of r, chance takes a deviation of logarithms of ln r / (1.96 sqrt 2): 0.2501 for 2, 0.0658 for 1.2;
# as coefficients of variation sqrt(exp(s^2) - 1) = 0.2541 and 0.0659.
@pytest.mark.parametrize(
    ("claim", "pairs", "cv"),
    [
        ('relation = "less"', [(2.0, 4.0), (5.0, 6.0)], 0.0659),  # the weaker of those that hold
        (
            'relation = "less"\nmostly = true',
            [(2.0, 4.0), (2.0, 4.0), (6.0, 5.0)],
            0.2541,
        ),  # and not what does not
        ('relation = "ratio"\nsize = "0.5"', [(2.0, 4.0), (6.0, 5.0)], 0.0659),  # where a size is claimed, of all
    ],
)
def test_a_claim_is_as_strong_as_its_weakest_ratio(
    tmp_path: Path, claim: str, pairs: list[tuple[float, float]], cv: float
) -> None:
    assert _audit_tasks(tmp_path, claim, pairs)["break_even_cv"] == pytest.approx(cv, abs=1e-4)


@pytest.mark.parametrize(
    ("ratio", "said"), [(1.0285, "vary by 1 %"), (1.0277, "vary by less than 1 %")]
)  # 0.01 * 1.96 sqrt 2 = 0.0277 = ln 1.0281
def test_noise_of_less_than_a_percent_is_told_as_such(tmp_path: Path, ratio: float, said: str) -> None:
    assert any(said in note for note in _audit_tasks(tmp_path, 'relation = "less"', [(1.0, ratio)])["footnotes"])


@pytest.mark.parametrize(
    ("runs", "evidence"),
    [(["ab"], "single figures"), (["ab", "a"], "single figures"), (["ab", "ab"], "replicated")],
)
def test_two_runs_of_each_side_are_replicated(tmp_path: Path, runs: list[str], evidence: str) -> None:
    row = _audit_tasks(tmp_path, 'relation = "less"', [LESS], runs=runs)
    assert row["evidence"] == evidence
    assert row["verdict"] == ("supported" if evidence == "replicated" else UNREPLICATED)


@pytest.mark.parametrize(
    ("claim", "a", "arithmetic"),
    [
        # what rounds to the stated digits, from its lower end up to its upper one
        ('relation = "ratio"\nsize = "0.5"', "1.8", "reproduces"),  # 0.45
        ('relation = "ratio"\nsize = "0.5"', "1.799", "differs"),
        ('relation = "ratio"\nsize = "0.5"', "2.199", "reproduces"),
        (
            'relation = "ratio"\nsize = "0.5"',
            "2.2",
            "within rounding",
        ),  # 0.55 rounds to 0.6, and what is a little less to 0.5
        ('relation = "ratio"\nsize = "0.5"', "2.20001", "differs"),
        ('relation = "ratio"\nsize = "0.5"\nband = ["0.4", "0.5"]', "2.0", "within rounding"),
        ('relation = "ratio"\nsize = "0.5"\nband = ["0.5", "0.6"]', "2.0", "reproduces"),
        # limits hold where they are met
        ('relation = "at_most"\nsize = "2 s"', "2.0", "reproduces"),
        ('relation = "at_least"\nsize = "2 s"', "2.0", "reproduces"),
        ('relation = "at_most"\nsize = "2 s"', "2.01", "differs"),
        ('relation = "at_least"\nsize = "2 s"', "1.99", "differs"),
    ],
)
def test_ends_of_what_is_said(tmp_path: Path, claim: str, a: str, arithmetic: str) -> None:
    assert _audit_tasks(tmp_path, claim, [(float(a), 4.0)])["arithmetic"] == arithmetic


def test_a_figure_that_is_greater_by_that_share_of_this_one(tmp_path: Path) -> None:
    # 4 is 85 % more than 2.162, which is 46 % less than 4
    row = _audit(tmp_path, 'relation = "percent_less"\nsize = "85 %"', a="2.162")
    assert row["arithmetic"] == "differs"
    assert "The other figure is 85 % more than the one, so the one is not 85 % less." in row["footnotes"]


@pytest.mark.parametrize("relation", ["less", "greater"])
def test_equal_prints_decide_nothing(tmp_path: Path, relation: str) -> None:
    assert _audit(tmp_path, f'relation = "{relation}"', b="2.0")["arithmetic"] == "within rounding"


def test_a_share_of_the_other_base(tmp_path: Path) -> None:
    # 0.6 is 85 % less than 4; 3.4 is 85 % of 4, and 15 % less than it
    assert _audit(tmp_path, 'relation = "percent_less"\nsize = "85 %"', a="0.6")["arithmetic"] == "reproduces"
    row = _audit(tmp_path, 'relation = "percent_less"\nsize = "85 %"', a="3.4")
    assert row["arithmetic"] == "differs"
    assert "The one figure is 85 % of the other, not 85 % less." in row["footnotes"]


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ('relation = "ratio"', r'study.toml:10: claim "c": the relation "ratio" needs "size"'),
        (
            'relation = "twice"',
            r'study.toml:10: claim "c": there is no relation "twice"\nRelations are: value, at_most',
        ),
        ('relation = "setting"', r'study.toml:10: claim "c": the relation "setting" needs "setting"'),
        ('relation = "less"\nunit = "s"', "unit"),
        ('relation = "ratio"\nsize = "two"', r"study.toml:10: claim \"c\": cannot read the size 'two'"),
        ('relation = "less"\nwhere = { colour = "red" }', r"study.toml:10: .* figures have no column 'colour'"),
    ],
)
def test_a_claim_with_a_mistake(tmp_path: Path, claim: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        _audit(tmp_path, claim)


def test_a_mistake_in_a_claim_does_not_keep_the_logs_from_being_read(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        _audit(tmp_path, 'relation = "twice"')
    assert fsb.read(tmp_path).measurements.height == 2


def test_the_page_of_claims_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make reference`"


def test_studies_without_claims(root: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no study here makes a claim"):
        fsb.audit(root / "raw_results" / "recorded")
    with pytest.raises(InputError, match="there is no study"):
        fsb.audit(tmp_path)
