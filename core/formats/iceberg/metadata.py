"""metadata.json, versions 1 to 3: parsed strictly, kept whole.

Invariant: a required field that is missing, mistyped or contradictory is `Corrupt`, naming file and field; what this
version of Snapscope does not support is `Unsupported`. Unknown fields are kept and do no harm. Source: the Iceberg
table specification and `TableMetadataParser` of Iceberg 1.11.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import Corrupt, Unsupported
from core.formats.iceberg import metadata_json
from core.messages import message
from core.model.references import MAIN, Field, Ref, Schema, literal
from core.model.time_travel import NO_SNAPSHOT  # which versions 1 and 2 write for none
from core.storage.size_limits import TABLE_METADATA
from core.storage.store import Store

NEWEST = 3

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Member:
    """One element of `snapshots`, as written; `schema_id` is None in old metadata."""

    id: int
    parent_id: int | None
    sequence: int
    time_ms: int
    summary: Mapping[str, str]
    schema_id: int | None
    manifest_list: str | None
    manifests: tuple[str, ...]  # in version 1, instead of a list
    fields: Json = field(repr=False)


@dataclass(frozen=True, slots=True)
class Metadata:
    """A whole metadata document. `refs` starts with main if there is a current snapshot."""

    path: str
    version: int
    location: str
    updated_ms: int
    properties: Mapping[str, str]
    current: int | None
    schemas: Mapping[int, Schema]
    current_schema: int
    specs: Mapping[int, tuple[Json, ...]]
    snapshots: Mapping[int, Member]
    refs: Mapping[str, Ref]
    log: tuple[tuple[int, int], ...]
    metadata_log: tuple[tuple[int, str], ...]
    statistics: tuple[tuple[int, str, int], ...]  # (snapshot id, path, bytes), including partition statistics
    document: Json = field(repr=False)

    @property
    def is_strict(self) -> bool:
        """Whether Iceberg's own library accepts this document, of what is accepted here."""
        ids = all(each < 2**63 for each in self.snapshots)
        return ids and (self.version < 3 or self.document.get("next-row-id") is not None)

    @property
    def is_encrypted(self) -> bool:
        """Whether the table has encryption keys. Its files need not be encrypted; their first bytes show which are."""
        keyed = (each.fields.get("key-id") is not None for each in self.snapshots.values())
        return bool(self.document.get("encryption-keys")) or any(keyed)


def signed(id: int) -> int:
    """Return a snapshot's id as manifests store it."""
    return id - 2**64 if id >= 2**63 else id


def parse(content: bytes, path: str) -> Metadata:
    """Parse a metadata.json, gzipped or not. Raises `Corrupt` or `Unsupported`, naming `path` and the field."""
    return _Parser(metadata_json.document(metadata_json.unpacked(content, path), path), path).metadata()


def read(store: Store, name: str, path: str | None = None) -> Metadata:
    """Read the metadata file `name` of a store; `path` is its name in errors if that is another."""
    return parse(store.read(name, TABLE_METADATA), path or name)


def of(document: Json, path: str) -> Metadata:
    """Return the metadata of a document that was parsed before."""
    return _Parser(document, path).metadata()


