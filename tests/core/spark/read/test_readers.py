"""The row readers: one for each format of the product, none for others."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import Unsupported
from core.formats import registry
from core.spark.read import readers
from core.storage.store import Store
from core.table import Table, resolve
from tests.support.execution import ground
from tests.support.formats import ledger


def test_every_format_of_the_product_is_read() -> None:
    assert readers.READERS.keys() == {each.name for each in registry.FORMATS}


def test_the_reader_of_a_format_tells_the_columns_of_a_point(tmp_path: Path) -> None:
    table = ground.open_with(Store(str(ground.small_table(tmp_path / "t").root)))
    history = table.history()
    at = resolve(history.heads, "latest")
    assert readers.source(table, history, at).schema == at.schema


def test_rows_of_a_format_that_nobody_reads_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "FORMATS", (*registry.FORMATS, ledger.ENTRY))
    table = Table(registry.opened(str(ledger.write(tmp_path / "t", {1: ["a"]}))))
    history = table.history()
    with pytest.raises(Unsupported, match="Snapscope cannot read rows of Ledger tables"):
        readers.source(table, history, resolve(history.heads, "latest"))
