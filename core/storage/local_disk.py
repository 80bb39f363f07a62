"""Local files: only regular files are opened, and new files appear with their whole content or not at all.

Invariant: nothing here waits for another process. A pipe, socket or device in place of a file is `Corrupt`, because
opening it may block forever and reading it may never end.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
import uuid
from collections.abc import Iterator
from typing import NamedTuple

from core.errors import Corrupt, Unsupported
from core.messages import message
from core.storage.file_systems import DirectoryEntry, TooLarge, no_directory
from core.storage.size_limits import DOCUMENT

_AT_ONCE = 1 << 20  # bytes
_OWN_DISKS = frozenset({"btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"})
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)
_KINDS = (
    (stat.S_ISFIFO, message("a named pipe")),
    (stat.S_ISSOCK, message("a socket")),
    (stat.S_ISCHR, message("a device")),
    (stat.S_ISBLK, message("a device")),
)


class InMemory(str):
    """The path of a remote file, with its content, which `read` returns."""

    content: bytes

    @classmethod
    def of(cls, path: str, content: bytes) -> InMemory:
        found = cls(path)
        found.content = content
        return found


def read(path: str, most_bytes: int = DOCUMENT, start: int | None = None, begin: bytes = b"") -> bytes:
    """Read a whole file, or at most `most_bytes` bytes from offset `start`. Of a whole file that does not begin with
    `begin`, only as many bytes are read and returned.

    Raises `TooLarge` if a whole file is larger than `most_bytes`. Takes a third of fsspec's time, which matters because
    a page reads thousands of small files.
    """
    if isinstance(path, InMemory):
        if not path.content.startswith(begin):
            return path.content[: len(begin)]
        if start is None and len(path.content) > most_bytes:
            raise TooLarge(len(path.content))
        return path.content[start or 0 :][:most_bytes]
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:  # raised for a socket, and for a device that does not exist
            refuse_special(path)
        raise
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            _refuse(found.st_mode, path)
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if begin and (head := os.read(handle, len(begin))) != begin:
            return head
        if start is None and found.st_size > most_bytes:
            raise TooLarge(found.st_size)
        if start or begin:
            os.lseek(handle, start or 0, os.SEEK_SET)
        return _bounded(handle, most_bytes, found.st_size - (start or 0), is_part=start is not None)
    finally:
        os.close(handle)


def ls(path: str, shown: str) -> list[DirectoryEntry]:
    """List a directory, in any order. `shown` is its name in the error if it is a file.

    Takes less than half of fsspec's time, which matters because every page lists the references of its table.
    """
    try:
        with os.scandir(path) as entries:
            return [found for each in entries if (found := _entry(each)) is not None]
    except NotADirectoryError as error:
        os.stat(path)  # raises again if a directory above it is the file
        raise no_directory(shown, path) from error


def names(path: str) -> list[str]:
    """Return the names of the files in a directory, in any order. Takes an eighth of the time of `ls`."""
    with os.scandir(path) as entries:
        return [each.name for each in entries if not each.is_dir()]


def _entry(each: os.DirEntry[str]) -> DirectoryEntry | None:
    """Return a directory's entry; None if it has been deleted meanwhile."""
    try:
        found = each.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        return DirectoryEntry(each.name, None, True, found.st_mtime)
    if stat.S_ISLNK(found.st_mode):  # its target may change, so nothing marks it
        try:
            target = each.stat()
        except OSError:  # a link that leads nowhere is a file, refused when it is read
            return DirectoryEntry(each.name, 0, False, found.st_mtime)
        is_dir = stat.S_ISDIR(target.st_mode)
        return DirectoryEntry(each.name, None if is_dir else target.st_size, is_dir, found.st_mtime)
    return DirectoryEntry(each.name, found.st_size, False, found.st_mtime, None, _mark(found))


def _mark(found: os.stat_result) -> str:
    return f"{found.st_size} {found.st_ino} {found.st_mtime_ns} {found.st_ctime_ns}"


