"""Which format a location, a name or a table's references belong to."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import Invalid, NotFound
from core.formats import registry
from core.formats.iceberg.format import IcebergFormat
from core.formats.paimon.format import PaimonFormat
from core.storage.store import Store
from tests.support.execution import ground, iceberg_ground


def test_a_paimon_table_with_iceberg_metadata_of_itself_is_paimons(tmp_path: Path) -> None:
    root = ground.small_table(tmp_path / "t").root
    (root / "metadata").mkdir()
    (root / "metadata" / "v1.metadata.json").write_text("{}")
    assert IcebergFormat.is_table(Store(str(root)))
    assert registry.at(Store(str(root))) is PaimonFormat
    assert isinstance(registry.opened(str(root)), PaimonFormat)


def test_one_metadata_file_is_icebergs_and_no_name(tmp_path: Path) -> None:
    iceberg_ground.small_table(tmp_path / "t")
    path = str(iceberg_ground.newest(tmp_path / "t"))
    assert registry.claiming(path) is IcebergFormat
    assert not registry.is_name(path)
    opened = registry.opened(path)
    assert opened.location == path
    assert registry.of(opened.heads()) is IcebergFormat


def test_names_of_catalogs_are_names_and_places_are_none(tmp_path: Path) -> None:
    assert registry.is_name("iceberg://catalog/db/t")
    assert registry.claiming("iceberg://catalog/db/t") is IcebergFormat
    assert registry.claiming(str(tmp_path)) is None


def test_what_is_no_table_says_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no table at"):
        registry.opened(str(tmp_path / "none"))
    (tmp_path / "shop.db").mkdir()
    with pytest.raises(Invalid, match="is a warehouse"):
        registry.opened(str(tmp_path))
