"""From files to frames: finds logs and studies, merges the prints of a run, and keeps datasets.

`reading.read` returns a `dataset.Dataset` from any input: loose logs, studies (`study`), launched runs
(`launched`), datasets on disk (`written`). `deduplication` decides which records belong to one run; `explain`
shows how each line of a file was read.
"""
