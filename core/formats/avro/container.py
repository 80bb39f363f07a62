"""Split Avro container files into header, blocks and sync marker, without decoding them.

Invariant: a file that is truncated, or has a block that does not end where its header says, is an error, never a
shorter file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Corrupt, Unsupported
from core.formats import undecoded, unpack_limits
from core.formats.avro import shapes
from core.messages import message
from core.storage import local_disk, size_limits, time_limits
from core.storage.file_systems import TooLarge, too_large

MAGIC = b"Obj\x01"
UNION = "record"
"""The only field of the record that stands for a union.

Paimon up to 0.9 wrote records as a union of null and a record, while the decoder accepts only a record. A record with
one field is encoded like that field.
"""
STEP = "__"
_CODECS = (b"null", b"deflate", b"snappy", b"zstandard", b"bzip2", b"xz")
_ENCRYPTED = b"AGS1"  # Iceberg's own encryption (AES-GCM streams)
_BUILT = ("record", "array", "map", "enum", "fixed")
_INNER = ("type", "fields", "items", "values")  # keys under which a type contains other types


@dataclass(frozen=True, slots=True)
class Frame:
    """A container split into its header and its blocks, each without its trailing sync marker."""

    schema: bytes
    codec: bytes
    header: bytes
    sync: bytes
    blocks: list[memoryview]
    records: int
    size: int  # of the whole file, in bytes
    largest: int  # unpacked bytes per record, averaged over the block where that is highest


def frame(path: str) -> Frame:
    """Walk a container block by block without decoding it.

    The decoder silently drops the end of a truncated file; here a file must end with a whole block. Raises `Corrupt`
    for a missing or damaged file, `Unsupported` for an encrypted one or one that is not Avro.
    """
    try:
        data = time_limits.calling(local_disk.read, path, size_limits.MANIFEST, None, MAGIC)
    except FileNotFoundError as error:
        raise Corrupt(
            "The table's metadata refers to this file, but it does not exist.",
            path=path,
            remedy="Snapshots and tags that need it can no longer be read in full.",
        ) from error
    except TooLarge as error:
        raise too_large(error, size_limits.MANIFEST, path) from error
    except OSError as error:
        raise Corrupt(
            "The file cannot be read: {error}.", error=error, path=path, remedy="Check that you have access to it."
        ) from error
    if data == _ENCRYPTED:
        raise Unsupported(
            "The file is encrypted, and the keys are not here.",
            path=path,
            remedy="Read the table with an engine that has the keys.",
        )
    if not data.startswith(MAGIC):
        raise Unsupported(
            "Expected an Avro file, found other content.",
            path=path,
            remedy="Restore the file, or delete the snapshots and tags that need it.",
        )
    return split_container(data, path)


def split_container(data: bytes, path: str) -> Frame:
    """Split a container given as bytes. Raises `Corrupt` if it is truncated or would exceed `size_limits`,
    `Unsupported` for a codec of no released Avro library."""
    try:
        metadata, position = _header(data)
        sync = data[position : position + 16]
        position += 16
        if position > len(data) or b"avro.schema" not in metadata:
            raise ValueError(message("the header is cut off"))
        codec = metadata.get(b"avro.codec", b"null")
        if codec not in _CODECS:
            raise Unsupported(
                "The file is compressed by the codec {codec}, which Snapscope does not unpack.",
                codec=codec.decode(errors="replace")[:40],
                path=path,
                remedy=undecoded.ELSEWHERE,
            )
        shape = shapes.of(metadata[b"avro.schema"])
        most, least = shapes.most_of_a_block(shape), max(shape.least, 1)
        header, records, unpacked, largest, view = data[:position], 0, 0, 1, memoryview(data)
        blocks: list[memoryview] = []
        while position < len(data):
            count, body = _long(data, position)
            size, body = _long(data, body)
            end = body + size
            if count < 0 or size < 0 or data[end : end + 16] != sync:
                raise ValueError(message("a block does not end where its header says"))
            plain = unpack_limits.unpacked(codec, view[body:end], most)
            if count * least > plain:
                raise ValueError(
                    message("a block of {plain:,} bytes cannot hold {count:,} records", plain=plain, count=count)
                )
            if len(blocks) >= size_limits.AVRO_BLOCKS:
                raise ValueError(message("it has more than {most:,} blocks", most=size_limits.AVRO_BLOCKS))
            blocks.append(view[position:end])
            records, unpacked, position = records + count, unpacked + plain, end + 16
            largest = max(largest, plain // max(count, 1))
        _refuse_bombs(len(data), records, unpacked)
    except (ValueError, IndexError, KeyError) as error:
        raise Corrupt(
            "Expected a complete Avro file; this one of {data} bytes is cut off or damaged ({error}).",
            data=len(data),
            error=error,
            path=path,
            remedy="Restore the file, or delete the snapshots and tags that need it.",
        ) from error
    return Frame(metadata[b"avro.schema"], codec, header, sync, blocks, records, len(data), largest)


def _refuse_bombs(size: int, records: int, unpacked: int) -> None:
    if records > (most := max(size_limits.RECORDS, size)):
        raise ValueError(message("it claims {records:,} records; at most {most:,} fit", records=records, most=most))
    if unpacked > (most := max(size_limits.UNPACKED, size_limits.EXPANSION * size)):
        raise ValueError(message("it decompresses to more than {most:,} bytes", most=most))


def packed(block: memoryview) -> memoryview:
    """Return the payload of a block of `Frame.blocks`, without its two leading numbers."""
    _, position = _long(block, 0)
    _, position = _long(block, position)
    return block[position:]


def _header(data: bytes) -> tuple[Mapping[bytes, bytes], int]:
    """Return what a container's header says, and where its sync marker begins. Files of one table mostly say the same:
    what some last files said is kept, by the very bytes."""
    global _known_headers
    for said, metadata in _known_headers:
        if data.startswith(said):
            return metadata, len(said)
    found, position = _metadata(data, len(MAGIC))
    if position <= min(_MOST_SAID, len(data)):
        _known_headers = ((data[:position], found), *_known_headers[: _KEPT - 1])
    return found, position


_KEPT, _MOST_SAID = 4, 1 << 16
_known_headers: tuple[tuple[bytes, Mapping[bytes, bytes]], ...] = ()


def _metadata(data: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    metadata: dict[bytes, bytes] = {}
    entries = 0
    while True:
        count, position = _long(data, position)
        if count == 0:
            return metadata, position
        entries += abs(count)
        if entries > size_limits.AVRO_ENTRIES:
            raise ValueError(message("the header has more than {most:,} entries", most=size_limits.AVRO_ENTRIES))
        if count < 0:
            _, position = _long(data, position)
        for _ in range(abs(count)):
            key, position = _bytes(data, position)
            metadata[key], position = _bytes(data, position)
            if position > size_limits.AVRO_HEADER:
                raise ValueError(message("the header has more than {most:,} bytes", most=size_limits.AVRO_HEADER))


def _bytes(data: bytes, position: int) -> tuple[bytes, int]:
    size, position = _long(data, position)
    if size < 0 or position + size > len(data):
        raise ValueError(message("the header is cut off"))
    return data[position : position + size], position + size


def _long(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """Decode an Avro long (zigzag, seven bits per byte) into (value, next position)."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
        if shift > 63:
            raise ValueError(message("a number is too long"))


