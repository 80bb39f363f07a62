"""Avro files, valid and damaged: decoding returns all rows or an error, never fewer rows."""

from __future__ import annotations

import io
import itertools
import json
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from core.errors import Corrupt, SnapscopeError, Unsupported
from core.formats.avro import decode as avro
from core.formats.avro.container import unnested
from core.formats.avro.decode import Decoded
from tests.support.formats.avro import (
    BLOCK,
    COLUMNS,
    PLAIN,
    SCHEMA,
    SYNC,
    apart,
    container,
    header_,
    long_,
    read,
    record,
    turned,
)

CODECS = ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"]


def row(number: int) -> dict[str, Any]:
    made = record(number)
    return {
        "kind": made["_KIND"],
        "name": made["_NAME"],
        "size": made["_FILE"]["_SIZE"],
        "extra": made["_FILE"]["_EXTRA"],
        "source": made["_FILE"]["_SOURCE"],
        "later": None,
    }


def rows_of(decoded: Decoded, number: int) -> list[Mapping[str, Any]]:
    found = decoded.rows.filter(pa.compute.equal(decoded.rows["file"], number)).to_pylist()
    return sorted(({key: value for key, value in each.items() if key != "file"} for each in found), key=_size)


def _size(each: Mapping[str, Any]) -> int:
    size: int = each["size"]
    return size


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_and_several_blocks(tmp_path: Path, codec: str) -> None:
    decoded = read(tmp_path, [container(50, codec), container(31, codec, blocks=5), container(0, codec)])
    assert decoded.errors == {}
    for number, count in enumerate((50, 31, 0)):
        assert rows_of(decoded, number) == [row(each) for each in range(count)]


def test_files_of_several_schemas_in_one_read(tmp_path: Path) -> None:
    newer = json.loads(json.dumps(SCHEMA))
    newer["fields"].append({"name": "_ROW_ID", "type": ["null", "long"], "default": None})
    older = json.loads(json.dumps(SCHEMA))
    older["name"] = "org.apache.another.Record"
    older["fields"][2]["type"]["fields"].pop()  # writers before 0.9 know no source
    decoded = read(tmp_path, [container(3), container(4, schema=newer), container(5, schema=older)])
    assert decoded.errors == {}
    assert rows_of(decoded, 1) == [row(each) for each in range(4)]
    assert rows_of(decoded, 2) == [{**row(each), "source": None} for each in range(5)]


# damaged -------------------------------------------------------------------------------------------------------------


def boundaries(content: bytes) -> set[int]:
    """Ends of the header and of every block: where the sync marker has just been."""
    sync = bytes(range(16))
    return {at + 16 for at in range(len(content)) if content[at : at + 16] == sync}


@pytest.mark.parametrize("codec", ["null", "deflate", "zstandard"])
def test_cut_at_every_byte(tmp_path: Path, codec: str) -> None:
    whole = container(24, codec, blocks=4)
    ends = boundaries(whole)
    assert len(ends) == 5
    decoded = read(tmp_path, [whole[:end] for end in range(len(whole) + 1)])
    for end in range(len(whole) + 1):
        if end not in ends:
            assert isinstance(decoded.errors.get(end), SnapscopeError), end
            assert rows_of(decoded, end) == []
        else:  # a shorter container that is whole in itself: only sizes and counts elsewhere can tell
            blocks = sorted(ends).index(end)
            assert rows_of(decoded, end) == [row(each) for each in range(6 * blocks)]


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard"])
def test_one_bit_turned_anywhere(codec: str) -> None:
    """Content may change unseen where a codec has no checksum; rows never get fewer or more without an error."""
    found = Counter(apart(f"verdicts(directory, turned({codec!r}))"))
    assert set(found) <= {12, "Corrupt", "Unsupported"}
    assert found["Corrupt"] > found[12] // 4
    assert found[12] + found["Corrupt"] + found["Unsupported"] == len(turned(codec))


