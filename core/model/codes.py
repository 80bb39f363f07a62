"""Codes and English templates of all verdicts, doubts, warnings and notes. Pure.

Invariant: codes are only ever added. A code never changes its meaning, because it appears in `--json` and programs
decide by it. A template may be reworded, because nothing depends on it (`tests/test_wording.py`).
"""

from __future__ import annotations

from enum import StrEnum

from core.messages import Code


class Fault(StrEnum):
    """What is wrong with something in a table (`Problem`). The phrases themselves are written where it is found."""

    UNREADABLE = "unreadable"
    UNSUPPORTED = "unsupported"  # not damaged: Snapscope does not know what is in it
    UNLISTED = "unlisted"  # a directory, namespace or catalog that could not be listed
    STRAY = "stray"
    HINT = "hint"  # names another id than the actual one, or none; `ids`: the one it names
    GAP = "gap"  # `ids`: the first and the last missing id
    CONTRADICTION = "contradiction"  # two copies of the same information disagree
    ROWS_LOST = "rows-lost"
    CHANGELOG_MISSING = "changelog-missing"
    STATISTICS_MISSING = "statistics-missing"
    CATALOG_OWNED = "catalog-owned"
    VERSION_TIED = "version-tied"
    MOVED = "moved"
    REF_DANGLING = "ref-dangling"
    REF_NUMERIC = "ref-numeric"
    REF_UNLISTABLE = "ref-unlistable"  # with its name the engine cannot list any reference of its kind
    LOG_UNORDERED = "log-unordered"
    LOG_EMPTY = "log-empty"


# verdicts: why a version is kept or expires -------------------------------------------------------------------------

AMONG_NEWEST = Code("among-newest", "among the newest {least} (retain-min)")
AMONG_NEWEST_CHANGELOGS = Code("among-newest-changelogs", "among the newest {least} (changelog retain-min)")
BEYOND_NEWEST = Code("beyond-newest", "not among the newest {most} (retain-max)")
BEYOND_NEWEST_CHANGELOGS = Code("beyond-newest-changelogs", "not among the newest {most} (changelog retain-max)")
MAX_DELETES = Code("max-deletes", "max-deletes {most} was reached")
EXPIRE_LIMIT = Code("expire-limit", "the table expires {most} a run (snapshot.expire.limit)")
CONSUMER = Code("consumer", "consumer {name} still reads from snapshot {id}")
CONSUMER_OF_CHANGELOGS = Code("consumer-of-changelogs", "consumer {name} still reads from {id}")
AGE_UNKNOWN = Code("age-unknown", "the age of snapshot {id} cannot be read")
YOUNG = Code("young", "{whose} committed {at}, not yet old enough")
OLD = Code("old", "{whose} committed before {at}")
ONLY_PREFIX = Code("only-prefix", "only the oldest snapshots can expire, and snapshot {id} is kept: {why}")
NAMED_TO_GO = Code("named-to-go", "named for expiry")
NOT_NAMED = Code("not-named", "not named, and {id} is the newest that expires")
NEWEST_CHANGELOG = Code("newest-changelog", "the newest long-lived changelog is always kept")
CHANGELOG_AGE_UNKNOWN = Code("changelog-age-unknown", "its age cannot be read")
YOUNG_CHANGELOG = Code("young-changelog", "not yet old enough")
OLD_CHANGELOG = Code("old-changelog", "committed before {at}")
RETENTION_ENDED = Code("retention-ended", "its retention ended {ended}; this machine's clock says {now}")
TAG_AGE_UNKNOWN = Code("tag-age-unknown", "it has no creation time, so its age is unknown")
TAG_OLD = Code("tag-old", "created {at} by the writer's clock, older than requested")
BEYOND_AUTOMATIC = Code("beyond-automatic", "not among the newest {retained_max} automatic tags (tag.num-retained-max)")
BEYOND_BATCH = Code(
    "beyond-batch", ("not among the newest {retained_max} tags; batch mode counts all tags (tag.num-retained-max)")
)
REPLACED = Code("replaced", "replaced by {source}")
OF_MAIN = Code("of-main", "it belongs to the main branch")
OF_BRANCH = Code("of-branch", "it belongs to branch {name}")
UNASKED = Code("unasked", "not part of this change")
NAMED_TO_DELETE = Code("named-to-delete", "named for deletion")
NEWER = Code("newer", "newer than snapshot {id}")
NAMES_NEWER = Code("names-newer", "it points to a snapshot {why}")
BRANCH_RENAMED = Code("branch-renamed", "its branch will be {name}")
FORWARDED = Code("forwarded", "replaced by branch {name}, which starts at snapshot {id}")
CONSUMER_CLEARED = Code("consumer-cleared", "it is one of the consumers to clear")

