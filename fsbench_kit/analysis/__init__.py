"""From frames to verdicts: which runs are compared, what sets them apart, by how much they differ, how surely.

`comparison` is the engine, and reads like that sentence: `groups`, `design` with `confounders`, `estimation`,
`verdict`, each of which hands down what it found. `geometric_mean` compares over many cells at once.
`metrics` says what is compared, `settings` what has to be equal for it, `reasons` why a row says less than one
might expect. Runs by themselves are the matter of `latency`, `time_series`, `steady_state`,
`variance_components` and `sample_size`.
"""
