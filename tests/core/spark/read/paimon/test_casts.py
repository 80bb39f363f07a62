"""Casts of changed columns, value by value as Java Paimon 2.0 made them in the zone UTC (tests/data/paimon_casts.json).

In the file: old type > new type, the stored values as text, and the engine's answer: `{"error": true}` where reading
failed, null for the pair where the engine did not let the type be changed so.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from core.errors import Unsupported
from core.formats.paimon import schema_evolution, types
from core.formats.paimon.types import PaimonType, parse
from core.spark.read.paimon import casts

GOLDEN = json.loads((Path(__file__).parents[4] / "data" / "paimon_casts.json").read_text())
PAIRS = [pair for pair, answers in GOLDEN.items() if answers is not None]
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
OTHERWISE = {  # as Java writes the least numbers, and a day that later builds answer right
    ("DOUBLE", "5e-324"),
    ("FLOAT", "1e-45"),
    ("TIMESTAMP(9)>DATE", "1969-12-31T23:59:59.999999999"),
    ("TIMESTAMP(3)>DATE", "1969-12-31T23:59:59.999"),
}
TOO_FAR = ("9007199254740993", "20200102", "-2147483648")  # years beyond 9999


def nanos(text: str) -> int:
    seconds, _, fraction = text.removesuffix("Z").partition(".")
    whole = (dt.datetime.fromisoformat(seconds) - dt.datetime(1970, 1, 1)) // dt.timedelta(seconds=1)
    return whole * 10**9 + int(fraction.ljust(9, "0"))


def stored(text: str, of: PaimonType) -> pa.Array:
    to = types.arrow(of)
    match of.root:
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return pa.array([nanos(text) // UNITS[to.unit]], pa.int64()).cast(to)
        case "INT" | "BIGINT":
            value: Any = int(text)
        case "FLOAT" | "DOUBLE":
            value = float(text)
        case "BOOLEAN":
            value = text == "True"
        case "DECIMAL":
            value = Decimal(text)
        case "DATE":
            value = dt.date.fromisoformat(text)
        case "BINARY":
            value = bytes.fromhex(text)
        case _:
            value = text
    return pa.array([value], to)


def shown(found: pa.Array, of: PaimonType) -> Any:
    """As the judge prints values; a time in nanoseconds since 1970."""
    if not found[0].is_valid:
        return None
    if pa.types.is_timestamp(found.type):
        return found.cast(pa.int64())[0].as_py() * UNITS[found.type.unit]
    value = found[0].as_py()
    match of.root:
        case "DATE":
            return value.isoformat()
        case "DECIMAL":
            return f"{value:f}"
        case "BINARY" | "VARBINARY":
            return value.hex()
        case "FLOAT" | "DOUBLE" if not math.isfinite(value):
            return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
        case _:
            return value


@pytest.mark.parametrize("pair", PAIRS)
def test_values_are_cast_as_the_engine_casts_them(pair: str) -> None:
    have, wanted = map(parse, pair.split(">"))
    schema_evolution.check("v", have, wanted, casts=True)
    for text, answer in GOLDEN[pair].items():
        if (pair, text) in OTHERWISE or (pair.split(">", maxsplit=1)[0], text) in OTHERWISE or text in TOO_FAR:
            continue
        if answer == {"error": True}:
            with pytest.raises(Unsupported, match="does not cast the value"):
                casts.cast(stored(text, have), have, wanted)
            continue
        if wanted.root in ("TIMESTAMP", "TIMESTAMP_LTZ") and answer is not None:
            answer = nanos(answer)
        assert shown(casts.cast(stored(text, have), have, wanted), wanted) == answer, text


def test_what_the_engine_does_not_change_is_refused_by_name() -> None:
    never = [pair for pair, answers in GOLDEN.items() if answers is None]
    shortened = (
        "VARCHAR(3)",
        "CHAR(3)",
    )  # of dates and times: the engine knows the cast, and does not let it come to it
    refused = [pair for pair in never if not pair.endswith(shortened)]
    assert len(refused) > 40
    for pair in refused:
        have, wanted = map(parse, pair.split(">"))
        with pytest.raises(Unsupported, match="'v' was changed from"):
            schema_evolution.check("v", have, wanted, casts=True)


def test_times_too_far_away_are_refused() -> None:
    far = pa.array([9007199254740993])
    for wanted in ("TIMESTAMP(3)", "TIMESTAMP(9)"):
        with pytest.raises(Unsupported, match="9007199254740993"):
            casts.cast(far, parse("BIGINT"), parse(wanted))
    near = casts.cast(pa.array([253402300799]), parse("BIGINT"), parse("TIMESTAMP(9)"))
    assert near.cast(pa.int64()).to_pylist() == [253402300799 * 10**6]


def test_nulls_and_repeated_values_keep_their_places() -> None:
    texts = pa.chunked_array([["2", None], ["2", "1.9"]])
    assert casts.cast(texts, parse("STRING"), parse("INT")).to_pylist() == [2, None, 2, 1]