LEFTOVER = 'header_(PLAIN) + SYNC + BLOCK + long_(1) + long_(6) + b"\\x00\\x02a" + b"\\x00\\x02b" + SYNC'
GOOD = "header_(PLAIN) + SYNC + BLOCK"


@pytest.mark.slow
def test_a_block_with_more_than_its_records_is_an_error_and_no_endless_loop() -> None:
    """The fast decoder never returns from such a file. It is named; the others are read, then and afterwards."""
    bad_alone = f"[avro.read([place(directory, {LEFTOVER})], COLUMNS[:2]).errors[0].kind]"
    assert apart(bad_alone) == ["Corrupt"]
    question = f"[verdicts(directory, [{GOOD}, {LEFTOVER}, {GOOD}]), verdicts(directory, [{GOOD}])]"
    assert apart(question.replace("verdicts(", "plain_verdicts(")) == [[1, "Corrupt", 1], [1]]


def test_the_slow_reader_answers_like_the_fast_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [container(50, codec, blocks=5) for codec in CODECS if codec != "snappy"]  # it would need a package
    fast = read(tmp_path, files)
    monkeypatch.setattr(avro, "_gave_up", True)
    slow = read(tmp_path, files)
    assert slow.errors == fast.errors == {}
    for number in range(len(files)):
        assert rows_of(slow, number) == rows_of(fast, number)


def test_a_record_as_text_is_taken_apart_whatever_its_texts_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [None, "", "a", "=", "a=b", *("".join(each) for each in itertools.product("\x1d\x1e\x1f./-", repeat=3))]
    of = [{"name": name, "type": ["null", "string"], "field-id": id} for id, name in ((1000, "v"), (1001, "w"))]
    inner = {"name": "part", "type": {"type": "record", "name": "r", "fields": of}, "field-id": 102}
    out = io.BytesIO()
    values = [(text, texts[-number]) for number, text in enumerate(texts)]
    schema = {"type": "record", "name": "e", "fields": [inner]}
    fastavro.writer(out, schema, [{"part": {"v": v, "w": w}} for v, w in values])
    column = avro.AvroColumn("part", (102,), pa.string(), spelled=True)
    for is_slow in (False, True):
        monkeypatch.setattr(avro, "_gave_up", is_slow)
        found = read(tmp_path, [out.getvalue()], [column])
        assert found.errors == {}
        parted = [avro.parted(each) for each in found.rows["part"].to_pylist()]
        assert parted == [[(1000, v), (1001, w)] for v, w in values]


def test_a_damaged_file_harms_no_other(tmp_path: Path) -> None:
    good = container(9, "deflate")
    bad = bytearray(good)
    bad[-40] ^= 0xFF
    decoded = read(tmp_path, [good, bytes(bad), good, good[:-1], good])
    assert set(decoded.errors) == {1, 3}
    for number in (0, 2, 4):
        assert rows_of(decoded, number) == [row(each) for each in range(9)]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"O",
        b"Obj",
        b"Obj\x01",
        b"Obj\x02" + container(3)[4:],
        b"PAR1" + bytes(50) + b"PAR1",
        b"ORC" + bytes(50),
        b"{}",
        b"\x00" * 1000,
        b"Obj\x01" + b"\xff" * 200,
        b"Obj\x01\x00" + bytes(16),  # a header without a schema
        random.Random(1).randbytes(3000),
        b"Obj\x01" + random.Random(2).randbytes(3000),
    ],
    ids=str,
)
def test_what_is_no_container(tmp_path: Path, content: bytes) -> None:
    decoded = read(tmp_path, [content, container(2)])
    assert isinstance(decoded.errors[0], Corrupt | Unsupported)
    assert decoded.errors[0].path == str(tmp_path / "m0")
    assert rows_of(decoded, 1) == [row(0), row(1)]


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    decoded = avro.read([str(tmp_path / name) for name in ("absent", "directory", "loop")], COLUMNS)
    assert {number: type(error) for number, error in decoded.errors.items()} == dict.fromkeys(range(3), Corrupt)


