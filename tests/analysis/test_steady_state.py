"""Rounds that drift are reported, by the criterion of SNIA's test specification."""

import polars as pl
import pytest

from fsbench_kit.analysis.steady_state import sentence, steady_state
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.log import Log
from fsbench_kit.model.records import Measurement, Run
from fsbench_kit.tables import steady_state_table

STEADY = (100, 102, 98, 101, 99)
FALLING = (100, 95, 92, 90, 88)


def launched(stage: str = "measured", **targets: tuple[float, ...]) -> Dataset:
    """Runs of one workload on targets, with a bandwidth for each round."""
    logs = []
    for target, rates in targets.items():
        for number, rate in enumerate(rates, 1):
            figures = tuple(
                Measurement(operation="write", metric=metric, value=value, unit=unit, text=str(value), line=1)
                for metric, value, unit in (("iops", number, "1/s"), ("bandwidth", rate, "B/s"))
            )
            logs.append(
                Log(
                    source=f"{target}-{number}-{stage}",
                    data=f"{target}-{number}-{stage}".encode(),
                    records=[Run(tool="fio", start=0, end=99, line=1, measurements=figures)],
                    study="s",
                    stage=stage,
                    round=number if stage == "measured" else None,
                    target=target,
                    workload="fill",
                    filesystem="ext4",
                    status="ok",
                )
            )
    return assemble(logs)


@pytest.mark.parametrize(
    ("rates", "spread", "slope", "steady"),
    # by hand: max - min, and the rise of the fitted line over four steps, over the mean
    [(STEADY, 0.04, -0.012, True), (FALLING, 0.1290, -0.1247, False), ((500, *STEADY), 0.04, -0.012, True)],
)
def test_last_five_rounds_are_held_against_the_limits(
    rates: tuple[float, ...], spread: float, slope: float, steady: bool
) -> None:
    (row,) = steady_state(launched(disk=rates)).rows(named=True)
    assert (row["target"], row["workload"], row["metric"]) == ("disk", "fill", "bandwidth")
    assert (row["rounds"], row["steady"]) == (len(rates), steady)
    assert (row["range"], row["slope"]) == (pytest.approx(spread, abs=1e-4), pytest.approx(slope, abs=1e-4))


def test_fewer_rounds_are_not_judged() -> None:
    found = steady_state(launched(disk=STEADY[:4]))
    assert found.select("rounds", "range", "slope", "steady").rows() == [(4, None, None, None)]
    assert sentence(found) is None


def test_runs_before_the_first_round_do_not_count() -> None:
    assert steady_state(launched("warm-up", disk=STEADY)).is_empty()


def test_sentence_names_what_is_furthest_from_rest() -> None:
    assert sentence(steady_state(launched(disk=STEADY))) == (
        "Over the last 5 rounds 1 of 1 figures are steady (range within 20 %, slope within 10 % of their mean)."
    )
    jumping = (100, 150, 100, 150, 100)
    assert sentence(steady_state(launched(a=STEADY, b=FALLING, c=jumping))) == (
        "Over the last 5 rounds 1 of 3 figures are steady. The furthest from it is bandwidth of write "
        "on c (fill): its range is 42 %, its slope 0 % of the mean, where 20 % and 10 % are allowed."
    )


@pytest.mark.parametrize(
    ("rise", "jump", "furthest"),
    [
        # the rise of a straight line beside a jump to and fro, as shares of the mean: 10 % and 20 % are allowed
        (0.16, 0.30, "line"),
        (0.16, 0.34, "jumps"),
    ],
)
def test_the_furthest_from_rest_is_so_by_its_own_limit(rise: float, jump: float, furthest: str) -> None:
    line = tuple(100 * (1 + rise * step / 4) for step in range(-2, 3))
    jumps = (100.0, 100 + 50 * jump, 100 - 50 * jump, 100 + 50 * jump, 100 - 50 * jump)
    assert f"on {furthest} (fill)" in str(sentence(steady_state(launched(line=line, jumps=jumps))))


def test_table_has_what_is_not_steady_first() -> None:
    table = steady_state_table(steady_state(launched(a=STEADY, b=FALLING)))
    (group,) = table.groups
    assert [(row[0], row[-1]) for row in group.rows] == [("b", "not steady"), ("a", "steady")]
    assert steady_state_table(steady_state(launched(a=STEADY)).filter(pl.lit(value=False))).groups[0].rows == ()
