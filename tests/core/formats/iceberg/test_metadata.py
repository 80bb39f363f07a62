"""metadata.json: all versions, every field missing or of another type, damaged files, and rejections by name."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from core.errors import Corrupt, SnapscopeError, Unsupported
from core.formats.iceberg.metadata import Metadata, parse, signed
from core.formats.iceberg.references import heads
from tests.support.iceberg_documents import SCHEMA, Json, document, snapshot
from tests.support.places import TABLES

OTHERS: list[Any] = [None, True, -1, 2**70, 3.5, "", "x", [], [1], {}, {"a": 1}]


def read(found: Json) -> Metadata:
    return parse(json.dumps(found).encode(), "metadata/v1.metadata.json")


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_whole_document(version: int) -> None:
    found = read(document(version))
    assert (found.version, found.location, found.current, found.current_schema) == (version, "file:/tmp/t", 2, 0)
    assert [ref.name for ref in found.refs.values()] == ["main", "v1"]
    schema = found.schemas[0]
    assert [(each.id, each.name, each.type, each.description) for each in schema.fields] == [
        (1, "id", "long NOT NULL", None),
        (2, "dt", "string", "the day"),
    ]
    assert (schema.partition_keys, schema.primary_keys) == (("dt",), ("id",))
    assert found.log == ((1000, 1), (2000, 2))
    assert [line.branch for line in heads(found, "t").lines] == ["main"]


REQUIRED = {
    1: ["format-version", "location", "last-updated-ms", "last-column-id"],
    2: [
        "table-uuid", "last-sequence-number", "last-partition-id", "sort-orders", "default-sort-order-id", "schemas",
        "current-schema-id", "partition-specs", "default-spec-id", "location", "format-version",
    ],
    3: ["table-uuid"],
}  # fmt: skip


@pytest.mark.parametrize(("version", "name"), [(version, name) for version, own in REQUIRED.items() for name in own])
def test_what_is_required_and_missing_is_named(version: int, name: str) -> None:
    found = document(version)
    del found[name]
    with pytest.raises(Corrupt, match=f"Field {name} must be a .*; found nothing") as caught:
        read(found)
    assert caught.value.path == "metadata/v1.metadata.json"


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every field of a document, however deep."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_field_of_any_other_type_is_an_error_of_ours(version: int) -> None:
    """Every field replaced by everything: understood or refused by name, and never anything else."""
    whole = document(version, statistics=[{"snapshot-id": 1, "statistics-path": "/s", "file-size-in-bytes": 3}])
    whole["metadata-log"] = [{"timestamp-ms": 1, "metadata-file": "/t/v0.metadata.json"}]
    refused = 0
    for path in places(whole):
        for other in OTHERS:
            broken = copy.deepcopy(whole)
            at = broken
            for step in path[:-1]:
                at = at[step]
            at[path[-1]] = other
            try:
                heads(read(broken), "t")
            except SnapscopeError as error:
                assert error.path, (path, other)
                refused += 1
    assert refused > 400


def test_a_packed_document_is_the_same() -> None:
    plain = json.dumps(document()).encode()
    assert parse(gzip.compress(plain, mtime=0), "m").snapshots == parse(plain, "m").snapshots


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"{", "is not valid JSON"),
        (b"[]", "Expected a JSON object, found list."),
        (b'{"format-version": NaN}', "NaN is not a valid JSON number"),
        (b"[" * 100_000, "is not valid JSON"),
        (b'{"a": "\\ud800"}', "is not valid JSON"),
        (b"\xff\xfe", "is not valid JSON"),
        (gzip.compress(b"{}", mtime=0)[:-4], "cut off"),
        (b"\x1f\x8b\x08\x00" + b"\xff" * 20, "The metadata is not a complete gzip file:"),
    ],
)
def test_damaged_files(content: bytes, says: str) -> None:
    with pytest.raises(Corrupt, match=says):
        parse(content, "metadata/v1.metadata.json")


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (document(4), "The table has format version 4; Snapscope knows versions 1 to"),
        ({"format-version": 1, "view-uuid": "a", "versions": []}, "the metadata of a view, which has neither"),
    ],
)
def test_what_is_not_understood_is_refused(found: Json, says: str) -> None:
    with pytest.raises(Unsupported, match=says):
        read(found)


def test_snapshot_ids_of_64_bits_without_a_sign() -> None:
    """DuckDB takes them for unsigned numbers; manifests hold them as signed ones."""
    wide = 2**63 + 5
    found = read(with_newest(wide))
    assert (found.current, found.snapshots[wide].parent_id, found.refs["main"].snapshot_id) == (wide, 1, wide)
    assert (signed(wide), signed(1), found.is_strict) == (5 - 2**63, 1, False)
    with pytest.raises(Corrupt, match="at most 64 bits"):
        read(with_newest(2**64))


def with_newest(id: int) -> Json:
    snapshots = [snapshot(1, None, 1, "/t"), snapshot(id, 1, 2, "/t", **{"sequence-number": 2})]
    return document(2, snapshots=snapshots, refs={}) | {"current-snapshot-id": id}


def test_version_3_without_a_next_row_id_can_be_read() -> None:
    found = document(3)
    assert read(found).is_strict
    del found["next-row-id"]
    assert not read(found).is_strict


@pytest.mark.parametrize(
    "found",
    [
        document(3) | {"encryption-keys": [{"key-id": "k"}]},
        document(3, snapshots=[snapshot(1, None, 1, "/t"), snapshot(2, 1, 2, "/t", **{"key-id": "k"})]),
    ],
)
def test_a_table_with_keys_tells_its_snapshots(found: Json) -> None:
    assert read(found).is_encrypted
    assert not read(document(3)).is_encrypted
    assert [each.id for each in heads(read(found), "t").main.snapshots] == [1, 2]


def test_zstd_is_refused_by_name() -> None:
    with pytest.raises(Unsupported, match="zstd"):
        parse(b"\x28\xb5\x2f\xfd123", "m")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"current-schema-id": 7}, "current-schema-id"),
        ({"default-spec-id": 7}, "default-spec-id"),
        ({"current-snapshot-id": 7}, "current-snapshot-id"),
        ({"current-snapshot-id": 1}, "refs.main.snapshot-id"),
        ({"refs": {"main": {"snapshot-id": 2, "type": "tag"}}}, "refs.main.type"),
        ({"snapshots": [snapshot(2, None, 1, "/t")] * 2}, r"snapshots\[1\].snapshot-id"),
        ({"location": ""}, "Field location must be a text"),
        ({"schemas": [{**SCHEMA, "type": "list"}]}, r"schemas\[0\].type"),
    ],
)
def test_what_contradicts_itself_names_the_field(more: Json, says: str) -> None:
    with pytest.raises(Corrupt, match=says):
        read(document(2, **more))


def test_unknown_fields_are_kept() -> None:
    found = read(document(2) | {"from-tomorrow": {"a": [1]}})
    seen = heads(found, "t")
    assert seen.document["from-tomorrow"] == {"a": [1]}
    assert seen.references["metadata.json#from-tomorrow"] == b'{"a":[1]}'


def test_a_table_without_a_current_snapshot() -> None:
    for none in (None, -1):
        found = read(document(2) | {"current-snapshot-id": none, "snapshots": [], "refs": {}, "snapshot-log": []})
        assert found.current is None
        assert heads(found, "t").main.latest is None


def test_the_files_of_the_project_itself() -> None:
    """Valid and invalid documents out of other implementations' tests; nothing to look at without the shared ones."""
    shared = TABLES / "iceberg" / "metadata_json"
    refused = set()
    for path in sorted(shared.rglob("*.json")) if shared.is_dir() else ():
        try:
            parse(path.read_bytes(), path.name)
        except SnapscopeError as error:
            assert error.path == path.name
            refused.add(f"{path.parent.name}/{path.name}")
    invalid = ("UnsupportedVersion", "Missing", "NotFound", "NoValidSchema", "Encryption", "zstd", "example_")
    assert all(any(word in name for word in invalid) for name in refused)
    assert not shared.is_dir() or len(refused) >= 14
