"""Files designed to exhaust a reader, in place of each kind of metadata file of both formats. Memory use decides.

A reader runs in a separate process with limited memory and CPU time. For each bomb it must raise one of our errors that
names the file, or report the file by name next to what it could read, and use no more memory than `MOST`.
"""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import json
import lzma
import os
import random
import re
import resource
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from core.errors import SnapscopeError
from core.model.actions import Expire
from core.table import open_table
from tests.support.execution import ground, iceberg_ground
from tests.support.places import ROOT

MOST = 1 << 30  # bytes of memory that a reader may use for one bomb
ROOM = 3 << 30  # limit of the address space, to protect the machine from mistakes
SECONDS = 60  # CPU seconds per bomb
LONG = 1 << 34

Bomb = Callable[[Path, bytes], None]  # replaces a file with the given content


def _written(make: Callable[[bytes], bytes]) -> Bomb:
    def put(path: Path, content: bytes) -> None:
        path.unlink()
        path.write_bytes(make(content))

    return put


def _linked(target: str) -> Bomb:
    def put(path: Path, _: bytes) -> None:
        path.unlink()
        path.symlink_to(target)

    return put


def _pipe(path: Path, _: bytes) -> None:
    path.unlink()
    os.mkfifo(path)


def _sparse(size: int, keep: int = 0) -> Bomb:
    def put(path: Path, content: bytes) -> None:
        path.unlink()
        path.write_bytes(content[:keep])
        os.truncate(path, size)

    return put


ANY: dict[str, Bomb] = {
    "a link to /dev/zero": _linked("/dev/zero"),
    "a link to /dev/random": _linked("/dev/random"),
    "a pipe": _pipe,
    "30 GB of a sparse file": _sparse(30 << 30),
    "400 MB of a sparse file": _sparse(400 << 20),
    "a head and 400 MB of nothing": _sparse(400 << 20, 2000),
}
DOCUMENTS: dict[str, Bomb] = {
    "empty objects": _written(lambda _: b"[" + b"{}," * 9_000_000 + b"{}]"),
    "small objects": _written(lambda _: b"[" + b'{"a":1},' * 3_500_000 + b"{}]"),
    "nested arrays": _written(lambda _: b"[" * 1_000_000),
    "nested objects": _written(lambda _: b'{"a":' * 200_000),
    "a long number": _written(lambda _: b'{"id": ' + b"9" * 20_000_000 + b"}"),
    "keys without an end": _written(lambda _: b"{" + b'"":1,' * 6_000_000 + b'"":1}'),
    "a long text": _written(lambda _: b'{"id": "' + "\U0001f600".encode() * 7_000_000 + b'"}'),
    "half a character": _written(lambda _: b'{"id": "\xed\xa0\x80"}'),
}
PACKED: dict[str, Bomb] = {
    "gzip of zeros": _written(lambda _: gzip.compress(bytes(1 << 29), 1)),
    "gzip of gzip": _written(lambda _: gzip.compress(gzip.compress(bytes(1 << 28), 1))),
    "gzip of empty objects": _written(lambda _: gzip.compress(b"[" + b"{}," * 20_000_000 + b"{}]", 1)),
    "gzip of spaces": _written(lambda content: gzip.compress(bytes(1 << 29).replace(b"\0", b" ") + content, 1)),
}


# Avro ----------------------------------------------------------------------------------------------------------------


def long_(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63) if value >= 0 else -value * 2 - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _text(data: bytes) -> bytes:
    return long_(len(data)) + data


SYNC = bytes(range(16))


def container(schema: Any, blocks: list[tuple[int, bytes]], codec: bytes = b"null", entries: int = 2) -> bytes:
    text = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    head = b"Obj\x01" + long_(entries) + _text(b"avro.schema") + _text(text) + _text(b"avro.codec") + _text(codec)
    return head + b"\0" + SYNC + b"".join(long_(count) + _text(body) + SYNC for count, body in blocks)


def schema_of(content: bytes) -> Any:
    import fastavro

    found = json.loads(fastavro.reader(io.BytesIO(content)).metadata["avro.schema"])
    return next(each for each in found if each != "null") if isinstance(found, list) else found


