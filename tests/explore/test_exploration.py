"""What is chosen decides what can be chosen next, and what is shown; all without a widget."""

import contextlib
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import papermill
import polars as pl
import pytest
import yaml
from polars.testing import assert_frame_equal

import fsbench_kit as fsb
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.log import Log
from fsbench_kit.explore import Exploration, State, as_parameters, as_python, opened
from fsbench_kit.explore.options import Choice
from fsbench_kit.model.records import Measurement, Run, Setting
from fsbench_kit.notebooks import check_parameters

HOSTILE = "<img src=x onerror=alert(1)>\"'\\\U0001f600\x85\u2028"


def _runs(study: str, tool: str, rates: dict[str, float], **more: Any) -> list[Log]:
    """One run on each filesystem, which reads and writes at two block sizes; the larger is twice as fast."""
    logs = []
    for filesystem, rate in rates.items():
        figures = tuple(
            Measurement(
                operation=operation,
                block_size=size,
                metric=metric,
                statistic="value",
                value=rate * factor,
                unit=unit,
                text="",
                line=1,
            )
            for metric, unit in more.get("metrics", (("iops", "1/s"), ("bandwidth", "B/s")))
            for operation in more.get("operations", ("read", "write"))
            for size, factor in ((4096, 1.0), (65536, 2.0))
        )
        settings = tuple(Setting(key=key, value=value) for key, value in more.get("settings", {}).items())
        run = Run(
            tool=tool, start=0, end=99, line=1, filesystem=filesystem, measurements=figures, settings=settings
        )
        name = f"{study}/{tool}/{filesystem}/{more.get('settings', '')}"
        logs.append(Log(source=name, data=name.encode(), records=[run], study=study, status=more.get("status")))
    return logs


