"""Frames as charts. All is computed in Polars before a chart is made; a chart only places it.

Text from logs enters a chart as data, where it is drawn and never interpreted.
"""

from fsbench_kit.charts.claims import claimed_sizes
from fsbench_kit.charts.cost import cpu_cost
from fsbench_kit.charts.drawing import save
from fsbench_kit.charts.forest import forest
from fsbench_kit.charts.heatmap import rate_map, ratio_map, ratio_maps
from fsbench_kit.charts.order import run_order
from fsbench_kit.charts.percentiles import ecdf, percentiles, percentiles_finding
from fsbench_kit.charts.replication import replication
from fsbench_kit.charts.sample_size import runs_needed
from fsbench_kit.charts.scaling import scaling
from fsbench_kit.charts.style import MOST_ROWS, colour_scale
from fsbench_kit.charts.time_series import over_time, over_time_finding
from fsbench_kit.charts.variance_components import noise_budget

__all__ = [
    "MOST_ROWS",
    "claimed_sizes",
    "colour_scale",
    "cpu_cost",
    "ecdf",
    "forest",
    "noise_budget",
    "over_time",
    "over_time_finding",
    "percentiles",
    "percentiles_finding",
    "rate_map",
    "ratio_map",
    "ratio_maps",
    "replication",
    "run_order",
    "runs_needed",
    "save",
    "scaling",
]
