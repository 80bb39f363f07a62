"""The only door to files: a directory tree on any fsspec file system, with errors that never turn into "absent".

Law: only a `FileNotFoundError` about the very path asked for means "not there" (`NotFound`); a refusal, a time-out
or a half answer is `Corrupt`, and so is silence (`time_limits`). Nothing is cached here. All paths are relative to
the root and may not leave it.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import fsspec
import fsspec.asyn

from core import urls
from core.errors import Conflict, Corrupt, Invalid, NotFound, SnapscopeError, Unsupported
from core.messages import Told, told
from core.storage import local_disk, time_limits
from core.storage.file_systems import TooLarge, modified_s, package_remedy, remote, too_large, unreadable, unwritable
from core.storage.size_limits import DOCUMENT, REFERENCES

LOCAL = ("file", "local")
EXCLUSIVE = (*LOCAL, "memory", "s3", "s3a")  # where of two who create one name one is refused
_READERS = 16
_PLACES = told("Give a path or an fsspec URL.")
_OTHERWISE = told("Make this change with the table's own engine.")
_LISTING_ATTEMPTS = 5
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """One directory entry. `size` is in bytes, None for directories; `modified_s` is epoch seconds where known."""

    name: str
    size: int | None
    is_dir: bool
    modified_s: float | None = None


class Store:
    """A root directory and what may be done under it."""

    def __init__(self, location: str, options: Mapping[str, Any] | None = None) -> None:
        """Open `location`: a local path, a `file:` URL or any fsspec URL. Nothing is read yet.

        A local place has one name however it was written (relative, through a link, as a URL): locks and journals
        go by it, and outlive the current directory.
        """
        if not location.strip():
            raise Invalid("The location is blank.", remedy=_PLACES)
        if location.startswith("file:"):
            location = urls.typed_path(location)
        if "\0" in location:
            raise Invalid("The location holds a NUL character.", remedy=_PLACES)
        given = {"use_listings_cache": False, "skip_instance_cache": True, **(options or {})}
        try:
            if "://" in location:
                fs, root = time_limits.alone(location, lambda: fsspec.core.url_to_fs(location, **given))
            else:  # a plain path is itself: `::` in it is no chain of file systems
                fs = fsspec.filesystem("file", **given)
                root = fs._strip_protocol(location)
        except (ValueError, ImportError) as error:
            raise Unsupported(
                "No file system for {location!r}: {error}.",
                location=location,
                error=error,
                remedy=package_remedy(location),
            ) from error
        except SnapscopeError:
            raise
        except Exception as error:  # some connect, or open an archive, and raise what they like
            raise unreadable(location, error) from error
        self._fs = fs
        protocol = fs.protocol
        self.protocol: str = protocol if isinstance(protocol, str) else protocol[0]
        self.root: str = os.path.realpath(root) if self.is_local else root.rstrip("/") or "/"
        self.location = self.root if self.is_local else location.rstrip("/") or "/"

    @classmethod
    def named(cls, url: str) -> Store:
        """The place that a table's metadata names: literally, where `__init__` decodes what a person types."""
        path = urls.local_path(url)
        found = cls(path or url) if path or not ("::" in url or url.startswith("file:")) else None  # `::` chains stores
        if found and (path or f"/{found.root}".endswith(url.split("://", 1)[-1].partition("/")[2].rstrip("/"))):
            return found
        said = told("{url!r} cannot be named literally on its store, so nothing is read or deleted there.", url=url)
        raise Unsupported(said, path=url)

    @property
    def is_local(self) -> bool:
        return self.protocol in LOCAL

    def at(self, relative: str) -> Store:
        """The same file system one or more directories down."""
        below = object.__new__(Store)
        below._fs, below.protocol = self._fs, self.protocol
        below.root = self.full(relative)
        below.location = f"{self.location.rstrip('/')}/{relative}"
        return below

    def full(self, relative: str) -> str:
        """The file system's own path of `relative`; `Invalid` if it would leave the root."""
        if relative in ("", "."):
            return self.root
        if relative.startswith("/") or "\\" in relative or "\0" in relative or ".." in relative.split("/"):
            raise Invalid("The path {relative!r} leaves the table's directory.", relative=relative, path=relative)
        return f"{self.root.rstrip('/')}/{relative}"

    def url(self, relative: str) -> str:
        """A full path another program can open."""
        return self.full(relative) if self.is_local else self._fs.unstrip_protocol(self.full(relative))

    def relative(self, path: str) -> str:
        """A path under the root as metadata names it, however it was written: relative, absolute or a URL. `Invalid`
        for one that lies elsewhere."""
        if not path.startswith("/") and not urls.is_url(path):
            return path.removeprefix("./")
        named, root = urls.local_path(path) if self.is_local else path, f"{self.root.rstrip('/')}/"
        found = os.path.realpath(named or "/") if self.is_local else str(self._fs._strip_protocol(named))
        if not found.startswith(root):  # by its name alone: opened, it might call whatever server somebody wrote
            said = told("{path} does not lie in {location}.", path=path, location=self.location)
            raise Invalid(said, path=path, remedy="Name a file of this table.")
        return found.removeprefix(root)

    # reading ------------------------------------------------------------------------------------------------

    def ls(self, relative: str = "") -> list[DirectoryEntry]:
        """All entries of a directory by name. `NotFound` if it is absent, `Corrupt` if it cannot be listed."""
        path = self.full(relative)
        for _ in range(_LISTING_ATTEMPTS):
            try:
                found = self._asked(lambda: self._fs.ls(path, detail=True))
            except FileNotFoundError as error:
                # An entry that vanished while the directory was being listed raises the same error.
                if not self._is_there(path):
                    self._refuse_link(path)
                    raise NotFound(
                        "There is no directory {relative}.", relative=relative or self.location, path=path
                    ) from error
                continue
            except SnapscopeError:
                raise
            except Exception as error:
                raise unreadable(path, error) from error
            if len(found) == 1 and found[0]["name"].rstrip("/") == path and found[0]["type"] != "directory":
                raise Corrupt(
                    "A directory was expected at {relative}, found a file.",
                    relative=relative or self.location,
                    path=path,
                    remedy="Move the file away, or name the directory that is meant.",
                )
            return sorted(self._entries(found, path), key=lambda entry: entry.name)
        raise Corrupt(
            "The directory {relative} kept changing while it was listed.",
            relative=relative,
            path=path,
            remedy="Try again.",
        )

    def ls_if_there(self, relative: str) -> list[DirectoryEntry]:
        """As `ls`, with an absent directory answered by no entries: for directories a format makes only when needed."""
        try:
            return self.ls(relative)
        except NotFound:
            return []

    def read(self, relative: str, most_bytes: int = DOCUMENT, start: int | None = None) -> bytes:
        """A whole file. `NotFound` if absent, `Corrupt` if it cannot be read or is larger than `most_bytes`.

        With `start` a part: at most `most_bytes` from there."""
        path = self.full(relative)
        try:
            if self.is_local:
                return time_limits.calling(local_disk.read, path, most_bytes, start)
            return self._asked(lambda: remote(self._fs, path, most_bytes, start))
        except FileNotFoundError as error:
            self._refuse_link(path)
            raise NotFound("There is no file {relative}.", relative=relative, path=path) from error
        except TooLarge as error:
            raise too_large(error, most_bytes, path) from error
        except SnapscopeError:
            raise
        except Exception as error:
            raise unreadable(path, error) from error

    def read_many(self, relatives: Sequence[str], most_bytes: int = DOCUMENT) -> dict[str, bytes | SnapscopeError]:
        """Whole files, side by side where that helps; each answered by its bytes or by the error of reading it.

        Together they are bounded, too: beyond `REFERENCES` or one `most_bytes` no more is read."""
        together, enough = 0, max(REFERENCES, most_bytes)

        def one(relative: str) -> bytes | SnapscopeError:
            nonlocal together
            try:
                if together > enough:
                    raise too_large(TooLarge(together), enough, self.full(relative).rpartition("/")[0])
                data = self.read(relative, most_bytes)
            except SnapscopeError as error:
                return error
            together += len(data)
            return data

        if not self._may_be_silent or len(relatives) < 2:
            return {relative: one(relative) for relative in relatives}
        waiting = iter(relatives)
        answers: dict[str, bytes | SnapscopeError] = {}

        def several() -> None:
            for relative in waiting:  # one iterator for all of them
                answers[relative] = one(relative)

        seconds, count = (
            time_limits.limit_s(),
            min(_READERS, len(relatives)),
        )  # each call counts as the caller's own would
        readers = [time_limits.begin(self.location, seconds, several, sys.maxsize) for _ in range(count)]
        try:
            for reader in readers:
                reader.answer()
        finally:
            deque(waiting, 0)  # given up: nobody wants the others
        return {relative: answers[relative] for relative in relatives}

    def size(self, relative: str) -> int | None:
        """Bytes of one file, None if it is absent. A whole URL names a file elsewhere (an external path)."""
        if other := _elsewhere(relative):
            return other[0].size(other[1])
        path = self.full(relative)
        try:
            size = self._asked(lambda: self._fs.info(path))["size"]
        except FileNotFoundError:
            self._refuse_link(path)
            return None
        except SnapscopeError:
            raise
        except Exception as error:
            raise unreadable(path, error) from error
        return None if size is None else int(size)

    # writing ------------------------------------------------------------------------------------------------

    def lacks(self, *, creates: bool = False, deletes: bool = False) -> Told | None:
        """What of these this kind of store cannot do; nothing is asked of it."""
        if creates and self.protocol not in EXCLUSIVE:
            return told("Files cannot be created exclusively on {protocol!r} stores.", protocol=self.protocol)
        if deletes and not _can_delete(type(self._fs)):
            return told("Files cannot be deleted on {protocol!r} stores.", protocol=self.protocol)
        return None

    def probe(self, directories: Iterable[str]) -> None:
        """Raises where files cannot be created, replaced and deleted in directories of a local disk that are there."""
        for directory in map(self.full, directories) if self.is_local else ():
            try:
                local_disk.probe(directory)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise unwritable(directory, error) from error

    def create(self, relative: str, data: bytes) -> None:
        """Create a file with its whole content at once; `Conflict` if the name is taken.

        Local disk: temporary file, fsync, hard link. Memory: exclusive open. S3: one conditional PUT.
        Any other store is `Unsupported`: an exclusive create cannot be promised there.
        """
        path = self.full(relative)
        try:
            if self.is_local:
                local_disk.create(path, data)
            elif self.protocol == "memory":
                with self._fs.open(path, "xb") as file:
                    file.write(data)
            elif self.protocol in EXCLUSIVE:
                self._fs.pipe_file(path, data, mode="create")
            else:
                raise Unsupported(self.lacks(creates=True) or "", path=path, remedy=_OTHERWISE)
        except FileExistsError as error:
            raise Conflict("{relative} exists already.", relative=relative, path=path) from error
        except SnapscopeError:
            raise
        except Exception as error:  # client libraries raise what they like
            raise unwritable(path, error) from error

    def put(self, relative: str, data: bytes) -> None:
        """Write a file over whatever is there: for hints and for a tag that is being replaced."""
        path = self.full(relative)
        try:
            if self.is_local:
                with local_disk.temporary(path, data) as temporary:
                    os.replace(temporary, path)
            else:
                self._fs.pipe_file(path, data)
        except Exception as error:
            raise unwritable(path, error) from error

    def delete(self, relative: str) -> bool:
        """Delete one file; False if it was not there. `Corrupt` if the store refuses.

        A whole URL names a file elsewhere: whoever asks has looked whether the table may delete there.
        """
        if other := _elsewhere(relative):
            if other[0].protocol == self.protocol and f"{other[0].root}/".startswith(f"{self.root}/"):
                said = told("{path} lies in the table, where it has another name; it was kept.", path=relative)
                raise Invalid(said, path=relative)
            return other[0].delete(other[1])
        path = self.full(relative)
        if self.leads_out(relative):
            raise Invalid(
                "{relative} lies outside the table behind a symbolic link; it was kept.", relative=relative, path=path
            )
        try:
            self._fs.rm_file(path)
        except FileNotFoundError:
            return False
        except Exception as error:
            raise unreadable(path, error) from error
        return True

    def leads_out(self, relative: str) -> bool:
        """Does a symbolic link on the way to a path lead out of the root?"""
        return self.is_local and not f"{os.path.realpath(self.full(relative))}/".startswith(f"{self.root.rstrip('/')}/")

    def remove_empty_dir(self, relative: str) -> bool:
        """Remove a directory if it is empty; False where it is not, or where the store has no directories."""
        if not self.is_local:
            return False
        try:
            os.rmdir(self.full(relative))
        except OSError:
            return False
        return True

    def make_dirs(self, relatives: Iterable[str]) -> None:
        """Make directories, parents included; no error where they exist."""
        for path in map(self.full, relatives):
            try:
                self._fs.makedirs(path, exist_ok=True)
            except Exception as error:
                raise unwritable(path, error) from error

    # ---------------------------------------------------------------------------------------------------------

    @property
    def _may_be_silent(self) -> bool:
        """Whether calls leave this machine: each is made in a thread that may be left behind. A disk's are not, as that
        costs more than they do; whoever reads several tables has a thread for each."""
        return self.protocol not in (*LOCAL, "memory")

    def _asked(self, call: Callable[[], T]) -> T:
        """One call of the file system, in its time."""
        return time_limits.alone(self.location, call) if self._may_be_silent else time_limits.calling(call)

    def _is_there(self, path: str) -> bool:
        try:
            self._asked(lambda: self._fs.info(path))
        except FileNotFoundError:
            return False
        except SnapscopeError:
            raise
        except Exception as error:
            raise unreadable(path, error) from error
        return True

    def _entries(self, found: Iterable[Mapping[str, Any]], path: str) -> Iterable[DirectoryEntry]:
        for info in found:
            name = str(info["name"]).rstrip("/").rsplit("/", 1)[-1]
            if str(info["name"]).rstrip("/") == path:
                continue  # object stores list the directory's own marker
            is_dir = info["type"] == "directory" or (bool(info.get("islink")) and os.path.isdir(info["name"]))
            yield DirectoryEntry(name, None if is_dir else int(info.get("size") or 0), is_dir, modified_s(info))

    def _refuse_link(self, path: str) -> None:
        """What a link leads to may be on a volume that is not mounted: not the same as absent."""
        if self.is_local and os.path.islink(path):
            raise Corrupt(
                "This symbolic link leads to nothing that is there.",
                path=path,
                remedy="Mount what it leads to, or remove the link.",
            )


def _can_delete(kind: type) -> bool:
    """Whether a class of file systems has a way of its own to delete a file."""
    bases = (fsspec.spec.AbstractFileSystem, fsspec.asyn.AsyncFileSystem)
    ways = {name: [getattr(base, name, None) for base in bases] for name in ("rm_file", "_rm", "_rm_file")}
    return any(getattr(kind, name, None) not in (*defaults, None) for name, defaults in ways.items())


def _elsewhere(path: str) -> tuple[Store, str] | None:
    """The store of a URL's directory and the file's name there; None for a path in the table."""
    if not urls.is_url(path):
        return None
    directory, _, name = path.rpartition("/")
    return Store.named(directory), name
