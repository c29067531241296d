"""What is chosen, and how it is taken away: as Python, and as parameters of a notebook."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import parse_qs, urlencode

from pydantic import TypeAdapter, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Value = str | int | None
"""A coordinate of a cell, or a level; ``None`` is no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What is chosen.

    Attributes
    ----------
    factor, baseline, all_pairs, metrics, confidence, margin
        As in `fsbench_kit.compare`; without a baseline or metrics it decides.
    where
        Columns of a cell, with their chosen values; what is not named is open. See `choosing`.
    chart
        A key of `CHARTS`.
    by
        The second factor, of which `chart` has a panel for each value; without one the chart decides.

    Examples
    --------
    >>> State(factor="kernel").choosing("operation", ("read",)).where
    (('operation', ('read',)),)
    """

    factor: str = "filesystem"
    baseline: str | None = None
    all_pairs: bool = False
    metrics: tuple[str, ...] = ()
    where: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    confidence: float = 0.95
    margin: float = 1.05
    chart: str = "ratios"
    by: str | None = None

    def chosen(self, name: str) -> tuple[Value, ...]:
        """Return the values that are chosen of a column; none where it is open."""
        return dict(self.where).get(name, ())

    def choosing(self, name: str, values: Iterable[Value]) -> State:
        """Return the state with other values of a column; without any, the column is open."""
        where = dict(self.where) | {name: tuple(values)}
        return replace(self, where=tuple(sorted((key, kept) for key, kept in where.items() if kept)))

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `fsbench_kit.compare` that are not its defaults."""
        given, default = asdict(self), asdict(State(chart=self.chart, by=self.by))
        chosen = {name: value for name, value in given.items() if value != default[name]}
        if self.metrics:
            chosen["metrics"] = list(self.metrics)
        if self.where:
            chosen["where"] = {name: list(values) for name, values in self.where}
        return chosen


_ADDRESS: Final = "QUERY_STRING"
"""Where Voilà tells a kernel what its page was asked for."""


def is_page() -> bool:
    """Tell whether the exploration is a page of its own, which has an address."""
    return _ADDRESS in os.environ


def as_address(state: State, beside: State | None = None) -> str:
    """Return the address, from its page, of what is chosen, and of what stands beside it.

    Examples
    --------
    >>> as_address(State(factor="host", chart="runs"))
    '?state=%7B%22factor%22%3A%22host%22%2C%22chart%22%3A%22runs%22%7D'
    """
    states = {"state": state} | ({"beside": beside} if beside is not None else {})
    return "?" + urlencode(
        {name: TypeAdapter(State).dump_json(of, exclude_defaults=True).decode() for name, of in states.items()}
    )


def addressed(name: str = "state") -> State | None:
    """Return what the address of a page asks for: its ``state``, or what stands ``beside``; if that is right."""
    for text in parse_qs(os.environ.get(_ADDRESS, "")).get(name, []):
        try:
            return TypeAdapter(State).validate_json(text)
        except ValidationError:
            continue
    return None


class Call(NamedTuple):
    """How a chart is drawn.

    Attributes
    ----------
    label
        What people call the chart.
    function
        Of `fsbench_kit.charts`.
    of
        What it draws: ``comparison`` or ``dataset``.
    arguments
        Its other arguments, of a state.
    narrow
        Those by which it fits into half of a page.
    """

    label: str
    function: str
    of: str
    arguments: Callable[[State], dict[str, Any]]
    narrow: Mapping[str, Any] = {}


def _of_comparison(state: State) -> dict[str, Any]:
    return _some(state, "margin")


def _of_panels(state: State) -> dict[str, Any]:
    return ({"by": state.by} if state.by else {}) | _some(state, "margin")


def _of_runs(state: State) -> dict[str, Any]:
    # One figure stands for a run; where several metrics are chosen, the chart chooses by itself.
    metric = {"metric": state.metrics[0]} if len(state.metrics) == 1 else {}
    return metric | _some(state, "factor", "where")


def _some(state: State, *names: str) -> dict[str, Any]:
    return {name: value for name, value in state.arguments().items() if name in names}


CHARTS: Final[Mapping[str, Call]] = {
    "ratios": Call("Ratios", "forest", "comparison", _of_comparison, {"width": "column"}),
    "panels": Call("Panels", "small_multiples", "comparison", _of_panels, {"columns": 1}),
    "runs": Call("Every run", "run_order", "dataset", _of_runs, {"columns": 1}),
}
"""The charts that a state can be shown as."""


def as_python(state: State, data: Sequence[str], names: Sequence[str] = ()) -> str:
    """Write the Python that reads files and folders, and makes the comparison, chart and table of a state.

    Examples
    --------
    >>> "factor='kernel'" in as_python(State(factor="kernel"), ["logs"])
    True
    """
    drawn = CHARTS[state.chart]
    arguments = "".join(f"    {name}={value!r},\n" for name, value in state.arguments().items())
    read_by = f", names={list(names)!r}" if names else ""
    of_chart = "".join(f", {name}={value!r}" for name, value in drawn.arguments(state).items())
    return (
        "import fsbench_kit as fsb\n"
        "from fsbench_kit import charts, tables\n"
        "from fsbench_kit.notebooks.display import setup\n"
        "\n"
        "setup()  # paths are from the project's root\n"
        f"dataset = fsb.read({list(data)!r}{read_by})\n"
        "comparison = fsb.compare(\n"
        "    dataset,\n"
        f"{arguments}"
        ")\n"
        f"chart = charts.{drawn.function}({drawn.of}{of_chart})\n"
        "table = tables.comparison_table(comparison)\n"
    )


def as_parameters(state: State, data: Sequence[str], names: Sequence[str] = ()) -> str:
    """Write the parameter file with which ``notebooks/03_compare.ipynb`` makes the comparison of a state.

    It is YAML, of which JSON is a part, so that each value stands as JSON.

    Examples
    --------
    >>> print(as_parameters(State(factor="kernel"), ["logs"]), end="")
    data: ["logs"]
    factor: "kernel"
    """
    parameters = {"data": list(data)} | ({"names": list(names)} if names else {}) | state.arguments()
    return "".join(f"{name}: {_yaml(value)}\n" for name, value in parameters.items())


def _yaml(value: object) -> str:
    """Write JSON that is YAML as well: YAML takes no characters that do not print, and no halves of them."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r"[^\x20-\x7e]", lambda c: c[0] if c[0].isprintable() else f"\\U{ord(c[0]):08x}", text)
