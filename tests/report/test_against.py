"""Two reports side by side: what changed, what is new, what is gone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
import polars as pl
import pytest
from nbformat import v4
from typer.testing import CliRunner

import fsbench_kit as fsb
from fsbench_kit.analysis.trend import Trend
from fsbench_kit.cli import app
from fsbench_kit.launch.replicate import side_by_side
from fsbench_kit.notebooks.display import Finding
from fsbench_kit.notebooks.effects import effects_of, effects_of_claims, effects_of_replication, effects_of_trend
from tests.pages import Elements

Compare = Callable[..., pl.DataFrame]
Effects = Callable[[Any], list[dict[str, Any]]]
WORSE = {"ratio": 0.8, "ci_low": 0.75, "ci_high": 0.85, "verdict": "worse"}


@pytest.fixture
def reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write what a report keeps of a comparison, in the form in which a kernel gives it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "one.log").write_text("real\t0m1.100s\nuser\t0m0.250s\nsys\t0m0.100s\n")

    def write(name: str, rows: Any, effects: Effects = effects_of) -> None:
        shown = Finding("A finding.", effects=effects(rows))._repr_mimebundle_()
        cell = v4.new_code_cell("", outputs=[v4.new_output("execute_result", data=shown, execution_count=1)])
        for folder in ("notebooks", "manifests"):
            (tmp_path / name / folder).mkdir(parents=True)
        nbformat.write(v4.new_notebook(cells=[cell]), tmp_path / name / "notebooks" / "compare.ipynb")

    return write


def _against(new: str, old: str) -> tuple[int, str]:
    return _report(new, "--against", old)


def _report(new: str, *options: str) -> tuple[int, str]:
    with mock.patch("fsbench_kit.report.site.run_all", return_value={}):
        result = CliRunner().invoke(app, ["report", "results", "--to", new, *options], terminal_width=200)
    return result.exit_code, result.output + str(result.exception or "")


def _links_of_the_index() -> list[str | None]:
    return [link["href"] for link in Elements(Path("new", "index.html").read_text()).found["a"]]


def test_what_changed_is_new_and_gone_is_told_on_the_terminal_and_on_a_page(
    reported: Callable[[str, pl.DataFrame], None], comparison: Compare
) -> None:
    reported("old", comparison({"operation": "read"}, {"operation": "write"}, {"operation": "rewrite"}))
    renamed = {"operation": "write", "study": "another-night"}
    reported("new", comparison({"operation": "read"} | WORSE, renamed, {"operation": "delete"}))
    status, said = _against("new", "old")
    assert status == 5
    assert "Against old: of 2 effects in both, 1 changed; 1 new, 1 gone." in said
    rows = [line for line in said.splitlines() if line.strip().startswith("compare")]
    assert ["read" in rows[0], "delete" in rows[1], "rewrite" in rows[2]] == [True] * 3
    assert "1.84 [1.71, 1.98] better" in rows[0]
    assert "0.80 [0.75, 0.85] worse" in rows[0]
    page = Path("new", "against.html").read_text()
    assert '0.80 <span style="white-space:nowrap">[0.75, 0.85]</span> worse' in page
    assert not Elements(page).found["img"]
    assert "against.html" in _links_of_the_index()
    assert _report("new")[0] == 0
    assert "against.html" not in _links_of_the_index()


def test_reports_that_found_the_same_differ_in_nothing(
    reported: Callable[[str, pl.DataFrame], None], comparison: Compare
) -> None:
    for name in ("old", "new"):
        reported(name, comparison({"operation": "read"}))
    status, said = _against("new", "old")
    assert (status, "0 changed; 0 new, 0 gone" in said) == (0, True)


def test_an_effect_of_another_size_has_changed_where_its_intervals_have_nothing_in_common(
    reported: Callable[[str, pl.DataFrame], None], comparison: Compare
) -> None:
    reported("old", comparison({"operation": "read"}, {"operation": "write"}))
    larger = {"ratio": 3.0, "ci_low": 2.8, "ci_high": 3.2}
    reported("new", comparison({"operation": "read"} | larger, {"operation": "write", "ci_high": 2.5}))
    assert "of 2 effects in both, 1 changed; 0 new" in _against("new", "old")[1]


def test_effects_of_several_studies_are_told_apart(
    reported: Callable[[str, pl.DataFrame], None], comparison: Compare
) -> None:
    for name, changed in (("old", {}), ("new", WORSE)):
        reported(name, comparison({"study": "disk"}, {"study": "memory"} | changed))
    assert "of 2 effects in both, 1 changed; 0 new, 0 gone." in _against("new", "old")[1]


def test_courses_over_versions_have_changed_if_a_change_came_or_went_and_not_by_more_versions(
    reported: Callable[..., None], comparison: Compare
) -> None:
    def course(*levels: str, changed: bool = False) -> Trend:
        cells = [{"operation": operation, "factor": "kernel"} for operation in ("read", "write")]
        rows = comparison(*(cell | {"baseline": levels[0], "level": level} for cell in cells for level in levels))
        change = comparison(cells[0] | WORSE).with_columns(
            pl.lit("6.12").alias(name) for name in ("before", "since", "earliest", "latest")
        )
        return Trend(list(levels), rows, change.head(int(changed)))

    reported("old", course("6.1", "6.6", "6.12"), effects_of_trend)
    reported("more", course("6.6", "6.12", "6.15"), effects_of_trend)
    assert "of 2 effects in both, 0 changed; 0 new, 0 gone." in _against("more", "old")[1]
    reported("new", course("6.1", "6.6", "6.12", changed=True), effects_of_trend)
    status, said = _against("new", "old")
    assert (status, "of 2 effects in both, 1 changed; 0 new, 0 gone." in said) == (5, True)
    (row,) = (line for line in said.splitlines() if line.strip().startswith("compare"))
    assert "read, over kernel" in row
    assert "no change" in row
    assert "since 6.12 0.80 [0.75, 0.85] worse" in row


def test_claims_are_held_against_those_of_another_report(reported: Callable[..., None], published: Path) -> None:
    audit = fsb.audit(published / "fio-nvme-2021")
    named = pl.col("claim") == "zfs-incredibly-slower"
    reported("old", audit, effects_of_claims)
    reported(
        "new",
        audit.with_columns(verdict=pl.when(named).then(pl.lit("contradicted")).otherwise("verdict")),
        effects_of_claims,
    )
    status, said = _against("new", "old")
    assert (status, f"of {audit.height} effects in both, 1 changed; 0 new, 0 gone." in said) == (5, True)
    (row,) = (line for line in said.splitlines() if line.strip().startswith("compare"))
    assert "ZFS was incredibly slower than XFS" in row
    assert "0.15 not comparable" in row  # 28.3 k IOPS against 189 k
    assert "0.15 contradicted" in row


def test_replications_are_held_against_those_of_another_report(
    reported: Callable[..., None], root: Path, published: Path
) -> None:
    again = fsb.read(root / "raw_results" / "replicated" / "sysbench-rhel72-again")
    found = side_by_side(fsb.read(published / "sysbench-rhel72"), again, metrics=["bandwidth"])
    writes = pl.col("pattern") == "seqwr"
    others = [
        pl.when(writes).then(0.5 + place / 100).otherwise(name).alias(name)
        for place, name in enumerate(("ci_low", "ratio", "ci_high"))
    ]
    reported("old", found, effects_of_replication)
    reported("new", found.with_columns(others), effects_of_replication)
    said = _against("new", "old")[1]
    assert f"of {found.height} effects in both, 1 changed; 0 new, 0 gone." in said
    (row,) = (line for line in said.splitlines() if line.strip().startswith("compare"))
    assert "seqwr, write" in row
    assert "0.51 [0.50, 0.52] same" in row


def test_an_earlier_report_without_effects_ends_the_call_before_anything_runs(
    reported: Callable[[str, pl.DataFrame], None], comparison: Compare
) -> None:
    reported("old", comparison({}).clear())
    with mock.patch("fsbench_kit.report.report") as made:
        result = CliRunner().invoke(app, ["report", "results", "--to", "new", "--against", "old"])
    assert "the report in old compares nothing" in str(result.exception)
    made.assert_not_called()


@pytest.mark.parametrize(
    ("old", "why"), [("nowhere", "there is no report in nowhere"), ("new", "compared with itself")]
)
def test_what_is_no_earlier_report_is_said(
    reported: Callable[[str, pl.DataFrame], None], comparison: Compare, old: str, why: str
) -> None:
    reported("new", comparison({}))
    assert why in _against("new", old)[1]
