"""How large files may be and unpack to: measured with the codecs themselves, and on all available tables."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import struct
import sys
import time
import uuid
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pytest
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import ManifestFile, write_manifest_list

from core.errors import Corrupt
from core.formats import roaring, unpack_limits
from core.formats.avro import container, shapes
from core.formats.iceberg import metadata_json
from core.formats.paimon import binary_row, deletion_vectors, types
from core.storage import local_disk, size_limits
from tests.support.depth import first_fast
from tests.support.places import SMALL_TABLES, TABLES

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CODECS: dict[bytes, Callable[[bytes], bytes]] = {
    b"null": bytes,
    b"deflate": lambda data: zlib.compress(data, 9)[2:-4],
    b"bzip2": bz2.compress,
    b"xz": lzma.compress,
    b"zstandard": zstd.compress,
}


@pytest.mark.parametrize("codec", first_fast(CODECS))
def test_what_is_told_of_a_block_is_never_less_than_it_unpacks_to(codec: bytes) -> None:
    chance = random.Random(codec)
    for size in (0, 1, 100, 5000, 300_000, 3_000_000):
        for data in (bytes(size), chance.randbytes(size), (chance.randbytes(40) * size)[:size]):
            block = memoryview(CODECS[codec](data))
            assert size <= unpack_limits.unpacked(codec, block, 1 << 30)
            assert unpack_limits.unpacked(codec, block, size + 1) <= size + 1
            if size:
                with pytest.raises(ValueError, match="it decompresses to more than"):
                    unpack_limits.unpacked(codec, block, size - 1)


def test_what_follows_the_stream_of_a_block_is_left_alone(tmp_path: Path) -> None:
    """Two writers cut one byte too few off their checksum."""
    data = random.Random(1).randbytes(300_000)
    for tail in (b"", b"abc", b"\xff" * 40, zlib.compress(data)):
        block = memoryview(CODECS[b"deflate"](data) + tail)
        assert unpack_limits.unpacked(b"deflate", block, len(data)) == len(data)
    file = str(tmp_path / "list.avro")
    chance = random.Random(3)
    with write_manifest_list(2, PyArrowFileIO().new_output(file), 1, None, 1, "deflate") as writer:
        writer.add_manifests(
            [
                ManifestFile.from_args(
                    manifest_path=f"s3://b/w/t/metadata/{uuid.UUID(int=chance.getrandbits(128))}-m{at}.avro",
                    manifest_length=chance.randrange(10**6), partition_spec_id=0, content=0, sequence_number=at + 1,
                    min_sequence_number=1, added_snapshot_id=chance.getrandbits(60), added_files_count=1,
                    existing_files_count=0, deleted_files_count=0, added_rows_count=chance.randrange(1000),
                    existing_rows_count=0, deleted_rows_count=0, partitions=None, key_metadata=None,
                )
                for at in range(3000)
            ]
        )  # fmt: skip
    assert container.frame(file).records == 3000


def test_a_frame_of_zstd_that_lies_about_its_size_is_measured() -> None:
    data = bytes(10_000_000)
    frames = zstd.compress(data) + zstd.compress(data)
    assert unpack_limits.unpacked(b"zstandard", memoryview(frames), 1 << 25) >= 2 * len(data)
    with pytest.raises(ValueError, match="it decompresses to more than"):
        unpack_limits.unpacked(b"zstandard", memoryview(frames), len(data))
    for cut in range(len(frames)):
        with pytest.raises(ValueError):  # noqa: PT011  # whichever it is
            unpack_limits.unpacked(b"zstandard", memoryview(frames)[:cut] if cut else memoryview(b"\0"), 1000)


def test_empty_blocks_of_zstd_are_not_counted_one_by_one() -> None:
    frame = b"\x28\xb5\x2f\xfd\x00\x58"
    blocks = memoryview(frame + bytes(3) * 3_000_000 + b"\1\0\0")
    began = time.thread_time()
    assert unpack_limits.unpacked(b"zstandard", blocks, 1 << 25) <= 1 << 25
    assert time.thread_time() - began < 2  # one by one: 5 s
    with pytest.raises(ValueError, match="cut off"):
        unpack_limits.unpacked(b"zstandard", blocks[:-3], 1 << 25)


@pytest.mark.slow
def test_documents_as_large_as_tables_have_them_are_read() -> None:
    """100,000 snapshots with summaries; a schema of 10,000 columns: compact, as by the densest writer."""
    summary = {"operation": "append", "added-data-files": "3", "added-records": "1000", "total-records": "10000000"}
    path = "s3://b/wh/metadata/snap-3055729675574597004-1-0dc6a7ce-8a30-48f2-8db525fd9713.avro"
    each = {"snapshot-id": 3055729675574597004, "timestamp-ms": 1515100955770, "summary": summary}
    each["manifest-list"] = path
    log = {"timestamp-ms": 1515100955770, "snapshot-id": 3055729675574597004}
    column = {"id": 1, "name": "a", "type": "INT"}
    document = {"snapshots": [each] * 100_000, "snapshot-log": [log] * 100_000, "fields": [column] * 10_000}
    text = json.dumps(document, separators=(",", ":")).encode()
    assert len(text) < size_limits.TABLE_METADATA // 10
    assert unpack_limits.document(text) == document
    varied = b",".join(
        json.dumps({**each, "snapshot-id": random.getrandbits(62), "timestamp-ms": 1515100955770 + at}).encode()
        for at in range(20_000)
    )
    content = gzip.compress(b'{"snapshots":[' + varied + b"]}")
    assert len(varied) / len(content) < size_limits.PACKED_JSON / 3
    assert len(metadata_json.document(metadata_json.unpacked(content, "f"), "f")["snapshots"]) == 20_000


@pytest.mark.slow
def test_schemas_that_are_alike_are_read() -> None:
    """As in a table whose columns changed often: compact, and compressed to less than a hundredth."""
    columns = [{"id": at, "name": f"c{at}", "required": False, "type": "int"} for at in range(1, 150)]
    schemas = [{"type": "struct", "schema-id": at, "fields": columns} for at in range(5000)]
    content = json.dumps({"schemas": schemas}, separators=(",", ":")).encode()
    small = gzip.compress(content)
    assert len(content) > max(size_limits.DOCUMENT, 100 * len(small))
    assert metadata_json.unpacked(small, "f") == content
    assert len(unpack_limits.document(content)["schemas"]) == 5000


@pytest.mark.parametrize("each", [b"{},      ", b'{"a":1},    ', b"[],", b'"ab",', b'"a":1,'])
def test_values_that_take_far_more_memory_than_text_are_refused(each: bytes) -> None:
    inside = each * (size_limits.JSON_VALUES * 2)
    text = b'{"x":{' + inside + b'"z":1}}' if b":1," in each[-3:] else b'{"x":[' + inside + b"1]}"
    with pytest.raises(ValueError, match=r"it has [0-9,]+ values in"):
        unpack_limits.document(text)


@pytest.mark.parametrize("text", [b'"\xed\xa0\x80"', b'"\\ud800"', '"\\ud800"'.encode("utf-16"), b'"\\uDC00"'])
def test_half_a_character_is_no_text(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # as bytes or as an escape
        unpack_limits.document(text)


def test_no_manifest_of_the_tables_comes_near_a_limit() -> None:
    tried = 0
    for path in sorted({*TABLES.rglob("*"), *SMALL_TABLES.rglob("*")}):
        if not path.is_file() or local_disk.read(str(path), 4, 0) != container.MAGIC:
            continue
        found = container.frame(str(path))
        shape = shapes.of(found.schema)
        records = (
            list(fastavro.reader(io.BytesIO(path.read_bytes()))) if tried % 7 == 0 and found.codec != b"snappy" else []
        )
        for record in records[:20]:
            assert shape.least <= len(_encoded(found.schema, record))
        assert shape.slots < size_limits.AVRO_TYPES // 10
        assert shape.spread < 16
        assert found.records < found.size // 10
        tried += 1
    assert tried > 20


def _encoded(schema: bytes, record: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), record)
    return out.getvalue()


def test_many_records_of_few_bytes_are_read() -> None:
    """65,536 entries of one name compress to next to nothing."""
    schema = {"type": "record", "name": "x", "fields": [{"name": "a", "type": "string"}]}
    out = io.BytesIO()
    fastavro.writer(out, schema, [{"a": "data-0.parquet"}] * size_limits.RECORDS, codec="zstandard")
    assert container.split_container(out.getvalue(), "f").records == size_limits.RECORDS
    more = io.BytesIO()
    fastavro.writer(more, schema, [{"a": "data-0.parquet"}] * (size_limits.RECORDS + 1), codec="zstandard")
    with pytest.raises(Corrupt, match="65,537 records"):
        container.split_container(more.getvalue(), "f")


# bitmaps and rows ----------------------------------------------------------------------------------------------------


def runs(pairs: list[list[tuple[int, int]]]) -> bytes:
    """A bitmap of run containers: (first, length - 1) of each."""
    count = len(pairs)
    out = struct.pack("<I", 12347 | count - 1 << 16) + bytes([0xFF] * ((count + 7) // 8))
    for key, some in enumerate(pairs):
        out += struct.pack("<HH", key, (sum(length + 1 for _, length in some) - 1) & 0xFFFF)
    out += bytes(4 * count) if count >= 4 else b""
    return out + b"".join(struct.pack("<H", len(some)) + b"".join(struct.pack("<HH", *one) for one in some)
                          for some in pairs)  # fmt: skip


def test_runs_are_spread_out_only_as_far_as_they_say_and_no_further_than_the_limit() -> None:
    found, _ = roaring.narrow(runs([[(0, 9), (20, 0)], [(5, 65530)]]), 0)
    assert found.tolist() == [*range(10), 20, *range(65536 + 5, 65536 * 2)]
    with pytest.raises(ValueError, match=r"it is not a valid Roaring bitmap \("):
        roaring.narrow(runs([[(0, 65535)] * 60_000]), 0)
    with pytest.raises(
        ValueError, match=r"not a valid Roaring bitmap .*too large"
    ):  # its positions were those of the next one
        roaring.narrow(runs([[(65530, 9)]]), 0)
    with pytest.raises(ValueError, match="more than 67,108,864"):
        roaring.narrow(runs([[(0, 65535)]] * 1100), 0)
    wide = struct.pack("<q", 40) + b"".join(struct.pack("<I", key) + runs([[(0, 65535)]] * 100) for key in range(40))
    with pytest.raises(ValueError, match="more than"):
        roaring.wide(wide, 0)


@pytest.mark.parametrize("count", [-1, 1 << 31, 1 << 62])
def test_a_bitmap_of_too_many_bitmaps(count: int) -> None:
    with pytest.raises(ValueError, match="bitmaps"):
        roaring.wide(struct.pack("<q", count) + bytes(100), 0)


def test_a_position_is_never_negative() -> None:
    """It would count rows from the end of a file."""
    one = struct.pack("<II", 12346, 1) + struct.pack("<HH", 0, 0) + bytes(4) + struct.pack("<H", 7)
    body = struct.pack("<i", deletion_vectors.MAGIC_64) + struct.pack("<qI", 1, 1 << 31) + one
    content = struct.pack(">i", len(body)) + body + struct.pack(">I", zlib.crc32(body))
    with pytest.raises(Corrupt, match="negative"):
        deletion_vectors.positions(content, 0, len(body) + 8, "f")


def test_random_bytes_are_no_bitmap_and_raise_nothing_else() -> None:
    chance = random.Random(5)
    good = runs([[(0, 9), (20, 0)], [(5, 65530)]] * 3)
    for _ in range(3000):
        data = bytearray(good if chance.random() < 0.8 else chance.randbytes(60))
        for _ in range(chance.choice((1, 2, 8))):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 0xFF, chance.randrange(256)))
        for read in (roaring.narrow, roaring.wide):
            try:
                values, end = read(bytes(data[: chance.randrange(len(data) + 1)]), 0)
            except (ValueError, struct.error):
                continue
            assert isinstance(values, np.ndarray)
            assert end >= 0


def test_a_decimal_of_a_megabyte_is_refused_at_once() -> None:
    """Parsing its digits would take minutes."""
    size = 4 << 20
    row = (1).to_bytes(4, "big") + bytes(8) + struct.pack("<Q", 16 << 32 | size) + b"\x7f" * size
    with pytest.raises(Corrupt, match="at most 16 bytes"):
        binary_row.decode(row, ["DECIMAL(38, 0)"])


def test_random_bytes_are_no_row_and_raise_nothing_else() -> None:
    chance = random.Random(3)
    types = ["INT", "STRING", "DECIMAL(38, 2)", "TIMESTAMP(9)", "DATE", "TIME", "BYTES", "DECIMAL(5, 1)", "DOUBLE"]
    head = len(types).to_bytes(4, "big")
    for _ in range(5000):
        body = bytearray(chance.randbytes(8 + 8 * len(types) + chance.choice((0, 7, 64))))
        body[:8] = bytes(8) if chance.random() < 0.7 else body[:8]
        for slot in range(8, 80, 8):
            if chance.random() < 0.5:
                body[slot : slot + 8] = struct.pack(
                    "<Q", chance.choice((80, 81, 72, 1 << 31)) << 32 | chance.randrange(70)
                )
        try:
            binary_row.decode(head + bytes(body), types)
        except Corrupt:
            continue


def test_a_sparse_manifest_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "manifest-1"
    path.touch()
    with path.open("r+b") as file:
        file.truncate(30 << 30)
    with pytest.raises(Exception, match="other content"):
        container.frame(str(path))
    path.write_bytes(container.MAGIC)
    with path.open("r+b") as file:
        file.truncate(30 << 30)
    with pytest.raises(Corrupt, match="32,212,254,720"):
        container.frame(str(path))


@pytest.mark.parametrize("depth", [50, 200, 5000])
def test_a_type_within_types_has_an_end(depth: int) -> None:
    nested: Any = "INT"
    for _ in range(min(depth, 480)):
        nested = {"type": "ARRAY", "element": nested}
    for source in ("ARRAY<" * depth + "INT" + ">" * depth, nested):
        if depth < size_limits.TYPE_DEPTH:
            assert types.text(types.parse(source)).count("ARRAY") == depth
        else:
            with pytest.raises(Corrupt, match="nested more than 100"):
                types.parse(source)


def _record(name: str, *types_: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": f"f{n}", "type": t} for n, t in enumerate(types_)],
    } | more


def test_types_of_avro_are_told_apart_by_their_full_names() -> None:
    """Checked with an independent reader."""
    one, two = _record("p.stats", "long"), _record("stats", "long", "long", namespace="q")
    inner = _record("in", "long", "long", "long")
    accepted = {
        2: _record("r", "long", "long"),
        3: _record("a.r", one, two),
        5: _record("a.r", one, two, "q.stats"),
        4: _record("a.r", one, "p.stats", "p.stats", "p.stats"),
        6: _record("a.r", inner, "in"),
        9: _record("a.r", inner, "in", "a.in"),
        7: _record("a.r", inner, _record("in", "long", namespace="b"), "in"),
    }
    for least, schema in accepted.items():
        fastavro.parse_schema(json.loads(json.dumps(schema)))
        assert shapes.of(json.dumps(schema).encode()).least == least
    refused = {
        "contains itself": [_record("r", "r"), _record("a.r", "r"), _record("r", ["null", "a.r"], namespace="a"),
                         _record("a.r", _record("s", ["null", "a.r"])), _record("a.r", _record("b.s", ["a.r", "b.s"]))],
        "two types are named": [_record("a.r", one, one), _record("a.r", _record("r", "long"))],
        "is not a valid type": [_record("a.r", one, "stats"), _record("r", one, "q.stats")],
    }  # fmt: skip
    for said, schemas in refused.items():
        for schema in schemas:
            with pytest.raises(ValueError, match=said):
                shapes.of(json.dumps(schema).encode())
