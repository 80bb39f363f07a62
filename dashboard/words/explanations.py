"""How each figure is computed: what it counts, its source, its rule and its unit."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.formatting.language import N_


class Rule(NamedTuple):
    """The rule behind a figure or a column of figures, in words."""

    name: str  # of the figure, as shown on the page
    counts: str
    source: str
    rule: str
    unit: str


RULE_PARTS = (N_("Counts"), N_("Read from"), N_("Rule"), N_("Unit"))

_BYTES = N_("Bytes in decimal units: 1 kB is 1,000 bytes. Hover for the exact figure.")
_ROWS = N_("Rows as stored in files: before keys are merged and deletion vectors applied.")
_MANIFESTS = N_("The manifests of the version's snapshot, tag or branch. No data file is opened.")
_REFERENCES = N_(
    "The files in snapshot/, tag/ and branch/ (Iceberg: the current metadata.json), read again at each refresh."
)
_HELD = N_(
    "Snapscope's intervals: on every branch, a file is held from the first to the last "
    "snapshot or tag that lists it as current."
)

HOW_OVERVIEW_NAMES = Rule(
    N_("Snapshots, tags, branches"),
    N_("Snapshots retained on any branch, and the tags and branches that keep others."),
    _REFERENCES,
    N_("By listing the directories, never from hint files: what is there is counted."),
    N_("Number of snapshots, tags and branches."),
)
HOW_LIVE = Rule(
    N_("Current"),
    N_("Data files that a reader of the latest snapshot of main opens."),
    _MANIFESTS,
    N_(
        "Entries added and not deleted, over the base and delta manifest lists of that snapshot. "
        "≥ where a manifest cannot be read."
    ),
    _BYTES,
)
HOW_ONLY_HISTORY = Rule(
    N_("Held by history only"),
    N_("Files of every kind held only by older snapshots, tags, changelogs and branches."),
    _MANIFESTS,
    N_(
        "Snapscope's intervals: on every branch, a file is held from the first to the last "
        "snapshot or tag that lists it as current. Files held by the latest snapshot of main are "
        "subtracted from all held files."
    ),
    _BYTES,
)
HOW_ROWS = Rule(
    N_("Rows"),
    N_("Rows in the current files of the snapshot."),
    N_("The snapshot's own totalRecordCount (Iceberg: total-records in its summary)."),
    N_("The writer's own count; it is checked against the manifests when a table is read in full."),
    _ROWS,
)
HOW_TIMELINE = Rule(
    N_("Timeline"),
    N_("One mark for each retained snapshot, tag and branch, at its commit time."),
    _REFERENCES,
    N_("The horizontal position is the committer's clock (timeMillis, timestamp-ms); each lane is a branch."),
    N_("Milliseconds since 1970, shown in the chosen zone."),
)
HOW_TREND = Rule(
    N_("Rows, files and bytes per version"),
    N_("What a reader of the version opens."),
    N_(
        "The manifests of the version's snapshot, tag or branch. No data file is opened. Rows "
        "come from the snapshot itself."
    ),
    N_(
        "Current files of each version: entries added and not deleted. A version that cannot be "
        "read in full is left out."
    ),
    N_("Rows, files, bytes. Rows as stored in files: before keys are merged and deletion vectors applied."),
)
HOW_DUE = Rule(
    N_("Expires automatically"),
    N_("Snapshots and tags that the next expiry removes by the table's own options."),
    N_(
        "The branch's snapshot.* options (Iceberg: history.expire.* and each ref's own), and the "
        "tags' own retention times."
    ),
    N_("The engine's expiry (Paimon 2.0, Iceberg 1.11), with ages counted from the moment shown in the sidebar."),
    N_("Snapshots and tags."),
)
HOW_ASOF = Rule(
    N_("Answer"),
    N_("The one snapshot that a reader of that time, id or name sees."),
    _REFERENCES,
    N_(
        "A time: the greatest retained id committed at or before it (Iceberg: where main pointed "
        "then, by the snapshot-log). A tag is never the answer to a time. The engine's own "
        "search is shown beside it."
    ),
    N_("Time: milliseconds since 1970, shown in the chosen zone."),
)
HOW_DIFF = Rule(
    N_("Added and removed"),
    N_("Files that are current in B and not in A, and the other way round, with their rows."),
    _MANIFESTS,
    N_(
        "Compares sets of current files, not sums of commits: a file added and removed in "
        "between is in neither. Files that were only rewritten by compaction are counted "
        "separately."
    ),
    N_("Files, bytes, rows. Rows as stored in files: before keys are merged and deletion vectors applied."),
)
HOW_SCHEMAS = Rule(
    N_("Schema history"),
    N_("Every change of a column between two schemas of the branch, and what readers of rows written before see."),
    N_("The schema files of the branch (Iceberg: the schemas in the current metadata.json)."),
    N_(
        "A column is its field id. Reading a snapshot or tag uses the schema it was committed with; reading a branch "
        "uses the current one, and older files are converted to it. Schemas with the same columns are one version. "
        "How many files are older is known for Paimon, whose files name their schema."
    ),
    N_("Number of changes, snapshots and files."),
)
HOW_DIFF_PARTITIONS = Rule(
    N_("By partition"),
    N_("The same files, each in the partition and bucket of its manifest entry."),
    _MANIFESTS,
    N_("Exact sums: the lines add up to the totals above."),
    _BYTES,
)
HOW_ENDED = Rule(
    N_("No longer current"),
    N_("Current files that the newest snapshot of the branch no longer has after the commit."),
    N_("The manifests of that branch's newest snapshot."),
    N_(
        "The commit deletes none of them: snapshots and tags that have them keep them, until an "
        "expiry finds that none does."
    ),
    _BYTES,
)
HOW_FREED = Rule(
    N_("Reclaims"),
    N_(
        "Files held by a snapshot or tag that is removed, and by no remaining snapshot, tag or changelog of any branch."
    ),
    N_("Every manifest list and manifest of every snapshot, tag and branch."),
    _HELD,
    _BYTES,
)
HOW_KEPT = Rule(
    N_("Keeps"),
    N_("Files of every kind held by a snapshot or tag that is kept, whether or not a removed one holds them too."),
    N_("The same manifests."),
    N_("Together with what is reclaimed, this is everything that was held before."),
    _BYTES,
)
HOW_TAGS_KEEP = Rule(
    N_("Kept only by tags"),
    N_("Of the files held by removed snapshots and tags: those that no kept snapshot holds, but a tag does."),
    N_("The same manifests."),
    _HELD,
    _BYTES,
)
HOW_VERDICTS = Rule(
    N_("Removed snapshots and tags"),
    N_("Snapshots and tags that the change removes, out of all of the table."),
    _REFERENCES,
    N_(
        "The first rule that keeps a snapshot or tag decides: newest N, age, consumer, tag, "
        "branch. The table below names the rule for each."
    ),
    N_("Snapshots and tags."),
)
HOW_CURVE = Rule(
    N_("Reclaimed by retention"),
    N_(
        "What keeping the newest N snapshots of this branch reclaims, for every N; tags, "
        "branches and changelogs are kept."
    ),
    N_("Every manifest list and manifest of every snapshot, tag and branch."),
    N_(
        "Snapscope's intervals: on every branch, a file is held from the first to the last "
        "snapshot or tag that lists it as current. Each N equals a plan with that number; all "
        "are computed at once."
    ),
    _BYTES,
)
HOW_HOLDERS = Rule(
    N_("Storage by holder"),
    N_("Files grouped by the exact set of holders; each file is in one line only."),
    N_("Every manifest list and manifest of every snapshot, tag and branch."),
    N_(
        "Snapscope's intervals: on every branch, a file is held from the first to the last "
        "snapshot or tag that lists it as current. The bytes of a line are reclaimed only when "
        "all of its holders are deleted. The lines add up to the whole table."
    ),
    _BYTES,
)
HOW_DROPS = Rule(
    N_("Tags that reclaim most"),
    N_("For each number of tags, the set whose deletion reclaims most if everything else is kept."),
    N_("Every manifest list and manifest of every snapshot, tag and branch."),
    N_(
        "Dynamic programming over intervals; each answer is then counted exactly. Iceberg: what "
        "the next expiry reclaims only without these tags."
    ),
    _BYTES,
)
HOW_CALENDAR = Rule(
    N_("Calendar"),
    N_(
        "Files whose last holder expires by a date. Files whose holder waits for commits or "
        "consumers, or never expires, are kept."
    ),
    N_(
        "Every manifest list and manifest of every snapshot, tag and branch, the table's "
        "options, and each tag's own retention time."
    ),
    N_(
        "Snapscope's intervals: on every branch, a file is held from the first to the last "
        "snapshot or tag that lists it as current. The latest date among a file's holders is its "
        "date. A date means “not before”: the next writer that commits after it deletes the file."
    ),
    _BYTES,
)
HOW_TAG_COST = Rule(
    N_("Reclaims now"),
    N_("Files that only this tag holds."),
    N_("Every manifest list and manifest of every snapshot, tag and branch."),
    N_("Of two tags on one snapshot, deleting either alone reclaims nothing, so these figures do not add up."),
    _BYTES,
)
HOW_TAG_LATER = Rule(
    N_("After policy expiry"),
    N_("Files that only this tag would hold after every branch's own options have expired what is due now."),
    N_("The same manifests; the branches' snapshot.* options (Iceberg: history.expire.* and each ref's own)."),
    N_("Expires what the next writer would expire, then counts as for what the tag reclaims now."),
    _BYTES,
)
HOW_AUTO_TAGS = Rule(
    N_("Automatic tags"),
    N_("Tags that are due now by the table's tag.* options, and the next ones."),
    N_("The current schema's options, and the snapshots' commit times and watermarks."),
    N_("Paimon 2.0's rule, snapshot by snapshot."),
    N_("Tags."),
)
HOW_MAP = Rule(
    N_("Map"),
    N_("Data files of the version, by partition and bucket."),
    _MANIFESTS,
    N_("Every area is the sum of the bytes in it. The smallest are grouped as others; the table lists each."),
    N_("Bytes in decimal units: 1 kB is 1,000 bytes. Hover for the exact figure."),
)
HOW_LIFE = Rule(
    N_("File history"),
    N_("Snapshots, tags, branches and changelogs that refer to the file, as ranges without gaps."),
    N_("The manifests of every snapshot and tag of every branch."),
    N_(
        "Added: the first commit of the branch in which the file is current; removed: the first "
        "commit after the last such one. The holder that expires last, by the table's own "
        "options and times, decides when the file may be deleted; no date is shown if that "
        "depends on future commits."
    ),
    N_("Snapshots and tags; times are commit times."),
)
HOW_COLUMNS = Rule(
    N_("Columns"),
    N_("Minimum, maximum and null count of each column over the chosen files."),
    N_(
        "Statistics in manifests (Paimon: _VALUE_STATS and _KEY_STATS; Iceberg: lower_bounds, "
        "upper_bounds, null_value_counts)."
    ),
    N_(
        "Decoded with the schema the file was written with, matched by column id. Missing "
        "statistics are shown as missing, never as 0. Texts may be cut at 16 characters, or at "
        "the shorter length set by the table's option."
    ),
    N_("Values in the column's type; rows."),
)
HOW_HEALTH = Rule(
    N_("Health"),
    N_("Data files of the version."),
    N_("The manifests of the version's snapshot, tag or branch. No data file is opened. The version's own options."),
    N_(
        "Small files: those an engine's compaction would rewrite (Paimon: target-file-size times "
        "compaction.small-file-ratio; Iceberg: write.target-file-size-bytes times 0.75). Skew: "
        "the largest bucket compared with the median one. Sorted runs: each level-0 file and "
        "each other level of a bucket. Deleted rows: retractions and deletion vectors (Iceberg: "
        "position deletes), relative to rows in files."
    ),
    N_("Files, bytes, rows."),
)
