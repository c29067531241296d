"""``fsbench audit``."""

from __future__ import annotations

import filecmp
import hashlib
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

import fsbench_kit as fsb
from fsbench_kit.cli.console import err, out
from fsbench_kit.cli.inputs import found_path
from fsbench_kit.cli.options import Masked
from fsbench_kit.cli.saving import To, check_endings, masked, saved
from fsbench_kit.model.errors import RequestError


def audit_command(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Articles as web pages or text; studies, or folders of them."),
    ],
    to: To = None,
    *,
    mask: Masked = False,
) -> None:
    """Check an article's claims against the figures that it prints.

    A page without a study.toml gets one, with stubs for its claims: beside the page if no other file is there,
    otherwise with a copy of the page in a folder named after it, or in the folder given by --to.

    fsbench audit raw_results/published
    fsbench audit article.html
    fsbench audit my-study/ --to audit.md
    """
    from fsbench_kit import tables
    from fsbench_kit.data.files import STUDY_FILE
    from fsbench_kit.data.tabular import keep_logs

    files = [target for target in to or () if target.suffix]
    folders = [target for target in to or () if not target.suffix]
    check_endings(files)
    paths = list(_each_page_once(paths))
    pages = [Path(path) for path in paths if Path(path).is_file()]
    for target in files:
        keep_logs([*pages, target] if _is_named(target, target.parent / STUDY_FILE) else pages, target)
    if folders and (len(folders), len(pages)) != (1, 1):
        raise RequestError("--to FOLDER takes a single page that has no study yet", file=folders[0])
    studies = [_study_of(page, folders[0] if folders else None) for page in pages]
    if None in studies:
        return
    of_pages = dict(zip(map(str, pages), studies, strict=True))
    claims = fsb.audit(*(of_pages.get(str(Path(path))) or found_path(path) for path in paths))
    claims = masked(claims, mask=mask)
    shown = [tables.audit_table(rows) for _, rows in claims.group_by("study", maintain_order=True)]
    for table in shown:
        out.print(table)
    saved(files, claims, *shown)


def _each_page_once(paths: list[str]) -> Iterator[str]:
    """Skip pages that are copies of others, so that each claim counts once."""
    from fsbench_kit.data.files import STUDY_FILE

    seen: dict[bytes, str] = {}
    for path in paths:
        first = path
        if Path(path).is_file() and Path(path).name != STUDY_FILE:
            with Path(path).open("rb") as page:
                first = seen.setdefault(hashlib.file_digest(page, "sha256").digest(), path)
        if first == path:
            yield path
        else:
            err.print(f"{path} is a copy of {first}, and counts once.")


def _is_named(page: Path, study: Path) -> bool:
    """Return whether the study beside a page lists it among its logs."""
    from fsbench_kit.data.study import read_study

    return study.is_file() and page.name in {log.file for log in read_study(study.parent).log}


def _study_of(page: Path, folder: Path | None) -> Path | None:
    """Return the folder of a page's study, or write a draft of one and return ``None``."""
    from fsbench_kit.cli.drafts import write_draft
    from fsbench_kit.data.files import STUDY_FILE

    if page.name == STUDY_FILE or (folder is None and _is_named(page, page.parent / STUDY_FILE)):
        return page.parent
    is_alone = all(
        other.name in (page.name, STUDY_FILE) or other.name.startswith(".") for other in page.parent.iterdir()
    )
    own = folder or (page.parent if is_alone else page.with_suffix(""))
    copy = own / page.name
    if (own / STUDY_FILE).is_file():
        if not copy.is_file():
            raise RequestError(f"the study there belongs to a page other than {page}", file=own, hint=_ELSEWHERE)
        if not filecmp.cmp(page, copy, shallow=False):
            err.print(f"{page} has changed since it was copied; auditing the copy, {copy}.")
        return own
    fsb.read(page)  # fails for a page without logs, before a folder is made
    _copy(page, copy)
    draft = write_draft(own, fsb.read(copy), claims=True)
    for line in draft.runs:
        out.print(line)
    command = shlex.join(["fsbench", "audit", str(own)])
    err.print(f"Check which run is which there, and fill in a claim. Then: {command}")
    return None


_ELSEWHERE: Final = "Name a folder that you can write to: --to FOLDER"


def _copy(page: Path, copy: Path) -> None:
    """Copy a page to the folder of its study, unless it is there already."""
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists():
            shutil.copyfile(page, copy)
            err.print(f"Copied {page} to {copy}; the copy will be audited.")
        elif not filecmp.cmp(page, copy, shallow=False):
            raise RequestError(f"a different file with the name of {page} is there", file=copy, hint=_ELSEWHERE)
    except OSError as error:
        raise RequestError(
            f"cannot make a study of the page: {error.strerror or error}", file=copy.parent, hint=_ELSEWHERE
        ) from error
