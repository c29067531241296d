"""Reads logs that begin with a heading and extend to the next one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from fsbench_kit.formats.lexer import UNREAD, Lexer, Token, unread_figure
from fsbench_kit.formats.repairs import without_repeats
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Record


def headed_logs(
    text: Text, lexer: Lexer, read: Callable[[list[Token]], Iterator[Record]], skipped: Collection[str] = ()
) -> Iterator[Record]:
    """Yield the records of each log, and a diagnostic for each figure that is not understood.

    The first phrase of a log must be named ``heading``; phrases that are `skipped` do not belong to any log.
    """
    text, repairs = without_repeats(text)
    yield from repairs
    log: list[Token] = []
    for token in lexer.tokens(text):
        if token.name in skipped:
            continue
        if token.name == "heading" and log:
            yield from read(log)
            log = []
        if token.name == UNREAD or (not log and token.name != "heading"):
            yield from filter(None, [unread_figure(token)])
        else:
            log.append(token)
    if log:
        yield from read(log)
