"""Tables and sentences: what they say, and that names from logs stay text in both renderings."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit import tables
from fsbench_kit.analysis.time_series import TimeSeries
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.log import Log
from fsbench_kit.model.operations import OPERATIONS
from fsbench_kit.model.records import Diagnostic

Compare = Callable[..., pl.DataFrame]
HOSTILE = '<script>alert("1")</script>\n\'"&'

SINGLE: dict[str, Any] = {
    "ratio": 1.97,
    "ci_low": None,
    "ci_high": None,
    "confidence": None,
    "n_baseline": 1,
    "n_candidate": 1,
    "n_pairs": None,
    "break_even_cv": 0.248,
    "verdict": "single runs",
    "reasons": ["ONE_RUN_NO_REPLICATES"],
    "footnotes": ["A side has a single run."],
}
MEANS = SINGLE | {"averaged_over_baseline": 3, "averaged_over_candidate": 3}
OPEN: dict[str, Any] = {"ratio": 1.03, "ci_low": 0.94, "ci_high": 1.13, "verdict": "inconclusive"}
BOUND: dict[str, Any] = {
    "ratio": None,
    "value_candidate": None,
    "ci_low": None,
    "ci_high": None,
    "rounding_low": 2.1,
    "verdict": "bound only",
}


class _Cells(HTMLParser):
    """Collects the texts of cells and the names of all tags."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.text = ""
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not any(name.startswith("on") for name, _ in attrs)
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._in_cell = True

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_cell:
            self.rows[-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("td", "th")


def _html(table: tables.Table) -> _Cells:
    parser = _Cells()
    parser.feed(table._repr_html_())
    return parser


def _plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_a_replicated_row_has_values_ratio_and_interval(comparison: Compare) -> None:
    table = tables.comparison_table(comparison({}, {"operation": "read"}))
    assert table.groups[0].head == "Bandwidth, in MiB/s (higher is better)"
    assert [column.head for column in table.columns] == [
        "operation",
        "ext4",
        "xfs",
        "ratio [95\N{NO-BREAK SPACE}% CI]",
        "verdict",
        "runs",
        "notes",
    ]
    read, write = table.groups[0].rows
    assert (read[0], write[0]) == ("read", "write")  # in the vocabulary's order, not that of the rows
    assert write[1:] == ("100", "184", "1.84 [1.71, 1.98]", "better", "5 rounds", "")


def test_what_all_rows_share_is_in_the_caption_alone(comparison: Compare) -> None:
    caption = tables.comparison_table(comparison({}, {"operation": "read"})).caption
    assert caption == (
        "Filesystem compared (quick, fio, randwrite, block size 4 KiB, file size 1 GiB, threads 1, iodepth 8)"
    )


def test_what_the_rows_of_one_tool_share_is_said_of_it_alone(comparison: Compare) -> None:
    of_iozone = {"tool": "iozone", "pattern": None, "block_size": 65536, "threads": None, "iodepth": None}
    rows = comparison({}, {"operation": "read"}, of_iozone)
    assert tables.comparison_table(rows).caption == (
        "Filesystem compared (quick, file size 1 GiB; fio: randwrite, block size 4 KiB, threads 1, iodepth 8; "
        "iozone: block size 64 KiB)"
    )
    several = comparison(of_iozone, {"study": "another"})
    assert tables.comparison_table(several).caption == (
        "Filesystem compared (write, file size 1 GiB; "
        "another, fio: randwrite, block size 4 KiB, threads 1, iodepth 8; quick, iozone: block size 64 KiB)"
    )


def test_single_runs_name_the_noise_that_would_explain_them(comparison: Compare) -> None:
    (row,) = tables.comparison_table(comparison(SINGLE)).groups[0].rows
    assert _plain(row[2]) == "1.97 (break-even CV 25 %)"
    assert row[3:5] == ("none (single runs)", "1+1")


@pytest.mark.parametrize(
    ("change", "ratio", "verdict"),
    [
        (OPEN, "1.03 [0.94, 1.13]", "~"),
        (OPEN | {"ratio": 1.0, "ci_low": 0.999, "ci_high": 1.0012}, "1.000 [0.999, 1.001]", "~"),
        (
            SINGLE | {"break_even_cv": None, "prediction_low": 1.5, "prediction_high": 1.5},
            "1.97 (one run in one group; prediction almost exactly 1.500)",
            "none (single runs)",
        ),
        (BOUND, "above 2.10", "bound only"),
        (BOUND | {"rounding_low": None, "rounding_high": 0.5}, "below 0.50", "bound only"),
        (BOUND | {"rounding_high": 3.0}, "between 2.10 and 3.00", "bound only"),
        (BOUND | {"rounding_low": None, "verdict": "not comparable"}, "–", "not comparable"),
        (
            SINGLE | {"break_even_cv": None, "prediction_low": 1.5, "prediction_high": 2.6},
            "1.97 (one run in one group; prediction 1.50 to 2.60)",
            "none (single runs)",
        ),
        (MEANS, "1.97 (one mean of 3 runs each; break-even CV 25 %)", "none (single runs)"),
        (
            MEANS | {"averaged_over_baseline": None},
            "1.97 (one mean of 3 runs of xfs and one run of ext4; break-even CV 25 %)",
            "none (single runs)",
        ),
        (
            MEANS | {"n_baseline": 5, "break_even_cv": None, "prediction_low": 1.5, "prediction_high": 2.6},
            "1.97 (one mean of 3 runs in one group; prediction 1.50 to 2.60)",
            "none (single runs)",
        ),
    ],
)
def test_ratio_and_verdict(comparison: Compare, change: dict[str, Any], ratio: str, verdict: str) -> None:
    (row,) = tables.comparison_table(comparison(change)).groups[0].rows
    assert (_plain(row[2]), row[3]) == (ratio, verdict)


def test_footnotes_are_marked_once_each(comparison: Compare) -> None:
    notes = [["scheduler differs: none against bfq.", "Runs overlapped."], [], ["Runs overlapped."]]
    rows = [{"block_size": 4096 * (i + 1), "footnotes": note} for i, note in enumerate(notes)]
    table = tables.comparison_table(comparison(*rows))
    assert [row[-1] for row in table.groups[0].rows] == ["a b", "", "b"]
    assert table.footnotes == ("scheduler differs: none against bfq.", "Runs overlapped.")
    assert re.search(r"^b  Runs overlapped\.$", repr(table), re.MULTILINE)
    assert "<li>Runs overlapped.</li>" in table._repr_html_()


def test_each_metric_has_the_unit_that_suits_it(comparison: Compare) -> None:
    latency = {
        "metric": "completion_latency",
        "statistic": "p99",
        "value_baseline": 0.0032,
        "value_candidate": 0.0064,
    }
    cpu = {"metric": "cpu", "value_baseline": 0.12, "value_candidate": 0.3}
    iops = {"metric": "iops", "value_baseline": 25_600.0, "value_candidate": 47_104.0}
    groups = tables.comparison_table(comparison(latency, cpu, iops)).groups
    assert [group.head for group in groups] == [
        "IOPS, in thousand/s (higher is better)",
        "Completion latency, p99, in ms (lower is better)",
        "CPU, in % (lower is better)",
    ]
    assert [group.rows[0][:2] for group in groups] == [
        ("25.6", "47.1"),
        ("3.20", "6.40"),
        ("12.0", "30.0"),
    ]


def test_sizes_are_sorted_as_numbers(comparison: Compare) -> None:
    rows = tables.ordered(comparison(*({"block_size": 2**n} for n in (17, 12, 14))))
    assert rows["block_size"].to_list() == [4096, 16384, 131072]


def test_a_column_tells_cells_apart_only_where_it_differs_within_a_tool(comparison: Compare) -> None:
    other = {"tool": "smallfiles", "pattern": None, "file_size": None, "iodepth": None, "threads": None}
    assert tables.varying(comparison({}, other)) == ["tool"]
    assert tables.varying(comparison({}, other, {"iodepth": "32"})) == ["tool", "iodepth"]


def test_baselines_that_differ_get_a_column(comparison: Compare) -> None:
    table = tables.comparison_table(comparison({}, {"baseline": "ext3", "study": "old"}))
    assert [column.head for column in table.columns][:3] == ["study", "baseline", "its value"]
    assert [row[1] for row in table.groups[0].rows] == ["ext3", "ext4"]


def test_names_from_logs_stay_text(comparison: Compare) -> None:
    table = tables.comparison_table(
        comparison(
            {"level": HOSTILE, "part": HOSTILE, "footnotes": [HOSTILE]}, {"part": "other", "baseline": HOSTILE}
        )
    )
    page = _html(table)
    assert not page.tags & {"script", "img", "b"}
    assert page.text.count('<script>alert("1")</script>') >= 4
    assert '<script>alert("1")</script>' in repr(table)


def test_rich_markup_in_names_stays_text(comparison: Compare) -> None:
    assert "[red]xfs[/red]" in repr(tables.comparison_table(comparison({"level": "[red]xfs[/red]"})))


def test_a_name_of_ten_thousand_characters_does_not_break_a_table(comparison: Compare) -> None:
    table = tables.comparison_table(comparison({"level": "x" * 10_000, "footnotes": ["y" * 10_000]}))
    assert len(table._repr_html_()) < 4000
    assert table.columns[1].head == "x" * 119 + "…" + "x" * 40


def test_html_has_one_cell_for_each_column(comparison: Compare) -> None:
    table = tables.comparison_table(comparison({}, SINGLE | {"block_size": 8192}))
    head, group, *rows = _html(table).rows
    assert len(head) == len(table.columns)
    assert len(group) == 1
    assert [tuple(row) for row in rows] == list(table.groups[0].rows)


def test_paths_break_and_intervals_do_not() -> None:
    table = tables.table(pl.DataFrame({"a": ["raw_results/<b>/of-a-long-name.txt", "1.84 [1.71, 1.98]"]}), "Cells")
    assert "raw_<wbr>results/<wbr>&lt;b&gt;/<wbr>of-a-long-name.txt" in table._repr_html_()
    assert '1.84 <span style="white-space:nowrap">[1.71, 1.98]</span>' in table._repr_html_()


def test_a_table_without_rows_is_its_caption() -> None:
    table = tables.table(pl.DataFrame({"a": []}), "Nothing <here>")
    assert table._repr_html_() == "<p>Nothing &lt;here&gt;</p>"
    assert repr(table).strip() == "Nothing <here>"


# --- sentences ---------------------------------------------------------------------------------------------------


WORSE: dict[str, Any] = {
    "ratio": 0.8,
    "ci_low": 0.75,
    "ci_high": 0.88,
    "n_for": 1,
    "n_against": 4,
    "verdict": "worse",
}
BETTER = WORSE | {"better": "lower", "n_for": 4, "n_against": 1, "verdict": "better"}
RUNS: dict[str, Any] = {
    "n_pairs": None,
    "over": "runs",
    "n_for": None,
    "n_against": None,
    "method": "Welch t on logs",
}
LATENCY: dict[str, Any] = {"metric": "latency", "statistic": "p99", "better": "lower"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "xfs writes 1.84 times as fast as ext4 (1.71 to 1.98; faster in all 5 rounds)."),
        (RUNS, "xfs writes 1.84 times as fast as ext4 (1.71 to 1.98; 5 runs each)."),
        (
            RUNS | {"n_candidate": 7},
            "xfs writes 1.84 times as fast as ext4 (1.71 to 1.98; 7 runs of xfs, 5 of ext4).",
        ),
        (
            {"confidence": 0.9},
            "xfs writes 1.84 times as fast as ext4 (1.71 to 1.98 with 90 % confidence; faster in all 5 rounds).",
        ),
        (
            {"over": "hosts", "n_for": 4},
            "xfs writes 1.84 times as fast as ext4 (1.71 to 1.98; faster on 4 of 5 hosts).",
        ),
        (
            {"ratio": 2.42, "ci_low": 1.9, "ci_high": 3.1},
            "xfs writes 2.42 times as fast as ext4 (1.90 to 3.10; faster in all 5 rounds).",
        ),
        (
            {"ratio": 2.42, "ci_low": 2.2, "ci_high": 3.1},
            "xfs writes 2.42 times as fast as ext4 (2.20 to 3.10; faster in all 5 rounds).",
        ),
        (WORSE, "ext4 writes 25 % faster than xfs (14 to 33 %; faster in 4 of 5 rounds)."),
        (
            {"ratio": 1.056, "ci_low": 1.05602, "ci_high": 1.05603},
            "xfs writes 5.6 % faster than ext4 (almost exactly 5.60 %; faster in all 5 rounds).",
        ),
        (
            {"ratio": 2.0, "ci_low": 2.0, "ci_high": 2.0001},
            "xfs writes 2.00 times as fast as ext4 (almost exactly 2.000; faster in all 5 rounds).",
        ),
        (
            BETTER | {"metric": "elapsed"},
            "ext4 takes 25 % more time than xfs to write (14 to 33 %; slower in 4 of 5 rounds).",
        ),
        (
            BETTER | LATENCY,
            "ext4 has 25 % higher p99 latency than xfs (14 to 33 %; higher in 4 of 5 rounds).",
        ),
        (
            LATENCY | {"ratio": 1.25, "ci_low": 1.2, "ci_high": 1.3, "verdict": "worse", "n_against": 5},
            "xfs has 25 % higher p99 latency than ext4 (20 to 30 %; higher in all 5 rounds).",
        ),
        (
            {"ratio": 1.45, "ci_low": 1.4, "ci_high": 1.49},
            "xfs writes 45 % faster than ext4 (40 to 49 %; faster in all 5 rounds).",
        ),
        (
            {"ratio": 1.45, "ci_low": 1.4, "ci_high": 1.51},
            "xfs writes 1.45 times as fast as ext4 (1.40 to 1.51; faster in all 5 rounds).",
        ),
        (
            LATENCY | {"ratio": 0.03, "ci_low": 0.015, "ci_high": 0.05},
            "ext4 has 33.3 times the p99 latency of xfs (20.0 to 66.7; higher in all 5 rounds).",
        ),
        (
            OPEN | RUNS | LATENCY | {"ci_low": 0.05, "ci_high": 3.0},
            "xfs may have anywhere from 0.0500 to 3.00 times the p99 latency of ext4 (5 runs each): these runs do "
            "not show which is better.",
        ),
        (
            RUNS | {"ratio": 2.0, "ci_low": 1.98, "ci_high": 2.02, "method": "rounding alone"},
            "xfs writes 2.00 times as fast as ext4 (1.98 to 2.02; 5 runs each, by rounding alone).",
        ),
        (
            OPEN | RUNS,
            "xfs may write anywhere from 6 % slower to 13 % faster than ext4 (5 runs each): these runs do not "
            "show which is better.",
        ),
        (
            OPEN | RUNS | LATENCY,
            "xfs may have anywhere from 6 % lower to 13 % higher p99 latency than ext4 (5 runs each): these runs "
            "do not show which is better.",
        ),
        (
            OPEN | {"ci_low": 0.2, "ci_high": 4.5},
            "xfs may write anywhere from 0.20 to 4.50 times as fast as ext4 (5 rounds): these runs do not show "
            "which is better.",
        ),
        (
            OPEN | {"ci_low": 0.04, "ci_high": 4.5},
            "xfs may write anywhere from 0.0400 to 4.50 times as fast as ext4 (5 rounds): these runs do not "
            "show which is better.",
        ),
        (
            OPEN | {"ci_low": 1.01, "ci_high": 1.05, "p": 0.01, "tested": 40},
            "xfs wrote 3 % faster than ext4 (1 to 5 %; 5 rounds), which is not significant among 40 tests.",
        ),
        (
            OPEN | RUNS | {"ci_low": 1.01, "ci_high": 1.05, "p": 0.2},
            "xfs wrote 3 % faster than ext4 (1 to 5 %; 5 runs each), but figures of this kind vary so much that "
            "it could be chance.",
        ),
        (
            OPEN | {"ci_low": 1.01, "ci_high": 1.05, "p_adjusted": None, "n_pairs": 2},
            "xfs wrote 3 % faster than ext4 (1 to 5 %; 2 rounds), but two rounds are too few for a verdict.",
        ),
        (
            OPEN | {"ci_low": 0.99, "ci_high": 1.03, "verdict": "equivalent"},
            "xfs writes as fast as ext4, within the margin of 5 % (1 % slower to 3 % faster; 5 rounds).",
        ),
        (
            OPEN | {"ci_low": 1.01, "ci_high": 1.04, "verdict": "equivalent"},
            "xfs writes 1 to 4 % faster than ext4, within the 5 % that count as equal (5 rounds).",
        ),
        (
            OPEN | {"ratio": 1.0, "ci_low": 1 - 3e-11, "ci_high": 1 + 3e-11, "verdict": "equivalent"},
            "xfs writes as fast as ext4, within the margin of 5 % (almost exactly equal; 5 rounds).",
        ),
        (
            OPEN | {"ratio": 1.02, "ci_low": 1.02, "ci_high": 1.020001, "verdict": "equivalent"},
            "xfs writes almost exactly 2.00 % faster than ext4, within the 5 % that count as equal (5 rounds).",
        ),
        (
            OPEN | {"metric": "elapsed", "ci_low": 0.99, "ci_high": 1.03, "verdict": "equivalent"},
            "xfs takes as long as ext4 to write, within the margin of 5 % (1 % less to 3 % more; 5 rounds).",
        ),
        (
            SINGLE,
            "xfs wrote 1.97 times as fast as ext4 (one run each; a run-to-run variation (CV) of 25 % could "
            "explain it).",
        ),
        (
            MEANS,
            "xfs wrote 1.97 times as fast as ext4 (one mean of 3 runs each; a run-to-run variation (CV) of 25 % "
            "could explain it).",
        ),
        (
            SINGLE | {"break_even_cv": None, "prediction_low": 1.5, "prediction_high": 1.8},
            "xfs wrote 1.97 times as fast as ext4, with one run in one group: 1.50 to 1.80 if that group varies "
            "as much as the other, which these runs cannot show.",
        ),
        (
            SINGLE | {"break_even_cv": None},
            "xfs wrote 1.97 times as fast as ext4, but no confidence interval is possible.",
        ),
        (BOUND | RUNS, "xfs wrote more than 2.10 times as fast as ext4 (5 runs each): only a bound is known."),
        (
            BOUND | RUNS | {"verdict": "better"},
            "xfs writes at least 2.10 times as fast as ext4 (5 runs each; a bound).",
        ),
        (
            BOUND | RUNS | {"rounding_low": None, "rounding_high": 0.5, "verdict": "worse"},
            "ext4 writes at least 2.00 times as fast as xfs (5 runs each; a bound).",
        ),
        (
            BOUND | RUNS | LATENCY | {"rounding_low": None, "rounding_high": 0.5, "verdict": "better"},
            "ext4 has at least 2.00 times the p99 latency of xfs (5 runs each; a bound).",
        ),
        (BOUND | {"rounding_low": None}, "xfs and ext4 have no ratio: only bounds of their figures are known."),
        (
            {"verdict": "not comparable", "reasons": ["CONFIG_MISMATCH"]},
            "xfs wrote 1.84 times as fast as ext4 (1.71 to 1.98; 5 rounds). There is no verdict: the groups "
            "differ in more than what is compared.",
        ),
        (
            SINGLE | {"verdict": "not comparable", "reasons": ["CONFIG_MISMATCH"]},
            "xfs wrote 1.97 times as fast as ext4 (one run each; a run-to-run variation (CV) of 25 % could "
            "explain it). There is no verdict: the groups differ in more than what is compared.",
        ),
        (
            BOUND | {"rounding_low": None, "verdict": "not comparable", "reasons": ["ZERO_OR_FAILED"]},
            "xfs and ext4 cannot be compared: a group has a figure of zero, or none at all.",
        ),
    ],
)
def test_a_row_in_words(comparison: Compare, change: dict[str, Any], said: str) -> None:
    assert _plain(tables.sentence(comparison(change).row(0, named=True))) == said


