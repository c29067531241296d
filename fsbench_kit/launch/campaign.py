"""Campaigns: launches of one plan in a seeded order, to vary what cannot change within a launch.

::

    campaign.kernel = ["6.8", "6.12"]

A campaign is a folder with its plan, ``campaign.toml``, and its blocks. Each block is a launch at one level of
each varied setting. The next block follows from the plan and the blocks that exist.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import dataclass
from itertools import count, islice, product
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.data.project import LAUNCHED
from fsbench_kit.launch.environment import machine_settings
from fsbench_kit.launch.files import publish
from fsbench_kit.launch.hosts_study import HostsStudy
from fsbench_kit.launch.plan import Plan, plan_text, read_plan
from fsbench_kit.launch.run_record import versions
from fsbench_kit.launch.schedule import blocks
from fsbench_kit.launch.study import LaunchedStudy
from fsbench_kit.launch.study_files import CAMPAIGN, HOSTS, PLAN
from fsbench_kit.model.errors import LaunchError, RequestError
from fsbench_kit.model.suggestions import known_instead

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


Levels = dict[str, str]
"""Setting -> its level in a block."""


@dataclass(frozen=True, slots=True)
class Block:
    """One launch of a campaign.

    Attributes
    ----------
    name
        The name of the block's folder within the campaign's.
    plan
        The campaign's plan, reduced to one level of each setting, with a seed of its own.
    """

    name: str
    plan: Plan

    @property
    def levels(self) -> Levels:
        """The levels that the block is launched at."""
        return {key: level for key, (level,) in self.plan.campaign.items()}


class Campaign:
    """A campaign, new or continued.

    Parameters
    ----------
    folder
        The campaign's folder; need not exist yet.
    plan
        The plan of a new campaign; ``None`` to continue an existing one.

    Raises
    ------
    RequestError
        If there is neither a campaign nor a plan, another plan was used under this name, or the folder holds
        something else.
    InputError
        If the campaign's plan cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> here = {"kind": "directory", "name": "here", "directory": "."}
    >>> listing = {"tool": "command", "name": "listing", "command": ["ls", "/"]}
    >>> plan = Plan(id="kernels", campaign={"kernel": ["6.8", "6.12"]}, target=[here], workload=[listing])
    >>> campaign = Campaign(Path("raw_results/runs/kernels"), plan)
    >>> campaign.next.levels, campaign.made
    ({'kernel': '6.8'}, [])
    """

    def __init__(self, folder: Path, plan: Plan | None = None) -> None:
        self.folder = folder
        begun = read_plan(folder / CAMPAIGN) if (folder / CAMPAIGN).is_file() else None
        if begun is None and folder.exists():
            raise RequestError("this is not a campaign", file=folder, hint="Choose another name.")
        known = plan or begun
        if known is None:
            hint = "Name its plan: fsbench launch PLAN --campaign NAME"
            raise RequestError(f'there is no campaign "{folder.name}"', file=folder.parent, hint=hint)
        self.plan = known
        self._made = {path.parent.name for kind in (PLAN, HOSTS) for path in folder.glob(f"*/{kind}")}
        if self._made and known != begun:
            what = f'the campaign "{folder.name}" was begun with another plan'
            hint = "Leave the plan out to continue it, or choose another name."
            raise RequestError(what, file=folder / CAMPAIGN, hint=hint)
        strange = self._made - {block.name for block in self.made}
        if strange:
            what = f"its plan has no block {min(strange)}"
            raise LaunchError(
                what, file=folder, hint="Undo the changes to campaign.toml, or start a new campaign."
            )

    @property
    def _schedule(self) -> Iterator[Block]:
        for number, plan in zip(count(1), blocks(self.plan), strict=False):
            levels = (level for (level,) in plan.campaign.values())
            yield Block("-".join((f"{number:03d}", *levels)), plan)

    @property
    def made(self) -> list[Block]:
        """The existing blocks, in order."""
        last = max(map(self._number, self._made), default=0)
        return [block for block in islice(self._schedule, last) if block.name in self._made]

    def _number(self, name: str) -> int:
        """Return the number of the block that a folder's name stands for, or 0; the schedule itself is endless."""
        number, _, levels = name.partition("-")
        known = {"-".join(values) for values in product(*self.plan.campaign.values())}
        return int(number) if number.isdecimal() and levels in known else 0

    @property
    def next(self) -> Block:
        """The block to launch next."""
        return next(block for block in self._schedule if block.name not in self._made)

    def begin(self, levels: Mapping[str, str]) -> Block:
        """Return the next block, creating the campaign's folder for the first one.

        Parameters
        ----------
        levels
            The levels that the machine is said to be running.

        Raises
        ------
        RequestError
            If these are not levels of the campaign, or not those of the next block.
        LaunchError
            If a block is unfinished.
        """
        self._refuse_unknown(levels)
        for block in self.made:
            if self._study(block).unfinished:
                what = f"block {block.name} is unfinished"
                hint = f"Resume it: {self._launch('--resume')}\nOr remove its folder."
                raise LaunchError(what, file=self.folder, hint=hint)
        block = self.next
        if levels != block.levels:
            what = f"the next block is one of {listed(block.levels)}" + (
                f", not of {listed(levels)}" if levels else ""
            )
            hint = f"Boot the machine that way, then: {self.command}" if levels else f"Confirm it: {self.command}"
            raise RequestError(what, file=self.folder, hint=hint)
        if not self._made:
            self.folder.mkdir(parents=True, exist_ok=True)
            new = self.folder / f".{CAMPAIGN}"
            new.write_text(plan_text(self.plan), encoding="utf-8")
            publish(new, self.folder / CAMPAIGN)
        return block

    @property
    def command(self) -> str:
        """The command that launches the next block."""
        return self._launch(
            *(word for key, level in self.next.levels.items() for word in ("--as", f"{key}={level}"))
        )

    def _launch(self, *words: str) -> str:
        to = [] if self.folder.parent == LAUNCHED else ["--to", str(self.folder.parent)]
        return shlex.join(["fsbench", "launch", "--campaign", self.folder.name, *words, *to])

    @property
    def caution(self) -> str | None:
        """A warning if the next block would not count as independent of an earlier one."""
        if self.plan.hosts:
            return None  # it runs on other machines
        boot, own = machine_settings().get("boot"), self.next.levels
        of_boot = [block for block in self.made if boot in self._boots(block)]
        if not own or not of_boot or any(block.levels != own for block in of_boot):
            return None
        return (
            f"This machine has not been restarted since block {of_boot[-1].name}: "
            "blocks of one level in the same boot count as one. Restart it first."
        )

    def __str__(self) -> str:
        """Return a report of the existing blocks and the next one."""
        made, counts = self.made, Counter(listed(block.levels) for block in self.made)
        progress = _counted(len(made), "block")
        if made:
            boots, days = (set().union(*map(of, made)) for of in (self._boots, self._days))
            progress += f" in {_counted(len(boots), 'boot')} on {_counted(len(days), 'day')}"
        of_levels = ", ".join(f"{number} of {levels}" for levels, number in sorted(counts.items()) if levels)
        progress = ": ".join(filter(None, (f"Campaign {self.folder.name}", progress, of_levels)))
        return f"{progress}. Next: {listed(self.next.levels) or 'a launch in another boot'}.\n{self.command}"

    def _study(self, block: Block) -> LaunchedStudy | HostsStudy:
        folder = self.folder / block.name
        if (folder / HOSTS).is_file():
            return HostsStudy(folder, read_plan(folder / HOSTS))
        return LaunchedStudy(folder, read_plan(folder / PLAN))

    def _boots(self, block: Block) -> set[str]:
        """Return the boots during which a block's runs were made; several if it was resumed after a reboot."""
        boots = (record["settings"].get("boot") for record in self._records(block))
        return {boot for boot in boots if boot}

    def _days(self, block: Block) -> set[str]:
        return {record["started_at"][:10] for record in self._records(block)}

    def _records(self, block: Block) -> Iterator[dict[str, Any]]:
        study = self._study(block)
        for home in study.homes if isinstance(study, HostsStudy) else (study,):
            yield from map(home.record, home.made)

    def _refuse_unknown(self, levels: Mapping[str, str]) -> None:
        for key, level in levels.items():
            if key not in self.plan.campaign:
                what = f"the campaign does not vary {key}"
                hint = (
                    known_instead(key, list(self.plan.campaign))
                    if self.plan.campaign
                    else _LEVELS.format(key, level)
                )
                raise RequestError(what, hint=hint)
            if level not in self.plan.campaign[key]:
                what = f"{level} is not a level of {key} in this campaign"
                raise RequestError(what, hint=known_instead(level, self.plan.campaign[key]))


