"""Parquet and ORC files with one flipped bit in their footers."""

from __future__ import annotations

import datetime as dt
import io
import random
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as parquet

FORMS = ("parquet", "orc")
ROWS = pa.table(
    {
        "a": pa.array(range(200), pa.int64()),
        "s": pa.array([f"text {number}" if number % 7 else None for number in range(200)]),
        "t": pa.array(
            [dt.datetime(2026, 1, 1) + dt.timedelta(hours=number) for number in range(200)], pa.timestamp("us")
        ),
        "l": pa.array([[number, None] for number in range(200)], pa.list_(pa.int32())),
    }
)


def whole(form: str) -> bytes:
    """`ROWS` in a file; Parquet in three row groups."""
    out = io.BytesIO()
    if form == "orc":
        orc.write_table(ROWS, out, compression="zstd")
    else:
        parquet.write_table(ROWS, out, compression="zstd", row_group_size=90)
    return out.getvalue()


def footer_size(content: bytes, form: str) -> int:
    if form == "parquet":
        return int.from_bytes(content[-8:-4], "little") + 8
    footer = content.rfind(b"\x28\xb5\x2f\xfd")  # ORC's is the last of its zstd frames
    return len(content) - footer


def flipped(content: bytes, form: str, number: int) -> Iterator[tuple[int, bytes]]:
    """Yield (bit, the file with that bit flipped) for this many bits of the footer, the same ones in every run."""
    bits = range((len(content) - footer_size(content, form)) * 8, len(content) * 8)
    for bit in sorted(random.Random(7).sample(bits, min(number, len(bits)))):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        yield bit, bytes(changed)