def test_the_number_of_tests_stands_below_the_table(comparison: Compare) -> None:
    table = tables.comparison_table(
        comparison(
            {"tested": 12, "error": 0.1}, {"operation": "read", "tool": "sysbench", "tested": 3, "error": 0.1}
        )
    )
    (note,) = table.legend
    assert "corrected for the number of tests (12 of fio, 3 of sysbench)" in note
    assert "false better or worse in the whole comparison is 10 % at most" in _plain(note)
    assert "verdict" in table.frame().columns


def test_findings_name_what_is_decided_the_largest_effect_first(comparison: Compare) -> None:
    rows = [
        {"block_size": 2**12, "effect": 0},
        {"block_size": 2**13, "effect": 1, "ratio": 3.0, "ci_high": 3.5, "ci_low": 2.5},
    ]
    twice = {"metric": "iops", "effect": 0}  # the same effect in another metric
    said = list(map(_plain, tables.findings(comparison(*rows, twice, OPEN | {"block_size": 2**14, "effect": 2}))))
    assert said == [
        "block size 8 KiB: xfs writes 3.00 times as fast as ext4 (2.50 to 3.50; faster in all 5 rounds).",
        "block size 4 KiB: xfs writes 1.84 times as fast as ext4 (1.71 to 1.98; faster in all 5 rounds).",
        "block size 16 KiB: xfs may write anywhere from 6 % slower to 13 % faster than ext4 (5 rounds): these "
        "runs do not show which is better.",
        "xfs against ext4, 3 effects: better in 2, inconclusive in 1.",
    ]
    assert len(tables.findings(comparison({}))) == 1
    others = [{"level": "xfs"}, {"level": "btrfs", "ratio": 2.0, "ci_high": 2.5, "ci_low": 1.5}]
    assert [text.split()[0] for text in tables.findings(comparison(*others))] == ["btrfs", "xfs"]  # each once


