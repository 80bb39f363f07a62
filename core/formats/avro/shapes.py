"""What Avro's records take by their schema alone: the fewest bytes of one, how much a decoder makes of a byte. Pure.

Law: a block that says it holds more records than fit into its bytes is refused before anything is made of it. Types
that a few bytes turn into gigabytes are refused by name: no manifest has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.formats import unpack_limits
from core.messages import told
from core.storage import size_limits

_FIXED = {"null": 0, "boolean": 1, "int": 1, "long": 1, "float": 4, "double": 8, "bytes": 1, "string": 1}
_SLOT = 8  # bytes in memory of a value, whatever it is


@dataclass(frozen=True, slots=True)
class Shape:
    """Of one type: the fewest bytes of a value, the slots it takes in memory even if it is null, and the most slots
    that one byte of an array's items becomes."""

    least: int
    slots: int
    spread: int = 1


@lru_cache(256)
def of(schema: bytes) -> Shape:
    """The shape of a container's records. ValueError for a schema that is none, or that no manifest has."""
    if len(schema) > size_limits.AVRO_SCHEMA:
        raise ValueError(
            told("a schema of at most {most:,} bytes was expected, found {found:,}",
                 most=size_limits.AVRO_SCHEMA, found=len(schema))
        )  # fmt: skip
    return _shape(unpack_limits.document(schema), {}, size_limits.AVRO_DEPTH)


def most_of_a_block(shape: Shape) -> int:
    """Bytes that one block may unpack to, so that what a decoder makes of it has its limit, too."""
    return min(size_limits.AVRO_BLOCK, size_limits.DECODED // (_SLOT * shape.spread))


def _shape(type_: Any, named: dict[str, Shape | None], depth: int, space: str = "") -> Shape:
    """`named`: the types so far by their full names; `space`: the namespace of whatever is around."""
    if not depth:
        raise ValueError(told("types are nested more than {most} deep", most=size_limits.AVRO_DEPTH))
    match type_:
        case str():
            found = _named(type_, named, space)
        case list():
            branches = [_shape(each, named, depth - 1, space) for each in type_]
            found = Shape(1 + min((each.least for each in branches), default=0), *_together(branches))
        case {"type": "record", **rest}:
            found = _record(rest, named, depth - 1, space)
        case {"type": "enum"}:
            found = Shape(1, 1)
        case {"type": "fixed", "size": int(size)} if size >= 0:
            found = Shape(size, 1 + size // _SLOT)
        case {"type": "array", "items": items}:
            found = _repeated(_shape(items, named, depth - 1, space), 0)
        case {"type": "map", "values": values}:
            found = _repeated(_shape(values, named, depth - 1, space), 1)
        case {"type": (str() | dict() | list()) as inner} if inner not in ("fixed", "array", "map"):
            found = _shape(inner, named, depth - 1, space)
        case _:
            raise ValueError(told("{type!r:.60} is no type", type=type_))
    if found.slots > size_limits.AVRO_TYPES:
        raise ValueError(told("a record has more than {most:,} values", most=size_limits.AVRO_TYPES))
    if isinstance(type_, dict) and (full := _full(type_, space)):
        named[full] = found
    return found


def _full(type_: Mapping[Any, Any], space: str) -> str:
    """The name of a type with its namespace; "" where it has none."""
    name, own = type_.get("name"), type_.get("namespace")
    if not isinstance(name, str):
        return ""
    return _in(name, own if isinstance(own, str) else space)


def _in(name: str, space: str) -> str:
    return name if "." in name or not space else f"{space}.{name}"


def _named(name: str, named: Mapping[str, Shape | None], space: str) -> Shape:
    if name in _FIXED:
        return Shape(_FIXED[name], 1)
    full = _in(name, space) if _in(name, space) in named else name  # some writers name those without a namespace so
    found = named.get(full)
    if found is None:
        if full in named:
            raise ValueError(told("the record {name:.60} holds itself", name=name))
        raise ValueError(told("{type!r:.60} is no type", type=name))
    return found


def _record(record: Mapping[Any, Any], named: dict[str, Shape | None], depth: int, space: str) -> Shape:
    if full := _full(record, space):
        if full in named:
            raise ValueError(told("two types are named {name:.60}", name=full))
        named[full], space = None, full.rpartition(".")[0]
    fields = record.get("fields")
    types = (
        [each["type"] for each in fields if isinstance(each, dict) and "type" in each]
        if isinstance(fields, list)
        else []
    )
    parts = [_shape(each, named, depth, space) for each in types]
    return Shape(sum(each.least for each in parts), *_together(parts))


def _together(parts: list[Shape]) -> tuple[int, int]:
    return 1 + sum(each.slots for each in parts), max((each.spread for each in parts), default=1)


def _repeated(item: Shape, more: int) -> Shape:
    """An array's or a map's; `more`: bytes that each item takes beside its value."""
    if item.least + more == 0:
        raise ValueError(told("items that take no bytes have no end"))
    return Shape(1, 1, max(item.spread, -(-(item.slots + more) // (item.least + more))))
