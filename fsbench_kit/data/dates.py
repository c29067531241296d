"""Dates in names: of the day of a run, of a session of several runs, or of the run itself."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.model.vocabulary import AT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsbench_kit.data.dataset import Dataset

DATE: Final = (
    r"(?:19|20)\d\d(?:-[01]\d-[0-3]\d|_[01]\d_[0-3]\d|\.[01]\d\.[0-3]\d|[01]\d[0-3]\d)"
    r"(?:[-_T. ]?[0-2]\d(?:[-_:.h]?[0-5]\d){1,2}Z?)?(?!\d)"
)
"""What dates in names look like: the year comes first, and the time of day, if any, last."""


def iso(text: str) -> str:
    """Return a date in ISO 8601 format, with the time of day if there is one; other text is returned unchanged.

    >>> iso("20261103"), iso("2026_11_03"), iso("2026-11-03T14h30"), iso("20261103-143022"), iso("monday")
    ('2026-11-03', '2026-11-03', '2026-11-03 14:30', '2026-11-03 14:30:22', 'monday')
    """
    if not re.fullmatch(DATE, text):
        return text
    digits = re.sub(r"\D", "", text)
    parts = [digits[:4], *(digits[start : start + 2] for start in range(4, len(digits), 2))]
    try:
        datetime(*map(int, parts))  # type: ignore[arg-type]  # local time, as in logs
    except ValueError:
        return text
    return " ".join(filter(None, ("-".join(parts[:3]), ":".join(parts[3:]))))


OTHER_WORDS: Final = ("timestamp", "datetime", "day")
"""Other keys that mean the date."""


def with_time(named: Mapping[str, str | int]) -> dict[str, str | int]:
    """Join a day and a time of day that are separate in a name.

    >>> with_time({"date": "2026-11-03", "time": "14h30", "filesystem": "xfs"})
    {'date': '2026-11-03 14:30', 'filesystem': 'xfs'}
    """
    if "date" not in named or "time" not in named:
        return dict(named)
    joined = iso(f"{named['date']} {named['time']}")
    if not re.match(AT, joined):
        return dict(named)
    return {key: joined if key == "date" else value for key, value in named.items() if key != "time"}


def of_one_run(date: str) -> pl.Expr:
    """Return an expression for dates that are the time of a single run rather than a day or session of several."""
    return pl.col(date).str.contains(AT) & ~pl.col(date).is_duplicated()


def with_times(dataset: Dataset) -> Dataset:
    """Set the start of runs to the time in their names, if it belongs to one run only and the log states none."""
    is_date = dataset.settings["key"] == "date"
    if not is_date.any() or not (is_date := is_date & (dataset.settings["origin"] == "name")).any():
        return dataset
    dates = dataset.settings.filter(is_date)
    runs = dataset.runs.join(dates.select("run_id", "value"), on="run_id", how="left", maintain_order="left")
    unknown = pl.col("started_at").is_null() & pl.col("ended_at").is_null()
    at = pl.col("value").str.pad_end(19, " ").str.replace(r"(:\d\d) {3}$", "$1:00").str.to_datetime(strict=False)
    began = pl.when(unknown & of_one_run("value")).then(at).otherwise("started_at")
    return replace(dataset, runs=runs.with_columns(started_at=began).drop("value"))
