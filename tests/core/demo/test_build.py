"""How the demo is put together, whatever its tables hold: one after the other, and carried on where it was cut off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.catalog import DEMO_MARKER, is_demo, list_tables
from core.demo import build, progress, stories


def test_a_build_that_was_cut_off_is_carried_on(
    made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole tables stay, half ones go, the story's moment stays; until the end it is no demo that may be changed."""
    directory = tmp_path / "demo"
    with monkeypatch.context() as patch:
        patch.setattr(build, "_expire", _killed)
        patch.setattr(build, "_clean", lambda _: None)  # as where the machine stops
        with pytest.raises(KeyboardInterrupt):
            build.build(str(directory), now_ms=7)
    assert made == ["crm.customers", "events.clicks", "sales.orders", "sales.orders_iceberg"]
    assert [each.title for each in list_tables(str(directory)).tables] == ["crm.customers", "events.clicks"]
    assert not is_demo(str(directory))
    (directory / "sales.db" / "orders").mkdir(parents=True)  # moved there, and never written down
    (directory / "sales.db" / "orders" / "half").write_text("")
    build.build(str(directory), now_ms=9)
    assert made[4:] == ["sales.orders", "sales.orders_iceberg"]
    assert {each.title for each in list_tables(str(directory)).tables} == set(progress.TABLES)
    assert not (directory / "sales.db" / "orders" / "half").exists()
    assert is_demo(str(directory))
    assert '"created_ms": 7' in (directory / DEMO_MARKER).read_text()
    assert [each.table for each in stories.what_happened(list_tables(str(directory)))] == [
        "sales.orders", "events.clicks", "crm.customers", "sales.orders_iceberg",
    ]  # fmt: skip
    assert {each.name for each in directory.iterdir()} == {DEMO_MARKER, "crm.db", "events.db", "sales.db"}


def _killed(*_: Any) -> None:
    raise KeyboardInterrupt
