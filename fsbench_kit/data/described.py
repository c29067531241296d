"""Finds logs that are described by a file next to them: those of studies and of launched runs."""

from __future__ import annotations

from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from fsbench_kit.data.batches import File
from fsbench_kit.data.files import STUDY_FILE
from fsbench_kit.data.finding import Result, Seen, Several, found_loose
from fsbench_kit.data.launched import log_names, run_facts, with_run_facts
from fsbench_kit.data.log import Log, log_with
from fsbench_kit.data.names import not_fitting, said_by, templates_of
from fsbench_kit.data.study import StudyDescription, companions, read_study, table_lines
from fsbench_kit.data.study_facts import facts_of_runs, with_study
from fsbench_kit.model.errors import InputError
from fsbench_kit.model.records import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def found_in_study(folder: Path, seen: Seen) -> Iterator[Log | Several]:
    """Find the logs of a study: those that it names, and others in its folder."""
    try:
        study = read_study(folder)
    except InputError as error:
        message = f"{error.what}. {error.hint}" if error.hint else error.what
        diagnostic = Diagnostic(code="BAD_STUDY", message=message, line=error.line)
        yield Log(source=str(folder / STUDY_FILE), records=[diagnostic])
        return
    files = [File(str(folder / facts.file)) for facts in study.log]
    yield Several(files, partial(_with_facts, folder, study))
    named = {
        (folder / name).resolve() for name in (STUDY_FILE, *(log.file for log in study.log), *companions(study))
    }
    yield Several(list(found_loose(folder, seen, named)), partial(_with_study_alone, folder, study))


def _with_facts(folder: Path, study: StudyDescription, results: Sequence[Sequence[Result]]) -> Iterator[Result]:
    """Attach a study's facts to the files that it names."""
    lines = iter(table_lines(folder, "log.run"))
    for facts, (log,) in zip(study.log, results, strict=True):
        tables = [(table, next(lines, None)) for table in facts.run]
        if isinstance(log, Log):
            known, problems = facts_of_runs(log, facts, tables)
            yield Log(source=str(folder / STUDY_FILE), records=problems)
            yield from with_study(log, folder, study, facts, known)


def _with_study_alone(
    folder: Path, study: StudyDescription, results: Sequence[Sequence[Result]]
) -> Iterator[Result]:
    """Attach the facts of the whole study to files that it does not name."""
    message = f"{STUDY_FILE} does not name this file: its runs have only the facts of the whole study."
    templates = templates_of(study.study.names)
    for found in chain.from_iterable(results):
        if isinstance(found, Log) and found.study is None and found.has_runs:
            if not templates:
                yield log_with(found.source, "UNNAMED_LOG", message)
            elif said_by(templates, Path(found.source).relative_to(folder)) is None:
                yield not_fitting(found, templates)
            yield from with_study(found, folder, study)
        else:
            yield found


def found_of_run(folder: Path) -> Iterator[Log | Several]:
    """Find the logs of a launched run."""
    try:
        facts = run_facts(folder)
    except InputError as error:
        yield log_with(error.file or folder, "BAD_STUDY", error.what)
        return
    names = log_names(folder, facts)

    def with_facts(results: Sequence[Sequence[Result]]) -> Iterator[Result]:
        logs = [each for each in chain.from_iterable(results) if isinstance(each, Log)]
        return with_run_facts(logs, folder, names, facts)

    yield Several([File(str(folder / name)) for name in names], with_facts)
