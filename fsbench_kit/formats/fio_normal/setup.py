"""Reads the text before the figures, and the messages of fio during a run."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from fsbench_kit.formats.fio_command import COMMAND
from fsbench_kit.formats.fio_normal.phrases import ALL_CLIENTS, job_name
from fsbench_kit.formats.fio_normal.sizes import canonical_sizes
from fsbench_kit.formats.fio_normal.state import Readers, State
from fsbench_kit.formats.lexer import UNREAD, Token, unread_figure
from fsbench_kit.model.records import Origin

READERS: Final = Readers()
_PROMPT: Final = re.compile(r"[#$%>❯»]\s*$")


@READERS.of(UNREAD)
def _unread(state: State, token: Token) -> None:
    state.not_understood(token)


@READERS.of("command")
def _command(state: State, token: Token) -> None:
    words = token.text.chars[token.start : token.end]
    made = list(COMMAND.read(words, origin=_origin(state, token), line=token.line))
    is_decimal = any((item.key, item.value) == ("fio.kb_base", "1000") for item in made)
    state.figures.printing = state.figures.printing._replace(is_decimal=is_decimal)
    state.run.settings += made


def _origin(state: State, command: Token) -> Origin:
    """Return whether a command was typed at a prompt or right before the report, or is merely stated in a text."""
    chars = command.text.chars
    before = chars[chars.rfind("\n", 0, command.start) + 1 : command.start]
    tokens = state.report.tokens
    follower = tokens[tokens.index(command) + 1 :][:1]
    has_prompt = command["host"] is not None or _PROMPT.search(before) is not None
    return "command" if has_prompt or not follower or follower[0].name != UNREAD else "stated"


@READERS.of("hello")
def _hello(state: State, token: Token) -> None:
    state.set("os", token["os"], token)


@READERS.of("client")
def _client(state: State, token: Token) -> None:
    if not state.has_clients:
        state.not_understood(token)


@READERS.of("header")
def _header(state: State, token: Token) -> None:
    name = job_name(token)
    state.set("job_name", name, token, name)
    state.set("pattern", token["pattern"], token, name)
    state.set("block_size", canonical_sizes(token["sizes"] or ""), token, name)
    state.set("engine", token["engine"], token, name)
    state.set("iodepth", token["iodepth"], token, name)


@READERS.of("capped")
def _capped(state: State, token: Token) -> None:
    state.say(token, "QUALIFIED", "The engine is synchronous: it keeps one request in flight.")


@READERS.of("started")
def _started(state: State, token: Token) -> None:
    state.set("fio.started", " ".join((token["what"] or "").split()), token)


@READERS.of("layout")
def _layout(state: State, token: Token) -> None:
    # The size is truncated to MiB, so that a command line is more precise.
    if not any((item.key, item.origin) == ("file_size", "command") for item in state.run.settings):
        state.set("file_size", str(int(token["size"] or "") * 2**20), token, job_name(token))


@READERS.of("progress")
def _progress(state: State, token: Token) -> None:
    state.say(token, "PROGRESS", "Momentary figures are not the run's result.")


@READERS.of("trouble")
def _trouble(state: State, token: Token) -> None:
    state.failed = True
    state.say(token, "RUN_FAILED", "fio reports an error.")


@READERS.of("said")
def _said(state: State, token: Token) -> None:
    if unread_figure(token) is not None:
        state.say(token, "OTHER_TEXT", "fio says more about the run than its report contains.")


@READERS.of("stopped")
def _stopped(state: State, token: Token) -> None:
    state.stopped = True
    state.say(token, "RUN_STOPPED", "fio was stopped before the run's end.")


def read_threads(state: State) -> None:
    """Set the number of processes of each job from the job lines."""
    total = Counter[str]()
    for job in state.jobs:
        if job["jobs"] is not None and job_name(job) != ALL_CLIENTS:
            total[job_name(job)] += int(job["jobs"])
    for name, jobs in total.items():
        state.set("threads", str(jobs), state.jobs[0], name)
