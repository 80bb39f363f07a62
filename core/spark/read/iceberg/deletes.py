"""The delete files of an Iceberg snapshot, and the data files that each applies to.

Invariants: a deletion vector replaces position deletes; what a delete applies to follows from spec, partition and
sequence number (table specification, "Scan Planning"). Entries that contradict each other, so that engines would
differ, are `Corrupt`; a delete that names a live file in another spelling is never silently ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import pyarrow as pa

from core.errors import Corrupt
from core.formats.avro.decode import parted
from core.formats.iceberg import types
from core.formats.iceberg.file_paths import normals
from core.formats.iceberg.manifests import EQUALITY_DELETES, POSITION_DELETES
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.types import IcebergType
from core.messages import message
from core.spark.read.iceberg.columns import Columns

Entry: TypeAlias = Mapping[str, Any]
PATH, POSITION = 2147483546, 2147483545  # field ids of position deletes
Scope: TypeAlias = tuple[int, tuple[tuple[int, Any], ...]]  # spec, and the partition's values by field id


class Deletes:
    """The delete files of a snapshot, by what they apply to."""

    def __init__(self, found: Metadata, listed: Columns, deletes: pa.Table, data: pa.Table) -> None:
        self.found, self.listed = found, listed
        self.scopes: dict[tuple[int, str], Scope] = {}
        self.identities: dict[int, dict[int, int]] = {}  # by spec: source column by partition field
        self.vectors: dict[str, Entry] = {}
        self.by_path: dict[str, list[Entry]] = {}
        self.by_scope: dict[tuple[bool, Scope], list[Entry]] = {}
        self.everywhere: list[Entry] = []
        self.all: dict[int, Entry] = {}
        if len(deletes) and (deletes["sequence"].null_count or data["sequence"].null_count):
            raise Corrupt("A manifest has an existing file without a sequence number, so deletes cannot be applied.")
        for row in deletes.to_pylist():
            self._add({**row, "scope": self.scope(row), "referenced": row["referenced"] or _only_path(row)})
        self._refuse_near_misses(data)
        ids = {id for each in self.all.values() if each["content"] == EQUALITY_DELETES for id in each["equality_ids"]}
        self.keys = tuple(listed.key(id) for id in sorted(ids))
        used = set(data["spec_id"].unique().to_pylist())
        wanted = {each.id for each in (*listed.columns, *self.keys)}
        self.sources = {id for number in used for id in self._identity(number).values()} & wanted

    def of(self, row: Entry) -> tuple[Entry | None, tuple[int, ...], tuple[int, ...]]:
        """By number: the deletion vector of a data file, else its position deletes; and its equality deletes."""
        own = row["sequence"]
        vector = self.vectors.get(row["path"])
        named = [] if vector is not None else self.by_path.get(row["path"], [])
        for each in (*named, *([vector] if vector is not None else [])):
            if each["scope"] != row["scope"]:
                raise Corrupt(
                    message("Its deletes refer to a data file of another partition, {path}.", path=row["path"]),
                    path=each["path"],
                    remedy="Engines differ in whether such deletes apply; repair the table with its own engine.",
                )
        if vector is not None and own > vector["sequence"]:
            raise Corrupt(
                message(
                    (
                        "A deletion vector with sequence number {sequence} refers to a file with the later "
                        "{own}, {path}."
                    ),
                    sequence=vector["sequence"],
                    own=own,
                    path=row["path"],
                ),
                path=vector["path"],
                remedy="Repair the table with its own engine.",
            )
        around = self.by_scope.get((False, row["scope"]), []) if vector is None else []
        positions = [each["number"] for each in (*named, *around) if own <= each["sequence"]]
        equal = [*self.everywhere, *self.by_scope.get((True, row["scope"]), [])]
        equality = [each["number"] for each in equal if own < each["sequence"]]
        return vector, tuple(sorted(positions)), tuple(sorted(equality))

    def named(self, key: tuple[Any, ...]) -> dict[str, Any]:
        """The delete files of a unit: paths of position deletes; path and ids of equality deletes."""
        positions, equality = key if len(key) == 2 else ((), ())
        return {
            "positions": [self.all[number]["file"] for number in positions],
            "equality": [[self.all[number]["file"], list(self.all[number]["equality_ids"])] for number in equality],
        }

    def bytes(self, key: tuple[Any, ...]) -> int:
        """The size of a unit's delete files."""
        return sum(self.all[number]["bytes"] for numbers in key[-2:] if len(key) == 2 for number in numbers)

    def described(self, row: Entry, vector: Entry | None) -> dict[str, Any]:
        """Describe one data file for a task. `constants`: values of columns that come from its partition."""
        sources = self._identity(row["spec_id"])
        texts = dict(parted(row["partition"]))
        constants = {str(source): texts.get(id) for id, source in sources.items()}
        own = {
            "path": row["file"],
            "name": row["path"],
            "bytes": row["bytes"],
            "rows": row["rows"],
            "constants": constants,
        }
        if row["spec_id"] not in self.found.specs:
            own["constants"] = None
        where = None if vector is None else [vector[key] for key in ("file", "offset", "size", "rows")]
        return {**own, "vector": where}

    def scope(self, row: Entry) -> Scope:
        """Spec and partition values, comparable whichever engine wrote them."""
        key = row["spec_id"], row["partition"]
        if key not in self.scopes:
            self.scopes[key] = (
                row["spec_id"],
                tuple(
                    sorted(
                        ((id, self._value(row, id, text)) for id, text in parted(row["partition"])),
                        key=lambda each: each[0],
                    )
                ),
            )
        return self.scopes[key]

    def _value(self, row: Entry, id: int, text: str | None) -> Any:
        own = next((each for each in self.found.specs.get(row["spec_id"], ()) if each["field-id"] == id), None)
        transform = "identity" if own is None else own["transform"]
        if text is None or transform == "void":
            return None
        source = None if own is None else self.listed.any(own.get("source-id", -1))
        of = {
            "day": IcebergType("date"),
            "year": IcebergType("int"),
            "month": IcebergType("int"),
            "hour": IcebergType("int"),
        }.get(transform)
        if of is None and transform.startswith("bucket"):
            of = IcebergType("int")
        if of is None:
            of = None if source is None or source.type.root.endswith("_ns") else source.type
        try:
            value = text if of is None else types.spelled(text, of)
            return repr(value) if isinstance(value, float) else value  # NaN equals NaN here
        except (ValueError, KeyError, ArithmeticError) as error:
            raise Corrupt(
                "{text!r:.40} is not a valid {of} for partition field {id}.",
                text=text,
                id=id,
                of=of and of.root,
                path=row["path"],
            ) from error

    def _identity(self, spec: int) -> dict[int, int]:
        if spec not in self.identities:
            self.identities[spec] = {
                each["field-id"]: each["source-id"]
                for each in self.found.specs.get(spec, ())
                if each["transform"] == "identity" and "source-id" in each
            }
        return self.identities[spec]

    def _add(self, row: Entry) -> None:
        self.all[row["number"]] = row
        if row["spec_id"] not in self.found.specs:
            raise Corrupt(
                "A delete file uses partition spec {spec_id}, which is not in the metadata.",
                spec_id=row["spec_id"],
                path=row["path"],
            )
        if row["content"] == EQUALITY_DELETES:
            if not row["equality_ids"]:
                raise Corrupt("An equality delete file lists no columns to compare.", path=row["path"])
            if all(each["transform"] == "void" for each in self.found.specs.get(row["spec_id"], ())):
                self.everywhere.append(row)
            else:
                self.by_scope.setdefault((True, row["scope"]), []).append(row)
        elif row["format"].lower() == "puffin":
            if row["referenced"] is None or row["offset"] is None or row["size"] is None:
                raise Corrupt("A deletion vector does not name its data file, or its own location.", path=row["path"])
            if row["referenced"] in self.vectors:
                raise Corrupt(
                    "{referenced} has more than one deletion vector.", referenced=row["referenced"], path=row["path"]
                )
            self.vectors[row["referenced"]] = row
        elif row["referenced"] is not None:
            self.by_path.setdefault(row["referenced"], []).append(row)
        else:
            self.by_scope.setdefault((False, row["scope"]), []).append(row)

    def _refuse_near_misses(self, data: pa.Table) -> None:
        """Refuse deletes that name a live file in another spelling.

        Engines compare locations as strings, so such a file would keep its deleted rows.
        """
        exact = set(data["path"].to_pylist())
        odd = [each for each in (*self.vectors, *self.by_path) if each not in exact]
        if odd:
            near = set(normals(data["path"].combine_chunks()).to_pylist())
            for name, plain in zip(odd, normals(pa.array(odd)).to_pylist(), strict=True):
                if plain in near:
                    raise near_miss(name, (self.vectors.get(name) or self.by_path[name][0])["path"])


def near_miss(name: str, path: str) -> Corrupt:
    """The error for deletes that would apply to a live file if both spelled its location the same way."""
    return Corrupt(
        "Its deletes refer to {name}, which the table's manifests write differently (scheme or "
        "host), so engines that compare locations as text would bring deleted rows back.",
        name=name,
        path=path,
        remedy=("The table was moved or is named by two schemes; rewrite the delete files with its own engine."),
    )


def _only_path(row: Entry) -> str | None:
    """The single data file that position deletes apply to, if their bounds determine it."""
    low, high = ({each["key"]: each["value"] for each in row[side] or ()}.get(PATH) for side in ("lower", "upper"))
    return low.decode() if low is not None and low == high and row["content"] == POSITION_DELETES else None
