"""What a run has to say of the machine it was made on, by what its record holds of that."""

from __future__ import annotations

from typing import Any

MIB = 2**20


def busy_with_others(record: dict[str, Any]) -> set[str]:
    """Return what a run that was the first of its kind is to be warned of, neither more nor less."""
    quiet = record["environment"]["before"]["quiet"]
    moved = [sum(counters.values()) / quiet["seconds"] for counters in quiet["devices"].values()]
    loaded = {"MACHINE_LOADED"} if quiet["busy"] > 0.2 else set()
    # Other tests make the kernel say something, and all of a machine read one log.
    loaded |= {"KERNEL_ERRORS"} if record["environment"]["after"].get("kernel_errors", {}).get("others") else set()
    return loaded | ({"DEVICE_SHARED"} if max(moved, default=0) > MIB else set())
