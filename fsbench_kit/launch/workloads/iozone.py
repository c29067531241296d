"""iozone: the options of its manual (``iozone -h``), spelled out.

::

    [[workload]]
    tool = "iozone"
    mode = "auto"                  # -a: file sizes and record sizes in powers of 2
    maximum_file_size = "1G"       # -g
    tests = ["write", "random"]    # -i 0 -i 2

    [[workload]]
    tool = "iozone"
    mode = "throughput"            # -t: several processes in parallel
    processes = 4
    file_size = "256M"             # -s: of each
    record_size = "128k"           # -r

``mode = "single"`` uses one file of one size with one record size. iozone writes its own data, which is
compressible and the same in every run: a filesystem that compresses or deduplicates stores next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, model_validator

from fsbench_kit.launch.plan_errors import MissingKeyError, Place, PlanError
from fsbench_kit.launch.schema import Count, Size, Truth
from fsbench_kit.launch.tools import Program
from fsbench_kit.launch.workloads.base import (
    Amount,
    RunContext,
    Scale,
    Work,
    required,
    truth,
    where_known,
)
from fsbench_kit.launch.workloads.options import OptionsWorkload

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_NUMBERS: Final = {
    "write": 0,
    "read": 1,
    "random": 2,
    "backward_read": 3,
    "record_rewrite": 4,
    "stride_read": 5,
    "fwrite": 6,
    "fread": 7,
    "random_mix": 8,
    "pwrite": 9,
    "pread": 10,
}
_BUFFERED: Final = frozenset({"fwrite", "fread"})
"""Tests that use the C library's buffers, whatever the options."""
_TESTS: Final = ", ".join(f'"{test}"' for test in _NUMBERS)

Test = Annotated[str, Field(pattern=f"^({'|'.join(_NUMBERS)})$")]

KibSize = Annotated[
    Size, Field(multiple_of=1024, description='a size of whole KiB, like "4k" or "2G"', examples=["64M"])
]

_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "auto": ("maximum_file_size",),
    "single": ("file_size", "record_size"),
    "throughput": ("processes", "file_size", "record_size"),
}
_LEAST_RECORD: Final = 4 * 2**10
_LARGEST_RECORD: Final = 16 * 2**20
_RANGE: Final = ("minimum_file_size", "maximum_file_size", "minimum_record_size", "maximum_record_size")
_POSSIBLE: Final[dict[str, tuple[str, ...]]] = {**_NEEDED, "auto": _RANGE}
_SHORT: Final = 2**20
_SIZES: Final = ("processes", "file_size", "record_size", *_RANGE)


