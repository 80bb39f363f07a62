"""What the editor completes. tests/e2e/test_query.py types in it."""

from __future__ import annotations

import json
from pathlib import Path

from dashboard.view_models import examples
from tests.support.builders import TableBuilder
from tests.support.dashboard.pages import Open


def test_it_completes_the_names_of_the_version_and_the_words_of_sql(tmp_path: Path, open_page: Open) -> None:
    table = TableBuilder(tmp_path / "shop.db" / "orders", partition_keys=["dt"])
    table.commit([table.file(1, partition=("a",))])
    table.commit([table.file(1, partition=("a",))])
    page = open_page("query", tmp_path, table="shop.orders", before="1")
    [given] = [json.loads(each.proto.json) for each in page.test.get("bidi_component") if "asked" in each.proto.json]
    of_kind = {kind: [each["text"] for each in given["words"] if each["kind"] == kind] for kind in given["kinds"]}
    assert "dt" in of_kind["column"]
    assert {"t", "orders", "t_before", "`t$files`"} <= set(of_kind["table"])
    assert (of_kind["keyword"], of_kind["function"]) == (examples.KEYWORDS, examples.FUNCTIONS)
    assert (given["editor"], given["asked"]) == ("query_editor", None)