BRANCH_POINTS = Code("branch-points", "branch {name} points to it")
TAG_NAMES = Code("tag-names", "tag {name} points to it")
YOUNG_ON_NO_REF = Code("young-on-no-ref", "on no branch or tag, and not older than {at}")
OLD_ON_NO_REF = Code("old-on-no-ref", "on no branch or tag, and older than {at}")
NAMED_TO_EXPIRE = Code("named-to-expire", "named for expiry")
NAMED_TO_DROP = Code("named-to-drop", "named for deletion")
MAIN_STAYS = Code("main-stays", "main is always kept")
SNAPSHOT_MISSING = Code("snapshot-missing", "its snapshot {id} does not exist")
NO_END = Code("no-end", "it never expires")
REF_OLD = Code("ref-old", "its snapshot is {own} old, older than the ref allows ({age})")
REF_YOUNG = Code("ref-young", "its snapshot is not yet older than the ref allows ({age})")
BEHIND = Code("behind", "behind an expired snapshot of branch {name}")
OLD_ON_BRANCH = Code("old-on-branch", "older than {at}, not among the newest {least} of branch {name}")
YOUNG_ON_BRANCH = Code("young-on-branch", "not older than {at} (branch {name})")
NEWEST_ON_BRANCH = Code("newest-on-branch", "among the newest {least} of branch {name}")
LEFT_BEHIND = Code("left-behind", "on no branch or tag afterwards; kept until an expiry finds it too old")
WILL_NAME = Code("will-name", "it will point to snapshot {id}")
WILL_POINT = Code("will-point", "it will point to snapshot {id}")
WILL_POINT_TO_HEAD = Code("will-point-to-head", "it will point to snapshot {id}, the head of {name}")
WILL_KEEP_OTHERWISE = Code("will-keep-otherwise", "its retention will change")

# rules that a plan follows ------------------------------------------------------------------------------------------

PAIMON_2 = Code("paimon-2", "Paimon 2.x: a snapshot's age is that of its successor; 50 snapshots a run by default")
PAIMON_1 = Code("paimon-1", "Paimon 1.x: a snapshot's age is its own; 50 snapshots a run by default")
PAIMON_0_9 = Code("paimon-0.9", "Paimon 0.9: a snapshot's age is its own; 10 snapshots a run by default")
PAIMON_REFERENCES = Code(
    "paimon-references",
    ("Apache Paimon 2.0: only references change; files that nothing refers to any more become orphans"),
)
PAIMON_COMMIT = Code(
    "paimon-commit",
    "Apache Paimon 2.0: a commit removes files from the current state; an expiry deletes "
    "them once no snapshot or tag holds them",
)
PAIMON_AS_LATEST = Code(
    "paimon-as-latest", "Apache Paimon 2.0: roll back as latest, a new snapshot with an old one's content"
)
ICEBERG = Code("iceberg", "Apache Iceberg 1.11: each ref's own retention; files by reachability")

# doubts: why a file is kept after all -------------------------------------------------------------------------------

HELD_SINCE = Code("held-since", "held by a reference created since")
GONE_ALREADY = Code("gone-already", "was already deleted")
NOT_DELETED = Code("not-deleted", "not deleted: {error}")
NO_PLACE = Code("no-place", "it is not in a place where tables keep files")
MAY_BE_THIS_URL = Code("may-be-this-url", "kept, because a snapshot or tag refers to {path}, which may be this file")
MAY_BE_THIS = Code(
    "may-be-this", "kept, because a snapshot or tag refers to {path}, which {fate}: it may mean this file"
)
DOUBTS = frozenset({MAY_BE_THIS_URL, MAY_BE_THIS})  # a version names a file that is missing and may be this one
UNNAMED_ROOT = Code("unnamed-root", "it is outside the table, under no root that was named")
LINK_OUT = Code("link-out", "a symbolic link leads out of {root}, the root above it")
OWNER_UNKNOWN = Code("owner-unknown", "whether they belong to another table cannot be determined: {error}")
THEIRS = Code("theirs", "they are in another table, {name}")
FILE_SYSTEM_ROOT = Code("file-system-root", "it is the root of a file system")
WHOLE_BUCKET = Code("whole-bucket", "it is a whole bucket")
TABLE_IN_ROOT = Code("table-in-root", "the table itself is in it")
ROOT_IN_TABLE = Code("root-in-table", "it is inside the table, where its files have other names")
OTHER_IN_ROOT = Code("other-in-root", "another table is in it, {name}")
ROOT_IN_OTHER = Code("root-in-other", "it is in another table, {name}")
NEEDED_METADATA = Code("needed-metadata", "it is metadata that the table needs, or has the name of such a file")
MAY_BE_COMMITTED = Code(
    "may-be-committed",
    "unreferenced, but younger than the age limit; a running writer may be about to commit",
)
AGELESS = Code("ageless", "unreferenced, but the store reports no age")
ODD_NAMES = Code("odd-names", "not named like a file of this table")