def test_findings_say_what_is_equal_open_and_not_comparable_and_why(comparison: Compare) -> None:
    equal = {"verdict": "equivalent", "ratio": 1.01, "ci_low": 0.99, "ci_high": 1.03, "margin": 1.05}
    wide = OPEN | {"ci_low": 0.5, "ci_high": 1.2, "ratio": 0.8}
    kept = {"verdict": "not comparable", "reasons": ["CACHED"]}
    other = {"verdict": "not comparable", "reasons": ["CONFIG_MISMATCH"]}
    rows = [equal, equal, OPEN, wide, kept, kept, other]
    sizes = [{"block_size": 2**10 * (number + 1)} for number in range(len(rows))]
    said = tables.findings(comparison(*(row | size for row, size in zip(rows, sizes, strict=True))))
    assert list(map(_plain, said)) == [
        "xfs and ext4 are equal within 5 % in 2 effects (block size 1 KiB; block size 2 KiB).",
        "These runs do not show whether xfs or ext4 is better in 2 effects (block size 3 KiB; block size 4 KiB); "
        "they differ by a factor of 2.00 at most.",
        "xfs and ext4 cannot be compared in 3 effects, in 2 of them because the data are less than twice "
        "the memory, and nothing shows that the page cache was bypassed, or that the work reached the disks.",
        "xfs against ext4, 7 effects: equal within the margin in 2, inconclusive in 2, not comparable in 3.",
    ]


