"""Rows that a table could not merge again are refused before they are written."""

from __future__ import annotations

import pyarrow as pa
import pytest

from core.errors import Unsupported
from core.model.references import Field, Schema
from core.spark.merge.rules import merge_rule
from core.spark.write import split_by_bucket
from core.spark.write.split_by_bucket import NAMED_KIND


def test_a_row_of_a_kind_that_cannot_be_merged_is_refused_with_a_way_out() -> None:
    options = {"bucket": "1", "merge-engine": "first-row"}
    schema = Schema(0, (Field(0, "id", "INT NOT NULL"),), (), ("id",), options, 0)
    check = split_by_bucket._checking(schema, merge_rule(schema))
    ids = pa.array([1], pa.int32())
    assert check(pa.record_batch({"id": ids, NAMED_KIND: ["+I"]})).num_rows == 1
    with pytest.raises(Unsupported, match="A row of kind -D cannot be written") as caught:
        check(pa.record_batch({"id": ids, NAMED_KIND: ["-D"]}))
    assert "Leave rows of this kind out" in str(caught.value.remedy)
