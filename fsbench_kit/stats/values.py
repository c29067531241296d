"""What may enter: finite values, enough of them, some of them perhaps absent, and a confidence between 0 and 1."""

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
"""Logarithms that agree to so many decimals are equal: no tool prints as finely, and floating point blurs less."""


def ragged(cells: Iterable[Sequence[float]]) -> np.ma.MaskedArray[Any, np.dtype[np.float64]]:
    """Put cells with unequal numbers of runs into one array, whose masked places are no runs.

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
    """Do the same as `ragged` with the values of all cells, one after the other, and how many each cell has."""
    if sizes.size and (sizes == sizes[0]).all():
        return np.ma.MaskedArray(np.asfortranarray(values.reshape(sizes.size, sizes[0])))
    absent = np.arange(sizes.max(initial=0)) >= sizes[:, None]
    dense = np.zeros(absent.shape, order="F")
    dense[~absent] = values
    return np.ma.MaskedArray(dense, mask=absent)


Runs: TypeAlias = "ArrayLike | Sample"
"""Runs of cells: an array, a masked one where some are absent, or a sample that was made of one before."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Values along the last axis, some of which may be absent; the leading axes are cells.

    Attributes
    ----------
    values
        Shape ``(..., n)``; 1 where a value is absent.
    present
        Of the same shape.
    """

    values: Floats
    present: Bools

    def __getitem__(self, cells: NDArray[Any]) -> Sample:
        """Return some of the cells."""
        return Sample(np.asfortranarray(self.values[cells]), np.asfortranarray(self.present[cells]))

    @cached_property
    def n(self) -> Ints:
        """How many values each cell has."""
        n: Ints = self.present.sum(axis=-1)
        return n

    @cached_property
    def is_complete(self) -> bool:
        """Whether no value is absent, which saves numpy most of its time."""
        return bool(self.present.all())

    def total(self, values: Floats) -> Floats:
        """Return the sum over each cell of something that each of its values has."""
        total: Floats = values.sum(axis=-1) if self.is_complete else values.sum(axis=-1, where=self.present)
        return total

    @property
    def without_spread(self) -> Bools:
        """For which cells all values are equal, give or take what floating point adds."""
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
        """Return the logarithms of the ratios to a value of each cell.

        Those of nearly equal values keep all their digits: their difference is exact, and the logarithm of a value
        itself would lose as many digits as the values share.
        """
        reference = reference[..., None]
        beyond = (self.values - reference) / reference
        far = beyond < -0.5  # the difference is no longer exact
        logs = np.log1p(beyond)
        if far.any():
            logs[far] = np.log((self.values / reference)[far])
        return Sample(logs, np.broadcast_to(self.present, logs.shape))

    def greatest(self) -> Floats:
        """Return the greatest of each cell's values, which are positive; next to nothing where it is empty."""
        least = np.finfo(np.float64).tiny
        if self.is_complete:
            return np.asarray(self.values.max(axis=-1, initial=least))
        return np.asarray(self.values.max(axis=-1, where=self.present, initial=least))

    def mean(self) -> Floats:
        """Return the mean of each cell; nan where it is empty."""
        with np.errstate(invalid="ignore"):
            mean: Floats = self.total(self.values) / self.n
        return mean

    def variance(self) -> Floats:
        """Return the variance of each cell, with n - 1; nan where it has fewer than two values."""
        deviations = self.values - self.mean()[..., None]
        with np.errstate(invalid="ignore", divide="ignore"):
            variance: Floats = self.total(np.square(deviations)) / (self.n - 1.0)
        return np.where(self.n > 1, variance, np.nan)


def paired(a: Sample, b: Sample, names: str = "runs") -> Sample:
    """Return the differences b - a of values that stand at the same place; absent where either is.

    Raises
    ------
    ValueError
        If the groups are not equally long.
    """
    n_a, n_b = a.values.shape[-1], b.values.shape[-1]
    if n_a != n_b:
        raise ValueError(f"{n_a} {names} cannot be paired with {n_b}")
    return Sample(b.values - a.values, a.present & b.present)


