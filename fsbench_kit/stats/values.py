"""Input checks: finite values, enough of them, possibly some absent, and a confidence between 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from fsbench_kit.model.errors import RangeError
from fsbench_kit.stats.result import Bools, Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray


DECIMALS: Final = 12
"""Logarithms that agree to this many decimals are equal: no tool prints so precisely, and rounding errors are
smaller."""


def ragged(cells: Iterable[Sequence[float]]) -> np.ma.MaskedArray[Any, np.dtype[np.float64]]:
    """Put cells with unequal numbers of runs into one array, in which masked places are not runs.

    Examples
    --------
    >>> ragged([[1.0, 2.0, 3.0], [4.0]])
    masked_array(
      data=[[1.0, 2.0, 3.0],
            [4.0, --, --]],
      mask=[[False, False, False],
            [False,  True,  True]],
      fill_value=1e+20)
    """
    rows = list(cells)
    return padded(np.concatenate([*rows, ()]), np.array([len(row) for row in rows], dtype=np.int64))


def padded(values: Floats, sizes: Ints) -> np.ma.MaskedArray[Any, np.dtype[np.float64]]:
    """Do the same as `ragged`, given the values of all cells one after another and the size of each cell."""
    if sizes.size and (sizes == sizes[0]).all():
        return np.ma.MaskedArray(np.asfortranarray(values.reshape(sizes.size, sizes[0])))
    absent = np.arange(sizes.max(initial=0)) >= sizes[:, None]
    dense = np.zeros(absent.shape, order="F")
    dense[~absent] = values
    return np.ma.MaskedArray(dense, mask=absent)


Runs: TypeAlias = "ArrayLike | Sample"
"""Runs of cells: an array, a masked array if some are absent, or a `Sample` made from one."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Values along the last axis, possibly with some absent; leading axes are cells.

    Attributes
    ----------
    values
        Shape ``(..., n)``; 1 where a value is absent.
    present
        Whether each value is present, in the same shape.
    """

    values: Floats
    present: Bools

    def __getitem__(self, cells: NDArray[Any] | tuple[NDArray[Any] | slice, NDArray[Any] | slice]) -> Sample:
        """Return the selected cells, with their logarithms if these were taken before."""
        some = Sample(np.asfortranarray(self.values[cells]), np.asfortranarray(self.present[cells]))
        if "_logs" in self.__dict__:
            some.__dict__["_logs"] = Sample(np.asfortranarray(self._logs.values[cells]), some.present)
        return some

    @cached_property
    def n(self) -> Ints:
        """The number of values per cell."""
        if self.is_complete:
            return np.full(self.values.shape[:-1], self.values.shape[-1])
        n: Ints = self.present.sum(axis=-1)
        return n

    @cached_property
    def is_complete(self) -> bool:
        """Whether no value is absent, which saves NumPy most of its time."""
        return bool(self.present.all())

    def total(self, values: Floats) -> Floats:
        """Return the sum over each cell of a quantity that is given for each value."""
        total: Floats = values.sum(axis=-1) if self.is_complete else values.sum(axis=-1, where=self.present)
        return total

    @property
    def without_spread(self) -> Bools:
        """Return in which cells all values are equal, apart from floating-point error."""
        if self.is_complete and self.values.shape[-1]:
            most, least = self.values.max(axis=-1), self.values.min(axis=-1)
        else:
            most = self.values.max(axis=-1, where=self.present, initial=-np.inf)
            least = self.values.min(axis=-1, where=self.present, initial=np.inf)
        still: Bools = most - least < 10.0**-DECIMALS
        return still

    def log(self) -> Sample:
        """Return the logarithms."""
        return self._logs

    @cached_property
    def _logs(self) -> Sample:
        return Sample(np.log(self.values), self.present)

    def log_beside(self, reference: Floats) -> Sample:
        """Return the logarithms of the ratios to one reference value per cell.

        Ratios of nearly equal values keep all their digits, because the difference of such values is exact;
        subtracting logarithms would lose as many digits as the values share.
        """
        reference = reference[..., None]
        beyond = self.values - reference
        beyond /= reference
        far = beyond < -0.5  # here the difference is no longer exact
        logs = np.log1p(beyond, out=beyond)
        if far.any():
            logs[far] = np.log((self.values / reference)[far])
        return Sample(logs, np.broadcast_to(self.present, logs.shape))

    def greatest(self) -> Floats:
        """Return the largest value of each cell; values are positive, and an empty cell gives almost 0."""
        least = np.finfo(np.float64).tiny
        if self.is_complete:
            return np.asarray(self.values.max(axis=-1, initial=least))
        return np.asarray(self.values.max(axis=-1, where=self.present, initial=least))

    def mean(self) -> Floats:
        """Return the mean of each cell; nan if it is empty."""
        with np.errstate(invalid="ignore"):
            mean: Floats = self.total(self.values) / self.n
        return mean

    def mean_log(self) -> Floats:
        """Return the mean logarithm of each cell, from one logarithm per cell if floats can hold the products.

        It is not finite if a value has no logarithm, and nan if the cell is empty.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            ends = np.log([self.values.min(initial=1.0), self.values.max(initial=1.0)])
            if (np.abs(ends) * self.values.shape[-1] < _LARGEST_LOG).all():
                mean: Floats = np.log(self.values.prod(axis=-1)) / self.n
                return mean
            return self.log().mean()

    def variance(self) -> Floats:
        """Return the variance of each cell, with n - 1; nan with fewer than two values."""
        deviations = self.values - self.mean()[..., None]
        with np.errstate(invalid="ignore", divide="ignore"):
            variance: Floats = self.total(np.square(deviations, out=deviations)) / (self.n - 1.0)
        return np.where(self.n > 1, variance, np.nan)


