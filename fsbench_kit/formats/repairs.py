"""Undoes unambiguous damage that was done to a text by copying."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fsbench_kit.formats.lexer import Token
from fsbench_kit.formats.text import Edit, Text
from fsbench_kit.model.records import Diagnostic


def without_repeats(
    text: Text, may_repeat: Callable[[str], bool] = lambda _: False
) -> tuple[Text, list[Diagnostic]]:
    """Return a text without lines that repeat the line before, and diagnostics about their removal.

    Parameters
    ----------
    text
        The text of one tool's logs.
    may_repeat
        Whether the tool itself can print a line twice. Such a line is only considered a repeat if the most recent
        other line was one, too.
    """
    repeats = list(_repeats(text.chars, may_repeat))
    if not any(char.isdigit() for edit in repeats for char in text.chars[edit.start : edit.end]):
        return text, []
    first = Token("line", text, repeats[0].start, repeats[0].end)
    message = f"{len(repeats)} lines repeat the line before them; each counts once."
    return text.edited(repeats), [first.diagnostic("REPAIRED", message)]


def _repeats(chars: str, may_repeat: Callable[[str], bool]) -> Iterator[Edit]:
    start, last, repeating = 0, "", False
    for line in chars.split("\n"):
        words = line.strip()
        end = min(start + len(line) + 1, len(chars))
        if words and words == last and (repeating or not may_repeat(words)):
            yield Edit(start, end, "")
            repeating, last = True, ""
        else:
            repeating = repeating and (not words or may_repeat(words))
            last = words
        start = end
