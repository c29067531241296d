"""A table is one content with two renderings: HTML in a notebook, text on a terminal.

All of it is plain text, which may hold names from logs, and is shown as it is, never as markup.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from html import escape
from io import StringIO
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Literal

import polars as pl
import rich.console
import rich.table
from rich.cells import cell_len
from rich.text import Text

from fsbench_kit.tables.messages import NOTHING, marks, text_of
from fsbench_kit.tables.saving import latex, save

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

LONG: Final = 40
"""Rows from which on a page shows a table in a window of its own."""
_MOST_SHOWN: Final = 500
"""Of more rows a page or a notebook shows the first; files have all."""

_TERMINAL_WIDTH: Final = 160

TABLE_MIME: Final = "application/vnd.fsbench.table"
"""As what an executed notebook keeps the files that a page offers: ending -> content, in JSON."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's head, and on which side its cells stand: words left, figures right.

    Examples
    --------
    >>> rates = table(pl.DataFrame({"filesystem": ["xfs"], "IOPS": [843]}), "Rates")
    >>> rates.columns == (Column("filesystem"), Column("IOPS", "right"))
    True
    """

    head: str
    justify: Literal["left", "right"] = "left"


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that belong together, such as those of one unit, which `head` names.

    Examples
    --------
    >>> rates = Group("Bandwidth, in MiB/s", (("ext4", "348"), ("xfs", "843")))
    >>> Table("Sequential writes", (Column("fs"), Column("value", "right")), (rates,)).frame().row(0)
    ('Bandwidth, in MiB/s', 'ext4', '348')
    """

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
    legend
        Sentences on what stands in cells, and on what does not.

    Examples
    --------
    >>> columns = (Column("filesystem"), Column("MiB/s", "right"))
    >>> sizes = Table("Writes", columns, (Group(None, (("ext4", "348"), ("xfs", "–"))),))
    >>> print(str(sizes).rstrip())
    Writes
      filesystem  MiB/s
    ───────────────────
      ext4          348
      xfs             –
    >>> sizes.frame().rows()
    [('ext4', '348'), ('xfs', None)]
    """

    caption: str
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    footnotes: tuple[str, ...] = ()
    legend: tuple[str, ...] = ()

    def frame(self) -> pl.DataFrame:
        """Return the cells as they are shown, with the heads of groups as ``table``; a dash is null.

        Examples
        --------
        >>> import fsbench_kit as fsb
        >>> data = fsb.read("raw_results/published/sysbench-rhel72")
        >>> fsb.tables.settings_table(data).frame().columns
        ['kind', 'key', 'value', 'runs', 'known from']
        """
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

    def _repr_mimebundle_(self, **_options: object) -> dict[str, Any]:
        first = self._first()
        shown = {"text/html": self._repr_html_(), "text/plain": repr(first)}
        rows = any(group.rows for group in self.groups)
        files = {"csv": self.frame().write_csv()} if rows else {}
        if rows and first is self:
            files["tex"] = latex(self)
        return shown | ({TABLE_MIME: json.dumps(files, ensure_ascii=False)} if files else {})

    def _repr_html_(self) -> str:
        return self._without_repetition()._first()._as_html()

    def _first(self) -> Table:
        """Return the first rows of each group of a table that is too long for a page."""
        height = sum(len(group.rows) for group in self.groups)
        if height <= _MOST_SHOWN:
            return self
        groups = tuple(
            Group(group.head, group.rows[: _MOST_SHOWN // len(self.groups) + 1]) for group in self.groups
        )
        shown = sum(len(group.rows) for group in groups)
        of_each = " of each part" if len(groups) > 1 else ""
        caption = f"{self.caption}; {shown:,} of {height:,} rows, the first{of_each}"
        return replace(self, caption=caption, groups=groups)

    def _without_repetition(self) -> Table:
        """Return a long table whose caption says what all rows have in common, instead of a column."""
        rows = [row for group in self.groups for row in group.rows]
        if len(rows) <= LONG or len(set(rows)) == 1:
            return self
        alike = [len(set(cells)) == 1 for cells in zip(*rows, strict=True)]
        shared = [f"{c.head} {cell}" for c, cell, same in zip(self.columns, rows[0], alike, strict=True) if same]

        def differing(cells: Iterable[Any]) -> tuple[Any, ...]:
            return tuple(cell for cell, same in zip(cells, alike, strict=True) if not same)

        return replace(
            self,
            caption=f"{self.caption}; in all rows: {', '.join(shared)}" if shared else self.caption,
            columns=differing(self.columns),
            groups=tuple(Group(group.head, tuple(map(differing, group.rows))) for group in self.groups),
        )

    def _as_html(self) -> str:
        heads = "".join(_html_cell("th", c.head, c, scope="col") for c in self.columns)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.footnotes)
        legend = "".join(f"<p>{escape(line)}</p>" for line in self.legend)
        height = sum(len(group.rows) for group in self.groups)
        if not height:
            return f"<p>{escape(self.caption)}</p>"
        kind = "table long" if height > LONG else "table"
        return (
            f'<div class="{kind}" tabindex="0" role="region" aria-label="{escape(self.caption)}">'
            f'<table><caption style="text-align:left">{escape(self.caption)}</caption>'
            f"<thead><tr>{heads}</tr></thead>{''.join(map(self._html_group, self.groups))}</table>"
            + legend
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

    def __rich_console__(
        self, console: rich.console.Console, options: rich.console.ConsoleOptions
    ) -> rich.console.RenderResult:
        del console
        yield Text(self.caption, style="bold")
        rows = [row for group in self.groups for row in group.rows]
        if rows:
            heads = tuple(column.head for column in self.columns)
            columns = list(zip(heads, *rows, strict=True))
            widths = [max(map(cell_len, cells)) for cells in columns]
            words = [max(cell_len(word) for cell in cells for word in cell.split() or [""]) for cells in columns]
            above = self._columns_above(widths, options.max_width)
            widths, words = widths[above:], words[above:]
            gap = 2 if sum(widths) + 2 * len(widths) <= options.max_width else 1
            fitting = _shrunk(widths, words, options.max_width - gap * len(widths))
            yield self._grid([heads[above:]], fitting, gap, style="bold")
            yield Text("─" * (sum(fitting) + gap * len(fitting)))
            for group in self.groups:
                if group.rows:
                    yield from [Text(group.head, style="italic")] if group.head is not None else []
                    for shared, block in _blocks(group, above):
                        yield from [Text(text)] if (text := _with_heads(heads, shared)) else []
                        yield self._grid([row[above:] for row in block], fitting, gap)
            yield Text()
        yield from map(Text, self.legend)
        notes = zip(marks(self.footnotes), self.footnotes, strict=True)
        yield from (Text(f"{mark}  {note}") for mark, note in notes)

    def _columns_above(self, widths: Sequence[int], most: int) -> int:
        """Return how many of the first columns stand above their rows, once for rows that have them in common.

        None do in a table that fits, or that would not fit then, or where few rows have them in common.
        """
        rows = sum(len(group.rows) for group in self.groups)
        for number in range(len(widths)):
            fits = sum(widths[number:]) + len(widths) - number <= most
            if fits and (not number or 3 * sum(1 for g in self.groups for _ in _blocks(g, number)) <= 2 * rows):
                return number
        return 0

    def _grid(
        self, rows: Iterable[tuple[str, ...]], widths: Sequence[int], gap: int, style: str = ""
    ) -> rich.table.Table:
        grid = rich.table.Table(box=None, show_header=False, padding=(0, 0, 0, gap))
        for column, width in zip(self.columns[-len(widths) :], widths, strict=True):
            grid.add_column(justify=column.justify, width=width, style=style, overflow="fold")
        for row in rows:
            grid.add_row(*map(Text, row))
        return grid

    def __repr__(self) -> str:
        text = StringIO()
        # A kernel passes for a terminal with colours, but its notebook is read elsewhere.
        plain = rich.console.Console(file=text, width=_TERMINAL_WIDTH, force_jupyter=False, force_terminal=False)
        plain.print(self)
        return text.getvalue()


def _blocks(group: Group, columns: int) -> Iterator[tuple[tuple[str, ...], Iterator[tuple[str, ...]]]]:
    """Yield rows that follow one another and have their first columns in common, with these."""
    return groupby(group.rows, key=lambda row: row[:columns])


def _with_heads(heads: Sequence[str], cells: Sequence[str]) -> str:
    return ", ".join(f"{head}: {cell}" for head, cell in zip(heads, cells, strict=False) if cell != NOTHING)


def _shrunk(widths: Sequence[int], words: Sequence[int], most: int) -> list[int]:
    """Return widths that fit into a line: the widest columns give way, words as late as possible."""
    fitting = list(widths)
    for _ in range(sum(fitting) - max(most, len(fitting))):
        slack = [width - word for width, word in zip(fitting, words, strict=True)]
        place = max(range(len(fitting)), key=lambda n: (slack[n] > 0, fitting[n]))
        fitting[place] -= 1
    return fitting


def _html_cell(tag: str, text: str, column: Column, **attributes: str) -> str:
    # The alignment stands in the cell because JupyterLab's own style would override a class.
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    wrap = ";white-space:nowrap" if column.justify == "right" else ""
    return f'<{tag}{more} style="text-align:{column.justify}{wrap}">{_breaking(text)}</{tag}>'


def _breaking(text: str) -> str:
    """Escape a text so that a browser breaks paths and lists after their signs, and intervals not at all."""
    if _LONG_WORD.search(text):
        return "<wbr>".join(map(escape, _AFTER_SIGN.split(text)))
    return _INTERVAL.sub(r'<span style="white-space:nowrap">\g<0></span>', escape(text))


_LONG_WORD: Final = re.compile(r"\S{21}")
_AFTER_SIGN: Final = re.compile(r"(?<=[/_,])(?=\S)")
_INTERVAL: Final = re.compile(r"\[[\d.,]+, [\d.,]+\]")


def table(frame: pl.DataFrame, caption: str, *, heads: Mapping[str, str] | None = None) -> Table:
    """Make a table of any frame; null is shown as a dash.

    Parameters
    ----------
    heads
        Column -> head, where a column's name with its underscores as blanks does not do.

    Examples
    --------
    >>> import polars as pl
    >>> print(str(table(pl.DataFrame({"fs": ["ext4", "xfs"], "sync_time": [1.25, None]}), "Syncs")).rstrip())
    Syncs
      fs    sync time
    ─────────────────
      ext4       1.25
      xfs           –
    """
    heads = heads or {}
    columns = tuple(
        Column(heads.get(name, name.replace("_", " ")), "right" if dtype.is_numeric() else "left")
        for name, dtype in frame.schema.items()
    )
    rows = tuple(tuple(text_of(value) for value in row) for row in frame.rows())
    return Table(caption, columns, (Group(None, rows),))
