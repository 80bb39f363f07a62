"""Hashes of many keys at once equal those of each key's stored bytes; files overlap where their key ranges do."""

from __future__ import annotations

import datetime as dt
import json
import random
import struct
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from core.errors import Invalid
from core.formats.paimon import binary_row, references, types
from core.formats.paimon.types import parse
from core.formats.paimon.write import bucket_hash, documents, full_compaction

TYPES = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "DECIMAL(10, 2)", "DECIMAL(30, 4)",
    "STRING", "CHAR(9)", "BYTES", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(6)",
)  # fmt: skip


def value(choose: random.Random, of: str) -> Any:
    match parse(of).root:
        case "BOOLEAN":
            return choose.random() < 0.5
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT" as root:
            most = 2 ** (8 * {"TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8}[root] - 1)
            return choose.choice([-most, most - 1, 0, -1, choose.randrange(-most, most)])
        case "FLOAT" | "DOUBLE":
            return choose.choice([0.0, -0.0, 1.5, -2.25, float("inf")])
        case "DATE":
            return dt.date(1970, 1, 1) + dt.timedelta(days=choose.randrange(-40_000, 40_000))
        case "DECIMAL":
            digits = choose.choice([0, 1, 8, 10, 17, 26])
            sign, scale = choose.choice([-1, 1]), parse(of).scale or 0
            whole = 10 ** min(digits, (parse(of).size or 0) - 1) + choose.randrange(-200, 200)
            return Decimal(sign * whole).scaleb(-scale)
        case "CHAR" | "VARCHAR":
            return "".join(choose.choices("aé€𝄞 ", k=choose.randrange(12)))
        case "VARBINARY":
            return choose.randbytes(choose.randrange(30))
        case root:
            micros = choose.choice([0, 999_999, 123_000]) if parse(of).size == 6 else 0
            naive = dt.datetime(1970, 1, 1) + dt.timedelta(
                seconds=choose.randrange(-(10**9), 10**9), microseconds=micros
            )
            return naive if root == "TIMESTAMP" else naive.replace(tzinfo=dt.UTC)


@pytest.mark.parametrize("seed", range(8))
def test_hashes_are_those_of_the_stored_rows(seed: int) -> None:
    choose = random.Random(seed)
    chosen = list(TYPES) if seed == 0 else choose.choices(TYPES, k=choose.choice((1, 1, 2, 3, 60)))
    rows = [[value(choose, of) for of in chosen] for _ in range(40)]
    columns = [pa.array([row[at] for row in rows], types.arrow(parse(of))).slice(1) for at, of in enumerate(chosen)]
    wanted = [binary_row.bucket_hash(binary_row.encode(row, chosen)[4:]) for row in rows[1:]]
    assert bucket_hash.hashes(columns, [parse(of) for of in chosen]).tolist() == wanted
    java = [abs(each) % 7 for each in wanted]
    assert bucket_hash.buckets(columns, [parse(of) for of in chosen], 7).tolist() == java


def test_a_null_has_no_bucket() -> None:
    with pytest.raises(Invalid, match="null"):
        bucket_hash.hashes([pa.array([1, None])], [parse("BIGINT")])


def test_files_whose_keys_meet_in_what_is_no_number_are_merged_together() -> None:
    """NaN is one key, the greatest; and the zeros are two."""
    document = documents.first_schema([("k", "DOUBLE"), ("f", "FLOAT")], [], {"bucket": "1"}, 1, None, ["k", "f"])
    schema = references.schema_of("0", json.dumps(document).encode(), "schema/schema-0")
    nan = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0000))[0]

    def file(least: tuple[float, float], greatest: tuple[float, float]) -> dict[str, Any]:
        return {"_FILE": {f"_{which}_KEY": binary_row.encode(key, ("DOUBLE", "FLOAT")) for which, key in
                          (("MIN", least), ("MAX", greatest))}}  # fmt: skip

    one, two, three = file((1.0, 1.0), (float("nan"), 1.0)), file((nan, 1.0), (nan, nan)), file((-0.0, 9.0), (0.0, 2.0))
    low = file((-1.0, 0.0), (-0.0, 8.0))
    assert full_compaction.sections(schema, [two, one, three, low]) == [[low], [three], [one, two]]
