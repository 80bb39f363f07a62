"""Paimon's column types: parsing their SQL text or JSON form, and their names in Spark and Arrow.

Invariant: `parse(text(t)) == t` for every type. An unknown type is rejected by its name, never guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pyarrow as pa

from core.errors import Corrupt, Unsupported
from core.formats.paimon.ways_out import LEAVE_OUT, NEWER
from core.storage.size_limits import TYPE_DEPTH

MAX_LENGTH = 2147483647  # VARCHAR and VARBINARY of this length print as STRING and BYTES

_SIMPLE = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "VARIANT", "BLOB")
_SIZED = ("CHAR", "VARCHAR", "BINARY", "VARBINARY")
_NESTED = ("ARRAY", "MAP", "MULTISET", "ROW", "VECTOR")
_STAMPS = {"TIMESTAMP": "timestamp_ntz", "TIMESTAMP_LTZ": "timestamp"}
_SPARK = {"CHAR": "string", "VARCHAR": "string", "BINARY": "binary", "VARBINARY": "binary", **_STAMPS}
_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|'(?:[^']|'')*'|[A-Za-z_][A-Za-z0-9_]*|\d+|[<>(),])")


@dataclass(frozen=True, slots=True)
class RowField:
    """A field of a ROW type."""

    id: int
    name: str
    type: PaimonType
    description: str | None = None


@dataclass(frozen=True, slots=True)
class PaimonType:
    """One parsed type. `root` is the canonical name: STRING is VARCHAR(2147483647), BYTES is VARBINARY(2147483647).

    `size` is the length of CHAR, VARCHAR, BINARY, VARBINARY and VECTOR and the precision of DECIMAL, TIME and
    TIMESTAMP; `scale` is DECIMAL's. `args` are the element of ARRAY, MULTISET and VECTOR or key and value of MAP.
    """

    root: str
    nullable: bool = True
    size: int | None = None
    scale: int | None = None
    args: tuple[PaimonType, ...] = ()
    fields: tuple[RowField, ...] = ()

    @property
    def is_nested(self) -> bool:
        return self.root in _NESTED

    def but_nullable(self) -> PaimonType:
        return self if self.nullable else replace(self, nullable=True)


Source: TypeAlias = str | Mapping[str, Any] | PaimonType


def parse(source: Source) -> PaimonType:
    """Parse a type of a schema file: SQL text (`DECIMAL(10, 2) NOT NULL`), or the JSON object of a nested type.

    Raises `Unsupported`, naming an unknown type, and `Corrupt` for text that is not a type at all.
    """
    if isinstance(source, PaimonType):
        return source
    try:
        type_ = _Text(source).whole() if isinstance(source, str) else _from_json(source)
        if not type_.is_nested or _depth(type_) <= TYPE_DEPTH:
            return type_
    except RecursionError:
        pass
    raise Corrupt("A column type is nested more than {most} deep.", most=TYPE_DEPTH)


def _depth(type_: PaimonType) -> int:
    return 1 + max((_depth(each) for each in (*type_.args, *(field.type for field in type_.fields))), default=0)


def _from_json(source: Mapping[str, Any]) -> PaimonType:
    found: Any = source  # JSON may contain anything
    if not isinstance(found, Mapping) or not isinstance(found.get("type"), str):
        raise Corrupt(
            "A column type must be a string or an object with a string `type`, not {found}.", found=_shown(found)
        )
    return _object(found)


def text(type_: PaimonType) -> str:
    """Return the type as Paimon's SQL text; nested types with angle brackets."""
    match type_.root:
        case "VARCHAR" if type_.size == MAX_LENGTH:
            body = "STRING"
        case "VARBINARY" if type_.size == MAX_LENGTH:
            body = "BYTES"
        case "CHAR" | "VARCHAR" | "BINARY" | "VARBINARY" | "TIME" | "TIMESTAMP":
            body = f"{type_.root}({type_.size})"
        case "TIMESTAMP_LTZ":
            body = f"TIMESTAMP({type_.size}) WITH LOCAL TIME ZONE"
        case "DECIMAL":
            body = f"DECIMAL({type_.size}, {type_.scale})"
        case "ROW":
            body = f"ROW<{', '.join(_row_field_text(field) for field in type_.fields)}>"
        case "VECTOR":
            body = f"VECTOR<{text(type_.args[0])}, {type_.size}>"
        case "ARRAY" | "MAP" | "MULTISET":
            body = f"{type_.root}<{', '.join(text(arg) for arg in type_.args)}>"
        case _:
            body = type_.root
    return body if type_.nullable else f"{body} NOT NULL"


