"""Copies of tables whose metadata names another location: their files are found below the directory that was opened."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from core.errors import Unsupported
from core.table import open_table
from tests.support.iceberg_tables import PYICEBERG, moved, read_avro, write_avro


def test_a_table_with_a_relative_location(tmp_path: Path) -> None:
    """And relative paths all through: they are those of the directory that was opened."""
    root = moved(PYICEBERG / "overwrite_delete", tmp_path / "t", "./data/warehouse/t")
    named = moved(PYICEBERG / "overwrite_delete", tmp_path / "named" / "t")
    found, wanted = (open_table(str(each)).history() for each in (root, named))
    assert found.incomplete == {}
    assert found.objects["path"].to_pylist() == wanted.objects["path"].to_pylist()
    assert found.objects["bytes"].null_count == 0
    with pytest.raises(Unsupported, match="nothing was changed"):
        open_table(str(root)).refuse_apply()


@pytest.mark.parametrize("name", ["v7.metadata.json", "v7.gz.metadata.json", "v7.metadata.json.gz"])
def test_metadata_in_a_directory_of_its_own_of_a_copy(tmp_path: Path, name: str) -> None:
    root = moved(PYICEBERG / "overwrite_delete", tmp_path / "t", "/elsewhere/t")
    newest = max(root.glob("metadata/*.metadata.json"))
    for old, new in (("/elsewhere/t/metadata/", "/elsewhere/t/own/meta/"),):
        for path in root.glob("metadata/*.avro"):
            schema, records, metadata = read_avro(path)
            for record in records:
                if "manifest_path" in record:
                    record["manifest_path"] = record["manifest_path"].replace(old, new)
            write_avro(path, schema, records, metadata)
        newest.write_text(newest.read_text().replace(old, new))
    (root / "own").mkdir()
    (root / "metadata").rename(root / "own" / "meta")
    content = (root / "own" / "meta" / newest.name).read_bytes()
    target = root / "own" / "meta" / name
    target.write_bytes(gzip.compress(content) if "gz" in name else content)
    table = open_table(str(target))
    history = table.history()
    assert history.incomplete == {}
    assert not any(table.missing_files(history, holder.point) for holder in history.holders)