def test_what_wide_intervals_exclude_is_said_only_where_it_tells_something(comparison: Compare) -> None:
    wide = [OPEN | {"ci_low": 0.5, "ci_high": high, "block_size": high * 2**12} for high in (4, 6)]
    assert "by a factor of 4.00 at most" in _plain(
        tables.findings(comparison(wide[0], wide[0] | {"block_size": 1}))[0]
    )
    assert _plain(tables.findings(comparison(*wide))[0]).endswith("(block size 16 KiB; block size 24 KiB).")


def test_why_most_is_not_comparable_is_one_of_the_findings(comparison: Compare) -> None:
    assert tables.withheld(comparison({}, {"operation": "read"})) == []
    kept = {"verdict": "not comparable", "reasons": ["CACHED"]}
    zfs = [kept | {"level": "zfs", "block_size": 2**number} for number in (12, 13)]
    rows = comparison(kept, *zfs)
    (said,) = tables.withheld(rows)
    assert said.startswith(
        "zfs and ext4 cannot be compared in 2 effects because the data are less than twice the memory"
    )
    assert said in tables.findings(rows)


def test_what_else_differs_is_named_where_groups_are_not_comparable(tmp_path: Path) -> None:
    for seconds, name in enumerate(("linux/ext4", "linux/xfs", "freebsd/zfs"), 1):
        for number in (1, 2):
            path = tmp_path / f"{name}/{number}.log"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"real\t0m{seconds}.00{number}s\nuser\t0m0.250s\nsys\t0m0.100s\n")
    said = tables.findings(fsb.compare(fsb.read(tmp_path, names="{os}/{filesystem}/{round}.log")))
    assert "they differ in os (linux against freebsd)." in next(one for one in said if "cannot be compared" in one)