class _Parser:
    """One pass over one document; every error names the file and the field."""

    def __init__(self, document: Json, path: str) -> None:
        self.document, self.path = document, path

    def metadata(self) -> Metadata:
        top, version = self.document, self.integer(self.document, "format-version", "")
        if "view-uuid" in top:
            raise Unsupported(
                "This is the metadata of a view, which has neither snapshots nor files.",
                path=self.path,
                remedy="Open the tables that the view reads.",
            )
        if version > NEWEST:
            raise Unsupported(
                "The table has format version {version}; Snapscope knows versions 1 to {newest}.",
                version=version,
                newest=NEWEST,
                path=self.path,
                remedy="Read it with an engine that supports this version.",
            )
        if version < 1:
            raise self.wrong("format-version", message("a version of 1 or higher"), version)
        for name in ("last-updated-ms", "last-column-id"):
            self.integer(top, name, "")
        if version >= 2:
            self.text(top, "table-uuid", "")
            self.integer(top, "last-sequence-number", "")
            self.integer(top, "last-partition-id", "")
            self.sort_orders()
        if version >= 3:
            self.maybe_integer(top, "next-row-id", "")
        properties = self.strings(top, "properties", "")
        schemas, current_schema = self.schemas(version, properties)
        specs = self.specs(version)
        members = self.members(version)
        current = self.maybe_id(top, "current-snapshot-id", "")
        current = None if current == NO_SNAPSHOT else current
        if current is not None and current not in members:
            raise self.wrong("current-snapshot-id", message("one of the snapshots"), current)
        return Metadata(
            path=self.path,
            version=version,
            location=self.text(top, "location", "").rstrip("/") or "/",
            updated_ms=top["last-updated-ms"],
            properties=properties,
            current=current,
            schemas=schemas,
            current_schema=current_schema,
            specs=specs,
            snapshots=members,
            refs=self.refs(current),
            log=tuple((self.integer(each, "timestamp-ms", at), self.id(each, "snapshot-id", at))
                      for each, at in self.objects(top, "snapshot-log", "")),
            metadata_log=tuple((self.integer(each, "timestamp-ms", at), self.text(each, "metadata-file", at))
                               for each, at in self.objects(top, "metadata-log", "")),
            statistics=self.statistics(),
            document=top,
        )  # fmt: skip

    # parts ----------------------------------------------------------------------------------------------------------

    def schemas(self, version: int, properties: Mapping[str, str]) -> tuple[dict[int, Schema], int]:
        found: dict[int, Schema] = {}
        listed = self.objects(self.document, "schemas", "", required=version >= 2)
        partitions = self.default_spec(version)
        for each, at in listed:
            schema = self.schema(each, at, properties, partitions)
            found[schema.id] = schema
        if version == 1 and (not listed or "current-schema-id" not in self.document):
            only = self.schema(self.object(self.document, "schema", ""), "schema", properties, partitions)
            return {**found, only.id: only}, only.id
        current = self.integer(self.document, "current-schema-id", "")
        if current not in found:
            raise self.wrong("current-schema-id", message("one of the schemas {found}", found=sorted(found)), current)
        return found, current

    def schema(self, given: Json, at: str, properties: Mapping[str, str], spec: tuple[Json, ...]) -> Schema:
        if given.get("type") != "struct":
            raise self.wrong(f"{at}.type", "'struct'", given.get("type"))
        columns = []
        for each, place in self.objects(given, "fields", at, required=True):
            kind = each.get("type")
            if not isinstance(kind, str | dict):
                raise self.wrong(f"{place}.type", "a type", kind)
            required = each.get("required")
            if not isinstance(required, bool):
                raise self.wrong(f"{place}.required", message("true or false"), required)
            own = f"{kind} NOT NULL" if required and isinstance(kind, str) else kind
            name = self.text(each, "name", place)
            doc = each.get("doc")
            defaults = literal(each.get("initial-default")), literal(each.get("write-default"))
            comment = doc if isinstance(doc, str) else None
            columns.append(Field(self.integer(each, "id", place), name, own, comment, *defaults))
        names = {column.id: column.name for column in columns}
        keys = given.get("identifier-field-ids") or []
        if not isinstance(keys, list) or not all(type(key) is int for key in keys):
            raise self.wrong(f"{at}.identifier-field-ids", message("a list of field ids"), keys)
        number = self.maybe_integer(given, "schema-id", at)
        return Schema(
            id=0 if number is None else number,
            fields=tuple(columns),
            partition_keys=tuple(_partition_key(each, names) for each in spec),
            primary_keys=tuple(names[key] for key in keys if key in names),
            options=properties,
            time_ms=0,
        )

    def default_spec(self, version: int) -> tuple[Json, ...]:
        specs = self.specs(version)
        wanted = self.maybe_integer(self.document, "default-spec-id", "")
        if version >= 2 and wanted is None:
            raise self.wrong("default-spec-id", "a number", None)
        wanted = max(specs, default=0) if wanted is None else wanted
        if wanted not in specs:
            raise self.wrong("default-spec-id", message("one of the specs {specs}", specs=sorted(specs)), wanted)
        return specs[wanted]

    def specs(self, version: int) -> dict[int, tuple[Json, ...]]:
        found = {}
        for each, at in self.objects(self.document, "partition-specs", "", required=version >= 2):
            found[self.integer(each, "spec-id", at)] = self.spec_fields(each, "fields", at)
        if not found and version == 1:
            found[0] = self.spec_fields(self.document, "partition-spec", "")
        return found

    def spec_fields(self, given: Json, name: str, at: str) -> tuple[Json, ...]:
        fields = self.objects(given, name, at, required=True)
        for number, (each, place) in enumerate(fields):
            self.text(each, "name", place)
            self.text(each, "transform", place)
            if "source-ids" not in each:
                self.integer(each, "source-id", place)
            if "field-id" not in each:  # old version 1: numbered from 1000 in each spec
                fields[number] = ({**each, "field-id": 1000 + number}, place)
            self.integer(fields[number][0], "field-id", place)
        return tuple(each for each, _ in fields)

    def sort_orders(self) -> None:
        default = self.integer(self.document, "default-sort-order-id", "")
        known = {
            self.integer(each, "order-id", at)
            for each, at in self.objects(self.document, "sort-orders", "", required=True)
        }
        if default not in known | {0}:
            raise self.wrong(
                "default-sort-order-id", message("one of the sort orders {known}", known=sorted(known)), default
            )

    def members(self, version: int) -> dict[int, Member]:
        found: dict[int, Member] = {}
        for each, at in self.objects(self.document, "snapshots", ""):
            member = self.member(each, at, version)
            if member.id in found:
                raise self.wrong(f"{at}.snapshot-id", message("a unique id"), member.id)
            found[member.id] = member
        return found

    def member(self, given: Json, at: str, version: int) -> Member:
        manifests = given.get("manifests")
        path = given.get("manifest-list")
        if path is None and version == 1 and isinstance(manifests, list):
            if not all(isinstance(each, str) for each in manifests):
                raise self.wrong(f"{at}.manifests", message("a list of locations"), manifests)
        else:
            path, manifests = self.text(given, "manifest-list", at), []
        return Member(
            id=self.id(given, "snapshot-id", at),
            parent_id=self.maybe_id(given, "parent-snapshot-id", at),
            sequence=self.maybe_integer(given, "sequence-number", at) or 0,
            time_ms=self.integer(given, "timestamp-ms", at),
            summary=self.strings(given, "summary", at),
            schema_id=self.maybe_integer(given, "schema-id", at),
            manifest_list=path,
            manifests=tuple(manifests),
            fields=given,
        )

    def refs(self, current: int | None) -> dict[str, Ref]:
        given = self.document.get("refs")
        if given is None:
            return {} if current is None else {MAIN: Ref(MAIN, True, current)}
        if not isinstance(given, dict):
            raise self.wrong("refs", message("an object"), given)
        found: dict[str, Ref] = {}
        for name in sorted(given, key=lambda name: (name != MAIN, name)):
            at = f"refs.{name}"
            each = self.object(given, name, "refs")
            kind = self.text(each, "type", at).lower()
            if kind not in ("branch", "tag"):
                raise self.wrong(f"{at}.type", "'branch' or 'tag'", kind)
            least = self.maybe_integer(each, "min-snapshots-to-keep", at)
            ages = [self.maybe_integer(each, key, at) for key in ("max-snapshot-age-ms", "max-ref-age-ms")]
            found[name] = Ref(name, kind == "branch", self.id(each, "snapshot-id", at), least, *ages)
        main = found.get(MAIN)
        if main is not None and not main.is_branch:
            raise self.wrong("refs.main.type", "'branch'", "tag")
        if main is None and current is not None:  # accepted as it is, as Java does
            return {MAIN: Ref(MAIN, True, current), **found}
        if main is not None and main.snapshot_id != current:
            raise self.wrong(
                "refs.main.snapshot-id",
                message("the current snapshot, {current}", current=current),
                main.snapshot_id,
            )
        return found

    def statistics(self) -> tuple[tuple[int, str, int], ...]:
        return tuple(
            (
                self.id(each, "snapshot-id", at),
                self.text(each, "statistics-path", at),
                self.integer(each, "file-size-in-bytes", at),
            )
            for name in ("statistics", "partition-statistics")
            for each, at in self.objects(self.document, name, "")
        )

    # values ---------------------------------------------------------------------------------------------------------

    def wrong(self, name: str, expected: str, found: object) -> Corrupt:
        found_text: str = message("nothing") if found is None else f"{found!r:.60}"
        return Corrupt(
            "Field {name} must be {expected}; found {said}.",
            name=name,
            expected=expected,
            said=found_text,
            path=self.path,
            remedy="Restore the file, or open another metadata.json of the table by its path.",
        )

    def integer(self, given: Json, name: str, at: str) -> int:
        value = given.get(name)
        if type(value) is not int or not -(2**63) <= value < 2**63:
            raise self.wrong(_at(at, name), message("a number of at most 64 bits"), value)
        return value

    def maybe_integer(self, given: Json, name: str, at: str) -> int | None:
        return None if given.get(name) is None else self.integer(given, name, at)

    def id(self, given: Json, name: str, at: str) -> int:
        """A snapshot's id; some writers take the 64 bits for an unsigned number, see `signed`."""
        value = given.get(name)
        return value if type(value) is int and 0 <= value < 2**64 else self.integer(given, name, at)

    def maybe_id(self, given: Json, name: str, at: str) -> int | None:
        return None if given.get(name) is None else self.id(given, name, at)

    def text(self, given: Json, name: str, at: str) -> str:
        value = given.get(name)
        if not isinstance(value, str) or not value:
            raise self.wrong(_at(at, name), "a text", value)
        return value

    def object(self, given: Json, name: str, at: str) -> Json:
        value = given.get(name)
        if not isinstance(value, dict):
            raise self.wrong(_at(at, name), message("an object"), value)
        return value

    def objects(self, given: Json, name: str, at: str, *, required: bool = False) -> list[tuple[Json, str]]:
        """Return the objects of a list, each with its location in the document."""
        value = given.get(name)
        if value is None and not required:
            return []
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.wrong(_at(at, name), message("a list of objects"), value)
        return [(each, f"{_at(at, name)}[{number}]") for number, each in enumerate(value)]

    def strings(self, given: Json, name: str, at: str) -> dict[str, str]:
        value = given.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict) or not all(isinstance(each, str | int | float) for each in value.values()):
            raise self.wrong(_at(at, name), message("an object with string values"), value)
        return {key: each if isinstance(each, str) else json.dumps(each) for key, each in value.items()}


def _at(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _partition_key(spec_field: Json, names: Mapping[int, str]) -> str:
    source = names.get(spec_field.get("source-id", -1), spec_field["name"])
    transform = spec_field["transform"]
    return source if transform == "identity" else f"{transform}({source})"
