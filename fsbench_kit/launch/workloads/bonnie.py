"""bonnie++: the options of its manual (``bonnie++(8)``), spelled out.

::

    [[workload]]
    tool = "bonnie++"
    size = "8G"          # -s: total size of the files to write, rewrite and read
    fast = true          # -f: skip the per-character tests
    files = 16384        # -n: files to create, look up and delete

A test is left out if its key is, so that bonnie++ never picks a size from the machine's memory. It refuses a
`size` below twice the memory, which would measure the page cache. `ram_size` makes it assume another memory size,
and 0 disables the check. When started as root it runs as root (``-u root``), in a directory created for it.

Standard output has the table and the CSV line, which are the same run in two formats.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field, model_validator

from fsbench_kit.launch.plan_errors import MissingKeyError, Place, PlanError
from fsbench_kit.launch.schema import Count, Size, Truth, as_bytes
from fsbench_kit.launch.tools import Program
from fsbench_kit.launch.workloads.base import Amount, RunContext, Scale, Work, where_known
from fsbench_kit.launch.workloads.options import OptionsWorkload
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_MIB: Final = 2**20
_UNIT: Final = 1024  # bonnie++ counts files in multiples of this
_BLOCK: Final = 4096
_OWN_CHARS: Final = 3 * _MIB
"""How much bonnie++ 2.00 tests by the character by default, without ``-f``."""
_CHARS: Final = 2 * _MIB
"""Testing less than this by the character may take under half a second on a fast machine, which gives no
figure."""

WholeMebibytes = Annotated[
    int,
    BeforeValidator(as_bytes),
    Field(gt=0, multiple_of=_MIB, description="a size of whole MiB", examples=["8G"]),
]
RamSize = Annotated[
    int,
    BeforeValidator(as_bytes),
    Field(
        ge=0,
        multiple_of=_MIB,
        description="a size in whole MiB, or 0 to skip the memory check",
        examples=[0],
    ),
]
Files = Annotated[
    int, Field(gt=0, multiple_of=_UNIT, description="a number of files, a multiple of 1024", examples=[16384])
]


class Bonnie(OptionsWorkload):
    """A ``[[workload]]`` with ``tool = "bonnie++"``.

    Attributes
    ----------
    size
        The size of the file in the throughput tests (``-s``).
    chunk_size
        The request size in these tests (the second part of ``-s``).
    fast
        Skip the tests that read and write byte by byte (``-f``).
    char_size
        How much data the per-character tests write and read (``-f`` with a size); by default 3 MiB.
    direct
        Use O_DIRECT (``-D``).
    no_write_buffering
        Sync after each write and each directory change (``-b``).
    files
        How many files to create, look up and delete (the first part of ``-n``).
    largest_file
        The size of the largest of these files; by default they are empty.
    smallest_file
        The size of the smallest of these files.
    directories
        How many directories the files are spread over.
    ram_size
        The memory size that bonnie++ should assume (``-r``), which determines the smallest allowed `size`.
    concurrency
        How many copies of each test run at once (``-c``).
    """

    programs: ClassVar = (Program("bonnie++", "bonnie++", "-h", install=True),)
    helps: ClassVar = (("bonnie++", "-h"),)
    keyed: ClassVar = frozenset(f"-{letter}" for letter in "dsncrfDbuz")
    refused: ClassVar = {
        "-p": "it waits for others",
        "-y": "it waits for others",
        "-Z": "it reads another file",
        "-g": "the run keeps its user",
    }
    scale: ClassVar = Scale(
        amounts={
            "size": Amount(of="The file", whole=(_MIB,)),
            "char_size": Amount(of="What bonnie++ itself would test by the character", whole=(_CHARS,)),
        }
    )

    tool: Literal["bonnie++"]
    size: WholeMebibytes | None = None
    chunk_size: Size | None = None
    fast: Truth = False
    char_size: WholeMebibytes | None = None
    direct: Truth = False
    no_write_buffering: Truth = False
    files: Files | None = None
    largest_file: Size | None = None
    smallest_file: Size | None = None
    directories: Count | None = None
    ram_size: RamSize | None = None
    concurrency: Count | None = None

    @model_validator(mode="after")
    def _has_a_test(self) -> Bonnie:
        if self.size is None and (self.files is None or self.chunk_size is not None):
            raise MissingKeyError("size")
        if self.fast and self.char_size is not None:
            what = '"char_size" applies to the tests that "fast" leaves out'
            raise PlanError(what, Place(key="char_size"), hint="Take one of them out.")
        if self.files is None and (self.largest_file or self.smallest_file or self.directories):
            raise MissingKeyError("files")
        return self

    def program_error(self) -> PlanError | None:
        """Check whether bonnie++ considers the file too small for the memory, and check the options."""
        here = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        memory = here if self.ram_size is None else self.ram_size
        installed = all(program.path is not None for program in self.programs)
        if installed and self.size is not None and self.size // _MIB < 2 * (memory // _MIB):
            what = f"bonnie++ refuses a file of {humanise(self.size, 'B')} with {humanise(memory, 'B')} of memory"
            hint = "Write a size of twice the memory; or skip this check of bonnie++: ram_size = 0"
            return PlanError(what, Place(key="size"), hint=hint)
        return super().program_error()

    def shortened(self) -> Bonnie:
        """Return it with a small file and without the check of the memory."""
        small = {"size": self.size and min(self.size, 16 * _MIB), "files": self.files and _UNIT, "ram_size": 0}
        return self.model_copy(update=small)

    @classmethod
    def table_from(cls, settings: Mapping[str, str], operations: Collection[str]) -> dict[str, Any]:
        """Return the plan table for a run's settings, without the check of the memory.

        No log states how much was tested by the character, so that bonnie++'s own default is used.
        """
        by_character = "write_char" in operations
        return {
            "tool": "bonnie++",
            "name": "bonnie",
            "ram_size": 0,
            "fast": not by_character,
            **({"char_size": _OWN_CHARS} if by_character else {}),
            **where_known(
                settings,
                ("size", "file_size", int),
                ("chunk_size", "block_size", int),
                ("files", "files", int),
                ("concurrency", "threads", int),
            ),
        }

    def work(self, context: RunContext) -> Work:
        """Return the command line."""
        size = [self.size // _MIB if self.size else 0, self.chunk_size]
        files = [
            self.files // _UNIT if self.files else 0,
            self.largest_file or 0,
            self.smallest_file or 0,
            self.directories,
        ]
        argv = ["bonnie++", "-d", str(context.directory), "-s", _joined(size), "-n", _joined(files)]
        if self.ram_size is not None:
            argv += ["-r", str(self.ram_size // _MIB)]
        if self.concurrency is not None:
            argv += ["-c", str(self.concurrency)]
        argv += [
            flag for flag, on in (("-f", self.fast), ("-D", self.direct), ("-b", self.no_write_buffering)) if on
        ]
        if self.char_size is not None:
            argv.append(f"-f{self.char_size // _MIB}")
        if os.geteuid() == 0:
            argv += ["-u", "root"]
        return Work(measured=(*argv, *self.words, "-z", str(context.seed)))

    @property
    def is_direct(self) -> bool:
        """With O_DIRECT."""
        return self.direct

    @property
    def space(self) -> int:
        """The files of one test are deleted before those of the other are created."""
        blocks = -(-(self.largest_file or 0) // _BLOCK) + 1  # plus one for the name and the inode
        return max(self.size or 0, (self.files or 0) * blocks * _BLOCK) * self._copies

    @property
    def most_files(self) -> int:
        """The files of the second test."""
        return (self.files or 0) * self._copies

    @property
    def least_written(self) -> int:
        """The large file is written in blocks and rewritten; the small files are created twice."""
        return 2 * ((self.size or 0) + (self.files or 0) * (self.smallest_file or 0)) * self._copies

    @property
    def _copies(self) -> int:
        return self.concurrency or 1


def _joined(parts: list[int | None]) -> str:
    return ":".join(str(part) for part in parts if part is not None)
