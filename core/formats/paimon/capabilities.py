"""How Paimon differs from other formats."""

from __future__ import annotations

from core.model.capabilities import Capabilities

PAIMON = Capabilities(
    format="paimon",
    title="Paimon",
    references_are_files=True,
    tags_hold_files=True,
    ids_are_ordered=True,
    time_by_log=False,
    branches_are_directories=True,
    refs_have_retention=False,
    tag_ends_are_wall_clock=True,
    tags_age_with_snapshots=False,
    makes_tags_from_times=True,
    deletes_are_files=False,
    compacts_here=True,
    has_row_kinds=True,
    simulates_engine=True,
    procedures="sys",
    has_changelogs=True,
    orphan_age_ms=86_400_000,
    names_partitions=True,
    writers_expire=True,
)
