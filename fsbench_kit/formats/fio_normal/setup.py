"""Reads what stands before the figures, and what fio says while it runs."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from fsbench_kit.formats.fio_command import COMMAND
from fsbench_kit.formats.fio_normal.phrases import ALL_CLIENTS, job_name
from fsbench_kit.formats.fio_normal.sizes import canonical_sizes
from fsbench_kit.formats.fio_normal.state import State
from fsbench_kit.formats.lexer import UNREAD, Token, unread_figure
from fsbench_kit.model.records import Origin

_PROMPT: Final = re.compile(r"[#$%>❯»]\s*$")


def read_unread(state: State, token: Token) -> None:
    """Take what no phrase covers."""
    state.not_understood(token)


def read_command(state: State, token: Token) -> None:
    """Read the settings of a command line."""
    words = token.text.chars[token.start : token.end]
    made = list(COMMAND.read(words, origin=_origin(state, token), line=token.line))
    is_decimal = any((item.key, item.value) == ("fio.kb_base", "1000") for item in made)
    state.figures.printing = state.figures.printing._replace(is_decimal=is_decimal)
    state.run.settings += made


def _origin(state: State, command: Token) -> Origin:
    """Tell what was typed at a prompt, or stands right before the report, from what a text says was run."""
    chars = command.text.chars
    before = chars[chars.rfind("\n", 0, command.start) + 1 : command.start]
    tokens = state.report.tokens
    follower = tokens[tokens.index(command) + 1 :][:1]
    has_prompt = command["host"] is not None or _PROMPT.search(before) is not None
    return "command" if has_prompt or not follower or follower[0].name != UNREAD else "stated"


def read_hello(state: State, token: Token) -> None:
    """Read what a client says of itself."""
    state.set("os", token["os"], token)


def read_client(state: State, token: Token) -> None:
    """Take the name of the client whose report follows, which is known."""
    if not state.has_clients:
        state.not_understood(token)


def read_header(state: State, token: Token) -> None:
    """Read the settings of a job."""
    name = job_name(token)
    state.set("job_name", name, token, name)
    state.set("pattern", token["pattern"], token, name)
    state.set("block_size", canonical_sizes(token["sizes"] or ""), token, name)
    state.set("engine", token["engine"], token, name)
    state.set("iodepth", token["iodepth"], token, name)


def read_capped(state: State, token: Token) -> None:
    """Take fio's warning about a synchronous engine."""
    state.say(token, "QUALIFIED", "The engine is synchronous: it keeps one request in flight.")


def read_started(state: State, token: Token) -> None:
    """Read how many processes there were."""
    state.set("fio.started", " ".join((token["what"] or "").split()), token)


def read_layout(state: State, token: Token) -> None:
    """Read the size of a file that is made; it is cut to MiB, so that a command line knows it better."""
    if not any((item.key, item.origin) == ("file_size", "command") for item in state.run.settings):
        state.set("file_size", str(int(token["size"] or "") * 2**20), token, job_name(token))


def read_progress(state: State, token: Token) -> None:
    """Take the line that fio overwrites while it runs."""
    state.say(token, "PROGRESS", "Momentary figures are not the run's result.")


def read_trouble(state: State, token: Token) -> None:
    """Take an error."""
    state.failed = True
    state.say(token, "RUN_FAILED", "fio reports an error.")


def read_said(state: State, token: Token) -> None:
    """Take whatever else fio says."""
    if unread_figure(token) is not None:
        state.say(token, "OTHER_TEXT", "fio says more of the run than its report has.")


def read_stopped(state: State, token: Token) -> None:
    """Take a stop by a signal."""
    state.stopped = True
    state.say(token, "RUN_STOPPED", "fio was stopped before the run's end.")


def read_threads(state: State) -> None:
    """Read the number of processes of each job from the jobs' lines."""
    total = Counter[str]()
    for job in state.jobs:
        if job["jobs"] is not None and job_name(job) != ALL_CLIENTS:
            total[job_name(job)] += int(job["jobs"])
    for name, jobs in total.items():
        state.set("threads", str(jobs), state.jobs[0], name)
