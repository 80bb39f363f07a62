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
    has_changelogs=True,
    has_consumers=True,
    writers_expire=True,
)
