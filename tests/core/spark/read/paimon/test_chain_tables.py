"""Chain tables: which partitions a partition is merged from, by the engine's rules, and what is refused."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import pytest

from core.errors import Unsupported
from core.formats.paimon import binary_row
from core.model.references import Field, Schema
from core.spark.read.paimon import chain_tables
from core.spark.read.paimon.chain_tables import Partition, partitions, refuse_buckets

DAYS = {"partition.timestamp-pattern": "$dt", "partition.timestamp-formatter": "yyyyMMdd"}
HOURS = {"partition.timestamp-pattern": "$dt $hour:00", "partition.timestamp-formatter": "yyyy-MM-dd HH:mm"}


def schema(keys: Sequence[str] = ("dt",), of: str = "STRING", **options: str) -> Schema:
    fields = tuple(Field(number, name, of) for number, name in enumerate((*keys, "k")))
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return Schema(0, fields, tuple(keys), (*keys, "k"), named, 0)


def stored(*values: str | None) -> bytes:
    return binary_row.encode(list(values), ["STRING"] * len(values))


def found(of: Schema, own: Sequence[bytes], full: Sequence[bytes], delta: Sequence[bytes]) -> dict[bytes, Partition]:
    every = partitions(of, own, full, delta)
    assert len({each.stored for each in every}) == len(every)
    return {each.stored: each for each in every}


def test_a_partition_begins_with_the_nearest_full_one() -> None:
    day = {number: stored(f"202508{number:02}") for number in range(1, 10)}
    every = found(schema(**DAYS), [day[9]], [day[3], day[6], day[9]], [day[n] for n in (1, 2, 4, 5, 6, 8, 9)])
    assert every == {
        day[1]: Partition(day[1], None, (day[1],)),
        day[2]: Partition(day[2], None, (day[1], day[2])),
        day[3]: Partition(day[3], day[3], ()),
        day[4]: Partition(day[4], day[3], (day[4],)),
        day[5]: Partition(day[5], day[3], (day[4], day[5])),
        day[6]: Partition(day[6], day[6], ()),
        day[8]: Partition(day[8], day[6], (day[8],)),
    }


def test_each_group_has_a_chain_of_its_own() -> None:
    of = schema(["region", "dt"], **DAYS, **{chain_tables.KEYS: "dt"})
    a, b = ({day: stored(name, f"2025080{day}") for day in (1, 2, 3)} for name in "ab")
    every = found(of, [], [a[1], b[2]], [a[2], b[1], b[3]])
    assert every[a[2]] == Partition(a[2], a[1], (a[2],))
    assert every[b[1]] == Partition(b[1], None, (b[1],))
    assert every[b[3]] == Partition(b[3], b[2], (b[3],))


def test_hours() -> None:
    hour = {(day, at): stored(f"2025-08-0{day}", at) for day in (1, 2) for at in ("00", "23", "0", "24")}
    of = schema(["dt", "hour"], **HOURS)
    every = found(of, [], [hour[1, "00"]], [hour[1, "23"], hour[2, "00"]])
    assert every[hour[2, "00"]].deltas == (hour[1, "23"], hour[2, "00"])
    for odd in (hour[2, "0"], hour[2, "24"]):
        with pytest.raises(Unsupported, match="not one of the hours"):
            partitions(of, [], [hour[1, "00"]], [odd])


@pytest.mark.parametrize(
    ("options", "full", "delta", "says"),
    [
        ({}, "20250801", "20250802x", "20250802x is not one of the days"),
        ({}, "20250801", "20250832", "20250832 is not one of the days"),
        ({}, "2025", "20250802", "2025 is not one of the days"),
        ({"partition.timestamp-formatter": "ddMMyyyy"}, "01092025", "02082025", "02082025 is not one of the days"),
        ({"partition.timestamp-formatter": "yyyyMMddHH"}, "2025080100", "2025080101", "2025080101 is not one of"),
        ({"partition.timestamp-formatter": "yyyy-D"}, "2025-1", "2025-2", "'yyyy-D', which is not supported"),
        ({"partition.timestamp-pattern": "$day"}, "20250801", "20250802", "20250801 is not one of the days"),
        ({chain_tables.KEYS: "other"}, "20250801", "20250802", "'other', which is not supported"),
    ],
)
def test_what_cannot_be_counted_is_refused(options: dict[str, str], full: str, delta: str, says: str) -> None:
    of = schema(**{**DAYS, **options})
    with pytest.raises(Unsupported, match=says):
        partitions(of, [], [stored(full)], [stored(delta)])


def test_what_has_no_order_is_refused() -> None:
    with pytest.raises(Unsupported, match="whose value is null"):
        partitions(schema(**DAYS), [], [stored("20250801")], [stored(None)])
    with pytest.raises(Unsupported, match="'dt' is of type BOOLEAN; only texts"):
        partitions(schema(of="BOOLEAN", **DAYS), [], [], [])


def test_numbers_and_days_are_ordered_as_such() -> None:
    nine, ten = (binary_row.encode([value], ["INT"]) for value in (9, 10))
    assert found(schema(of="INT", **DAYS), [], [], [nine, ten])[ten].deltas == (nine, ten)
    before, after = (binary_row.encode([dt.date(1970, 1, day)], ["DATE"]) for day in (10, 11))  # days 9 and 10
    assert found(schema(of="DATE", **DAYS), [], [], [before, after])[after].deltas == (before, after)


def test_numbers_of_buckets() -> None:
    one = Partition(b"b", b"a", (b"b",))
    refuse_buckets([one], {b"a": {2}, b"b": {2}, b"c": {3}})
    with pytest.raises(Unsupported, match="of 2, 3 buckets"):
        refuse_buckets([one], {b"a": {2}, b"b": {3}})


def test_which_branches_are_read() -> None:
    names: dict[str, Any] = {chain_tables.SNAPSHOT_BRANCH: "full", chain_tables.DELTA_BRANCH: "changes"}
    of = schema(**{chain_tables.ENABLED: "TRUE", **names})
    assert chain_tables.branches(of, "main") == ("full", "changes")
    assert chain_tables.branches(of, "Full") is None
    assert chain_tables.branches(schema(**names), "main") is None
    assert chain_tables.branches(schema(**{chain_tables.ENABLED: "true"}), "main") is None