def to_json(type_: PaimonType) -> str | dict[str, Any]:
    """Return the type as in a schema file: text, or an object for ARRAY, MAP, MULTISET, ROW and VECTOR."""
    name = type_.root if type_.nullable else f"{type_.root} NOT NULL"
    match type_.root:
        case "ARRAY" | "MULTISET":
            return {"type": name, "element": to_json(type_.args[0])}
        case "VECTOR":
            return {"type": name, "element": to_json(type_.args[0]), "length": type_.size}
        case "MAP":
            return {"type": name, "key": to_json(type_.args[0]), "value": to_json(type_.args[1])}
        case "ROW":
            return {"type": name, "fields": [_row_field_json(field) for field in type_.fields]}
        case _:
            return text(type_)


def spark(type_: PaimonType, *, reads: bool = False) -> str:
    """Return the type in Spark's DDL; with `reads`, of types that are only read too. Raises `Unsupported` by name."""
    inner = [spark(each, reads=reads) for each in type_.args]
    match type_.root:
        case "BOOLEAN" | "TINYINT" | "SMALLINT" | "INT" | "BIGINT" | "FLOAT" | "DOUBLE" | "DATE":
            return type_.root.lower()
        case root if root in _SPARK:
            return _SPARK[root]
        case "DECIMAL":
            return f"decimal({type_.size},{type_.scale})"
        case "ARRAY" | "VECTOR" if reads or type_.root == "ARRAY":
            return f"array<{inner[0]}>"
        case "MAP" | "MULTISET":
            return f"map<{inner[0]},{inner[1] if type_.root == 'MAP' else 'int'}>"
        case "ROW":
            return f"struct<{','.join(f'{quoted(f.name)}:{spark(f.type, reads=reads)}' for f in type_.fields)}>"
        case "TIME" | "VARIANT" if reads:
            return "variant" if type_.root == "VARIANT" else f"time({min(_size(type_), 6)})"
        case "BLOB" if reads:
            return "struct<uri:string,offset:bigint,length:bigint>"
        case _:
            raise Unsupported("Spark cannot read columns of type {of}.", of=text(type_), remedy=LEAVE_OUT)


