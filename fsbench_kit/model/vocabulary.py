"""The controlled vocabulary: metrics, settings, statuses and diagnostic codes, each with its meaning.

The modules of `fsbench_kit.formats` translate what each tool prints into these words; no other code does. To
support a figure that has no word yet, add the word here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.model.conditions import CONDITIONS
from fsbench_kit.model.order import in_order
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Iterable

Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Metric:
    """What a figure measures.

    Attributes
    ----------
    unit
        The base unit, one of those in `fsbench_kit.model.units`.
    better
        Which direction is better; ``None`` if neither is.
    meaning
        One sentence.
    """

    unit: str
    better: Better | None
    meaning: str


EITHER_LATENCY: Final = "completion_or_total_latency"

OF_MACHINE: Final[dict[str, Metric]] = {
    "disk_utilisation": Metric("1", None, "Share of the time in which a block device was busy."),
    "device_bandwidth": Metric("B/s", None, "Bytes that a block device moved per second."),
    "device_iops": Metric("1/s", None, "Requests that a block device completed per second."),
    "cpu_busy": Metric("1", None, "Share of the time of all processors in which they were busy."),
    "cpu_iowait": Metric(
        "1", None, "Share of the time of all processors in which they were idle and waiting for I/O."
    ),
    "cpu_steal": Metric(
        "1", None, "Share of the time of all processors that the host took from this virtual machine."
    ),
    "memory_available": Metric("B", None, "Memory available to programs."),
    "memory_cached": Metric("B", None, "Memory in the page cache."),
    "memory_dirty": Metric("B", None, "Data in memory waiting to be written."),
    "memory_writeback": Metric("B", None, "Data in memory being written."),
    "pressure_some": Metric(
        "1", None, "Share of the time in which at least one task waited for a resource (PSI)."
    ),
    "pressure_full": Metric("1", None, "Share of the time in which all tasks waited for a resource (PSI)."),
}
"""What the machine did during a run. These series describe the whole run, not one of its operations."""

METRICS: Final[dict[str, Metric]] = {
    # what a filesystem delivers
    "bandwidth": Metric("B/s", "higher", "Bytes moved per second."),
    "iops": Metric("1/s", "higher", "I/O requests completed per second."),
    "file_rate": Metric("1/s", "higher", "Files created, read, rewritten or deleted per second."),
    "request_bandwidth": Metric("B/s", "higher", "Bytes of a single request divided by its duration."),
    "latency": Metric("s", "lower", "Time of one request, from its issue to its completion."),
    "submission_latency": Metric("s", "lower", "The part of a request's latency spent in submitting it."),
    "completion_latency": Metric("s", "lower", "The part of a request's latency from submission to completion."),
    EITHER_LATENCY: Metric("s", "lower", "Completion latency or total latency, where a log does not say which."),
    "rate": Metric("1/s", "higher", "Whatever a command counts, per second: transactions, files, operations."),
    "score": Metric("1", "higher", "A plain number printed by a command; higher is better."),
    "cost": Metric("1", "lower", "A plain number printed by a command; lower is better."),
    "phase_latency": Metric("s", "lower", "The longest single operation of a bonnie++ phase."),
    "elapsed": Metric("s", "lower", "Duration of a task."),
    "elapsed_with_sync": Metric(
        "s",
        "lower",
        "Duration of a task plus that of the sync after it; computed for comparisons where a log has both.",
    ),
    # what it costs
    "cpu": Metric("1", "lower", "Share of one processor's time."),
    "cpu_user": Metric("1", "lower", "Share of one processor's time in user mode."),
    "cpu_time": Metric("s", "lower", "Processor time used, by all processors together."),
    "cpu_system": Metric("1", "lower", "Share of one processor's time in the kernel."),
    "cpu_idle": Metric("1", "higher", "Share of the processors' time that the benchmark left to other work."),
    "idle_unit_time": Metric(
        "s", None, "Duration of the unit of work with which fio measures how idle the processors are."
    ),
    "capacity": Metric("1", "higher", "Share of the device that the filesystem offers for data."),
    "capacity_change": Metric("1", "higher", "Change of that share, also as a share of the device."),
    "cpu_time_user": Metric("s", "lower", "Processor time in user mode."),
    "cpu_time_system": Metric("s", "lower", "Processor time in the kernel."),
    "memory_peak": Metric("B", "lower", "Largest resident memory of a process."),
    "voluntary_switches": Metric("1", "lower", "Context switches in which a process gave up its processor."),
    "involuntary_switches": Metric("1", "lower", "Context switches in which a process was preempted."),
    "swaps": Metric("1", "lower", "Times that a process was swapped out."),
    "block_inputs": Metric("1", None, "Blocks of 512 bytes read from block devices."),
    "block_outputs": Metric("1", None, "Blocks of 512 bytes written to block devices, immediately or later."),
    "context_switches": Metric("1", "lower", "Context switches."),
    "major_faults": Metric("1", "lower", "Page faults that needed I/O."),
    "minor_faults": Metric("1", "lower", "Page faults that needed none."),
    # what was done: counts, which are no result in themselves
    "bytes": Metric("B", None, "Bytes moved."),
    "operations": Metric("1", None, "Requests completed."),
    "short_operations": Metric("1", None, "Requests that moved fewer bytes than requested."),
    "dropped_operations": Metric("1", None, "Requests that were dropped."),
    "runtime": Metric("s", None, "Time for which the load ran."),
    "event_time": Metric("s", None, "Time in requests, summed over all threads."),
    "thread_events": Metric("1", None, "Requests of one thread."),
    "thread_time": Metric("s", None, "Time of one thread in requests."),
    "group_share": Metric("1", None, "Share of a group's bandwidth."),
    "operation_share": Metric("1", None, "Share of a job's requests."),
    "errors": Metric("1", "lower", "Requests that failed."),
    "zone_resets": Metric("1", None, "Zone resets."),
    "depth": Metric("1", None, "Requests in flight."),
    "submit_batch": Metric("1", None, "Requests submitted by one call."),
    "complete_batch": Metric("1", None, "Requests reaped by one call."),
    # what the device saw
    "disk_ios": Metric("1", None, "Requests that a block device completed."),
    "disk_sectors": Metric("1", None, "Sectors of 512 bytes that a block device moved."),
    "disk_merges": Metric("1", None, "Requests merged by the scheduler of a block device."),
    "disk_ticks": Metric("s", None, "Time that requests spent in a block device, summed."),
    "disk_queue_time": Metric("s", None, "Time that requests spent in a block device's queue, summed."),
    **OF_MACHINE,
}

SCOPES: Final = ("all", "group", "job", "client", "thread", "disk")
STATES: Final = ("measured", "censored", "missing")
STATUSES: Final = ("ok", "failed", "partial")
STUDY_ORIGINS: Final = ("published", "recorded", "launched")
SEVERITIES: Final = ("note", "warning", "error")

SettingKind = Literal["workload", "system", "target", "label"]


@dataclass(frozen=True, slots=True)
class SettingWord:
    """A setting: something that the tool was told, or a property of the machine.

    Attributes
    ----------
    kind
        ``workload``: what the tool was told to do; ``system``: where it ran; ``target``: a property of the
        filesystem under test, which differs with it by nature; ``label``: a name that changes nothing.
    meaning
        One sentence, with the unit of the value.
    """

    kind: SettingKind
    meaning: str


SETTINGS: Final[dict[str, SettingWord]] = {
    # workload
    "pattern": SettingWord("workload", "Access pattern, in the tool's own word: randrw, seqwr, ..."),
    "block_size": SettingWord("workload", "Size of one request or record, in bytes."),
    "file_size": SettingWord("workload", "Size of the data of one job, or of the file, in bytes."),
    "total_size": SettingWord("workload", "Size of all files together, in bytes."),
    "files": SettingWord("workload", "Number of files."),
    "threads": SettingWord("workload", "Number of threads or processes that issue requests."),
    "iodepth": SettingWord("workload", "Requests that each thread or process keeps in flight."),
    "engine": SettingWord("workload", "How requests are issued: libaio, sync, ..."),
    "direct": SettingWord("workload", "Whether the page cache is bypassed (O_DIRECT): true or false."),
    "sync": SettingWord("workload", "Whether each write is synchronous (O_SYNC or O_DSYNC): true or false."),
    "fsync": SettingWord("workload", "Number of writes between two fsync calls."),
    "final_fsync": SettingWord("workload", "Whether the run ends with an fsync: true or false."),
    "read_share": SettingWord("workload", "Share of reads in a mixed load."),
    "time_limit": SettingWord("workload", "Time limit of the run, in seconds."),
    "request_limit": SettingWord("workload", "Maximum number of requests in a run."),
    "time_based": SettingWord("workload", "Whether the load repeats until the time limit: true or false."),
    "grouped": SettingWord("workload", "Whether one figure is printed for all jobs of a group: true or false."),
    "stride": SettingWord("workload", "Distance between two strided reads, in records."),
    "compressibility": SettingWord("workload", "Share of the data that compression can remove."),
    "open_flags": SettingWord("workload", "Extra flags with which files are opened, as the tool prints them."),
    # system
    "host": SettingWord("system", "Name of the machine."),
    "os": SettingWord("system", "Operating system."),
    "kernel": SettingWord("system", "Release of the kernel."),
    "cpu": SettingWord("system", "Processors."),
    "cpus": SettingWord("system", "Number of processors."),
    "memory": SettingWord("system", "Main memory, in bytes where the figure is exact, else as stated."),
    "device": SettingWord("system", "Block device or devices under the filesystem."),
    "image_allocation": SettingWord(
        "system",
        "How the space of image files was allocated: unwritten, written or sparse; and whether it was trimmed.",
    ),
    "fio.filename": SettingWord(
        "system", "Files or devices of a job. File names are only labels; devices distinguish runs."
    ),
    "disks": SettingWord("system", "Disks that hold the filesystem, as commands and logs name them."),
    "log_device": SettingWord("system", "Separate disk for the filesystem's log."),
    "cache_device": SettingWord("system", "Disk used as a cache for the filesystem."),
    "controller": SettingWord("system", "Controller of the device."),
    "fill": SettingWord("system", "Share of the filesystem that was filled with other files before the run."),
    "churn": SettingWord(
        "system", "How many times that amount of data had been deleted and rewritten before the run."
    ),
    "scheduler": SettingWord("system", "I/O scheduler of the device."),
    "read_ahead": SettingWord("system", "How far the kernel reads ahead on the device, in bytes."),
    "nr_requests": SettingWord("system", "Size of the device's request queue."),
    "governor": SettingWord("system", "Frequency governor of the processors."),
    "transparent_hugepage": SettingWord("system", "Which memory the kernel backs with huge pages."),
    "dirty_ratio": SettingWord(
        "system", "Percentage of memory that dirty data may take before writers have to wait."
    ),
    "dirty_bytes": SettingWord("system", "The same limit in bytes."),
    "dirty_background_ratio": SettingWord(
        "system", "Percentage of memory that dirty data may take before the kernel starts writing it."
    ),
    "dirty_background_bytes": SettingWord("system", "The same limit in bytes."),
    "dirty_expire_centisecs": SettingWord(
        "system", "Age at which dirty data is written, in hundredths of a second."
    ),
    "dirty_writeback_centisecs": SettingWord(
        "system", "Interval at which the kernel looks for dirty data to write, in hundredths of a second."
    ),
    "memory_limit": SettingWord("system", "Limit on a run's memory, including page cache, in bytes."),
    "cpu_list": SettingWord("system", "Processors that a run was confined to."),
    "timer": SettingWord("system", "Clock used for timing."),
    "tool_version": SettingWord("system", "Version of the tool."),
    "tool_build": SettingWord("system", "Platform that the tool was built for."),
    "iozone.mode": SettingWord("system", "Word size that iozone was compiled for."),
    "iozone.machine": SettingWord("system", "The machine, as printed by `uname -a`."),
    "iozone.time_resolution": SettingWord("system", "Resolution of iozone's clock, in seconds."),
    "iozone.cpu_time_resolution": SettingWord("system", "Resolution of iozone's CPU time, in seconds."),
    # target
    "raid": SettingWord("target", "How devices are combined."),
    "filesystem_version": SettingWord("target", "Version of the filesystem's implementation."),
    "filesystem_tools": SettingWord("target", "Version of the filesystem's tools."),
    "mount_options": SettingWord("target", "Mount options."),
    "mkfs_options": SettingWord("target", "Options given to mkfs."),
    "provision": SettingWord("target", "Commands that created and mounted the filesystem."),
    # labels
    "boot": SettingWord("label", "The boot that the run belongs to, by the kernel's boot ID."),
    "date": SettingWord("label", "Date of the run, or start time of its session of runs, from file names."),
    "group": SettingWord("label", "Label of the group that the run was assigned to in a comparison."),
    "job_name": SettingWord("label", "Name of a job."),
    "description": SettingWord("label", "A job's own description."),
    "directory": SettingWord("label", "Directory of the files."),
    "command": SettingWord("label", "The command line."),
    "fio.steadystate_attained": SettingWord("label", "Whether the load reached its steady state: true or false."),
    "fio.steadystate_criterion": SettingWord(
        "label", "The measure that was compared with the steady-state limit."
    ),
    "device_read": SettingWord("label", "Bytes that the disks read during the run, from the kernel's counters."),
    "device_written": SettingWord(
        "label", "Bytes that the disks wrote during the run, from the kernel's counters."
    ),
    "seed": SettingWord("label", "Seed of the tool's random numbers."),
    "stopping_rule": SettingWord("label", "The rule that decided how many rounds a launch made."),
    "bonnie++.-q": SettingWord("label", "Whether bonnie++ was quiet: true."),
    "bonnie++.-u": SettingWord("label", "The user that bonnie++ ran as."),
    "bonnie++.-g": SettingWord("label", "The group that bonnie++ ran as."),
    "bonnie++.-x": SettingWord("label", "Number of runs in a row."),
    "output": SettingWord("label", "Where and how the tool wrote its report."),
}
"""Settings with a common name. An option that only one tool has is called ``<tool>.<option>`` and counts as
workload, unless it is listed here."""

AT: Final = r"^\d{4}-\d\d-\d\d \d\d:\d\d"
"""Matches dates that include a time of day."""

ASKED: Final = "asked."
"""Prefix of plan keys that a launch varied and no log reports. Each such key is a workload setting."""


def factor_key(factor: str, known: Iterable[str]) -> str:
    """Return the setting that a factor name refers to: the requested value where a launch varied it.

    >>> factor_key("mount_options", ["asked.mount_options", "mount_options"]), factor_key("kernel", ["kernel"])
    ('asked.mount_options', 'kernel')
    """
    return asked if (asked := f"{ASKED}{factor}") in known else factor


OPTIONS: Final = {
    "rw": "pattern",
    "bs": "block_size",
    "numjobs": "threads",
    "ioengine": "engine",
    "file_test_mode": "pattern",
    "file_total_size": "total_size",
    "file_block_size": "block_size",
    "file_num": "files",
    "file_io_mode": "engine",
}
"""Plan options of each tool whose values appear in logs under another setting name."""

STAGES: Final = ("precondition", "warm-up", "measured")
"""The purposes of a launched run. Runs made before the first round are kept but not compared."""

ORIGINS: Final = ("log", "command", "environment", "study", "name", "stated", "assumed")
"""How a setting is known, strongest evidence first: from the log itself; from the command line that ran; from
the machine state that a launch recorded; from the study file; from file names; from an article's text; by
assumption."""


FOLLOWS: Final[dict[str, tuple[str, ...]]] = {
    "iodepth": ("fio.latency_depth",),
    "threads": ("fio.started",),
    "files": ("total_size",),
    "file_size": ("total_size",),
    "tool_version": ("tool_build",),
    "kernel": ("iozone.machine",),
    "scheduler": ("nr_requests",),
    "host": ("cpu", "cpus", "memory", "device", "disks", "controller", "fio.filename", "iozone.machine"),
}
"""Settings that are determined by another setting: where that one is the factor, these say nothing new."""

_OF_REPORTS: Final = re.compile(
    r"fio\.(write_\w+_log|log_\w+|per_job_logs|\w*output\w*|\w*description|section|name|eta\S*|status-interval"
    r"|filename_format|unique_filename|opendir|aux-path|\w*percentiles|percentile_list|significant_figures"
    r"|(bw|iops)avgtime|kb_base|unit_base|unified_rw_reporting|disk_util|terse-version|minimal|append-terse)"
    r"|sysbench\.(report-\w+|debug|verbosity|histogram|percentile)|iozone\.-[bRE]"
)
"""Options that name, place or format a tool's reports and do not affect its work."""


