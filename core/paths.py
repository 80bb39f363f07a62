"""Where Snapscope keeps its own files: logs and journals (state), decoded immutable files (cache).

Law: a path is named here, made by whoever writes to it, and never inside a table or the current directory. What is kept
is for whoever keeps it: other users of the machine can neither read nor list it.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import stat
import threading
from pathlib import Path

OURS = frozenset({"desk", "locks", "spark", "manifests", "ivy"})  # directories of ours
JOURNAL = "journal.sqlite"
OTHERS = stat.S_IRWXG | stat.S_IRWXO
_BESIDE = ("", "-wal", "-shm", "-journal")  # what SQLite names the files of one database
_DOCUMENTS = ("recent", "visits", "watched", "saved-queries", "query-history")  # of the desk
_WITHOUT = (
    errno.ENOENT,
    errno.EPERM,
    errno.EACCES,
    errno.EROFS,
    errno.ENOTSUP,
    errno.ENOSYS,
)  # gone, or no modes there
_MAKING = threading.Lock()
_ODD = re.compile(r"::|//|\\|[%?#\s\x00-\x1f\x7f]|(^|/)\.{1,2}(/|$)")


def state_dir() -> Path:
    """`$SNAPSCOPE_STATE`, else `~/.local/state/snapscope`. Not created here."""
    return _place("SNAPSCOPE_STATE", ".local/state/snapscope")


def cache_dir() -> Path:
    """`$SNAPSCOPE_CACHE`, else `~/.cache/snapscope`. Not created here."""
    return _place("SNAPSCOPE_CACHE", ".cache/snapscope")


def private(folder: Path) -> Path:
    """The folder, made where it is missing, closed to other users like everything of ours beside and below it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for root in (state_dir(), cache_dir()):
        if folder.is_relative_to(root):
            _close_all(root)
    return folder


def private_file(path: Path) -> Path:
    """The file, made where it is missing; nobody else can read or write it, nor what is made beside it.

    Law: one that is there is never opened. To close any file takes away every POSIX lock that this process holds on it,
    and SQLite's locks are such. One that is missing nobody here has locked, and nobody gets before it is closed."""
    private(path.parent)
    with _MAKING, contextlib.suppress(FileExistsError):
        if not path.exists():
            os.close(os.open(os.path.realpath(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    _close(path)
    return path


@functools.cache  # once a process: what was kept before it was closed from the start
def _close_all(root: Path) -> None:
    """Where nothing but ours lies, everything. A directory that others' things lie in, too, stays as it is, and so does
    what may be theirs by its name: only the journal and the desk's documents in it are closed."""
    real = Path(os.path.realpath(root))
    kept = list(real.iterdir())
    if any(each.name not in OURS and not each.name.startswith(JOURNAL) for each in kept):
        for end in _BESIDE:
            _close(real / f"{JOURNAL}{end}")
        for name in _DOCUMENTS if not (real / "desk").is_symlink() else ():
            _close(real / "desk" / f"{name}.json")
        return
    _close(real)
    for each in kept:
        _close(each)
        for folder, folders, files in os.walk(each) if root == state_dir() and not each.is_symlink() else ():
            for name in (*folders, *files):
                _close(Path(folder, name))


def _close(path: Path) -> None:
    """Take away what others may do with it, where it is ours and no link to somewhere else, as far as the disk can."""
    try:
        found = path.lstat()
        if found.st_uid == os.geteuid() and found.st_mode & OTHERS and not stat.S_ISLNK(found.st_mode):
            path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
    except OSError as error:
        if error.errno not in _WITHOUT:
            raise


def is_within(location: str, place: str) -> bool:
    """Whether a location, however somebody wrote it, is a place or lies in it; in doubt it does not.

    Nothing is asked but the local disk, and that only where the name of the location begins with a local place's.
    """
    if location.rstrip("/") == place.rstrip("/"):
        return True
    base = place if place.endswith("/") else f"{place}/"
    if not location.startswith(base):
        return False
    below, is_url = location[len(base) :], "://" in place or place.startswith("file:")
    spaced = not is_url and below == below.strip()  # within names of local files they mean themselves
    if _ODD.search(below.replace(" ", "_") if spaced else below):
        return False
    if is_url:
        return True
    return location.startswith("/") and Path(os.path.realpath(location)).is_relative_to(os.path.realpath(place))


def _place(variable: str, below_home: str) -> Path:
    named = os.environ.get(variable)
    return Path(named).expanduser().absolute() if named else Path.home() / below_home
