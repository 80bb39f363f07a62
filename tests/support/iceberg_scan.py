"""Determines which delete files apply to which data files of a version, by the rule that queries use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.manifests import CONTENTS, IcebergManifests
from core.formats.iceberg.metadata import Metadata
from core.spark.read.iceberg import scan as iceberg

Row = Mapping[str, Any]


def scan(place: TableLocation, found: Metadata, schema_id: int, snapshot: int) -> list[tuple[Row, tuple[Row, ...]]]:
    """Return each data file, by path, with the delete files that apply to it; all paths are relative to the table."""
    rows = iceberg.scan(place, _manifests(place), found, schema_id, snapshot)
    told = [(_told(data), tuple(map(_told, deletes))) for data, deletes in rows]
    return sorted(told, key=lambda each: each[0]["path"])


@lru_cache(8)
def _manifests(place: TableLocation) -> IcebergManifests:
    """Read the manifests of a table, each decoded once."""
    return IcebergManifests()


def _told(entry: Row) -> Row:
    return {**entry, "path": entry["file"], "content": CONTENTS[entry["content"] or 0]}
