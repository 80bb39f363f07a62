"""Footers of Parquet and ORC files: those of real writers pass, those that claim or unpack to gigabytes are
rejected."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as parquet
import pytest

from core.errors import Corrupt
from core.formats import footer_limits
from core.formats.paimon.types import PaimonType
from core.spark.read.paimon import python_files
from core.storage import size_limits

WIDE = pa.table({f"c{number}": pa.array(range(100), pa.int64()) for number in range(2_000)})


def parquet_file() -> bytes:
    sink = io.BytesIO()
    parquet.write_table(WIDE, sink, row_group_size=10)
    return sink.getvalue()


def orc_file(compression: str) -> bytes:
    sink = io.BytesIO()
    orc.write_table(WIDE, sink, compression=compression, stripe_size=1024)
    return sink.getvalue()


@pytest.mark.parametrize("form", ["parquet", "orc zlib", "orc zstd", "orc snappy", "orc uncompressed"])
def test_a_wide_file_of_a_writer_passes(form: str, tmp_path: Path) -> None:
    kind, _, compression = form.partition(" ")
    content = parquet_file() if kind == "parquet" else orc_file(compression)
    (tmp_path / "f").write_bytes(content)
    footer_limits.refuse_large(content, kind)
    footer_limits.refuse_large(str(tmp_path / "f"), kind)
    table, rows = python_files.decode(content, kind, [("c7", PaimonType("BIGINT"))], "f")
    assert (table["c7"].to_pylist(), rows) == (list(range(100)), 100)


def test_a_footer_of_a_parquet_file_that_claims_too_much(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.write(b"PAR1")
        file.truncate(size_limits.GB)  # sparse
        file.seek(0, 2)
        file.write((size_limits.FOOTER + 1).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(Corrupt, match="its footer is 268,435,457 bytes, more than the limit of 268,435,456"):
        python_files.decode(str(path), "parquet", [("a", PaimonType("INT"))], "f")


def varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def orc_bomb(blocks: int, block: int = 256 << 10) -> bytes:
    """Create a footer of this many compressed blocks of zeros."""
    packer = zlib.compressobj(9, wbits=-15)
    one = packer.compress(bytes(block)) + packer.flush()
    footer = ((len(one) << 1).to_bytes(3, "little") + one) * blocks
    fields = b"\x08" + varint(len(footer)) + b"\x10\x01" + b"\x18" + varint(block) + b"\x82\xf4\x03\x03ORC"
    return b"ORC" + footer + fields + bytes([len(fields)])


def test_a_footer_of_an_orc_file_that_unpacks_to_gigabytes() -> None:
    content = orc_bomb(20_000)  # 5 GB from 6 MB
    assert len(content) < 8 << 20
    with pytest.raises(Corrupt, match="its footer is 5,242,880,000 bytes, more than the limit of"):
        python_files.decode(content, "orc", [("a", PaimonType("INT"))], "f")
    footer_limits.refuse_large(orc_bomb(100), "orc")


@pytest.mark.parametrize("form", ["parquet", "orc"])
@pytest.mark.parametrize("content", [b"", b"x", b"PAR1", bytes(300), b"\xff" * 300, b"ORC" + b"\x80" * 40])
def test_what_is_no_such_file_is_left_to_the_decoder(form: str, content: bytes) -> None:
    with pytest.raises(Corrupt):
        python_files.decode(content, form, [("a", PaimonType("INT"))], "f")
