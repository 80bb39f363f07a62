"""The sidebar tree: both formats and catalogs in one, searchable; an unreachable location does not affect the
others."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import main
from core.formats.table_format import TableRef
from dashboard import words
from dashboard.view_models import table_tree
from tests.support.builders import TableBuilder
from tests.support.dashboard.pages import Page
from tests.support.formats.iceberg.sql_catalog import Lake, home
from tests.support.iceberg_tables import PYICEBERG, moved

__all__ = ["home"]  # a fixture


def test_tables_stand_under_their_databases_and_none_is_left_out_uncounted() -> None:
    tables = [TableRef("a", f"t{number:03}", f"/w/{number}", "paimon") for number in range(table_tree.MOST + 9)]
    tables += [TableRef("B", "orders", "/w/o", "iceberg"), TableRef("", "top", "/w/top", "iceberg")]
    first, second, top = table_tree.branches(tables, chosen="a.t068")
    assert (first.database, len(first.tables), first.more) == ("a", table_tree.MOST + 1, 8)
    assert first.tables[-1].name == "t068"
    assert [(each.database, each.more) for each in (second, top)] == [("B", 0), ("", 0)]
    assert [each.tables for each in table_tree.branches(tables, " b.ORD ")] == [(tables[-2],)]
    assert [each.name for each in table_tree.branches(tables, "t00")[0].tables] == [f"t{n:03}" for n in range(10)]
    assert table_tree.branches(tables, "nothing") == []


def test_places_are_told_apart() -> None:
    named = ["/data/a/lake", "/data/b/lake", "s3://bucket/lake", "iceberg://prod", "iceberg://", "/"]
    assert table_tree.names(named) == ["a/lake", "b/lake", "bucket/lake", "prod", "iceberg://", "/"]
    assert table_tree.names(["/w/demo", "iceberg://prod/shop"]) == ["demo", "shop"]
    assert table_tree.names(named[:2], {"/data/a/lake": "prod"}) == ["prod", "b/lake"]
    assert table_tree.label("a_b*c") == r"a\_b\*c"
    assert table_tree.label("a&amp;b") == r"a\&amp;b", "Markdown takes it for an ampersand"


@pytest.mark.slow
def test_one_tree_of_both_formats_and_of_catalogs(
    open_page: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Lake(tmp_path)
    config = tmp_path / ".pyiceberg.yaml"
    config.write_text(f"{config.read_text()}  gone:\n    type: rest\n    uri: http://127.0.0.1:9/\n")
    table = TableBuilder(tmp_path / "w" / "shop.db" / "clicks")
    table.commit([table.file(10)])
    moved(PYICEBERG / "tags_branches", tmp_path / "w" / "shop.db" / "ice")
    (tmp_path / "second").mkdir()
    places = [str(tmp_path / "w"), str(tmp_path / "second")]
    monkeypatch.setenv("SNAPSCOPE_WAREHOUSE", "\n".join(places))

    def offered(page: Page) -> list[str]:
        keys = [each.key or "" for each in page.test.button]
        return [key.removeprefix("tree.table.") for key in keys if key.startswith("tree.table.")]

    page = open_page("timeline", None)
    assert offered(page) == [f"{places[0]}.shop.clicks", f"{places[0]}.shop.ice"]
    for name in (places[1], "iceberg://gone", "iceberg://lake"):
        page.test.session_state[f"tree.place.{name}"] = True
    page.run()
    assert "did not answer" in page.text  # of the one catalog, in its node; the page and the other locations work
    assert words.EMPTY_WAREHOUSE in page.text
    assert offered(page)[2:] == ["iceberg://lake.shop.orders"]
    page.test.text_input(key="tree.search").input("ord").run()
    assert offered(page) == ["iceberg://lake.shop.orders"]
    page.test.session_state["tree.place.iceberg://gone"] = False
    page.test.text_input(key="tree.search").input("").run()
    assert len(offered(page)) == 3  # every node is again as it was before the search
    assert page.test.session_state[f"tree.place.{places[1]}"]
    page.test.button(key="tree.table.iceberg://lake.shop.orders").click()
    page.run()
    address = page.test.query_params
    assert (address["warehouse"], address["table"]) == ("iceberg://lake", "shop.orders")
    assert "shop. orders" in page.text
    # the command line lists the same
    assert main(["tables", *places, "iceberg://lake", "iceberg://gone", "--json"]) != 0
    said = capsys.readouterr().out
    assert [said.count(f'"format": "{each}"') for each in ("paimon", "iceberg")] == [1, 2]
    assert "did not answer" in said


def test_a_catalog_of_the_settings_file_stands_in_the_tree(
    open_page: Callable[..., Page], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a table whose writers lock: its pages show everything, and say why nothing can be changed."""
    table = TableBuilder(tmp_path / "w" / "shop.db" / "clicks")
    table.commit([table.file(10)])
    table.commit([table.file(20)])
    with sqlite3.connect(tmp_path / "catalog.db") as database:
        database.execute("CREATE TABLE paimon_tables (catalog_key, database_name, table_name)")
        database.execute("CREATE TABLE paimon_database_properties (catalog_key, database_name)")
        database.execute("INSERT INTO paimon_tables VALUES ('jdbc', 'shop', 'clicks')")
    database.close()
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(
        f"[catalog.meta]\ntype = 'paimon-jdbc'\nuri = 'jdbc:sqlite:{tmp_path}/catalog.db'\n"
        f"warehouse = '{tmp_path}/w'\nlock-enabled = true\n"
    )
    page = open_page("timeline", None)
    assert "meta" in [each.label for each in page.test.expander]
    page.test.session_state["tree.place.paimon://meta"] = True
    page.run()
    page.test.button(key="tree.table.paimon://meta.shop.clicks").click()
    page.run()
    address = page.test.query_params
    assert (address["warehouse"], address["table"]) == ("paimon://meta", "shop.clicks")
    assert "shop. clicks" in page.text
    monkeypatch.setenv("SNAPSCOPE_WRITE", "1")
    page = open_page("retention", "paimon://meta", writes=True, table="shop.clicks", keep_max="1", keep_min="1")
    assert "Writers of the catalog meta take its lock" in page.text


