"""A ZFS pool on images or block devices, with one member or a mirror of two. Needs root.

ZFS is either the kernel's or zfs-fuse. With the latter, each pool has a daemon of its own in the launch's own
namespaces: a zfs-fuse that serves the machine's pools is left alone, and so are its files. Pools of the kernel's
ZFS survive a kill and are destroyed at the next launch.

Dropping the kernel's caches does not empty ZFS's own cache (ARC); a fresh pool starts with an empty one. If the
memory of a run is limited, the daemon belongs to its control group, so that its cache counts too; the kernel's ZFS
is in no group.
"""

from __future__ import annotations

import re
import subprocess
import time
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field

from fsbench_kit.launch import zfs
from fsbench_kit.launch.processes import MARK
from fsbench_kit.launch.schema import Truth, as_bytes
from fsbench_kit.launch.targets.aged import AgedTarget
from fsbench_kit.launch.targets.images import attached
from fsbench_kit.launch.targets.members import MembersTarget
from fsbench_kit.launch.targets.steps import (
    Command,
    Commands,
    Ready,
    Restoring,
    Step,
    StepError,
    launch_name,
    run_step,
)
from fsbench_kit.launch.tools import SYSTEM_PROGRAMS, ZFS, ZFS_FUSE, ZPOOL, Program, program_environment
from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.launch.consent import Consent
    from fsbench_kit.launch.targets.base import Folders

_OURS: Final = frozenset({"altroot", "cachefile", "canmount", "mountpoint", "readonly"})


def _left_to_plans(option: str) -> str:
    if option.partition("=")[0] in _OURS:
        raise ValueError(option)
    return option


ZfsOption = Annotated[str, Field(pattern=r"^[a-z][\w:@.-]*=[\w:@.,+-]+$"), AfterValidator(_left_to_plans)]
ZfsOptions = Annotated[
    tuple[ZfsOption, ...],
    Field(
        strict=False,
        description='a list of strings like "name=value", without ' + ", ".join(sorted(_OURS)),
        examples=[["ashift=12"]],
    ),
]

_MIB: Final = 2**20
ArcSize = Annotated[
    int,
    BeforeValidator(as_bytes),
    Field(
        ge=16 * _MIB,
        le=2**34,
        multiple_of=_MIB,
        description="a size of whole MiB, from 16M to 16G",
        examples=["64M"],
    ),
]

_FOLDER: Final = "FOLDER"  # ZFS wants absolute paths
_POOL: Final = "POOL"
_UNMOUNT: Final = ("zfs", "unmount", _POOL)
_DESTROY: Final = ("zpool", "destroy", "-f", _POOL)
_STATE: Final = f"{_POOL}@state"
_RESTORING: Final = Restoring(
    keep=(("zfs", "snapshot", _STATE), _UNMOUNT),
    make=(("zfs", "rollback", _STATE), ("zfs", "mount", _POOL)),
    directory="mount",
    remove=(_UNMOUNT,),
)

_STARTING: Final = 20.0  # seconds for a daemon to start
_RELEASE: Final = 10.0  # seconds for a mount to become free
_PAUSE: Final = 0.02