@pytest.fixture(scope="module", params=["memory", "disk"])
def exploration(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exploration:
    if request.param == "memory":
        return Exploration(_dataset())
    folder = tmp_path_factory.mktemp("dataset")
    _dataset().write(folder)
    scanned = opened([str(folder)])
    assert isinstance(scanned, fsb.LazyDataset)
    return Exploration(scanned)


def _dataset() -> Dataset:
    return assemble(
        [
            *_runs("one", "fio", {"ext4": 100.0, "xfs": 300.0, "zfs": 50.0}),
            *_runs("one", "iozone", {"ext4": 10.0, "xfs": 20.0}, operations=("rewrite",)),
            *_runs("two", "fio", {"xfs": 100.0, "btrfs": 500.0}),
            *_runs("two", "fio", {"zfs": 1.0}, status="failed"),
            *_runs("three", "fio", {"ext4": 7.0}, settings={"iodepth": "1"}),
            *_runs("three", "fio", {"ext4": 21.0}, settings={"iodepth": "8"}),
        ]
    )


def _values(exploration: Exploration, state: State, name: str) -> list[Any]:
    return [choice.value for choice in exploration.options(state).choices[name]]


def test_each_choice_decides_what_can_be_chosen_below_it(exploration: Exploration) -> None:
    everything = State()
    assert _values(exploration, everything, "study") == ["one", "three", "two"]
    assert _values(exploration, everything, "operation") == ["read", "write", "rewrite"]
    one = everything.choosing("study", ["one"])
    assert _values(exploration, one, "study") == ["one", "three", "two"]  # what stands above stays open
    assert _values(exploration, one, "tool") == ["fio", "iozone"]
    assert _values(exploration, one.choosing("tool", ["iozone"]), "operation") == ["rewrite"]
    assert _values(exploration, one, "baseline") == ["ext4", "xfs", "zfs"]
    assert _values(exploration, one.choosing("operation", ["rewrite"]), "baseline") == ["ext4", "xfs"]


def test_counts_are_runs_that_count(exploration: Exploration) -> None:
    choices = exploration.options(State()).choices
    assert choices["study"] == (Choice("one", 5), Choice("three", 2), Choice("two", 2))  # the failed one is not
    assert choices["tool"] == (Choice("fio", 7), Choice("iozone", 2))
    assert Choice("rewrite", 2) in choices["operation"]


def test_the_factor_can_be_whatever_has_several_levels_within_a_study(exploration: Exploration) -> None:
    assert exploration.options(State()).choices["factor"] == (Choice("filesystem", 3), Choice("iodepth", 2))
    assert _values(exploration, State().choosing("study", ["one"]), "factor") == ["filesystem"]


@pytest.mark.parametrize(
    ("state", "kept", "said"),
    [
        (
            State().choosing("study", ["two"]).choosing("operation", ["rewrite", "read"]),
            State().choosing("study", ["two"]).choosing("operation", ["read"]),
            "Operation rewrite does not occur",
        ),
        (State(baseline="ext3"), State(), "Baseline ext3 does not occur"),
        (
            State(baseline="xfs", all_pairs=True),
            State(all_pairs=True),
            "All pairs of levels are compared, so Baseline",
        ),
        (State(metrics=("iops", "latency")), State(metrics=("iops",)), "Metric latency does not occur"),
        (
            State(factor="iodepth").choosing("study", ["one"]),
            State().choosing("study", ["one"]),
            "Factor iodepth is unknown for these runs; filesystem is compared instead.",
        ),
        (State().choosing("block_size", ["4096"]), State().choosing("block_size", [4096]), None),
    ],
)
def test_what_cannot_be_any_more_is_given_up_and_that_is_said(
    exploration: Exploration, state: State, kept: State, said: str | None
) -> None:
    options = exploration.options(state)
    assert options.state == kept
    assert [sentence.startswith(said or "-") for sentence in options.messages] == [True] * (said is not None)


def test_a_view_shows_the_ratios_of_what_is_chosen(exploration: Exploration) -> None:
    state = State(metrics=("iops",)).choosing("study", ["one"]).choosing("tool", ["fio"])
    view = exploration.render(state.choosing("operation", ["read"]).choosing("block_size", [4096]))
    assert view.spec is not None
    assert view.table is not None
    (rows,) = view.spec["datasets"].values()
    assert {row["level"]: round(row["place"], 6) for row in rows} == {"xfs": 3.0, "zfs": 0.5}
    assert view.finding.startswith("xfs read 3.00 times as fast as ext4")
    assert [len(group.rows) for group in view.table.groups] == [2]
    other = exploration.render(replace(view.state, baseline="zfs"))
    (rows,) = other.spec["datasets"].values()  # type: ignore[index]
    assert {row["level"]: round(row["place"], 6) for row in rows} == {"ext4": 2.0, "xfs": 6.0}


def test_a_view_shows_every_run_of_what_is_chosen(exploration: Exploration) -> None:
    state = State(chart="runs", metrics=("iops",)).choosing("study", ["two"]).choosing("operation", ["write"])
    view = exploration.render(state)
    (rows,) = view.spec["datasets"].values()  # type: ignore[index]
    assert sorted((row["level"], row["value"]) for row in rows) == [
        ("btrfs", 500.0),
        ("btrfs", 1000.0),
        ("xfs", 100.0),
        ("xfs", 200.0),
    ]


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (
            State().choosing("study", ["three"]),
            "All these runs have one filesystem, ext4, so there is nothing to compare. "
            "These can be compared instead: iodepth.",
        ),
        (
            State(baseline="btrfs").choosing("tool", ["fio"]).choosing("filesystem", ["ext4", "btrfs"]),
            "No cell has runs of both the baseline and another level, so there is nothing to compare. "
            "These can be compared instead: iodepth.",
        ),
        (
            State().choosing("study", ["one"]).choosing("filesystem", ["zfs"]).choosing("operation", ["rewrite"]),
            "All these runs have one filesystem, zfs, so there is nothing to compare.",
        ),
    ],
)
def test_where_nothing_can_be_compared_a_sentence_says_why(
    exploration: Exploration, state: State, sentence: str
) -> None:
    view = exploration.render(state)
    assert (view.finding, view.spec, view.table) == (sentence, None, None)


def test_more_than_an_eye_can_follow_is_refused_with_a_way_out() -> None:
    many = {f"fs{number:04d}": 1.0 + number for number in range(300)}
    exploration = Exploration(assemble(_runs("one", "fio", many)))
    view = exploration.render(State())
    assert view.table is None
    assert view.finding.startswith("2,392 comparisons are too many to show: select")
    fewer = exploration.render(State(metrics=("iops",)).choosing("operation", ["read"]))
    assert fewer.table is not None
    assert fewer.table.caption.endswith("; the first 200 of 598 rows")