class Iozone(OptionsWorkload):
    """A ``[[workload]]`` with ``tool = "iozone"``.

    Attributes
    ----------
    mode
        ``auto`` (``-a``) needs `maximum_file_size` (``-g``) and accepts the other three limits of the ranges
        (``-n``, ``-y``, ``-q``). ``single`` needs `file_size` and `record_size` (``-s``, ``-r``); ``throughput``
        also needs `processes` (``-t``).
    tests
        Which tests to run (``-i``). The first must be ``write``, whose file the others use; by default, all run.
    direct
        Use O_DIRECT (``-I``).
    synchronous
        Open the files with O_SYNC (``-o``).
    include_flush
        Whether write times include fsync (``-e``).
    include_close
        Whether write times include close (``-c``).
    excel_report
        Whether to print the figures a second time (``-R``).
    cpu_use
        Whether to report processor use with each figure (``-+u``).
    """

    # Debian classifies it as non-free, so that it is only installed on request.
    programs: ClassVar = (Program("iozone", "iozone3", "-v"),)
    helps: ClassVar = (("iozone", "-h"),)
    keyed: ClassVar = frozenset(f"-{letter}" for letter in "atsrngyqiIoecRfF")
    refused: ClassVar = {
        "-U": "it mounts and unmounts",
        "-b": "it writes a file elsewhere",
        "-w": "it leaves its files behind",
        "-h": "it makes no run",
        "-v": "it makes no run",
        "-+m": "it runs on other machines",
    }
    scale: ClassVar = Scale(
        amounts={
            "file_size": Amount(of="The file of each process", whole=("record_size",)),
            "minimum_file_size": Amount(of="The smallest file", whole=("maximum_record_size",)),
            "maximum_file_size": Amount(of="The largest file", whole=("maximum_record_size",)),
        }
    )

    tool: Literal["iozone"]
    mode: Literal["auto", "single", "throughput"]
    file_size: KibSize | None = None
    record_size: KibSize | None = None
    processes: Count | None = None
    minimum_file_size: KibSize | None = None
    maximum_file_size: KibSize | None = None
    minimum_record_size: KibSize | None = None
    maximum_record_size: KibSize | None = None
    tests: (
        Annotated[
            tuple[Test, ...],
            Field(
                strict=False,
                min_length=1,
                description=f"a list with any of {_TESTS}",
                examples=[["write", "read"]],
            ),
        ]
        | None
    ) = None
    direct: Truth = False
    synchronous: Truth = False
    include_flush: Truth = False
    include_close: Truth = False
    excel_report: Truth = False
    cpu_use: Truth = False

    @model_validator(mode="after")
    def _fits_its_mode(self) -> Iozone:
        for key in _NEEDED[self.mode]:
            if getattr(self, key) is None:
                raise MissingKeyError(key)
        for key in _SIZES:
            if getattr(self, key) is not None and key not in _POSSIBLE[self.mode]:
                what = f'"{key}" does not apply in the mode "{self.mode}"'
                hint = f"This mode takes: {', '.join(_POSSIBLE[self.mode])}."
                raise PlanError(what, Place(key=key), hint=hint)
        if self.tests is not None and self.tests[0] != "write":
            what = '"tests" must begin with "write", because the other tests use its file'
            raise PlanError(what, Place(key="tests"), hint='Write for example: tests = ["write", "read"]')
        if self.file_size is not None and self.record_size is not None and self.record_size > self.file_size:
            raise PlanError(
                "a record cannot be larger than its file",
                Place(key="record_size"),
                hint="Write a smaller record_size, or a larger file_size.",
            )
        return self

    def shortened(self) -> Iozone:
        """Return it with small files of at least one record."""
        least = max(_SHORT, self.record_size or 0, self.minimum_file_size or 0, self.minimum_record_size or 0)
        sizes = {"file_size": self.file_size, "maximum_file_size": self.maximum_file_size}
        return self.model_copy(update={key: size and min(size, least) for key, size in sizes.items()})

    @classmethod
    def table_from(cls, settings: Mapping[str, str], operations: Collection[str]) -> dict[str, Any]:
        """Return the plan table for a run's settings, with the tests that it has figures for."""
        # Imported here because it loads all formats, which launches do not need.
        from fsbench_kit.formats.iozone.measures import TESTS_BY_NUMBER  # noqa: PLC0415

        automatic = settings.get("iozone.-a") == "true"
        required(settings, *(("iozone.-g",) if automatic else ("file_size", "block_size")))
        sizes = (
            ("minimum_file_size", "iozone.-n", int),
            ("maximum_file_size", "iozone.-g", int),
            ("minimum_record_size", "iozone.-y", int),
            ("maximum_record_size", "iozone.-q", int),
        )
        one = (("file_size", "file_size", int), ("record_size", "block_size", int), ("processes", "threads", int))
        return {
            "tool": "iozone",
            "name": "iozone",
            "mode": "auto" if automatic else "throughput" if "threads" in settings else "single",
            "tests": [test for test, number in _NUMBERS.items() if set(TESTS_BY_NUMBER[number]) & set(operations)],
            **where_known(
                settings,
                *(sizes if automatic else one),
                ("direct", "direct", truth),
                ("synchronous", "sync", truth),
                ("include_flush", "iozone.-e", truth),
                ("include_close", "iozone.-c", truth),
                ("cpu_use", "iozone.-+u", truth),
                ("excel_report", "iozone.-R", truth),
            ),
        }

    def work(self, context: RunContext) -> Work:
        """Return the command line. iozone's data and offsets are always the same, so that it ignores the seed."""
        argv = ["iozone", *(["-a"] if self.mode == "auto" else [])]
        options = {
            "-t": self.processes,
            "-s": _kib(self.file_size),
            "-r": _kib(self.record_size),
            "-n": _kib(self.minimum_file_size),
            "-g": _kib(self.maximum_file_size),
            "-y": _kib(self.minimum_record_size),
            "-q": _kib(self.maximum_record_size),
        }
        for flag, value in options.items():
            argv += [flag, str(value)] if value is not None else []
        for test in self.tests or ():
            argv += ["-i", str(_NUMBERS[test])]
        flags = {
            "-I": self.direct,
            "-o": self.synchronous,
            "-e": self.include_flush,
            "-c": self.include_close,
            # except in throughput mode, iozone reports processor use only there
            "-R": self.excel_report or (self.cpu_use and self.mode != "throughput"),
            "-+u": self.cpu_use,
        }
        argv += [flag for flag, on in flags.items() if on]
        files = [str(context.directory / f"iozone.{number}") for number in range(self.processes or 1)]
        argv += self.words
        argv += ["-F", *files] if self.processes is not None else ["-f", *files]
        return Work(measured=tuple(argv))

    @property
    def is_direct(self) -> bool:
        """Whether O_DIRECT is set, and every test supports it."""
        return self.direct and not _BUFFERED & set(self.tests or _BUFFERED)

    @property
    def space(self) -> int:
        """One file at a time, or one per process."""
        return (self.file_size or self.maximum_file_size or 0) * (self.processes or 1)

    @property
    def least_written(self) -> int:
        """Each file is written and rewritten with each record size."""
        least, most = self.minimum_record_size or _LEAST_RECORD, self.maximum_record_size or _LARGEST_RECORD
        record_sizes = (most // least).bit_length() if self.mode == "auto" else 1
        return 2 * self.space * record_sizes


def _kib(size: int | None) -> int | None:
    return None if size is None else size // 1024