def test_what_differs_in_other_ways_from_row_to_row_is_named_without_how(comparison: Compare) -> None:
    kept = {"verdict": "not comparable", "reasons": ["CONFIG_MISMATCH"]}
    rows = [
        kept | {"operation": name, "footnotes": [f"host differs: {hosts}.", "kernel differs: 6.1 against 5.10."]}
        for name, hosts in (("read", "one against two"), ("write", "two against one"))
    ]
    rows[1]["footnotes"].append("disks differs: sda against sdb.")
    said = tables.withheld(comparison(*rows))
    assert said == [
        "xfs and ext4 cannot be compared in 2 effects because they differ in host; kernel (6.1 against 5.10)."
    ]


def test_an_operation_is_named_once_with_and_without_its_sync(comparison: Compare) -> None:
    deleted = {"operation": "delete", "metric": "file_rate", "ratio": 0.59, "ci_low": 0.5, "ci_high": 0.7}
    rows = [
        deleted | {"verdict": "worse"},
        deleted
        | {"verdict": "worse", "operation": "delete_sync", "metric": "elapsed", "better": "lower", "ratio": 3.0},
    ]
    first, *others = map(_plain, tables.findings(comparison(*rows)))
    assert first.startswith("ext4 deletes files 1.69 times as fast as xfs (1.43 to 2.00; ")
    assert others == ["xfs against ext4, 2 effects: worse in 2."]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"operation": "delete", "metric": "file_rate"}, "xfs deletes files 1.84 times as fast as ext4"),
        ({"operation": "read", "metric": "file_rate"}, "xfs reads files 1.84 times as fast as ext4"),
        ({"operation": "random_stat"}, "xfs looks up files in random order 1.84 times as fast as ext4"),
        ({"operation": "all"}, "xfs is 1.84 times as fast as ext4"),
        ({"operation": "mkfs", "metric": "elapsed"}, "xfs takes 1.84 times as long as ext4 to be created"),
        ({"operation": "list_tree", "metric": "elapsed"}, "xfs takes 1.84 times as long as ext4 to list the tree"),
        (
            {"operation": "delete", "metric": "elapsed_with_sync"},
            "xfs takes 1.84 times as long as ext4 to delete files and sync",
        ),
        ({"operation": "delete", "metric": "cpu"}, "xfs has 1.84 times the CPU use of ext4"),
    ],
)
def test_the_verb_of_a_sentence_is_the_operations(comparison: Compare, change: dict[str, Any], said: str) -> None:
    lower = change.get("metric") in ("elapsed", "elapsed_with_sync", "cpu")
    verdict = {"better": "lower", "verdict": "worse"} if lower else {}
    assert _plain(tables.findings(comparison(change | verdict))[0]).startswith(said + " (")


