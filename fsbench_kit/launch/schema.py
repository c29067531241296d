"""What all tables of a plan have in common.

Unless its type is a choice of words, every field says in its `description` what it must be, and in `examples` what
to write. Error messages are built from these.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from fsbench_kit.model.units import size
from fsbench_kit.model.vocabulary import ASKED


class PlanTable(BaseModel):
    """A table of a plan: immutable, without conversions or unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class VariedTable(PlanTable):
    """A table that may occur several times in a plan, differing only in some keys.

    Attributes
    ----------
    varied
        The keys that were lists in the plan, each with this table's value.
    """

    varied: Annotated[
        dict[str, str],
        Field(description="a table of the keys that were lists, with their values; the launch itself writes it"),
    ] = {}

    @property
    def asked(self) -> dict[str, str]:
        """The varied values that no log reports, as settings."""
        return {f"{ASKED}{key}": value for key, value in self.varied.items() if not self.is_logged(key)}

    def is_logged(self, key: str) -> bool:
        """Return whether a run's log or command line shows the value of a key."""
        raise NotImplementedError


def as_bytes(value: Any) -> Any:
    """Convert a size in text to bytes; leave anything else for the field to check."""
    return size(value) if isinstance(value, str) else value


Size = Annotated[
    int,
    BeforeValidator(as_bytes),
    Field(gt=0, description='a size: a number of bytes, or text like "4k", "512M" or "2G"', examples=["64M"]),
]
"""A size in bytes. Suffixes are powers of 1024."""

_TOLERANCE: Final = 1e-6
"""The largest error of floating point in a whole number."""

_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"

Name = Annotated[
    str,
    Field(
        pattern=_NAME,
        description='a name of letters, digits, ".", "_" and "-" that starts with a letter or digit',
        examples=["ext4"],
    ),
]
"""A name that can be part of a folder's name."""


def named(table: Any) -> Any:
    """Give an unnamed table a name: its filesystem or program, or else its kind."""
    if not isinstance(table, dict) or "name" in table:
        return table
    values = (program(table[key]).replace("+", "") for key in _TELLING if key in table)
    name = next((value for value in values if re.search(_NAME, value)), None)
    return table if name is None else {"name": name, **table}


_TELLING: Final = ("filesystem", "kind", "command", "tool")


def program(value: object) -> str:
    """Return the name of a command's program, or a string unchanged.

    >>> program(["./build.sh", "-j4"]), program("ext4")
    ('build.sh', 'ext4')
    """
    first = value[0] if isinstance(value, list) and value else value
    return (first.rpartition("/")[2] if isinstance(value, list) else first) if isinstance(first, str) else ""


Count = Annotated[int, Field(ge=1, description="a whole number of at least 1", examples=[6])]
Compressibility = Annotated[
    int,
    Field(ge=0, le=99, description="a percentage from 0 (random bytes) to 99", examples=[50]),
]
Whole = Annotated[int, Field(ge=0, description="a whole number of at least 0", examples=[1])]
Seconds = Annotated[
    float, Field(gt=0, allow_inf_nan=False, description="a number of seconds above 0", examples=[60])
]


def _whole_milliseconds(value: float) -> float:
    if abs(value * 1000 - round(value * 1000)) > _TOLERANCE:
        raise ValueError
    return value


Milliseconds = Annotated[
    float,
    Field(
        ge=0.001,
        allow_inf_nan=False,
        description="a number of seconds of at least 0.001, with no more than three decimals",
        examples=[2.5],
    ),
    AfterValidator(_whole_milliseconds),
]
"""A time in seconds, for a program that counts in milliseconds."""
Truth = Annotated[bool, Field(description="true or false", examples=[True])]


Freshness = Literal["fresh", "reused", "restored"]
"""Whether each run gets a fresh filesystem, all runs on a target share one, or each gets a restored one."""


def short_size(number: int) -> str:
    """Return a size as users of these tools write it.

    >>> short_size(4096), short_size(67108864), short_size(1000)
    ('4k', '64m', '1000')
    """
    for factor, suffix in ((2**30, "g"), (2**20, "m"), (2**10, "k")):
        if number % factor == 0:
            return f"{number // factor}{suffix}"
    return str(number)
