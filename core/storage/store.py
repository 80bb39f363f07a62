"""The only access to files: a directory tree on any fsspec file system, with errors that never turn into "absent".

Invariant: only a `FileNotFoundError` for exactly the requested path means "not there" (`NotFound`), and a directory of
an object store only if its listing is empty. A rejected request, a timeout or a truncated response is `Corrupt`, and so
is no response (`time_limits`). Nothing is cached here. All paths are relative to the root and may not leave it."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from operator import attrgetter
from typing import Any, TypeVar

import fsspec

from core import urls
from core.errors import Conflict, Corrupt, Invalid, NotFound, SnapscopeError, Unsupported
from core.messages import Message, message
from core.storage import conditional, local_disk, location_options, request_slots, time_limits
from core.storage.conditional import HDFS, LOCAL
from core.storage.file_systems import (
    DirectoryEntry,
    TooLarge,
    addresses,
    climbing,
    entries,
    ls,
    no_directory,
    no_file_system,
    protocol_of,
    server,
    too_large,
    unaddressed,
    unreadable,
    unwritable,
    version_of,
    wrong_settings,
)
from core.storage.s3.client import S3Client
from core.storage.size_limits import DOCUMENT, REFERENCES

_READERS = 64  # threads of one read, where a store is read through fsspec
_LISTING_ATTEMPTS = 5
_NAME = attrgetter("name")
_one_at_a_time = threading.Lock()  # the file system in memory looks and creates in two steps
T = TypeVar("T")


class Store:
    """A root directory and the operations allowed under it."""

    many: S3Client | None = None  # asks for many files at once
    deletes_together = property(lambda self: self.many is not None)

    def __init__(self, location: str, options: Mapping[str, Any] | None = None) -> None:
        """Open `location`: a local path, a `file:` URL or any fsspec URL. Nothing is read yet.

        A local directory has one canonical name however it was given (relative, through a link, as a URL): locks and
        journals use it as their key and must not depend on the current directory. Raises `Invalid`, `Unsupported`,
        `Corrupt`."""
        location = urls.typed(location)
        known = location_options.of(location) if "://" in location else {}
        given = {"use_listings_cache": False, "skip_instance_cache": True, **known, **(options or {})}
        try:
            if "://" in location:
                fs, root = time_limits.in_own_thread(location, lambda: fsspec.core.url_to_fs(location, **given))
            else:  # fsspec would read `::` in a plain path as a chain of file systems
                fs = fsspec.filesystem("file", **given)
                root = fs._strip_protocol(location)
            self.many = S3Client.of(fs, root)
        except (ValueError, ImportError) as error:
            is_installed = location.partition("://")[0] in fsspec.registry
            raise (wrong_settings if is_installed else no_file_system)(location, error) from error
        except SnapscopeError:
            raise
        except Exception as error:  # some file systems connect or open an archive here, and raise any type of error
            raise unreadable(location, error) from error
        self._fs = fs
        self.protocol = protocol_of(fs)
        self.root: str = os.path.realpath(root) if self.is_local else root.rstrip("/") or "/"
        self.location = self.root if self.is_local else location.rstrip("/") or "/"

    @classmethod
    def named(cls, url: str) -> Store:
        """Open a location from a table's metadata, taken literally (`__init__` decodes what a user types)."""
        path = urls.local_path(url)
        found = cls(path or url) if path or not ("::" in url or url.startswith("file:")) else None  # `::` chains stores
        if found and (path or f"/{found.root}".endswith(url.split("://", 1)[-1].partition("/")[2].rstrip("/"))):
            return found
        raise unaddressed(url)

    @property
    def is_local(self) -> bool:
        return self.protocol in LOCAL

    def at(self, relative: str) -> Store:
        """Return a store for a directory below this root, on the same file system."""
        below = copy.copy(self)
        below.root, below.location = self.full(relative), f"{self.location.rstrip('/')}/{relative}"
        return below

    def full(self, relative: str) -> str:
        """Return the file system's own path for `relative`. Raises `Invalid` or `Unsupported` if it leads elsewhere."""
        if relative in ("", "."):
            return self.root
        if relative.startswith("/") or urls.climbs(relative):
            raise climbing(relative)
        if not self.addresses(relative):
            raise unaddressed(relative)
        return f"{self.root.rstrip('/')}/{relative}"

    def addresses(self, relative: str) -> bool:
        """Return whether requests for this path reach the object of exactly that name."""
        return self.is_local or addresses(self._fs, f"{self.root.rstrip('/')}/{relative}")

    def url(self, relative: str) -> str:
        """Return the full path in a form that other programs can open."""
        return self.full(relative) if self.is_local else self._fs.unstrip_protocol(self.full(relative))

    def relative(self, path: str) -> str:
        """Convert a path from metadata (relative, absolute, URL) to one relative to the root; else `Invalid`."""
        if not path.startswith("/") and not urls.is_url(path):
            return path.removeprefix("./")
        local, root = urls.local_path(path) if self.is_local else path, f"{self.root.rstrip('/')}/"
        found = os.path.realpath(local or "/") if self.is_local else str(self._fs._strip_protocol(local))
        is_elsewhere = self.protocol in HDFS and urls.is_url(path) and urls.host(path) != urls.host(self.location)
        if is_elsewhere or not found.startswith(root):  # opening it might contact a server that an attacker named
            problem = message("{path} is not inside {location}.", path=path, location=self.location)
            raise Invalid(problem, path=path, remedy="Give a file of this table.")
        return found.removeprefix(root)

    # reading ------------------------------------------------------------------------------------------------

    def ls(self, relative: str = "") -> list[DirectoryEntry]:
        """List a directory, sorted by name. Raises `NotFound` if it is absent, `Corrupt` if it cannot be listed."""
        path = self.full(relative)
        for _ in range(_LISTING_ATTEMPTS):
            try:
                if self.is_local:
                    return sorted(time_limits.calling(local_disk.ls, path, relative or path), key=_NAME)
                if not (found := self.many and self.many.ls(path)):
                    found = self._with_time_limit(lambda: ls(self._fs, path))
                    if self.many and not self._with_time_limit(partial(self.many.is_whole, path, found)):
                        continue
            except FileNotFoundError as error:
                # An entry that was deleted during the listing raises the same error.
                absent = partial(conditional.is_absent, self._fs, path)
                if self._info(path) is not None or not self._with_time_limit(absent):
                    continue
                self._refuse_link(path)
                problem = message("There is no directory {relative}.", relative=relative or self.location)
                raise NotFound(problem, path=path) from error
            except SnapscopeError:
                raise
            except Exception as error:
                raise unreadable(path, error) from error
            if len(found) == 1 and found[0]["name"] == path and found[0]["type"] != "directory":
                raise no_directory(relative or self.location, path)
            return sorted(entries(found, path), key=_NAME)
        problem = message("The directory {relative} kept changing while it was listed.", relative=relative)
        raise Corrupt(problem, path=path, remedy="Try again.")

    def ls_if_there(self, relative: str, splits: Sequence[str] = ()) -> list[DirectoryEntry]:
        """Like `ls`, but an absent directory has no entries: for directories that a format creates only when needed."""
        path = self.full(relative)
        if self.many and (found := self.many.ls(path, splits)) is not None:
            return sorted(entries(found, path), key=_NAME)
        try:
            return self.ls(relative)
        except NotFound:
            return []

    def read(self, relative: str, most_bytes: int = DOCUMENT, start: int | None = None) -> bytes:
        """Read a whole file, or at most `most_bytes` bytes from offset `start`.

        Raises `NotFound` if absent, `Corrupt` if it cannot be read or a whole file is larger than `most_bytes`."""
        path = self.full(relative)
        try:
            if self.is_local:
                return time_limits.calling(local_disk.read, path, most_bytes, start)
            return self._with_time_limit(lambda: conditional.read(self._fs, path, most_bytes, start))
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
        """Read whole files, in parallel on remote stores. Returns the bytes or the error of each file.
        Reading stops at a total of `REFERENCES` or `most_bytes` bytes, whichever is larger."""
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
        full = {self.full(each): each for each in relatives if self.addresses(each)}
        answers = self.many.read(full, most_bytes, enough) if self.many else {}
        together = sum(len(each) for each in answers.values() if isinstance(each, bytes))
        self.each([each for each in relatives if each not in answers], lambda each: answers.update({each: one(each)}))
        return {relative: answers[relative] for relative in relatives}

    def each(self, relatives: Sequence[str], act: Callable[[str], None]) -> None:
        """Call `act` for each, in parallel, with the caller's time limit. Raises the first error."""
        slots = request_slots.slots_of(server(self._fs, self.location))
        request_slots.read_each(relatives, act, slots, time_limits.limit_s(), min(_READERS, len(relatives)))

    def size(self, relative: str) -> int | None:
        """Return the size of a file in bytes, None if it is absent. A URL names a file outside the root."""
        if other := self._elsewhere(relative):
            return other[0].size(other[1])
        path = self.full(relative)
        if (info := self._info(path)) is None or info["type"] == "directory":  # or only a name above objects
            self._refuse_link(path)
            return None
        return None if info["size"] is None else int(info["size"])

    # writing ------------------------------------------------------------------------------------------------

    def lacks(self, *, creates: bool = False, deletes: bool = False) -> Message | None:
        """Return what this kind of store does not support of the requested operations. The store is not accessed."""
        if creates and not self.guarantees.creates:
            return message("Files cannot be created exclusively on {protocol!r} stores.", protocol=self.protocol)
        if deletes and not self.guarantees.lists:
            return message("It is not known whether {protocol!r} stores list everything.", protocol=self.protocol)
        return None

    @property
    def guarantees(self) -> conditional.Guarantees:
        """What this kind of store promises. The store is not accessed."""
        return conditional.of(self.protocol)

    def keeps_versions(self) -> bool | None:
        """Return whether the bucket keeps what is deleted, so that no space is freed yet; None if that is unknown."""
        try:
            return self._with_time_limit(lambda: conditional.keeps_versions(self._fs, self.protocol, self.root))
        except Exception:  # it takes a right that many do not have, and decides nothing
            return None

    def probe(self, directories: Iterable[str]) -> None:
        """Raise unless files can be created exclusively and deleted: in those of these directories that exist of a
        local disk, in the first of them of a store whose servers differ."""
        found = sorted(map(self.full, directories))
        if self.guarantees.tests and found:
            self._with_time_limit(lambda: conditional.probe(self._fs, self.protocol, found[0], self._whole))
        for directory in found if self.is_local else ():
            try:
                local_disk.probe(directory)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise unwritable(directory, error) from error

    def create(self, relative: str, data: bytes) -> None:
        """Create a file with its whole content atomically. Raises `Conflict` if the name is taken."""
        path = self.full(relative)
        try:
            if self.is_local:
                local_disk.create(path, data)
            elif self.protocol == "memory":
                with _one_at_a_time, self._fs.open(path, "xb") as file:
                    file.write(data)
            elif self.guarantees.creates:
                conditional.create(self._fs, self.protocol, path, data, lambda: self._whole(path, len(data)))
            else:
                problem = self.lacks(creates=True) or ""
                raise Unsupported(problem, path=path, remedy="Make this change with the table's own engine.")
        except FileExistsError as error:
            raise Conflict("{relative} already exists.", relative=relative, path=path) from error
        except SnapscopeError:
            raise
        except Exception as error:  # client libraries raise any type of error
            raise unwritable(path, error) from error

    def put(self, relative: str, data: bytes, was: bytes | None = None) -> None:
        """Write a file, replacing any existing one: for hints and for a tag that is replaced. Raises `Conflict` if
        another writer changed it after `was` was read, where the store can tell (`guarantees.compares`)."""
        path = self.full(relative)
        try:
            if self.is_local:
                with local_disk.temporary(path, data) as temporary:
                    os.replace(temporary, path)
            else:
                conditional.replace(self._fs, self.protocol, path, data, was, lambda: self._whole(path, len(data)))
        except SnapscopeError:
            raise
        except Exception as error:
            raise unwritable(path, error) from error

    def delete(self, relative: str, was: bytes | None = None) -> bool:
        """Delete one file; False if it did not exist. Raises `Corrupt` if the store rejects it, `Conflict` as `put`.

        A URL names a file outside the root; the caller must have checked that the table may delete there."""
        if other := self._elsewhere(relative):
            if other[0].protocol == self.protocol and f"{other[0].root}/".startswith(f"{self.root}/"):
                reason = message("{path} is inside the table, where it has another name; it was kept.", path=relative)
                raise Invalid(reason, path=relative)
            return other[0].delete(other[1])
        path = self.full(relative)
        if self.leads_out(relative):
            reason = message("{relative} is outside the table, behind a symbolic link; it was kept.", relative=relative)
            raise Invalid(reason, path=path)
        try:
            conditional.delete(self._fs, self.protocol, path, was, lambda: self._whole(path))
        except FileNotFoundError:
            return False
        except SnapscopeError:
            raise
        except Exception as error:
            if self.is_local or self._info(path) is not None:  # else only the answer was lost
                raise unreadable(path, error) from error
        return True

    def delete_together(self, were: Mapping[str, bytes | None]) -> set[str]:
        """Delete at most 1,000 files by one request, where it can; return those deleted. `delete` does the others."""
        own = {f"{self.root}/{each}": each for each in were if not (urls.is_url(each) or urls.climbs(each))}
        versions = {path: version_of(were[each]) for path, each in own.items()}
        return {own[path] for path in self.many.delete(versions)} if self.many else set()

    def leads_out(self, relative: str) -> bool:
        """Return whether a symbolic link in a path leads out of the root."""
        return self.is_local and not f"{os.path.realpath(self.full(relative))}/".startswith(f"{self.root.rstrip('/')}/")

    def remove_empty_dir(self, relative: str) -> bool:
        """Remove a directory if it is empty. False if it is not empty or if the store has no directories."""
        if not self.is_local and self.protocol not in HDFS:
            return False
        try:
            (os.rmdir if self.is_local else self._fs.remove_empty_dir)(self.full(relative))
        except Exception:  # client libraries raise any type of error; an empty directory does no harm
            return False
        return True

    def make_dirs(self, relatives: Iterable[str]) -> None:
        """Create directories including their parents; existing ones are no error."""
        for path in map(self.full, relatives):
            try:
                self._fs.makedirs(path, exist_ok=True)
            except Exception as error:
                raise unwritable(path, error) from error

    def _whole(self, path: str, size: int = 0) -> bytes:
        """Read what was just written, by its full path."""
        return self.read(path.removeprefix(f"{self.root.rstrip('/')}/"), max(size, DOCUMENT))

    @cached_property
    def _others(self) -> dict[str, Store]:
        return {}

    def _elsewhere(self, path: str) -> tuple[Store, str] | None:
        """Return the store of a URL's directory, opened once, and the file's name; None for a path in the table."""
        if not urls.is_url(path):
            return None
        directory, _, name = path.rpartition("/")
        if directory not in self._others:
            self._others[directory] = Store.named(directory)
        return self._others[directory], name

    @property
    def _may_be_silent(self) -> bool:
        """Whether calls leave this machine; each then runs in a thread that can be abandoned (a local call would cost
        less than its thread)."""
        return self.protocol not in (*LOCAL, "memory")

    def _with_time_limit(self, call: Callable[[], T]) -> T:
        """Make one call to the file system within its time limit."""
        return time_limits.in_own_thread(self.location, call) if self._may_be_silent else time_limits.calling(call)

    def _info(self, path: str) -> Mapping[str, Any] | None:
        """Return what the file system knows about a file or directory, None if it is absent."""
        try:
            info: Mapping[str, Any] = self._with_time_limit(lambda: self._fs.info(path))
        except FileNotFoundError:
            return None
        except SnapscopeError:
            raise
        except Exception as error:
            raise unreadable(path, error) from error
        return info

    def _refuse_link(self, path: str) -> None:
        """Raise `Corrupt` for a dangling link: its target may be on an unmounted volume, not absent."""
        if self.is_local:
            local_disk.refuse_dangling(path)
