"""What is published says nothing of whose machine it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbformat import v4

from fsbench_kit.data.masking import Mask
from fsbench_kit.notebooks.display import VEGA_MIME, mimebundle
from fsbench_kit.report import NotebookSpec, ReportSpec, report
from fsbench_kit.report.figures import charts
from fsbench_kit.report.logs import copy_logs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_homes_users_and_hosts_are_in_no_file_of_a_site(tmp_path: Path) -> None:
    logs = tmp_path / "runs" / "001"
    logs.mkdir(parents=True)
    (logs / "run.json").write_text(
        '{"host": "lab-7.example.org", "argv": ["/home/ada/bin/fio"]}', encoding="utf-8"
    )
    (logs / "iozone.txt").write_text("Linux bench9 6.1.0-13-amd64 #1 SMP x86_64\nvm.dirty_ratio = 20\n")
    code = "print(data, 'by ada@lab-7.example.org in /home/ada/logs; /root/x')"
    cells = [
        v4.new_markdown_cell("# A page\n\nWhose is it?"),
        v4.new_code_cell('data: list[str] = ["runs"]  # logs', metadata={"tags": ["parameters"]}),
        v4.new_code_cell(code),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), tmp_path / "page.ipynb")
    spec = ReportSpec(
        title="Pages", notebook=(NotebookSpec(name="page", file="page.ipynb", parameters={"data": ["runs/001"]}),)
    )
    manifests = report(spec, "site", root=tmp_path, publish=True)
    assert manifests["page"].error is None
    texts = {
        path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "site").rglob("*") if path.is_file()
    }
    for word in ("lab-7", "bench9", "/home/", "ada@", "/root/x"):
        assert [name for name, text in texts.items() if word in text] == []
    assert "user@host2 in ~/logs; ~/x" in texts["page.html"]
    (copied,) = (text for name, text in texts.items() if name.endswith("iozone.txt"))
    assert copied.splitlines()[1] == "vm.dirty_ratio = 20"
    assert json.loads(texts["page.json"])["status"] == "ok"


SETUP = "import altair as alt\nfrom fsbench_kit.notebooks.display import setup\nsetup()"


def _report_of(folder: Path, *code: str) -> ReportSpec:
    """Write a notebook, and return a report of it."""
    given = v4.new_code_cell("", metadata={"tags": ["parameters"]})
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [given, *map(v4.new_code_cell, code)]
    nbformat.write(v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / "page.ipynb")
    return ReportSpec(title="Pages", notebook=(NotebookSpec(name="page", file="page.ipynb"),))


@pytest.mark.slow
def test_charts_of_a_site_show_no_host(tmp_path: Path) -> None:
    """What is in an image is no text, and was drawn before the names were masked."""
    host = "print('Linux lab-7 6.1.0 #1')"
    chart = "alt.Chart(alt.InlineData([{'x': 1}]), title='%s').mark_point().encode(x='x:Q')"
    spec = _report_of(tmp_path, SETUP, host, chart % "lab-7", chart % "ext4")

    def published(*, publish: bool) -> list[dict[str, Any]]:
        assert report(spec, "site", root=tmp_path, publish=publish)["page"].error is None
        executed = nbformat.read(tmp_path / "site" / "notebooks" / "page.ipynb", as_version=4)
        shown = [*charts(executed)]
        page = (tmp_path / "site" / "page.html").read_text(encoding="utf-8")
        assert [data["image/png"] in page for data in shown] == [True, True]
        return shown

    plain, masked = published(publish=False), published(publish=True)
    assert [data[VEGA_MIME]["title"] for data in masked] == ["host2", "ext4"]
    assert [data["image/png"] for data in masked] == [mimebundle(data[VEGA_MIME])["image/png"] for data in masked]
    are_new = [one["image/png"] != other["image/png"] for one, other in zip(plain, masked, strict=True)]
    assert are_new == [True, False]


@pytest.mark.slow
def test_what_a_failed_run_has_drawn_shows_no_host(tmp_path: Path) -> None:
    """A chart that cannot be drawn may be why it failed, so none is drawn again."""
    named = "alt.Chart(alt.InlineData([{'x': 1}]), title='uname: Linux lab-7 6.1.0 #1').mark_point()"
    undrawable = f"display({{'{VEGA_MIME}': {{'mark': 'lab-7'}}, 'text/plain': ''}}, raw=True)"
    spec = _report_of(tmp_path, SETUP, named, undrawable)
    assert report(spec, "site", root=tmp_path, publish=True)["page"].status == "failed"
    (failed,) = (tmp_path / "site").rglob("page.ipynb")
    text = failed.read_text(encoding="utf-8")
    assert "lab-7" not in text
    assert "uname: Linux host2" in text
    assert ["image/png" in data for data in charts(nbformat.read(failed, as_version=4))] == [False, False]


def test_what_is_packed_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "log.gz").write_bytes(b"\x1f\x8b")
    (log,) = copy_logs({"log.gz": "0" * 64}, tmp_path, tmp_path / "site", Mask([], []))
    assert (log.link, log.remark) == (None, "not copied: what is packed cannot be masked")