def test_a_ratio_below_1_is_told_from_the_other_group(comparison: Compare) -> None:
    tiny = SINGLE | {"ratio": 0.008, "averaged_over_candidate": 3}
    took = {"metric": "elapsed", "better": "lower", "operation": "remove_trees"}
    (said,) = map(_plain, tables.findings(comparison(tiny | took)))
    assert said.startswith(
        "ext4 took 125 times as long as xfs to remove both trees (one run of ext4 and one mean of 3 runs of xfs;"
    )
    withheld = {"verdict": "not comparable", "reasons": ["CACHED"], "ratio": 0.05, "ci_low": 0.04, "ci_high": 0.08}
    (said,) = map(_plain, tables.findings(comparison(withheld | RUNS | {"n_candidate": 7})))
    assert said.startswith(
        "ext4 wrote 20.0 times as fast as xfs (12.5 to 25.0; 5 runs of ext4, 7 of xfs). There is no verdict: the "
    )


def test_an_operation_that_the_verb_tells_has_no_other_name(comparison: Compare) -> None:
    rows = comparison({"operation": "delete", "metric": "file_rate"}, {"operation": "rewrite", "metric": "cpu"})
    said = [_plain(sentence).split(" (")[0] for sentence in tables.findings(rows)]
    assert said[:2] == [
        "xfs deletes files 1.84 times as fast as ext4",
        "rewrite: xfs has 1.84 times the CPU use of ext4",
    ]


def test_no_two_operations_have_one_verb() -> None:
    phrases = [phrase for operation in OPERATIONS.values() if (phrase := operation.phrase("present"))]
    assert len(phrases) == len(set(phrases))


def test_findings_of_single_runs_are_the_largest_ratios(comparison: Compare) -> None:
    rows = [SINGLE | {"block_size": 2**n, "ratio": 1 + n / 10} for n in range(12, 16)]
    rows.append(SINGLE | {"block_size": 2**20, "metric": "phase_latency", "statistic": "max", "ratio": 900.0})
    said = list(map(_plain, tables.findings(comparison(*rows), most=2)))
    assert [each.split(":")[0] for each in said[:2]] == ["block size 32 KiB", "block size 16 KiB"]
    assert said[2:] == [
        "3 more effects from single runs.",
        "xfs against ext4, 5 effects: no interval (single runs) in 5.",
    ]


def test_levels_with_one_single_figure_are_one_finding(comparison: Compare) -> None:
    rows = comparison(SINGLE, SINGLE | {"level": "zfs"}, SINGLE | {"level": "jfs", "ratio": 3.0})
    said = [_plain(sentence).split(" (")[0] for sentence in tables.findings(rows)]
    assert said[:2] == ["jfs wrote 3.00 times as fast as ext4", "xfs and zfs wrote 1.97 times as fast as ext4"]


def test_very_many_levels_are_counted_by_reason_and_few_are_named(comparison: Compare) -> None:
    kept = {"verdict": "not comparable", "reasons": ["ONE_RUN_NO_REPLICATES", "CACHED"]}
    levels = [{"level": f"fs{number}", "block_size": 2**size} for number in range(200) for size in (12, 13)]
    other = {"level": "odd", "reasons": ["CONFIG_MISMATCH"], "footnotes": ["kernel differs: 6.1 against 6.2."]}
    rows = comparison(*(kept | level for level in levels), kept | other, {"level": "xfs"})
    said = tables.findings(rows)[1:3]
    assert said == [
        "200 filesystems and ext4 cannot be compared in 400 effects because the data are less than twice "
        "the memory, and nothing shows that the page cache was bypassed, or that the work reached the disks.",
        "odd and ext4 cannot be compared in 1 effect because they differ in kernel (6.1 against 6.2).",
    ]
    assert tables.withheld(rows) == [said[0]]
    assert len(tables.findings(comparison(*(kept | level for level in levels[:16])))) == 8


def test_very_many_levels_of_single_runs_are_counted(comparison: Compare) -> None:
    levels = [
        SINGLE | {"factor": "tool_version", "level": f"3.{number}", "baseline": "2"} for number in range(200)
    ]
    rows = comparison(*levels, levels[0] | {"level": "4", "ratio": 3.0})
    assert [_plain(text).split(" (one")[0] for text in tables.findings(rows)] == [
        "tool version 4 wrote 3.00 times as fast as tool version 2",
        "Each of 200 tool versions wrote 1.97 times as fast as tool version 2",
        "201 tool versions against tool version 2, 201 effects: no interval (single runs) in 201.",
    ]
    pairs = [level | {"baseline": str(number % 2)} for number, level in enumerate(levels)]
    (summary,) = tables.summary(comparison(*pairs))
    assert summary == "200 tool versions against others, 200 effects: no interval (single runs) in 200."


def test_a_count_that_a_sentence_has_is_not_said_again(comparison: Compare) -> None:
    kept = [{"verdict": "not comparable", "reasons": ["CACHED"], "block_size": 2**n} for n in (12, 13)]
    assert "not comparable in 2." not in " ".join(tables.findings(comparison(*kept)))


