"""The same target twice: whatever a comparison says of it then is chance, and chance keeps within its bounds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import fsbench_kit as fsb
from benchmarks.same import Pairs, evidence, pairs, plan, position
from fsbench_kit.launch import launch, tools

if TYPE_CHECKING:
    from pathlib import Path

RARE = 1e-3
"""How often each assertion on a real launch fails although all is as it should be."""


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.usefixtures("stable_kernel")
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts and processes of its own")
def test_real_launch_treats_both_alike(tmp_path: Path) -> None:
    launched = plan(1, workloads=2, repeats=8, directory=False, files=300)
    result = launch(launched, root=tmp_path, study="same")
    assert result.failures == {}
    dataset = fsb.read(result.folder)
    found = pairs(dataset)
    assert [item.later.size for item in found] == [8, 8]

    # Under the names as they are, no fewer intervals include 1 than chance has it under exchanged names.
    seen = evidence(found)
    assert seen.p > RARE, seen
    # No difference that would be seen at the level of one in a thousand over the whole family (Holm).
    comparison = fsb.compare(dataset, factor="target", baseline="one", metrics=["elapsed"])
    assert comparison["p_adjusted"].min() > RARE
    # These are the intervals that were counted.
    # Those of the comparison reach further, by the rounding of the printed times, which is taken off here.
    shown = comparison.filter(pl.col("method") != "rounding alone").drop_nulls(["ci_low", "ci_high"])
    counted = shown.with_columns(
        ci_low=pl.col("ci_low") * pl.col("ratio") / pl.col("rounding_low"),
        ci_high=pl.col("ci_high") * pl.col("ratio") / pl.col("rounding_high"),
    )
    holding = counted.filter((pl.col("ci_low") <= 1) & (pl.col("ci_high") >= 1))
    assert (counted.height, holding.height) == (seen.intervals, seen.holding)


def made(factor: float, *, seed: int = 1, rounds: int = 10) -> list[Pairs]:
    """Runs of four workloads with four figures that go together, on targets of which one is slower by a factor."""
    chance = np.random.default_rng(seed)

    def side() -> np.ndarray:
        # heavy tails, and a share that all figures of a run have
        return np.exp(0.03 * chance.standard_t(2, (1, rounds)) + 0.01 * chance.standard_normal((4, rounds)))

    names = ("write", "rewrite", "read", "delete")
    return [Pairs(names, side(), factor * side(), chance.random(rounds) < 0.5) for _ in range(4)]


def test_targets_that_differ_are_found_out() -> None:
    seen = evidence(made(1.5))
    assert seen.holding == 0
    assert seen.p < RARE


def test_p_is_that_of_an_exact_test() -> None:
    """Without a difference, p is at most 5 % in at most 5 % of launches (of 400, so 8.5 % at most)."""
    found = [evidence(made(1.0, seed=seed), exchanges=199).p for seed in range(400)]
    assert np.mean(np.array(found) <= 0.05) < 0.085


def test_exchange_keeps_rounds_and_steps_together() -> None:
    item, *_ = made(1.0)
    first, second = item.exchanged(50, np.random.default_rng(1))
    assert np.array_equal(first[0], item.first)
    assert np.array_equal(second[0], item.second)
    swapped = first[1:] != item.first
    assert (swapped.all(1) == swapped.any(1)).all()  # all figures of a run, or none
    assert 0.4 < swapped.mean() < 0.6
    assert np.array_equal(first + second, np.broadcast_to(item.first + item.second, first.shape))


def test_place_in_the_round_is_measured() -> None:
    later = np.array([True, False] * 5)
    noise = np.exp(np.random.default_rng(1).normal(0, 0.01, (1, 10)))
    item = Pairs(("write",), np.where(later, 1, 1.25) * noise, np.where(later, 1.25, 1.0)[None], later)
    ratio, low, high = position([item])
    assert low < 1.25 < high
    assert ratio == pytest.approx(1.25, rel=0.02)


def test_figures_without_a_ratio_or_an_interval_are_left_out() -> None:
    runs = pl.DataFrame(
        {
            "run_id": ["a1", "b1", "a2", "b2"],
            "target": ["one", "other"] * 2,
            "round": [1, 1, 2, 2],
            "workload": "small",
            "status": "ok",
            "started_at": [1, 2, 4, 3],
        }
    )
    figures = {"write": [1.0, 2.0, 3.0, 4.0], "write_sync": [0.0, 0.1, 0.1, 0.1], "read": [0.1, 0.1, 0.2, 0.2]}
    measurements = pl.concat(
        pl.DataFrame({"run_id": runs["run_id"], "operation": name, "value": values})
        for name, values in figures.items()
    ).with_columns(metric=pl.lit("elapsed"), statistic=pl.lit("value"), primary=True)
    (item,) = pairs(SimpleNamespace(runs=runs, measurements=measurements))  # type: ignore[arg-type]
    assert item.operations == ("write",)
    assert (item.first.tolist(), item.second.tolist(), item.later.tolist()) == (
        [[1.0, 3.0]],
        [[2.0, 4.0]],
        [True, False],
    )
