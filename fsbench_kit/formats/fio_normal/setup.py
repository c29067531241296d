"""Reads what stands before the figures, and what fio says while it runs."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from fsbench_kit.formats.fio_command import COMMAND
from fsbench_kit.formats.fio_normal.builder import Kept
from fsbench_kit.formats.fio_normal.phrases import ALL_CLIENTS, job_name
from fsbench_kit.formats.lexer import UNREAD, Token, unread_figure
from fsbench_kit.model.units import size

if TYPE_CHECKING:
    from fsbench_kit.model.records import Origin

_PROMPT: Final = re.compile(r"[#$%>❯»]\s*$")


class SetUp(Kept):
    """Reads a run's set-up."""

    _read_unread = Kept._not_understood

    def _read_command(self, token: Token) -> None:
        words = token.text.chars[token.start : token.end]
        made = list(COMMAND.read(words, origin=self._origin(token), line=token.line))
        self.is_decimal = any((item.key, item.value) == ("fio.kb_base", "1000") for item in made)
        self.settings += made

    def _origin(self, command: Token) -> Origin:
        """Tell what was typed at a prompt, or stands right before the report, from what a text says was run."""
        chars = command.text.chars
        before = chars[chars.rfind("\n", 0, command.start) + 1 : command.start]
        tokens = self.report.tokens
        follower = tokens[tokens.index(command) + 1 :][:1]
        has_prompt = command["host"] is not None or _PROMPT.search(before) is not None
        return "command" if has_prompt or not follower or follower[0].name != UNREAD else "stated"

    def _read_hello(self, token: Token) -> None:
        self._set("os", token["os"], token)

    def _read_client(self, token: Token) -> None:
        if not self.has_clients:
            self._not_understood(token)

    def _read_header(self, token: Token) -> None:
        name = job_name(token)
        self._set("job_name", name, token, name)
        self._set("pattern", token["pattern"], token, name)
        self._set("block_size", _canonical_sizes(token["sizes"] or ""), token, name)
        self._set("engine", token["engine"], token, name)
        self._set("iodepth", token["iodepth"], token, name)

    def _read_capped(self, token: Token) -> None:
        self.diagnostics.append(
            token.diagnostic("QUALIFIED", "The engine is synchronous: it keeps one request in flight.")
        )

    def _read_started(self, token: Token) -> None:
        self._set("fio.started", " ".join((token["what"] or "").split()), token)

    def _read_layout(self, token: Token) -> None:
        # Cut to MiB, so a command line that states the size knows it better.
        if not any((item.key, item.origin) == ("file_size", "command") for item in self.settings):
            self._set("file_size", str(int(token["size"] or "") * 2**20), token, job_name(token))

    def _read_progress(self, token: Token) -> None:
        self.diagnostics.append(token.diagnostic("PROGRESS", "Momentary figures are not the run's result."))

    def _read_trouble(self, token: Token) -> None:
        self.failed = True
        self.diagnostics.append(token.diagnostic("RUN_FAILED", "fio reports an error."))

    def _read_said(self, token: Token) -> None:
        if unread_figure(token) is not None:
            self.diagnostics.append(
                token.diagnostic("OTHER_TEXT", "fio says more of the run than its report has.")
            )

    def _read_stopped(self, token: Token) -> None:
        self.stopped = True
        self.diagnostics.append(token.diagnostic("RUN_STOPPED", "fio was stopped before the run's end."))

    def _read_threads(self) -> None:
        total = Counter[str]()
        for job in self.jobs:
            if job["jobs"] is not None and job_name(job) != ALL_CLIENTS:
                total[job_name(job)] += int(job["jobs"])
        for name, jobs in total.items():
            self._set("threads", str(jobs), self.jobs[0], name)

    def _block_sizes(self, group: str | None = None, name: str | None = None) -> dict[str, int | None]:
        """Return the block size of each operation of a job, as far as the headers leave no doubt.

        A job's figures may be those of a whole group, in which case they go by the name of its first job.
        """
        if (group, name) not in self.sizes:
            headers = self.headers
            if name is not None:
                others = self.names_of_jobs - {name}
                headers = [h for h in headers if h["group"] == group and job_name(h) not in others]
            known = [one_size(header["sizes"] or "") for header in headers]
            is_clear = bool(known) and all(sizes == known[0] for sizes in known)
            self.sizes[group, name] = known[0] if is_clear else {}
        return self.sizes[group, name]


_SIZE_RANGE: Final = re.compile(r"(\d[\d.]*[kKMGT]?i?B?)-\s*(\d[\d.]*[kKMGT]?i?B?)")
_DECIMAL_SIZE: Final = re.compile(r"[\d.]+[kMGT]B")


def _ranges(sizes: str) -> list[tuple[str, str]]:
    """Return the smallest and largest block size of reads, writes and trims, in bytes where they are exact."""
    return [(_bytes(low), _bytes(high)) for low, high in _SIZE_RANGE.findall(sizes)]


def _bytes(text: str) -> str:
    try:
        return text if _DECIMAL_SIZE.fullmatch(text) else str(size(text))
    except ValueError:
        return text  # "16.2KiB" was rounded


def _canonical_sizes(sizes: str) -> str:
    """Write block sizes as fio's own option ``bs`` would have them, in bytes.

    >>> _canonical_sizes("(R) 128KiB-128KiB, (W) 128KiB-128KiB, (T) 128KiB-128KiB")
    '131072'
    >>> _canonical_sizes("4K-64K/8K-8K")
    '4096-65536,8192'
    """
    words = [low if low == high else f"{low}-{high}" for low, high in _ranges(sizes)]
    return words[0] if len(set(words)) == 1 else ",".join(words) or sizes.strip()


def one_size(sizes: str) -> dict[str, int | None]:
    """Return the block size of each operation, or ``None`` where there are several."""
    one = [int(low) if low == high and low.isdigit() else None for low, high in _ranges(sizes)]
    if len(one) == 1:
        one *= 3
    known = dict(zip(("read", "write", "trim"), one, strict=False))
    known["mixed"] = one[0] if one and len(set(one)) == 1 else None
    return known
