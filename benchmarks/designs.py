"""Made runs of two filesystems, laid out as launches lay them out, and compared by `fsb.compare`.

What is measured here goes through the public door: which runs are compared, in which units, by which method.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

import fsbench_kit as fsb
from fsbench_kit.model.schema import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Facts = dict[str, Any]

SIDES: Final = ("ext4", "xfs")


def in_turn(a: Sequence[Facts], b: Sequence[Facts]) -> list[Facts]:
    """Let the runs of two groups take turns, each with facts of its own: columns of ``runs``, and settings."""
    runs = []
    for number in range(max(len(a), len(b))):
        for side in (number % 2, 1 - number % 2):
            group = (a, b)[side]
            if number < len(group):
                runs.append({"filesystem": SIDES[side], **group[number]})
    return runs


def dataset(
    runs: Sequence[Facts],
    values: Floats,
    *,
    whole: bool = True,
    metric: tuple[str, str] = ("iops", "value"),
    half: float | None = None,
) -> fsb.Dataset:
    """Return runs with values of shape ``(repetitions, runs)`` or ``(repetitions, cells, runs)``.

    Each repetition is a block size of the same runs; or else it is a study of its own. Each value lies within
    ``half`` of its last digit, where that is known.
    """
    columns, rows, settings = SCHEMAS["runs"].names(), [], []
    # studies, runs, cells
    values = values.T[None, ...] if whole else np.moveaxis(values, -1, 1)
    for study in range(values.shape[0]):
        for number, facts in enumerate(runs):
            run = f"{study}-{number}"
            at = datetime(2026, 1, 1) + timedelta(minutes=2 * number)
            own = {"host": "h", "study": f"s{study}", **facts}
            folder = own.pop("folder", None)
            rows.append(
                {name: value for name, value in own.items() if name in columns}
                | {"run_id": run, "tool": "fio", "status": "ok", "source": f"{folder}/{run}/log", "line": 1}
                | ({} if folder is None else {"order": number})
                | {"started_at": at, "ended_at": at + timedelta(minutes=1)}
            )
            settings += [
                {"run_id": run, "scope": "all", "key": key, "value": value, "origin": "log"}
                for key, value in own.items()
                if key not in columns
            ]
    constant = {"scope": "all", "operation": "read", "metric": metric[0], "statistic": metric[1], "unit": "1/s"}
    constant |= {"state": "measured", "primary": True, "line": 1, "text": "1"}  # type: ignore[dict-item]
    cells = values.shape[-1]
    figures = pl.DataFrame(
        {
            "run_id": np.repeat([row["run_id"] for row in rows], cells),
            "block_size": np.tile(4096 * np.arange(1, cells + 1), len(rows)),
            "value": values.ravel(),
        }
    ).with_columns(low=pl.col("value") - half, high=pl.col("value") + half)
    known = figures.with_columns(pl.lit(value).alias(key) for key, value in constant.items())
    frames = {name: pl.DataFrame(schema=schema) for name, schema in SCHEMAS.items()}
    schema = SCHEMAS["measurements"]
    return fsb.Dataset(
        **frames
        | {
            "runs": pl.DataFrame(rows, schema=SCHEMAS["runs"]),
            "settings": pl.DataFrame(settings, schema=SCHEMAS["settings"]),
            "measurements": known.select(
                (pl.col(name) if name in known.columns else pl.lit(None)).cast(kind).alias(name)
                for name, kind in schema.items()
            ),
        }
    )


def two_filesystems(a: Floats, b: Floats, *, rounds: bool = False, half: float = 0.0, **of: Any) -> fsb.Dataset:
    """Return runs of two filesystems in turns, with a figure for each block size: arrays are ``(sizes, runs)``."""
    facts: list[Facts] = [{"round": number} if rounds else {} for number in range(1, a.shape[1] + 1)]
    runs = in_turn(facts, facts)
    columns = [(a, b)[SIDES.index(run["filesystem"])][:, place // 2] for place, run in enumerate(runs)]
    return dataset(runs, np.stack(columns, axis=1), half=half, **of)


NOISE: Final = 0.05


def _rates(
    rng: np.random.Generator, runs: Sequence[Facts], repetitions: int, ratio: float, **of: Floats
) -> Floats:
    """Draw the rates of runs: noise, what belongs to the value of a fact, and the ratio of the second group."""
    rates = rng.lognormal(0, NOISE, (repetitions, len(runs)))
    for number, run in enumerate(runs):
        rates[:, number] *= ratio if run["filesystem"] == SIDES[1] else 1.0
        for name, effects in of.items():
            rates[:, number] *= effects[..., int(run[name][1:])]
    return rates


def mixed(rng: np.random.Generator, repetitions: int, n: int, ratio: float) -> pl.DataFrame:
    """Compare groups of which one has all runs but one under a version, and the other only one."""
    old, new = {"tool_version": "v0"}, {"tool_version": "v1"}
    runs = in_turn([old] * (n - 1) + [new], [old] + [new] * (n - 1))
    order = rng.permutation(len(runs))
    runs = [runs[place] for place in order]
    return fsb.compare(dataset(runs, _rates(rng, runs, repetitions, ratio, tool_version=np.array([1.0, 1.35]))))


def hosts(
    rng: np.random.Generator,
    repetitions: int,
    n: int,
    ratio: float,
    *,
    count: int,
    by: str = "host",
    differ: float = 0.0,
) -> pl.DataFrame:
    """Compare groups on hosts, or in launches, of speeds of their own, where the effect may differ as well."""
    runs = [run for place in range(count) for run in in_turn(*[[{by: f"h{place}"}] * n, [{by: f"h{place}"}] * n])]
    rates = _rates(rng, runs, repetitions, ratio, **{by: rng.lognormal(0, 0.3, (repetitions, count))})
    effect = rng.lognormal(0, differ, (repetitions, count)) if differ else np.ones((repetitions, count))
    for number, run in enumerate(runs):
        if run["filesystem"] == SIDES[1]:
            rates[:, number] *= effect[:, int(run[by][1:])]
    return fsb.compare(dataset(runs, rates))


def _on_hosts(rng: np.random.Generator, rounds: int, effect: Floats, *, cells: int) -> fsb.Dataset:
    """Return studies of rounds on hosts, of which each has an effect of its own: ``(studies, hosts)``."""
    studies, count = effect.shape
    runs = [
        {**run, "host": f"h{host}", "round": number}
        for host in range(count)
        for number in range(1, rounds + 1)
        for run in in_turn([{}], [{}])
    ]
    rates = rng.lognormal(0, NOISE, (studies, cells, len(runs)))
    for number, run in enumerate(runs):
        if run["filesystem"] == SIDES[1]:
            rates[..., number] *= effect[:, [int(run["host"][1:])]]
    return dataset(runs, rates, whole=False)


def over_cells(
    rng: np.random.Generator, repetitions: int, rounds: int, ratio: float, *, count: int, differ: float
) -> pl.DataFrame:
    """Take the geometric mean over four cells, in rounds on hosts in whose effects differ."""
    effect = rng.lognormal(0, differ, (repetitions, count)) if count > 1 else np.ones((repetitions, 1))
    return fsb.geometric_mean(_on_hosts(rng, rounds, ratio * effect, cells=4))


def summary_over_hosts(
    rng: np.random.Generator, repetitions: int, rounds: int, ratio: float, *, count: int, differ: float
) -> pl.DataFrame:
    """Summarise over hosts that differ in the ratio; each repetition is a study, with a further host's ratio."""
    effect = ratio * rng.lognormal(0, differ, (repetitions, count + 1))
    further = pl.DataFrame({"study": [f"s{n}" for n in range(repetitions)], "further": effect[:, -1]})
    return fsb.summarise(_on_hosts(rng, rounds, effect[:, :-1], cells=1)).join(further, on="study")


def random_orders(rng: np.random.Generator, repetitions: int, n: int) -> pl.DataFrame:
    """Compare groups of which each repetition ran in a random order of its own."""
    orders = [rng.permutation(2 * n) for _ in range(repetitions)]
    runs = [
        [{"filesystem": SIDES[place % 2], "study": f"s{study}"} for place in order]
        for study, order in enumerate(orders)
    ]
    return fsb.compare(
        dataset([run for of_study in runs for run in of_study], rng.lognormal(0, NOISE, (1, 2 * n * repetitions)))
    )
