"""Statistics over single requests, of one run that logged its bandwidth and IOPS without windows."""

from pathlib import Path

import pytest

from fsbench_kit.documents import read_document
from fsbench_kit.model.records import Diagnostic, Measurement, Run

DATA = Path(__file__).parents[1] / "data"


def reading(name: str, changed: tuple[str, str] = ("", "")) -> tuple[list[Measurement], list[str]]:
    text = (DATA / name).read_text().replace(*changed)
    records = list(read_document(text.encode(), name))
    (run,) = [record for record in records if isinstance(record, Run)]
    return list(run.measurements), [record.code for record in records if isinstance(record, Diagnostic)]


JSON, TEXT = "fio_json/3.33-single-requests.json", "fio_normal/3.33-single-requests.txt"


@pytest.mark.parametrize(
    ("name", "mean", "least"),
    [(JSON, 119460682.078125 * 1000, 536055e3), (TEXT, 116660.82 * 1024e3, 523 * 1024e3)],
)
def test_bandwidths_of_single_requests_are_in_kb(name: str, mean: float, least: float) -> None:
    figures, said = reading(name)
    values = {(item.metric, item.statistic): item.value for item in figures if item.primary}
    assert values["request_bandwidth", "mean"] == pytest.approx(mean)
    assert values["request_bandwidth", "min"] == pytest.approx(least)
    assert ("bandwidth", "mean") not in values
    assert ("iops", "mean") not in values
    assert ("bandwidth", "value") in values
    assert ("iops", "value") in values
    assert [code for code in said if code != "PROGRESS"] == ["NOT_OVER_INTERVALS"] * 2


@pytest.mark.parametrize(
    ("name", "changed"), [(JSON, ('samples" : 64', 'samples" : 2')), (TEXT, ("samples=64", "samples=2"))]
)
def test_other_samples_are_intervals(name: str, changed: tuple[str, str]) -> None:
    figures, said = reading(name, changed)
    assert {("bandwidth", "mean"), ("iops", "mean")} <= {(item.metric, item.statistic) for item in figures}
    assert "NOT_OVER_INTERVALS" not in said


@pytest.mark.parametrize(("runtime", "of_requests"), [(32000, False), (6401, False), (6399, True)])
def test_requests_that_are_as_many_as_intervals(runtime: int, of_requests: bool) -> None:
    """One of 64 requests for each half second, or for each tenth, which no interval is shorter than."""
    figures, said = reading(TEXT, ("/1msec", f"/{runtime}msec"))
    assert (("bandwidth", "mean") not in {(item.metric, item.statistic) for item in figures}) is of_requests
    assert ("NOT_OVER_INTERVALS" in said) is of_requests