STATES = [
    State(),
    State(chart="runs", factor="iodepth", all_pairs=True, metrics=("iops",), confidence=0.9, margin=1.2),
    State(baseline="xfs", metrics=("iops", "bandwidth"))
    .choosing("study", ["one", "two"])
    .choosing("block_size", [65536])
    .choosing("iodepth", [None]),
]


@pytest.mark.parametrize("state", STATES)
def test_the_python_that_is_taken_away_runs_and_shows_the_same(
    exploration: Exploration, state: State, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setattr(fsb, "read", lambda paths: {("a b", "c'"): _dataset()}[tuple(paths)])
    made: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(as_python(state, ["a b", "c'"]), made)  # noqa: S102
    view = exploration.render(state)
    assert view.state == state
    assert made["table"] == view.table
    assert made["chart"].to_dict()["datasets"] == view.spec["datasets"]  # type: ignore[index]


@pytest.mark.parametrize("state", STATES)
def test_the_parameters_that_are_taken_away_are_those_of_the_comparison(
    exploration: Exploration, state: State, root: Path
) -> None:
    parameters = yaml.safe_load(as_parameters(state, ["a"]))
    given = check_parameters(root / "notebooks" / "03_compare.ipynb", parameters)
    assert given["data"] == ["a"]
    compared = fsb.compare(
        _dataset(),
        given["factor"],
        given["baseline"] or None,
        metrics=given["metrics"] or None,
        where=given["where"],
        confidence=given["confidence"],
        margin=given["margin"],
        all_pairs=given["all_pairs"],
    )
    # the exploration compares the chosen runs alone, which must not matter
    assert_frame_equal(compared, exploration._comparison(state))


def test_any_name_from_a_log_can_be_taken_away() -> None:
    state = State(factor=HOSTILE, baseline=HOSTILE).choosing(HOSTILE, [HOSTILE, None, 3])
    taken = yaml.safe_load(as_parameters(state, [HOSTILE]))
    assert taken == {
        "data": [HOSTILE],
        "factor": HOSTILE,
        "baseline": HOSTILE,
        "where": {HOSTILE: [HOSTILE, None, 3]},
    }
    compile(as_python(state, [HOSTILE], [HOSTILE]), "taken", "exec")
    assert yaml.safe_load(as_parameters(state, ["a"], [HOSTILE]))["names"] == [HOSTILE]


@pytest.mark.slow
def test_the_comparison_notebook_runs_with_what_is_taken_away(root: Path, tmp_path: Path) -> None:
    data = ["raw_results/published/raid1-hdd-2020"]
    exploration = Exploration(fsb.read(root / data[0]))
    state = State(baseline="xfs", metrics=("bandwidth",)).choosing("tool", ["fio"]).choosing("operation", ["read"])
    view = exploration.render(state)
    assert view.state == state
    (tmp_path / "params.yaml").write_text(as_parameters(state, data))
    out = papermill.execute_notebook(
        root / "notebooks" / "03_compare.ipynb",
        tmp_path / "out.ipynb",
        parameters=papermill.iorw.read_yaml_file(str(tmp_path / "params.yaml")),
        cwd=root,
        progress_bar=False,
    )
    shown = {cell.id: cell.outputs[0].data for cell in out.cells if cell.get("outputs")}
    assert shown["comparison-table"]["text/html"] == view.table._repr_html_()  # type: ignore[union-attr]
    assert shown["finding"]["application/vnd.fsbench.finding"].splitlines()[0] == view.finding
    chart = shown["forest"]["application/vnd.vegalite.v5+json"]
    assert chart["datasets"] == view.spec["datasets"]  # type: ignore[index]


def test_what_is_left_open_compares_everything(exploration: Exploration) -> None:
    whole = fsb.compare(_dataset())
    assert exploration.options(State()).comparisons == whole.height
    assert_frame_equal(exploration._comparison(State()), whole)
    assert whole.filter(pl.col("study") == "two")["baseline"].unique().to_list() == ["btrfs"]
