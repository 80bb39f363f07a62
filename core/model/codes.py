"""All that verdicts, doubts, warnings and notes say: a code for programs, a template for people. Pure.

Law: codes are only ever added. A code keeps its meaning for ever, for it stands in `--json` and decides; a template may
be worded otherwise, for nothing depends on it (`tests/test_wording.py`).
"""

from __future__ import annotations

from enum import StrEnum

from core.messages import Code


class Fault(StrEnum):
    """What is wrong with something in a table (`Problem`), whose phrases are made where it is found."""

    UNREADABLE = "unreadable"
    UNLISTED = "unlisted"  # a directory, namespace or catalog that did not answer
    STRAY = "stray"
    HINT = "hint"  # says another id than is there, or none; `ids`: the one it says
    GAP = "gap"  # `ids`: the first and the last that are missing
    CONTRADICTION = "contradiction"  # what is written twice does not agree
    ROWS_LOST = "rows-lost"
    CHANGELOG_MISSING = "changelog-missing"
    STATISTICS_MISSING = "statistics-missing"
    CATALOG_OWNED = "catalog-owned"
    VERSION_TIED = "version-tied"
    MOVED = "moved"
    REF_DANGLING = "ref-dangling"
    REF_NUMERIC = "ref-numeric"
    LOG_UNORDERED = "log-unordered"
    LOG_EMPTY = "log-empty"


# verdicts: why a point stays or goes ---------------------------------------------------------------------------------

AMONG_NEWEST = Code("among-newest", "among the newest {least} (retain-min)")
AMONG_NEWEST_CHANGELOGS = Code("among-newest-changelogs", "among the newest {least} (changelog retain-min)")
BEYOND_NEWEST = Code("beyond-newest", "not among the newest {most} (retain-max)")
BEYOND_NEWEST_CHANGELOGS = Code("beyond-newest-changelogs", "not among the newest {most} (changelog retain-max)")
MAX_DELETES = Code("max-deletes", "max-deletes {most} was reached")
CONSUMER = Code("consumer", "consumer {name} reads on from snapshot {id}")
CONSUMER_OF_CHANGELOGS = Code("consumer-of-changelogs", "consumer {name} reads on from {id}")
AGE_UNKNOWN = Code("age-unknown", "the age of snapshot {id} cannot be read")
YOUNG = Code("young", "{whose} committed {at}, too young (age protects)")
OLD = Code("old", "{whose} committed before {at}")
ONLY_PREFIX = Code("only-prefix", "only a prefix may go, and snapshot {id} stays: {why}")
NAMED_TO_GO = Code("named-to-go", "named to go")
NOT_NAMED = Code("not-named", "not named, and {id} is the newest that goes")
NEWEST_CHANGELOG = Code("newest-changelog", "the newest long-lived changelog always stays")
CHANGELOG_AGE_UNKNOWN = Code("changelog-age-unknown", "its age cannot be read")
YOUNG_CHANGELOG = Code("young-changelog", "too young (age protects)")
OLD_CHANGELOG = Code("old-changelog", "committed before {at}")
RETENTION_ENDED = Code("retention-ended", "its retention ended {ended}; this machine's wall clock says {now}")
TAG_AGE_UNKNOWN = Code("tag-age-unknown", "it tells no creation time, so nobody knows its age")
TAG_OLD = Code("tag-old", "created {at} by the writer's wall clock, older than asked")
BEYOND_AUTOMATIC = Code("beyond-automatic", "not among the newest {retained_max} automatic tags (tag.num-retained-max)")
BEYOND_BATCH = Code(
    "beyond-batch", "not among the newest {retained_max} tags, which batch mode counts all (tag.num-retained-max)"
)
REPLACED = Code("replaced", "replaced by {source}")
OF_MAIN = Code("of-main", "it belongs to the main branch")
OF_BRANCH = Code("of-branch", "it belongs to branch {name}")
UNASKED = Code("unasked", "nothing here asks for it to go")
NAMED_TO_DELETE = Code("named-to-delete", "named to be deleted")
NEWER = Code("newer", "newer than snapshot {id}")
NAMES_NEWER = Code("names-newer", "it names a snapshot {why}")
BRANCH_RENAMED = Code("branch-renamed", "its branch will be {name}")
FORWARDED = Code("forwarded", "replaced by branch {name}, which begins at snapshot {id}")
CONSUMER_CLEARED = Code("consumer-cleared", "its name is among those to be cleared")

