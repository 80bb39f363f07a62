"""The state of a table as a value, for both formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.reports.state_json import of_table
from core.table import open_table, resolve
from tests.support.builders import START_MS
from tests.support.execution import ground, iceberg_ground


@pytest.mark.parametrize("make", [ground.small_table, iceberg_ground.small_table])
def test_it_is_one_json_value_whose_sums_agree(make: Callable[[Path], object], tmp_path: Path) -> None:
    make(tmp_path / "shop.db" / "t")
    history = open_table(str(tmp_path / "shop.db" / "t")).history()
    at = resolve(history.heads, "latest")
    found = of_table(history, at, START_MS)
    assert json.loads(json.dumps(found)) == found
    assert found["at"]["bytes"] == sum(each["bytes"] for each in found["partitions"])
    assert found["held_bytes"] == sum(each["bytes"] for each in found["by_holders"])
    assert found["branches"][0]["branch"] == "main"
    assert found["columns"]
