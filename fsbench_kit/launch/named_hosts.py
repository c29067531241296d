"""The hosts that a plan names, each of which gets a launch of its own."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from fsbench_kit.data.ssh import HINT, Host, host
from fsbench_kit.launch.plan_errors import Place, PlanError
from fsbench_kit.launch.schema import Name

_AT: Final = Place(key="hosts")


def _by_name(value: Any) -> Any:
    """Key the hosts by name, by default that of the address. Invalid values are passed on for later checks."""
    if isinstance(value, list):
        found = [_host(text) for text in value]
        for number, one in enumerate(found):
            if one.name in {other.name for other in found[:number]}:
                hint = "Name each host once, or give them names: hosts.left = ..., hosts.right = ..."
                raise PlanError(f'two hosts are called "{one.name}"', _AT, hint=hint)
        return {one.name: str(one) for one in found}
    if isinstance(value, dict):
        return {name: str(_host(text, name)) if isinstance(text, str) else text for name, text in value.items()}
    return value


def _host(text: object, name: str | None = None) -> Host:
    try:
        return host(text if isinstance(text, str) else "", name)
    except ValueError as error:
        raise PlanError(f"{error}: {text}", _AT, hint=HINT) from None


Hosts = Annotated[
    dict[Name, str],
    BeforeValidator(_by_name),
    Field(
        description='a list of hosts, or a table of them under names of your own, each as "user@node1" or '
        '"user@node1 PYTHON FOLDER"',
        examples=[["user@node1", "user@node2"]],
    ),
]
