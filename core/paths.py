"""Where Snapscope keeps its own files: logs and journals (state), decoded immutable files (cache).

Invariant: this module only names paths; the code that writes creates them. None is inside a table or the current
directory. The files are private: other users of the machine can neither read nor list them. Places below an unknown
home directory are `Invalid`.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import getpass
import os
import re
import stat
import threading
from pathlib import Path

from core.errors import Invalid
from core.messages import message

OURS = frozenset("desk locks spark manifests histories ivy classes".split())  # directories that Snapscope creates
JOURNAL = "journal.sqlite"
OTHERS = stat.S_IRWXG | stat.S_IRWXO
_BESIDE = ("", "-wal", "-shm", "-journal")  # suffixes of the files that SQLite keeps for one database
_DOCUMENTS = ("recent", "visits", "watched", "saved-queries", "query-history")  # of the user state
_WITHOUT = (
    errno.ENOENT,
    errno.EPERM,
    errno.EACCES,
    errno.EROFS,
    errno.ENOTSUP,
    errno.ENOSYS,
)  # gone, or a file system without modes
_MAKING = threading.Lock()
_ODD = re.compile(r"::|//|\\|[%?#\s\x00-\x1f\x7f]|(^|/)\.{1,2}(/|$)")


def state_dir() -> Path:
    """`$SNAPSCOPE_STATE`, else `~/.local/state/snapscope`. Not created here."""
    return _place("SNAPSCOPE_STATE", ".local/state/snapscope")


def cache_dir() -> Path:
    """`$SNAPSCOPE_CACHE`, else `~/.cache/snapscope`. Not created here."""
    return _place("SNAPSCOPE_CACHE", ".cache/snapscope")


def user_name() -> str:
    """The user who runs this process. In a container, a user id may have no name: then `uid-54321`."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return f"uid-{os.getuid()}"


def config_file() -> tuple[Path, bool]:
    """`$SNAPSCOPE_CONFIG`, else `~/.config/snapscope/config.toml`; and whether the variable names it."""
    return _place("SNAPSCOPE_CONFIG", ".config/snapscope/config.toml"), bool(os.environ.get("SNAPSCOPE_CONFIG"))


def private(folder: Path) -> Path:
    """Create the directory if it is missing, and close it and everything else of Snapscope's to other users."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for root in (state_dir(), cache_dir()):
        if folder.is_relative_to(root):
            _close_all(root)
    return folder


def private_file(path: Path) -> Path:
    """Create the file if it is missing; no other user can read or write it, or what is created beside it.

    Invariant: an existing file is never opened, because closing any file releases every POSIX lock that this process
    holds on it, and SQLite uses such locks. A missing file is locked by nobody here, and by nobody before it is closed.
    """
    private(path.parent)
    with _MAKING, contextlib.suppress(FileExistsError):
        if not path.exists():
            os.close(os.open(os.path.realpath(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    _close(path)
    return path


@functools.cache  # once per process: for files from before they were created closed
def _close_all(root: Path) -> None:
    """Close everything under `root` to other users if it contains only Snapscope's files.

    A directory that also contains other things is left as it is, and so is what may be someone else's by its name: only
    the journal and the user-state documents in it are closed.
    """
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
    """Remove other users' permissions if the file is ours and not a symbolic link, as far as the file system can."""
    try:
        found = path.lstat()
        if found.st_uid == os.geteuid() and found.st_mode & OTHERS and not stat.S_ISLNK(found.st_mode):
            path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
    except OSError as error:
        if error.errno not in _WITHOUT:
            raise


def is_within(location: str, place: str) -> bool:
    """Whether a location, in whatever spelling, is a place or lies within it; in doubt, False.

    Only the local disk is accessed, and only if the location starts with the name of a local place.
    """
    if location.rstrip("/") == place.rstrip("/"):
        return True
    base = place if place.endswith("/") else f"{place}/"
    if not location.startswith(base):
        return False
    below, is_url = location[len(base) :], "://" in place or place.startswith("file:")
    spaced = not is_url and below == below.strip()  # in local file names, spaces are significant
    if _ODD.search(below.replace(" ", "_") if spaced else below):
        return False
    if is_url:
        return True
    return location.startswith("/") and Path(os.path.realpath(location)).is_relative_to(os.path.realpath(place))


def _place(variable: str, below_home: str) -> Path:
    named = os.environ.get(variable)
    try:
        return Path(named).expanduser().absolute() if named else Path.home() / below_home
    except RuntimeError as error:
        raise Invalid(
            "The home directory of user {user} is unknown.",
            user=user_name(),
            remedy=message("Set HOME, or set {variable} to a full path.", variable=variable),
        ) from error
