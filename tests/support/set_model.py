"""Which holder holds which files, computed with plain sets: an independent, slow implementation without code under
test.

`read(path)` opens a local table with only `json` and `fastavro`, and returns for each holder the set of paths it holds
and its current files. Everything else is set algebra, as in the definition:

    freed(D) = { x : somebody in D holds x, and nobody outside D does }
"""

from __future__ import annotations

import json
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.formats import manifest_bytes

Row = tuple[str, int, int, str, int, int, int, str | None, str]
"""A current file: path, bytes, rows, partition, bucket, level, schema_id, source, format."""

ESCAPED = {chr(code) for code in [*range(0x20), 0x7F]} | set("\"#%'*/:=?\\{}[]^")


@dataclass(frozen=True)
class Holder:
    """A holder and the files it keeps. `live` is empty for changelogs."""

    point: str
    paths: frozenset[str]
    live: tuple[Row, ...]


@dataclass
class Model:
    """All holders of a table by version text, and the kind of every path (the first kind it occurs as)."""

    holders: dict[str, Holder] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)

    def paths(self) -> frozenset[str]:
        return frozenset().union(*(holder.paths for holder in self.holders.values()))

    def holders_of(self, path: str) -> set[str]:
        return {point for point, holder in self.holders.items() if path in holder.paths}

    def freed(self, goes: Collection[str]) -> frozenset[str]:
        held = [holder.paths for point, holder in self.holders.items() if point not in goes]
        let_go = [self.holders[point].paths for point in goes]
        return frozenset().union(*let_go).difference(*held)

    def live_paths(self, points: Iterable[str]) -> frozenset[str]:
        return frozenset(row[0] for point in points for row in self.holders[point].live)


def read(root: Path) -> Model:
    """Read a complete, healthy table."""
    return _Reading(root).model


KIND_ORDER = ("data", "changelog", "index", "statistics", "manifest", "manifest-list", "snapshot", "tag")


