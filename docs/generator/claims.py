"""The relations of claims, from their classes."""

from __future__ import annotations

from docs.generator.markdown import table
from fsbench_kit.claims import RELATIONS


def relations() -> str:
    """Return what each relation says, and the keys that it needs."""
    return table(
        ("relation", "meaning", "needs"),
        (
            (f"`{name}`", str(relation.__doc__), ", ".join(f"`{key}`" for key in relation.needs))
            for name, relation in RELATIONS.items()
        ),
    )
