from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.stats

from fsbench_kit.launch.stopping import caution


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
