"""Data and delete files as Arrow."""

from __future__ import annotations

import pyarrow as pa
import pytest

from core.errors import SnapscopeError
from core.spark.read.iceberg import stored_files
from tests.support.formats import flipped


@pytest.mark.parametrize("form", flipped.FORMS)
def test_a_flipped_bit_in_the_footer_takes_no_row_away(form: str) -> None:
    refused = 0
    for bit, content in flipped.flipped(flipped.whole(form), form, 2_000):
        try:
            with stored_files.opened(pa.py_buffer(content), "f", 100) as file:
                counts = [count for count, _ in file.batches(range(len(file.schema)))]
        except (SnapscopeError, pa.ArrowException, ValueError, OSError):
            refused += 1
        else:
            assert sum(counts) == 200, bit
    assert refused > 500
