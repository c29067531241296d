"""Facts about a machine that affect its speed, in the kernel's words, and the health of its disks.

Values that a machine does not report are left out.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.launch.environment import Device, content_of
from fsbench_kit.launch.tools import asked, find_program
from fsbench_kit.launch.tuning.memory import groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_CPUS: Final = Path("/sys/devices/system/cpu")
_FREQUENCY: Final = {
    "driver": "cpu0/cpufreq/scaling_driver",
    "minimum": "cpu0/cpufreq/scaling_min_freq",
    "maximum": "cpu0/cpufreq/scaling_max_freq",
    "preference": "cpu0/cpufreq/energy_performance_preference",
    "boost": "cpufreq/boost",
    "no_turbo": "intel_pstate/no_turbo",
}
_HUGE_PAGES: Final = {
    "reserved": "/proc/sys/vm/nr_hugepages",
    "defragmentation": "/sys/kernel/mm/transparent_hugepage/defrag",
    "shared_memory": "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
}
_LIMITS: Final = {
    "memory": ("memory.max", "memory.high", "memory.limit_in_bytes"),
    "cpu": ("cpu.max", "cpu.cfs_quota_us"),
    "cpuset": ("cpuset.cpus", "cpuset.mems"),
    "blkio": (
        "io.max",
        *(f"blkio.throttle.{way}_{what}_device" for way in ("read", "write") for what in ("bps", "iops")),
    ),
}
"""Controller -> its limits, in versions 1 and 2 of control groups."""
_NO_LIMIT: Final = re.compile(r"|max( \d+)?|-1|9223372036854\d+")
_FIRMWARE: Final = ("firmware_rev", "fwrev", "rev")
_HEALTH: Final = ("device/state", "device/ioerr_cnt", "device/life_time", "device/pre_eol_info", "md/degraded")
_SMARTCTL: Final = ("smartctl", "--json", "--nocheck=standby", "--health", "--attributes")
_OF_SMARTCTL: Final = ("smart_status", "temperature", "power_on_time", "nvme_smart_health_information_log")
_TIMEOUT: Final = 20.0  # seconds


def machine_facts(devices: Sequence[Device]) -> dict[str, Any]:
    """Return what is known of the machine and of a run's block devices."""
    information = content_of(Path("/proc/cpuinfo")) or ""
    microcode = re.search(r"^microcode\s*: (.+)$", information, re.MULTILINE)
    flags = re.search(r"^flags\s*:(.*)$", information, re.MULTILINE)  # only on some architectures
    known = {
        "kernel_command_line": content_of(Path("/proc/cmdline")),
        "mitigations": {path.name: content_of(path) for path in sorted((_CPUS / "vulnerabilities").glob("*"))},
        "microcode": microcode[1] if microcode else None,
        "smt": content_of(_CPUS / "smt/control"),
        "frequency": {name: content_of(_CPUS / file) for name, file in _FREQUENCY.items()},
        "numa": {
            "nodes": content_of(Path("/sys/devices/system/node/online")),
            "balancing": content_of(Path("/proc/sys/kernel/numa_balancing")),
        },
        "virtualisation": {
            "hypervisor": "hypervisor" in flags[1].split() if flags else None,
            "type": content_of(Path("/sys/hypervisor/type")),
            "vendor": content_of(Path("/sys/class/dmi/id/sys_vendor")),
            "product": content_of(Path("/sys/class/dmi/id/product_name")),
        },
        "cgroup": dict(_limits()),
        "huge_pages": {name: content_of(Path(file)) for name, file in _HUGE_PAGES.items()},
        "devices": {device.name: _facts(device) for device in devices},
    }
    return _without_unknown(known)


def _without_unknown(known: dict[str, Any]) -> dict[str, Any]:
    """Drop the facts that the machine does not report."""
    whole = {key: _without_unknown(value) if isinstance(value, dict) else value for key, value in known.items()}
    return {key: value for key, value in whole.items() if value not in (None, "", {})}


def _limits() -> Iterator[tuple[str, list[str]]]:
    """Yield the limits of this process's control group and its ancestors, innermost first."""
    for controller, names in _LIMITS.items():
        for name in names:
            texts = [content_of(group / name) or "" for group in groups(controller)]
            if limits := [text for text in texts if not _NO_LIMIT.fullmatch(text)]:
                yield name, limits


def _facts(device: Device) -> dict[str, Any]:
    disk = device.disk
    return {
        "write_cache": content_of(disk / "queue/write_cache"),
        "rotational": content_of(disk / "queue/rotational"),
        "firmware": next(filter(None, (content_of(disk / "device" / name) for name in _FIRMWARE)), None),
        "numa_node": content_of(disk / "device/numa_node"),
        "health": {name.partition("/")[2]: content_of(disk / name) for name in _HEALTH} | _smart(disk),
    }


def _smart(disk: Path) -> dict[str, Any]:
    """Return a disk's own health data, if smartctl is installed and can read it."""
    if not (disk / "device").exists() or find_program(_SMARTCTL[0]) is None:
        return {}
    try:
        answer = json.loads(asked(*_SMARTCTL, f"/dev/{disk.name}", timeout=_TIMEOUT).stdout)
        known = {name: answer[name] for name in _OF_SMARTCTL if name in answer}
        attributes = {
            row["name"]: row["raw"]["string"] for row in answer.get("ata_smart_attributes", {}).get("table", ())
        }
        problems = [message["string"] for message in answer["smartctl"].get("messages", ())]
    except (OSError, subprocess.TimeoutExpired, ValueError, LookupError, TypeError, AttributeError):
        return {"problem": "the output of smartctl cannot be parsed"}
    return {**known, "ata_smart_attributes": attributes, "problem": "; ".join(problems)}
