"""Where the table's files are: locations inside metadata are absolute, paths here are relative to the table.

Law: two spellings of one place (`file:/x`, `file:///x`, `/x`; `s3a://`, `s3://`; `./x`, `x`) are one path. A path that
is not under the table, or climbs out of it, stays a whole URI. What is not under the table or its configured write
paths is not ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from core import urls
from core.errors import NotFound
from core.storage.store import DirectoryEntry, Store

WRITE_PATHS = (
    "write.data.path",
    "write.metadata.path",
    "write.object-storage.path",
    "write.folder-storage.path",
)
ABSOLUTE = re.compile("[A-Za-z][A-Za-z0-9+.-]*:/|/")
_CLIMBS = r"(^|/)\.\.?(/|$)|\\"


def normal(location: str) -> str:
    """One spelling of a location: a local path without scheme, `s3` for its older names, no slash at the end."""
    return str(normals(pa.array([location]))[0]).rstrip("/") or "/"


def normals(locations: pa.Array) -> pa.Array:
    """`normal` of many."""
    found = pc.replace_substring_regex(locations, r"^(?:file|local):(?://localhost)?/+", "/")
    found = pc.replace_substring_regex(found, r"^s3[an]://", "s3://")
    found = pc.replace_substring_regex(found, r"^(?:\./+)+", "")
    is_local = pc.starts_with(found, "/")
    if pc.any(pc.and_(is_local, pc.match_substring(found, "//"))).as_py():
        found = pc.if_else(is_local, pc.replace_substring_regex(found, "/{2,}", "/"), found)
    return found


@dataclass(frozen=True, slots=True)
class TableLocation:
    """A table's directory and the prefix its metadata names it by."""

    store: Store
    prefix: str  # normal
    written: tuple[str, ...] = ()  # other prefixes that are the table's, normal

    @classmethod
    def of(cls, store: Store, location: str, properties: Mapping[str, str]) -> TableLocation:
        written = (normal(properties[key]) for key in WRITE_PATHS if properties.get(key))
        return cls(store, normal(location), tuple(written))

    def is_named(self, locations: pa.Array) -> pa.BooleanArray:
        """Which locations say where they are: absolute ones; of a table with a relative location those under it."""
        absolute = pc.match_substring_regex(locations, f"^(?:{ABSOLUTE.pattern})")
        if ABSOLUTE.match(self.prefix):
            return absolute
        return pc.or_(absolute, pc.starts_with(normals(locations), f"{self.prefix}/"))

    def paths(self, locations: pa.Array) -> pa.Array:
        """Paths relative to the table; whole URIs where they are elsewhere."""
        whole = normals(locations)
        inner = pc.utf8_slice_codeunits(whole, len(self.prefix) + 1)
        is_inside = pc.and_(
            pc.starts_with(whole, f"{self.prefix.rstrip('/')}/"),
            pc.invert(pc.match_substring_regex(inner, _CLIMBS)),
        )
        if pc.all(is_inside).as_py():
            return inner
        outside = pa.array([None if inside else _uri(path) for inside, path in zip(
            is_inside.to_pylist(), whole.to_pylist(), strict=True)], pa.string())  # fmt: skip
        return pc.if_else(is_inside, inner, outside)

    def path(self, location: str) -> str:
        return str(self.paths(pa.array([location]))[0])

    def ours(self, paths: pa.Array) -> pa.Array:
        """Which paths (as `paths` tells them) may be deleted as the table's own."""
        mine = pc.invert(pc.match_substring_regex(paths, "^[A-Za-z][A-Za-z0-9+.-]*:/"))
        for prefix in self.written:
            begins = pc.starts_with(paths, f"{_uri(prefix).rstrip('/')}/")
            mine = pc.or_(mine, pc.and_(begins, pc.invert(pc.match_substring_regex(paths, _CLIMBS))))
        return mine

    def sizes(self, paths: Sequence[str]) -> dict[str, int]:
        """Bytes of those of the paths that are there, by listing their directories once."""
        found: dict[str, int] = {}
        wanted: dict[str, list[str]] = {}
        for path in paths:
            directory, _, name = path.rpartition("/")
            wanted.setdefault(directory, []).append(name)
        for directory, names in wanted.items():
            listed = {entry.name: entry.size for entry in self._listed(directory)}
            joint = f"{directory}/" if directory else ""
            found |= {joint + name: size for name in names if (size := listed.get(name)) is not None}
        return found

    def size(self, path: str) -> int | None:
        """Bytes of one file, None where it is not there."""
        directory, _, name = path.rpartition("/")
        store, below = self.opened(directory)
        return store.size(f"{below}/{name}" if below else name)

    def _listed(self, directory: str) -> Sequence[DirectoryEntry]:
        store, below = self.opened(directory)
        try:
            return store.ls(below)
        except NotFound:
            return []

    def opened(self, directory: str) -> tuple[Store, str]:
        """The store of a directory, and its path there."""
        if urls.is_url(directory):
            return Store.named(directory), ""
        return self.store, directory


def same(store: Store, location: str) -> bool:
    """Is the table's directory the place its metadata names?"""
    named = normal(location)
    if normal(store.location) == named:
        return True
    if not store.is_local or not named.startswith("/"):
        return False
    return Store(named).root == store.root


def _uri(path: str) -> str:
    """A whole URI of a normal path, its signs as they are."""
    return f"file://{path}" if path.startswith("/") else path
