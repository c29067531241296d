"""Operations: what a tool did to a filesystem, with the verbs that describe it in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple


class Verb(NamedTuple):
    """The forms of a verb that sentences need: "delete", "deletes", "deleted"."""

    bare: str
    present: str
    past: str


@dataclass(frozen=True, slots=True)
class Operation:
    """What a tool did.

    Attributes
    ----------
    meaning
        One sentence.
    verb
        What the filesystem does, if there is a verb for it.
    what
        The object or manner, which follows the verb.

    Examples
    --------
    >>> OPERATIONS["random_delete"].phrase("present"), OPERATIONS["delete"].phrase("past")
    ('deletes files in random order', 'deleted files')
    >>> OPERATIONS["write"].phrase("bare", "files"), OPERATIONS["all"].phrase("bare")
    ('write files', None)
    """

    meaning: str
    verb: Verb | None = None
    what: str = ""

    def phrase(self, form: str, what: str = "") -> str | None:
        """Return the verb phrase in the given form, or ``None`` for an operation without a verb.

        Parameters
        ----------
        form
            ``bare``, ``present`` or ``past``.
        what
            The words after the verb, for an operation that has none of its own.
        """
        return None if self.verb is None else f"{getattr(self.verb, form)} {self.what or what}".rstrip()


def _regular(stem: str) -> Verb:
    return Verb(stem, f"{stem}s", f"{stem.removesuffix('e')}ed")


_READ: Final = Verb("read", "reads", "read")
_REREAD: Final = Verb("reread", "rereads", "reread")
_WRITE: Final = Verb("write", "writes", "wrote")
_REWRITE: Final = Verb("rewrite", "rewrites", "rewrote")
_FIND: Final = Verb("find", "finds", "found")
_COPY: Final = Verb("copy", "copies", "copied")
_RUN: Final = Verb("run", "runs", "ran")
_LOOK_UP: Final = Verb("look up", "looks up", "looked up")
_CREATE, _DELETE, _REMOVE, _SYNC, _SEEK, _LIST, _DISCARD = map(
    _regular, ("create", "delete", "remove", "sync", "seek", "list", "discard")
)


def _passive(past: str) -> Verb:
    return Verb(f"be {past}", f"is {past}", f"was {past}")


OPERATIONS: Final[dict[str, Operation]] = {
    "all": Operation("All operations of a run taken together."),
    # one direction of a mixed or a plain load; the setting `pattern` says which load
    "read": Operation("Reads. In a tool with phases: the first, sequential read of a file.", _READ),
    "write": Operation("Writes. In a tool with phases: the first, sequential write of a file.", _WRITE),
    "trim": Operation("Discards.", _DISCARD),
    "mixed": Operation(
        "Reads and writes in one figure.", Verb("read and write", "reads and writes", "read and wrote")
    ),
    "sync": Operation("fsync, fdatasync, sync or msync.", _SYNC),
    "other": Operation("Requests that move no data (sysbench's `Other`: fsync)."),
    # phases
    "rewrite": Operation("Sequential write over existing data.", _REWRITE),
    "reread": Operation("Sequential read of a file that was read just before.", _REREAD),
    "random_read": Operation("Reads at random offsets.", _READ, "at random"),
    "random_write": Operation("Writes at random offsets.", _WRITE, "at random"),
    "backward_read": Operation("Reads from the end to the start.", _READ, "backwards"),
    "record_rewrite": Operation("Writes of one and the same record, over and over.", _REWRITE, "one record"),
    "stride_read": Operation("Reads at a fixed stride.", _READ, "at a stride"),
    "fwrite": Operation("Sequential write through the C library.", _WRITE, "with fwrite"),
    "frewrite": Operation("Sequential rewrite through the C library.", _REWRITE, "with fwrite"),
    "fread": Operation("Sequential read through the C library.", _READ, "with fread"),
    "freread": Operation("Sequential reread through the C library.", _REREAD, "with fread"),
    "pwrite": Operation("Sequential write with an offset in each call.", _WRITE, "with pwrite"),
    "repwrite": Operation("Sequential rewrite with an offset in each call.", _REWRITE, "with pwrite"),
    "pread": Operation("Sequential read with an offset in each call.", _READ, "with pread"),
    "repread": Operation("Sequential reread with an offset in each call.", _REREAD, "with pread"),
    "write_char": Operation("Sequential write by the character (putc).", _WRITE, "by the character"),
    "read_char": Operation("Sequential read by the character (getc).", _READ, "by the character"),
    "seek": Operation("Random seeks, each with a read and sometimes a write.", _SEEK),
    "sequential_create": Operation("Files created in the order of their names.", _CREATE, "files in order"),
    "sequential_stat": Operation(
        "Files looked up in the order of their names (bonnie++ calls it read).", _LOOK_UP, "files in order"
    ),
    "sequential_delete": Operation("Files deleted in the order of their names.", _DELETE, "files in order"),
    "random_create": Operation("Files created in random order.", _CREATE, "files in random order"),
    "random_stat": Operation(
        "Files looked up in random order (bonnie++ calls it read).", _LOOK_UP, "files in random order"
    ),
    "random_delete": Operation("Files deleted in random order.", _DELETE, "files in random order"),
    "command": Operation("A command that was timed.", _RUN, "the command"),
    "command_sync": Operation("The sync after the command.", _SYNC, "after the command"),
    # many files
    "delete": Operation("Files deleted.", _DELETE, "files"),
    "write_sync": Operation("The sync after the writes.", _SYNC, "after the writes"),
    "rewrite_sync": Operation("The sync after the rewrites.", _SYNC, "after the rewrites"),
    "read_sync": Operation("The sync after the reads.", _SYNC, "after the reads"),
    "delete_sync": Operation("The sync after the deletes.", _SYNC, "after the deletes"),
    # a file server's tasks
    "mkfs": Operation("Filesystem created.", _passive("created")),
    "mount": Operation("Filesystem mounted.", _passive("mounted")),
    "copy_large_file": Operation(
        "One large file copied from another disk.", _COPY, "a large file from another disk"
    ),
    "recopy_large_file": Operation("The large file copied within the filesystem.", _COPY, "a large file again"),
    "remove_large_files": Operation("Both large files removed.", _REMOVE, "two large files"),
    "large_file_tasks": Operation("All tasks on the large files together."),
    "copy_tree": Operation(
        "A tree of files copied from another disk.", _COPY, "a tree of files from another disk"
    ),
    "recopy_tree": Operation("The tree copied within the filesystem.", _COPY, "the tree again"),
    "list_tree": Operation("The tree listed.", _LIST, "the tree"),
    "find_in_tree": Operation("A file searched for in the tree.", _FIND, "a file in the tree"),
    "list_and_find": Operation("Listing and searching together."),
    "remove_trees": Operation("Both trees removed.", _REMOVE, "both trees"),
    "tree_tasks": Operation("All tasks on the tree together."),
    "umount": Operation("Filesystem unmounted.", _passive("unmounted")),
    "copy_large_file_sync": Operation("The sync after the large file was copied.", _SYNC, "the large file"),
    "recopy_large_file_sync": Operation("The sync after it was copied again.", _SYNC, "the copied large file"),
    "remove_large_files_sync": Operation(
        "The sync after both were removed.", _SYNC, "after the large files' removal"
    ),
    "copy_tree_sync": Operation("The sync after the tree was copied.", _SYNC, "the tree"),
    "recopy_tree_sync": Operation("The sync after it was copied again.", _SYNC, "the copied tree"),
    "list_tree_sync": Operation("The sync after it was listed.", _SYNC, "after the listing"),
    "find_in_tree_sync": Operation("The sync after it was searched.", _SYNC, "after the search"),
    "remove_trees_sync": Operation("The sync after both trees were removed.", _SYNC, "after the trees' removal"),
    "capacity_initial": Operation("The state right after mkfs."),
    "capacity_residual": Operation("The state after all files were removed."),
}
