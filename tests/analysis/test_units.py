"""Boots and hosts as the unit of inference: what one of them has of its own is in all of its runs."""

import numpy as np
import polars as pl
import pytest

import fsbench_kit as fsb
from benchmarks.designs import dataset, in_turn

CELLS = 400
NOISE, OF_BOOT = 0.02, 0.10


def of_kernels(boots: str, *, blocks: int = 1, runs: int = 10, effect: float = 1.0) -> fsb.Dataset:
    """Runs of two kernels, ``a`` and ``b``, one for each boot; a boot has some blocks, each of some runs."""
    facts = [
        {"filesystem": "ext4", "kernel": kernel, "boot": f"boot-{boot}", "folder": f"c/{boot}-{block}"}
        for boot, kernel in enumerate(boots)
        for block in range(blocks)
        for _ in range(runs)
    ]
    rng = np.random.default_rng(len(boots) + blocks)
    speeds = np.repeat(rng.lognormal(0, OF_BOOT, (CELLS, len(boots))), blocks * runs, axis=1)
    values = speeds * rng.lognormal(0, NOISE, (CELLS, len(facts)))
    values[:, [run["kernel"] == "b" for run in facts]] *= effect
    return dataset(facts, values)


def excluding_1(found: pl.DataFrame) -> float:
    return float(found.select((~pl.lit(1.0).is_between("ci_low", "ci_high")).mean()).item())


@pytest.mark.parametrize("blocks", [1, 2])
def test_boots_of_one_kernel_are_told_apart_as_often_as_chance_does(blocks: int) -> None:
    found = fsb.compare(of_kernels("abbaab", blocks=blocks, runs=10), "kernel")
    assert set(found["over"]) == {"boots"}
    assert 0.02 < excluding_1(found) < 0.08
    assert found["verdict"].is_in(["better", "worse"]).mean() < 0.01  # type: ignore[operator]  # corrected for 400
    assert "the boot is the unit: 3 against 3." in "\n".join(found["footnotes"][0])
    better = fsb.compare(of_kernels("abbaab", blocks=blocks, effect=3.0), "kernel")
    assert better["ratio"].is_between(2, 4.5).all()
    assert excluding_1(better) > 0.9


def test_twenty_runs_in_two_boots_are_two_blocks() -> None:
    found = fsb.compare(of_kernels("ab"), "kernel")
    assert excluding_1(found) > 0.5  # of the runs of these two boots alone
    assert set(found["verdict"]) == {"not comparable"}
    assert found["reasons"].to_list() == [["ONE_BOOT"]] * CELLS
    assert (
        "The groups were run in different boots, 1 against 1: run each group in three boots or more."
        in found["footnotes"][0]
    )


def test_three_launches_in_one_boot_are_one_block() -> None:
    found = fsb.compare(of_kernels("ab", blocks=3), "kernel")
    assert set(found["verdict"]) == {"not comparable"}


def test_several_cells_together_are_over_boots_as_well() -> None:
    found = fsb.geometric_mean(of_kernels("abbaab"), "kernel")
    one = fsb.compare(of_kernels("abbaab"), "kernel")
    assert found["ci_high"][0] / found["ci_low"][0] > 1.02  # runs alone would say 1.001
    assert (one["ci_high"] / one["ci_low"]).min() > 1.02


def test_versions_that_took_turns_in_one_boot_are_compared_by_launches() -> None:
    facts = [
        {"filesystem": "ext4", "tool_version": version, "boot": "one", "folder": f"c/{block}"}
        for block, version in enumerate("abbaab")
        for _ in range(5)
    ]
    values = np.random.default_rng(1).lognormal(0, NOISE, (20, len(facts)))
    found = fsb.compare(dataset(facts, values), "tool_version")
    assert set(found["over"]) == {"launches"}


def test_boots_are_planned_with_and_not_their_runs() -> None:
    planned = fsb.sample_size(of_kernels("abbaab"), factor="kernel")
    assert set(planned["unit"]) == {"boot"}
    assert 0.08 < float(planned["cv"].median()) < 0.12  # type: ignore[arg-type]  # of boots; runs vary by 2 %
    assert set(planned["pilot_runs"]) == {60}


