"""Bounds on Avro records from their schema alone: minimum encoded size and memory per encoded byte. Pure.

Invariant: a block that claims more records than fit into its bytes is rejected before anything is allocated for it.
Types that a few bytes can expand to gigabytes are rejected by name; no manifest has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.formats import unpack_limits
from core.messages import message
from core.storage import size_limits

_FIXED = {"null": 0, "boolean": 1, "int": 1, "long": 1, "float": 4, "double": 8, "bytes": 1, "string": 1}
PRIMITIVE = frozenset(_FIXED)
_SLOT = 8  # bytes of memory per value, whatever its type


@dataclass(frozen=True, slots=True)
class Shape:
    """Bounds of one type.

    `least`: minimum encoded size in bytes. `slots`: memory slots of a value, even if null. `spread`: maximum number of
    slots per encoded byte of an array's items.
    """

    least: int
    slots: int
    spread: int = 1


@lru_cache(256)
def of(schema: bytes) -> Shape:
    """Return the shape of a container's records. Raises ValueError for a schema that is invalid or too large."""
    if len(schema) > size_limits.AVRO_SCHEMA:
        raise ValueError(
            message("a schema may have at most {most:,} bytes; this one has {found:,}",
                 most=size_limits.AVRO_SCHEMA, found=len(schema))
        )  # fmt: skip
    return _shape(unpack_limits.document(schema), {}, size_limits.AVRO_DEPTH)


def most_of_a_block(shape: Shape) -> int:
    """Return the maximum unpacked size of a block in bytes, which also bounds the memory its decoded rows take."""
    return min(size_limits.AVRO_BLOCK, size_limits.DECODED // (_SLOT * shape.spread))


def _shape(type_: Any, named: dict[str, Shape | None], depth: int, space: str = "") -> Shape:
    """Compute the shape of a type.

    `named`: the types defined so far by full name. `space`: the enclosing namespace.
    """
    if not depth:
        raise ValueError(message("types are nested more than {most} deep", most=size_limits.AVRO_DEPTH))
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
            raise ValueError(message("{type!r:.60} is not a valid type", type=type_))
    if found.slots > size_limits.AVRO_TYPES:
        raise ValueError(message("a record has more than {most:,} values", most=size_limits.AVRO_TYPES))
    if isinstance(type_, dict) and (full := _full(type_, space)):
        named[full] = found
    return found


def _full(type_: Mapping[Any, Any], space: str) -> str:
    """Return the full name of a type including its namespace; "" if it has no name."""
    name, own = type_.get("name"), type_.get("namespace")
    if not isinstance(name, str):
        return ""
    return _in(name, own if isinstance(own, str) else space)


def _in(name: str, space: str) -> str:
    return name if "." in name or not space else f"{space}.{name}"


def _named(name: str, named: Mapping[str, Shape | None], space: str) -> Shape:
    if name in _FIXED:
        return Shape(_FIXED[name], 1)
    full = _in(name, space) if _in(name, space) in named else name  # some writers omit the namespace
    found = named.get(full)
    if found is None:
        if full in named:
            raise ValueError(message("the record {name:.60} contains itself", name=name))
        raise ValueError(message("{type!r:.60} is not a valid type", type=name))
    return found


def _record(record: Mapping[Any, Any], named: dict[str, Shape | None], depth: int, space: str) -> Shape:
    if full := _full(record, space):
        if full in named:
            raise ValueError(message("two types are named {name:.60}", name=full))
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
    """Return the shape of an array or map of `item`. `more`: bytes of each item in addition to its value."""
    if item.least + more == 0:
        raise ValueError(message("items that take no bytes would never end"))
    return Shape(1, 1, max(item.spread, -(-(item.slots + more) // (item.least + more))))
