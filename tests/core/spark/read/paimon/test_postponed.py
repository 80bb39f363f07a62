"""Order and merging of rows in the postpone bucket, without an engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from core.errors import Unsupported
from core.formats.paimon import binary_row
from core.model.references import Field, Schema
from core.spark.merge.rules import read_rule
from core.spark.read.paimon import postponed

COLUMNS = ("id", "a", "b", "s")


def schema(options: Mapping[str, str] | None = None) -> Schema:
    fields = tuple(Field(number, name, "INT") for number, name in enumerate(COLUMNS))
    given = {"bucket": "-2", "postpone.merge-on-read": "TRUE", **(options or {})}
    return Schema(0, fields, (), ("id",), given, 0)


def rows(*listed: tuple[Any, ...], first: int = 0, kind: int = 0) -> pa.Table:
    columns: dict[str, Any] = {
        name: pa.array([row[at] for row in listed], pa.int32()) for at, name in enumerate(COLUMNS)
    }
    columns["_SEQUENCE_NUMBER"] = pa.array(range(first, first + len(listed)), pa.int64())
    columns["_VALUE_KIND"] = pa.array([kind] * len(listed), pa.int8())
    columns["_LEVEL"] = pa.array([0] * len(listed), pa.int32())
    return pa.table(columns)


def merged(of: Schema, *parts: tuple[tuple[str, int] | None, pa.Table]) -> list[tuple[Any, ...]]:
    rule = read_rule(of, of.options)
    files = [{"order": order, "path": f"f{number}.avro"} for number, (order, _) in enumerate(parts)]
    found = postponed.merge(rule, files, [part for _, part in parts], kinds=False)
    return sorted(tuple(row.values()) for row in found.to_pylist())


def key(name: str, partition: bytes = binary_row.EMPTY) -> tuple[bytes, int, str]:
    return partition, -2, name


def test_each_bucket_is_merged_before_both_are() -> None:
    """With all rows in one merge, `b` of the first row would be 3: a result of the engine's own order."""
    of = schema({"merge-engine": "partial-update", "sequence.field": "s"})
    real = rows((1, None, 1, 1), (1, 5, None, 5))
    assert merged(of, (None, real), (("w", 0), rows((1, None, 3, 3)))) == [(1, 5, 1, 5)]


def test_postponed_rows_are_newer_whatever_their_numbers() -> None:
    assert merged(schema(), (("w", 0), rows((1, 2, 2, 2))), (None, rows((1, 1, 1, 1), (2, 1, 1, 1), first=90))) == [
        (1, 2, 2, 2), (2, 1, 1, 1),
    ]  # fmt: skip
    assert merged(schema(), (("w", 1), rows((1, 3, 3, 3))), (("w", 0), rows((1, 2, 2, 2), first=7))) == [(1, 3, 3, 3)]
    assert merged(schema(), (("w", 0), rows((1, 2, 2, 2), kind=3)), (None, rows((1, 1, 1, 1)))) == []


def test_only_keys_whose_result_depends_on_the_writers_are_rejected() -> None:
    two = ((("v", 0), rows((1, 1, 1, 1), (2, 1, 1, 1))), (("w", 0), rows((2, 1, 1, 1), (3, 1, 1, 1))))
    assert merged(schema(), *two) == [(1, 1, 1, 1), (2, 1, 1, 1), (3, 1, 1, 1)]
    with pytest.raises(Unsupported, match="rows of the key 3 "):
        merged(schema(), *two, (("x", 0), rows((3, 1, 1, 2))))
    assert merged(schema({"sequence.field": "s"}), *two, (("x", 0), rows((3, 7, 1, 2))))[2] == (3, 7, 1, 2)


def test_a_third_writer_in_the_middle_is_not_overlooked() -> None:
    writers = [(("u", 0), rows((1, 1, 1, 1))), (("v", 0), rows((1, 2, 1, 1))), (("w", 0), rows((1, 1, 1, 1)))]
    with pytest.raises(Unsupported, match="rows of the key 1 ") as caught:
        merged(schema(), *writers)
    assert caught.value.path == "f2.avro"


def test_files_of_a_writer_are_ordered_by_time_then_by_number() -> None:
    one, two = "data--u-x-s-1-w-aa-", "data--u-x-s-2-w-bb-"
    created = {key(f"{one}10.avro"): 5, key(f"{one}9.avro"): 5, key(f"{one}0.avro"): 6, key(f"{two}0.avro"): 1}
    found = postponed.orders(created)
    assert sorted((order, name) for (_, _, name), order in found.items()) == [
        (("data--u-x-s-1-w-", 0), f"{one}9.avro"), (("data--u-x-s-1-w-", 1), f"{one}10.avro"),
        (("data--u-x-s-1-w-", 2), f"{one}0.avro"), (("data--u-x-s-2-w-", 0), f"{two}0.avro"),
    ]  # fmt: skip


def test_files_without_an_order_are_rejected() -> None:
    with pytest.raises(Unsupported, match="does not say who wrote it") as caught:
        postponed.orders({key("data-1-0.avro"): 1})
    assert caught.value.path == "data-1-0.avro"
    with pytest.raises(Unsupported, match="created at the same time"):
        postponed.orders({key("d-s-1-w-aa-0.avro"): 1, key("d-s-1-w-bb-0.avro"): 1})


def test_where_the_option_counts() -> None:
    of = schema()
    assert postponed.is_on(of)
    assert not postponed.is_on(Schema(0, of.fields, (), (), of.options, 0))
    assert not postponed.is_on(Schema(0, of.fields, (), ("id",), {**of.options, "bucket": "2"}, 0))
    assert not postponed.is_on(Schema(0, of.fields, (), ("id",), {}, 0))
