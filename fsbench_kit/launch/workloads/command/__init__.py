r"""Any program: measures the resources that it uses, and finds figures in its output.

::

    [[workload]]
    tool = "command"
    command = ["dbench", "-D", ".", "-t", "10", "4"]
    figures.throughput = { pattern = 'Throughput ([\d.]+) MB/sec', unit = "MB/s" }

The command is a list of words that no shell interprets. It runs in an empty directory on the target; a first word
like ``./build.sh`` is a file beside the plan. Its elapsed time, processor time and memory are measured, as well as
the bytes that it read and wrote, and the duration of the sync after it.

A figure is found by a pattern with one group, or by a path into JSON output (``json_path = "jobs.0.read.iops"``);
the last match counts. Its unit determines what it measures: ``B/s`` is a bandwidth, ``1/s`` a rate, ``s`` a time;
a plain number is a score or, with ``better = "lower"``, a cost.

The program is `fsbench_kit.launch.workloads.command.__main__`; its log is read by
`fsbench_kit.formats.timed_command`.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, model_validator

from fsbench_kit.launch.argv import Argv
from fsbench_kit.launch.named_hosts import Hosts
from fsbench_kit.launch.plan_errors import Place, PlanError
from fsbench_kit.launch.schema import PlanTable
from fsbench_kit.launch.tools import Program
from fsbench_kit.launch.workloads.base import BaseWorkload, RunContext, Work
from fsbench_kit.launch.workloads.together import together
from fsbench_kit.model.units import quantity
from fsbench_kit.model.vocabulary import METRICS

_PROGRAM: Final = Path(__file__).parent  # Python runs the __main__.py in this folder
_FIGURES: Final = "figures.json"
_LOG: Final = "command.log"

_METRICS: Final = {
    ("B/s", "higher"): "bandwidth",
    ("1/s", "higher"): "rate",
    ("s", "lower"): "elapsed",
    ("1", "higher"): "score",
    ("1", "lower"): "cost",
}
"""Base unit and direction -> the metric of such a figure."""


class Figure(PlanTable):
    """A figure in a command's output.

    Attributes
    ----------
    pattern, json_path
        Where to find it: a regular expression with one group, or a path into JSON.
    unit
        A unit of `fsbench_kit.model.units`; none for a plain number.
    better
        Which direction is better; by default that of the unit.
    metric
        The metric, if it is not the usual one for the unit.
    """

    pattern: Annotated[
        str, Field(description="a regular expression with one group", examples=[r"tps = ([\d.]+)"])
    ] = ""
    json_path: Annotated[str, Field(description="a path into JSON", examples=["jobs.0.read.iops"])] = ""
    unit: Annotated[str, Field(description="a unit", examples=["MB/s"])] = ""
    better: Literal["higher", "lower"] | None = None
    metric: Annotated[str, Field(description="a metric of the vocabulary", examples=["latency"])] | None = None

    @property
    def measures(self) -> str:
        """The metric."""
        if self.metric is not None:
            return self.metric
        base = quantity("1", self.unit).unit
        better = self.better or ("lower" if base == "s" else "higher")
        return _METRICS[base, better]

    @property
    def problem(self) -> str | None:
        """Why it cannot be found or read; ``None`` if it can be."""
        if bool(self.pattern) == bool(self.json_path):
            return "it needs either a pattern or a path into JSON (json_path)"
        try:
            if self.pattern and re.compile(self.pattern).groups != 1:
                return "its pattern needs one group, in parentheses, around the number"
            base = quantity("1", self.unit).unit
        except re.error as error:
            return f"its pattern is not a regular expression: {error}"
        except ValueError as error:
            return str(error)
        if self.metric is None:
            known = any(unit == base and self.better in (None, better) for unit, better in _METRICS)
            return None if known else f"no metric in {self.unit} is better when {self.better}; name a metric"
        if self.metric not in METRICS or METRICS[self.metric].unit != base:
            fitting = ", ".join(name for name, metric in METRICS.items() if metric.unit == base and metric.better)
            return f'"{self.metric}" is not a metric with this unit; these are: {fitting}'
        if self.better not in (None, METRICS[self.metric].better):
            return f"of {self.metric}, {METRICS[self.metric].better} is better"
        return None


class Command(BaseWorkload):
    """A ``[[workload]]`` with ``tool = "command"``.

    Attributes
    ----------
    command
        The words of the command.
    figures
        Figures to find in its output, by name.
    hosts
        Hosts that run it at the same time, each in a directory of its own within that of the target, which they
        share under the same path. Its time ends when the last host is done, and each figure's name includes its
        host.
    """

    logs: ClassVar = (_LOG,)

    tool: Literal["command"]
    command: Argv
    figures: Annotated[
        dict[Annotated[str, Field(pattern=r"^[a-z]\w{0,40}$")], Figure],
        Field(description="a table of figures: lower-case names, each with a table of its own"),
    ] = Field(default_factory=dict)
    hosts: Hosts = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_clear_figures(self) -> Command:
        for name, figure in self.figures.items():
            if figure.problem is not None:
                what = f'the figure "{name}" cannot be used: {figure.problem}'
                raise PlanError(what, Place(key="figures"), hint="Change it, or take it out.")
        return self

    @property
    def needs(self) -> tuple[Program, ...]:
        """The program itself, wherever it runs."""
        return (Program("ssh", ""),) if self.hosts else (Program(self.command[0], ""),)

    def is_logged(self, key: str) -> bool:
        """Return False: no log shows all words of a command."""
        del key
        return False

    def work(self, context: RunContext) -> Work:
        """Return the command, prefixed with the program that times it."""
        wanted = {
            name: {
                "pattern": figure.pattern,
                "json_path": figure.json_path,
                "metric": figure.measures,
                "unit": figure.unit,
            }
            for name, figure in self.figures.items()
        }
        text = json.dumps(wanted, indent=1) + "\n"
        if self.hosts:
            return together(context, self.hosts, {_FIGURES: text}, "command", _FIGURES, _LOG, *self.command)
        start = (sys.executable, str(_PROGRAM), _FIGURES, _LOG, str(context.directory))
        return Work(measured=(*start, *self.command), files={_FIGURES: text})
