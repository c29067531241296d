"""The index of a site: what each report found and is about, and the search over that."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsbench_kit.notebooks.display import FACETS
from fsbench_kit.report.against import PAGE
from fsbench_kit.report.page import policy, script, templates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fsbench_kit.notebooks import Manifest
    from fsbench_kit.report.spec import ReportSpec


@dataclass(frozen=True, slots=True)
class Entry:
    """What the index says of a notebook.

    `page` is the link to its report, where it succeeded, and `thumbnail` its first chart, as a PNG in base64.
    """

    title: str
    findings: tuple[str, ...]
    facets: Mapping[str, Sequence[str]]
    manifest: Manifest
    page: str | None
    thumbnail: str | None = None


def render_index(spec: ReportSpec, entries: Sequence[Entry], *, against: bool = False) -> str:
    """Write the index, with a link to what changed since an earlier report if that is known.

    All of it is there without its script, which adds the search.
    """
    search = script("site.js")
    counts = {name: Counter(value for entry in entries for value in entry.facets[name]) for name in FACETS}
    filters = {name: sorted(count.items()) for name, count in counts.items()}
    template = templates().get_template("site.html.j2")
    changes = PAGE if against else None
    return template.render(
        spec=spec, entries=entries, filters=filters, changes=changes, policy=policy(search), script=search
    )
