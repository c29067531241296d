"""From files to frames: opens files, knows studies, finds the same run printed twice, keeps datasets."""
