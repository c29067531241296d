"""The words of the data, from the vocabulary, each with an example from the logs of the tests and the studies."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

import fsbench_kit as fsb
from benchmarks.robustness import ROOT, logs
from docs.generator.markdown import code, table
from fsbench_kit.analysis.verdict import REASONS
from fsbench_kit.documents import read_document
from fsbench_kit.model.operations import OPERATIONS
from fsbench_kit.model.records import Run
from fsbench_kit.model.vocabulary import DIAGNOSTICS, METRICS, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST: Final = 60
"""The most letters of an example's text."""


def metrics() -> str:
    """Return each metric, with its unit and how a tool prints it."""
    return table(
        ("metric", "unit", "better", "meaning", "example"),
        (
            (f"`{key}`", word.unit, word.better or "", word.meaning, _example("metric", key))
            for key, word in METRICS.items()
        ),
    )


def operations() -> str:
    """Return each operation, with a tool that has it."""
    return table(
        ("operation", "meaning", "in a sentence", "example"),
        (
            (f"`{key}`", word.meaning, word.phrase("present") or "", _example("operation", key))
            for key, word in OPERATIONS.items()
        ),
    )


def settings() -> str:
    """Return each setting, with a value that it has somewhere."""
    return table(
        ("setting", "kind", "meaning", "example"),
        ((f"`{key}`", word.kind, word.meaning, _example("setting", key)) for key, word in SETTINGS.items()),
    )


def diagnostics() -> str:
    """Return each code of diagnostics, with a message that bears it."""
    return table(
        ("code", "severity", "meaning", "example"),
        ((f"`{key}`", *word, WRITTEN["diagnostics"].get(key, "")) for key, word in DIAGNOSTICS.items()),
    )


def reasons() -> str:
    """Return each reason, with what it keeps from a comparison, and where that is so."""
    return table(
        ("code", "what is not given", "meaning", "example"),
        ((f"`{key}`", word.kind, word.meaning, WRITTEN["reasons"].get(key, "")) for key, word in REASONS.items()),
    )


WRITTEN: Final[dict[str, dict[str, str]]] = {
    kind: {code: text.replace("*", "\\*").replace("<", "&lt;") for code, text in examples.items()}
    for kind, examples in tomllib.loads(Path(__file__).with_name("examples.toml").read_text("utf-8")).items()
}


def _example(kind: str, word: str) -> str:
    return _examples().get((kind, word), "")


@cache
def _examples() -> dict[tuple[str, str], str]:
    """Return for each kind of word, and each word, the first example that there is."""
    found: dict[tuple[str, str], str] = {}
    for key, example in (*_of_logs(), *_of_studies()):
        found.setdefault(key, example)
    return found


def _of_logs() -> Iterator[tuple[tuple[str, str], str]]:
    for path in logs().values():
        for run in read_document(path.read_bytes(), path.name):
            if not isinstance(run, Run):
                continue
            for figure in run.measurements:
                if figure.value:
                    read = f"{run.tool} prints {_short(figure.text)}: {figure.value:g} {figure.unit}"
                    yield ("metric", figure.metric), f"{read} (`{figure.operation}`)"
                    yield ("operation", figure.operation), f"{read} (`{figure.metric}`)"
            for bins in run.bins:
                yield ("metric", bins.metric), f"{run.tool} prints shares over bins (`{bins.operation}`)"
            for setting in run.settings:
                yield ("setting", setting.key), f"{_short(setting.value)} ({run.tool})"


def _of_studies() -> Iterator[tuple[tuple[str, str], str]]:
    data = fsb.read([ROOT / "raw_results" / kind for kind in ("published", "recorded", "replicated")])
    for key, value, study in (
        data.settings.join(data.runs.select("run_id", "study"), on="run_id")
        .filter(pl.col("study").is_not_null())
        .select("key", "value", "study")
        .unique(subset="key", keep="first", maintain_order=True)
        .iter_rows()
    ):
        yield ("setting", key), f"{_short(value)} ({study})"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return code(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ...")
