"""Which buckets can hold rows that meet a condition, by the hash of the bucket key, if the files prove that hash. Pure.

Invariant: a bucket is skipped only if the minimum and maximum keys of this table's files, hashed here, fall into the
buckets that the files are in, often enough to rule out coincidence: some writers hashed differently, and no metadata
says which.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from core.errors import SnapscopeError
from core.formats.paimon import binary_row
from core.formats.paimon.types import PaimonType, parse
from core.model.references import Schema
from core.spark.sql.filters import All, Any_, Check, Condition

_MOST_COMBINATIONS = 1_000  # of values that the bucket key may have
_HASHED = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "CHAR", "VARCHAR", "DATE", "DECIMAL")
_CUT_OFF = ("CHAR", "VARCHAR")  # truncated in statistics
_PROOF = 20  # bits: a coincidence of one in a million


class Buckets:
    """For one schema and one condition; `files` are rows of `scan_details.stats`, with their schemas."""

    def __init__(
        self, schema: Schema, condition: Condition, files: Iterable[tuple[Mapping[str, Any], Schema | None]]
    ) -> None:
        self._schema = schema
        self._key = _bucket_key(schema)
        self._types = [parse(schema.fields[at].type) for at in self._key]
        self._hashes = _hashes(self._types, [_equal_to(condition, at) for at in self._key])
        if self._hashes is not None and not self._proved(files):
            self._hashes = None

    def may(self, file: Mapping[str, Any]) -> bool:
        """Whether the file's bucket may hold a row with a requested key."""
        if self._hashes is None or not _is_hashed(file):
            return True
        return any(_bucket(hash_, file) == file["bucket"] for hash_ in self._hashes)

    def _proved(self, files: Iterable[tuple[Mapping[str, Any], Schema | None]]) -> bool:
        proof = 0.0
        seen: set[bytes] = set()
        for file, written in files:
            if not _is_hashed(file):
                continue
            found = set(self._witnesses(file, written)) if written is not None else set()
            if not found or any(_bucket(binary_row.bucket_hash(row[4:]), file) != file["bucket"] for row in found):
                return False
            proof += math.log2(file["total_buckets"]) * len(found - seen)
            seen |= found
        return proof >= _PROOF

    def _witnesses(self, file: Mapping[str, Any], written: Schema) -> Iterator[bytes]:
        """Bucket keys that occur in the file, as stored rows; none if its columns had other types then."""
        ids = [self._schema.fields[at].id for at in self._key]
        then = {field.id: field for field in written.fields}
        if any(
            id not in then or then[id].type != self._schema.fields[at].type
            for id, at in zip(ids, self._key, strict=True)
        ):
            return
        if written.primary_keys:
            row = [field.id for name in written.primary_keys if name not in written.partition_keys
                   for field in written.fields if field.name == name]  # fmt: skip
            rows = (file["min_key"], file["max_key"])
        elif len(ids) == 1 and self._types[0].root not in _CUT_OFF and file["written"] is None:
            names = [field.name for field in written.fields] if file["columns"] is None else file["columns"]
            row = [next((f.id for f in written.fields if f.name == name), -1) for name in names]
            rows = (file["low"], file["high"])
        else:
            return
        if not set(ids) <= set(row):
            return
        places = {row.index(id): of for id, of in zip(ids, self._types, strict=True)}
        for stored in rows:
            try:
                values = list(binary_row.some(stored, len(row), places).values())
            except SnapscopeError:  # statistics of another shape
                return
            if None not in values:
                yield binary_row.encode(values, self._types)


def _is_hashed(file: Mapping[str, Any]) -> bool:
    return file["bucket"] >= 0 and (file["total_buckets"] or 0) > 1


def _bucket(hash_: int, file: Mapping[str, Any]) -> int:
    """The bucket of a hash, as the amount of Java's remainder, which truncates towards zero."""
    return abs(hash_) % int(file["total_buckets"])


def _bucket_key(schema: Schema) -> list[int]:
    """The columns whose hash determines the bucket; none if another rule, or one unknown here, does."""
    bucket, named = schema.options.get("bucket", "-1").strip(), schema.options.get("bucket-key", "")
    if not bucket.isdigit() or int(bucket) < 1 or schema.options.get("bucket-function.type", "default") != "default":
        return []
    at = {field.name: number for number, field in enumerate(schema.fields)}
    names = [name.strip() for name in named.split(",") if name.strip()]
    names = names or [name for name in schema.primary_keys if name not in schema.partition_keys]
    is_hashed = all(name in at and parse(schema.fields[at[name]].type).root in _HASHED for name in names)
    return [at[name] for name in names] if is_hashed else []


def _hashes(of: Sequence[PaimonType], choices: Sequence[Sequence[Any] | None]) -> list[int] | None:
    """The hashes that the bucket key may have if the condition holds; None if that is not restrictive enough."""
    known = [values for values in choices if values is not None]
    if not of or len(known) != len(of) or math.prod(map(len, known)) > _MOST_COMBINATIONS:
        return None
    return list(_hashed(known, of))


def _hashed(choices: Sequence[Sequence[Any]], of: Sequence[PaimonType]) -> Iterator[int]:
    for values in itertools.product(*choices):
        try:
            stored = binary_row.encode([_value(v, to) for v, to in zip(values, of, strict=True)], of)
        except SnapscopeError:  # the type has no such value, so no row has it
            continue
        yield binary_row.bucket_hash(stored[4:])


def _value(value: Any, of: PaimonType) -> Any:
    """A comparable value in its stored form."""
    match of.root:
        case "CHAR" | "VARCHAR":
            return value.decode()
        case "DATE":
            return dt.date(1970, 1, 1) + dt.timedelta(days=value)
        case "DECIMAL":
            return Decimal(value)
        case _:
            return value


def _equal_to(condition: Condition, column: int) -> Sequence[Any] | None:
    """The only values that the column can have if the condition holds; None if it allows any."""
    match condition:
        case Check(at, "=", values) if at == column:
            return values
        case All(parts):
            found = [known for each in parts if (known := _equal_to(each, column)) is not None]
            return min(found, key=len) if found else None
        case Any_(parts):
            every = [_equal_to(part, column) for part in parts]
            return None if None in every else [value for each in every for value in each or ()]
        case _:
            return None