class _Reading:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.model = Model()
        self.schema = self._schema(root)
        kept = ("schema", "snapshot", "tag")  # a branch that is being deleted may briefly be an empty directory
        named = (root / "branch").glob("branch-*")
        branches = sorted(each for each in named if any(_named(each / kind, f"{kind}-") for kind in kept))
        found = [("", root), *((f"branch:{each.name.removeprefix('branch-')}/", each) for each in branches)]
        kinds: list[tuple[str, str]] = []
        for prefix, directory in found:
            producer = self._schema(directory)["options"].get("changelog-producer", "none")
            for path in _named(directory / "snapshot", "snapshot-"):
                self._snapshot(prefix + path.name.removeprefix("snapshot-"), path, kinds)
            for path in _named(directory / "tag", "tag-"):
                self._tag(f"{prefix}tag:{path.name.removeprefix('tag-')}", path, kinds)
            for path in _named(directory / "changelog", "changelog-"):
                self._changelog(f"{prefix}changelog:{path.name.removeprefix('changelog-')}", path, producer, kinds)
        for path, kind in sorted(kinds, key=lambda pair: (*KIND_ORDER, "changelog-json").index(pair[1])):
            self.model.kinds.setdefault(path, kind)

    @staticmethod
    def _schema(directory: Path) -> Mapping[str, Any]:
        newest = max(_named(directory / "schema", "schema-"), key=lambda path: int(path.name.split("-")[1]))
        document: Mapping[str, Any] = json.loads(newest.read_bytes())
        return document

    # holders ----------------------------------------------------------------------------------------------------

    def _snapshot(self, point: str, path: Path, kinds: list[tuple[str, str]]) -> None:
        document = json.loads(path.read_bytes())
        kept = list(self._view(document))
        kept += self._added(document["deltaManifestList"])
        kept += self._changes(document)
        self._put(point, [*kept, (self._own(path), "snapshot")], self._live(document), kinds)

    def _tag(self, point: str, path: Path, kinds: list[tuple[str, str]]) -> None:
        document = json.loads(path.read_bytes())
        self._put(point, [*self._view(document), (self._own(path), "tag")], self._live(document), kinds)

    def _changelog(self, point: str, path: Path, producer: str, kinds: list[tuple[str, str]]) -> None:
        document = json.loads(path.read_bytes())
        kept = [*self._changes(document), (self._own(path), "changelog-json")]
        if producer == "none":
            kept += self._lists(document)
            for entry in self._entries(document["deltaManifestList"]):
                if entry["_FILE"].get("_FILE_SOURCE") in (0, None):
                    kept += [(each, "data") for each in self._files(entry)]
        self._put(point, kept, (), kinds)

    def _put(
        self, point: str, kept: Iterable[tuple[str, str]], live: Iterable[Row], kinds: list[tuple[str, str]]
    ) -> None:
        assert point not in self.model.holders
        found = list(kept)
        kinds += found
        self.model.holders[point] = Holder(point, frozenset(path for path, _ in found), tuple(sorted(live, key=str)))

    def _own(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    # what a document names ----------------------------------------------------------------------------------------

    def _view(self, document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Return what a snapshot and a tag of it both hold."""
        yield from self._lists(document)
        for entry in self._live_entries(document):
            yield from ((path, "data") for path in self._files(entry))
        if index := document.get("indexManifest"):
            yield f"manifest/{index}", "manifest"
            for record in _records(self.root / "manifest" / index):
                yield record.get("_EXTERNAL_PATH") or self._index_path(record), "index"
        if statistics := document.get("statistics"):
            yield f"statistics/{statistics}", "statistics"

    def _lists(self, document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        for name in (document["baseManifestList"], document["deltaManifestList"]):
            if name is not None:
                yield from self._list(name)

    def _list(self, name: str) -> Iterator[tuple[str, str]]:
        yield f"manifest/{name}", "manifest-list"
        for record in _records(self.root / "manifest" / name):
            yield f"manifest/{record['_FILE_NAME']}", "manifest"

    def _added(self, delta: str) -> Iterator[tuple[str, str]]:
        for entry in self._entries(delta):
            if entry["_KIND"] == 0:
                yield from ((path, "data") for path in self._files(entry))

    def _changes(self, document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        name = document.get("changelogManifestList")
        if name and (self.root / "manifest" / name).is_file():  # missing if a tag became a snapshot again
            yield from self._list(name)
            for entry in self._entries(name):
                if entry["_KIND"] == 0:
                    yield self._path(entry), "changelog"

    # entries ----------------------------------------------------------------------------------------------------

    def _entries(self, name: str) -> Iterator[Mapping[str, Any]]:
        for record in _records(self.root / "manifest" / name):
            yield from _records(self.root / "manifest" / record["_FILE_NAME"])

    def _live_entries(self, document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Apply the scan rule: all ADDed identities minus all DELETEd ones, in any order."""
        names = [name for name in (document["baseManifestList"], document["deltaManifestList"]) if name is not None]
        entries = [entry for name in names for entry in self._entries(name)]
        gone = {_identity(entry) for entry in entries if entry["_KIND"] == 1}
        added = {_identity(entry): entry for entry in entries if entry["_KIND"] == 0}
        return [entry for identity, entry in added.items() if identity not in gone]

    def _live(self, document: Mapping[str, Any]) -> Iterator[Row]:
        for entry in self._live_entries(document):
            file = entry["_FILE"]
            yield (
                self._path(entry),
                file["_FILE_SIZE"],
                file["_ROW_COUNT"],
                self._partition(entry["_PARTITION"]),
                entry["_BUCKET"],
                file["_LEVEL"],
                file["_SCHEMA_ID"],
                {0: "append", 1: "compact", None: None}[file.get("_FILE_SOURCE")],
                file["_FILE_NAME"].rsplit(".", 1)[-1],
            )

    def _files(self, entry: Mapping[str, Any]) -> Iterator[str]:
        path = self._path(entry)
        yield path
        for extra in entry["_FILE"]["_EXTRA_FILES"]:
            yield f"{path.rpartition('/')[0]}/{extra}"

    def _path(self, entry: Mapping[str, Any]) -> str:
        file = entry["_FILE"]
        external: str | None = file.get("_EXTERNAL_PATH")
        return external or f"{self._bucket(entry)}/{file['_FILE_NAME']}"

    def _index_path(self, record: Mapping[str, Any]) -> str:
        if self.schema["options"].get("index-file-in-data-file-dir") == "true":
            return f"{self._bucket(record)}/{record['_FILE_NAME']}"
        return f"index/{record['_FILE_NAME']}"

    def _bucket(self, entry: Mapping[str, Any]) -> str:
        number = entry["_BUCKET"]
        bucket = "bucket-postpone" if number == -2 else f"bucket-{number}"
        parts = (self.schema["options"].get("data-file.path-directory"), self._partition(entry["_PARTITION"]), bucket)
        return "/".join(part for part in parts if part)

    def _partition(self, data: bytes) -> str:
        keys = self.schema["partitionKeys"]
        types = {column["name"]: column["type"] for column in self.schema["fields"]}
        default = self.schema["options"].get("partition.default-name", "__DEFAULT_PARTITION__")
        values = [_value(data, number, str(types[key])) for number, key in enumerate(keys)]
        texts = [default if value is None or not value.strip() else value for value in values]
        return "/".join(f"{_escape(key)}={_escape(text)}" for key, text in zip(keys, texts, strict=True))


def _named(directory: Path, prefix: str) -> list[Path]:
    return sorted(path for path in directory.glob(f"{prefix}*") if path.is_file())


def _identity(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    file = entry["_FILE"]
    return (
        entry["_PARTITION"],
        entry["_BUCKET"],
        file["_LEVEL"],
        file["_FILE_NAME"],
        tuple(file["_EXTRA_FILES"]),
        file.get("_EMBEDDED_FILE_INDEX"),
        file.get("_EXTERNAL_PATH"),
    )


def _escape(text: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in ESCAPED else char for char in text)


def _value(data: bytes, number: int, of: str) -> str | None:
    """Format field `number` of a BinaryRow preceded by its arity, as in a directory name: texts, integers and dates."""
    arity = int.from_bytes(data[:4], "big")
    row = data[4:]
    bit = 8 + number
    if row[bit >> 3] >> (bit & 7) & 1:
        return None
    at = (arity + 63 + 8) // 64 * 8 + 8 * number
    slot = row[at : at + 8]
    name = of.split(maxsplit=1)[0].partition("(")[0]
    if name in ("STRING", "VARCHAR", "CHAR"):
        if slot[7] & 0x80:
            return slot[: slot[7] & 0x7F].decode()
        size, offset = struct.unpack("<ii", slot)
        return row[offset : offset + size].decode()
    width = {"INT": 4, "BIGINT": 8, "DATE": 4}[name]
    return str(int.from_bytes(slot[:width], "little", signed=True))


def _records(path: Path) -> list[Mapping[str, Any]]:
    stat = path.stat()
    return _decode(str(path), stat.st_size, stat.st_mtime_ns)


@cache
def _decode(path: str, _size: int, _modified_ns: int) -> list[Mapping[str, Any]]:
    return list(manifest_bytes.records(Path(path).read_bytes()))
