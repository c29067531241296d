"""Options and arguments that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH...", help="Logs, studies, or folders of them; - for what is piped in."),
]

Names = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEMPLATE",
        help="What the names of files mean, such as '{filesystem}_run{round}.json'; with slashes, folders too. "
        "Of several the first counts that fits.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Processes that read thousands of logs; by default as many as processors."),
]


def factor(text: str) -> float:
    """Read a percentage, or a ratio, as a factor: ``5%`` and ``1.05`` are the same."""
    number = text.strip()
    try:
        return 1 + float(number.removesuffix("%")) / 100 if number.endswith("%") else float(number)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a percentage nor a ratio; write 5% or 1.05") from None
