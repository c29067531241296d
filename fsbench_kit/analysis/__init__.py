"""Compares runs: selects them, checks what else differs between them, estimates ratios and gives verdicts.

`comparison` is the engine. Its steps are `groups`, `design` with `confounders`, `estimation` and `verdict`; each
passes its results to the next. `geometric_mean` compares over many cells at once. `metrics` defines what is
compared, `settings` what must be equal for a comparison, and `reasons` why a row says less than expected.
`latency`, `time_series`, `steady_state`, `variance_components` and `sample_size` analyse runs without comparing.
"""
