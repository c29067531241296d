"""Two reports side by side: which effects changed, which are new, and which are gone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.model.errors import RequestError
from fsbench_kit.notebooks import load
from fsbench_kit.notebooks.display import EFFECTS_MIME
from fsbench_kit.report.figures import outputs
from fsbench_kit.report.page import policy, script, templates
from fsbench_kit.tables import Column, Group, Table, counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE: Final = "against.html"

_SCHEMA: Final = dict.fromkeys(("page", "key", "effect", "shown", "verdict"), pl.String) | dict.fromkeys(
    ("ci_low", "ci_high"), pl.Float64
)


def against(site: Path, other: Path, old: pl.DataFrame) -> Table:
    """Return what sets a report apart from another: effects that changed, that are new, and that are gone.

    An effect has changed if its verdict is different, or if its two intervals do not overlap.
    Effects are those of pages of one name, and are known by what they measure. What their study is called counts
    only where several measure the same.

    Parameters
    ----------
    site
        The folder of the new report.
    other
        That of the old one.
    old
        What `effects_in` found in it.

    Raises
    ------
    RequestError
        If the new one has no effects.
    """
    new = effects_in(site)
    both = new.join(old, on=["page", "key"], how="inner", suffix="_old", maintain_order="left")
    apart = (pl.col("ci_low") > pl.col("ci_high_old")) | (pl.col("ci_high") < pl.col("ci_low_old"))
    changed = both.filter((pl.col("verdict") != pl.col("verdict_old")) | apart.fill_null(value=False))
    added = new.join(old, on=["page", "key"], how="anti", maintain_order="left")
    gone = old.join(new, on=["page", "key"], how="anti", maintain_order="left")
    groups = (
        Group("Changed", tuple(changed.select("page", "effect", "shown_old", "shown").iter_rows())),
        Group("New", tuple(added.select("page", "effect", pl.lit("–"), "shown").iter_rows())),
        Group("Gone", tuple(gone.select("page", "effect", "shown", pl.lit("–").alias("now")).iter_rows())),
    )
    counts = f"{changed.height} changed; {added.height} new, {gone.height} gone"
    caption = f"Against {other}: of {counted(both.height, 'effect')} in both, {counts}."
    heads = ("page", "effect", "before", "now")
    return Table(caption, tuple(map(Column, heads)), tuple(group for group in groups if group.rows))


def effects_in(site: Path) -> pl.DataFrame:
    """Return the effects of all pages of a report.

    Raises
    ------
    RequestError
        If the folder has no report, or its pages keep no effects.
    """
    notebooks = sorted((site / "notebooks").glob("*.ipynb")) if (site / "manifests").is_dir() else []
    if not notebooks:
        raise RequestError(
            f"there is no report in {site}",
            hint="Name the folder of an earlier report, such as fsbench report old/ --to reports-old makes it.",
        )
    rows = [{"page": path.stem} | row for path in notebooks for row in _of_notebook(path)]
    if not rows:
        raise RequestError(
            f"the report in {site} compares nothing",
            hint="An earlier version of fsbench_kit may have made it: make it again from its logs.",
        )
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row").unique(
        ["page", "key"], keep="first", maintain_order=True
    )


def _of_notebook(path: Path) -> Iterator[dict[str, Any]]:
    for data in outputs(load(path)):
        for row in data.get(EFFECTS_MIME, []):
            yield row | {"key": json.dumps(row["key"], sort_keys=True)}


def render_against(table: Table, title: str) -> str:
    """Write the page of two reports side by side."""
    sorting = script("page/tables.js")
    template = templates().get_template("against.html.j2")
    return template.render(title=title, table=table._repr_html_(), policy=policy(sorting), sorting=sorting)
