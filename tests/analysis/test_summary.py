"""Ratios over hosts and studies, as a sample of many."""

import numpy as np
import polars as pl
import pytest

import fsbench_kit as fsb
from benchmarks.designs import dataset, in_turn
from fsbench_kit.model.errors import RequestError


def _on_hosts(effects: np.ndarray, rounds: int, noise: float, seed: int = 1, **facts: object) -> fsb.Dataset:
    """Rounds on hosts, ``effects[study, host]`` of xfs over ext4 on each; each row of it is a study."""
    runs = [
        {**run, "host": f"h{host}", "round": number, **facts}
        for host in range(effects.shape[1])
        for number in range(1, rounds + 1)
        for run in in_turn([{}], [{}])
    ]
    values = 1000 * np.random.default_rng(seed).lognormal(0, noise, (effects.shape[0], 1, len(runs)))
    for number, run in enumerate(runs):
        if run["filesystem"] == "xfs":
            values[:, 0, number] *= effects[:, int(run["host"][1:])]
    return dataset(runs, values, whole=False)


def test_hosts_are_combined_by_random_effects_of_their_own_ratios() -> None:
    data = _on_hosts(np.array([[1.1, 1.3, 1.2, 1.25]]), 6, 0.03)
    row = fsb.summarise(data).row(0, named=True)
    y = [np.log(fsb.compare(data.filter(host=f"h{n}"))["ratio"][0]) for n in range(4)]
    mean, sd, t_3 = (
        np.mean(y),
        np.std(y, ddof=1),
        3.1824463,
    )  # with as many rounds on each, all hosts weigh the same
    reach, further = t_3 * sd / 2, t_3 * sd * np.sqrt(1 + 1 / 4)
    got = [row[name] for name in ("ratio", "ci_low", "ci_high", "prediction_low", "prediction_high")]
    wanted = [mean, mean - reach, mean + reach, mean - further, mean + further]
    assert got == pytest.approx(np.exp(wanted).tolist(), rel=1e-6)
    assert (row["level"], row["units"], row["left_out"]) == ("xfs", ["h0", "h1", "h2", "h3"], [])


def test_intervals_hold_the_mean_of_all_hosts_and_predictions_a_further_one() -> None:
    rng = np.random.default_rng(2)
    studies, spread = 400, 0.1
    found = fsb.summarise(_on_hosts(1.2 * rng.lognormal(0, spread, (studies, 6)), 5, 0.05))
    further = 1.2 * rng.lognormal(0, spread, studies)
    held = found["ci_low"].le(1.2) & found["ci_high"].ge(1.2)
    predicted = found["prediction_low"].le(further) & found["prediction_high"].ge(further)
    error = 3 * np.sqrt(0.95 * 0.05 / studies)
    assert found.height == studies
    assert abs(held.mean() - 0.95) < error  # type: ignore[operator]
    assert abs(predicted.mean() - 0.95) < error  # type: ignore[operator]


def test_a_host_whose_verdict_is_withheld_takes_no_part_and_two_give_no_prediction() -> None:
    data = _on_hosts(np.array([[1.1, 1.3, 9.0]]), 5, 0.03)
    of_one = pl.col("host") == "h2"
    hours = pl.when(of_one & (pl.col("filesystem") == "xfs")).then(2).otherwise(0)
    later = (pl.col(name) + pl.duration(hours=hours) for name in ("started_at", "ended_at"))
    runs = data.runs.with_columns(*later, round=pl.when(~of_one).then("round"))
    row = fsb.summarise(fsb.Dataset(**{**data.frames, "runs": runs})).row(0, named=True)
    assert (row["units"], row["left_out"], row["prediction_low"]) == (["h0", "h1"], ["h2"], None)
    assert row["ci_low"] < 1 < row["ci_high"]  # two hosts tell little of others


def test_studies_are_summarised_as_hosts_are() -> None:
    data = _on_hosts(np.full((3, 1), 1.2), 5, 0.01)
    row = fsb.summarise(data, over="study").row(0, named=True)
    assert (row["study"], row["units"]) == (None, ["s0", "s1", "s2"])
    assert row["prediction_low"] < 1.2 < row["prediction_high"]
    assert "a further study" in str(fsb.tables.summary_table(fsb.summarise(data, over="study")))


def test_over_the_factor_or_over_nothing_is_refused() -> None:
    data = _on_hosts(np.full((1, 2), 1.2), 2, 0.01)
    for over in ("filesystem", "moon"):
        with pytest.raises(RequestError, match=over):
            fsb.summarise(data, over=over)


def test_a_baseline_of_which_no_host_is_known_leaves_nothing_to_summarise() -> None:
    data = _on_hosts(np.full((1, 2), 1.2), 2, 0.01)
    apart = data.runs.with_columns(host=pl.when(pl.col("filesystem") == "xfs").then("host"))
    data = fsb.Dataset(**{**data.frames, "runs": apart})
    assert fsb.summarise(data, baseline="ext4").is_empty()
    assert "no cell has an interval in two" in str(fsb.tables.summary_table(fsb.summarise(data, baseline="ext4")))
    with pytest.raises(RequestError, match="'ext5' is not a filesystem of these runs"):
        fsb.summarise(data, baseline="ext5")
