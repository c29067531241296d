"""From the records of logs to the frames of a dataset.

What each run is, is a row of facts; what belongs to it are frames, in which it has a number. A run that stands in
several places becomes one, each gets its id, and checks over the columns of all runs at once become diagnostics.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.data.columns import RUN, TooLarge, diagnostics_of, distributions_of, frame_of, series_of
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.deduplication import FoundRun, Remark, merged, same_runs
from fsbench_kit.model.records import Block, Diagnostic, Run
from fsbench_kit.model.schema import MEASUREMENT_KEY, SCHEMAS
from fsbench_kit.model.vocabulary import EITHER_LATENCY, ORIGINS

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from fsbench_kit.data.log import Log


def assemble(logs: Iterable[Log]) -> Dataset:
    """Build the frames from logs.

    A run that stands in several places or formats is one run; see `deduplication`. It is identified by the bytes
    of its most complete print. Where equal bytes recur that tell too little to be known for one run, their ordinal
    tells them apart.
    """
    given = list(logs)
    found = [run for log in given for run in _found_runs(log)]
    frames = _frames(found)
    sets, remarks = same_runs(found, frames.by_name["measurements"])
    runs, frames, more = _merged(found, frames, sets)
    said = [(runs[check.run].source, check.diagnostic) for check in _checks(frames)]
    said += [(log.source, item) for log in given for item in log.records if isinstance(item, Diagnostic)]
    said += [(remark.source, remark.diagnostic) for remark in (*remarks, *more)]
    order = {source: index for index, source in enumerate(dict.fromkeys(log.source for log in given))}
    said.sort(key=lambda item: order[item[0]])
    ids = pl.Series("run_id", _ids(runs), dtype=pl.String)
    belonging = {**frames.by_name, "measurements": _primary_once(frames.by_name["measurements"])}
    return Dataset(
        runs=_runs_frame(runs, ids),
        diagnostics=diagnostics_of(said),
        **{name: frame.select(ids.gather(frame[RUN]), pl.exclude(RUN)) for name, frame in belonging.items()},
    )


def runs_of(log: Log) -> list[list[Run]]:
    """Return the runs of a file in their order, each with all its prints."""
    found = list(_found_runs(log))
    sets, _ = same_runs(found, frame_of("measurements", [record.run.measurements for record in found])[0])
    runs = [sorted((found[number].run for number in numbers), key=lambda run: run.start) for numbers in sets]
    return sorted(runs, key=lambda printed: printed[0].start)


_FACTS: Final = (
    "study",
    "origin",
    "stage",
    "round",
    "order",
    "target",
    "workload",
    "tool_version",
    "filesystem",
    "host",
    "started_at",
    "ended_at",
    "duration",
    "status",
    "exit_code",
    "averaged_over",
)
"""What is known of a run from outside its log."""


def _found_runs(log: Log) -> Iterator[FoundRun]:
    """Yield the runs in a file, each with the blocks that follow it."""
    blocks: dict[int, list[Block]] = {}
    runs: list[Run] = []
    for record in log.records:
        match record:
            case Run():
                runs.append(record)
            case Block():
                blocks.setdefault(len(runs), []).append(record)
    facts = {name: getattr(log, name) for name in _FACTS}
    for number, run in enumerate(runs, 1):
        sha256 = hashlib.sha256(log.data[run.start : run.end]).hexdigest()
        places: set[Hashable] = {("file", log.source, run.start, sha256)}
        if log.study is not None and log.name is not None:
            places.add(("study", log.study, log.name, run.start, sha256))
        yield FoundRun(
            run=run,
            blocks=tuple(blocks.get(number, ())),
            source=log.source,
            sha256=sha256,
            places=frozenset(places),
            facts=facts,
            settings=(*log.settings, *log.filesystem_settings.get(run.filesystem or log.filesystem or "", ())),
        )


@dataclass(frozen=True, slots=True)
class _Frames:
    """What belongs to runs: frames by name, in which runs have numbers, and the numbers too large for these."""

    by_name: Mapping[str, pl.DataFrame]
    too_large: Sequence[TooLarge]

    def renumbered(self, numbers: Sequence[int | None]) -> _Frames:
        """Give each run another number; what belongs to a run without one is left out."""
        new = pl.Series(RUN, numbers, dtype=pl.Int64)
        return _Frames(
            {
                name: frame.with_columns(new.gather(frame[RUN])).drop_nulls(RUN)
                for name, frame in self.by_name.items()
            },
            [item._replace(run=run) for item in self.too_large if (run := numbers[item.run]) is not None],
        )

    def with_others(self, others: _Frames) -> _Frames:
        """Put the frames of other runs among these, in the order of the numbers."""
        return _Frames(
            {
                name: pl.concat([frame, others.by_name[name]]).sort(RUN, maintain_order=True)
                for name, frame in self.by_name.items()
            },
            [*self.too_large, *others.too_large],
        )


def _frames(runs: Sequence[FoundRun]) -> _Frames:
    made = {
        "settings": frame_of("settings", ((*found.run.settings, *found.settings) for found in runs)),
        "measurements": frame_of("measurements", (found.run.measurements for found in runs)),
        "distributions": distributions_of(found.run.bins for found in runs),
    }
    return _Frames(
        {name: frame for name, (frame, _) in made.items()}
        | {"series": series_of([found.blocks for found in runs])},
        [item for _, too_large in made.values() for item in too_large],
    )


def _merged(
    found: Sequence[FoundRun], frames: _Frames, sets: Sequence[Sequence[int]]
) -> tuple[list[FoundRun], _Frames, list[Remark]]:
    """Make one run of each set of records; only what belongs to sets of several is built anew."""
    several = {
        index: merged([found[number] for number in numbers]) for index, numbers in enumerate(sets) if numbers[1:]
    }
    runs = [several[index][0] if index in several else found[numbers[0]] for index, numbers in enumerate(sets)]
    if not several:
        return runs, frames, []
    index_of = {numbers[0]: index for index, numbers in enumerate(sets) if index not in several}
    alone = frames.renumbered([index_of.get(number) for number in range(len(found))])
    made = _frames([run for run, _ in several.values()]).renumbered(list(several))
    return runs, alone.with_others(made), [remark for _, remarks in several.values() for remark in remarks]


def _ids(runs: Sequence[FoundRun]) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for found in runs:
        seen[found.sha256] += 1
        yield f"{found.sha256[:16]}-{seen[found.sha256]}"


def _runs_frame(runs: Sequence[FoundRun], ids: pl.Series) -> pl.DataFrame:
    def either(name: str) -> list[Any]:
        """Return what logs say, or else what is known from outside of them."""
        own = [getattr(found.run, name) for found in runs]
        return [found.facts[name] if value is None else value for value, found in zip(own, runs, strict=True)]

    def clock(name: str) -> list[Any]:
        """Return what the launch says: its clock is one for all runs, and tools print whole seconds."""
        known = [found.facts[name] for found in runs]
        return [
            getattr(found.run, name) if value is None else value for value, found in zip(known, runs, strict=True)
        ]

    columns = {name: [found.facts[name] for found in runs] for name in _FACTS} | {
        "run_id": ids,
        "tool": [found.run.tool for found in runs],
        **{name: either(name) for name in ("tool_version", "filesystem", "host", "exit_code")},
        **{name: clock(name) for name in ("started_at", "ended_at", "duration")},
        "status": [_worst(found.run.status, found.facts["status"]) for found in runs],
        "source": [found.source for found in runs],
        **{name: [getattr(found.run, name) for found in runs] for name in ("start", "end", "line")},
        "sha256": [found.sha256 for found in runs],
    }
    return pl.DataFrame({name: columns[name] for name in SCHEMAS["runs"]}, schema=SCHEMAS["runs"])


def _worst(of_log: str, of_launch: str | None) -> str:
    """Return the worse of what a run's log and its launch say of it."""
    ranks = ["ok", "partial", "failed"]
    return max(of_log, of_launch or "ok", key=ranks.index)