def arrow(type_: PaimonType, *, micros: bool = False) -> pa.DataType:
    """Return the Arrow type for the values of this type. Raises `Unsupported`, naming the type.

    With `micros`, as Spark accepts it: timestamps are in microseconds, a BLOB is a reference to its bytes.
    """
    simple: dict[str, pa.DataType] = {
        "BOOLEAN": pa.bool_(),
        "TINYINT": pa.int8(),
        "SMALLINT": pa.int16(),
        "INT": pa.int32(),
        "BIGINT": pa.int64(),
        "FLOAT": pa.float32(),
        "DOUBLE": pa.float64(),
        "DATE": pa.date32(),
        "TIME": pa.time32("ms"),
        "CHAR": pa.string(),
        "VARCHAR": pa.string(),
        "BINARY": pa.binary(),
        "VARBINARY": pa.binary(),
    }
    match type_.root:
        case "DECIMAL":
            return pa.decimal128(_size(type_), type_.scale or 0)
        case "TIMESTAMP":
            return pa.timestamp("us" if micros else _unit(type_))
        case "TIMESTAMP_LTZ":
            return pa.timestamp("us" if micros else _unit(type_), tz="UTC")
        case "ARRAY" | "VECTOR" if micros or type_.root == "ARRAY":
            return pa.list_(pa.field("element", arrow(type_.args[0], micros=micros), type_.args[0].nullable))
        case "MAP" | "MULTISET":
            counted = type_.args[1] if type_.root == "MAP" else PaimonType("INT", nullable=False)
            value = pa.field("value", arrow(counted, micros=micros), counted.nullable)
            return pa.map_(arrow(type_.args[0], micros=micros), value)
        case "ROW":
            return pa.struct([pa.field(f.name, arrow(f.type, micros=micros), f.type.nullable) for f in type_.fields])
        case "TIME" if micros:
            return pa.time64("ns")
        case "VARIANT" if micros:
            marked = pa.field("metadata", pa.binary(), False, metadata={"variant": "true"})
            return pa.struct([pa.field("value", pa.binary(), False), marked])
        case "BLOB" if micros:
            return pa.struct([("uri", pa.string()), ("offset", pa.int64()), ("length", pa.int64())])
        case root if root in simple:
            return simple[root]
        case _:
            raise Unsupported("Columns of type {of} have no Arrow type in Snapscope.", of=text(type_), remedy=LEAVE_OUT)


def quoted(name: str) -> str:
    """Quote a name in backticks, as SQL reads it back unchanged."""
    return "`" + name.replace("`", "``") + "`"


def _size(type_: PaimonType) -> int:
    assert type_.size is not None, type_.root  # every sized type is parsed with a size
    return type_.size


def _unit(type_: PaimonType) -> str:
    size = _size(type_)
    return "s" if size == 0 else "ms" if size <= 3 else "us" if size <= 6 else "ns"


def _shown(source: object) -> str:
    shown = repr(source)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


def _row_field_text(field: RowField) -> str:
    description = "" if field.description is None else " '" + field.description.replace("'", "''") + "'"
    return f"{quoted(field.name)} {text(field.type)}{description}"


def _row_field_json(field: RowField) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": field.id, "name": field.name, "type": to_json(field.type)}
    if field.description is not None:
        shown["description"] = field.description
    return shown


def _object(source: Mapping[str, Any]) -> PaimonType:
    name = str(source["type"]).strip()
    root, _, rest = name.partition(" ")
    root = root.upper()
    if rest.strip().upper() not in ("", "NULL", "NOT NULL"):
        raise Corrupt("{name} is not a column type.", name=_shown(name))
    nullable = rest.strip().upper() != "NOT NULL"
    try:
        match root:
            case "ARRAY" | "MULTISET":
                return PaimonType(root, nullable, args=(parse(source["element"]),))
            case "VECTOR":
                return PaimonType(root, nullable, size=int(source["length"]), args=(parse(source["element"]),))
            case "MAP":
                return PaimonType(root, nullable, args=(parse(source["key"]), parse(source["value"])))
            case "ROW":
                fields = tuple(
                    RowField(int(f["id"]), str(f["name"]), parse(f["type"]), f.get("description"))
                    for f in source["fields"]
                )
                return PaimonType(root, nullable, fields=fields)
            case _:
                return _Text(name).whole()
    except (KeyError, TypeError, ValueError) as error:
        raise Corrupt(
            "The column type {json} is incomplete or not valid: {error}.",
            json=_shown(json.dumps(source, default=str)),
            error=error,
        ) from error


