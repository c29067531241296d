"""Options and arguments that several commands share."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...", help="Logs, studies, folders or archives of them, or URLs; - reads standard input."
    ),
]

Names = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEMPLATE",
        help="What file names mean, such as '{filesystem}_run{round}.json'; with slashes, also folder names. "
        "Can be repeated; the first template that matches a name is used.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Maximum number of processes that read the logs; by default one per processor."),
]


Assume = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="A fact that the logs do not state, such as fio_version=3.1 or filesystem=xfs. Can be repeated.",
    ),
]


Masked = Annotated[
    bool,
    typer.Option("--mask", help="Mask home directories, users and hosts in the output, so that it can be shared."),
]


Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="The same on the workers of a Dask scheduler, such as tcp://node1:8786."),
]


Baseline = Annotated[str | None, typer.Option(help="The level to compare all others with.")]


def share(text: str, wrong: str = "not a percentage; write 5%") -> float:
    """Read a percentage as a share; ``5%`` and ``0.05`` are the same."""
    number = text.strip()
    try:
        return float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is {wrong}") from None


Confidence = Annotated[
    float,
    typer.Option(parser=share, metavar="PERCENT", help="The confidence level of the intervals: 95% or 0.95."),
]


def percentage(text: str) -> float:
    """Read a percentage as a share, with or without its sign; ``5%`` and ``5`` are the same."""
    number = text.strip()
    return share(number) / (1 if number.endswith("%") else 100)


def factor(text: str) -> float:
    """Read a percentage or a ratio as a factor; ``5%`` and ``1.05`` are the same."""
    number = share(text, "neither a percentage nor a ratio; write 5% or 1.05")
    return 1 + number if text.strip().endswith("%") else number


def of_percentage(help_text: str) -> Any:
    """Return an option whose value is a percentage."""
    return typer.Option(parser=percentage, metavar="PERCENT", help=help_text)


def of_factor(help_text: str) -> Any:
    """Return an option whose value is a percentage or a ratio."""
    return typer.Option(parser=factor, metavar="PERCENT|RATIO", help=help_text)


def of_words(help_text: str) -> Any:
    """Return an option whose value is a comma-separated list."""
    return typer.Option(metavar="A,B,...", help=help_text)


def assumed(given: list[str] | None) -> dict[str, str] | None:
    """Read ``KEY=VALUE`` pairs."""
    return dict(_pair(text) for text in given) if given else None


def conditions(given: list[str] | None) -> dict[str, list[str | int | None]] | None:
    """Read ``KEY=A,B,...``; sizes become bytes, and ``none`` means no value."""
    return {
        key: [_value(key, word) for word in words(text) or ()] for key, text in map(_pair, given or ())
    } or None


def _pair(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not (sign and key and value):
        raise typer.BadParameter(f"{text!r} is not KEY=VALUE")
    return key.strip(), value.strip()


def _value(key: str, word: str) -> str | int | None:
    if word.lower() == "none":
        return None
    size = re.fullmatch(r"(\d+)([kmgt]?)(i?b)?", word.lower())
    if key in {"block_size", "file_size"} and size:
        return int(size[1]) << 10 * "_kmgt".index(size[2] or "_")
    return word


def words(text: str | None) -> list[str] | None:
    """Read a comma-separated list."""
    return [word.strip() for word in text.split(",")] if text else None
