"""Which locations only Iceberg understands."""

from __future__ import annotations

import pytest

from core.formats.iceberg import locations


@pytest.mark.parametrize(
    ("location", "claimed"),
    [
        ("iceberg://lake/shop/orders", True),
        ("iceberg://", True),
        ("/w/shop/orders/metadata/v3.metadata.json", True),
        ("/w/shop/orders/metadata/00003-1b2c.metadata.json.gz", True),
        ("/w/shop/orders/metadata/v3.gz.metadata.json/", True),
        ("/w/shop/orders", False),
        ("/w/shop/orders.metadata.json/schema", False),
        ("s3://iceberg/lake", False),
    ],
)
def test_a_name_or_a_metadata_file_is_icebergs(location: str, claimed: bool) -> None:
    assert locations.claims(location) is claimed
    assert locations.is_name(location) is location.startswith("iceberg://")