BRANCH_POINTS = Code("branch-points", "branch {name} points to it")
TAG_NAMES = Code("tag-names", "tag {name} names it")
YOUNG_ON_NO_REF = Code("young-on-no-ref", "on no ref, and not older than {at}")
OLD_ON_NO_REF = Code("old-on-no-ref", "on no ref, and older than {at}")
NAMED_TO_EXPIRE = Code("named-to-expire", "named to expire")
NAMED_TO_DROP = Code("named-to-drop", "named to be dropped")
MAIN_STAYS = Code("main-stays", "main always stays")
SNAPSHOT_MISSING = Code("snapshot-missing", "its snapshot {id} is not there")
NO_END = Code("no-end", "it has no end")
REF_OLD = Code("ref-old", "its snapshot is {own} old, past the ref's {age}")
REF_YOUNG = Code("ref-young", "its snapshot is not yet older than the ref's {age}")
BEHIND = Code("behind", "behind a snapshot of branch {name} that goes")
OLD_ON_BRANCH = Code("old-on-branch", "older than {at}, not among the newest {least} of branch {name}")
YOUNG_ON_BRANCH = Code("young-on-branch", "not older than {at} (branch {name})")
NEWEST_ON_BRANCH = Code("newest-on-branch", "among the newest {least} of branch {name}")
LEFT_BEHIND = Code("left-behind", "on no ref then: until an expiry finds it too old")
WILL_NAME = Code("will-name", "it will name snapshot {id}")
WILL_POINT = Code("will-point", "it will point to snapshot {id}")
WILL_POINT_TO_HEAD = Code("will-point-to-head", "it will point to snapshot {id}, the head of {name}")
WILL_KEEP_OTHERWISE = Code("will-keep-otherwise", "it will keep otherwise")

# rules a plan goes by ------------------------------------------------------------------------------------------------

PAIMON_2 = Code("paimon-2", "Paimon 2.x: a snapshot's age is that of its successor; 50 snapshots a run")
PAIMON_1 = Code("paimon-1", "Paimon 1.x: a snapshot's age is its own; 50 snapshots a run")
PAIMON_0_9 = Code("paimon-0.9", "Paimon 0.9: a snapshot's age is its own; 10 snapshots a run")
PAIMON_REFERENCES = Code(
    "paimon-references",
    "Apache Paimon 2.1: references alone; what nothing names any more is left to be found as orphans",
)
PAIMON_COMMIT = Code(
    "paimon-commit",
    "Apache Paimon 2.0: a commit ends files, and an expiry deletes them once no point holds them",
)
PAIMON_AS_LATEST = Code(
    "paimon-as-latest", "Apache Paimon 2.0: rollback as latest, a new snapshot with an old one's content"
)
ICEBERG = Code("iceberg", "Apache Iceberg 1.11: each ref's own retention, files by reachability")

# doubts: why a file stays after all ----------------------------------------------------------------------------------

