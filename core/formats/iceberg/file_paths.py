"""Locations and paths of a table's files: metadata has absolute locations, paths here are relative to the table.

Invariant: different spellings of one location (`file:/x`, `file:///x`, `/x`; `s3a://`, `s3://`; `./x`, `x`) are one
path. A path that is not below the table, or leaves it by `..`, stays a complete URI. Files that are neither below the
table nor below its configured write paths do not belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from core import urls
from core.errors import Invalid
from core.formats import large_texts
from core.storage.decoded_files import flat
from core.storage.file_systems import DirectoryEntry
from core.storage.store import Store

WRITE_PATHS = (
    "write.data.path",
    "write.metadata.path",
    "write.object-storage.path",
    "write.folder-storage.path",
)
DIRECTORY = "metadata"
SPLITS = (*"48c", "snap-3", "snap-5", "snap-7", "v")
"""Where the names in it split into parts of about the same size, in order: UUIDs, numbers of snapshots, versions."""
ABSOLUTE = re.compile("[A-Za-z][A-Za-z0-9+.-]*:/|/")
_CLIMBS = r"(^|/)\.\.?(/|$)|\\"


def normal(location: str) -> str:
    """Normalize a location: a local path without scheme, `s3` for its older names, no trailing slash.

    Raises `Invalid` if it is not valid UTF-8.
    """
    if not urls.is_text(location):
        raise Invalid(
            "The location {location} is not valid UTF-8, so no Iceberg metadata can name it.",
            location=urls.shown(location),
            path=urls.shown(location),
            remedy="Rename the directory.",
        )
    return str(normals(pa.array([location]))[0]).rstrip("/") or "/"


def normals(locations: pa.Array) -> pa.Array:
    """Apply `normal` to an array, keeping trailing slashes."""
    found = pc.replace_substring_regex(locations, r"^(?:file|local):(?://localhost)?/+", "/")
    found = pc.replace_substring_regex(found, r"^s3[an]://", "s3://")
    found = pc.replace_substring_regex(found, r"^(?:\./+)+", "")
    is_local = pc.starts_with(found, "/")
    if pc.any(pc.and_(is_local, pc.match_substring(found, "//"))).as_py():
        found = pc.if_else(is_local, pc.replace_substring_regex(found, "/{2,}", "/"), found)
    return found


@dataclass(frozen=True, slots=True)
class TableLocation:
    """A table's directory and the location prefix that its metadata uses."""

    store: Store
    prefix: str  # normalized
    written: tuple[str, ...] = ()  # other prefixes that belong to the table, normalized

    @classmethod
    def of(cls, store: Store, location: str, properties: Mapping[str, str]) -> TableLocation:
        written = (normal(properties[key]) for key in WRITE_PATHS if properties.get(key))
        return cls(store, normal(location), tuple(written))

    @property
    def _base(self) -> str | None:
        """The directory at which relative locations start, if the table's own is one and ends the path it is at."""
        root, own = self.store.root, f"/{self.prefix}"
        is_known = self.store.is_local and not ABSOLUTE.match(self.prefix) and root.endswith(own)
        return root.removesuffix(own) if is_known else None

    def is_named(self, locations: pa.ChunkedArray) -> pa.ChunkedArray:
        """Mask the valid locations: absolute ones; for a table with a relative location also those below it, and if its
        path shows where they start, all others that do not climb out of there."""
        if ABSOLUTE.match(self.prefix):
            is_below = pc.starts_with(locations, f"{self.prefix.rstrip('/')}/")
            if pc.all(is_below).as_py():
                return is_below
        absolute = pc.match_substring_regex(locations, f"^(?:{ABSOLUTE.pattern})")
        if ABSOLUTE.match(self.prefix):
            return absolute
        relative = normals(locations)
        inside = pc.starts_with(relative, f"{self.prefix}/")
        if self._base is not None:
            inside = pc.or_(inside, pc.invert(pc.match_substring_regex(relative, _CLIMBS)))
        return pc.or_(absolute, inside)

    def paths(self, locations: pa.Array) -> pa.Array:
        """Return paths relative to the table; complete URIs for files outside it."""
        start = self.prefix.rstrip("/")
        if pc.all(pc.starts_with(locations, f"{start}/")).as_py():
            rest = _without(locations, f"{start}/")
            if _are_plain(rest):  # as nearly all writers spell them
                return rest
        whole = normals(locations)
        inner = pc.utf8_slice_codeunits(whole, len(start) + 1)
        is_inside = pc.and_(
            pc.starts_with(whole, f"{start}/"),
            pc.invert(pc.match_substring_regex(inner, _CLIMBS)),
        )
        if pc.all(is_inside).as_py():
            return inner
        base = self._base
        outside = pa.array([None if inside else _uri(path, base) for inside, path in zip(
            is_inside.to_pylist(), whole.to_pylist(), strict=True)], pa.string())  # fmt: skip
        return pc.if_else(is_inside, inner, outside)

    def path(self, location: str) -> str:
        return str(self.paths(pa.array([location]))[0])

    def ours(self, paths: pa.Array | pa.ChunkedArray) -> pa.Array:
        """Mask the paths (as returned by `paths`) that belong to the table and may be deleted."""
        if not large_texts.may_contain(paths, b":/"):
            return pa.repeat(True, len(paths))
        paths = flat(paths)
        mine = pc.invert(pc.match_substring_regex(paths, "^[A-Za-z][A-Za-z0-9+.-]*:/"))
        for prefix in self.written:
            begins = pc.starts_with(paths, f"{_uri(prefix).rstrip('/')}/")
            mine = pc.or_(mine, pc.and_(begins, pc.invert(pc.match_substring_regex(paths, _CLIMBS))))
        return mine

    def sizes(self, paths: Sequence[str]) -> dict[str, int]:
        """Return the sizes in bytes of those paths that exist, listing each directory once."""
        return {path: entry.size for path, entry in self.entries(paths, {}).items() if entry.size is not None}

    def entries(
        self, paths: Sequence[str], listed: dict[str, Mapping[str, DirectoryEntry]]
    ) -> dict[str, DirectoryEntry]:
        """Return what listings show of those paths that exist; `listed` are directories that were listed already."""
        found: dict[str, DirectoryEntry] = {}
        for path in paths:
            directory, _, name = path.rpartition("/")
            if directory not in listed:
                listed[directory] = {entry.name: entry for entry in self._listed(directory)}
            if (entry := listed[directory].get(name)) is not None:
                found[path] = entry
        return found

    def size(self, path: str) -> int | None:
        """Return the size of one file in bytes, None if it is absent."""
        directory, _, name = path.rpartition("/")
        store, below = self.opened(directory)
        return store.size(f"{below}/{name}" if below else name)

    def _listed(self, directory: str) -> Sequence[DirectoryEntry]:
        store, below = self.opened(directory)
        return store.ls_if_there(below, SPLITS if below == DIRECTORY else ())

    def opened(self, directory: str) -> tuple[Store, str]:
        """Return the store of a directory, and its path in that store."""
        if urls.is_url(directory):
            return Store.named(directory), ""
        return self.store, directory


def same(store: Store, location: str) -> bool:
    """Return whether the table's directory is the location in its metadata."""
    named = normal(location)
    if normal(store.location) == named:
        return True
    if not store.is_local or not named.startswith("/"):
        return False
    return Store(named).root == store.root


def _without(texts: pa.StringArray, prefix: str) -> pa.StringArray:
    """Return texts that all begin with a prefix without it."""
    return pc.binary_replace_slice(texts.view(pa.binary()), 0, len(prefix.encode()), b"").view(pa.string())


def _are_plain(paths: pa.StringArray) -> bool:
    """Return whether no part of any path is empty or begins with a dot, and no path contains a backslash."""
    if not large_texts.may_contain(paths, b"\\", b"//", b"/."):
        return not pc.any(pc.or_(pc.starts_with(paths, "/"), pc.starts_with(paths, "."))).as_py()
    return not pc.any(pc.match_substring_regex(paths, r"(^|/)[/.]|\\")).as_py()


def _uri(path: str, base: str | None = None) -> str:
    """Return a complete URI for a normalized path, without escaping characters; a relative one starts at `base`."""
    if base is not None and not ABSOLUTE.match(path):
        return f"file://{base}/{path}"
    return f"file://{path}" if path.startswith("/") else path
