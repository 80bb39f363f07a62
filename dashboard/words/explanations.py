"""How each figure is computed: what it counts, what it is read from, by which rule, in which unit."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.formatting.language import N_


class Rule(NamedTuple):
    """The rule behind one figure or a column of them, in words."""

    name: str  # of the figure, as the page shows it
    counts: str
    source: str
    rule: str
    unit: str


RULE_PARTS = (N_("Counts"), N_("Read from"), N_("Rule"), N_("Unit"))

_BYTES = N_("Bytes, shown in decimal units: 1 kB is 1,000 bytes. The exact figure stands on hover.")
_ROWS = N_("Rows as files hold them: before keys are merged and deletion vectors applied.")
_MANIFESTS = N_("The manifests that the point's snapshot, tag or branch names. No data file is opened.")
_REFERENCES = N_(
    "The files in snapshot/, tag/ and branch/ (Iceberg: the current metadata.json), read in this very run."
)
_HELD = N_("Snapscope's runs: a file is held from the first point that names it live to the last, on every branch.")

HOW_OVERVIEW_NAMES = Rule(
    N_("Snapshots, tags, branches"),
    N_("Snapshots that are retained on any branch, and the names that keep others."),
    _REFERENCES,
    N_("By listing, never by hints: what lies there is counted."),
    N_("Numbers of snapshots and names."),
)
HOW_LIVE = Rule(
    N_("Live"),
    N_("Data files that a reader of main's latest snapshot opens."),
    _MANIFESTS,
    N_(
        "Entries added and not deleted, over the base and the delta list of that snapshot. ≥ where a "
        "manifest cannot be read."
    ),
    _BYTES,
)
HOW_ONLY_HISTORY = Rule(
    N_("Only history holds"),
    N_("Files of every kind that nothing but older snapshots, tags, changelogs and branches holds."),
    _MANIFESTS,
    N_(
        "Snapscope's runs: a file is held from the first point that names it live to the last, on every "
        "branch. What main's latest snapshot holds is taken away from what anything holds."
    ),
    _BYTES,
)
HOW_ROWS = Rule(
    N_("Rows"),
    N_("Rows in live files of the snapshot."),
    N_("The snapshot's own totalRecordCount (Iceberg: total-records of its summary)."),
    N_("The writer's own count; it is held against the manifests when a table is read in full."),
    _ROWS,
)
HOW_TIMELINE = Rule(
    N_("Timeline"),
    N_("One mark for each retained snapshot, tag and branch, at the moment of its commit."),
    _REFERENCES,
    N_("Horizontal place is the committer's own clock (timeMillis, timestamp-ms); a lane is a branch."),
    N_("Milliseconds since 1970, shown in the chosen zone."),
)
HOW_TREND = Rule(
    N_("Rows, files, bytes at each point"),
    N_("What a reader of the point would open."),
    N_(
        "The manifests that the point's snapshot, tag or branch names. No data file is opened. Rows come "
        "from the snapshot itself."
    ),
    N_("Live files of each point: entries added and not deleted. A point that cannot be read in full is left out."),
    N_("Rows, files, bytes. Rows as files hold them: before keys are merged and deletion vectors applied."),
)
HOW_DUE = Rule(
    N_("What goes by itself"),
    N_("Points that the next expiry by the table's own options takes."),
    N_("snapshot.* options of the branch (Iceberg: history.expire.* and each ref's own), tags' own times."),
    N_("The engine's expiry (Paimon 2.0, Iceberg 1.11), counted from the moment shown in the sidebar."),
    N_("Points."),
)
HOW_ASOF = Rule(
    N_("The answer"),
    N_("The one snapshot that a reader of that time, id or name sees."),
    _REFERENCES,
    N_(
        "A time: the greatest retained id committed at or before it (Iceberg: where main pointed then, "
        "by the snapshot-log). Tags never answer a time. The engine's own search is walked beside it."
    ),
    N_("Time: milliseconds since 1970, shown in the chosen zone."),
)
HOW_DIFF = Rule(
    N_("Added and removed"),
    N_("Files that are live at B and not at A, and the other way round, with the rows they hold."),
    _MANIFESTS,
    N_(
        "Sets of live files, not sums of commits: a file that came and went in between is in neither. "
        "What compaction alone rewrote is counted apart."
    ),
    N_("Files, bytes, rows. Rows as files hold them: before keys are merged and deletion vectors applied."),
)
HOW_DIFF_PARTITIONS = Rule(
    N_("By partition"),
    N_("The same files, each in the partition and bucket its manifest entry names."),
    _MANIFESTS,
    N_("Exact sums: the lines add up to the stat line."),
    _BYTES,
)
HOW_ENDED = Rule(
    N_("Ends"),
    N_("Live files that the newest point of the branch has no more after the commit."),
    N_("The manifests of that branch's newest snapshot."),
    N_("None of them is deleted: a point that has them keeps them, until an expiry finds that no point does."),
    _BYTES,
)
HOW_FREED = Rule(
    N_("Frees"),
    N_("Files that some going point holds and no remaining point of any branch, tag or changelog does."),
    N_("Every manifest list and manifest that any point names."),
    _HELD,
    _BYTES,
)
HOW_KEPT = Rule(
    N_("Keeps"),
    N_("Files of every kind that some point that stays holds: what going points hold too, and all others."),
    N_("The same manifests."),
    N_("With what is freed it is everything that any point holds before."),
    _BYTES,
)
HOW_TAGS_KEEP = Rule(
    N_("Kept by tags alone"),
    N_("Of what going points hold: files that no snapshot that stays holds, but a tag does."),
    N_("The same manifests."),
    _HELD,
    _BYTES,
)
HOW_VERDICTS = Rule(
    N_("Points that go"),
    N_("Points the change removes, out of all points of the table."),
    _REFERENCES,
    N_("The first rule that keeps a point decides: newest N, age, consumer, tag, branch. It is named per point below."),
    N_("Points."),
)
HOW_CURVE = Rule(
    N_("Every retention"),
    N_("What keeping the newest N snapshots of this branch frees, for every N; tags, branches and changelogs stay."),
    N_("Every manifest list and manifest that any point names."),
    N_(
        "Snapscope's runs: a file is held from the first point that names it live to the last, on every "
        "branch. Each N is the same question as a plan with that number, answered for all at once."
    ),
    _BYTES,
)
HOW_HOLDERS = Rule(
    N_("Who holds the bytes"),
    N_("Files by the exact set of names that hold them; each file is in one line only."),
    N_("Every manifest list and manifest that any point names."),
    N_(
        "Snapscope's runs: a file is held from the first point that names it live to the last, on every "
        "branch. A line's bytes are freed only once all of its names are gone. The lines add up to the "
        "whole table."
    ),
    _BYTES,
)
HOW_DROPS = Rule(
    N_("Best tags to drop"),
    N_("For each number of tags, the set whose dropping frees most, everything else staying."),
    N_("Every manifest list and manifest that any point names."),
    N_(
        "Dynamic programming over runs, each answer counted again exactly. Iceberg: what the next expiry "
        "frees only without them."
    ),
    _BYTES,
)
HOW_CALENDAR = Rule(
    N_("Calendar"),
    N_("Files whose last holder goes by a date; what waits for commits, consumers or for ever keeps its files."),
    N_("Every manifest list and manifest that any point names, the table's options, each tag's own time."),
    N_(
        "Snapscope's runs: a file is held from the first point that names it live to the last, on every "
        "branch. The last date among a file's holders is its date. A date is “not before”: the writer "
        "that commits next after it deletes."
    ),
    _BYTES,
)
HOW_TAG_COST = Rule(
    N_("Frees now"),
    N_("Files that nothing but this one tag holds."),
    N_("Every manifest list and manifest that any point names."),
    N_("Two tags on one snapshot each free nothing alone, so these figures do not add up."),
    _BYTES,
)
HOW_TAG_LATER = Rule(
    N_("After the policy"),
    N_("Files that nothing but this tag would hold once every branch's own options have expired what they take now."),
    N_("The same manifests; the branches' snapshot.* options (Iceberg: history.expire.* and each ref's own)."),
    N_("The expiry as the next writer would run it, then the same question as for what a tag frees now."),
    _BYTES,
)
HOW_AUTO_TAGS = Rule(
    N_("Automatic tags"),
    N_("Tags that are due now by the table's own tag.* options, and the next ones."),
    N_("The current schema's options, and the snapshots' commit times and watermarks."),
    N_("Paimon 2.0's own rule, snapshot by snapshot."),
    N_("Tags."),
)
HOW_MAP = Rule(
    N_("Map"),
    N_("Data files live at the point, by partition and bucket."),
    _MANIFESTS,
    N_("Every area is the sum of the bytes below it. The smallest are taken together as others; the table has each."),
    N_("Bytes, shown in decimal units: 1 kB is 1,000 bytes. The exact figure stands on hover."),
)
HOW_LIFE = Rule(
    N_("A file's life"),
    N_("Snapshots, tags, branches and changelogs that name the file, each stretch without a gap."),
    N_("The manifests of every point of every branch."),
    N_(
        "Born: the first commit of the line that has it live; removed: the first after the last. The "
        "last holder by the table's own options and times decides when it may go; no date is told where "
        "that hangs on commits yet to come."
    ),
    N_("Points; times are of commits."),
)
HOW_COLUMNS = Rule(
    N_("Columns"),
    N_("Least and greatest value and nulls of each column over the files chosen."),
    N_(
        "Statistics in manifests (Paimon: _VALUE_STATS and _KEY_STATS; Iceberg: lower_bounds, "
        "upper_bounds, null_value_counts)."
    ),
    N_(
        "Decoded by the schema a file was written with, matched by column id. What is not written is "
        "told as such, never as 0. Texts may be cut at 16 characters, or where the table's option says, "
        "if shorter."
    ),
    N_("Values as the column has them; rows."),
)
HOW_HEALTH = Rule(
    N_("Health"),
    N_("Data files live at the point."),
    N_(
        "The manifests that the point's snapshot, tag or branch names. No data file is opened. The point's own options."
    ),
    N_(
        "Small: what a compaction of the engine takes (Paimon: target-file-size times "
        "compaction.small-file-ratio; Iceberg: write.target-file-size-bytes times 0.75). Skew: the "
        "largest bucket against the median one. Sorted runs: each file of level 0 and each other level "
        "of a bucket. Deleted rows: retractions and deletion vectors (Iceberg: position deletes), for "
        "each row in files."
    ),
    N_("Files, bytes, rows."),
)