HELD_SINCE = Code("held-since", "held by a reference made since")
GONE_ALREADY = Code("gone-already", "was gone already")
NOT_DELETED = Code("not-deleted", "not deleted: {error}")
NO_PLACE = Code("no-place", "it lies where no table keeps its files")
MAY_BE_THIS_URL = Code("may-be-this-url", "kept, because a point names {path}, which may be this file")
MAY_BE_THIS = Code("may-be-this", "kept, because a point names {path}, which {fate}: it may mean this file")
DOUBTS = frozenset({MAY_BE_THIS_URL, MAY_BE_THIS})  # what a point names is not there, and may be this file
UNNAMED_ROOT = Code("unnamed-root", "it lies outside the table, under no root that was named")
LINK_OUT = Code("link-out", "a symbolic link leads out of {root}, under which it lies")
OWNER_UNKNOWN = Code("owner-unknown", "nobody could look whether they lie in another table: {error}")
THEIRS = Code("theirs", "they lie in another table, {name}")
FILE_SYSTEM_ROOT = Code("file-system-root", "it is the root of a file system")
WHOLE_BUCKET = Code("whole-bucket", "it is a whole bucket")
TABLE_IN_ROOT = Code("table-in-root", "the table itself lies in it")
ROOT_IN_TABLE = Code("root-in-table", "it lies in the table, whose files have other names there")
OTHER_IN_ROOT = Code("other-in-root", "another table lies in it, {name}")
ROOT_IN_OTHER = Code("root-in-other", "it lies in another table, {name}")
NEEDED_METADATA = Code("needed-metadata", "it is metadata that the table needs, or is named like it")
MAY_BE_COMMITTED = Code(
    "may-be-committed",
    "named by nothing yet, but younger than the guard: a running writer may be about to commit them",
)
AGELESS = Code("ageless", "named by nothing, but the store tells no age for them")
ODD_NAMES = Code("odd-names", "not named like a table's files")

# warnings and notes of plans -----------------------------------------------------------------------------------------