_IN_BYTES: Final = frozenset({"block_size", "file_size", "total_size", "memory", "memory_limit"})


def setting_texts(key: str, values: Iterable[str]) -> list[str]:
    """Write values of a setting for people: in natural order, and bytes in units unless two would print alike.

    Examples
    --------
    >>> setting_texts("block_size", ["16384", "4096"]), setting_texts("threads", ["16", "2"])
    (['4 KiB', '16 KiB'], ['2', '16'])
    >>> setting_texts("block_size", ["16384", "16385"])
    ['16384', '16385']
    """
    known = in_order(values)
    if key not in _IN_BYTES:
        return known
    texts = [humanise(int(value), "B") if value.isdecimal() else value for value in known]
    return texts if len(set(texts)) == len(texts) else known


def setting_kind(key: str) -> SettingKind:
    """Return the kind of a setting. An unlisted one is an option of a single tool and counts as workload.

    Settings of ZFS and of md mirrors belong to the target; report options are labels.
    """
    word = SETTINGS.get(key)
    if word is not None:
        return word.kind
    if key.startswith(("zfs.", "zpool.", "md.")):
        return "target"
    return "label" if _OF_REPORTS.fullmatch(key) else "workload"


Severity = Literal["note", "warning", "error"]

RUN_SCHEMA: Final = 1
"""The version of a run record (``run.json``) that this package writes and understands."""