# Checks


@dataclass(frozen=True, slots=True)
class _Check:
    """What a check found about a run."""

    run: int
    diagnostic: Diagnostic


def _checks(frames: _Frames) -> list[_Check]:
    """Check all runs at once, and return what was found, in the order of the runs."""
    settings, measurements = frames.by_name["settings"], frames.by_name["measurements"]
    found = [
        *_uncountable(frames.too_large),
        *_disagreements(settings),
        *_other_jobs(settings, measurements),
        *_unnamed_latencies(measurements),
        *_repeated(measurements),
    ]
    return sorted(found, key=lambda check: check.run)


def _uncountable(numbers: Iterable[TooLarge]) -> Iterator[_Check]:
    """Say of each number once that no column holds it, so that it is unknown."""
    first = {(item.run, item.column, item.number): item for item in reversed(list(numbers))}
    for item in reversed(first.values()):
        message = f"The {item.column.replace('_', ' ')} is too large to be kept, and stays unknown."
        excerpt = str(item.number)
        yield _Check(item.run, Diagnostic(code="UNREAD_FIGURE", message=message, line=item.line, excerpt=excerpt))


def _disagreements(settings: pl.DataFrame) -> Iterator[_Check]:
    """Find settings that are known from several origins which do not agree."""
    place = (RUN, "scope", "part", "key")
    differing = settings.filter(
        pl.col("key") != "command",
        pl.col("origin").n_unique().over(place) > 1,
        pl.col("value").n_unique().over(place) > 1,
    )
    for (_, _, _, key), rows in differing.group_by(place, maintain_order=True):
        known = rows.select("origin", "value", "line").rows()
        origin, value, line = min(known, key=lambda row: ORIGINS.index(row[0]))
        for other_origin, other, _ in known:
            if other != value and other_origin != origin:
                names = _ORIGIN_NAMES[origin], _ORIGIN_NAMES[other_origin]
                message = f"{key} is {value} by the {names[0]}, and {other} by {names[1]}."
                yield _Check(rows[RUN][0], Diagnostic(code="SETTINGS_DISAGREE", message=message, line=line))


