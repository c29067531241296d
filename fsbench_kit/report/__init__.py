"""Publishes notebooks: a set of them, run and turned into pages that open without a network, with an index.

A site is a folder that can be moved and published as it is: every link in it is relative and stays inside.

- ``index.html`` lists the reports, and finds them by words, study, tool, filesystem and verdict.
- ``<name>.html`` is a report: one file, with its charts and the program that draws them.
- ``notebooks/<name>.ipynb`` is the executed notebook, ``manifests/<name>.json`` the record of its run.
- ``logs/`` holds copies of the files that reports rest on. Copies, because a link to where a log lies would break
  as soon as the site is moved, and because a log that is edited later is not the one that the report rests on.

A page loads nothing. Its content security policy forbids every request, and every script but its own, so that
nothing in a log can act.
"""

from typing import TYPE_CHECKING

from fsbench_kit.model.lazy import lazily, skip_iri_grammar

if TYPE_CHECKING:
    from fsbench_kit.report.folder import spec_of
    from fsbench_kit.report.page import render_page, title_and_question
    from fsbench_kit.report.site import report
    from fsbench_kit.report.spec import NotebookSpec, ReportSpec, read_spec

skip_iri_grammar()

__all__ = ["NotebookSpec", "ReportSpec", "read_spec", "render_page", "report", "spec_of", "title_and_question"]

__getattr__, __dir__ = lazily(__name__)