class ZfsTarget(MembersTarget, AgedTarget):
    """A ``[[target]]`` with ``kind = "zfs"``.

    Attributes
    ----------
    mirror
        Whether the pool is a mirror of two members instead of a single one.
    pool_options
        Properties of the pool.
    dataset_options
        Properties of its only dataset.
    arc_size
        The largest size of zfs-fuse's cache (ARC); by default as ``/etc/zfs/zfsrc`` says. The kernel's ZFS has one
        cache for all pools, which stays as it is.
    """

    own_cache: ClassVar[str | None] = "ZFS's own cache (ARC)"
    # ZFS updates its free space only half a minute after a deletion, or when a property is set.
    count_command: ClassVar[Command] = ("zfs", "set", "fsbench:counted=yes", _POOL)

    kind: Literal["zfs"]
    mirror: Truth = False
    pool_options: ZfsOptions = ()
    dataset_options: ZfsOptions = ()
    arc_size: ArcSize | None = None

    @property
    def member_count(self) -> int:
        """Two in a mirror, otherwise one."""
        return 2 if self.mirror else 1

    def problem(self, folders: Folders) -> str | None:
        """Check for ZFS and for what the members need."""
        return zfs.lack() or super().problem(folders)

    def adapted(self) -> tuple[Self, tuple[str, ...]]:
        """Leave out properties and values that this machine's ZFS does not have."""
        of_datasets, of_pools = zfs.properties()
        pool, lacking_of_pool = _supported(self.pool_options, of_pools, "pool")
        dataset, lacking_of_dataset = _supported(self.dataset_options, of_datasets, "dataset")
        lacking = [*lacking_of_pool, *lacking_of_dataset]
        arc_size = self.arc_size if zfs.implementation() == "zfs-fuse" else None
        if arc_size != self.arc_size:
            lacking.append("arc_size is left out: the kernel's ZFS has one cache for all pools")
        update = {"pool_options": pool, "dataset_options": dataset, "arc_size": arc_size}
        return self.model_copy(update=update), tuple(lacking)

    @property
    def expected_filesystem(self) -> str:
        """ZFS, whichever implementation."""
        return "zfs"

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs of the available ZFS, and those that create images."""
        daemon = (ZFS_FUSE,) if zfs.implementation() == "zfs-fuse" else ()
        return (ZPOOL, ZFS, *daemon, *SYSTEM_PROGRAMS.values())

    @property
    def trims(self) -> bool:
        """False: fstrim does not support ZFS."""
        return False

    @property
    def commands(self) -> Commands:
        """Create the members and a pool on them, which mounts its dataset."""
        return Commands(
            make=(*self.member_commands, *self.attach_commands, self._create),
            directory="mount",
            remove=(_UNMOUNT, _DESTROY),
        )

    @property
    def _create(self) -> Command:
        of_pool = [word for option in ("cachefile=none", *self.pool_options) for word in ("-o", option)]
        of_dataset = [word for option in self.dataset_options for word in ("-O", option)]
        layout = ("mirror",) if self.mirror else ()
        # wipefs, which has cleared the device, misses the labels of a young pool, but zpool sees them and refuses.
        # For a mirror, -f would also hide that its members differ in size.
        force = ("-f",) if self.devices and not self.mirror else ()
        return (
            "zpool",
            "create",
            *force,
            *of_pool,
            *of_dataset,
            "-m",
            f"{_FOLDER}/mount",
            _POOL,
            *layout,
            *self.members,
        )

    @contextmanager
    def ready(self, folder: Path, consent: Consent) -> Iterator[Ready]:
        """Create the pool."""
        made = Ready(
            folder / self.commands.directory,
            filesystem="zfs",
            settings=({"raid": "zpool mirror"} if self.mirror else {}) | self.image_settings,
            names={_FOLDER: str(folder), _POOL: launch_name(folder)},
            consent=consent,
            devices=self.devices,
        )
        with made.overwriting(self.signature):
            made.run(folder, *self.member_commands)
            with (
                attached(made, folder, self.loops),
                _fuse(made, folder, self.arc_size) if zfs.implementation() == "zfs-fuse" else nullcontext(),
            ):
                made.members = tuple(Path(made.meant(member)) for member in self.members)
                with _reached(folder):
                    made.settings["filesystem_version"] = _version(folder)
                    made.run(folder, self._create)
                made.note()
                try:
                    yield made
                finally:
                    with _reached(folder):
                        _destroy(made, folder)

    @property
    def restoring(self) -> Restoring:
        """A snapshot, to which the dataset is rolled back while unmounted."""
        return _RESTORING

    def age(self, made: Ready, folder: Path) -> None:
        """Age the filesystem while its daemon can be reached."""
        with _reached(folder):
            super().age(made, folder)

    def keep(self, made: Ready, folder: Path) -> None:
        """Take a snapshot."""
        snapshot, _ = _RESTORING.keep
        with _reached(folder):
            made.run(folder, snapshot)
            _unmount(made, folder)

    @contextmanager
    def restored(self, made: Ready, folder: Path) -> Iterator[Ready]:
        """Roll back to the snapshot."""
        rollback, mount = _RESTORING.make
        ready = replace(made, steps=[], text=" ".join(rollback))
        with _reached(folder):
            if not _when_free(ready, folder, rollback):
                raise StepError(ready.steps)
            ready.run(folder, mount)
        try:
            yield ready
        finally:
            with _reached(folder):
                _unmount(ready, folder)


def _supported(
    options: tuple[str, ...], known: zfs.Properties, what: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the options that can be set, and a sentence for each of the others."""
    kept, sentences = [], []
    for option in options:
        name, _, value = option.partition("=")
        if name not in known:
            sentences.append(f'{option} is left out: the ZFS here has no {what} property "{name}"')
        elif not zfs.is_value(value, known[name]):
            sentences.append(f"{option} is left out: the ZFS here allows {known[name]}")
        else:
            kept.append(option)
    return tuple(kept), tuple(sentences)