_LEVELS: Final = 'List its levels at the top of the plan: campaign.{} = ["{}", "..."]'


def listed(levels: Mapping[str, str]) -> str:
    """Format levels as the command line takes them.

    >>> listed({"kernel": "6.12", "bios": "quiet"})
    'kernel=6.12, bios=quiet'
    """
    return ", ".join(f"{key}={level}" for key, level in levels.items())


def refuse_other_levels(plan: Plan) -> None:
    """Check the levels that a launch is said to run at against the machine.

    Raises
    ------
    RequestError
        If the plan varies something between launches, but this launch is not part of a campaign.
    LaunchError
        If the machine is running something else.
    """
    of_tools = versions(*plan.workload)
    del of_tools["fsbench_kit"]
    found = machine_settings() | {"tool_version": ", ".join(of_tools.values())}
    for key, levels in plan.campaign.items():
        if len(levels) > 1:
            what = f"this plan varies {key} between the launches of a campaign"
            hint = f"Name the campaign: fsbench launch PLAN --campaign NAME --as {key}={levels[0]}"
            raise RequestError(what, hint=hint)
        if found.get(key) and not _fits(found[key], levels[0]):
            what = f"this block needs {key}={levels[0]}, but this machine has {found[key]}"
            raise LaunchError(what, hint=f"Start the machine with {key}={levels[0]}, and launch again.")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _fits(found: str, level: str) -> bool:
    """Return whether a level occurs in the found value as a whole word or version.

    >>> _fits("6.12.3-amd64", "6.12"), _fits("6.1.2", "6.12"), _fits("fio-3.33", "3.33"), _fits("5.6.12", "6.12")
    (True, False, True, False)
    """
    return re.search(rf"(?<![\w.]){re.escape(level)}(?!\w)", found) is not None