RETAIN_MIN_LOWERED = Code(
    "retain-min-lowered",
    "retain-min was lowered from the default {least} to {greatest}, because retain-max asks for it.",
)
LOST_JOB = Code(
    "lost-job",
    "Snapshot {id} is the newest of job {user}: restarted from an older state, that job cannot see that its last "
    "commit landed and may commit it twice.",
)
TAG_LOSES_END = Code(
    "tag-loses-end",
    "Tag {name} would have ended by itself {at}; replaced without a retention (time-retained), it never does.",
)
YOUNG_ORPHANS = Code(
    "young-orphans",
    "Files less than a day old are taken, too: what a writer has written and not yet committed looks just like an "
    "orphan.",
)
FOREIGN = Code(
    "foreign",
    "{files} outside the table and its configured paths would be freed too; they are not ours to delete, stay, and "
    "are not counted.",
)
LOWER_BOUND = Code(
    "lower-bound",
    "Lower bound: {point} goes but could not be read in full, so some of its files stay behind as orphans ({problem})",
)
ENGINE_RUNS = Code("engine-runs", "Paimon itself would need {runs} runs for this (snapshot.expire.limit).")
GAP = Code("gap", "Snapshot ids have a gap; Paimon's own expiry would free other files than these here.")
CALL_DELETES_CHANGELOGS = Code(
    "call-deletes-changelogs",
    "Paimon's own CALL expire_snapshots would delete the changelogs that this plan leaves behind: the procedure does "
    "not heed the table's changelog options.",
)
CHANGELOGS_FREED = Code("changelogs-freed", "The changelogs of the snapshots that go are freed with them.")
LAST_KEPT = Code("last-kept", "Nothing else keeps snapshot {id} (committed {at}): afterwards it cannot be read again.")
LAST_KEPT_LATER = Code(
    "last-kept-later",
    "Nothing else keeps snapshot {id} (committed {at}): once an expiry has taken it, it cannot be read again.",
)
MORE_LAST_KEPT = Code("more-last-kept", "So it is with {count} more snapshots.", "So it is with {count} more snapshot.")
LOSS_UNKNOWN = Code("loss-unknown", "Not every point can be read in full, so what is lost is not exactly known.")
CONSUMER_WAITS = Code(
    "consumer-waits",
    "Consumer {name} waits for snapshot {next_snapshot}: it will read what is committed under that id anew, and miss "
    "what comes before. reset-consumer sets it back.",
)
IDS_USED_AGAIN = Code(
    "ids-used-again", "Ids that go are used again: who remembers one by its number will find another snapshot."
)
FORWARD_HIDES = Code(
    "forward-hides",
    "Main keeps its snapshots before {id}. Paimon's own fast-forward hides them behind the branch's EARLIEST, and they "
    "are never expired.",
)
AS_LATEST = Code(
    "as-latest",
    "Snapshot {id} will have the content of {point}: {goes} not in it, {comes}. Every snapshot stays.",
)
AS_LATEST_TAG = Code(
    "as-latest-tag",
    "Tag {name} keeps those files. Paimon's own expiry and tag deletion know of one life of a file only: while that "
    "tag is there they take none of them.",
)
WATERMARK_ELSEWHERE = Code(
    "watermark-elsewhere",
    "The first snapshot at or past that watermark is {id}; Paimon's own rollback_to_watermark {theirs}: it takes the "
    "last one at or before it.",
)
ENGINE_SEARCH = Code("engine-search", "{said}")
NO_FILE_DELETED = Code(
    "no-file-deleted", "No file is deleted from the disk: that is an expiry's, once no point holds it any more."
)
STILL_HELD = Code("still-held", "Points that still have them: {points}{more}.")
SAME_ROWS = Code("same-rows", "The same rows will stand in files of about {target} (target-file-size).")
NO_TAG_HAS_ALL = Code(
    "no-tag-has-all", "No tag has all of them: snapshot {id} does, until it expires (create-tag keeps it)."
)
FILES_STAY = Code("files-stay", "{count} files stay: {why}.", "{count} file stays: {why}.")
PARTITIONS_STAY = Code(
    "partitions-stay",
    "{count} partition directories that no snapshot or tag mentions stay: {named}.",
    "{count} partition directory that no snapshot or tag mentions stays: {named}.",
)
NAME_PARTITIONS = Code("name-partitions", "Name a partition directory with --also to clean it, too.")
TABLES_STAY = Code(
    "tables-stay",
    "{count} directories of other tables stay: {named}.",
    "{count} directory of another table stays: {named}.",
)
OTHERS_STAY = Code(
    "others-stay",
    "{count} directories that are none of this table's stay: {named}.",
    "{count} directory that is none of this table's stays: {named}.",
)
DOUBTFUL = Code("doubtful", "Not in this plan, {files}: {why}.")
VERSIONS_BILLED = Code(
    "versions-billed", "If this store keeps versions of deleted objects, they are billed until those versions expire."
)
NOT_RUN_HERE = Code("not-run-here", "{why} So the plan can be shown, and not be run here: use the table's own engine.")
ROOT_STAYS = Code("root-stays", "{files} stay and are not counted: {why}.")
WHOLE_FILE_SYSTEM = Code("whole-file-system", "{root} is a whole file system: all that it holds lies under this root.")
SEARCH_ENDED = Code("search-ended", "Not all of {root} was searched for other tables.")
ROOT_UNSEEN = Code("root-unseen", "Nobody could look whether other tables lie under {root}: {error}")
NEVER_CAME = Code(
    "never-came",
    "{create_time} and {create_interval} never came: no engine heeds them. Today's options: {said}.",
)
NO_IDLE_SNAPSHOT = Code(
    "no-idle-snapshot",
    "snapshot.watermark-idle-timeout: no empty snapshot is committed here to move the watermark on.",
)
MORE_THAN_A_TAG = Code(
    "more-than-a-tag",
    "The table option {key} = {options} makes the engine do more than a tag; that is not done here.",
)
BRANCH_TAGS = Code(
    "branch-tags",
    "Paimon up to 2.0 writes a branch's automatic tags among main's; here they are the branch's own.",
)
TAG_STAYS = Code("tag-stays", "Tag {name} stays: {why}.")
NO_TAG_DUE = Code("no-tag-due", "No tag is due.")
NO_TAG_ENDED = Code("no-tag-ended", "No tag's time is over.")

