"""Which catalog commits to a table that was opened by its path."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import Unsupported
from core.execution.apply import apply
from core.model.actions import CreateTag
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.formats.paimon import rest_catalog
from tests.support.formats.paimon.metastore import Metastore, configure, lake, names, server
from tests.support.formats.paimon.tables import four_commits

__all__ = ["lake", "server"]  # fixtures


@pytest.mark.parametrize("how", ["path", "link"])
def test_a_table_whose_writers_lock_is_not_changed_by_its_path(
    server: Metastore, lake: TableBuilder, tmp_path: Path, how: str
) -> None:
    configure(server.uri, "lock-enabled = true")
    server.tables["shop"].pop("moved")
    (tmp_path / "link").symlink_to(lake.root)
    found = open_table(str(lake.root) if how == "path" else f"{tmp_path}/link")
    plan, before = found.preview(CreateTag("v9", 2), 0), names(lake)
    with pytest.raises(Unsupported, match=r"take the lock of the catalog meta\. Open it as paimon://meta/shop/orders"):
        apply(found, plan, settle_s=0)
    assert names(lake) == before


def test_a_database_that_cannot_be_read_may_have_the_table(server: Metastore, lake: TableBuilder) -> None:
    configure(server.uri, "lock-enabled = true")
    server.tables["shop"].clear()
    found = open_table(str(lake.root))
    with pytest.raises(Unsupported, match=r"It cannot be determined .* closed is closed"):
        apply(found, found.preview(CreateTag("v9", 2), 0), settle_s=0)
    server.closed.clear()
    apply(found, found.preview(CreateTag("v9", 2), 0), settle_s=0)


@pytest.fixture
def cloud(lake: TableBuilder, tmp_path: Path) -> Iterator[rest_catalog.Server]:
    """A REST catalog that has the table under another name than its path tells, and that another database closes."""

    def answer(path: str, query: dict[str, str]) -> tuple[int, Any]:
        match path.removeprefix("/v1/").split("/"):
            case ["config"]:
                return 200, {}
            case ["databases"]:
                return 200, {"databases": ["closed", "shop"]}
            case ["databases", "shop", "table-details"] if "pageToken" not in query:
                return 200, {"tableDetails": [{"name": "a", "path": str(tmp_path)}], "nextPageToken": "2"}
            case ["databases", "shop", "table-details"]:
                return 200, {"tableDetails": [{"name": "o/1", "path": f"file:{lake.root}"}]}
            case ["databases", "closed", "table-details"]:
                return 403, {"message": "not for you", "code": 403}
        return 404, {"resourceType": "TABLE", "message": "none", "code": 404}

    with rest_catalog.serving(answer) as found:
        Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(f"[catalog.meta]\ntype = 'paimon-rest'\nuri = '{found.url}'")
        yield found


def test_a_table_of_a_rest_catalog_is_not_changed_by_its_path(cloud: rest_catalog.Server, lake: TableBuilder) -> None:
    found = open_table(str(lake.root))
    plan, before = found.preview(CreateTag("v9", 2), 0), names(lake)
    assert any("Its name there is paimon://meta/shop/o%2F1" in each.text for each in plan.warnings)
    with pytest.raises(Unsupported, match=r"Its name there is paimon://meta/shop/o%2F1\. Nothing was changed"):
        apply(found, plan, settle_s=0)
    assert names(lake) == before


def test_a_table_that_no_catalog_has_is_changed(cloud: rest_catalog.Server, tmp_path: Path) -> None:
    other = four_commits(tmp_path / "other")
    found = open_table(str(other.root))
    plan = found.preview(CreateTag("v9", 2), 0)
    with pytest.raises(Unsupported, match=r"It cannot be determined .* HTTP 403 not for you"):
        apply(found, plan, settle_s=0)
    told, cloud.answer = cloud.answer, lambda path, query: (200, {}) if "closed" in path else told(path, query)
    apply(found, found.preview(CreateTag("v9", 2), 0), settle_s=0)
    assert "tag/tag-v9" in names(other)


@pytest.mark.parametrize("said", [(501, {}), (200, {"tableDetails": [{"name": "a"}]}), (200, {"tableDetails": ["a"]})])
def test_a_catalog_without_details_of_its_tables_may_have_the_table(
    cloud: rest_catalog.Server, lake: TableBuilder, said: tuple[int, Any]
) -> None:
    before = cloud.answer
    cloud.answer = lambda path, query: said if "table-details" in path else before(path, query)
    found = open_table(str(lake.root))
    with pytest.raises(Unsupported, match="It cannot be determined"):
        apply(found, found.preview(CreateTag("v9", 2), 0), settle_s=0)
