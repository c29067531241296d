"""Tables as files: data for programs, and Markdown or LaTeX for people.

To add a format, write a function and enter it in `WRITERS`; one that only has data goes to `data.tabular`.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

from fsbench_kit.data import tabular
from fsbench_kit.data.files import path_given
from fsbench_kit.tables.messages import marks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike
    from pathlib import Path

    import polars as pl

    from fsbench_kit.tables.layout import Group, Table

    Writer: TypeAlias = Callable[[pl.DataFrame, Sequence[Table], Path], None]


def save(target: str | PathLike[str], frame: pl.DataFrame, *tables: Table) -> None:
    """Write what is known to a file: all of it for programs, or as it is shown to people.

    Parameters
    ----------
    target
        Where to. Its ending says how: one of `WRITERS`.
    frame
        What formats for programs write.
    *tables
        What formats for people write.

    Raises
    ------
    RequestError
        If the ending is another one, or the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fsbench_kit as fsb
    >>> runs = fsb.tables.runs_table(fsb.read("raw_results/published/fio-nvme-2021"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/runs.csv", runs.frame(), runs)
    ...     print(pathlib.Path(folder, "runs.csv").read_text().splitlines()[0])
    study,origin,tool,version,filesystem,runs,failed or partial,figures
    """
    path = path_given(target)
    tabular.check_ending(path, WRITERS)
    with tabular.writing(path):
        WRITERS[path.suffix](frame, tables, path)


def markdown(table: Table) -> str:
    r"""Return a table as Markdown, as GitHub and Jupyter show it.

    Examples
    --------
    >>> from fsbench_kit.tables.layout import Column, Group, Table
    >>> print(markdown(Table("Rates", (Column("fs"), Column("IOPS", "right")), (Group(None, (("a|b", "7"),)),))))
    **Rates**
    <BLANKLINE>
    | fs | IOPS |
    | :-- | --: |
    | a\|b | 7 |
    """
    return "\n".join(_markdown_lines(table))


def _markdown_lines(table: Table) -> Iterator[str]:
    yield f"**{_of_markdown(table.caption)}**"
    for group in _shown(table):
        yield ""
        if group.head is not None:
            yield from (_of_markdown(group.head), "")
        yield _row(_of_markdown(column.head) for column in table.columns)
        yield _row("--:" if column.justify == "right" else ":--" for column in table.columns)
        yield from (_row(map(_of_markdown, row)) for row in group.rows)
    for line in table.legend:
        yield from ("", _of_markdown(line))
    if table.footnotes:
        yield ""
        for mark, note in zip(marks(table.footnotes), table.footnotes, strict=True):
            yield f"- {mark}: {_of_markdown(note)}"


def _row(cells: Iterator[str] | map[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _of_markdown(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\`*_<|" else letter for letter in text)


def latex(table: Table) -> str:
    r"""Return a table as LaTeX, to be included where the booktabs package is loaded.

    Examples
    --------
    >>> from fsbench_kit.tables.layout import Column, Group, Table
    >>> print(latex(Table("Rates", (Column("fs"), Column("%", "right")), (Group(None, (("a_b", "7"),)),))))
    % needs \usepackage{booktabs}
    \begin{table}
    \caption{Rates}
    \begin{tabular}{lr}
    \toprule
    fs & \% \\
    \midrule
    a\_b & 7 \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    return "\n".join(_latex_lines(table))


def _latex_lines(table: Table) -> Iterator[str]:
    width = len(table.columns)
    cells = [row for group in table.groups for row in group.rows]
    is_long = [any(len(row[place]) > _LONG for row in cells) for place in range(width)]
    forms = [_WRAPPED if long else column.justify[0] for column, long in zip(table.columns, is_long, strict=True)]
    heads = [
        table.caption,
        *(column.head for column in table.columns),
        *(group.head or "" for group in table.groups),
    ]
    texts = [*heads, *chain(*cells), *table.legend, *table.footnotes]
    is_latin = all(map(_LATIN.fullmatch, map(_of_latex, texts)))
    yield r"% needs \usepackage{booktabs}" + ("" if is_latin else _OTHER_SCRIPTS)
    yield from (r"\begin{table}", rf"\caption{{{_of_latex(table.caption)}}}")
    yield rf"\begin{{tabular}}{{{''.join(forms)}}}"
    yield from (r"\toprule", _latex_row([column.head for column in table.columns]))
    for group in _shown(table):
        yield r"\midrule"
        if group.head is not None:
            yield rf"\multicolumn{{{width}}}{{l}}{{{_of_latex(group.head)}}} \\"
        yield from map(_latex_row, group.rows)
    yield from (r"\bottomrule", r"\end{tabular}")
    yield from (rf"\par {_of_latex(line)}" for line in table.legend)
    for mark, note in zip(marks(table.footnotes), table.footnotes, strict=True):
        yield rf"\par {mark}: {_of_latex(note)}"
    yield r"\end{table}"


_LONG: Final = 60
"""Longer cells than that are broken into lines."""

_LATIN: Final = re.compile("[\0-\u024f\u2010-\u2027]*")
"""What pdfLaTeX knows without further packages."""

_OTHER_SCRIPTS: Final = (
    ", and XeLaTeX or LuaLaTeX with a font that has its letters: "
    r"\usepackage{fontspec}\setmainfont{Noto Sans CJK SC}"
)

_WRAPPED: Final = r"p{0.5\linewidth}"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_of_latex, cells)) + r" \\"


def _of_latex(text: str) -> str:
    return text.translate(_LATEX)


_LATEX: Final = str.maketrans(
    {
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "[": "{[}",  # at the start of a row it would be an option of the one before
        "]": "{]}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "\N{NO-BREAK SPACE}": "~",
        "\N{EN DASH}": "--",
        "\N{MICRO SIGN}": r"$\mu$",
        "\N{PLUS-MINUS SIGN}": r"$\pm$",
        "\N{MULTIPLICATION SIGN}": r"$\times$",
        "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    }
)


def _shown(table: Table) -> list[Group]:
    return [group for group in table.groups if group.rows]


def _of_data(frame: pl.DataFrame, tables: Sequence[Table], path: Path, *, ending: str) -> None:
    del tables
    tabular.WRITERS[ending](frame, path)


def _of_text(frame: pl.DataFrame, tables: Sequence[Table], path: Path, *, text: Callable[[Table], str]) -> None:
    del frame
    path.write_text("\n\n".join(map(text, tables)) + "\n", encoding="utf-8")


WRITERS: Final[dict[str, Writer]] = {
    **{ending: partial(_of_data, ending=ending) for ending in tabular.WRITERS},
    ".md": partial(_of_text, text=markdown),
    ".tex": partial(_of_text, text=latex),
}
"""Ending -> what writes a frame, or tables made of it, as such a file."""
