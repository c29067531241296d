"""How many runs are enough, as a chart."""

import vl_convert

from fsbench_kit import charts
from fsbench_kit.analysis.sample_size import widths
from tests.charts.specs import heading_of, spec_of


def test_runs_needed_says_how_many_are_enough() -> None:
    chart = charts.runs_needed(widths([0.02, 0.05, 0.2]))
    spec = spec_of(chart)
    heading = heading_of(spec).replace("\N{NO-BREAK SPACE}", " ")
    # 3 and 10 runs by Student's planning; at 20 % it takes 131, more than are shown
    assert "3 runs per group if runs vary by 2 %, 10 runs per group if runs vary by 5 %" in heading
    assert "20 %" not in heading
    assert len(vl_convert.vegalite_to_svg(spec)) > 1000
