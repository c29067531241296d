"""A log's text, which remembers where in its file each character stands."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

EXCERPT_LENGTH = 120


@dataclass(frozen=True)
class Text:
    """Decoded text of a file.

    Attributes
    ----------
    chars
        The text. All positions are indices into it.
    source
        The file's name, for messages.
    encoding
        How the file encodes it, which decides the byte offsets.
    first_byte
        Offset of the first character in the file: the length of a byte order mark, or 0.
    """

    chars: str
    source: str = "<text>"
    encoding: str = "utf-8"
    first_byte: int = 0
    _line_starts: list[int] = field(init=False, repr=False, compare=False)
    _line_bytes: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts, offsets = [0], [self.first_byte]
        # str.splitlines also splits at form feeds and the like, which editors do not count as lines.
        for line in self.chars.split("\n")[:-1]:
            starts.append(starts[-1] + len(line) + 1)
            offsets.append(offsets[-1] + len(f"{line}\n".encode(self.encoding)))
        object.__setattr__(self, "_line_starts", starts)
        object.__setattr__(self, "_line_bytes", offsets)

    def line(self, position: int) -> int:
        """Return the number of the line in which a position stands, counted from 1."""
        return bisect_right(self._line_starts, position)

    def byte(self, position: int) -> int:
        """Return the offset in the file of the character at a position."""
        index = bisect_right(self._line_starts, position) - 1
        head = self.chars[self._line_starts[index] : position]
        return self._line_bytes[index] + len(head.encode(self.encoding))

    def excerpt(self, start: int, end: int) -> str:
        """Return the text between two positions on one line, shortened in its middle if it is long.

        Control characters, which could drive the terminal that shows it, are replaced.
        """
        words = " ".join(self.chars[start:end].split())
        words = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in words)
        if len(words) <= EXCERPT_LENGTH:
            return words
        half = EXCERPT_LENGTH // 2
        return f"{words[:half]} … {words[-half:]}"
