"""Frames as charts. All is computed in Polars before a chart is made; a chart only places it.

Text from logs enters a chart as data, where it is drawn and never interpreted. Altair is imported when a chart is
first drawn.

To add a chart, write a module with a function that returns it, and name the function below.
"""

from typing import TYPE_CHECKING

from fsbench_kit.model.lazy import lazily, skip_iri_grammar

if TYPE_CHECKING:
    from fsbench_kit.charts.claims import claimed_sizes
    from fsbench_kit.charts.drawing import save
    from fsbench_kit.charts.forest_plot import forest
    from fsbench_kit.charts.heatmap import ratio_map, ratio_maps
    from fsbench_kit.charts.latency_curves import ecdf, percentiles, percentiles_finding
    from fsbench_kit.charts.multiples import small_multiples
    from fsbench_kit.charts.order import run_order
    from fsbench_kit.charts.replications import replication, replication_plane
    from fsbench_kit.charts.sample_size import runs_needed
    from fsbench_kit.charts.scaling_curves import cpu_cost, scaling, scaling_finding, varied_settings
    from fsbench_kit.charts.time_series import over_time, over_time_finding
    from fsbench_kit.charts.trends import trend_lines
    from fsbench_kit.charts.variance_components import variance_shares

skip_iri_grammar()

__all__ = [
    "claimed_sizes",
    "cpu_cost",
    "ecdf",
    "forest",
    "over_time",
    "over_time_finding",
    "percentiles",
    "percentiles_finding",
    "ratio_map",
    "ratio_maps",
    "replication",
    "replication_plane",
    "run_order",
    "runs_needed",
    "save",
    "scaling",
    "scaling_finding",
    "small_multiples",
    "trend_lines",
    "variance_shares",
    "varied_settings",
]

__getattr__, __dir__ = lazily(__name__)
