"""Which options decide what rows a version has."""

from __future__ import annotations

import pytest

from core.spark.read.paimon.changed_options import DECIDES


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("merge-engine", True),
        ("sequence.field", True),
        ("fields.a.aggregate-function", True),
        ("postpone.merge-on-read", True),
        ("changelog-producer", True),
        ("changelog-producer.row-deduplicate", False),
        ("partial-update.ignore-delete", True),
        ("snapshot.num-retained.max", False),
        ("postpone.default-bucket-num", False),
    ],
)
def test_options_that_decide(name: str, expected: bool) -> None:
    assert bool(DECIDES.match(name)) is expected
