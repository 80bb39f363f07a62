"""What a table's format can do, by name: whoever answers differently for two formats asks for one of these. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The real differences between formats. Each is a property of the format, never of one table."""

    format: str  # as it is written in answers and addresses: "paimon", "iceberg"
    title: str  # as sentences name it
    references_are_files: bool
    """Each snapshot and tag is a file of its own, made and removed alone; else all are parts of one document, which a
    commit replaces as a whole."""
    tags_hold_files: bool
    """A tag keeps files itself, so deleting it frees them; else it keeps its snapshot, and the next expiry frees."""
    ids_are_ordered: bool
    """Snapshot ids count the commits of a branch; else each snapshot names its parent, and ids are no order."""
    time_by_log: bool
    """A time names what main pointed to then, by a log; else the newest snapshot committed at or before it."""
    branches_are_directories: bool
    """A branch has its own snapshots, tags, schemas and options; else it is a name of one of the table's snapshots."""
    has_changelogs: bool
    """Changelogs may outlive their snapshots, so an expiry may leave some behind."""
    has_consumers: bool
    """Streaming readers keep their places in the table, and these keep snapshots."""
    writers_expire: bool
    """Writers expire snapshots and make tags by the table's own options; else only whoever calls for it."""
