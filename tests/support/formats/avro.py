"""Avro files, valid and damaged, and the decoder's results for them, in this process or a separate one."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa

from core.formats.avro import decode as avro
from core.formats.avro.decode import AvroColumn, Decoded
from tests.support.depth import FACTOR
from tests.support.places import ROOT

SCHEMA = {
    "type": "record",
    "name": "entry",
    "fields": [
        {"name": "_KIND", "type": "int"},
        {"name": "_NAME", "type": "string"},
        {
            "name": "_FILE",
            "type": {
                "type": "record",
                "name": "file",
                "fields": [
                    {"name": "_SIZE", "type": "long"},
                    {"name": "_EXTRA", "type": {"type": "array", "items": "string"}},
                    {"name": "_SOURCE", "type": ["null", "int"], "default": None},
                ],
            },
        },
    ],
}


COLUMNS = (
    AvroColumn("kind", ("_KIND",), pa.int32()),
    AvroColumn("name", ("_NAME",), pa.string()),
    AvroColumn("size", ("_FILE", "_SIZE"), pa.int64()),
    AvroColumn("extra", ("_FILE", "_EXTRA"), pa.list_(pa.string())),
    AvroColumn("source", ("_FILE", "_SOURCE"), pa.int32(), required=False),
    AvroColumn("later", ("_FILE", "_LATER"), pa.string(), required=False),
)


def record(number: int) -> dict[str, Any]:
    file = {
        "_SIZE": number * 1000,
        "_EXTRA": [f"x{each}" for each in range(number % 3)],
        "_SOURCE": (0, 1, None)[number % 3],
    }
    return {"_KIND": number % 2, "_NAME": f"data-{number}.parquet", "_FILE": file}


def container(count: int, codec: str = "null", blocks: int = 1, schema: Any = SCHEMA) -> bytes:
    if codec == "snappy":
        return by_snappy(container(count, "null", blocks, schema), schema)
    out = io.BytesIO()
    writer = fastavro.write.Writer(out, schema, codec=codec, sync_marker=bytes(range(16)))
    for number in range(count):
        writer.write(record(number))
        if blocks > 1 and (number + 1) % max(count // blocks, 1) == 0:
            writer.flush()
    writer.flush()
    return out.getvalue()


def by_snappy(plain: bytes, schema: Any) -> bytes:
    """Compress each block of a file as Snappy literals, with the checksum that Avro requires."""
    reader = fastavro.block_reader(io.BytesIO(plain))
    out = header_(json.dumps(schema).encode(), b"snappy") + SYNC
    for block in reader:
        data = block.bytes_.getvalue()  # type: ignore[attr-defined]
        packed = bytearray(varint(len(data)))
        for begin in range(0, len(data), 60):
            part = data[begin : begin + 60]
            packed += bytes([(len(part) - 1) << 2]) + part
        packed += zlib.crc32(data).to_bytes(4, "big")
        out += long_(block.num_records) + long_(len(packed)) + packed + SYNC
    return out


def read(directory: Path, files: Sequence[bytes], columns: Sequence[AvroColumn] = COLUMNS) -> Decoded:
    paths = []
    for number, content in enumerate(files):
        path = directory / f"m{number}"
        path.write_bytes(content)
        paths.append(str(path))
    return avro.read(paths, columns)


def place(directory: Path, content: bytes) -> str:
    (directory / "m").write_bytes(content)
    return str(directory / "m")


def plain_verdicts(directory: Path, files: Sequence[bytes]) -> list[str | int]:
    decoded = read(directory, files, COLUMNS[:2])
    counts = Counter(decoded.rows["file"].to_pylist())
    return [decoded.errors[n].kind if n in decoded.errors else counts[n] for n in range(len(files))]


def turned(codec: str) -> list[bytes]:
    """Flip one bit, at every second byte (or every byte)."""
    whole = container(12, codec, blocks=3)
    chance = random.Random(codec)
    files = []
    for at in range(0, len(whole), 1 if FACTOR > 1 else 2):
        content = bytearray(whole)
        content[at] ^= 1 << chance.randrange(8)
        files.append(bytes(content))
    return files


def apart(question: str) -> Any:
    """Evaluate an expression on this module in a separate process, because a decoder may never end."""
    code = (
        "import json, pathlib, sys, tempfile\n"
        "from core.formats.avro import decode as avro\n"
        "from tests.support.formats.avro import *\n"
        "avro.PATIENCE_S = 0.8\n"
        "directory = pathlib.Path(sys.argv[1])\n"
        f"print(json.dumps({question}))\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", code, folder], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def verdicts(directory: Path, files: Sequence[bytes]) -> list[str | int]:
    """Return the number of rows of each file, or the kind of its error."""
    decoded = read(directory, files)
    counts = Counter(decoded.rows["file"].to_pylist())
    errors = decoded.errors
    assert not any(counts[number] for number in errors)
    return [errors[number].kind if number in errors else counts[number] for number in range(len(files))]


def header_(schema: bytes, codec: bytes = b"null") -> bytes:
    def text(data: bytes) -> bytes:
        return long_(len(data)) + data

    return b"Obj\x01" + long_(2) + text(b"avro.schema") + text(schema) + text(b"avro.codec") + text(codec) + long_(0)


def long_(value: int) -> bytes:
    return varint((value << 1) ^ (value >> 63))


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


SYNC = bytes(range(16))


BLOCK = long_(1) + long_(3) + b"\x00\x02a" + SYNC  # kind 0, name "a"


PLAIN = b"""{"type": "record", "name": "x", "fields": [
    {"name": "_KIND", "type": "int"}, {"name": "_NAME", "type": "string"}]}"""