# warnings and notes of plans -----------------------------------------------------------------------------------------

RETAIN_MIN_LOWERED = Code(
    "retain-min-lowered", "retain-min was lowered from its default {least} to {greatest} to match retain-max."
)
LOST_JOB = Code(
    "lost-job",
    "Snapshot {id} is the newest of job {user}: if that job restarts from an older state, it "
    "cannot see that its last commit succeeded and may commit it twice.",
)
TAG_LOSES_END = Code(
    "tag-loses-end",
    ("Tag {name} would have expired automatically {at}; replaced without a retention (time-retained), it never does."),
)
YOUNG_ORPHANS = Code(
    "young-orphans",
    "Files less than a day old are deleted too: files that a writer has written but not yet "
    "committed look just like orphans.",
)
FOREIGN = Code(
    "foreign",
    "{files} outside the table and its configured paths would be reclaimed too; they are not "
    "this table's to delete, so they are kept and not counted.",
)
LOWER_BOUND = Code(
    "lower-bound",
    "Lower bound: {point} is deleted but could not be read in full, so some of its files are left behind as orphans "
    "({problem})",
)
ENGINE_RUNS = Code("engine-runs", "Paimon itself needs {runs} runs for this (snapshot.expire.limit).")
LATER_RUNS = Code(
    "later-runs",
    "{count} more are left for later runs: the table option snapshot.expire.limit is {most}.",
    "{count} more is left for a later run: the table option snapshot.expire.limit is {most}.",
)
GAP = Code("gap", "Snapshot ids have a gap; Paimon's own expiry would delete other files than this plan.")
CALL_DELETES_CHANGELOGS = Code(
    "call-deletes-changelogs",
    "Paimon's own CALL expire_snapshots would delete the changelogs that this plan keeps: "
    "the procedure ignores the table's changelog options.",
)
COMMITS_PASS_CONSUMERS = Code(
    "commits-pass-consumers",
    "With this table's consumer.changelog-only, Paimon's own commits also expire snapshots that consumers still read; "
    "this plan, like Paimon's CALL expire_snapshots, keeps them.",
)
CHANGELOGS_FREED = Code("changelogs-freed", "The changelogs of the expired snapshots are deleted with them.")
LAST_KEPT = Code("last-kept", "Nothing else keeps snapshot {id} (committed {at}): it cannot be read again afterwards.")
LAST_KEPT_LATER = Code(
    "last-kept-later",
    ("Nothing else keeps snapshot {id} (committed {at}): it cannot be read again once it has expired."),
)
MORE_LAST_KEPT = Code(
    "more-last-kept", "The same is true of {count} more snapshots.", "The same is true of {count} more snapshot."
)
LOSS_UNKNOWN = Code(
    "loss-unknown", ("Some snapshots or tags cannot be read in full, so what is lost cannot be determined exactly.")
)
CONSUMER_WAITS = Code(
    "consumer-waits",
    "Consumer {name} is waiting for snapshot {next_snapshot}: it will read what is committed "
    "under that id again, and miss what comes before. reset-consumer sets it back.",
)
IDS_USED_AGAIN = Code(
    "ids-used-again", ("The deleted ids are used again: whoever remembers a snapshot by its id will find another one.")
)
FORWARD_HIDES = Code(
    "forward-hides",
    "Main keeps its snapshots before {id}. Paimon's own fast-forward hides them behind the "
    "branch's EARLIEST hint, and they never expire.",
)
AS_LATEST = Code(
    "as-latest",
    ("Snapshot {id} will have the content of {point}: {goes} not in it, {comes}. Every snapshot is kept."),
)
AS_LATEST_TAG = Code(
    "as-latest-tag",
    "Tag {name} keeps those files. Paimon's own expiry and tag deletion track only one "
    "lifetime of a file: while that tag exists they delete none of them.",
)
WATERMARK_ELSEWHERE = Code(
    "watermark-elsewhere",
    "The first snapshot at or past that watermark is {id}; Paimon's own rollback_to_watermark {theirs}: it takes the "
    "last one at or before it.",
)
ENGINE_SEARCH = Code("engine-search", "{said}")
NO_FILE_DELETED = Code(
    "no-file-deleted", "No file is deleted from disk now: an expiry deletes it once no snapshot or tag holds it."
)
STILL_HELD = Code("still-held", "Still in these snapshots and tags: {points}{more}.")
SAME_ROWS = Code("same-rows", "The same rows will be in files of about {target} (target-file-size).")
NO_TAG_HAS_ALL = Code(
    "no-tag-has-all", "No tag has all of them: snapshot {id} has, until it expires (create-tag keeps it)."
)
FILES_STAY = Code("files-stay", "{count} files are kept: {why}.", "{count} file is kept: {why}.")
PARTITIONS_STAY = Code(
    "partitions-stay",
    "{count} partition directories that no snapshot or tag refers to are kept: {named}.",
    "{count} partition directory that no snapshot or tag refers to is kept: {named}.",
)
NAME_PARTITIONS = Code("name-partitions", "Name a partition directory with --also to clean it too.")
TABLES_STAY = Code(
    "tables-stay",
    "{count} directories of other tables are kept: {named}.",
    "{count} directory of another table is kept: {named}.",
)
OTHERS_STAY = Code(
    "others-stay",
    "{count} directories that do not belong to this table are kept: {named}.",
    "{count} directory that does not belong to this table is kept: {named}.",
)
NOT_SEARCHED = Code("not-searched", "Directories outside the table's own were not searched: {places}.")
NOT_AS_MADE = Code(
    "not-as-made", "{path} is not what this run was to make of it: another program has changed it, before or after."
)
REST_LEFT = Code("rest-left", "The rest of this run could not be done, and it can no longer be undone: {why}")
NO_TEXT_STAYS = Code(
    "no-text-stays",
    "{count} files whose names are not valid UTF-8, or that requests cannot name exactly, are kept: {named}. If no "
    "program needs them, delete them yourself.",
    "{count} file whose name is not valid UTF-8, or that requests cannot name exactly, is kept: {named}. If no program "
    "needs it, delete it yourself.",
)
DOUBTFUL = Code("doubtful", "Not in this plan, {files}: {why}.")
VERSIONS_BILLED = Code(
    "versions-billed", "If this store keeps versions of deleted objects, they are billed until those versions expire."
)
VERSIONS_KEPT = Code(
    "versions-kept",
    "This bucket keeps versions of deleted objects: {size} stay billed until a lifecycle rule for noncurrent versions "
    "deletes them.",
)
NOT_RUN_HERE = Code("not-run-here", "{why} The plan can be shown here but not run: use the table's own engine.")
ROOT_STAYS = Code("root-stays", "{files} are kept and not counted: {why}.")
WHOLE_FILE_SYSTEM = Code("whole-file-system", "{root} is a whole file system: everything on it is under this root.")
SEARCH_ENDED = Code("search-ended", "Not all of {root} was searched for other tables.")
ROOT_UNSEEN = Code("root-unseen", "Whether other tables are under {root} cannot be determined: {error}")
NEVER_CAME = Code(
    "never-came",
    "{create_time} and {create_interval} were proposed but never released: no engine reads them. Use instead: {said}.",
)
NO_IDLE_SNAPSHOT = Code(
    "no-idle-snapshot",
    ("snapshot.watermark-idle-timeout: Snapscope commits no empty snapshot to advance the watermark."),
)
MORE_THAN_A_TAG = Code(
    "more-than-a-tag",
    ("The table option {key} = {options} makes the engine do more than create a tag; Snapscope does not do that."),
)
BRANCH_TAGS = Code(
    "branch-tags",
    ("Paimon up to 2.0 writes a branch's automatic tags among main's; Snapscope writes them to the branch."),
)
TAG_STAYS = Code("tag-stays", "Tag {name} is kept: {why}.")
NO_TAG_DUE = Code("no-tag-due", "No tag is due.")
NO_TAG_ENDED = Code("no-tag-ended", "No tag's retention has ended.")

