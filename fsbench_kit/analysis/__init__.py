"""From frames to verdicts: groups of runs, what sets them apart, how much, and how sure that is."""