def by_size(*samples: Sample) -> Iterator[tuple[NDArray[np.intp], list[Floats]]]:
    """Yield the cells that have equally many values, for methods that depend on how many there are.

    Yields
    ------
    cells, dense
        The flat indices of the cells in the broadcast shape of all samples; and of each sample their values,
        shape ``(cells, n)``, none of them absent. They are so few cells that what is made of them stays in the
        processor's cache, which takes half the time.
    """
    shape = np.broadcast_shapes(*(sample.values.shape[:-1] for sample in samples))
    flat = []
    for sample in samples:
        n = sample.values.shape[-1]
        flat.append(Sample(_rows(sample.values, (*shape, n)), _rows(sample.present, (*shape, n))))
    sizes = np.stack([sample.n for sample in flat], axis=-1)
    _, first, kind = np.unique(sizes @ _PLACES[: len(flat)], return_index=True, return_inverse=True)
    for number, size in enumerate(sizes[first]):
        every = np.flatnonzero(kind == number)
        at_once = max(1, _AT_ONCE // max(1, int(size.sum())))
        for start in range(0, every.size, at_once):
            cells = every[start : start + at_once]
            yield cells, [_dense(sample, cells, n) for sample, n in zip(flat, size, strict=True)]


def _dense(sample: Sample, cells: NDArray[np.intp], n: int) -> Floats:
    values = np.ascontiguousarray(sample.values[cells])
    return values if n == values.shape[1] else values[sample.present[cells]].reshape(len(cells), n)


_AT_ONCE: Final = 2**15
"""Values that are worked on at once."""

_PLACES: Final = np.array([1, 2**32])
"""What makes one number of the sizes of two samples."""


def _rows(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    return np.broadcast_to(array, shape).reshape(-1, shape[-1])


def runs(values: Runs, group: str, *, at_least: int) -> Sample:
    """Return runs as a sample, after a check that they are enough and have logarithms.

    Parameters
    ----------
    values
        Shape ``(..., n)``, in any unit. A masked place of a masked array is no run, see `ragged`. What is a sample
        already is returned as it is.
    group
        What to call them in a message.
    at_least
        The smallest n that will do for the array as a whole; cells may still have fewer.

    Raises
    ------
    ValueError
        If they are too few, or as `positive`.
    """
    return _long_enough(_sample(values, group, _HAS_LOGARITHM), group, at_least)


def figures(values: ArrayLike, name: str, *, at_least: int) -> Sample:
    """Return values of any sign as a sample, after a check that they are enough and finite.

    Raises
    ------
    ValueError
        If they are too few, infinite or nan.
    """
    return _long_enough(_sample(values, name, _IS_FINITE), name, at_least)


def positive(values: ArrayLike, name: str) -> Floats:
    """Return values of any shape as an array, after a check that they have logarithms.

    Raises
    ------
    ValueError
        If a value is zero, negative, infinite or nan. Whoever calls decides first why such a value is there;
        a small constant added to a zero would invent a ratio.
    """
    return _sample(values, name, _HAS_LOGARITHM).values


_HAS_LOGARITHM: Final = ("without a logarithm", np.finfo(np.float64).smallest_subnormal)
_IS_FINITE: Final = ("that are not finite", -np.inf)


def _sample(values: Runs, name: str, check: tuple[str, float]) -> Sample:
    if isinstance(values, Sample):
        return values  # which was checked before
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
    # Column by column, so that numpy works along many cells at once, and not along the few runs of each.
    return Sample(np.asarray(np.where(absent, 1.0, array), order="F"), np.asarray(~absent, order="F"))


def _long_enough(sample: Sample, name: str, at_least: int) -> Sample:
    shape = sample.values.shape
    n = shape[-1] if shape else 0
    if n < at_least:
        found = f"has {n} runs" if shape else "is a single number"
        raise ValueError(f"{name} {found}; this method needs at least {at_least} runs along the last axis")
    return sample


def checked_confidence(confidence: float) -> float:
    """Return a confidence, after a check that it lies between 0 and 1.

    Raises
    ------
    RangeError
        If it does not: 95 for 95 % is the usual slip.
    """
    if not _is_between(0, confidence, 1):
        raise RangeError(f"a confidence of {confidence} is not between 0 and 1; write 0.95 for 95 %")
    return confidence


def _is_between(low: float, value: float, high: float) -> bool:
    try:
        return low < value < high
    except TypeError:  # "5%", None
        return False


def checked_log(ratio: float) -> float:
    """Return the logarithm of a factor or margin, after a check that it lies above 1.

    Raises
    ------
    RangeError
        If it does not: 0.05 for 5 % is the usual slip.
    """
    if not _is_between(1, ratio, np.inf):
        raise RangeError(f"a factor of {ratio} is not a number above 1; write 1.05 for 5 %")
    return float(np.log(ratio))