DIAGNOSTICS: Final[dict[str, tuple[Severity, str]]] = {
    "PROGRESS": ("note", "The log shows progress during the run; these momentary figures are not results."),
    "UNREAD_FIGURE": ("warning", "Text with a figure in it was not understood."),
    "OTHER_TEXT": ("note", "Text beside the logs contains figures but belongs to none of them."),
    "NOT_FILEIO": ("note", "The log is from a sysbench test other than fileio."),
    "AMBIGUOUS_RUNS": ("note", "The log does not show whether its jobs belong to one run or to several."),
    "UNNAMED_LATENCY": (
        "note",
        "The log does not say whether its percentiles are of completion latency or total latency.",
    ),
    "PREPARATION": ("note", "The tool prepares or removes its files; this is not a run."),
    "SAME_RUN": ("note", "A run was read from several places or formats; it counts once."),
    "SAME_FIGURES": ("warning", "Two runs that are declared to be different have the same figures."),
    "COMMAND_LEFT_OUT": ("note", "A command line before a log does not fit the log and was not used."),
    "INTERIM_REPORT": (
        "note",
        "A report from before the end of a run was read as part of its series, not as a result.",
    ),
    "DAMAGED_MARK": ("note", "A mark was recognised although copying had damaged it."),
    "REPAIRED": ("note", "The copy was mangled, but could be read unambiguously."),
    "REPAIRED_CODING": ("note", "A mail encoding was decoded: quoted-printable or base64."),
    "REPAIRED_ESCAPES": ("note", "The log was inside a quoted string, with its line breaks written as \\n."),
    "REPAIRED_HTML": ("note", "HTML tags and entities were removed."),
    "REPAIRED_MARKDOWN": ("note", "Markdown markup inside the log was removed."),
    "REPAIRED_MESSAGES": (
        "note",
        "Kernel messages that a console had printed into the log were removed.",
    ),
    "REPAIRED_NUMBERS": (
        "note",
        "Decimal commas were replaced by points, and thousands separators were removed.",
    ),
    "REPAIRED_PREFIXES": (
        "note",
        "A prefix on each line of the log (a mail's >, a time, a host) was removed.",
    ),
    "REPAIRED_PUNCTUATION": (
        "note",
        "Typographic quotes, dashes and ellipses were replaced by those that tools print.",
    ),
    "REPAIRED_SPACES": ("note", "No-break and other special spaces were replaced by plain ones."),
    "REPAIRED_TERMINAL": ("note", "Terminal colours and other control sequences were removed."),
    "REPAIRED_WRAPS": ("note", "Lines wrapped at the width of a terminal were joined."),
    "ZERO_BYTES": (
        "warning",
        "The log contains zero bytes, as a crash leaves them; the text in their place is lost.",
    ),
    "OVERLONG_NUMBER": ("warning", "A number has more digits than any figure can have, and was not read."),
    "DAMAGED_ARCHIVE": ("warning", "A compressed file is truncated or damaged; what could be unpacked was read."),
    "LEFT_OUT": (
        "note",
        "In a large file, only the text around logs was read closely.",
    ),
    "INCOMPLETE_LOG": ("note", "The log lacks parts that its tool prints."),
    "SECOND_PRINTING_DIFFERS": ("warning", "A figure is printed twice with different values."),
    "WRONG_FIGURE": (
        "warning",
        "The tool prints a different figure from what its heading says; the figure is not used.",
    ),
    "FIGURES_DISAGREE": ("warning", "Figures of one run that should agree do not."),
    "IDLE_THREAD": ("warning", "A thread issued requests only during a small part of the run."),
    "UNKNOWN_KIND": ("warning", "The log does not show what its values measure."),
    "UNKNOWN_UNIT": ("warning", "The log does not show the unit of its values."),
    "TIME_FALLS_BACK": (
        "note",
        "The times of a log go back to an earlier time, as if several jobs or runs had written it.",
    ),
    "DOUBLED_ROWS": ("warning", "Each row of a log appears twice, as if copying had doubled its lines."),
    "SERIES_LEFT": ("note", "A log has too many rows to be kept as a series of its run."),
    "NOT_OVER_INTERVALS": (
        "note",
        "A report's mean bandwidth or IOPS is over single requests, not over time intervals.",
    ),
    "WRONG_HEADING": (
        "note",
        "A heading names a unit that the tool does not print in; the tool's own unit was used.",
    ),
    "SETTINGS_DISAGREE": ("warning", "A setting is known from two sources that disagree."),
    "UNIT_ASSUMED": ("warning", "The unit of the figures is not stated; the tool's default is assumed."),
    "NO_OVERLAP": ("warning", "Processes whose rates are added up did not run at the same time."),
    "DUPLICATE_FIGURE": ("warning", "Two figures of one run are for the same thing; the first one counts."),
    "UNKNOWN_ROUNDING": ("note", "A figure is given as approximate; how it was rounded is not known."),
    "QUALIFIED": ("note", "The source qualifies a figure."),
    "NOT_DIRECT": ("note", "Direct I/O was requested, but the tool does not use it for these operations."),
    "RUN_FAILED": ("warning", "The run reports an error."),
    "CARRY_LOST": ("note", "fio printed a fraction of almost 1 as .0; the figure's bounds allow for it."),
    "RUN_STOPPED": ("note", "The run was stopped before its end."),
    **{code: (condition.severity, condition.meaning) for code, condition in CONDITIONS.items()},
    "UNKNOWN_CONDITION": ("warning", "A run's record contains a condition that this version does not know."),
    "NEWER_RECORD": ("warning", "A newer version wrote a file; this version read what it knows."),
    "SKIPPED": (
        "warning",
        "Archives, special files and links out of the folder are not read in a folder.",
    ),
    "REPORT_SKIPPED": ("note", "A report among the logs was not read, because it contains copies of logs."),
    "READ_BEFORE": ("note", "A file or folder was given under several names; it was read once."),
    "CHANGED_SINCE_RECORDED": ("error", "A file differs from the one that its record describes."),
    "TOO_LARGE": ("error", "A file exceeds the size limit; the rest of it was not read."),
    "NO_LOG": ("error", "No log was found in the file."),
    "EMPTY": ("error", "The file is empty."),
    "NOT_TEXT": ("error", "The file contains binary data."),
    "UNREADABLE": ("error", "The file cannot be read."),
    "NAME_DOES_NOT_FIT": ("warning", "A file name does not match the name template."),
    "ASSUMED": ("note", "The reader supplied a value that no log contains."),
    "UNNAMED_LOG": ("warning", "The study file does not name this log file."),
    "UNNAMED_RUN": (
        "warning",
        "The study file lists the runs of a log file individually and does not name this one.",
    ),
    "NO_SUCH_RUN": ("error", "The study file names a run that its log file does not have."),
    "BAD_STUDY": ("error", "The study file cannot be used."),
}
"""Diagnostic codes, each with its severity and explanation."""