@functools.cache
def zeros(codec: bytes, size: int) -> bytes:
    """Compress a block of zeros of this size, as far as the codec can."""
    match codec:
        case b"deflate":
            engine = zlib.compressobj(9, wbits=-15)
            return b"".join(engine.compress(bytes(1 << 20)) for _ in range(size >> 20)) + engine.flush()
        case b"zstandard":  # blocks of 128 kB, four bytes each; the frame's declared size is false
            each = (1 << 17 << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
            return b"\x28\xb5\x2f\xfd\x00\x58" + each * (size >> 17) + (1).to_bytes(3, "little")
        case b"bzip2":
            return bz2.compress(bytes(size))
        case b"xz":
            return lzma.compress(bytes(size))
        case b"snappy":  # declares its size, and copies from itself
            out, left = bytearray(), size
            while left > 0x7F:
                out.append(left & 0x7F | 0x80)
                left >>= 7
            return bytes([*out, left]) + b"\x00\x00" + b"\xfe\x01\x00" * min(size // 64, 1 << 20) + bytes(4)
    raise AssertionError(codec)


def _of_schema(more: Callable[[Any], Any], blocks: list[tuple[int, bytes]], codec: bytes = b"null") -> Bomb:
    return _written(lambda content: container(more(schema_of(content)), blocks, codec))


def _of_zeros(codec: bytes, size: int, count: int = 1, blocks: int = 1) -> Bomb:
    return _written(lambda content: container(schema_of(content), [(count, zeros(codec, size))] * blocks, codec))


def _same(schema: Any) -> Any:
    return schema


def _with(type_: Any) -> Callable[[Any], Any]:
    return lambda schema: {**schema, "fields": [{"name": "bomb", "type": type_}, *schema["fields"]]}


def _nested(depth: int) -> Any:
    type_: Any = "int"
    for number in range(depth):
        type_ = {"type": "record", "name": f"r{number}", "fields": [{"name": "f", "type": type_}]}
    return type_


def _laughs(depth: int) -> Any:
    fields: list[Any] = [
        {"name": "a", "type": {"type": "record", "name": "r0", "fields": [{"name": "a", "type": "int"}]}}
    ]
    for number in range(1, depth):
        own = [{"name": letter, "type": f"r{number - 1}"} for letter in "abcdefgh"]
        fields.append({"name": f"f{number}", "type": {"type": "record", "name": f"r{number}", "fields": own}})
    return {"type": "record", "name": "laughs", "fields": fields}


def _wide(count: int) -> Any:
    fields = [{"name": f"f{number}", "type": "long"} for number in range(count)]
    return ["null", {"type": "record", "name": "wide", "fields": fields}]


_EMPTY = {"type": "record", "name": "none", "fields": []}
_SELF = {"type": "record", "name": "self", "fields": [{"name": "again", "type": ["null", "self"]}]}
AVRO: dict[str, Bomb] = {
    "deflate of zeros": _of_zeros(b"deflate", 1 << 28),
    "deflate of zeros, many records": _of_zeros(b"deflate", 1 << 28, 1 << 24),
    "zstd of zeros": _of_zeros(b"zstandard", LONG),
    "zstd of zeros, many records": _of_zeros(b"zstandard", LONG, 1 << 24),
    "bzip2 of zeros": _of_zeros(b"bzip2", 1 << 27),
    "xz of zeros": _of_zeros(b"xz", 1 << 27),
    "snappy of zeros": _of_zeros(b"snappy", 1 << 31),
    "many blocks of zeros": _of_zeros(b"zstandard", 60 << 20, 1 << 20, 300),
    "a zstd window without an end": _of_schema(
        _same, [(1, b"\x28\xb5\x2f\xfd\x00\xf8" + (1).to_bytes(3, "little"))], b"zstandard"
    ),
    "zstd frames of nothing": _of_schema(
        _same, [(1, (b"\x28\xb5\x2f\xfd\x00\x58" + (1).to_bytes(3, "little")) * 1_000_000)], b"zstandard"
    ),
    "packed twice": _written(
        lambda content: container(schema_of(content), [(1, zlib.compress(zeros(b"xz", 1 << 27))[2:-4])], b"deflate")
    ),
    "2^33 records in no bytes": _of_schema(_same, [(1 << 33, b"")]),
    "2^62 records": _of_schema(_same, [(1 << 62, bytes(100))]),
    "records that take no bytes": _of_schema(
        lambda schema: {**schema, "fields": [{**each, "type": "null"} for each in schema["fields"]]}, [(1 << 33, b"")]
    ),
    "records that take nearly none": _of_schema(
        lambda schema: {**schema, "fields": [{**each, "type": ["null", each["type"]]} for each in schema["fields"]]},
        [(1 << 20, zeros(b"zstandard", 32 << 20))], b"zstandard",
    ),
    "a list of nothing in each of few records": _of_zeros(b"zstandard", 20 << 20, 1, 20),
    "a negative block": _of_schema(_same, [(-(1 << 40), bytes(10))]),
    "blocks of nothing": _of_schema(_same, [(0, b"")] * 3_000_000),
    "a header without an end": _written(lambda _: b"Obj\x01" + long_(1 << 60) + bytes(30 << 20)),
    "a header of negative counts": _written(lambda _: b"Obj\x01" + (long_(-1) + long_(1 << 60) + bytes(2)) * 2_000_000),
    "an overlong number": _written(lambda _: b"Obj\x01" + b"\xff" * 5_000_000),
    "a schema of 20 MB": _written(lambda _: container(b" " * (20 << 20) + b'"int"', [])),
    "a schema that is nested": _of_schema(_with(_nested(200)), [(1, bytes(100))]),
    "a schema of nested arrays": _written(lambda _: container(b'{"type":"array","items":' * 30_000, [])),
    "a schema of a billion types": _of_schema(_with(_laughs(11)), [(1, bytes(100))]),
    "a schema that holds itself": _of_schema(_with(_SELF), [(1, b"\x02" * 100_000)]),
    "an array of wide nulls": _of_schema(
        _with({"type": "array", "items": _wide(3000)}), [(1, long_(1 << 24) + bytes(1 << 24))]
    ),
    "an array of nothing": _of_schema(_with({"type": "array", "items": "null"}), [(1, long_(1 << 31) + bytes(200))]),
    "an array of empty records": _of_schema(
        _with({"type": "array", "items": _EMPTY}), [(1, long_(1 << 30) + bytes(200))]
    ),
    "an array of 2^62": _of_schema(_with({"type": "array", "items": "int"}), [(1, long_(1 << 62) + bytes(200))]),
    "a negative array": _of_schema(
        _with({"type": "array", "items": "int"}), [(1, long_(-(1 << 62)) + long_(1 << 62) + bytes(200))]
    ),
    "a map of 2^40": _of_schema(_with({"type": "map", "values": "null"}), [(1, long_(1 << 40) + bytes(200))]),
    "a text of 2^40": _of_schema(_with("string"), [(1, long_(1 << 40) + bytes(200))]),
    "a text of negative length": _of_schema(_with("bytes"), [(1, long_(-(1 << 62)) + bytes(200))]),
    "a value of two gigabytes": _of_schema(
        _with(["null", {"type": "fixed", "name": "q", "size": 2**31 - 1}]), [(1000, bytes(100_000))]
    ),
    "a value of negative size": _of_schema(_with({"type": "fixed", "name": "q", "size": -1}), [(1, bytes(100))]),
    "bytes that are no records": _of_schema(_same, [(1, b"\xff" * 10_000)]),
}  # fmt: skip


# tables --------------------------------------------------------------------------------------------------------------


def paimon(root: Path) -> Path:
    ground.small_table(root)
    return root


def iceberg(root: Path) -> Path:
    return iceberg_ground.small_table(root)


def packed(root: Path) -> Path:
    """Gzip the newest metadata of an `iceberg` table."""
    newest = iceberg_ground.newest(iceberg_ground.small_table(root))
    newest.with_name(newest.name.replace(".metadata.json", ".gz.metadata.json")).write_bytes(
        gzip.compress(newest.read_bytes())
    )
    newest.unlink()
    return root


TABLES: dict[str, Callable[[Path], Path]] = {"paimon": paimon, "iceberg": iceberg, "packed": packed}


def places(format: str, root: Path) -> Iterator[tuple[str, dict[str, Bomb]]]:
    """List one file of each kind that a plan reads, including those of branches, and the bombs for it."""
    seen = set()
    for path in sorted(ground.disk(root)):
        content = (root / path).read_bytes()
        kind = re.sub(r"[0-9a-f]{4,}(-[0-9a-f]+)*|-\d+|-m?\d+(?=\.avro)|\d+", "", path.rpartition("/")[2])
        kind = f"{path.startswith('branch/')}{kind}"
        if kind in seen:
            continue
        if content.startswith(b"Obj\x01"):
            kinds = ANY | AVRO
        elif content.startswith(b"\x1f\x8b"):
            kinds = ANY | PACKED
        elif content.startswith(b"{") and "statistics" not in path:
            kinds = ANY | DOCUMENTS
        elif path.endswith(("LATEST", "version-hint.text")):
            kinds = ANY
        else:
            continue
        if format != "paimon" and path.endswith(".metadata.json") and root / path != iceberg_ground.newest(root):
            continue  # no plan reads it
        seen.add(kind)
        yield path, kinds


def chosen(format: str, chance: random.Random, directory: Path, most: int | None = None) -> list[list[str]]:
    """Bombs of different names and the files they replace: each name once, or so many."""
    pairs = [
        [path, name] for path, some in places(format, TABLES[format](ground.warehouse(directory))) for name in some
    ]
    chance.shuffle(pairs)
    return list({name: [path, name] for path, name in pairs}.values())[:most]


# one reader, limited -------------------------------------------------------------------------------------------------


def look(root: Path) -> str:
    """Return what is reported about a table: the error, or all problems next to what was read."""
    try:
        table = open_table(str(root))
        heads = table.heads()
        history = table.history(heads)
        said = [str(each) for line in heads.lines for each in (*line.unreadable, *line.warnings)]
        said += [str(each) for each in history.problems]
        change = Expire(retain_max=1, retain_min=1) if table.capabilities.ids_are_ordered else Expire(retain_min=1)
        table.preview(change, iceberg_ground.LATE_MS, history)
    except SnapscopeError as error:
        return f"{error.kind}: {error}"
    return "; ".join(said)


def memory(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) << 10


def child(format: str, wanted: list[list[str]], directory: str) -> None:
    """Try these bombs one after another; print one line of JSON for each."""
    good = TABLES[format](ground.warehouse(Path(directory)))
    bombs = dict(places(format, good))
    print(json.dumps(["good", look(good), 0, 0]), flush=True)
    resource.setrlimit(resource.RLIMIT_AS, (memory("VmSize") + ROOM,) * 2)
    for path, name in wanted:
        before = (good / path).read_bytes()
        bombs[path][name](good / path, before)
        Path("/proc/self/clear_refs").write_text("5")  # reset the peak memory counter
        base, began = memory("VmHWM"), sum(os.times()[:2])
        resource.setrlimit(resource.RLIMIT_CPU, (int(began) + SECONDS, resource.RLIM_INFINITY))
        said = look(good)
        print(json.dumps([f"{path}: {name}", said, memory("VmHWM") - base, sum(os.times()[:2]) - began]), flush=True)
        (good / path).unlink()
        (good / path).write_bytes(before)
    os._exit(0)  # a decoder may still be running


def run(format: str, wanted: list[list[str]], directory: Path) -> list[tuple[str, str, int, float]]:
    """Return a limited reader's results: (bomb, message, bytes of memory, seconds). Raises if it did not respond."""
    code = f"from tests.support.execution import bombs; bombs.child({format!r}, {wanted!r}, {str(directory)!r})"
    environment = {**os.environ, "MALLOC_ARENA_MAX": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
        timeout=60 + SECONDS * len(wanted),
    )  # fmt: skip
    answers = [tuple(json.loads(line)) for line in done.stdout.splitlines()]
    after = wanted[len(answers) - 1] if 0 < len(answers) <= len(wanted) else "the whole table"
    assert done.returncode == 0, f"{after}: the reader ended with {done.returncode}: {done.stderr[-2000:]}"
    assert len(answers) == 1 + len(wanted)
    assert not answers[0][1].startswith(("Corrupt", "Unsupported")), answers[0]
    return answers[1:]


def failures(answers: list[tuple[str, str, int, float]]) -> list[str]:
    """List the bombs that were not reported by name, or that took too much memory."""
    found = []
    for bomb, said, taken, seconds in answers:
        path = bomb.partition(": ")[0]
        if path.rpartition("/")[2] not in said and path.rpartition("/")[0] not in said:
            found.append(f"{bomb} is not told of: {said[:200]!r}")
        if taken > MOST or seconds > SECONDS:
            found.append(f"{bomb} took {taken:,} bytes and {seconds:.0f} s: {said[:200]!r}")
    return found
