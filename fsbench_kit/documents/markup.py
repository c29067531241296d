"""Removes the HTML of web pages around a log: tags and entities."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from fsbench_kit.documents.commands import is_command
from fsbench_kit.formats.text import Edit


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_INLINE: Final = _names(
    "a abbr acronym b bdi bdo big button cite code del dfn em font i img input ins kbd label mark nobr q s samp "
    "small span strike strong sub sup time tt u var wbr"
)
_LINES: Final = _names(
    "address article aside body br caption center colgroup col dd details div dt fieldset figcaption figure "
    "footer form head header hr html iframe legend li link main meta nav noscript option section select summary "
    "tbody textarea tfoot thead title tr"
)
_PARAGRAPHS: Final = _names("blockquote dl h1 h2 h3 h4 h5 h6 ol p pre table ul")
_ELEMENTS: Final = _INLINE | _LINES | _PARAGRAPHS | {"td", "th", "script", "style"}

_IS_HTML: Final = re.compile(
    rf"</(?:{'|'.join(sorted(_ELEMENTS))})\s*>|<(?:br|hr)\s*/?>|<!doctype\s|<(?:pre|html|table|tr|td)[\s>]",
    re.IGNORECASE,
)
_ENTITY: Final = r"(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_MARKUP: Final = re.compile(
    # Each alternative begins with a distinct character, which makes the search fast.
    rf"""<(?: (?P<close>/)?(?P<name>[A-Za-z][A-Za-z0-9]*)(?:[\s/](?:(?:"[^"<]*"|'[^'<]*'|[^<>"'])*|[^<>]*))?>
        | (?P<comment>!--|\?|!) )
    | &(?P<entity>{_ENTITY})""",
    re.VERBOSE,
)
_MARKUP_OR_NEWLINE: Final = re.compile(rf"{_MARKUP.pattern} | \n(?P<newline>)", re.VERBOSE)
_CODE: Final = {
    name: re.compile(rf"<(?P<close>/)?{name}\b", re.IGNORECASE) for name in ("code", "kbd", "samp", "tt")
}
_LONGEST_COMMAND: Final = 4000
_COMMENT_ENDS: Final = {"!--": "-->", "?": ">", "!": ">"}
# Entities that occur in the source of a page, and in a log only if it was copied from there.
_SOURCE_ENTITY: Final = re.compile(r"&(?:nbsp|gt|lt|\#160|\#xa0|\#124|\#60|\#62|\#x3c|\#x3e);", re.IGNORECASE)


def hypertext(chars: str) -> Iterator[Edit]:
    """Remove HTML tags, and insert line breaks and ``|`` where they separate lines and cells.

    Names in angle brackets that are not HTML elements are kept, because fio prints host names like that. A command
    inside a sentence is put in backquotes, which mark where the sentence continues.
    """
    if "<" in chars and _IS_HTML.search(chars) is not None:
        yield from _without_tags(chars)
    elif "&" in chars:
        for match in _SOURCE_ENTITY.finditer(chars):
            yield Edit(match.start(), match.end(), html.unescape(match[0]))


def _without_tags(chars: str) -> Iterator[Edit]:
    position = 0
    in_row = in_preformatted = False
    cells, command_end = 0, -1
    unended: set[str] = set()
    while True:
        # The source of a table row can be wrapped anywhere between its cells.
        is_wrapped = in_row and not in_preformatted
        match = (_MARKUP_OR_NEWLINE if is_wrapped else _MARKUP).search(chars, position)
        if match is None:
            return
        start, position = match.span()
        kind = match.lastgroup
        if kind == "newline":
            yield Edit(start, position, " ")
            continue
        if kind == "entity":
            if (char := _unescaped(match[0])) != match[0]:
                yield Edit(start, position, char)
            continue
        if not _is_tag(match):
            position = start + 1
            continue
        name = (match["name"] or "").lower()
        if kind == "comment":
            end = _COMMENT_ENDS[match["comment"]]
        elif name in {"script", "style"} and not match["close"]:
            end = f"</{name}"
        else:
            in_row = (in_row or name == "tr") and not (name == "table" or (name == "tr" and match["close"]))
            in_preformatted = not match["close"] if name == "pre" else in_preformatted
            cells = 0 if name == "tr" else cells + (name in {"td", "th"} and not match["close"])
            separator = _separator(name, match["close"] is not None, cells, in_row=in_row)
            if name in _CODE and not in_preformatted and not match["close"]:
                command_end = _command_end(name, chars, position)
                separator = "`" if command_end >= 0 else ""
            elif start == command_end:
                separator = "`"
            yield Edit(start, position, separator)
            continue
        found = None if end in unended else re.compile(re.escape(end), re.IGNORECASE).search(chars, position)
        if found is None:
            unended.add(end)  # Not searched again, which keeps the time linear.
            continue
        position = found.end()
        if name:
            position = (chars.find(">", position) + 1) or len(chars)
        yield Edit(start, position, "")


_unescaped: Final = lru_cache(maxsize=2**10)(html.unescape)


def _command_end(element: str, chars: str, start: int) -> int:
    """Return where the element that begins at a position ends, if it contains a command, otherwise -1."""
    tag = _CODE[element].search(chars, start, start + _LONGEST_COMMAND)
    if tag is None or tag["close"] is None:
        return -1
    words = _MARKUP.sub(lambda match: "" if _is_tag(match) else match[0], chars[start : tag.start()])
    return tag.start() if is_command(html.unescape(words)) else -1


def _is_tag(match: re.Match[str]) -> bool:
    return match["comment"] is not None or (match["name"] or "").lower() in _ELEMENTS


def _separator(name: str, is_close: bool, cells: int, *, in_row: bool) -> str:
    if name in {"td", "th"}:
        return " | " if not is_close and cells > 1 else ""
    if name in _PARAGRAPHS and not in_row:
        return "\n\n"
    if name in _LINES and not (is_close and name == "br"):
        return "\n"
    return " " if name in _PARAGRAPHS and name != "pre" else ""
