"""Read filesystem benchmark logs, compare them with honest intervals, publish re-executable reports."""