def _version(folder: Path) -> str:
    try:
        return Path("/sys/module/zfs/version").read_text(encoding="ascii").strip()
    except OSError:
        steps: list[Step] = []
        run_step(steps, folder, "zpool", "upgrade", "-v")
        version = re.search(r"pool version (\d+)", steps[-1].output)
        return f"zfs-fuse, pool version {version[1]}" if version else "zfs-fuse"


def _unmount(made: Ready, folder: Path) -> None:
    if not _when_free(made, folder, _UNMOUNT):
        run_step(made.steps, folder, "umount", "--lazy", "mount", may_fail=True)


def _when_free(made: Ready, folder: Path, command: Command) -> bool:
    """Run a command, retrying while the dataset is busy; return whether it succeeded.

    A process of the tool may still be ending. zfs-fuse learns of a file's last close only after that, and of an
    unmount only after it is done.
    """
    end = time.monotonic() + _RELEASE
    while not made.undo(folder, command):
        if time.monotonic() > end:
            return False
        time.sleep(_PAUSE)
    return True


def _destroy(made: Ready, folder: Path) -> None:
    if (folder / "mount").is_mount():  # not between two restored runs
        _unmount(made, folder)
    if (
        not made.undo(folder, _DESTROY) and zfs.implementation() == "kernel module"
    ):  # the pool of zfs-fuse ends with its daemon
        raise LaunchError(f"cannot destroy a pool: {made.steps[-1].output.strip()}", file=folder)


@contextmanager
def _fuse(made: Ready, folder: Path, arc_size: int | None) -> Iterator[None]:
    """Run a zfs-fuse daemon for a target.

    Its programs have all paths built in. Folders of the launch are therefore mounted over them, briefly and only
    for this launch's processes.
    """
    for path in ("run/zfs", "run/lock", "lib"):
        (folder / path).mkdir(parents=True)
    # Without the launch's mark, whose processes are killed after each run. It ends with this process in any case.
    environment = {key: value for key, value in program_environment().items() if key != MARK}
    cache: tuple[str, ...] = ()
    if arc_size is not None:
        cache = (f"--max-arc-size={arc_size // _MIB}",)
        made.settings["zfs.arc_size"] = str(arc_size)
    log = folder / "zfs-fuse.txt"
    with log.open("wb") as output, _in_place_of(folder, ("run", "/run"), ("lib", "/var/lib/zfs")):
        daemon = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *zfs.DAEMON, *cache],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        try:
            _await_socket(daemon, folder / "run" / "zfs" / "zfs_socket", log)
        except BaseException:
            _end(daemon)
            raise
    made.servers = (daemon.pid,)
    try:
        yield
    finally:
        _end(daemon)


def _reached(folder: Path) -> AbstractContextManager[None]:
    """Let `zpool` and `zfs` reach only the target's own daemon; the kernel's ZFS needs nothing."""
    return _in_place_of(folder, ("run", "/run")) if zfs.implementation() == "zfs-fuse" else nullcontext()


@contextmanager
def _in_place_of(folder: Path, *places: tuple[str, str]) -> Iterator[None]:
    steps: list[Step] = []
    for own, system in places:
        run_step(steps, folder, "mount", "--bind", own, system)
    try:
        yield
    finally:
        for _, system in places:  # the daemon has files open in them
            run_step(steps, folder, "umount", "--lazy", system)


def _await_socket(daemon: subprocess.Popen[bytes], socket: Path, log: Path) -> None:
    end = time.monotonic() + _STARTING
    while not socket.exists():
        if daemon.poll() is not None or time.monotonic() > end:
            output = log.read_text(encoding="utf-8", errors="replace").strip() or "no reason given"
            raise StepError([Step(zfs.DAEMON, f"it did not start: {output}", 0.0, 0.0, 0.0, 0, 0)])
        time.sleep(_PAUSE)


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.kill()  # its pool is destroyed, and a graceful end would take seconds
    daemon.wait()
