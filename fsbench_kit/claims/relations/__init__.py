"""What a claim can say: one class for each relation, which states all about it.

To add a relation, add a class to the module of its like. Its ``name`` is what ``study.toml`` calls it, its
docstring is what ``docs/claims.md`` says of it, `needs` names the keys without which it cannot be checked, and
`findings` tells for each cell what the figures say. How two groups differ, how sure that is, and what else sets
them apart is what `fsbench_kit.analysis.comparison` answers; here is only what a sentence makes of it.
"""

from fsbench_kit.claims.relations import of_one, of_two, rank, setting  # noqa: F401  # in the order of the manual
from fsbench_kit.claims.relations.base import RELATIONS, Direction, Finding, Known, Relation

__all__ = ["RELATIONS", "Direction", "Finding", "Known", "Relation"]
