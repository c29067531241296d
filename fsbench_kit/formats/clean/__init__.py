r"""Reads many logs together: one of each kind is parsed, the others are read by their numbers alone.

Two logs are of one kind if they differ in nothing but their numbers and the blanks that pad them. The first log of
a kind is read by its format's `parse`. It becomes the example of its kind if it consists of exactly one run, and
has no diagnostics except those of the format's cross-checks. Each figure then has a known number in the log and is
printed in a known way (`fsbench_kit.model.records.How`), and in the other logs the same number is read in the same
way, as a column over all of them. This module therefore does not depend on any format, and reads exactly what
`parse` reads:

- Numbers that are not figures (versions, ranks) must be equal to those of the example, except for dates, and for
  settings that the format declares free to differ (`Clean.free`).
- A figure is 0 if and only if it is 0 in the example, because much may depend on that (except for `Clean.zeros`).
- A figure has the unit that it has in the example, unless the format declares what others mean (`Clean.units`), or
  another log has that line (`Clean.lines`).
- The figures of the example are read as a column, too, and must be equal to those of `parse`.
- The cross-checks (`Clean.checks`) are applied to the columns, and must find in the example what `parse` finds.

All other logs are left to `parse`, which reports what is wrong with them; so are logs that are the only ones of
their kind. Examples are remembered, and read along with later logs of their kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, count, groupby
from operator import attrgetter
from typing import Final

from fsbench_kit import formats
from fsbench_kit.formats.clean.declared import Clean, Free
from fsbench_kit.formats.clean.examples import Example, NotOneRunError
from fsbench_kit.formats.clean.frames import CleanLogs, Collector
from fsbench_kit.formats.clean.groups import Group, read_figures
from fsbench_kit.formats.clean.lines import KnownLines, Layout
from fsbench_kit.formats.clean.logs import UNIT, Log, by_place, loaded
from fsbench_kit.formats.clean.numbers import Numbers

__all__ = ["Clean", "CleanLogs", "Free", "read"]


def read(texts: Sequence[str]) -> tuple[CleanLogs | None, list[int]]:
    """Read the logs with the same layout among some texts.

    Parameters
    ----------
    texts
        The contents of whole files.

    Returns
    -------
    tuple
        The logs, or ``None``, and the indices of the texts that were not read.

    Examples
    --------
    >>> read(["XFS is fast."])
    (None, [0])
    """
    if len(texts) < _FEWEST:
        return None, list(range(len(texts)))
    loose = [clean.lines for each in formats.FORMATS if (clean := _clean(each)) is not None and clean.lines]
    logs, numbers, left = loaded(texts)
    kinds: dict[str, list[Log]] = defaultdict(list)
    for log in logs:
        kinds[log.kind].append(log)
    alike: dict[str, list[Log]] = defaultdict(list)
    for kind, some in kinds.items():
        lines = next((each for each in loose if each.sign in kind), None)
        layout = Layout.of(kind, lines) if lines is not None else None
        alike[_plain(kind, layout)] += some if layout is None else [log._replace(layout=layout) for log in some]
    left += [some.pop().at for some in alike.values() if len(some) < _FEWEST]
    alike = {plain: some for plain, some in alike.items() if some}
    groups: list[Group] = []
    remembered = _remembered(alike, numbers)
    for plain, some in alike.items():
        left += _examples([*remembered[plain], *some], numbers, groups)
    collector = Collector()
    for figures in read_figures(groups, numbers) if groups else ():
        read_as, diagnostics, others = figures.as_examples()
        left += others
        if read_as is not None and any(log.at >= 0 for log in read_as.group.logs):
            _remember(read_as.group)
            collector.add(read_as, diagnostics)
    return collector.logs() if collector.has_any else None, sorted(at for at in left if at >= 0)


_FEWEST: Final = 2
"""Columns over a single log cost more than they save."""


def _plain(kind: str, layout: Layout | None) -> str:
    """Return the part of a log that is the same if units differ."""
    return UNIT.sub("\0", kind) if layout is None else layout.plain


_EXAMPLES: Final[dict[str, list[Example]]] = {}
"""Examples from earlier reads, by the common part of their logs."""

_MOST: Final = 128
"""The maximum number of keys, and of examples for each; longer logs are not remembered."""

_LONGEST: Final = 2**14


def _remember(group: Group) -> None:
    """Remember the examples of a group if other logs were read like them."""
    for example in group.examples if len(group.logs) > len(group.examples) else ():
        log = example.log
        if log.at >= 0 and len(log.raw) <= _LONGEST:
            known = _EXAMPLES.setdefault(_plain(log.kind, log.layout), [])
            known.append(example)
            del known[:-_MOST]
    while len(_EXAMPLES) > _MOST:
        del _EXAMPLES[next(iter(_EXAMPLES))]


def _remembered(plains: Iterable[str], numbers: Numbers) -> dict[str, list[Log]]:
    """Return the logs of remembered examples, by their common part, and add their numbers to `numbers`."""
    found = {plain: _EXAMPLES.get(plain, []) for plain in plains}
    texts = tuple(example.log.chars for some in found.values() for example in some)
    firsts = iter(numbers.add(_numbers_of(texts)) if texts else ())
    ats = count(-1, -1)
    return {
        plain: [example.log._replace(at=next(ats), first=next(firsts), example=example) for example in some]
        for plain, some in found.items()
    }


@lru_cache(maxsize=4)
def _numbers_of(texts: tuple[str, ...]) -> Numbers:
    """Return the numbers of examples, mostly of the same ones as for the texts that were read before."""
    return Numbers(texts)


_MOST_FAILURES: Final = 8
_FOR_ANOTHER: Final = 16
"""The maximum number of logs of a kind that fail as examples, and the number of logs that justify another failure.
One that is not a single run uses up half of them, since those like it are hardly single runs either."""


def _examples(logs: list[Log], numbers: Numbers, groups: list[Group]) -> Iterator[int]:
    """Find examples for logs that differ in units at most, and yield the indices of those that have none."""
    owner = _owner(logs[0])
    clean = _clean(owner) if owner is not None else None
    if owner is None or clean is None:
        yield from (log.at for log in logs)
        return
    pending = [logs]
    if not clean.units and not clean.lines:
        pending = [list(some) for _, some in groupby(sorted(logs, key=attrgetter("kind")), attrgetter("kind"))]
    if clean.unplaced is not None:
        pending = [some for logs in pending for some in by_place(logs, numbers, clean.unplaced)]
    most = min(_FEWEST + len(logs) // _FOR_ANOTHER, _MOST_FAILURES)
    failures, start = 0, len(groups)
    of_versions: dict[str | None, KnownLines] = defaultdict(KnownLines)
    while pending:
        some = pending.pop()
        example = None
        try:
            if failures < most or some[0].example is not None:
                example = Example.of(owner, clean, some[0])
        except NotOneRunError:
            failures += most // 2
        if example is None:
            failures += 1
            yield some[0].at
            pending += [some[1:]] * (len(some) > 1)
            continue
        alike, *others = example.sorted(some, numbers)
        known_lines = of_versions[example.run.tool_version]
        if not example.extends(known_lines, numbers):
            yield from (log.at for log in alike)
        elif any(log.at >= 0 for log in alike):
            groups.append(Group([example], known_lines, numbers))
            yield from groups[-1].fill(alike, owner)
        pending += others
    if clean.are_settings_apart:
        groups[start:] = _joined(groups[start:])


def _owner(log: Log) -> formats.Format | None:
    """Return the only format whose signatures occur in a log; it is the same for logs that differ in units."""
    if log.example is not None:
        return log.example.owner
    owners = {id(owner): owner for _, owner in formats.sniff(log.chars)}.values()
    return next(iter(owners)) if len(owners) == 1 else None


def _clean(owner: formats.Format) -> Clean | None:
    return getattr(owner, "CLEAN", None)


def _joined(groups: Iterable[Group]) -> Iterator[Group]:
    """Join groups of logs that differ in settings only."""
    alike: dict[object, list[Group]] = defaultdict(list)
    for group in groups:
        alike[group.examples[0].figures_alone()].append(group)
    for some in alike.values():
        examples = [example for group in some for example in group.examples]
        starts = accumulate((len(group.examples) for group in some), initial=0)
        which = [start + number for start, group in zip(starts, some, strict=False) for number in group.which]
        logs = [log for group in some for log in group.logs]
        yield Group(examples, some[0].known_lines, some[0].numbers, logs, which)
