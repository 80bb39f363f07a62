"""Maps in parts: values in shared columns, and those that did not fit, put together without an engine."""

from __future__ import annotations

import pyarrow as pa
import pytest

from core.errors import Unsupported
from core.spark.read.paimon import shredded_maps

OWN = "paimon.map.shared-shredding."
PARTS = pa.struct([
    ("__field_mapping", pa.list_(pa.int32())), ("__col_0", pa.int32()), ("__col_1", pa.int32()),
    ("__overflow", pa.map_(pa.int32(), pa.int32())),
])  # fmt: skip


def metadata(**more: str) -> dict[bytes, bytes]:
    keys = '{"a":0,"b":1,"c":2,"ä":3}'.encode()
    packed = pa.compress(keys, codec="zstd", asbytes=True)
    said = {
        "version": "1", "num-columns": "2", "field-dict": packed.decode("latin-1"),
        "field-dict-original-size": str(len(keys)), **{name.replace("_", "-"): value for name, value in more.items()},
    }  # fmt: skip
    own = {f"{OWN}{name}".encode(): value.encode() for name, value in said.items()}
    return {b"paimon.map.storage-layout": b"shared-shredding", **own}


def row(chosen: list[int], first: int | None, second: int | None, more: list[tuple[int, int | None]] | None) -> object:
    return {"__field_mapping": chosen, "__col_0": first, "__col_1": second, "__overflow": more}


def test_values_come_from_columns_and_from_what_did_not_fit() -> None:
    column = pa.array([
        row([9, 9], 9, 9, None), row([0, 2], 1, None, [(3, 5), (1, None)]), None, row([-1, -1], 7, 7, None),
        row([2, -1], 4, 7, []), row([-1, 1], None, 8, [(77, 1)]),
    ], PARTS).slice(1)  # fmt: skip
    assert shredded_maps.whole(column, metadata(), "f").to_pylist() == [
        [("a", 1), ("c", None), ("ä", 5), ("b", None)], None, [], [("c", 4)], [("b", 8)],
    ]  # fmt: skip
    assert shredded_maps.whole(column.slice(0, 0), metadata(), "f").to_pylist() == []
    assert shredded_maps.whole(pa.chunked_array([column, column]), metadata(), "f").null_count == 2


def test_what_is_not_known_is_rejected() -> None:
    column = pa.array([row([0, 1], 1, 2, None)], PARTS)
    with pytest.raises(Unsupported, match="version '2'"):
        shredded_maps.whole(column, metadata(version="2"), "f")
    with pytest.raises(Unsupported, match="compression 'lz4'"):
        shredded_maps.whole(column, metadata(field_dict_compression="lz4"), "f")
    with pytest.raises(ValueError, match="3 columns of a map were expected"):
        shredded_maps.whole(column, metadata(num_columns="3"), "f")
    with pytest.raises(ValueError, match="lacks version"):
        shredded_maps.whole(column, {b"paimon.map.storage-layout": b"shared-shredding"}, "f")


def test_which_columns_are_stored_in_parts() -> None:
    assert shredded_maps.is_stored(pa.field("m", PARTS, metadata=metadata()))
    assert not shredded_maps.is_stored(pa.field("m", PARTS))
