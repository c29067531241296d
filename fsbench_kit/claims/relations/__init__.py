"""Defines what a claim can say: one class for each relation, which contains everything about it.

To add a relation, add a class to the module of similar ones. Its ``name`` is the one used in ``study.toml``, its
docstring is its description in ``docs/claims.md``, `needs` lists the keys that are required to check it, and
`findings` determines for each cell what the figures say. How groups differ, with what certainty, and whether
anything else could explain it, is decided by `fsbench_kit.analysis.comparison`; relations only interpret the
result.
"""

from fsbench_kit.claims.relations import of_one, of_two, rank, setting  # noqa: F401  # in the order of the manual
from fsbench_kit.claims.relations.base import RELATIONS, Direction, Finding, Known, Relation

__all__ = ["RELATIONS", "Direction", "Finding", "Known", "Relation"]
