"""A table is one content with two renderings: HTML in a notebook, text on a terminal.

All of it is plain text, which may hold names from logs, and is shown as it is, never as markup.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Final, Literal

import polars as pl
import rich.box
import rich.console
import rich.table
from rich.text import Text

from fsbench_kit.tables.messages import NOTHING, marks, text_of
from fsbench_kit.tables.saving import save

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

_LONG: Final = 40
"""Rows from which on a page shows a table in a window of its own."""

_TERMINAL_WIDTH: Final = 160


@dataclass(frozen=True, slots=True)
class Column:
    """A column's head, and on which side its cells stand: words left, figures right."""

    head: str
    justify: Literal["left", "right"] = "left"


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that belong together, such as those of one unit, which `head` names."""

    head: str | None
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """A table that a notebook shows as HTML, and a terminal as text.

    Attributes
    ----------
    caption
        What the table shows.
    columns, groups
        The heads, and the rows under them, with one string for each column.
    footnotes
        Sentences, marked a, b, c, ... in this order.
    """

    caption: str
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    footnotes: tuple[str, ...] = ()

    def frame(self) -> pl.DataFrame:
        """Return the cells as they are shown, with the heads of groups as ``table``; a dash is null."""
        heads = [column.head for column in self.columns]
        names = [head if heads.count(head) == 1 else f"{head} {n}" for n, head in enumerate(heads, 1)]
        rows = [
            (group.head, *(None if cell == NOTHING else cell for cell in row))
            for group in self.groups
            for row in group.rows
        ]
        cells = pl.DataFrame(rows, schema=dict.fromkeys(["table", *names], pl.String), orient="row")
        return cells if any(group.head for group in self.groups) else cells.drop("table")

    def save(self, target: str | PathLike[str]) -> None:
        """Write the table to a file; its ending says how: csv, json, parquet, md or tex.

        Raises
        ------
        RequestError
            If the ending is another one, or the file cannot be written.

        Examples
        --------
        >>> import tempfile, pathlib, fsbench_kit as fsb
        >>> shown = fsb.tables.runs_table(fsb.read("raw_results/published/fio-nvme-2021"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     shown.save(f"{folder}/runs.md")
        ...     print(pathlib.Path(folder, "runs.md").read_text().splitlines()[0])
        **2 runs, 114 figures**
        """
        save(target, self.frame(), self)

    def _repr_html_(self) -> str:
        heads = "".join(_html_cell("th", c.head, c, scope="col") for c in self.columns)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.footnotes)
        height = sum(len(group.rows) for group in self.groups)
        if not height:
            return f"<p>{escape(self.caption)}</p>"
        kind = "table long" if height > _LONG else "table"
        return (
            f'<div class="{kind}" tabindex="0" role="region" aria-label="{escape(self.caption)}">'
            f'<table><caption style="text-align:left">{escape(self.caption)}</caption>'
            f"<thead><tr>{heads}</tr></thead>{''.join(map(self._html_group, self.groups))}</table>"
            + (f'<ol style="list-style-type:lower-alpha">{notes}</ol>' if notes else "")
            + "</div>"
        )

    def _html_group(self, group: Group) -> str:
        head = ""
        if group.head is not None:
            head = (
                f'<tr><th colspan="{len(self.columns)}" scope="rowgroup" style="text-align:left">'
                f"{escape(group.head)}</th></tr>"
            )
        rows = "".join(
            f"<tr>{''.join(_html_cell('td', text, c) for c, text in zip(self.columns, row, strict=True))}</tr>"
            for row in group.rows
        )
        return f"<tbody>{head}{rows}</tbody>"

    def __rich__(self) -> rich.console.Group:
        notes = zip(marks(self.footnotes), self.footnotes, strict=True)
        return rich.console.Group(
            Text(self.caption, style="bold"),
            *(self._rich_group(group) for group in self.groups if group.rows),
            *(Text(f"{mark}  {note}") for mark, note in notes),
        )

    def _rich_group(self, group: Group) -> rich.table.Table:
        title = Text(group.head) if group.head is not None else None
        grid = rich.table.Table(title=title, title_justify="left", box=rich.box.SIMPLE_HEAD)
        for column in self.columns:
            grid.add_column(Text(column.head), justify=column.justify)
        for row in group.rows:
            grid.add_row(*(Text(text) for text in row))
        return grid

    def __repr__(self) -> str:
        text = StringIO()
        # A kernel passes for a terminal with colours, but its notebook is read elsewhere.
        plain = rich.console.Console(file=text, width=_TERMINAL_WIDTH, force_jupyter=False, force_terminal=False)
        plain.print(self)
        return text.getvalue()


def _html_cell(tag: str, text: str, column: Column, **attributes: str) -> str:
    # The alignment stands in the cell because JupyterLab's own style would override a class.
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    wrap = ";white-space:nowrap" if column.justify == "right" else ""
    return f'<{tag}{more} style="text-align:{column.justify}{wrap}">{escape(text)}</{tag}>'


def table(frame: pl.DataFrame, caption: str, *, heads: Mapping[str, str] | None = None) -> Table:
    """Make a table of any frame; null is shown as a dash.

    Parameters
    ----------
    heads
        Column -> head, where a column's name with its underscores as blanks does not do.
    """
    heads = heads or {}
    columns = tuple(
        Column(heads.get(name, name.replace("_", " ")), "right" if dtype.is_numeric() else "left")
        for name, dtype in frame.schema.items()
    )
    rows = tuple(tuple(text_of(value) for value in row) for row in frame.rows())
    return Table(caption, columns, (Group(None, rows),))
