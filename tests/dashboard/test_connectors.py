"""The Query page of a server with an engine's connector: the reader chooses the engine, and the result names it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from dashboard import words
from tests.support.builders import TableBuilder
from tests.support.dashboard.pages import Open


@pytest.mark.slow
def test_the_reader_chooses_where_a_connector_is_configured(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = TableBuilder(tmp_path / "w" / "shop.db" / "orders")
    table.commit([table.file()])
    address = {"table": "shop.orders", "sql": "select 1 from t"}
    assert words.QUERY_ENGINE not in open_page("query", tmp_path / "w", **address).text
    monkeypatch.setenv("SNAPSCOPE_CONNECTORS", "a.jar")
    page = open_page("query", tmp_path / "w", **address)
    assert "Read with" in page.text
    assert "--engine" not in page.test.code[0].value
    page.test.session_state["query.engine"] = "connector"  # as sent by a form
    assert "--engine connector" in page.run().test.code[0].value


def test_the_note_says_who_read_and_not_what_nobody_told() -> None:
    answer: Any = SimpleNamespace(
        table=pa.table({"n": [1]}), point=SimpleNamespace(point="12"), before=None, files_read=None, files_live=1234,
        seconds=1.04, engine="Paimon Spark connector 2.0.0",
    )  # fmt: skip
    assert words.query_note(answer) == (
        "1 row as of 12; 1,234 current files, read in 1.0 s by Paimon Spark connector 2.0.0."
    )
