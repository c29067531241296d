"""How the figures and settings of a document are kept."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from fsbench_kit.formats.fio_command import job_option
from fsbench_kit.formats.fio_json.contents import (
    DIRECTIONS,
    amount_of,
    count_of,
    is_sum,
    jobs_of,
    object_,
    text_of,
    version_of,
)
from fsbench_kit.formats.loose_json import Decoded, Number, Object
from fsbench_kit.model.records import Bin, Block, Diagnostic, Measurement, Setting
from fsbench_kit.model.units import size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsbench_kit.formats.text import Text
    from fsbench_kit.formats.totals import Place
    from fsbench_kit.model.units import Rounding


class Kept:
    """What is known of a document, and what was kept of it so far."""

    def __init__(self, text: Text, document: Decoded, start: int | None = None) -> None:
        self.text, self.document = text, document
        self.start = document.start if start is None else start
        self.content = document.content
        self.settings: list[Setting] = []
        self.measurements: list[Measurement] = []
        self.bins: list[Bin] = []
        self.blocks: list[Block] = []
        self.contradictions: list[Diagnostic] = []
        self.over_requests: list[Diagnostic] = []
        self.failures: list[str] = []
        self.depths: dict[str | None, int] = {}
        self.wholes: dict[Place, list[Place]] = defaultdict(list)
        self.is_client = not isinstance(self.content.get("jobs"), list)
        self.jobs = jobs_of(self.content)
        self.version = version_of(self.content)
        self.is_old = self._is_old()

    def _is_old(self) -> bool:
        """Whether it is fio 2.x, whose latencies are in µs and have keys that do not name their unit."""
        if self.version is not None:
            return self.version.startswith(("1.", "2.")) and not self.version.startswith("2.99")
        directions = (object_(job.get(operation)) for job in self.jobs for operation in DIRECTIONS)
        return not any(key.endswith("_ns") for block in directions for key in block)

    def _figure(
        self, place: Mapping[str, Any], block: Object, key: str, metric: str, statistic: str = "value", **how: Any
    ) -> None:
        """Keep a figure, if the block holds it."""
        number = block.get(key)
        if not isinstance(number, Number):
            return
        how = {"unit": "", "rounding": rounding_of(number), "samples": None, "primary": True} | how
        amount = amount_of(number, how["unit"], how["rounding"])
        if amount is None:
            return  # it is named with the numbers that were not read
        number.is_read = True
        self.measurements.append(
            Measurement(
                metric=metric,
                statistic=statistic,
                value=amount.value,
                unit=amount.unit,
                low=amount.low,
                high=amount.high,
                samples=how["samples"],
                text=number.text,
                line=self.text.line(number.position),
                primary=how["primary"],
                **place,
            )
        )

    def diagnostic(self, code: str, message: str, position: int, excerpt: str | None = None) -> Diagnostic:
        """Say something about the document."""
        return Diagnostic(
            code=code,
            message=message,
            line=self.text.line(position),
            start=self.text.byte(self.document.start),
            end=self.text.byte(self.document.end),
            excerpt=excerpt,
        )

    def _options(self, job: Object) -> dict[str, str]:
        """Return the options of a job; those of its own go before the global ones."""
        options = {**object_(self.content.get("global options")), **object_(job.get("job options"))}
        for value in options.values():
            if isinstance(value, Number):
                value.is_read = True
        return {name: text_of(value) for name, value in options.items()}

    def _read_settings(self) -> None:
        """Keep the options: what all jobs share is the run's, the rest is theirs."""
        by_job: dict[str, dict[str, str]] = {}
        names = [text_of(job.get("jobname")) for job in self.jobs]
        for job, name in zip(self.jobs, names, strict=True):
            if name not in by_job and not is_sum(job):
                by_job[name] = self._job_settings(job, name, names.count(name))
        shared = set.intersection(*(set(known.items()) for known in by_job.values())) if by_job else set()
        line = self.text.line(self.document.start)
        for index, (name, known) in enumerate(by_job.items()):
            for key, value in known.items():
                if (key, value) not in shared:
                    self.settings.append(Setting(key=key, value=value, scope="job", part=name, line=line))
                elif index == 0:
                    self.settings.append(Setting(key=key, value=value, line=line))

    def _job_settings(self, job: Object, name: str, times: int) -> dict[str, str]:
        options = self._options(job)
        known = dict(job_option(option, value) for option, value in ({"name": name} | options).items())
        sizes = block_sizes(options)
        if sizes and "block_size" in known:
            each = [str(sizes[operation]) for operation in ("read", "write", "trim")]
            known["block_size"] = each[0] if len(set(each)) == 1 else ",".join(each)
        threads = self._threads(job, times)
        if threads is not None and options:
            known["threads"] = str(threads * times)
        if "desc" in job:
            known["description"] = text_of(job["desc"])
        steady = object_(job.get("steadystate"))
        if steady:
            known["fio.steadystate_attained"] = "true" if count_of(steady.get("attained")) else "false"
            known["fio.steadystate_criterion"] = text_of(steady.get("criterion"))
        return known | self._latency_target(job)

    def _latency_target(self, job: Object) -> dict[str, str]:
        """Return the settings of fio's search for a depth that meets a latency."""
        known = {}
        depth, percentile = job.get("latency_depth"), job.get("latency_percentile")
        for key, per_second in (("target", 10**6 if self.is_old else 10**9), ("window", 10**6)):
            value = count_of(job.get(f"latency_{key}"))
            if value is not None:
                known[f"fio.latency_{key}"] = str(value / per_second) if value else "0"
        if isinstance(percentile, Number) and amount_of(percentile) is not None:
            known["fio.latency_percentile"] = str(float(percentile.text) / 100)
        if isinstance(depth, Number):
            known["fio.latency_depth"] = depth.text
        return known

    def _threads(self, job: Object, times: int) -> int | None:
        """Return how many processes a job's figures are of; `times` is how often its name appears."""
        options = self._options(job)
        numjobs = _numjobs(options)
        is_cut = not self.document.is_whole or self.version is None
        if times == 1 and is_cut and numjobs != 1 and "group_reporting" not in options:
            return None  # its other processes may be cut off
        return 1 if times > 1 else numjobs


def rounding_of(value: object, whole: Rounding = "exact") -> Rounding:
    """Return how a number was shortened: one with a fraction was rounded, a whole one is as its key has it."""
    return "nearest" if re.search(r"[.eE]", text_of(value)) else whole


def _numjobs(options: Mapping[str, str]) -> int | None:
    """Return how many processes a job was asked to have."""
    numjobs = options.get("numjobs", "1") if options else ""
    return int(numjobs) if re.fullmatch(r"[0-9]{1,9}", numjobs) else None


def block_sizes(options: Mapping[str, str]) -> dict[str, int]:
    """Return the block size of each operation, where the options give exactly one.

    >>> block_sizes({"bs": "4k,8k"})
    {'read': 4096, 'write': 8192, 'trim': 8192}
    """
    if options.keys() & {"bssplit", "bsrange", "blocksize_range"}:
        return {}
    words = options.get("bs", options.get("blocksize", "")).split(",")
    try:
        given = [size(word) for word in words]
    except ValueError:
        return {}
    filled = (given + [given[-1]] * 2)[:3]
    known = dict(zip(("read", "write", "trim"), filled, strict=True))
    return known | {"mixed": given[0]} if len(set(filled)) == 1 else known
