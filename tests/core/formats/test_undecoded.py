"""What a refusal says: the feature, the file, and the way out; and that nothing is called damaged that may be whole."""

from __future__ import annotations

import ast
import io
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc as orc
import pytest

from core.errors import Corrupt, SnapscopeError, Unsupported
from core.formats import columnar, undecoded
from core.formats.avro import decode
from core.formats.avro.decode import AvroColumn
from core.formats.paimon import types
from core.spark.read.paimon import python_files
from core.spark.session.refusals import refusal
from tests.support.places import ROOT

READING = ("core/formats", "core/spark/read", "core/spark/merge", "core/spark/query", "core/storage")
SOURCES = [path for folder in READING for path in sorted((ROOT / folder).rglob("*.py"))]
COLUMNS = [AvroColumn("a", ("a",), pa.int64())]


def without_a_way_out(source: str) -> list[int]:
    """Lines that refuse something as unsupported and do not say what to do instead."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Unsupported"
        and not any(each.arg == "remedy" for each in node.keywords)
    ]


def test_the_rule_sees_a_refusal_without_a_way_out() -> None:
    assert without_a_way_out("x = Unsupported('a')\ny = Unsupported('a', remedy='b')\nz = Corrupt('a')") == [1]


def test_every_refusal_has_a_way_out() -> None:
    found = [f"{path.relative_to(ROOT)}:{line}" for path in SOURCES for line in without_a_way_out(path.read_text())]
    assert found == []


def avro(codec: bytes, *, cut: int = 0) -> bytes:
    content = io.BytesIO()
    record = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "long"}]}
    fastavro.writer(content, record, [{"a": number} for number in range(100)], codec="deflate")
    found = content.getvalue().replace(b"\x0edeflate", bytes([len(codec) << 1]) + codec)
    return found[: len(found) - cut]


def orc_file(*, codec: int, cut: int = 0) -> bytes:
    """`codec`: its number in ORC's postscript, where 1 is zlib, and 6 is none yet."""
    content = io.BytesIO()
    orc.write_table(pa.table({"a": list(range(1000))}), content, compression="zlib")
    found = bytearray(content.getvalue())
    found[found.rfind(b"\x10\x01") + 1] = codec
    return bytes(found[: len(found) - cut])


@pytest.mark.parametrize(
    ("content", "form", "kind", "says"),
    [
        (avro(b"lz4"), "Avro", Unsupported, "the codec lz4"),
        (avro(b"brotli"), "Avro", Unsupported, "the codec brotli"),
        (avro(b"deflate", cut=3), "Avro", Corrupt, "cut off or damaged"),
        (orc_file(codec=6), "ORC", Unsupported, "Unknown compression codec 6"),
        (orc_file(codec=1, cut=400), "ORC", Corrupt, "The file is damaged"),
    ],
)
def test_metadata_in_an_unknown_codec_is_not_damaged(
    tmp_path: Path, content: bytes, form: str, kind: type[SnapscopeError], says: str
) -> None:
    path = tmp_path / "manifest"
    path.write_bytes(content)
    if form == "Avro":
        read = decode.read([str(path)], COLUMNS)
    else:
        read = columnar.read([str(path)], [columnar.ORC], COLUMNS)
    (error,) = read.errors.values()
    assert type(error) is kind
    assert says in str(error)
    assert error.path == str(path)
    assert kind is Corrupt or error.remedy == undecoded.ELSEWHERE


@pytest.mark.parametrize(
    ("content", "form", "kind"),
    [
        (avro(b"lz4"), "avro", Unsupported),
        (avro(b"deflate", cut=3), "avro", Corrupt),
        (orc_file(codec=6), "orc", Unsupported),
        (orc_file(codec=1, cut=400), "orc", Corrupt),
    ],
)
def test_rows_in_an_unknown_codec_are_not_damaged(content: bytes, form: str, kind: type[SnapscopeError]) -> None:
    wanted: list[Any] = [("a", types.parse("BIGINT"))]
    with pytest.raises(SnapscopeError) as caught:
        python_files.decode(content, form, wanted, "bucket-0/f")
    assert type(caught.value) is kind
    assert caught.value.path == "bucket-0/f"
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        ("org.apache.hadoop.conf.BadConfigurationException: codec lzo.LzoCodec was not found", Unsupported),
        ("java.io.EOFException: Reached the end of stream", Corrupt),
    ],
)
def test_what_spark_cannot_unpack_is_not_damaged(cause: str, kind: type[SnapscopeError]) -> None:
    said = (
        f"[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///t/f.parquet. SQLSTATE: KD001\n{cause}"
    )
    found = refusal(RuntimeError(said))
    assert type(found) is kind
    assert "f.parquet" in str(found)