def test_a_summary_counts_verdicts_for_each_level(comparison: Compare) -> None:
    rows = [{"block_size": 2**n} for n in (12, 13)]
    summary = tables.summary(comparison(*rows, OPEN | {"block_size": 2**14}, SINGLE | {"level": "zfs"}))
    assert summary[0] == "xfs against ext4, 3 effects: better in 2, inconclusive in 1."
    assert summary[1].startswith("zfs wrote 1.97 times as fast as ext4 (one run each;")


def test_why_a_comparison_says_less(comparison: Compare) -> None:
    table = tables.reasons_table(comparison({}, SINGLE, SINGLE | {"reasons": ["ONE_RUN_NO_REPLICATES", "CACHED"]}))
    assert [(row[0], *row[2:]) for row in table.groups[0].rows] == [
        ("no interval", "2 of 3", "ONE_RUN_NO_REPLICATES"),
        ("verdict withheld", "1 of 3", "CACHED"),
    ]
    shown = repr(tables.reasons_table(comparison({}))).strip()
    assert shown == "No verdict is withheld, and no interval is missing."


# --- datasets ----------------------------------------------------------------------------------------------------


@pytest.fixture
def dataset(tmp_path: Path, smallfiles_log: Callable[..., str]) -> fsb.Dataset:
    for name in ("ext4", "xfs"):
        (tmp_path / f"{name}.txt").write_text(smallfiles_log(name))
    return fsb.read(tmp_path)


def test_reading_says_whether_every_figure_was_understood(root: Path) -> None:
    log = (root / "raw_results/published/sysbench-rhel72/seqwr-xfs.txt").read_text()
    whole, *others = tables.reading_findings(fsb.read(log.encode()))
    assert (whole, len(others)) == ("Every figure in these logs was understood: 19 figures of 1 run.", 1)
    damaged = log.replace("Requests/sec executed", "Requests/sec exe cuted").encode()
    said, *others = tables.reading_findings(fsb.read(damaged))
    assert said.startswith("18 figures of 1 run were read; 1 line with figures was not understood, such as: ")
    assert "53944.57 Requests/sec exe cuted" in said
    assert len(others) == 1


def test_contents_in_a_sentence(dataset: fsb.Dataset) -> None:
    assert tables.contents(dataset) == "2 runs of smallfiles on ext4 and xfs, with 6 figures."
    for number, said in ((8, "fs0, fs1, fs2, fs3, fs4, fs5, fs6 and fs7"), (9, "9 filesystems")):
        runs = pl.concat(
            [dataset.runs[:1].with_columns(filesystem=pl.lit(f"fs{index}")) for index in range(number)]
        )
        assert f" of smallfiles on {said}, with 6 figures." in tables.contents(replace(dataset, runs=runs))


def test_runs_and_figures_are_counted(dataset: fsb.Dataset) -> None:
    rows = tables.runs_table(dataset).groups[0].rows
    assert [row[-4:] for row in rows] == [("ext4", "1", "0", "3"), ("xfs", "1", "0", "3")]
    versions = ["10.1", None, "9.2", "9.10"]
    runs = pl.concat([dataset.runs[:1].with_columns(tool_version=pl.lit(each, pl.String)) for each in versions])
    of_versions = tables.runs_table(replace(dataset, runs=runs)).frame()
    assert of_versions["version"].to_list() == ["9.2", "9.10", "10.1", None]
    figures = {row[2]: row[4] for row in tables.figures_table(dataset).groups[0].rows}
    assert figures == {"file_rate": "2", "elapsed": "4"}


def test_runs_that_failed_are_said_to_be_left_out(dataset: fsb.Dataset) -> None:
    assert tables.failed_runs(dataset) == []
    first, second = dataset.runs["source"]
    runs = dataset.runs.with_columns(status=pl.Series(["failed", "ok"]).cast(dataset.runs["status"].dtype))
    said = f"Left out: 1 run that failed or broke off ({first})."
    assert tables.failed_runs(replace(dataset, runs=runs)) == [said]
    both = dataset.runs.with_columns(status=pl.lit("partial").cast(dataset.runs["status"].dtype))
    said = f"Left out: 2 runs that failed or broke off ({first}; {second})."
    assert tables.failed_runs(replace(dataset, runs=both)) == [said]


def test_equal_remarks_are_one_row_with_the_gravest_first(dataset: fsb.Dataset) -> None:
    remarks = pl.DataFrame(
        [
            {"source": "b.txt", "line": 7, "severity": "note", "code": "REPAIRED", "message": "A <b>."},
            {"source": "a.txt", "line": 2, "severity": "note", "code": "REPAIRED", "message": "A <b>."},
            {"source": "a.txt", "severity": "error", "code": "EMPTY", "message": "E.", "excerpt": HOSTILE},
        ],
        schema=dataset.diagnostics.schema,
    )
    table = tables.diagnostics_table(replace(dataset, diagnostics=remarks))
    assert table.caption == "3 diagnostics"
    long = remarks.with_columns(message=pl.lit("Word " * 50 + "end."))
    shown = tables.diagnostics_table(replace(dataset, diagnostics=long)).groups[0].rows
    assert shown[0][2] == "Word " * 50 + "end."
    assert [row[1] for row in table.groups[0].rows] == ["EMPTY", "REPAIRED"]
    assert table.groups[0].rows[1][3:5] == ("2", "b.txt:7")
    assert not _html(table).tags & {"script", "b"}