FEWER_FILES = Code(
    "fewer-files",
    "Manifests name fewer data files than the snapshot's own summary counts (total-data-files): {what}.",
)
OLD_METADATA = Code("old-metadata", "This commit deletes {files} by the table's own rule ({rule}): {named}.")
OLD_METADATA_STAYS = Code(
    "old-metadata-stays",
    "{files} outside the table's directory stay, which the table's own rule would delete with this commit: {named}.",
)
JAVA_LATER = Code(
    "java-later",
    "Of these, plain Java (expireSnapshots().commit()) frees {files} only later: on an unbroken line it deletes a data "
    "file when the snapshot that removed it expires, and that one stays.",
)
JAVA_NEVER = Code(
    "java-never",
    "Of these, plain Java (expireSnapshots().commit()) never frees {files}: on an unbroken line it passes over "
    "snapshots that were cherry-picked or picked from, and forgets them.",
)
NOTHING_ELSE_HOLDS = Code("nothing-else-holds", "{left}: nothing else holds {files} ({size}) of theirs.")
EXPIRY_OFF = Code("expiry-off", "{what} frees nothing now, nor later: gc.enabled = false switches expiry off.")
FREED_NEXT = Code(
    "freed-next",
    "{what} frees 0 files now; the next expiry by the table's own rules frees {files} ({size}) {more}.",
)
POLICY_TOO = Code(
    "policy-too",
    "Iceberg expires by the policy beside the snapshots that were named; both are in this plan.",
)
LOG_EMPTY = Code("log-empty", "The snapshot-log is empty: Java's own expiry of this table fails.")
LOG_TRIMMED = Code(
    "log-trimmed",
    "{entries} of {all} leave the snapshot-log: time travel then {reach}; older snapshots that stay are reached by id "
    "and tag only.",
)
ROLLBACK_ELSEWHERE = Code(
    "rollback-elsewhere",
    "Main pointed to {id} then; Iceberg's own rollback_to_timestamp {whither}: it takes the newest ancestor committed "
    "before the time.",
)
SCHEMA_STAYS = Code("schema-stays", "The table's schema stays {now}; the snapshot was written with schema {then}.")
CATALOG_OWNED = Code(
    "catalog-owned",
    "A catalog owns this table and alone knows its current metadata; this is the newest file there is.",
)

# what an engine does otherwise, and the next commit ------------------------------------------------------------------

ENGINE_FAILS = Code("engine-fails", "Paimon itself would fail: {why}.")
ENGINE_BREAKS = Code("engine-breaks", "Paimon itself would break {point}: it deletes {files} still held there.")
ENGINE_STRANDS = Code("engine-strands", "Paimon itself would strand {files} that nothing holds afterwards.")
JAVA_BREAKS = Code(
    "java-breaks",
    "Plain Java (expireSnapshots().commit(), Iceberg 1.11) would delete {files} that {points}, such as {first}: it "
    "takes a whole Puffin file with the first of its vectors that was removed.",
)
EARLIEST_HIDES = Code(
    "earliest-hides",
    "snapshot/EARLIEST names {id}, so Paimon does not see the snapshots before it and never expires them.",
)
TAG_IT = Code("tag-it", "Tag snapshot {id} to keep it.")
RETAIN_MORE = Code(
    "retain-more",
    "The table option {option} keeps all of them for one more commit; write-only = true keeps writers from expiring "
    "anything.",
)
RETAIN_CHANGELOGS = Code("retain-changelogs", "The table option {option} keeps its changelogs for one more commit.")
KEEP_ENDED_TAGS = Code(
    "keep-ended-tags", "The table option tag.time-expire-enabled = false keeps tags whose time has passed."
)
TAGS_MEND = Code("tags-mend", "{points} would stay whole with {tags}.")

# why a plan is grave -------------------------------------------------------------------------------------------------

OUTSIDE_GOES = Code("outside-goes", "outside the table's directory {it} go")
TAGS_GO = Code("tags-go", "{count} tags go: somebody named them", "{count} tag goes: somebody named it")
BRANCHES_GO = Code("branches-go", "{count} branches go: somebody named them", "{count} branch goes: somebody named it")
UNHELD = Code("unheld", "{count} files will be held by nothing", "{count} file will be held by nothing")
HALF_GOES = Code("half-goes", "half of the table's bytes or more go")
WARNED = Code("warned", "{count} warnings", "{count} warning")

# what did not go as planned ------------------------------------------------------------------------------------------

SOME_KEPT = Code("some-kept", "Some files were {why}.")
FILE_NOT_DELETED = Code("file-not-deleted", "{path} was not deleted: {error}")
AFTER_SWEEP = Code("after-sweep", "After the sweep: {problem}")
POINTS_UNREAD = Code("points-unread", "{points} cannot be read in full: {problem}")
POINT_LACKS = Code("point-lacks", "{point} lacks {files} that went, such as {first}.")