class _Text:
    """A recursive-descent parser of one type's text."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = list(self._split())
        self.at = 0

    def whole(self) -> PaimonType:
        found = self.type()
        if self.at != len(self.tokens):
            raise self.broken()
        return found

    def type(self) -> PaimonType:
        word = self.take()
        root = {"INTEGER": "INT", "DEC": "DECIMAL", "NUMERIC": "DECIMAL"}.get(word.upper(), word.upper())
        if root in _SIMPLE:
            if root == "DOUBLE" and self.next_is("PRECISION"):
                self.take()
            found = PaimonType(root)
        elif root == "STRING":
            found = PaimonType("VARCHAR", size=MAX_LENGTH)
        elif root == "BYTES":
            found = PaimonType("VARBINARY", size=MAX_LENGTH)
        elif root in _SIZED:
            found = PaimonType(root, size=(*self.numbers(), 1)[0])
        elif root == "DECIMAL":
            size, scale, *_ = (*self.numbers(), 10, 0) if not self.next_is("(") else (*self.numbers(), 0)
            found = PaimonType(root, size=size, scale=scale)
        elif root == "TIME":
            size = (*self.numbers(), 0)[0]
            self.optional("WITHOUT", "TIME", "ZONE")
            found = PaimonType(root, size=size)
        elif root in ("TIMESTAMP", "TIMESTAMP_LTZ"):
            size = (*self.numbers(), 6)[0]
            if self.optional("WITH", "LOCAL", "TIME", "ZONE"):
                root = "TIMESTAMP_LTZ"
            self.optional("WITHOUT", "TIME", "ZONE")
            found = PaimonType(root, size=size)
        elif root in _NESTED:
            found = self.nested(root)
        elif re.fullmatch(r"[A-Z_][A-Z0-9_]*", root):
            raise Unsupported("Snapscope does not know the column type {source!r}.", source=self.source, remedy=NEWER)
        else:
            raise self.broken()
        if self.optional("NOT", "NULL"):
            return replace(found, nullable=False)
        self.optional("NULL")
        return found

    def nested(self, root: str) -> PaimonType:
        self.expect("<")
        fields: list[RowField] = []
        args: list[PaimonType] = []
        size: int | None = None
        if root == "ROW":
            while not self.next_is(">"):
                if fields:
                    self.expect(",")
                fields.append(self.row_field(len(fields)))
        else:
            args.append(self.type())
            if root == "MAP":
                self.expect(",")
                args.append(self.type())
            if root == "VECTOR":
                self.expect(",")
                size = self.number()
        self.expect(">")
        return PaimonType(root, size=size, args=tuple(args), fields=tuple(fields))

    def row_field(self, position: int) -> RowField:
        name = self.take()
        if name.startswith("`"):
            name = name[1:-1].replace("``", "`")
        of = self.type()
        description = None
        if self.at < len(self.tokens) and self.tokens[self.at].startswith("'"):
            description = self.take()[1:-1].replace("''", "'")
        return RowField(position, name, of, description)  # text carries no ids: Paimon counts from 0

    def numbers(self) -> Sequence[int]:
        if not self.next_is("("):
            return ()
        self.take()
        found = [self.number()]
        while self.next_is(","):
            self.take()
            found.append(self.number())
        self.expect(")")
        return found

    def number(self) -> int:
        token = self.take()
        if not token.isdecimal():
            raise self.broken()
        return int(token)

    def take(self) -> str:
        if self.at >= len(self.tokens):
            raise self.broken()
        self.at += 1
        return self.tokens[self.at - 1]

    def next_is(self, word: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].upper() == word

    def expect(self, word: str) -> None:
        if self.take().upper() != word:
            raise self.broken()

    def optional(self, *words: str) -> bool:
        if tuple(t.upper() for t in self.tokens[self.at : self.at + len(words)]) != words:
            return False
        self.at += len(words)
        return True

    def broken(self) -> Corrupt:
        return Corrupt("{source} is not a column type.", source=_shown(self.source))

    def _split(self) -> Iterator[str]:
        at, end = 0, len(self.source.rstrip())
        while at < end:
            found = _TOKEN.match(self.source, at)
            if found is None:
                raise self.broken()
            yield found.group(1)
            at = found.end()
