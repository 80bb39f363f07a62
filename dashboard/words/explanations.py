"""How each figure is computed: what it counts, what it is read from, by which rule, in which unit."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """The rule behind one figure or a column of them, in words."""

    name: str  # of the figure, as the page shows it
    counts: str
    source: str
    rule: str
    unit: str


RULE_PARTS = ("Counts", "Read from", "Rule", "Unit")

_BYTES = "Bytes, shown in decimal units: 1 kB is 1,000 bytes. The exact figure stands on hover."
_ROWS = "Rows as files hold them: before keys are merged and deletion vectors applied."
_MANIFESTS = "The manifests that the point's snapshot, tag or branch names. No data file is opened."
_REFERENCES = "The files in snapshot/, tag/ and branch/ (Iceberg: the current metadata.json), read in this very run."
_HELD = "Snapscope's runs: a file is held from the first point that names it live to the last, on every branch."

HOW_OVERVIEW_NAMES = Rule(
    "Snapshots, tags, branches",
    "Snapshots that are retained on any branch, and the names that keep others.",
    _REFERENCES,
    "By listing, never by hints: what lies there is counted.",
    "Numbers of snapshots and names.",
)
HOW_LIVE = Rule(
    "Live",
    "Data files that a reader of main's latest snapshot opens.",
    _MANIFESTS,
    "Entries added and not deleted, over the base and the delta list of that snapshot. ≥ where a manifest cannot be "
    "read.",
    _BYTES,
)
HOW_ONLY_HISTORY = Rule(
    "Only history holds",
    "Files of every kind that nothing but older snapshots, tags, changelogs and branches holds.",
    _MANIFESTS,
    f"{_HELD} What main's latest snapshot holds is taken away from what anything holds.",
    _BYTES,
)
HOW_ROWS = Rule(
    "Rows",
    "Rows in live files of the snapshot.",
    "The snapshot's own totalRecordCount (Iceberg: total-records of its summary).",
    "The writer's own count; it is held against the manifests when a table is read in full.",
    _ROWS,
)
HOW_TIMELINE = Rule(
    "Timeline",
    "One mark for each retained snapshot, tag and branch, at the moment of its commit.",
    _REFERENCES,
    "Horizontal place is the committer's own clock (timeMillis, timestamp-ms); a lane is a branch.",
    "Milliseconds since 1970, shown in the chosen zone.",
)
HOW_TREND = Rule(
    "Rows, files, bytes at each point",
    "What a reader of the point would open.",
    f"{_MANIFESTS} Rows come from the snapshot itself.",
    "Live files of each point: entries added and not deleted. A point that cannot be read in full is left out.",
    f"Rows, files, bytes. {_ROWS}",
)
HOW_DUE = Rule(
    "What goes by itself",
    "Points that the next expiry by the table's own options takes.",
    "snapshot.* options of the branch (Iceberg: history.expire.* and each ref's own), tags' own times.",
    "The engine's expiry (Paimon 2.0, Iceberg 1.11), counted from the moment shown in the sidebar.",
    "Points.",
)
HOW_ASOF = Rule(
    "The answer",
    "The one snapshot that a reader of that time, id or name sees.",
    _REFERENCES,
    "A time: the greatest retained id committed at or before it (Iceberg: where main pointed then, by the "
    "snapshot-log). Tags never answer a time. The engine's own search is walked beside it.",
    "Time: milliseconds since 1970, shown in the chosen zone.",
)
HOW_DIFF = Rule(
    "Added and removed",
    "Files that are live at B and not at A, and the other way round, with the rows they hold.",
    _MANIFESTS,
    "Sets of live files, not sums of commits: a file that came and went in between is in neither. What compaction "
    "alone rewrote is counted apart.",
    f"Files, bytes, rows. {_ROWS}",
)
HOW_DIFF_PARTITIONS = Rule(
    "By partition",
    "The same files, each in the partition and bucket its manifest entry names.",
    _MANIFESTS,
    "Exact sums: the lines add up to the stat line.",
    _BYTES,
)
HOW_ENDED = Rule(
    "Ends",
    "Live files that the newest point of the branch has no more after the commit.",
    "The manifests of that branch's newest snapshot.",
    "None of them is deleted: a point that has them keeps them, until an expiry finds that no point does.",
    _BYTES,
)
HOW_FREED = Rule(
    "Frees",
    "Files that some going point holds and no remaining point of any branch, tag or changelog does.",
    "Every manifest list and manifest that any point names.",
    _HELD,
    _BYTES,
)
HOW_KEPT = Rule(
    "Keeps",
    "Files of every kind that some point that stays holds: what going points hold too, and all others.",
    "The same manifests.",
    "With what is freed it is everything that any point holds before.",
    _BYTES,
)
HOW_TAGS_KEEP = Rule(
    "Kept by tags alone",
    "Of what going points hold: files that no snapshot that stays holds, but a tag does.",
    "The same manifests.",
    _HELD,
    _BYTES,
)
HOW_VERDICTS = Rule(
    "Points that go",
    "Points the change removes, out of all points of the table.",
    _REFERENCES,
    "The first rule that keeps a point decides: newest N, age, consumer, tag, branch. It is named per point below.",
    "Points.",
)
HOW_CURVE = Rule(
    "Every retention",
    "What keeping the newest N snapshots of this branch frees, for every N; tags, branches and changelogs stay.",
    "Every manifest list and manifest that any point names.",
    f"{_HELD} Each N is the same question as a plan with that number, answered for all at once.",
    _BYTES,
)
HOW_HOLDERS = Rule(
    "Who holds the bytes",
    "Files by the exact set of names that hold them; each file is in one line only.",
    "Every manifest list and manifest that any point names.",
    f"{_HELD} A line's bytes are freed only once all of its names are gone. The lines add up to the whole table.",
    _BYTES,
)
HOW_DROPS = Rule(
    "Best tags to drop",
    "For each number of tags, the set whose dropping frees most, everything else staying.",
    "Every manifest list and manifest that any point names.",
    "Dynamic programming over runs, each answer counted again exactly. Iceberg: what the next expiry frees only "
    "without them.",
    _BYTES,
)
HOW_CALENDAR = Rule(
    "Calendar",
    "Files whose last holder goes by a date; what waits for commits, consumers or for ever keeps its files.",
    "Every manifest list and manifest that any point names, the table's options, each tag's own time.",
    f"{_HELD} The last date among a file's holders is its date. A date is “not before”: the writer that commits next "
    "after it deletes.",
    _BYTES,
)
HOW_TAG_COST = Rule(
    "Frees now",
    "Files that nothing but this one tag holds.",
    "Every manifest list and manifest that any point names.",
    "Two tags on one snapshot each free nothing alone, so these figures do not add up.",
    _BYTES,
)
HOW_TAG_LATER = Rule(
    "After the policy",
    "Files that nothing but this tag would hold once every branch's own options have expired what they take now.",
    "The same manifests; the branches' snapshot.* options (Iceberg: history.expire.* and each ref's own).",
    "The expiry as the next writer would run it, then the same question as for what a tag frees now.",
    _BYTES,
)
HOW_AUTO_TAGS = Rule(
    "Automatic tags",
    "Tags that are due now by the table's own tag.* options, and the next ones.",
    "The current schema's options, and the snapshots' commit times and watermarks.",
    "Paimon 2.0's own rule, snapshot by snapshot.",
    "Tags.",
)
