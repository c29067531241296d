"""What a file became, line by line."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fsbench_kit.data.explain import Stretch

_EXPLANATION_WIDTH: Final = 100


def explanation(source: str, stretches: Iterable[Stretch]) -> Iterator[str]:
    """Yield the lines that show what a file became: its line numbers, the number of the run, text, and meaning.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fsbench_kit.data.explain import explain
    >>> log = Path("raw_results/published/sysbench-rhel72/seqwr-xfs.txt")
    >>> for line in list(explanation(log.name, explain(log.read_bytes(), log.name)))[:4]:
    ...     print(line)
    seqwr-xfs.txt
         line  run
            1    1  [root@host01 mysqldata]# sysbench--test= … -mode=seqwr--file-extra-flags=direct run
                  → run 1: sysbench 0.5, read as sysbench, lines 1 to 73, ok
    """
    yield source
    yield f"{'line':>9}  run"
    for stretch in stretches:
        lines = f"{stretch.first}" if stretch.first == stretch.last else f"{stretch.first}-{stretch.last}"
        head = f"{lines:>9}  {stretch.run or '':>3}  "
        nothing = f"  ({stretch.nothing})" if stretch.nothing else ""
        yield head + _shortened(stretch.text, _EXPLANATION_WIDTH - len(head) - len(nothing)) + nothing
        for words in stretch.became:
            yield from textwrap.wrap(
                words, _EXPLANATION_WIDTH, initial_indent=" " * 14 + "→ ", subsequent_indent=" " * 16
            )


def _shortened(text: str, width: int) -> str:
    """Cut out the middle of a text that is too long."""
    if len(text) <= width:
        return text
    kept = (width - 3) // 2
    return f"{text[:kept]} … {text[-kept:]}"
