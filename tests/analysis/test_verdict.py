"""Verdicts hold whatever the data: rounding, bounds, few runs, margins, families, drift."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student

import fsbench_kit as fsb
from benchmarks.designs import dataset, in_turn
from fsbench_kit.analysis.gate import gate
from fsbench_kit.data.log import Log
from tests.analysis.made import cells, compared, figure, rates, runs


def _row(*sides: list[Log], **options: object) -> dict[str, object]:
    (row,) = compared(*sides, **options).rows(named=True)
    return row


# ---- rounding

LATENCY = {"metric": "latency", "statistic": "mean"}


@pytest.mark.parametrize("rounds", [False, True])
def test_an_interval_reaches_as_far_as_the_last_digit_allows(rounds: bool) -> None:
    row = _row(rates([0.20, 0.20, 0.21], [0.19, 0.19, 0.20], 0.005, rounds=rounds, **LATENCY))
    logs = [np.log(values) for values in ([0.20, 0.20, 0.21], [0.19, 0.19, 0.20])]
    ends = [[np.log(np.exp(side) + end).mean() for end in (-0.005, 0.005)] for side in logs]
    assert row["rounding_low"] == pytest.approx(math.exp(ends[1][0] - ends[0][1]))
    assert row["rounding_high"] == pytest.approx(math.exp(ends[1][1] - ends[0][0]))
    assert row["ci_low"] < row["rounding_low"] < 0.95  # type: ignore[operator]
    assert row["ci_high"] > row["rounding_high"] == pytest.approx(1)  # type: ignore[operator]
    assert row["verdict"] == "inconclusive"


def test_what_rounding_adds_is_added_at_both_ends() -> None:
    values = [100.0, 104.0, 97.0, 102.0, 99.0], [121.0, 118.0, 125.0, 119.0, 123.0]
    exact, rounded = (_row(rates(*values, half)) for half in (0.0, 0.5))
    down, up = (
        math.exp(np.mean([np.log(v / (v + end)) for v in of]) - np.mean([np.log(v / (v - end)) for v in others]))
        for of, others, end in ((values[0], values[1], 0.5), (values[0], values[1], -0.5))
    )
    assert rounded["ci_low"] / exact["ci_low"] == pytest.approx(down, rel=1e-9)  # type: ignore[operator]
    assert rounded["ci_high"] / exact["ci_high"] == pytest.approx(up, rel=1e-9)  # type: ignore[operator]
    assert rounded["p"] > exact["p"]  # type: ignore[operator]


# What prints as 100 and as 103 lies within 0.5 of them, so that rounding takes 0.0098542 off ln 1.03 = 0.0295588.
# Uniform in a print that is 2 x 0.0098545 wide, the mean of n runs has a standard error of 0.0098545 / sqrt(3 n).
@pytest.mark.parametrize(("n", "t"), [(3, 5.99875), (10, 10.9522)])
def test_the_spread_of_runs_that_print_alike_is_that_of_their_print(n: int, t: float) -> None:
    row = _row(rates([100] * n, [103] * n, 0.5))
    assert row["p"] == pytest.approx(2 * student.sf(t, n - 1), rel=1e-3)


# Logarithms of 100 to 102 and 110 to 112 deviate by 0.0099 and 0.009: Welch's interval is 0.043 long.
# Rounding to 1 adds 0.019, which is 30 % of both; rounding to 0.1 adds 4 %.
@pytest.mark.parametrize(("half", "is_said"), [(0.5, True), (0.05, False)])
def test_an_interval_that_is_much_rounding_says_so(half: float, is_said: bool) -> None:
    row = _row(rates([100.0, 101.0, 102.0], [110.0, 111.0, 112.0], half))
    said = "Rounding of the printed figures makes up much of the interval."
    assert (said in row["footnotes"]) is is_said  # type: ignore[operator]


@pytest.mark.parametrize(
    ("xfs", "verdict"), [(200, "better"), (50, "worse"), (101, "equivalent"), (105, "better")]
)
@pytest.mark.parametrize("rounds", [False, True])
def test_runs_that_print_alike_have_a_ratio_by_rounding_alone(xfs: float, verdict: str, rounds: bool) -> None:
    row = _row(rates([100] * 10, [xfs] * 10, 0.5, rounds=rounds))
    assert (row["ratio"], row["method"], row["verdict"]) == (pytest.approx(xfs / 100), "rounding alone", verdict)
    assert row["ci_low"] == pytest.approx((xfs - 0.5) / 100.5)
    assert row["ci_high"] == pytest.approx((xfs + 0.5) / 99.5)


def test_runs_of_which_the_rounding_is_not_known_have_no_interval_where_they_are_equal() -> None:
    assert _row(rates([100] * 10, [200] * 10))["ci_low"] is None


@pytest.mark.parametrize(("last", "modes"), [(0.21, False), (0.40, True)])
def test_neighbouring_last_digits_are_not_two_modes(last: float, modes: bool) -> None:
    row = _row(rates([0.20] * 6 + [last] * 6, [0.30] * 6 + [0.31] * 6, 0.005, **LATENCY))
    said = [note for note in row["footnotes"] if "bimodal" in note]  # type: ignore[attr-defined]
    assert len(said) == modes


# ---- bounds


@pytest.mark.parametrize(
    ("bounds", "xfs", "verdict"),
    [(5, 12000, "worse"), (5, 32000, "bound only"), (2, 12000, "bound only"), (1, 12000, "bound only")],
)
def test_a_bound_is_kept_and_decides_where_it_can(bounds: int, xfs: float, verdict: str) -> None:
    # ext4: more than 32768/s each time
    ext4 = [figure(None, metric="file_rate", state="censored", low=32768.0)] * bounds
    several = [figure(xfs * (1 + 0.01 * n), 0.5, metric="file_rate") for n in range(bounds)]
    row = _row(runs("ext4", ext4), runs("xfs", several))
    mean = np.mean([math.log(xfs * (1 + 0.01 * n) + 0.5) for n in range(bounds)])
    assert (row["ratio"], row["rounding_low"]) == (None, None)
    assert row["rounding_high"] == pytest.approx(math.exp(mean) / 32768)
    assert row["reasons"] == ["CENSORED"]
    assert row["verdict"] == verdict


def test_one_bound_among_figures_is_a_bound() -> None:
    xfs = [figure(50000 + 100 * n, 0.5, metric="file_rate") for n in range(4)]
    xfs.append(figure(None, metric="file_rate", state="censored", low=60000.0))
    row = _row(runs("ext4", [figure(1000 + n, 0.5, metric="file_rate") for n in range(5)]), runs("xfs", xfs))
    assert (row["rounding_low"], row["rounding_high"], row["verdict"]) == (
        pytest.approx(51.8, abs=0.1),
        None,
        "better",
    )


# Between 1 and 2, and between 10 and 20: a ratio of 5 or more. Like a print, each range is taken as ln 2 wide.
@pytest.mark.parametrize(
    ("n", "ends", "p", "verdict"),
    [
        (3, (10.0, 20.0), 2 * student.sf(math.log(5) / math.log(2) * 3, 2), "better"),
        (5, (10.0, 20.0), 2 * student.sf(math.log(5) / math.log(2) * math.sqrt(15), 4), "better"),
        (3, (2.5, 5.0), 2 * student.sf(math.log(1.25) / math.log(2) * 3, 2), "bound only"),
        (5, (1.5, 3.0), None, "bound only"),
    ],
)
def test_ranges_that_lie_apart_decide(n: int, ends: tuple[float, float], p: float | None, verdict: str) -> None:
    a, b = (figure(None, state="censored", low=low, high=high) for low, high in ((1.0, 2.0), ends))
    row = _row(runs("ext4", [a] * n), runs("xfs", [b] * n))
    assert row["p"] == (None if p is None else pytest.approx(p))
    assert row["verdict"] == verdict


def test_two_bounds_decide_nothing() -> None:
    sides = ([figure(None, metric="file_rate", state="censored", low=32768.0)] * 5 for _ in "ab")
    row = _row(*(runs(name, side) for name, side in zip(("ext4", "xfs"), sides, strict=True)))
    assert (row["rounding_low"], row["rounding_high"], row["verdict"]) == (None, None, "bound only")


# ---- few runs


@pytest.mark.parametrize("rounds", [False, True])
@pytest.mark.parametrize(("n", "verdict"), [(2, "inconclusive"), (3, "better")])
def test_two_runs_a_group_have_an_interval_and_no_verdict(n: int, rounds: bool, verdict: str) -> None:
    row = _row(rates([100, 101, 102][:n], [200, 202.1, 204][:n], rounds=rounds))
    assert row["ci_low"] > 1  # type: ignore[operator]
    assert row["p"] < 0.05  # type: ignore[operator]
    assert (row["p_adjusted"] is None, row["verdict"]) == (n == 2, verdict)


def _modes(sizes: int, n: int, seed: int) -> list[Log]:
    """Cells of equals, whose runs are of one of two modes, as often of one as of the other."""
    rng = np.random.default_rng(seed)
    drawn = rng.choice([1.0, 0.6], (2, n, sizes)) * rng.lognormal(5, 0.01, (2, n, sizes))
    return cells(*drawn.tolist())


def test_few_runs_of_one_mode_are_not_told_apart_where_other_cells_show_both() -> None:
    table = compared(_modes(200, 3, 1))
    by_itself = table.filter(pl.col("p") < 1e-3)
    assert by_itself.is_empty()
    assert set(table["verdict"]) == {"inconclusive"}
    assert (
        table.filter((pl.col("ci_low") > 1) | (pl.col("ci_high") < 1)).height > 3
    )  # by their own spread they differ


def test_the_spread_of_all_rows_holds_for_few_runs_and_ten_rows() -> None:
    # nine rows do not say what the spread of a row is
    rng = np.random.default_rng(2)
    noisy = rng.lognormal(5, 0.2, (2, 4, 10))
    noisy[0, :, 0], noisy[1, :, 0] = 100 + np.arange(4) / 10, 110 + np.arange(4) / 10
    found = [
        compared(cells(*noisy[:, :, :sizes].tolist())).filter(block_size=4096)["p"][0] for sizes in (1, 9, 10)
    ]
    assert found[0] < 1e-6
    assert found[1] == pytest.approx(2 / 2**8, rel=0.01)  # that all four of either group are of one mode
    assert found[2] > 0.1


@pytest.mark.parametrize(("n", "verdict"), [(4, "inconclusive"), (5, "inconclusive"), (6, "better")])
def test_five_runs_are_few_and_six_are_not(n: int, verdict: str) -> None:
    """Runs of one mode each are rare among six, and those of other rows vary, but not between modes."""
    noisy = np.random.default_rng(2).lognormal(5, 0.2, (2, n, 12))
    noisy[0, :, 0], noisy[1, :, 0] = 100 + np.arange(n) / 10, 120 + np.arange(n) / 10
    found = compared(cells(*noisy.tolist())).filter(block_size=4096)
    assert found["ci_low"][0] > 1.15
    assert found["verdict"].to_list() == [verdict]


@pytest.mark.parametrize(("with_modes", "verdict"), [(3, "better"), (8, "inconclusive")])
def test_rows_of_many_runs_are_held_to_all_where_a_quarter_of_the_rows_have_modes(
    with_modes: int, verdict: str
) -> None:
    of_rows = np.random.default_rng(3).lognormal(5, 0.01, (2, 8, 20))
    of_rows[:, ::2, 1 : with_modes + 1] *= 0.5  # every other run is of the slow mode
    of_rows[0, :, 0], of_rows[1, :, 0] = 100 + np.arange(8) / 10, 115 + np.arange(8) / 10
    found = compared(cells(*of_rows.tolist())).filter(block_size=4096)
    assert found["verdict"].to_list() == [verdict]


@pytest.mark.parametrize("rounds", [False, True])
@pytest.mark.parametrize(
    ("slow", "share", "studies", "sizes"),
    [(1 / 3, 0.1, 20, 500), (0.6, 0.2, 200, 20), (0.6, 0.2, 400, 9), (0.6, 0.5, 200, 2), (0.6, 0.5, 200, 6)],
)
def test_families_of_three_runs_that_stall_or_have_modes_are_rarely_called_different(
    slow: float, share: float, studies: int, sizes: int, rounds: bool
) -> None:
    rng = np.random.default_rng(5)
    shape = (studies, sizes, 6)
    drawn = 1000 * np.where(rng.random(shape) < share, slow, 1.0) * rng.lognormal(0, 0.04, shape)
    in_rounds = [{"round": number} if rounds else {} for number in (1, 2, 3)]
    table = fsb.compare(dataset(in_turn(in_rounds, in_rounds), drawn, whole=False))
    wrong = table.filter(pl.col("verdict").is_in(["better", "worse"]))
    assert wrong["study"].n_unique() <= 0.05 * studies
    doubted = table.filter(
        pl.col("footnotes").list.join(" ").str.contains("Taken by itself, this row shows a difference; but")
    )
    assert doubted.height > 5
    assert set(doubted["verdict"]) == {"inconclusive"}


@pytest.mark.slow
def test_small_families_of_ten_runs_in_two_modes_are_rarely_called_different() -> None:
    studies, n = 500, 10
    drawn = np.random.default_rng(11)
    rates = np.where(drawn.random((studies, 8, 2 * n)) < 0.5, 0.6, 1.0) * drawn.lognormal(
        5, 0.03, (studies, 8, 2 * n)
    )
    table = fsb.compare(dataset(in_turn([{}] * n, [{}] * n), rates, whole=False))
    wrong = table.filter(pl.col("verdict").is_in(["better", "worse"]))
    assert wrong["study"].n_unique() <= 0.05 * studies


def test_a_large_effect_of_few_runs_is_still_found() -> None:
    rng = np.random.default_rng(3)
    drawn = rng.lognormal(5, 0.03, (2, 3, 20))
    drawn[1, :, 0] *= 2
    table = compared(cells(*drawn.tolist()))
    assert table.filter(verdict="better")["block_size"].to_list() == [4096]


def test_few_runs_against_more_borrow_no_spread() -> None:
    rng = np.random.default_rng(4)
    drawn = rng.lognormal(5, 0.05, (2, 3, 80))
    equal, unequal = (
        compared(cells(drawn[0].tolist(), drawn[1, :n].tolist()))["companion_method"].unique().to_list()
        for n in (3, 2)
    )
    assert (equal, unequal) == (["moderated t on logs"], [None])


# ---- margin first


def test_what_differs_by_less_than_the_margin_is_equivalent() -> None:
    spread = [0.999, 1.0, 1.001, 1.002, 0.998] * 4
    row = _row(rates([100 * x for x in spread], [101 * x for x in spread]))
    assert row["ci_low"] > 1  # type: ignore[operator]
    assert row["p_adjusted"] < 1e-6  # type: ignore[operator]
    assert (row["verdict"], row["margin"]) == ("equivalent", 1.05)
    assert _row(rates([100 * x for x in spread], [101 * x for x in spread]), margin=1.005)["verdict"] == "better"


@pytest.mark.parametrize("effect", [0.99, 0.97, 1.02])
def test_more_data_never_turn_equivalent_into_a_difference(effect: float) -> None:
    noise = [0.98, 1.0, 1.02, 1.01, 0.99]
    shown = [
        _row(rates([100 * x for x in noise * times], [100 * effect * x for x in noise * times]))["verdict"]
        for times in (1, 2, 4, 10, 40)
    ]
    first = shown.index("equivalent")
    assert set(shown[first:]) == {"equivalent"}


def test_equivalence_is_corrected_for_the_number_of_rows() -> None:
    z = np.array([0.0, 1.265, -1.265, 0.632, -0.632])
    side = np.exp(0.0395 * z) * 100  # p of equivalence .04 by itself
    assert _row(rates(side.tolist(), side.tolist()))["verdict"] == "equivalent"
    table = compared(cells(*([[value] * 8 for value in side.tolist()] for _ in "ab")))
    assert set(table["verdict"]) == {"inconclusive"}


# ---- one effect, one test


def _in_metrics(n: int, seed: int, effect: float = 1.0, **others: float) -> list[Log]:
    """Runs with IOPS and what follows from them; ``others`` are further factors of a metric of xfs."""
    rng = np.random.default_rng(seed)
    logs = []
    for name, factor in (("ext4", 1.0), ("xfs", effect)):
        of_runs = []
        for iops in rng.lognormal(8, 0.02, n) * factor:
            means = {"bandwidth": 4096 * iops, "iops": iops, "latency": 8 / iops, "completion_latency": 7.9 / iops}
            of_runs.append(
                [
                    figure(
                        value * (others.get(metric, 1.0) if name == "xfs" else 1.0),
                        metric=metric,
                        statistic="mean" if "latency" in metric else "value",
                        unit={"bandwidth": "B/s", "iops": "1/s"}.get(metric, "s"),
                    )
                    for metric, value in means.items()
                ]
            )
        logs += runs(name, of_runs)
    return logs


def test_metrics_that_follow_from_one_another_are_one_effect() -> None:
    table = compared(_in_metrics(6, 1, effect=1.2))
    assert table.height == 4
    assert table["effect"].n_unique() == 1
    assert set(table["tested"]) == {1}
    (tested,) = table.filter(metric="bandwidth").rows(named=True)
    assert tested["p_adjusted"] == tested["p"]
    assert set(table["p_adjusted"]) == {tested["p"]}
    assert set(table["verdict"]) == {"better"}  # more of one is less of the other


def test_a_metric_that_contradicts_the_first_is_an_effect_of_its_own() -> None:
    # at a rate that was fixed, latencies are no function of it
    table = compared(_in_metrics(6, 1, latency=3.0, completion_latency=3.0))
    assert table["effect"].n_unique() == 3
    shown = dict(table.select("metric", "verdict").rows())
    assert (shown["latency"], shown["completion_latency"]) == ("worse", "worse")
    assert "worse" not in (shown["bandwidth"], shown["iops"])


def test_the_family_is_all_that_a_tool_measured_in_a_study() -> None:
    sides = [
        *rates([100, 101, 102, 103], [110, 111, 112, 113]),
        *_tool("sysbench", [[100, 101, 102, 103], [110, 111, 112, 113]], sizes=5),
    ]
    table = compared(sides)
    counts = dict(table.select("tool", "tested").unique().rows())
    assert counts == {"fio": 1, "sysbench": 5}
    fio = table.filter(tool="fio").row(0, named=True)
    assert fio["p_adjusted"] == fio["p"]
    assert table["error"].to_list() == pytest.approx([0.1] * table.height)


def test_studies_are_not_corrected_for_one_another() -> None:
    values = [100, 101, 102, 103], [110, 111, 112, 113]
    one, five = rates(*values), _tool("fio", [*values], sizes=5)
    other = [replace(log, study="t", source=f"t-{log.source}", data=b"t" + log.data) for log in five]
    together, alone = compared(one, other), compared(one)
    assert dict(together.select("study", "tested").unique().rows()) == {"s": 1, "t": 5}
    assert together.filter(study="s")["p_adjusted"].to_list() == alone["p_adjusted"].to_list()


def _tool(tool: str, of_sides: list[list[float]], sizes: int) -> list[Log]:
    return [
        log
        for name, values in zip(("ext4", "xfs"), of_sides, strict=True)
        for log in runs(
            name, [[figure(v, block_size=4096 * size) for size in range(1, sizes + 1)] for v in values], tool=tool
        )
    ]


def test_percentiles_and_rates_of_a_tool_are_one_family() -> None:
    facts = [{"metric": "latency", "statistic": f"p{share}", "unit": "s"} for share in (50, 95, 99)]
    sides = []
    for name, times in (("ext4", 1.0), ("xfs", 1.1)):
        sides += runs(
            name,
            [
                [figure(v * times), *(figure(v * times / 1e3, **fact) for fact in facts)]
                for v in (100, 101, 102, 103)
            ],  # type: ignore[arg-type]
        )
    table = compared(sides)
    assert table["effect"].n_unique() == 4
    assert set(table["tested"]) == {4}


def test_rows_without_a_verdict_take_nothing_from_the_others() -> None:
    alone = rates([100, 101, 102, 103], [110, 111, 112, 113])
    (lonely,) = compared(alone)["p_adjusted"]
    # two runs a group of forty other cells
    others = [
        log
        for name in ("ext4", "xfs")
        for log in runs(
            name,
            [
                [figure(100.0 + n + size, operation="write", block_size=4096 * size) for size in range(1, 41)]
                for n in (0, 1)
            ],
        )
    ]
    table = compared(alone, [*others])
    row = table.filter(operation="read").row(0, named=True)
    assert (table.height, row["tested"], row["p_adjusted"]) == (41, 1, lonely)


# ---- drift


def test_a_drift_that_both_groups_share_keeps_the_verdict() -> None:
    path = [400.0, 320, 250, 200, 150, 120]
    noise = [1.0, 1.01, 0.99, 1.005, 0.995, 1.0]
    row = _row(rates(path, [1.2 * a * b for a, b in zip(path, noise, strict=True)], rounds=True))
    assert (row["reasons"], row["verdict"]) == ([], "better")


@pytest.mark.parametrize("falling", [True, False])
def test_a_ratio_that_drifts_over_rounds_withholds_the_verdict(falling: bool) -> None:
    ratios = [4.0, 3.3, 2.8, 2.3, 1.9, 1.6]
    row = _row(rates([100.0] * 6, [100 * r for r in (ratios if falling else ratios[::-1])], rounds=True))
    assert (row["reasons"], row["verdict"]) == (["NON_STEADY"], "not comparable")


@pytest.mark.parametrize("ratios", [[1.06, 1.05, 1.04, 1.03, 1.02, 1.01], [1.0, 1.3, 0.9, 1.25, 0.95, 1.2]])
def test_a_ratio_that_hardly_drifts_or_only_varies_is_steady(ratios: list[float]) -> None:
    row = _row(rates([100.0] * 6, [100 * ratio for ratio in ratios], rounds=True))
    assert row["reasons"] == []


# ---- runs without a figure


def test_a_run_without_a_figure_is_left_out_and_counted() -> None:
    xfs = [figure(110.0 + n) for n in range(9)]
    xfs.insert(4, figure(None, state="missing"))
    row = _row(runs("ext4", [figure(100.0 + n) for n in range(10)]), runs("xfs", xfs))
    assert (row["n_baseline"], row["n_candidate"], row["verdict"]) == (10, 9, "better")
    assert "1 run of xfs has no figure here and was left out." in row["footnotes"]  # type: ignore[operator]


def test_a_group_without_a_figure_has_no_ratio() -> None:
    row = _row(runs("ext4", [figure(100.0)] * 3), runs("xfs", [figure(None, state="missing")] * 3))
    assert (row["reasons"], row["verdict"]) == (["ZERO_OR_FAILED"], "not comparable")


@pytest.mark.parametrize(("others_have_modes", "verdict"), [(True, "inconclusive"), (False, "worse")])
def test_modes_of_other_cells_are_kept_in_mind_where_a_group_happens_to_show_one(
    others_have_modes: bool, verdict: str
) -> None:
    rng = np.random.default_rng(3)
    noise = rng.lognormal(0, 0.01, (2, 10, 30))
    slow = np.tile(np.arange(10) < 5, (2, 1))
    tables = 1000 * noise * np.where(others_have_modes & slow, 0.6, 1.0)[..., None]
    tables[:, :, 0] = 1000 * noise[:, :, 0] * np.where([[False] * 10, np.arange(10) < 7], 0.6, 1.0)
    table = compared(cells(*tables.tolist()))
    assert table.sort("block_size")["verdict"][0] == verdict


@pytest.mark.parametrize(("tolerance", "outcome"), [(1.05, "worse"), (2.0, "worse"), (3.0, "undecided")])
def test_a_gate_holds_a_bound_to_its_tolerance(tolerance: float, outcome: str) -> None:
    """The runs of ext4 did at least 42,000 a second: 20,000 is worse by 2.1 at least, and maybe by more than 3."""
    bound = figure(None, metric="file_rate", state="censored", low=42000.0)
    slow = [figure(value, 1.0, metric="file_rate") for value in (20000.0, 20010.0, 19990.0, 20005.0, 19995.0)]
    table = compared(runs("ext4", [bound] * 5), runs("xfs", slow))
    assert table["verdict"].to_list() == ["worse"]
    assert table["ratio"].to_list() == [None]
    assert gate(table, tolerance)["outcome"].to_list() == [outcome]


def test_a_gate_goes_by_the_ratio_and_not_by_what_rounding_allows() -> None:
    """95 against 100 is a loss of 5 %, more than 1.05 tolerates, and rounding allows one of 4 %."""
    table = compared(rates([100] * 10, [95] * 10, 0.5))
    assert 1 / 1.05 < table["rounding_high"].item() < 0.96
    assert gate(table, 1.05)["outcome"].to_list() == ["worse"]


@pytest.mark.parametrize(("n", "outcome"), [(2, "undecided"), (3, "passes")])
def test_two_runs_pass_no_gate_however_alike(n: int, outcome: str) -> None:
    same = [100.0, 100.01, 99.99]
    table = compared(rates(same[:n], [99.99, 100.0, 100.01][:n]))
    assert table["ci_low"][0] > 1 / 1.05
    assert gate(table, 1.05)["outcome"].to_list() == [outcome]


def test_a_gate_tells_first_of_what_loses_most_and_a_bound_stands_by_its_end() -> None:
    """ext4 did at least twice what xfs did; in another cell xfs loses a tenth, in a third four fifths."""
    bound = figure(None, metric="file_rate", state="censored", low=42000.0)
    ext4, xfs = (
        [
            [figure(rate + n, metric="file_rate", operation=operation) for operation, rate in rates_of.items()]
            for n in range(5)
        ]
        for rates_of in (
            {"create": 10000.0, "delete": 10000.0},
            {"create": 9000.0, "delete": 2000.0, "read": 20000.0},
        )
    )
    table = compared(runs("ext4", [[*of_run, bound] for of_run in ext4]), runs("xfs", xfs))
    assert gate(table, 1.05)["operation"].to_list() == ["delete", "read", "create"]