_LARGEST_LOG: Final = 700.0
"""The logarithms of floats, and those of their inverses, are smaller."""


def paired(a: Sample, b: Sample, names: str = "runs") -> Sample:
    """Return the differences b - a of values at the same place; absent if either is.

    Raises
    ------
    ValueError
        If the groups have different lengths.
    """
    n_a, n_b = a.values.shape[-1], b.values.shape[-1]
    if n_a != n_b:
        raise ValueError(f"{n_a} {names} cannot be paired with {n_b}")
    return Sample(b.values - a.values, a.present & b.present)


def by_size(*samples: Sample) -> Iterator[tuple[NDArray[np.intp], list[Floats]]]:
    """Yield the cells with equally many values, for methods that depend on this number.

    Yields
    ------
    cells, dense
        The flat indices of the cells in the broadcast shape of all samples; and for each sample the values of
        these cells, shape ``(cells, n)``, none of them absent. Each batch is so small that intermediate results
        stay in the processor's cache, which halves the time.
    """
    shape = np.broadcast_shapes(*(sample.values.shape[:-1] for sample in samples))
    flat = []
    for sample in samples:
        n = sample.values.shape[-1]
        flat.append(Sample(_rows(sample.values, (*shape, n)), _rows(sample.present, (*shape, n))))
    sizes = np.stack([sample.n for sample in flat], axis=-1)
    for size, every in _equal(sizes):
        at_once = max(1, _AT_ONCE // max(1, int(size.sum())))
        for start in range(0, every.size, at_once):
            cells = every[start : start + at_once]
            yield cells, [_dense(sample, cells, n) for sample, n in zip(flat, size, strict=True)]


def _equal(sizes: Ints) -> Iterator[tuple[Ints, NDArray[np.intp]]]:
    """Yield each of the rows that differ, and where it is found."""
    if (sizes == sizes[:1]).all():  # as a rule, and sorting would take as long as the methods
        yield from ((size, np.arange(len(sizes))) for size in sizes[:1])
        return
    _, first, kind = np.unique(sizes @ _PLACES[: sizes.shape[1]], return_index=True, return_inverse=True)
    yield from ((size, np.flatnonzero(kind == number)) for number, size in enumerate(sizes[first]))


def _dense(sample: Sample, cells: NDArray[np.intp], n: int) -> Floats:
    are_neighbours = cells[-1] - cells[0] == cells.size - 1
    some = slice(cells[0], cells[-1] + 1) if are_neighbours else cells
    values = np.ascontiguousarray(sample.values[some])
    return values if n == values.shape[1] else values[sample.present[some]].reshape(cells.size, n)


_AT_ONCE: Final = 2**15
"""The number of values processed at once."""

_PLACES: Final = np.array([1, 2**32])
"""Combines the sizes of two samples into one number."""


def _rows(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    return np.broadcast_to(array, shape).reshape(-1, shape[-1])


def runs(values: Runs, group: str, *, at_least: int) -> Sample:
    """Return runs as a sample, checking that there are enough and that they have logarithms.

    Parameters
    ----------
    values
        Shape ``(..., n)``, in any unit. Masked places are not runs: see `ragged`. A `Sample` is returned
        unchanged.
    group
        The group's name in error messages.
    at_least
        The smallest allowed n for the array as a whole; individual cells may have fewer.

    Raises
    ------
    ValueError
        If there are too few runs, or as in `positive`.
    """
    return _long_enough(_sample(values, group, _HAS_LOGARITHM), group, at_least)


def figures(values: ArrayLike, name: str, *, at_least: int) -> Sample:
    """Return values of any sign as a sample, checking that there are enough and that they are finite.

    Raises
    ------
    ValueError
        If there are too few values, or one is infinite or nan.
    """
    return _long_enough(_sample(values, name, _IS_FINITE), name, at_least)


def positive(values: ArrayLike, name: str) -> Floats:
    """Return values of any shape as an array, checking that they have logarithms.

    Raises
    ------
    ValueError
        If a value is zero, negative, infinite or nan. The caller must decide why such a value is there; adding a
        small constant to a zero would invent a ratio.
    """
    return _sample(values, name, _HAS_LOGARITHM).values


_HAS_LOGARITHM: Final = ("without a logarithm", np.finfo(np.float64).smallest_subnormal)
_IS_FINITE: Final = ("that are not finite", -np.inf)


def _sample(values: Runs, name: str, check: tuple[str, float]) -> Sample:
    if isinstance(values, Sample):
        return values  # already checked
    array = np.asarray(values, dtype=np.float64)
    absent = (
        np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else np.zeros_like(array, np.bool_)
    )
    complaint, least = check
    unusable = ~(np.isfinite(array) & (array >= least)) & ~absent
    if unusable.any():
        first = tuple(int(i) for i in np.argwhere(unusable)[0])
        raise ValueError(
            f"{name} holds {unusable.sum()} values {complaint}, the first is {array[first]} at {first}; "
            "decide first why it is there"
        )
    # Column-major, so that NumPy works along many cells at once instead of along the few runs of each.
    return Sample(np.asarray(np.where(absent, 1.0, array), order="F"), np.asarray(~absent, order="F"))


def _long_enough(sample: Sample, name: str, at_least: int) -> Sample:
    shape = sample.values.shape
    n = shape[-1] if shape else 0
    if n < at_least:
        found = f"has {n} runs" if shape else "is a single number"
        raise ValueError(f"{name} {found}; this method needs at least {at_least} runs along the last axis")
    return sample


def checked_confidence(confidence: float) -> float:
    """Return a confidence level after checking that it lies between 0 and 1.

    Raises
    ------
    RangeError
        If it does not; the usual mistake is 95 for 95 %.
    """
    if not _is_between(0, confidence, 1):
        raise RangeError(f"a confidence of {confidence} is not between 0 and 1; write 0.95 for 95 %")
    return confidence


def _is_between(low: float, value: float, high: float) -> bool:
    try:
        return low < value < high
    except TypeError:  # "5%", None
        return False


def checked_log(ratio: float, name: str = "margin") -> float:
    """Return the logarithm of a margin, or of another ratio, after checking that it is above 1.

    Parameters
    ----------
    name
        What the ratio is called where it is given, for the message.

    Raises
    ------
    RangeError
        If it is not; the usual mistake is 0.05 for 5 %.
    """
    if not _is_between(1, ratio, np.inf):
        raise RangeError(f"a {name} of {ratio} is not a number above 1; write 1.05 for 5 %")
    return float(np.log(ratio))
