"""How Iceberg differs from other formats."""

from __future__ import annotations

from core.model.capabilities import Capabilities

ICEBERG = Capabilities(
    format="iceberg",
    title="Iceberg",
    references_are_files=False,
    tags_hold_files=False,
    ids_are_ordered=False,
    time_by_log=True,
    branches_are_directories=False,
    refs_have_retention=True,
    tag_ends_are_wall_clock=False,
    tags_age_with_snapshots=True,
    makes_tags_from_times=False,
    deletes_are_files=True,
    compacts_here=False,
    has_row_kinds=False,
    simulates_engine=False,
    procedures="system",
    has_changelogs=False,
    orphan_age_ms=3 * 86_400_000,
    names_partitions=False,
    writers_expire=False,
)