def mark_of(path: str) -> str | None:
    """Return the mark that a listing shows for a file; None if it is gone or another kind of entry."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return _mark(found) if stat.S_ISREG(found.st_mode) else None


class Marks(NamedTuple):
    """The marks of a directory and its entries, the same for as long as nothing in it changes."""

    newest_ns: int  # the last change, in epoch nanoseconds by the clock of its disk
    own: tuple[int, ...] = ()
    entries: tuple[tuple[str, int, int, int, int, int], ...] = ()


def marks(path: str, *, has_entries: bool = True) -> Marks | None:
    """Return the marks of a directory, on request without its entries; None if it is absent.

    Those of a directory that cannot be listed, or has a link, whose target may change, are different each time."""
    try:
        at = os.stat(path)
    except OSError as error:
        is_absent = isinstance(error, FileNotFoundError) and not os.path.islink(path)
        return None if is_absent else Marks(time.time_ns())
    own = (at.st_dev, at.st_mode, at.st_ino, at.st_mtime_ns, at.st_ctime_ns)
    if not has_entries:
        return Marks(at.st_ctime_ns, own)
    try:
        with os.scandir(path) as found:
            entries = tuple([_entry_marks(each.name, each.stat(follow_symlinks=False)) for each in found])
    except OSError:
        return Marks(time.time_ns())
    newest_ns = max((each[-1] for each in entries), default=0)
    if any(stat.S_ISLNK(each[1]) for each in entries):
        return Marks(time.time_ns())
    return Marks(max(newest_ns, at.st_ctime_ns), own, entries)


def _entry_marks(name: str, found: os.stat_result) -> tuple[str, int, int, int, int, int]:
    return name, found.st_mode, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def changed_s(mark: str) -> float:
    """Return when a file with this mark last changed, in epoch seconds by the clock of its disk."""
    return int(mark.rpartition(" ")[2]) / 1e9


def marks_tell_changes(path: str) -> bool:
    """Return whether every change of a file below a directory changes its mark: on this machine's own disks. Network
    file systems show attributes that may be a minute old, and some others have no time of their own for changes."""
    try:
        device = os.stat(path).st_dev
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as lines:
            mounts = [line.split() for line in lines]
    except OSError:  # another system, or the directory is gone
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    kinds = {fields[fields.index("-") + 1] for fields in mounts if fields[2] == number}
    return bool(kinds) and kinds <= _OWN_DISKS


def _bounded(handle: int, most_bytes: int, expected: int, *, is_part: bool) -> bytes:
    """Read the rest of an open file; it may take several calls and may no longer have `expected` bytes."""
    data = os.read(handle, min(most_bytes if is_part else most_bytes + 1, max(expected, 0) + 1))
    if len(data) == expected or (is_part and len(data) == most_bytes):
        return data
    parts, size = [data], len(data)
    while data and (size < most_bytes if is_part else size <= most_bytes):
        data = os.read(handle, min(_AT_ONCE, most_bytes - size + (not is_part)))
        parts.append(data)
        size += len(data)
    if size > most_bytes:
        raise TooLarge
    return b"".join(parts)


def refuse_special(path: str) -> str:
    """Return the path unchanged. Raises `Corrupt` if it is a pipe, socket or device."""
    with contextlib.suppress(FileNotFoundError):  # the caller that opens it reports this
        _refuse(os.stat(path).st_mode, path)
    return path


def refuse_dangling(path: str) -> None:
    """Raise `Corrupt` if a path that was not found is a link, whose target may be on an unmounted volume."""
    if os.path.islink(path):
        raise Corrupt(
            "This symbolic link points to something that does not exist.",
            path=path,
            remedy="Mount its target, or remove the link.",
        )


def _refuse(mode: int, path: str) -> None:
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return
    found = next((name for is_one, name in _KINDS if is_one(mode)), message("something else"))
    raise Corrupt(
        "A file was expected here, found {found}; it was not read.",
        found=found,
        path=path,
        remedy="Move it away, or put back the file that belongs there.",
    )


@contextlib.contextmanager
def temporary(path: str, data: bytes) -> Iterator[str]:
    """Yield the path of a synced temporary file with this content next to `path`. It is always deleted afterwards."""
    directory, name = os.path.split(path)
    try:
        os.makedirs(directory, exist_ok=True)
    except FileExistsError as error:  # a parent directory's name is taken, not the name of the new file
        raise NotADirectoryError(error.errno, "A file stands where a directory is needed", directory) from error
    temporary = os.path.join(directory, f".{name}.{uuid.uuid4()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def create(path: str, data: bytes) -> None:
    """Create a file with its whole content. Raises `FileExistsError` if the name is taken."""
    with temporary(path, data) as made:
        try:
            os.link(made, path)
        except OSError as error:
            raise _explained(error, path) from error
        with contextlib.suppress(PermissionError):  # the link exists even if the directory cannot be opened
            directory = os.open(os.path.dirname(path), os.O_RDONLY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)


def probe(directory: str) -> None:
    """Check that files can be created (by `create`), replaced and deleted in a directory; leave nothing behind.

    Raises `OSError` or `Unsupported` if not.
    """
    name = os.path.join(directory, f".snapscope.{uuid.uuid4()}")
    made = [f"{name}.tmp", f"{name}.link.tmp"]
    try:
        with open(made[0], "xb"):
            pass
        try:
            os.link(*made)
        except OSError as error:
            raise _explained(error, directory) from error
    finally:
        for path in made:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def _explained(error: OSError, path: str) -> OSError | Unsupported:
    """Return `Unsupported` if the disk does not support hard links, otherwise the error itself."""
    if error.errno not in _NO_LINKS:
        return error
    return Unsupported(
        "This disk has no hard links ({strerror}), so files cannot be created exclusively on it.",
        strerror=error.strerror,
        path=path,
        remedy="Make this change with the table's own engine.",
    )