FEWER_FILES = Code(
    "fewer-files",
    "The manifests list fewer files than the snapshot's own summary counts: {what}.",
)
OLD_METADATA = Code("old-metadata", "This commit deletes {files} by the table's own rule ({rule}): {named}.")
OLD_METADATA_STAYS = Code(
    "old-metadata-stays",
    "{files} outside the table's directory are kept, although the table's own rule would "
    "delete them with this commit: {named}.",
)
JAVA_LATER = Code(
    "java-later",
    "Of these, plain Java (expireSnapshots().commit()) deletes {files} only later: on an "
    "unbroken line it deletes a data file when the snapshot that removed it expires, and "
    "that snapshot is kept.",
)
JAVA_NEVER = Code(
    "java-never",
    "Of these, plain Java (expireSnapshots().commit()) never deletes {files}: on an unbroken "
    "line it skips snapshots that were cherry-picked or picked from, and forgets them.",
)
NOTHING_ELSE_HOLDS = Code("nothing-else-holds", "{left}: only they hold {files} ({size}).")
EXPIRY_OFF = Code("expiry-off", "{what} reclaims nothing, now or later: gc.enabled = false turns expiry off.")
FREED_NEXT = Code(
    "freed-next",
    ("{what} reclaims 0 files now; the next expiry by the table's own rules reclaims {files} ({size}) {more}."),
)
POLICY_TOO = Code(
    "policy-too",
    ("Iceberg expires by its policy in addition to the snapshots that were named; this plan contains both."),
)
LOG_EMPTY = Code("log-empty", "The snapshot-log is empty: Java's own expiry of this table fails.")
LOG_TRIMMED = Code(
    "log-trimmed",
    "The snapshot-log loses {entries} of {all}: time travel then {reach}; older "
    "snapshots that are kept can be read by id and tag only.",
)
ROLLBACK_ELSEWHERE = Code(
    "rollback-elsewhere",
    "Main pointed to {id} then; Iceberg's own rollback_to_timestamp {whither}, because it "
    "takes the newest ancestor committed before the time.",
)
SCHEMA_STAYS = Code("schema-stays", "The table keeps schema {now}; the snapshot was written with schema {then}.")
CATALOG_OWNED = Code(
    "catalog-owned",
    ("This table belongs to a catalog, which alone knows its current metadata; this is the newest metadata file."),
)

