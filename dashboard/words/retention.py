"""Retention: what may go, the plan, and carrying it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.formatting import units

RETENTION_TEACH = (
    "Describe what may go. Nothing changes here: first you see exactly which files that frees and why the rest stays."
)
MODE_EXPIRE = "Expire snapshots"
MODE_TAGS = "Delete tags"
MODE_CHANGELOGS = "Expire changelogs"
KEEP_MAX = "Keep at most"
KEEP_MAX_HELP = "Newest snapshots to keep at most (retain-max). Older ones go even if they are young."
KEEP_MIN = "Keep at least"
KEEP_MIN_HELP = "Newest snapshots to keep in any case (retain-min)."
KEEP_LAST_HELP = "Newest snapshots of each branch to keep in any case (retain-last); a branch's own number wins."
REFS_TOO = "Refs to drop too"
REFS_HINT = "Choose tags and branches"
CUTOFF_HELP = (
    "A length such as `7 d` or `36 h`, or a time. Blank: the table's own age, five days where it sets none. "
    "A branch's own age wins."
)


def own_age(age: str) -> str:
    return f"the table's own: {age}"


OLDER_THAN = "Only older than"
OLDER_THAN_HELP = (
    "A length such as `7 d` or `36 h`, or a time. Snapshots younger than that stay, unless there are more than "
    "the most to keep."
)
OLDER_THAN_HINT = "7d, 36 h, 2026-11-01"
MAX_DELETES = "Most at once"
MAX_DELETES_HELP = "Blank: to the end. The engine itself stops after snapshot.expire.limit (50) per run."
DROP_TOO = "Tags to drop too"
TAGS_OLDER = "Tags made before"
TAGS_OLDER_HELP = (
    "A length such as `90 d` or a time: tags created before go in the same plan. A tag keeps its time of creation only "
    "where it was made with a retention; one without stays, and says so."
)
TAGS_ENDED = "Tags past their time"
TAGS_ENDED_HELP = "Also tags whose own retention has ended, by the wall clock of the machine Snapscope runs on."
CHANGELOG_AGE = "Long-lived changelogs go by a length of time, not before a moment."
CHANGELOG_AGE_NEXT = "Write a whole number and a unit: 7 d, 36 h."
UNSET = "not set"
TAGS_TO_DELETE = "Tags to delete"
BRANCH = "Branch"
PREVIEW_EMPTY_EXPIRE = "Set at least one rule above to see what it would free."
PREVIEW_EMPTY_TAGS = "Choose one or more tags above to see what deleting them would free."
TAGS_KEEP_NOTHING = "The table's own rules keep what its tags name anyway, or keep all, so dropping tags frees nothing."
NO_TAGS_TO_DELETE = "This table has no tags, so there is none to delete."
MODE = "What may go"
OLDER_THAN_NEXT = (
    "Write a whole number and a unit (7 d, 36 h, 90 min), or a time such as 2026-11-01 or 2026-11-01T08:00."
)
TAGS_TO_DELETE_HINT = "Choose tags"
KEEPS_BELOW = "held by points that stay"
TAGS_KEEP = "Kept by tags alone"
TAGS_KEEP_BELOW = "of what going points held"
GO = "Points that go"
HOW = "How computed"
STEPS = "Steps"
STEP_HEADS = ("#", "Step")
PLANNED_AT = "Counted from"
PART_FREED = "Would be freed"
PART_TAGS = "Goes from history, kept by tags alone"
PART_STAYS = "Stays"
KIND_HEADS = ("Kind", "Files", "Bytes")
KEPT_BACK_HEADS = ("File", "Why it stayed")
ENDS = "Ends"
FREES = "Frees"
KEEPS = "Keeps"
VERDICTS = "Verdict per point"
FREED_FILES = "Files that would go"
COMMAND = "The same on the command line"
NOTHING_FREED = "This frees nothing. The reasons per point below say which rule kept everything."
GOES = "✕ goes"
STAYS = "✓ stays"
CARRY_OUT = "Carry out"
WHY_NOT_HERE = (
    "This server was started for reading, so the plan is shown and not carried out. Run the command below, or start "
    "the dashboard with `snapscope serve WAREHOUSE --write`."
)
SWITCHED_OFF = "Changes are switched off: “Allow changes” in the first line of the page lets this plan be carried out."
FINGERPRINT = "Plan"
FINGERPRINT_HELP = (
    "The plan is bound to the content of every snapshot, tag, branch and consumer file it was made from. "
    "If a point that goes has changed when it runs, it stops."
)
RULES = "Rules"


def of_points(total: int) -> str:
    return f"of {units.plural(total, 'point')}"


def ended_files(number: int) -> str:
    return f"Files that end ({units.count(number)})"


def freed_files(number: int) -> str:
    return f"{FREED_FILES} ({units.count(number)})"


def kept_back(number: int) -> str:
    return f"{units.plural(number, 'file')} kept back"


def applying(done: int, total: int, stage: str) -> str:
    return f"Deleted {units.count(done)} of {units.plural(total, 'file')}" if total else stage


def settling(seconds: float) -> str:
    return f"References are gone; writers get {seconds:g} s to finish before any file is deleted"


UNDER_WAY = "Under way: its progress stands at the top of the page."
IS_OVER = "It has ended: the top of the page says how."
CANCELLING = "Cancelling: what is under way ends, then it stops"


LAB_UNREAD = (
    "Not every snapshot or tag can be read, and those may need the same files: what is said here to be freed may be "
    "too much, and what is held too little."
)


def grave(why: Sequence[str]) -> str:
    return f"{'; '.join(why)}.".capitalize()


def type_to_confirm(word: str) -> str:
    return f"Type **{word}** to confirm"


def delete_outside(what: str) -> str:
    return f"Delete {what}: no other table, nor a copy of this one, needs them"


def older_than_unread(text: str) -> str:
    return f"“{text}” is neither a length of time such as 7d nor a time such as 2026-11-01."


PROCEDURE: Mapping[str, str] = {
    "sys": "Paimon's own procedure for the same; “Beside Paimon” of Retention says where its files would differ",
    "system": "Iceberg's own Spark SQL for the same request, with a session in UTC",
}
PROTECT = "Protect for 7 days"
PROTECT_POINT = "Keep a point that would go"
PROTECT_HELP = (
    "Makes a tag of this snapshot, looks up every one of its files, and lets the tag end by itself after 7 days. "
    "What it keeps is freed only after that."
)
RULE_SET = "Whose rules"
RULE_SETS: Mapping[str, str] = {"newest": "Paimon 2.x rules", "1.x": "1.x", "0.9": "0.9"}
