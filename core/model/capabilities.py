"""What a table's format can do, as named flags: code that treats formats differently asks for one of these. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The differences between formats that matter here. Each is a property of the format, never of one table."""

    format: str  # as written in answers and URLs: "paimon", "iceberg"
    title: str  # the format's name in sentences
    references_are_files: bool
    """True: each snapshot and tag is a file of its own. False: all are parts of a document that a commit replaces."""
    tags_hold_files: bool
    """True: a tag holds files, so deleting it frees them. False: it keeps a snapshot, which the next expiry frees."""
    ids_are_ordered: bool
    """True: snapshot ids count the commits of a branch. False: each snapshot names its parent, and ids have no order.
    """
    time_by_log: bool
    """True: time travel follows a log of what main pointed to. False: the newest snapshot committed by that time."""
    branches_are_directories: bool
    """True: a branch has its own snapshots, tags, schemas and options. False: it names one of the table's snapshots."""
    refs_have_retention: bool
    """True: each branch and tag has its own retention. False: branches have retention options, tags a duration."""
    tag_ends_are_wall_clock: bool
    """A tag's expiration is in its creator's wall clock, which the table stores without a zone."""
    tags_age_with_snapshots: bool
    """True: a tag's retention counts from the commit of its snapshot. False: from the creation of the tag."""
    makes_tags_from_times: bool
    """A tag can be created from a time or a watermark; it then names the first snapshot at or after it."""
    deletes_are_files: bool
    """Deleted rows are recorded in delete files, which are live alongside the data files."""
    compacts_here: bool
    """Compaction, dropping partitions and statistics are plans of this program. False: only the engine does them."""
    has_row_kinds: bool
    """Files store a row kind with each row (insert, update or delete), so changes can be read as rows."""
    simulates_engine: bool
    """What the engine's own deletion removes is simulated step by step and compared with every plan."""
    procedures: str
    """The namespace in which its procedures are called."""
    has_changelogs: bool
    """Changelogs can outlive their snapshots, so an expiry may leave some behind."""
    orphan_age_ms: int
    """How old an orphan must be if nothing else is said: as the engine's own search says."""
    names_partitions: bool
    """True: the files of a partition that no version mentions are orphans only if its directory is named."""
    writers_expire: bool
    """Writers expire snapshots and create tags by the table's own options. False: only on an explicit call."""