def test_names_of_others_steer_no_label_and_no_caption(tmp_path: Path, open_page: Callable[..., Page]) -> None:
    hostile = "a ![x](http://e) :red[y] `z` $1$ <b> _u_ *i* :smile:"
    assert table_tree.inline(hostile) == (
        r"a \!\[x\](http\://e) :red\[y\] \`z\` \$1\$ \<b\> \_u\_ \*i\* \:smile:".replace(r"http\:", "http:")
    )
    assert table_tree.inline("# one\n1. two") == r"\# one 1\. two"
    for plain in ("shop.orders_2", "branch-b1", "tag:v1", "dt=2026-11-01", "2026-11-01 08:00"):
        assert table_tree.inline(plain) == plain
    name = "a$b$ *c*"
    made = TableBuilder(tmp_path / "shop.db" / name)
    made.commit([made.file(1_000)])
    page = open_page("overview", tmp_path, database="![x](http:--e)")
    assert words.of_database(r"\!\[x\](http:--e)") in [each.value for each in page.test.caption]
    page = open_page("overview", tmp_path)
    assert r"shop.a\$b\$ \*c\*" in [each.label for each in page.test.get("page_link")]
    made.tag("v*1*")
    made.branch("b*2*", "v*1*").commit([made.file(1_000)])
    page = open_page("asof", tmp_path, table=f"shop.{name}")
    assert r"tag:v\*1\*" in [each.label for each in page.test.button]
    page = open_page("tags", tmp_path, writes=True, table=f"shop.{name}", branch="b*2*", form="rollback")
    assert page.test.selectbox(key="branches.rollback.point").label == words.rollback_point(r"b\*2\*")
