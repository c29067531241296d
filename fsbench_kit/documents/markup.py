"""Undoes what mails and web pages do to a text that they carry: quoted-printable, tags, entities."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

from fsbench_kit.formats.text import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator

_CODED: Final = re.compile(r"(?:=[0-9A-F]{2}|=[^\S\n]*\n)+")
_NOT_CODED: Final = re.compile(r"=(?![0-9A-F]{2}|[^\S\n]*$)", re.MULTILINE)
# A plain log has none of these; of the last one, which ends a line that was too long, it takes several.
_SIGN_OF_CODING: Final = re.compile(r"=3D|=C2=|=A0|=E2=80|(?:^|[\s>\[])=20$|^[^\n]{70,}=[^\S\n]*$", re.MULTILINE)
_WEAK_SIGNS: Final = 2


def quoted_printable(chars: str) -> Iterator[Edit]:
    """Decode the quoted-printable parts of a mail.

    ``=20`` is a blank in such a part, and the end of ``bs=20`` elsewhere. So a part is what stands between lines
    that have another equals sign than one that codes a character or a line break.
    """
    if not any(sign in chars for sign in ("=3D", "=C2=", "=A0", "=E2=80", "=20\n", "=\n", "= \n")):
        return
    start = 0
    for line in (*_lines_not_coded(chars), (len(chars), len(chars))):
        part_end, next_start = line
        signs = [sign[0] for sign in _SIGN_OF_CODING.finditer(chars, start, part_end)]
        if any(sign.strip(" >[\n").startswith("=") for sign in signs) or len(signs) >= _WEAK_SIGNS:
            for match in _CODED.finditer(chars, start, part_end):
                yield Edit(match.start(), match.end(), _decoded(match[0]))
        start = next_start


def _lines_not_coded(chars: str) -> Iterator[tuple[int, int]]:
    end = 0
    for match in _NOT_CODED.finditer(chars):
        if match.start() < end:
            continue
        start = chars.rfind("\n", end, match.start()) + 1 or end
        end = chars.find("\n", match.start()) + 1 or len(chars)
        yield start, end


def _decoded(coded: str) -> str:
    data = bytes(int(code, 16) for code in re.findall(r"=([0-9A-F]{2})", coded))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


_INLINE: Final = (
    "a|abbr|acronym|b|bdi|bdo|big|button|cite|code|del|dfn|em|font|i|img|input|ins|kbd|label|mark|nobr|q|s|samp|"
    "small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)
_LINES: Final = (
    "address|article|aside|body|br|caption|center|colgroup|col|dd|details|div|dt|fieldset|figcaption|figure|footer|"
    "form|head|header|hr|html|iframe|legend|li|link|main|meta|nav|noscript|option|section|select|summary|tbody|"
    "textarea|tfoot|thead|title|tr"
)
_PARAGRAPHS: Final = "blockquote|dl|h[1-6]|ol|p|pre|table|ul"
_ELEMENTS: Final = f"{_INLINE}|{_LINES}|{_PARAGRAPHS}|td|th|script|style"
_LINE, _PARAGRAPH = re.compile(_LINES), re.compile(_PARAGRAPHS)

_IS_HTML: Final = re.compile(
    rf"</(?:{_ELEMENTS})\s*>|<(?:br|hr)\s*/?>|<!doctype\s|<(?:pre|html|table|tr|td)[\s>]", re.IGNORECASE
)
_ENTITY: Final = r"&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_MARKUP: Final = re.compile(
    rf"""<(?P<close>/)?(?P<name>{_ELEMENTS})(?:[\s/](?:(?:"[^"<]*"|'[^'<]*'|[^<>"'])*|[^<>]*))?>
    | (?P<comment><!--|<\?|<!)
    | (?P<entity>{_ENTITY})
    | (?P<newline>\n)""",
    re.IGNORECASE | re.VERBOSE,
)
_COMMENT_ENDS: Final = {"<!--": "-->", "<?": ">", "<!": ">"}
# Entities that a page's text has, and a log only after it was copied from a page's source.
_SOURCE_ENTITY: Final = re.compile(r"&(?:nbsp|gt|lt|\#160|\#xa0|\#124|\#60|\#62|\#x3c|\#x3e);", re.IGNORECASE)


def hypertext(chars: str) -> Iterator[Edit]:
    """Remove the tags of HTML, and put line breaks and ``|`` where they set lines and cells apart.

    Names in angle brackets that are no elements of HTML stay: fio prints hosts so.
    """
    if "<" in chars and _IS_HTML.search(chars) is not None:
        yield from _without_tags(chars)
    elif "&" in chars:
        for match in _SOURCE_ENTITY.finditer(chars):
            yield Edit(match.start(), match.end(), html.unescape(match[0]))


def _without_tags(chars: str) -> Iterator[Edit]:
    position = 0
    in_row = in_preformatted = False
    cells = 0
    unended: set[str] = set()
    while (match := _MARKUP.search(chars, position)) is not None:
        start, position = match.span()
        name = (match["name"] or "").lower()
        if match["newline"] is not None:
            # The source of a table's row can be broken wherever its cells are.
            if in_row and not in_preformatted:
                yield Edit(start, position, " ")
            continue
        if match["entity"] is not None:
            if (char := html.unescape(match[0])) != match[0]:
                yield Edit(start, position, char)
            continue
        if match["comment"] is not None:
            end = _COMMENT_ENDS[match["comment"]]
        elif name in {"script", "style"} and not match["close"]:
            end = f"</{name}"
        else:
            in_row = (in_row or name == "tr") and not (name == "table" or (name == "tr" and match["close"]))
            in_preformatted = not match["close"] if name == "pre" else in_preformatted
            cells = 0 if name == "tr" else cells + (name in {"td", "th"} and not match["close"])
            yield Edit(start, position, _separator(name, match["close"] is not None, cells, in_row=in_row))
            continue
        found = None if end in unended else re.compile(re.escape(end), re.IGNORECASE).search(chars, position)
        if found is None:
            unended.add(end)  # it is not looked for again, so that the time stays linear
            continue
        position = found.end()
        if name:
            position = (chars.find(">", position) + 1) or len(chars)
        yield Edit(start, position, "")


def _separator(name: str, is_close: bool, cells: int, *, in_row: bool) -> str:
    if name in {"td", "th"}:
        return " | " if not is_close and cells > 1 else ""
    if _PARAGRAPH.fullmatch(name) and not in_row:
        return "\n\n"
    if _LINE.fullmatch(name) and not (is_close and name == "br"):
        return "\n"
    return " " if _PARAGRAPH.fullmatch(name) and name != "pre" else ""
