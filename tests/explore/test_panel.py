"""The controls are a thin layer: each of them changes the state, and shows what can be chosen."""

import re
from html import unescape
from typing import Any

import pytest

from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.log import Log
from fsbench_kit.explore import Exploration, Panel, State
from fsbench_kit.model.records import Measurement, Run
from fsbench_kit.notebooks.display import VEGA_MIME

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


def _run(filesystem: str, rate: float, operation: str, **of_log: Any) -> Log:
    figure = Measurement(operation=operation, metric="iops", value=rate, unit="1/s", text="", line=1)
    run = Run(tool="fio", start=0, end=99, line=1, filesystem=filesystem, measurements=(figure,))
    return Log(source="a", data=f"{filesystem}{rate}{operation}".encode(), records=[run], **of_log)


@pytest.fixture
def panel() -> Panel:
    logs = [
        _run(filesystem, rate * factor, operation, study=study)
        for study, operations in (("one", ("read", "write")), ("two", ("read",)), (HOSTILE, ("read",)))
        for operation, factor in zip(operations, (1.0, 3.0), strict=False)
        for filesystem, rate in (("ext4", 100.0), ("xfs", 100.0 + 50 * len(study)), ("zfs", 10.0))
    ]
    return Panel(Exploration(assemble(logs)), ["raw_results/x"], State().choosing("study", ["one"]))