def readable(frame: Frame) -> bytes:
    """Return the header without what the decoder cannot handle.

    That is: empty records, which take no bytes; the logical type UUID of a fixed value, which it expects as a string;
    a union around the record (see `UNION`); and records within it (see `unnested`).
    """
    schema = unnested(_without_empty(_without_uuids(json.loads(frame.schema))))
    if isinstance(schema, list):
        schema = {"type": "record", "name": "union", "fields": [{"name": UNION, "type": schema}]}
    if schema is None or json.loads(frame.schema) == schema:
        return frame.header
    metadata = {b"avro.schema": json.dumps(schema).encode(), b"avro.codec": frame.codec}
    body = b"".join(_written(len(each)) + each for pair in metadata.items() for each in pair)
    return MAGIC + _written(len(metadata)) + body + b"\0" + frame.sync


def unnested(type_: Any) -> Any:
    """Return a record's type with the fields of records in it as its own, named by their paths joined by `STEP`.

    Both are encoded alike, but the decoder skips only fields of the outermost record that nobody asks for.
    """
    if not isinstance(type_, dict) or all(len(path) == 1 for path, _ in leaves(type_)):
        return type_
    return {**type_, "fields": [{**each, "name": STEP.join(path)} for path, each in leaves(type_)]}


def leaves(record: Any) -> list[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Return the fields of an unnested record with their paths in the original one.

    A record stays as it is if types are referred to by name, or if names would be ambiguous.
    """
    found = list(_leaves(record, ()))
    if _refers(record) or len({STEP.join(path) for path, _ in found}) < len(found):
        return [((str(each.get("name")),), each) for each in fields_of(record) or ()]
    return found


def _leaves(record: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    for each in fields_of(record) or ():
        own, type_ = (*path, str(each.get("name"))), each.get("type")
        if isinstance(type_, dict) and type_.get("type") == "record":
            yield from _leaves(type_, own)
        else:
            yield own, each


def _refers(type_: Any) -> bool:
    """Return whether a type refers to another by its name, or is not understood."""
    if isinstance(type_, list):
        return any(_refers(each) for each in type_)
    if not isinstance(type_, dict):
        return type_ not in shapes.PRIMITIVE
    inner = [type_[key] for key in ("items", "values") if key in type_]
    if type_.get("type") == "record":
        fields = type_["fields"] if isinstance(type_.get("fields"), list) else [None]
        inner += [each.get("type") if isinstance(each, dict) else None for each in fields]
    return str(type_.get("type")) not in (*shapes.PRIMITIVE, *_BUILT) or any(_refers(each) for each in inner)


def _without_empty(type_: Any) -> Any:
    """Return the type without the empty records in it; None if nothing is left."""
    if isinstance(type_, dict) and type_.get("type") == "record":
        inner = [(each, _without_empty(each.get("type"))) for each in fields_of(type_) or ()]
        fields = [{**each, "type": kept} for each, kept in inner if kept is not None]
        return {**type_, "fields": fields} if fields else None
    return type_


def _without_uuids(type_: Any) -> Any:
    """Return the type with the logical type UUID removed from all fixed values in it."""
    if isinstance(type_, list):
        return [_without_uuids(each) for each in type_]
    if not isinstance(type_, dict):
        return type_
    if type_.get("type") == "fixed" and type_.get("logicalType") == "uuid":
        return {key: value for key, value in type_.items() if key != "logicalType"}
    return {key: _without_uuids(value) if key in _INNER else value for key, value in type_.items()}


def fields_of(type_: Any) -> list[Mapping[str, Any]] | None:
    """Return the fields of a record, or of a union of null and a record; None for any other type."""
    if isinstance(type_, list):
        type_ = next((branch for branch in type_ if branch != "null"), None)
    fields = type_.get("fields") if isinstance(type_, dict) and type_.get("type") == "record" else None
    return [each for each in fields if isinstance(each, dict)] if isinstance(fields, list) else None


def _written(number: int) -> bytes:
    """Encode a non-negative count as an Avro long."""
    value, out = number << 1, bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
