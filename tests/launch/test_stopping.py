from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.stats

import fsbench_kit as fsb
from fsbench_kit.launch import launch, resume
from fsbench_kit.launch.events import RunEnded
from fsbench_kit.launch.stopping import Precision, Rule, caution
from fsbench_kit.launch.study import find_study
from fsbench_kit.model.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsbench_kit.launch import Event, Plan


@pytest.mark.parametrize("repeats", [2, 3, 4, 5])
def test_caution_says_how_wide_an_interval_will_be(repeats: int) -> None:
    def half_width(n: int) -> str:
        return f"{5 * scipy.stats.t.ppf(0.975, n - 1) / np.sqrt(n):.2g}"

    figures = re.findall(r"([\d.]+) % (?:to either side|with 10)", caution(repeats) or "")
    assert figures == [half_width(repeats), half_width(10)]


def test_rank_test_needs_as_many_as_the_caution_says() -> None:
    five, six = (scipy.stats.wilcoxon(np.arange(1.0, n + 1)).pvalue for n in (5, 6))
    assert five > 0.05 > six
    assert "fewer than 6" in (caution(5) or "")
    assert caution(6) is None


def test_one_repeat_gets_no_interval() -> None:
    assert "no interval" in (caution(1) or "")


# ---- rules


def test_width_rule_goes_on_until_the_widest_interval_is_narrow_enough() -> None:
    rule = Rule.read("half-width 5 %")
    assert rule.decide(seen(1.051), 6, 10) == (10, None)
    rounds, note = rule.decide(seen(1.049), 6, 10)
    assert (rounds, note) == (
        6,
        "After 6 rounds the widest of 2 intervals reaches 4.9 % to either side (x). "
        'That is enough for the rule "half-width 5 %".',
    )


def test_width_rule_says_when_it_was_of_no_use() -> None:
    rounds, note = Rule.read("half-width 5 %").decide(seen(1.2), 10, 10)
    assert rounds == 10
    assert (note or "").endswith('The rule "half-width 5 %" could not end the launch before 10 rounds.')


def test_two_stages_look_once_and_fix_the_number() -> None:
    rule = Rule.read("stein 5%")
    # t and s stay those of the pilot, so that twice the width takes four times the rounds
    assert rule.decide(seen(1.05**2), 5, 50)[0] == 20
    assert rule.decide(seen(1.01), 5, 50)[0] == 5
    rounds, note = rule.decide(seen(1.05**2), 5, 12)
    assert rounds == 12
    assert (note or "").endswith('The rule "stein 5%" takes 20 rounds, more than the plan\'s 12.')


@pytest.mark.parametrize("text", ["half-width 5 %", "stein 5 %"])
def test_without_an_interval_no_rule_ends_a_launch(text: str) -> None:
    rule = Rule.read(text)
    assert rule.decide(Precision(None, None, 0, 3), 5, 10)[0] == 10


def seen(factor: float) -> Precision:
    return Precision(math.log(factor), "x", intervals=2, without=0)


# Of these rates from round to round the interval reaches 4.4 % to either side after 5 rounds, 3.4 % after 6, and
# 2.7 % after 7; judged by 5 rounds, 4.2 % take 6.
# (R: expm1(qt(.975, n-1) * sd(log(x)) / sqrt(n))). Rates in whole bytes add 0.075 %, which makes 4.5 and 3.5 %.
RATES = "2000 2040 1960 2150 2020 2000 2010 2000"

FAKE = """
for word; do case $word in --randseed=*) round=$((${{word#*=}} - 1)) ;; esac; done
case $(readlink target) in *target-slow*) rate=1000 ;; *) rate=$(echo {rates} | cut -d" " -f$round) ;; esac
cat > fio.json <<END
{{"fio version": "fio-3.33", "jobs": [{{"jobname": "random", "error": 0, "job options": {{"rw": "randwrite"}},
"write": {{"io_bytes": $((rate * 4)), "bw_bytes": $rate, "runtime": 4000, "total_ios": 1000}}}}]}}
END
"""


@pytest.fixture
def two_targets(
    make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> Callable[..., Plan]:
    """A plan whose second target is about twice as fast as its first, round by round as `RATES` says."""
    fake_fio(FAKE.format(rates=RATES))
    targets = [{"kind": "directory", "name": name, "directory": "."} for name in ("slow", "fast")]
    return lambda **changes: make_plan(target=targets, workload=[fio], **changes)


@pytest.mark.slow
@pytest.mark.usefixtures("stable_kernel")
@pytest.mark.parametrize(
    ("until", "rounds", "said"),
    [
        (
            "half-width 4 %",
            6,
            "reaches 3.5 % to either side (random: bandwidth of write, fast against slow). That is",
        ),
        ("stein 4.2 %", 6, "After 5 rounds the widest of 1 intervals reaches 4.5 % to either side"),
    ],
)
def test_launch_ends_by_its_rule(
    two_targets: Callable[..., Plan], tmp_path: Path, until: str, rounds: int, said: str
) -> None:
    result = launch(two_targets(repeats=8, until=until), root=tmp_path)
    assert len(result.runs) == 2 * rounds
    assert said in result.notes[-1]
    data = fsb.read(result.folder)
    assert data.settings.filter(key="stopping_rule")["value"].unique().to_list() == [until]
    (footnote,) = fsb.compare(data, "target", "slow")["footnotes"][0]
    assert f'"{until}"' in footnote


@pytest.mark.slow
@pytest.mark.usefixtures("stable_kernel")
@pytest.mark.parametrize(("until", "rounds"), [("half-width 3 %", 7), ("stein 4.2 %", 6)])
def test_launch_that_is_gone_on_with_ends_by_its_rule_all_the_same(
    two_targets: Callable[..., Plan], tmp_path: Path, until: str, rounds: int
) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, RunEnded):
            assert event.failure is None  # with a run less, the rule may end the launch before it is interrupted
            if event.order == 11:  # in the sixth round, well before the end
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        launch(two_targets(repeats=8, until=until), root=tmp_path, study="first", progress=interrupt)
    runs = tmp_path / "raw_results" / "runs"
    assert find_study(runs, None).name == "first"
    resume(root=tmp_path)
    made = sorted((tmp_path / "raw_results" / "runs" / "first").glob("0*"))
    assert len(made) == 2 * rounds
    again = resume("first", root=tmp_path)
    assert again.runs == ()
    assert f'"{until}"' in again.notes[-1]
    with pytest.raises(RequestError, match="no study is unfinished"):
        find_study(runs, None)
    plan = runs / "first" / "plan.toml"
    plan.write_text(plan.read_text().replace(until, "half-width 0.1 %"), encoding="utf-8")
    assert find_study(runs, None).name == "first"  # what was decided by one rule does not hold for another