@pytest.fixture(autouse=True)
def _followed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Follow each change: the browser of other tests leaves a loop here, in which a panel waits for the next."""
    monkeypatch.setattr(Panel, "_soon", Panel._follow)


def _labels(panel: Panel, name: str) -> list[str]:
    return [text for text, _ in panel.controls[name].options]


def _all(panel: Panel, name: str) -> object:
    return panel.controls[name].options[0][1]


def test_the_controls_show_what_is_chosen_and_what_can_be(panel: Panel) -> None:
    assert panel.controls["study"].value == ("one",)
    assert _labels(panel, "study") == ["all", f"{HOSTILE} · 3 runs", "one · 6 runs", "two · 3 runs"]
    assert _labels(panel, "operation") == ["all", "read · 3 runs", "write · 3 runs"]
    assert panel.controls["operation"].value == (_all(panel, "operation"),)
    assert panel.controls["confidence"].value == 0.95
    assert panel.controls["tool"].layout.display == "none"  # there is only one


def test_every_control_has_a_name(panel: Panel) -> None:
    assert all(control.description for control in panel.controls.values())
    assert len({control.description for control in panel.controls.values()}) == len(panel.controls)


def test_a_choice_is_followed(panel: Panel) -> None:
    panel.controls["operation"].value = ("write",)
    assert panel.view.state == State().choosing("study", ["one"]).choosing("operation", ["write"])
    panel.controls["baseline"].value = "xfs"
    assert panel.view.state.baseline == "xfs"
    (chart,) = panel._chart.outputs
    (rows,) = chart["data"][VEGA_MIME]["datasets"].values()
    assert {row["level"] for row in rows} == {"ext4", "zfs"}
    assert "baseline='xfs'" in panel.python
    assert panel._parameters.value.splitlines() == [
        'data: ["raw_results/x"]',
        'baseline: "xfs"',
        'where: {"operation": ["write"], "study": ["one"]}',
    ]


def test_all_pairs_can_be_compared_instead_of_a_baseline(panel: Panel) -> None:
    baseline = panel.controls["baseline"]
    baseline.value = "xfs"
    baseline.value = dict(baseline.options)["none: all pairs"]
    assert (panel.view.state.baseline, panel.view.state.all_pairs) == (None, True)
    assert "all_pairs: true" in panel._parameters.value.splitlines()
    assert "all_pairs=True" in panel.python
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", panel._table.value, re.DOTALL)
    pairs = {tuple(re.findall(r">(ext4|xfs|zfs)<", row)) for row in rows}
    assert pairs - {()} == {("ext4", "xfs"), ("ext4", "zfs"), ("xfs", "zfs")}
    baseline.value = dict(baseline.options)["automatic"]
    assert panel.view.state.all_pairs is False


def test_all_leaves_a_list_open_again(panel: Panel) -> None:
    everything, operation = _all(panel, "operation"), panel.controls["operation"]
    operation.value = (everything, "write")  # as with Ctrl and a click
    assert operation.value == ("write",)
    operation.value = ("write", everything)
    assert operation.value == (everything,)
    assert panel.view.state.chosen("operation") == ()


def test_what_was_given_up_is_said(panel: Panel) -> None:
    panel.controls["operation"].value = ("write",)
    panel.controls["study"].value = ("two",)
    assert "Operation write does not occur in the selection and was dropped." in panel._finding.value
    assert panel.controls["operation"].layout.display == "none"
    panel.controls["margin"].value = 1.1
    assert "dropped" not in panel._finding.value


def test_where_nothing_can_be_compared_a_sentence_stands_in_place_of_chart_and_table(panel: Panel) -> None:
    panel.controls["levels"].value = ("xfs",)
    assert "All these runs have one filesystem, xfs" in panel._finding.value
    assert (panel._chart.outputs, panel._table.value) == ((), "")
    panel.controls["levels"].value = ("xfs", "ext4")
    assert len(panel._chart.outputs) == 1
    assert "<table>" in panel._table.value


def test_what_the_charts_title_says_is_not_written_above_it_as_well(panel: Panel) -> None:
    assert 'class="fsbench-heard">' in panel._finding.value
    panel.controls["chart"].value = "runs"
    assert "fsbench-heard" not in panel._finding.value
    panel.controls["levels"].value = ("xfs",)
    assert "fsbench-heard" not in panel._finding.value


def test_a_chart_without_a_title_leaves_the_finding_above_it() -> None:
    panel = Panel(Exploration(assemble([_run("ext4", 0.0, "read"), _run("xfs", 1.0, "read")])), ["a"])
    assert len(panel._chart.outputs) == 1
    assert "fsbench-heard" not in panel._finding.value
    assert "xfs and ext4 cannot be compared" in panel._finding.value


def test_in_a_narrow_window_the_chart_has_half_of_the_width(panel: Panel) -> None:
    panel._narrow.value = True
    (chart,) = panel._chart.outputs
    assert chart["data"][VEGA_MIME]["params"][0]["value"] is True
    panel._narrow.value = False
    (chart,) = panel._chart.outputs
    assert chart["data"][VEGA_MIME]["params"][0]["value"] is False


def test_names_from_logs_are_text_wherever_html_is_made(panel: Panel) -> None:
    panel.controls["study"].value = ("one", HOSTILE)
    panel.controls["operation"].value = ("read",)
    made = [panel._finding.value, panel._table.value, panel._save.value]
    panel._wanted = State(baseline=HOSTILE)
    panel._follow()
    made.append(panel._finding.value)
    assert "&lt;img src=x" in made[1]
    assert "&lt;img src=x" in made[3]
    assert not any("<img" in html or "<script" in html for html in made)


def test_a_page_of_its_own_links_to_what_it_shows_and_opens_with_it(
    panel: Panel, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Link to what is shown" not in panel._save.value  # in JupyterLab it has no address
    monkeypatch.setenv("QUERY_STRING", "")
    panel.controls["study"].value = (HOSTILE,)
    panel.controls["baseline"].value = "xfs"
    (address,) = re.findall(r'<a href="\?([^"]*)">Link to what is shown</a>', panel._save.value)
    monkeypatch.setenv("QUERY_STRING", address)
    assert Panel(panel._exploration, ["raw_results/x"]).view.state == panel.view.state
    for wrong in ("state=%7B", "state=[]", 'state={"margin":"x"}', "factor=host"):
        monkeypatch.setenv("QUERY_STRING", wrong)
        assert Panel(panel._exploration, ["raw_results/x"]).view.state == State()


def test_the_second_factor_of_panels_can_be_chosen_where_panels_are_drawn(panel: Panel) -> None:
    by = panel.controls["by"]
    assert by.layout.display == "none"
    panel.controls["chart"].value = "panels"
    assert by.layout.display is None
    assert _labels(panel, "by") == ["automatic", "operation · 2 values"]
    by.value = "operation"
    (chart,) = panel._chart.outputs
    assert chart["data"][VEGA_MIME]["facet"]["sort"] == ["read", "write"]
    assert "chart = charts.small_multiples(comparison, by='operation')" in panel.python
    panel.controls["operation"].value = ("read",)
    assert panel.view.state.by is None
    assert "Panels by operation does not occur" in panel._finding.value


def test_what_is_shown_can_be_kept_beside_what_is_chosen_next(
    panel: Panel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUERY_STRING", "")
    panel.controls["operation"].value = ("read",)
    panel._keep.click()
    panel.controls["operation"].value = ("write",)
    assert panel._place_beside.layout.display is None
    drawn = [place.outputs[0]["data"][VEGA_MIME] for place in (panel._chart, panel._chart_beside)]
    rates = [
        {row["level"]: round(row["place"], 6) for row in next(iter(spec["datasets"].values()))} for spec in drawn
    ]
    assert rates == [{"xfs": 2.5, "zfs": 0.1}] * 2  # xfs has 250, whatever the operation
    assert ["wrote" in str(spec["title"]["text"]) for spec in drawn] == [True, False]
    address = unescape(re.findall('href="([?][^"]*)"', panel._save.value)[0])
    monkeypatch.setenv("QUERY_STRING", address.removeprefix("?"))
    again = Panel(panel._exploration, ["raw_results/x"])
    assert again.view.state == panel.view.state
    assert again._chart_beside.outputs == panel._chart_beside.outputs
    panel._keep.click()
    assert panel._place_beside.layout.display == "none"
    assert "beside" not in panel._save.value
