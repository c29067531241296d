"""Runs and everything known about them, as six Polars frames that all other modules work with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from os import PathLike
from typing import Any, Final, TypeVar

import polars as pl

from fsbench_kit.data.files import path_given
from fsbench_kit.data.flat import flat as as_flat
from fsbench_kit.data.summary import summary
from fsbench_kit.data.tabular import keep_logs, sources, write
from fsbench_kit.data.wide import wide as as_wide
from fsbench_kit.data.written import scan_frames, write_frames
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.schema import SCHEMAS, checked

_Frame = TypeVar("_Frame", pl.DataFrame, pl.LazyFrame)

UNMEASURED: Final = pl.col("stage").is_in(["precondition", "warm-up"]).fill_null(value=False)
"""Whether a run was made before the runs that count. Such runs are never compared."""


@dataclass(frozen=True, slots=True, repr=False)
class Dataset:
    """Runs and everything known about them, as six frames.

    Attributes
    ----------
    runs, settings, measurements, distributions, series, diagnostics
        Polars frames; their columns are those of `fsbench_kit.model.schema.SCHEMAS`. Unknown is null.

    Raises
    ------
    RequestError
        If a frame has a missing or unexpected column, or a column of the wrong type; the message names it.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/sysbench-rhel72")
    >>> data
    Dataset: 8 runs of sysbench
      studies        sysbench-rhel72 (8 runs)
      hosts          host01 (4 runs), host02 (4 runs)
      filesystems    ext4 (4 runs), xfs (4 runs)
      status         ok (8 runs)
      settings       192
      measurements   160
      distributions  0
      series         0
      diagnostics    1 warning, 8 notes
    """

    runs: pl.DataFrame
    settings: pl.DataFrame
    measurements: pl.DataFrame
    distributions: pl.DataFrame
    series: pl.DataFrame
    diagnostics: pl.DataFrame

    def __post_init__(self) -> None:
        for name, frame in self.frames.items():
            object.__setattr__(self, name, checked(name, frame))

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """The six frames by name."""
        return {name: getattr(self, name) for name in SCHEMAS}

    def __repr__(self) -> str:
        title, rows = summary(self)
        width = max(map(len, rows))
        return "\n".join([f"Dataset: {title}", *(f"  {name:{width}}  {text}" for name, text in rows.items())])

    def _repr_html_(self) -> str:
        title, rows = summary(self)
        left = 'style="text-align: left"'
        cells = "".join(
            f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(text)}</td></tr>" for name, text in rows.items()
        )
        return f"<table><caption {left}><b>Dataset</b>: {escape(title)}</caption><tbody>{cells}</tbody></table>"

    def filter(self, *predicates: pl.Expr, **constraints: Any) -> Dataset:
        """Keep the runs that satisfy all predicates over `runs`, with everything that belongs to them.

        Diagnostics are kept for the files of those runs.

        Parameters
        ----------
        *predicates, **constraints
            As in `polars.DataFrame.filter`: expressions over the columns of `runs`, or their values by name.

        Examples
        --------
        >>> import fsbench_kit as fsb
        >>> data = fsb.read("raw_results/published/sysbench-rhel72")
        >>> data.filter(filesystem="xfs").runs.height
        4
        """
        return Dataset(**_of_runs(self.frames, predicates, constraints))

    def compare(
        self,
        factor: str = "filesystem",
        baseline: str | None = None,
        *,
        metrics: Sequence[str] | None = None,
        where: Mapping[str, Sequence[str | int | None] | str | int | None] | None = None,
        confidence: float = 0.95,
        margin: float = 1.05,
        include_failed: bool = False,
        all_pairs: bool = False,
        consecutive: bool = False,
    ) -> pl.DataFrame:
        """Compare the runs of each level of a factor with those of a baseline: `fsbench_kit.compare`.

        Examples
        --------
        >>> import fsbench_kit as fsb
        >>> data = fsb.read("raw_results/published/sysbench-rhel72")
        >>> data.compare("filesystem", "ext4", metrics=["iops"]).height
        4
        """
        compared: pl.DataFrame = import_module("fsbench_kit").compare(
            self,
            factor,
            baseline,
            metrics=metrics,
            where=where,
            confidence=confidence,
            margin=margin,
            include_failed=include_failed,
            all_pairs=all_pairs,
            consecutive=consecutive,
        )
        return compared

    def masked(self) -> Dataset:
        """Mask the names of homes, users and hosts, for data to be shared with others.

        This covers the names of this machine, hosts that runs and settings name, and names in paths below
        ``/home`` and in the output of ``uname -a``. Each name has the same mask everywhere, so that hosts stay
        distinct.

        Examples
        --------
        >>> import fsbench_kit as fsb
        >>> data = fsb.read("raw_results/recorded/latency-loop-2026")
        >>> data.masked().runs["host"].unique().to_list()
        ['host']
        """
        mask = import_module("fsbench_kit.data.masking").Mask()
        mask.learn_runs(self.runs, self.settings)
        return Dataset(**mask.frames(self.frames))

    def flat(self, *settings: str) -> pl.DataFrame:
        """Return one row for each measurement, joined with the columns of its run.

        The line of a run is in ``run_line``, that of a measurement in ``line``.

        Parameters
        ----------
        *settings
            Keys of settings that become columns. The value is that of the measurement's part, or else of its run,
            by the strongest origin that states it. If the parts of a run differ, their values are joined.

        Raises
        ------
        RequestError
            If a setting has the same name as a column.

        Examples
        --------
        >>> import fsbench_kit as fsb
        >>> data = fsb.read("raw_results/published/sysbench-rhel72")
        >>> data.flat().height == data.measurements.height
        True
        >>> data.flat("pattern").filter(metric="iops")["pattern"].unique().sort().to_list()
        ['rndrd', 'rndwr', 'seqrd', 'seqwr']
        """
        lazy = {name: frame.lazy() for name, frame in self.frames.items()}
        return as_flat(lazy, settings).collect()

    def wide(self) -> pl.DataFrame:
        """Return one row for each run and operation, with its settings and metrics as columns.

        Returns
        -------
        pl.DataFrame
            The columns of the run; what its measurements are of: ``scope``, ``part``, ``operation``,
            ``block_size``, ``file_size``, ``threads``; a column for each setting (``pattern``, ``iodepth``,
            ``engine``, ...), from the strongest origin that states it; and a column for each metric, such as
            ``iops``, with its statistic unless that is the value itself: ``latency_p99``. It contains only primary
            measurements that have a value. If a setting and a metric share a name, such as ``cpu``, the columns
            are ``cpu_setting`` and ``cpu``.

        Examples
        --------
        >>> import fsbench_kit as fsb
        >>> table = fsb.read("raw_results/published/sysbench-rhel72").wide()
        >>> table.filter(pattern="seqwr", operation="write").select("filesystem", "block_size", "bandwidth").rows()
        [('xfs', 16384, 883823738.88), ('ext4', 16384, 365407764.48)]
        """
        return as_wide(self)

    def to_pandas(self) -> Any:
        """Return the table of `flat` as a pandas DataFrame.

        Raises
        ------
        RequestError
            If pandas or pyarrow is not installed.

        Examples
        --------
        >>> import fsbench_kit as fsb
        >>> fsb.read("raw_results/published/sysbench-rhel72").to_pandas()  # doctest: +SKIP
        """
        try:
            return self.flat().to_pandas()
        except ModuleNotFoundError as error:
            raise RequestError(
                "pandas, or pyarrow which it is filled by, is not installed",
                hint="Install both: pip install pandas pyarrow",
            ) from error

    def write(self, target: str | PathLike[str], *, wide: bool = False) -> None:
        """Write the data to a file or a folder.

        Parameters
        ----------
        target
            ``*.parquet``, ``*.csv`` or ``*.json`` for a single table. A folder, or a name without an ending, for
            the six frames as Parquet files in that folder, which `fsbench_kit.read` reads back unchanged.
        wide
            Whether to write the table of `wide`, with settings and metrics as columns, instead of that of `flat`.

        Raises
        ------
        RequestError
            If the target has another ending, cannot be written or is one of the logs, or is a folder with `wide`.

        Examples
        --------
        >>> import tempfile, fsbench_kit as fsb
        >>> data = fsb.read("raw_results/published/sysbench-rhel72")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data.write(folder)
        ...     fsb.read(folder).runs.equals(data.runs)
        True
        """
        target = path_given(target)
        if target.is_dir() or not target.suffix:
            if wide:
                raise RequestError("six frames are not one wide table", file=target, hint="Give a file: wide.csv")
            write_frames(self.frames, target)
            return
        keep_logs(sources(self.frames), target)
        write(self.wide() if wide else self.flat(), target)


@dataclass(frozen=True, slots=True)
class LazyDataset:
    """The six frames of a dataset on disk as Polars LazyFrames, which read only what is needed.

    Attributes
    ----------
    runs, settings, measurements, distributions, series, diagnostics
        As those of `Dataset`.

    Examples
    --------
    >>> import tempfile, fsbench_kit as fsb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fsb.read("raw_results/published/sysbench-rhel72").write(folder)
    ...     fsb.scan(folder).collect().runs.height
    8
    """

    runs: pl.LazyFrame
    settings: pl.LazyFrame
    measurements: pl.LazyFrame
    distributions: pl.LazyFrame
    series: pl.LazyFrame
    diagnostics: pl.LazyFrame

    @property
    def frames(self) -> dict[str, pl.LazyFrame]:
        """The six frames by name."""
        return {name: getattr(self, name) for name in SCHEMAS}

    def collect(self) -> Dataset:
        """Read all six frames.

        Examples
        --------
        >>> import tempfile, fsbench_kit as fsb
        >>> data = fsb.read("raw_results/published/sysbench-rhel72")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data.write(folder)
        ...     fsb.scan(folder).collect().measurements.equals(data.measurements)
        True
        """
        return Dataset(**{name: frame.collect() for name, frame in self.frames.items()})

    def filter(self, *predicates: pl.Expr, **constraints: Any) -> LazyDataset:
        """Keep the runs that satisfy all predicates over `runs`, and what belongs to them: `Dataset.filter`.

        Examples
        --------
        >>> import tempfile, fsbench_kit as fsb
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fsb.read("raw_results/published/sysbench-rhel72").write(folder)
        ...     fsb.scan(folder).filter(filesystem="xfs").collect().runs.height
        4
        """
        return LazyDataset(**_of_runs(self.frames, predicates, constraints))

    def flat(self, *settings: str) -> pl.LazyFrame:
        """Return one row for each measurement, joined with the columns and settings of its run: `Dataset.flat`.

        Examples
        --------
        >>> import tempfile, fsbench_kit as fsb
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fsb.read("raw_results/published/sysbench-rhel72").write(folder)
        ...     rates = fsb.scan(folder).flat("pattern").filter(metric="iops", pattern="rndrd")
        ...     rates.group_by("filesystem").agg(pl.col("value").median()).sort("filesystem").collect().rows()
        [('ext4', 1159.54), ('xfs', 915.73)]
        """
        return as_flat(self.frames, settings)


def _of_runs(
    frames: Mapping[str, _Frame], predicates: Sequence[pl.Expr], constraints: Mapping[str, Any]
) -> dict[str, _Frame]:
    """Return the runs that satisfy the predicates, what belongs to them and their files' diagnostics."""
    try:
        runs = frames["runs"].filter(*predicates, **constraints)
        runs.lazy().collect_schema()
    except (pl.exceptions.ColumnNotFoundError, pl.exceptions.ComputeError, TypeError) as error:
        what = re.split(r";|\n", str(error), maxsplit=1)[0]
        hint = f"The columns of runs are {', '.join(SCHEMAS['runs'])}."
        raise RequestError(f"cannot filter runs: {what}", hint=hint) from error
    keys = {name: "source" if name == "diagnostics" else "run_id" for name in frames if name != "runs"}
    own = {name: frames[name].join(runs.select(key), on=key, how="semi") for name, key in keys.items()}
    return {"runs": runs, **own}


def scan(folder: str | PathLike[str]) -> LazyDataset:
    """Open a dataset that was written by `Dataset.write` or `ingest`, without reading it.

    Parameters
    ----------
    folder
        The folder of the dataset.

    Raises
    ------
    InputError
        If there is no dataset, or it is unfinished, or one of its files is damaged.

    Examples
    --------
    >>> import tempfile, fsbench_kit as fsb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fsb.read("raw_results/published/sysbench-rhel72").write(folder)
    ...     fsb.scan(folder).measurements.filter(metric="iops").collect().height
    8
    """
    return LazyDataset(**scan_frames(path_given(folder)))
