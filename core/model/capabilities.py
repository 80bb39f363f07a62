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
    refs_have_retention: bool
    """Each branch and tag keeps by its own rule; else a branch keeps by its options, a tag for its own time."""
    tag_ends_are_wall_clock: bool
    """A tag ends by the clock of whoever made it, which the table stores without a zone."""
    tags_age_with_snapshots: bool
    """How long a tag is kept counts from the commit of its snapshot; else from when the tag was made."""
    makes_tags_from_times: bool
    """A tag can be made from a time or a watermark, which then names the first snapshot at or after it."""
    deletes_are_files: bool
    """Rows are taken away by files of their own, which are live beside the data files."""
    compacts_here: bool
    """Files are compacted, partitions dropped and statistics counted by plans of this program; else by the engine."""
    has_row_kinds: bool
    """Files say of a row whether it came, went or changed, so changes can be read as rows."""
    simulates_engine: bool
    """What the engine's own deletion takes is computed step by step and stands beside every plan."""
    procedures: str
    """The namespace its procedures are called in."""
    has_changelogs: bool
    """Changelogs may outlive their snapshots, so an expiry may leave some behind."""
    has_consumers: bool
    """Streaming readers keep their places in the table, and these keep snapshots."""
    writers_expire: bool
    """Writers expire snapshots and make tags by the table's own options; else only whoever calls for it."""