@pytest.mark.parametrize(
    "schema",
    [
        b"",
        b"null",
        b'"int"',
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"type": "record", "name": "x"}',
        b'{"type": "record", "name": "x", "fields": null}',
        b'{"type": "record", "name": "x", "fields": {"name": "_KIND"}}',
        b'{"type": "record", "name": "x", "fields": [1, "a", null]}',
        b'{"type": "record", "name": "x", "fields": [{"type": "int"}]}',
        b'{"type": "record", "name": "x", "fields": [{"name": "_KIND"}, {"name": "_NAME"}]}',
        b'{"type": "record", "name": "x", "fields": [{"name": "_KIND", "type": "nope"}, {"name": "_NAME", "type": 7}]}',
        b'{"type": "record", "name": "x", "fields": [{"name": "_KIND", "type": ["null", 3]}, {"name": "_NAME"}]}',
        b"[" * 5000,
    ],
    ids=lambda schema: schema[:60].decode(errors="replace"),
)
def test_a_header_that_says_nonsense(tmp_path: Path, schema: bytes) -> None:
    decoded = read(tmp_path, [header_(schema) + SYNC + BLOCK], COLUMNS[:2])
    assert isinstance(decoded.errors[0], SnapscopeError)
    assert len(decoded.rows) == 0


NULLABLE = PLAIN.replace(b'"string"', b'["null", "string"]')


def test_the_container_by_hand_is_read(tmp_path: Path) -> None:
    decoded = read(tmp_path, [header_(PLAIN) + SYNC + BLOCK], COLUMNS[:2])
    assert decoded.errors == {}
    assert decoded.rows.to_pylist() == [{"file": 0, "kind": 0, "name": "a"}]


@pytest.mark.parametrize(
    "block",
    [
        long_(2) + long_(3) + b"\x00\x02a" + SYNC,  # promises one record more than it has
        long_(-1) + long_(3) + b"\x00\x02a" + SYNC,
        long_(1) + long_(-3) + b"\x00\x02a" + SYNC,
        long_(1) + long_(2**40) + b"\x00\x02a" + SYNC,
        long_(2**62) + long_(3) + b"\x00\x02a" + SYNC,
        long_(1) + long_(3) + b"\x00\x02a" + b"x" * 16,
        long_(1) + long_(3) + b"\x00\x40a" + SYNC,  # a text longer than the block
        long_(1) + long_(3) + b"\x00\x01a" + SYNC,  # a text of negative length
        b"\xff" * 12 + SYNC,
    ],
    ids=str,
)
def test_a_block_that_lies(tmp_path: Path, block: bytes) -> None:
    decoded = read(tmp_path, [header_(PLAIN) + SYNC + BLOCK + block, header_(PLAIN) + SYNC + BLOCK], COLUMNS[:2])
    assert isinstance(decoded.errors.get(0), SnapscopeError), decoded.rows.to_pylist()
    assert decoded.rows.to_pylist() == [{"file": 1, "kind": 0, "name": "a"}]


def test_an_unknown_codec_is_an_error(tmp_path: Path) -> None:
    decoded = read(tmp_path, [header_(PLAIN, b"lzo") + SYNC + BLOCK], COLUMNS[:2])
    assert isinstance(decoded.errors[0], SnapscopeError)


def test_a_required_column_that_is_missing_or_of_another_type(tmp_path: Path) -> None:
    without = PLAIN.replace(b"_NAME", b"_NAMF")
    texts = PLAIN.replace(b'"int"', b'"string"')
    decoded = read(
        tmp_path, [header_(each) + SYNC for each in (without, texts)] + [header_(texts) + SYNC + BLOCK], COLUMNS[:2]
    )
    assert isinstance(decoded.errors[0], Corrupt)
    assert "_NAME" in str(decoded.errors[0])
    assert isinstance(decoded.errors[2], Corrupt)