def test_remarks_about_the_machine_that_differ_in_their_figures_only_are_one_row(dataset: fsb.Dataset) -> None:
    busy = [
        f"The processors were {share}% busy, and others moved {rate} MiB/s."
        for share, rate in ((31, 1.5), (9, 70))
    ]
    said = [
        *(("MACHINE_LOADED", text) for text in busy),
        ("UNREAD_FIGURE", "1 is none."),
        ("UNREAD_FIGURE", "2 is none."),
    ]
    remarks = pl.DataFrame(
        [{"source": "a", "severity": "warning", "code": code, "message": text} for code, text in said],
        schema=dataset.diagnostics.schema,
    )
    rows = tables.diagnostics_table(replace(dataset, diagnostics=remarks)).groups[0].rows
    assert [row[1:4] for row in rows] == [
        ("MACHINE_LOADED", f"{busy[0]} The figures differ in other runs.", "2"),
        ("UNREAD_FIGURE", "1 is none.", "1"),
        ("UNREAD_FIGURE", "2 is none.", "1"),
    ]


@pytest.fixture
def latencies() -> TimeSeries:
    cell = dict.fromkeys(tables.CELL) | {
        "metric": "completion_latency",
        "statistic": "value",
        "operation": "write",
    }
    calm = {"median": 4e-4, "mean": 5e-4, "low": 4.5e-4, "high": 5.5e-4, "changes": 0, "steady": True, "stalls": 0}
    runs = [
        {**cell, "run_id": "e", "level": "ext4", "order": 2, **calm, "steady_since": 3.0, "longest": None},
        {
            **cell,
            "run_id": "x",
            "level": "xfs",
            "order": 1,
            **calm,
            "low": None,
            "steady": False,
            "steady_since": None,
            "longest": 0.9,
        },
    ]
    nothing = pl.DataFrame()
    return TimeSeries(pl.DataFrame(runs), nothing, nothing, nothing, nothing)


def test_what_runs_did_over_time_has_the_unit_of_its_median(latencies: TimeSeries) -> None:
    (group,) = tables.over_time_table(latencies).groups
    assert group.head == "Completion latency, in µs"
    assert group.rows == (
        ("ext4", "2", "write", "400", "500 [450, 550]", "0", "yes, since 3.00 s", "0", "–"),
        ("xfs", "1", "write", "400", "500", "0", "no", "0", "0.900"),
    )


def test_series_of_one_run_have_its_number_and_what_tells_them_apart(latencies: TimeSeries) -> None:
    both = pl.concat(
        latencies.runs.with_columns(
            order=pl.lit(None, pl.Int64), operation=pl.lit(operation), iodepth=pl.lit(depth), tool=pl.lit("fio")
        )
        for operation, depth in (("read", "1"), ("write", "4"))
    )
    table = tables.over_time_table(replace(latencies, runs=both.sort("run_id")))
    assert [column.head for column in table.columns[:4]] == ["group", "run", "operation", "iodepth"]
    assert [row[:4] for row in table.groups[0].rows] == [
        ("ext4", "1", "read", "1"),
        ("ext4", "1", "write", "4"),
        ("xfs", "2", "read", "1"),
        ("xfs", "2", "write", "4"),
    ]


def test_a_long_run_mean_whose_interval_reaches_zero_is_a_dash(latencies: TimeSeries) -> None:
    assert tables.over_time_table(latencies).legend == ()
    for low, known in ((-1e-5, False), (0.0, False), (1e-6, True)):
        runs = latencies.runs.with_columns(low=pl.when(pl.col("level") == "ext4").then(low))
        table = tables.over_time_table(replace(latencies, runs=runs))
        assert (table.groups[0].rows[0][4] == "–") is not known
        assert bool(table.legend) is not known
        assert table.groups[0].rows[1][4] == "500"  # which has no interval


def test_provenance_has_a_hash_that_others_can_compute(dataset: fsb.Dataset) -> None:
    hashes = sorted(dataset.runs["sha256"])
    expected = hashlib.sha256("".join(hashes).encode()).hexdigest()
    text = repr(tables.provenance_table(dataset, {"data": ["<a>"]}))
    assert f"SHA-256 {expected}" in text
    assert "['<a>']" in text
    assert "polars" in text


def test_a_remark_without_a_line_is_given_none() -> None:
    remark = Diagnostic(code="EMPTY", message="The file is empty.")
    data = assemble([Log(source="a.txt", records=[remark])])
    (group,) = tables.diagnostics_table(data).groups
    assert "a.txt" in group.rows[0]


def test_an_audit_begins_with_what_the_figures_contradict(published: Path) -> None:
    audit = fsb.audit(published / "fio-nvme-2021")
    first, second, *_, last = map(_plain, tables.audit_findings(audit))
    wrong = audit["verdict"].to_list().count("contradicted")
    assert first.startswith(f"The figures contradict {wrong} of {audit.height} claims")
    assert first.endswith("None rests on repeated runs that were printed one by one.")
    assert second.startswith('"Both were tested on the same disk" (fio-nvme-2021): randwrite: the disk is nvme7n1')
    assert last == tables.audit_summary(audit)
    assert tables.audit_findings(audit.filter(verdict="supported"))[0].startswith(
        "The figures contradict none of "
    )


def test_a_sync_speaks_only_where_the_work_itself_is_not_decided(root: Path) -> None:
    """A sync after rewrites takes 1.67 times as long, and rewriting and syncing 1.36 times: the whole is said."""
    data = fsb.read(root / "raw_results" / "recorded" / "ext4-xfs-loop-2026")
    said = list(map(_plain, tables.findings(fsb.compare(data))))
    assert any("xfs takes 1.36 times as long as ext4 to rewrite and sync" in line for line in said)
    assert not any("to sync after the rewrites" in line for line in said)
