"""Launches the same target twice under two names, and counts how many intervals of their ratio include 1.

    python -m benchmarks.same [--studies 1] [--workloads 4] [--repeats 10] [--directory] [--keep FOLDER] [--write]

The targets are loop images with ext4, or with ``--directory`` one directory. The workloads are `smallfiles` with
files of different sizes; the figures are the times of their steps and syncs. Each study has a seed of its own, and
so an order and data of its own. With ``--keep``, studies stay in a folder, and those that are there already count
instead of being made again: so the evidence can be gathered in several nights. ``--write`` puts the result into
docs/same.md.

Every interval that does not include 1 is a false alarm; there are to be as few as the intervals' confidence says.
Three questions are answered:

- *Are the intervals honest for this noise?* Within a round, the two runs of a workload differ in their name alone,
  so their names may be exchanged. Over all such exchanges, the share of intervals that include 1 is what the
  method achieves on the figures of this machine: heavy tails, steps of one run that go together, and drift
  included.
- *Does the launch treat both targets alike?* If it does, the names as they were are one exchange among all, and
  no odd one. The share of exchanges with as many false alarms is a p that is exact (a randomisation test).
- *Where does a run stand?* How much longer the later run of a round takes than the earlier one. Random order keeps
  this out of the ratio, so that it is noise and no bias.

Steps of one run go together, so the plain share has bounds only for one figure of each run: its whole time.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
from scipy.stats import binomtest, t

import fsbench_kit as fsb
from fsbench_kit import stats
from fsbench_kit.launch import Plan, launch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.data.dataset import Dataset

Floats = np.ndarray[Any, np.dtype[np.float64]]

PAGE: Final = Path(__file__).parents[1] / "docs" / "same.md"
TARGETS: Final = ("one", "other")
OTHER: Final = "_other"
EXCHANGES: Final = 2000


def plan(seed: int, *, workloads: int, repeats: int, directory: bool, files: int = 1000) -> Plan:
    """Return a plan in which two targets differ in nothing but their name."""
    target = (
        {"kind": "directory", "directory": "."}
        if directory
        else {"kind": "loop", "filesystem": "ext4", "size": "256M"}
    )
    return Plan.model_validate(
        {
            "id": "same",
            "repeats": repeats,
            "seed": seed,
            "drop_caches": False,
            "target": [{**target, "name": name} for name in TARGETS],
            "workload": [
                {"tool": "smallfiles", "name": f"small-{number}", "files": files, "size": 1024 * number}
                for number in range(1, workloads + 1)
            ],
        }
    )


@dataclass(frozen=True)
class Pairs:
    """The runs of one workload in one study, in pairs: those of a round.

    Attributes
    ----------
    operations
        The steps and syncs.
    first, second
        Seconds on each target: operations x rounds.
    later
        Of each round, whether the second target's run came after the first target's.
    """

    operations: tuple[str, ...]
    first: Floats
    second: Floats
    later: np.ndarray[Any, np.dtype[np.bool_]]

    def exchanged(self, count: int, chance: np.random.Generator) -> tuple[Floats, Floats]:
        """Return both sides as they are, and after that with the names of random rounds exchanged."""
        swap = chance.random((count + 1, 1, self.later.size)) < 0.5
        swap[0] = False
        return np.where(swap, self.second, self.first), np.where(swap, self.first, self.second)

    @property
    def whole(self) -> Pairs:
        """The one figure of each run that is the time of all of its steps and syncs."""
        return Pairs(
            ("whole run",), *(side.sum(0, keepdims=True) for side in (self.first, self.second)), self.later
        )


def pairs(dataset: Dataset) -> list[Pairs]:
    """Return the pairs of each workload of a study.

    Figures that are printed as 0 have no ratio, and those that are the same in all rounds no interval.
    """
    figures = dataset.measurements.filter("primary", metric="elapsed", statistic="value").pivot(
        "operation", index="run_id", values="value", sort_columns=True
    )
    operations = figures.columns[1:]
    runs = dataset.runs.filter(status="ok").join(figures, on="run_id")
    both = runs.filter(target=TARGETS[0]).join(
        runs.filter(target=TARGETS[1]), on=["workload", "round"], suffix=OTHER
    )
    found = []
    for _, rounds in both.sort("workload", "round").group_by("workload", maintain_order=True):
        known = rounds.select(pl.all_horizontal(pl.min(name, name + OTHER) > 0).alias(name) for name in operations)
        kept = [name for name in operations if known[name].all() and (rounds[name] != rounds[name + OTHER]).any()]
        first, second = (rounds.select(name + suffix for name in kept).to_numpy().T for suffix in ("", OTHER))
        later = (rounds["started_at" + OTHER] > rounds["started_at"]).to_numpy()
        found.append(Pairs(tuple(kept), first, second, later))
    return found


@dataclass(frozen=True)
class Evidence:
    """What pairs show.

    Attributes
    ----------
    intervals, holding
        How many there are, and how many of them include 1.
    expected
        The share that includes 1 over all exchanges of names.
    p
        The share of exchanges in which no more intervals include 1.
    """

    intervals: int
    holding: int
    expected: float
    p: float


def evidence(found: Sequence[Pairs], *, seed: int = 1, exchanges: int = EXCHANGES) -> Evidence:
    """Count the intervals that include 1, as the names are and with the names exchanged."""
    chance = np.random.default_rng(seed)
    holding = np.zeros(exchanges + 1, dtype=np.int64)
    intervals = 0
    for of_workload in found:
        result = stats.paired_log(*of_workload.exchanged(exchanges, chance))
        holding += ((result.low <= 1) & (result.high >= 1)).sum(1)
        intervals += len(of_workload.operations)
    return Evidence(
        intervals=intervals,
        holding=int(holding[0]),
        expected=float(holding[1:].mean() / intervals),
        p=float((holding <= holding[0]).mean()),  # the names as they are count as one of the exchanges
    )


def position(found: Sequence[Pairs]) -> tuple[float, float, float]:
    """Return how many times as long the later run of a round takes, with a 95 % interval: of whole runs."""
    logs = [np.log(item.whole.second / item.whole.first)[0] * np.where(item.later, 1, -1) for item in found]
    values = np.concatenate(logs)
    reach = t.ppf(0.975, values.size - 1) * values.std(ddof=1) / np.sqrt(values.size)
    low, middle, high = np.exp(values.mean() + np.array([-reach, 0, reach]))
    return float(middle), float(low), float(high)


def report(found: Sequence[Pairs], verdicts: pl.DataFrame, what: str) -> str:
    """Say all of it, as text in Markdown."""
    all_of_them, whole = evidence(found), evidence([item.whole for item in found])
    bounds = binomtest(whole.holding, whole.intervals).proportion_ci()
    ratio, low, high = position(found)
    rows = [
        f"| {name} | {one.intervals} | {one.holding} | {100 * one.expected:.1f} % | {one.p:.3f} |"
        for name, one in (
            *(
                (name, evidence([_only(item, name) for item in found if name in item.operations]))
                for name in _names(found)
            ),
            ("**all of these**", all_of_them),
            ("**whole run**", whole),
        )
    ]
    said = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.rows())
    return "\n".join(
        [
            what,
            "",
            "| figure | intervals of 95 % | include 1 | include 1 over all exchanges of names | p |",
            "|---|---|---|---|---|",
            *rows,
            "",
            "Whole runs are independent of each other: "
            f"{100 * whole.holding / whole.intervals:.1f} % of their intervals include 1, with 95 % bounds "
            f"of {100 * bounds.low:.1f} % and {100 * bounds.high:.1f} %. Steps of one run are not, so only p says "
            "whether chance explains how many hold: it is the share of all exchanges of names within rounds in "
            "which no more do.",
            "",
            f"The later run of a round takes {ratio:.4f} times as long as the earlier one "
            f"({low:.4f} to {high:.4f}). Random order makes that noise, and no bias.",
            "",
            f"Verdicts of `fsb.compare`: {said}.",
        ]
    )


def _names(found: Sequence[Pairs]) -> list[str]:
    return sorted({name for item in found for name in item.operations})


def _only(item: Pairs, name: str) -> Pairs:
    row = [item.operations.index(name)]
    return Pairs((name,), item.first[row], item.second[row], item.later)


def main() -> None:
    """Launch, compare, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=1)
    parser.add_argument("--workloads", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--directory", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    shape = {key: getattr(options, key) for key in ("workloads", "repeats", "directory")}
    place = nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory(prefix="fsbench-same-")
    found: list[Pairs] = []
    verdicts = []
    with place as root:
        for seed in range(1, options.studies + 1):
            folder = Path(root, "raw_results", "runs", f"same-{seed}")
            if not folder.exists():
                launch(plan(seed, **shape), root=Path(root), study=folder.name)
            dataset = fsb.read(folder)
            found += pairs(dataset)
            comparison = fsb.compare(dataset, factor="target", baseline=TARGETS[0], metrics=["elapsed"])
            verdicts.append(comparison.select("verdict"))
            print(f"study {seed} of {options.studies}: {evidence(found)}", flush=True)
    where = "one directory" if options.directory else "loop images with ext4"
    what = (
        f"{options.studies} launches of {options.workloads} workloads, {options.repeats} rounds each, on {where}: "
        f"the same target under two names."
    )
    text = report(found, pl.concat(verdicts).group_by("verdict").len().sort("verdict"), what)
    print(text)
    if options.write:
        PAGE.write_text(f"{_HEAD}{text}\n", encoding="utf-8")


_HEAD: Final = """\
<!-- Generated by `make same`. -->

# The same target twice

Where two targets differ in nothing but their names, every interval of their ratio is to include 1, but for the few
that its confidence allows to miss. And as the runs of a round differ in their names alone, the names may be
exchanged: how many intervals include 1 after that is what the method achieves on the noise of this machine.

"""


if __name__ == "__main__":
    main()