def test_a_required_column_with_nulls(tmp_path: Path) -> None:
    """A file of that shape is fine as long as every record says something."""
    head = header_(NULLABLE) + SYNC
    told, silent = (head + long_(1) + long_(len(body)) + body + SYNC for body in (b"\x00\x02\x02a", b"\x00\x00"))
    decoded = read(tmp_path, [told, silent], COLUMNS[:2])
    assert {number: type(error) for number, error in decoded.errors.items()} == {1: Corrupt}
    assert decoded.rows.to_pylist() == [{"file": 0, "kind": 0, "name": "a"}]


def test_nothing_asked_nothing_answered() -> None:
    decoded = avro.read([], COLUMNS)
    assert decoded.errors == {}
    assert decoded.rows.column_names == ["file", *(column.name for column in COLUMNS)]


@pytest.mark.parametrize("codec", CODECS)
def test_a_union_around_the_record_is_no_difference(tmp_path: Path, codec: str) -> None:
    """Paimon up to 0.9 wrote records as union of null and a record; both may lie side by side."""
    union = ["null", SCHEMA]
    decoded = read(
        tmp_path, [container(9, codec), container(9, codec, schema=union), container(0, codec, schema=union)]
    )
    assert decoded.errors == {}
    assert rows_of(decoded, 0) == rows_of(decoded, 1) == [row(number) for number in range(9)]


def test_a_record_that_is_null_is_an_error(tmp_path: Path) -> None:
    out = io.BytesIO()
    fastavro.writer(out, ["null", SCHEMA], [record(1), None], sync_marker=bytes(16))
    decoded = read(tmp_path, [out.getvalue(), container(2)])
    assert list(decoded.errors) == [0]
    assert len(decoded.rows) == 2


NESTED = {
    "type": "record", "name": "entry", "fields": [
        {"name": "a", "type": "int"},
        {"name": "b", "type": {"type": "record", "name": "inner", "fields": [
            {"name": "a", "type": "string"},
            {"name": "unread", "type": ["null", "bytes"]},
            {"name": "c", "type": {"type": "record", "name": "innermost", "fields": [{"name": "a", "type": "long"}]}},
            {"name": "d", "type": ["null", {"type": "record", "name": "other", "fields": [
                {"name": "a", "type": "long"}]}]},
        ]}},
    ],
}  # fmt: skip
PATHS = (("a",), ("b", "a"), ("b", "c", "a"), ("b", "d", "a"))


@pytest.mark.parametrize("change", ["none", "clash", "reference"])
def test_fields_of_records_within_records(tmp_path: Path, change: str) -> None:
    """Records are dissolved unless a name would be ambiguous or a type is referred to by its name."""
    schema = json.loads(json.dumps(NESTED))
    rows = [{"a": n, "b": {"a": f"x{n}", "unread": b"-", "c": {"a": -n}, "d": {"a": n * n}}} for n in range(9)]
    if change == "clash":
        schema["fields"].append({"name": "b__c__a", "type": "long"})
        rows = [{**each, "b__c__a": 77} for each in rows]
    if change == "reference":
        schema["fields"].append({"name": "again", "type": "innermost"})
        rows = [{**each, "again": {"a": 77}} for each in rows]
    assert (unnested(schema) == schema) == (change != "none")
    with open(tmp_path / "m", "wb") as file:
        fastavro.writer(file, schema, rows)
    columns = [avro.AvroColumn(f"c{n}", path, pa.string() if n == 1 else pa.int64()) for n, path in enumerate(PATHS)]
    decoded = avro.read([str(tmp_path / "m")], columns)
    assert decoded.errors == {}
    assert [[each[f"c{n}"] for n in range(4)] for each in decoded.rows.to_pylist()] == [
        [n, f"x{n}", -n, n * n] for n in range(9)
    ]


def test_a_record_where_a_value_is_expected_is_an_error(tmp_path: Path) -> None:
    with open(tmp_path / "m", "wb") as file:
        fastavro.writer(file, NESTED, [{"a": 1, "b": {"a": "x", "unread": None, "c": {"a": 1}, "d": None}}])
    decoded = avro.read([str(tmp_path / "m")], [avro.AvroColumn("c", ("b", "c"), pa.string())])
    assert isinstance(decoded.errors[0], Corrupt)
    assert len(decoded.rows) == 0