def test_hosts_of_one_ratio_disagree_as_rarely_as_chance_has_it() -> None:
    in_turn = ("ext4", "xfs", "xfs", "ext4", "ext4", "xfs", "xfs", "ext4", "ext4", "xfs")
    facts = [{"filesystem": filesystem, "host": host} for host in "ab" for filesystem in in_turn]
    noise = np.random.default_rng(6).lognormal(0, 0.05, (1000, len(facts)))
    found = fsb.compare(dataset(facts, noise))
    disagree = found["reasons"].list.contains("STRATA_DISAGREE").mean()
    assert 0.03 < disagree < 0.07  # type: ignore[operator]


def test_boots_that_are_known_of_one_group_only_are_no_units() -> None:
    facts = [
        {"filesystem": "ext4", "kernel": kernel, "folder": f"c/{launch}"}
        | ({"boot": f"boot-{launch}"} if kernel == "a" else {})
        for launch, kernel in enumerate("abbaab")
        for _ in range(5)
    ]
    values = np.random.default_rng(1).lognormal(0, NOISE, (CELLS, len(facts)))
    found = fsb.compare(dataset(facts, values), "kernel")
    assert set(found["over"]) == {"launches"}
    assert "so the launch is the unit, and each counts once." in "\n".join(found["footnotes"][0])


def test_runs_without_a_round_are_not_one_round() -> None:
    facts = [{"round": number} for number in range(1, 5)] + [{}]
    runs = in_turn(facts, facts)
    found = fsb.compare(dataset(runs, np.random.default_rng(2).lognormal(0, NOISE, (1, len(runs)))))
    assert found["n_pairs"].to_list() == [4]
    assert "2 runs without a partner in the same round were left out." in found["footnotes"][0]


@pytest.mark.parametrize(("alone", "left_out"), [(0, False), (1, True), (2, True), (4, False)])
def test_launches_of_one_group_are_left_out_of_hosts_if_most_runs_are_in_others(
    alone: int, left_out: bool
) -> None:
    a, b = (
        [
            {"host": host, "folder": f"{host}-{folder}"}
            for host in ("h0", "h1")
            for folder in ["both"] * 8 + [group] * alone
        ]
        for group in ("a", "b")
    )
    runs = in_turn(a, b)
    found = fsb.compare(dataset(runs, np.random.default_rng(2).lognormal(0, NOISE, (1, len(runs)))))
    notes = "\n".join(found["footnotes"][0])
    assert "The groups were compared within each of 2 hosts" in notes
    assert ("runs of a launch that had only one of the groups were left out." in notes) == left_out


def test_launches_of_one_group_are_left_out_of_one_host_whatever_remains() -> None:
    a, b = ([{"folder": folder} for folder in ["both"] * 4 + [group] * 4] for group in ("a", "b"))
    runs = in_turn(a, b)
    found = fsb.compare(dataset(runs, np.random.default_rng(2).lognormal(0, NOISE, (1, len(runs)))))
    assert "8 runs of a launch that had only one of the groups were left out." in found["footnotes"][0]


def test_many_hosts_are_the_units_however_many_launches_they_have() -> None:
    facts = [
        {"host": f"h{host}", "folder": f"h{host}-{launch}"}
        for host in range(5)
        for launch in range(2)
        for _ in "ab"
    ]
    runs = in_turn(facts, facts)
    found = fsb.compare(dataset(runs, np.random.default_rng(2).lognormal(0, NOISE, (1, len(runs)))))
    assert (found["over"].to_list(), found["n_pairs"].to_list()) == (["hosts"], [5])


def test_a_single_round_is_no_pair() -> None:
    facts = [{"round": 1}] * 5
    runs = in_turn(facts, facts)
    found = fsb.compare(dataset(runs, np.random.default_rng(2).lognormal(0, NOISE, (1, len(runs)))))
    assert found["n_pairs"].to_list() == [None]
    assert found["ci_low"].count() == 1