# engine differences, and the next commit ----------------------------------------------------------------------------

ENGINE_FAILS = Code("engine-fails", "Paimon itself would fail: {why}.")
ENGINE_BREAKS = Code("engine-breaks", "Paimon itself would break {point}: it deletes {files} that it still needs.")
ENGINE_STRANDS = Code("engine-strands", "Paimon itself would leave behind {files} that nothing holds afterwards.")
JAVA_BREAKS = Code(
    "java-breaks",
    "Plain Java (expireSnapshots().commit(), Iceberg 1.11) would delete {files} that "
    "{points}, such as {first}: it deletes a whole Puffin file with the first of its vectors "
    "that was removed.",
)
EARLIEST_HIDES = Code(
    "earliest-hides",
    "snapshot/EARLIEST points to snapshot {id}, so Paimon does not see the snapshots before it and never expires them.",
)
TAG_IT = Code("tag-it", "Tag snapshot {id} to keep it.")
RETAIN_MORE = Code(
    "retain-more",
    "The table option {option} keeps all of them for one more commit; write-only = true keeps writers from expiring "
    "anything.",
)
RETAIN_CHANGELOGS = Code("retain-changelogs", "The table option {option} keeps its changelogs for one more commit.")
KEEP_ENDED_TAGS = Code(
    "keep-ended-tags", "The table option tag.time-expire-enabled = false keeps tags whose retention has ended."
)
TAGS_MEND = Code("tags-mend", "With {tags}, {points} would remain complete.")

# why a plan is grave -------------------------------------------------------------------------------------------------

OUTSIDE_GOES = Code("outside-goes", "it deletes {it} outside the table's directory")
TAGS_GO = Code(
    "tags-go",
    "it deletes {count} tags that someone created on purpose",
    "it deletes {count} tag that someone created on purpose",
)
BRANCHES_GO = Code(
    "branches-go",
    "it deletes {count} branches that someone created on purpose",
    "it deletes {count} branch that someone created on purpose",
)
UNHELD = Code("unheld", "nothing will hold {count} files any more", "nothing will hold {count} file any more")
HALF_GOES = Code("half-goes", "it deletes half of the table's bytes or more")
WARNED = Code("warned", "{count} warnings", "{count} warning")

# deviations from the plan -------------------------------------------------------------------------------------------

SOME_KEPT = Code("some-kept", "Some files were {why}.")
FILE_NOT_DELETED = Code("file-not-deleted", "{path} was not deleted: {error}")
AFTER_SWEEP = Code("after-sweep", "After the deletion: {problem}")
POINTS_UNREAD = Code("points-unread", "{points} cannot be read in full: {problem}")
POINT_LACKS = Code("point-lacks", "{point} is missing {files} that were deleted, such as {first}.")
