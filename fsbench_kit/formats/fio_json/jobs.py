"""Reads the figures of a job."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.formats.fio import (
    DEPTHS,
    LATENCIES,
    bin_value,
    depth_bounds,
    has_bin,
    latency_bounds,
    percentile_bounds,
    uncut_share,
)
from fsbench_kit.formats.fio_json.builder import Kept, block_sizes, rounding_of
from fsbench_kit.formats.fio_json.contents import (
    DIRECTIONS,
    amount_of,
    count_of,
    is_sum,
    is_work,
    object_,
    objects,
    text_of,
    work,
)
from fsbench_kit.formats.loose_json import Number, Object
from fsbench_kit.model.records import Bin, Block, Measurement

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.formats.totals import Place

Bounds = tuple[float | None, float | None]

_RANKS: Final = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""The percentiles that fio prints if none are asked for."""

_DEPTH_KEYS: Final = {
    "iodepth_level": DEPTHS["IO depths"],
    "iodepth_submit": DEPTHS["submit"],
    "iodepth_complete": DEPTHS["complete"],
}


class JobReader(Kept):
    """Reads what a document has of each job."""

    def _read_job(self, job: Object, part: str, threads: int | None) -> None:
        place: dict[str, Any] = {"scope": "job", "part": part, "threads": threads, "block_size": None}
        if self.is_client:
            place |= {"scope": "all", "part": None} if is_sum(job) else {"scope": "client"}
        if not is_sum(job):
            self._add_to_wholes(job, (place["scope"], place["part"]))
        options = self._options(job)
        if options.get("iodepth", "").isdecimal():
            self.depths[place["part"]] = int(options["iodepth"])
        sizes = block_sizes(options)
        for operation in DIRECTIONS:
            self._read_direction(
                object_(job.get(operation)),
                place | {"operation": operation, "block_size": sizes.get(operation)},
            )
        sync = object_(job.get("sync"))
        if is_work(sync):
            self._figure(place | {"operation": "sync"}, sync, "total_ios", "operations")
            self._read_latency(object_(sync.get("lat_ns")), place | {"operation": "sync"}, "sync")
        whole = partial(self._figure, place | {"operation": "all"}, job)
        whole("usr_cpu", "cpu_user", unit="%")
        whole("sys_cpu", "cpu_system", unit="%")
        whole("ctx", "context_switches")
        whole("majf", "major_faults")
        whole("minf", "minor_faults")
        whole("total_err", "errors")
        whole("zone_resets", "zone_resets")
        self._note_failure(job)
        self._read_steady_state(object_(job.get("steadystate")), place | {"operation": "all"})
        place = {"scope": place["scope"], "part": place["part"], "operation": "all"}
        for key, metric in _DEPTH_KEYS.items():
            self._read_shares(place | {"metric": metric}, object_(job.get(key)), partial(depth_bounds, metric))
        for key, per_second in (("latency_ns", 10**9), ("latency_us", 10**6), ("latency_ms", 10**3)):
            first = 0 if key == "latency_ns" or (key == "latency_us" and self.is_old) else 1
            buckets = {label: share for label, share in object_(job.get(key)).items() if is_work({"": share})}
            bounds = partial(latency_bounds, per_second=per_second, first=first)
            self._read_shares(place | {"metric": "completion_latency"}, buckets, bounds)

    def _add_to_wholes(self, job: Object, place: Place) -> None:
        host, group = text_of(job.get("hostname")), text_of(job.get("groupid"))
        self.wholes["group", f"{host}/{group}"].append(place)
        self.wholes["all", None].append(place)

    def _note_failure(self, job: Object) -> None:
        name = text_of(job.get("jobname"))
        if text_of(job.get("error")).strip("0"):
            self.failures.append(f"The job {name} ended with error {text_of(job['error'])}.")
        if text_of(job.get("total_err")).strip("0"):
            self.failures.append(f"{text_of(job['total_err'])} requests of the job {name} failed.")

    def _read_steady_state(self, block: Object, place: Object) -> None:
        """Keep the means over the last intervals, one second each, and those intervals as series."""
        data = object_(block.get("data"))
        for key, metric, unit in (
            ("bw", "bandwidth", "B/s"),
            ("iops", "iops", "1/s"),
            ("lat", "latency", "ns"),
        ):
            self._figure(place, data, f"{key}_mean", metric, "steady_mean", unit=unit, rounding="down")
            points = data.get("lat_ns" if key == "lat" else key)
            numbers = [item for item in points if isinstance(item, Number)] if isinstance(points, list) else []
            known = {
                second: (number, amount.value)
                for second, number in enumerate(numbers, 1)
                if (amount := amount_of(number, unit)) is not None
            }
            if not known:
                continue
            for number, _ in known.values():
                number.is_read = True
            self.blocks.append(
                Block(
                    operation="all",
                    metric=metric,
                    statistic="steady",
                    part=place["part"],
                    times=[float(second) for second in known],
                    values=[value for _, value in known.values()],
                    lines=[self.text.line(number.position) for number, _ in known.values()],
                )
            )
        for number in block.values():
            if isinstance(number, Number):
                number.is_read = True  # how the search went; what it found is kept

    def _read_shares(self, place: Object, block: Object, bounds: Callable[[str], Bounds]) -> None:
        for label, number in block.items():
            if not isinstance(number, Number):
                continue
            share = amount_of(number, "%")
            try:
                low, high = bounds(label)
            except ValueError:
                continue  # it is named with the numbers that were not read
            if share is not None:
                number.is_read = True
                line = self.text.line(number.position)
                self.bins.append(Bin(low=low, high=high, share=share.value, line=line, **place))

    def _read_direction(self, block: Object, place: Object) -> None:
        if is_work(work(block)):
            self._read_rates(block, place)
        elif isinstance(block.get("runtime"), Number):
            block["runtime"].is_read = True  # for how long nothing was done
        for kind in ("slat", "clat", "lat"):
            self._read_latency(object_(block.get(f"{kind}_ns", block.get(kind))), place, kind)
        self._read_intervals(block, place, "bandwidth", "KiB/s", ("bw_min", "bw_max", "bw_mean", "bw_dev"))
        self._read_intervals(block, place, "iops", "1/s", ("iops_min", "iops_max", "iops_mean", "iops_stddev"))
        for priority in objects(block.get("prios")):
            self._read_priority(priority, place)

    def _read_rates(self, block: Object, place: Object) -> None:
        figure = partial(self._figure, place, block)
        figure("iops", "iops", unit="1/s", rounding=rounding_of(block.get("iops"), whole="down"))
        has_bytes = "bw_bytes" in block
        figure("bw_bytes", "bandwidth", unit="B/s", rounding="down")
        figure("bw", "bandwidth", unit="KiB/s", rounding="down", primary=not has_bytes)
        if self.is_old and "io_kbytes" not in block:
            figure("io_bytes", "bytes", unit="KiB", rounding="down")
        else:
            figure("io_bytes", "bytes", unit="B")
            figure("io_kbytes", "bytes", unit="KiB", rounding="down", primary=False)
        figure("runtime", "runtime", unit="ms")
        figure("total_ios", "operations")
        figure("short_ios", "short_operations")
        figure("drop_ios", "dropped_operations")

    def _read_priority(self, block: Object, place: Object) -> None:
        """Keep the latencies of the requests of one priority."""
        numbers = [block[key] for key in ("prioclass", "prio", "priohint") if isinstance(block.get(key), Number)]
        for number in numbers:
            number.is_read = True
        place = place | {"part": f"{place['part']}/prio {'/'.join(number.text for number in numbers)}"}
        for kind in ("clat", "lat"):
            self._read_latency(object_(block.get(f"{kind}_ns")), place, kind)

    def _read_intervals(
        self, block: Object, place: Object, metric: str, unit: str, keys: tuple[str, str, str, str]
    ) -> None:
        """Keep the statistics over intervals, if there were any."""
        prefix = keys[0].removesuffix("min")
        if not is_work({key: block.get(key) for key in (*keys, f"{prefix}samples")}):
            return
        if not (self.document.is_whole or self.is_old or f"{prefix}samples" in block):
            return  # cut off before it tells whether these are over intervals
        samples = count_of(block.get(f"{prefix}samples"))
        for key, statistic in zip(keys, ("min", "max", "mean", "stdev"), strict=True):
            rounding = rounding_of(block.get(key), whole="down")
            self._figure(place, block, key, metric, statistic, unit=unit, rounding=rounding, samples=samples)
        if text_of(block.get("bw_agg")) == text_of(block.get("bw_mean")) and self.is_old:
            self._figure(place, block, f"{prefix}agg", metric, "mean", unit=unit, samples=samples, primary=False)
        else:
            self._figure(place, block, f"{prefix}agg", "group_share", unit="%")
            uncut_share(self.measurements)

    def _read_latency(self, block: Object, place: Object, kind: str) -> None:
        if not is_work(block):
            return
        metric, unit = LATENCIES[kind], "us" if self.is_old else "ns"
        samples = count_of(block.get("N"))
        for key, statistic in (("min", "min"), ("max", "max"), ("mean", "mean"), ("stddev", "stdev")):
            # µs were cut from a finer clock, ns are the clock's own
            rounding = rounding_of(block.get(key), whole="down" if self.is_old else "exact")
            self._figure(place, block, key, metric, statistic, unit=unit, rounding=rounding, samples=samples)
        wrong: list[Number] = []
        for rank, number in object_(block.get("percentile")).items():
            value, known = count_of(number), _rank(rank)
            if value is None or known is None:
                continue
            if self._is_bin(value):
                number.is_read = True
                self._percentile(place, metric, known, self._bin_bounds(value), number)
            else:
                wrong.append(number)
                message = f"{number.text} is no value of p{known:g} that fio can print."
                self.contradictions.append(
                    self.diagnostic("UNREAD_FIGURE", message, number.position, f"{rank}: {number.text}")
                )
        self._read_bins(block, place, metric)
        for number in wrong:
            number.is_read = True  # it was named, and its bins had to tell it first

    def _percentile(
        self, place: Object, metric: str, rank: float, bounds: Bounds, number: Number, *, primary: bool = True
    ) -> None:
        low, high = bounds
        per_second = 10**6 if self.is_old else 10**9
        self.measurements.append(
            Measurement(
                metric=metric,
                statistic=f"p{rank:g}",
                value=int(number.text) / per_second if high is not None else None,
                unit="s",
                state="measured" if high is not None else "censored",
                low=low,
                high=high,
                text=number.text,
                line=self.text.line(number.position),
                primary=primary,
                **place,
            )
        )

    def _is_bin(self, value: int) -> bool:
        """Whether a bin has this value in the middle; fio 2.x has printed others."""
        return self.is_old or has_bin(value, value)

    def _bin_bounds(self, value: int) -> Bounds:
        per_second = 10**6 if self.is_old else 10**9
        low, high = percentile_bounds(value, value)
        return low / per_second, high / per_second if high is not None else None

    def _read_bins(self, block: Object, place: Object, metric: str) -> None:
        """Keep the bins, and the percentiles that they make: for figures of their own where fio printed none."""
        bins: list[tuple[int, int, Number]] = []
        named, requests = object_(block.get("bins")), count_of(block.get("N"))
        goes_by_index = "FIO_IO_U_PLAT_BITS" in named  # up to fio 3.0
        for name, number in named.items():
            count = count_of(number)
            if count is None or not re.fullmatch(r"[0-9]{1,19}", name):
                continue
            value = bin_value(int(name)) if goes_by_index else int(name)
            if not self._is_bin(value) or (requests is not None and count > requests):
                continue  # it is named with the numbers that were not read
            number.is_read = True
            if count:
                bins.append((value, count, number))
        of = {key: place[key] for key in ("scope", "part", "operation")}
        for value, count, number in bins:
            low, high = self._bin_bounds(value)
            line = self.text.line(number.position)
            self.bins.append(Bin(metric=metric, low=low, high=high, count=count, line=line, **of))
        total = sum(count for _, count, _ in bins)
        all_read = all(number.is_read for number in named.values() if isinstance(number, Number))
        if bins and requests is not None and total != requests and all_read:
            message = f"The bins count {total} requests of {place['operation']}, and N is {requests}."
            self.contradictions.append(self.diagnostic("FIGURES_DISAGREE", message, bins[0][2].position))
        if not bins or total != requests:
            return
        printed = {
            rank: number.is_read
            for key, number in object_(block.get("percentile")).items()
            if isinstance(number, Number) and (rank := _rank(key)) is not None
        }
        for rank, is_read in (printed or dict.fromkeys(_RANKS, False)).items():
            value, number = _at_rank(bins, Fraction(rank) / 100 * total)
            text = Number(str(value), number.position)
            self._percentile(place, metric, rank, self._bin_bounds(value), text, primary=not is_read)


def _rank(text: str) -> float | None:
    """Return the rank that a percentile's key names; old versions fill their list of percentiles up with 0.00."""
    rank = float(text) if re.fullmatch(r"\d{1,3}(\.\d{1,9})?", text) else 0.0
    return rank if 0 < rank <= 100 else None


def _at_rank(bins: list[tuple[int, int, Number]], rank: Fraction) -> tuple[int, Number]:
    """Return the value of the bin that holds the request of a rank, as fio finds it, and where the bin stands."""
    ordered = sorted(bins, key=lambda item: item[0])
    seen = accumulate(count for _, count, _ in ordered)
    return next(
        (value, number) for (value, _, number), reached in zip(ordered, seen, strict=True) if reached >= rank
    )
