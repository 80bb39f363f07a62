"""Options under older keys count only where the current key is not set."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from core.formats.paimon.options import resolved


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {}),
        ({"bucket": "1", "ignore-delete": "true"}, {"bucket": "1", "ignore-delete": "true"}),
        ({"deduplicate.ignore-delete": "true"}, {"ignore-delete": "true"}),
        ({"deduplicate.ignore-delete": "true", "ignore-delete": "false"}, {"ignore-delete": "false"}),
        ({"partial-update.ignore-delete": "true", "first-row.ignore-delete": "false"}, {"ignore-delete": "false"}),
        ({"write.compaction-skip": "true"}, {"write-only": "true"}),
        ({"log.scan": "latest"}, {"scan.mode": "latest"}),
        ({"log.scan.timestamp-millis": "1"}, {"scan.timestamp-millis": "1"}),
        ({"snapshot.expire.clean-empty-directories": "true"}, {"snapshot.clean-empty-directories": "true"}),
    ],
)
def test_an_older_key_counts_where_the_current_one_is_not_set(
    options: Mapping[str, str], expected: Mapping[str, str]
) -> None:
    assert resolved(options) == expected
