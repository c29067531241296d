"""Drafts a study.toml and reports what is left to fill in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsbench_kit.cli.console import err
from fsbench_kit.model.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import fsbench_kit as fsb
    from fsbench_kit.data.drafts import Draft


def write_draft(folder: Path, dataset: fsb.Dataset, *, names: Sequence[str] = (), claims: bool = False) -> Draft:
    """Write a draft of a folder's study.toml if there is none."""
    from fsbench_kit.data.drafts import drafted
    from fsbench_kit.data.files import STUDY_FILE
    from fsbench_kit.data.study import read_study

    path = folder / STUDY_FILE
    draft = drafted(folder, dataset, names=names, claims=claims)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(draft.text)
    except (OSError, UnicodeEncodeError) as error:
        why = (isinstance(error, OSError) and error.strerror) or error
        where = "name another one with --to FOLDER" if claims else "copy the logs to another one"
        raise RequestError(
            f"cannot write study.toml: {why}",
            file=path,
            hint=f"It needs a folder that you can write to: {where}.",
        ) from error
    read_study(folder)
    err.print(f"Wrote {path}.")
    if draft.unknown:
        err.print(f"Still unknown: {'; '.join(draft.unknown)}. Fill in what you know.")
    return draft