_ORIGIN_NAMES: Final = {
    "log": "log",
    "command": "command that ran",
    "environment": "machine's own record",
    "study": "the study's description",
    "name": "the file's name",
    "stated": "what the article states",
}


def _other_jobs(settings: pl.DataFrame, measurements: pl.DataFrame) -> Iterator[_Check]:
    """Find runs of which an article states the command of another job than the log has measurements of."""
    stated = settings.filter(key="job_name", origin="stated").group_by(RUN, maintain_order=True).agg("value")
    jobs = (
        measurements.filter(pl.col("part").is_not_null(), scope="job")
        .group_by(RUN, "part", maintain_order=True)
        .agg(pl.col("line").last())
        .group_by(RUN, maintain_order=True)
        .agg("part", "line")
    )
    for run, names, parts, lines in stated.join(jobs, on=RUN).rows():
        if not set(names) & set(parts):
            names_stated = ", ".join(dict.fromkeys(names))
            message = f"job_name is {', '.join(parts)} by the log, and {names_stated} by what the article states."
            yield _Check(run, Diagnostic(code="SETTINGS_DISAGREE", message=message, line=lines[0]))


def _unnamed_latencies(measurements: pl.DataFrame) -> Iterator[_Check]:
    """Find runs of which neither the log nor another print of it names a latency."""
    unnamed = measurements.filter(metric=EITHER_LATENCY).unique(RUN, keep="first", maintain_order=True)
    for run, line in unnamed.select(RUN, "line").rows():
        message = (
            "Terse output does not say whether its percentiles are of the completion latency or, "
            "with lat_percentiles, of the total one."
        )
        yield _Check(run, Diagnostic(code="UNNAMED_LATENCY", message=message, line=line))


def _repeated(measurements: pl.DataFrame) -> Iterator[_Check]:
    """Find primary measurements that stand for the same thing as an earlier one of their run."""
    key = (RUN, *MEASUREMENT_KEY)
    primary = measurements.filter("primary")
    several = primary.filter(primary.select(key).is_duplicated())
    for _, rows in several.group_by(key, maintain_order=True):
        first, *others = rows.rows(named=True)
        for item in others:
            message = (
                f"{item['metric']} ({item['statistic']}) of {item['operation']} stands twice: "
                f"{first['text']} on line {first['line']}, and {item['text']}."
            )
            diagnostic = Diagnostic(
                code="DUPLICATE_FIGURE", message=message, line=item["line"], excerpt=item["text"]
            )
            yield _Check(item[RUN], diagnostic)


def _primary_once(measurements: pl.DataFrame) -> pl.DataFrame:
    """Let only the first of primary measurements be primary that stand for the same thing."""
    primary = measurements["primary"]
    firsts = measurements.filter(primary).select(RUN, *MEASUREMENT_KEY).is_unique()
    if firsts.all():
        return measurements
    is_first = pl.struct(RUN, "primary", *MEASUREMENT_KEY).is_first_distinct()
    return measurements.with_columns(primary=pl.col("primary") & is_first)
