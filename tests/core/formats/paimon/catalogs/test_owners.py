"""Which catalog commits to a table that was opened by its path."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import Unsupported
from core.execution.apply import apply
from core.model.actions import CreateTag
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.formats.paimon.metastore import Metastore, configure, lake, names, server

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
