"""From files to frames: finds logs and studies, makes one run of what stands in several places, keeps datasets.

`reading.read` gives a `dataset.Dataset` of whatever is named: loose logs, studies (`study`), launched runs
(`launched`), datasets on disk (`written`). `deduplication` says which records are of one run; `explain` shows what
became of each line of a file.
"""
