"""Retention: what may go, the plan, and carrying it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.formatting import units
from dashboard.formatting.language import N_, _, capitalized, listing

RETENTION_TEACH = N_(
    "Describe what may go. Nothing changes here: first you see exactly which files that frees and why the rest stays."
)
MODE_EXPIRE = N_("Expire snapshots")
MODE_TAGS = N_("Delete tags")
MODE_CHANGELOGS = N_("Expire changelogs")
KEEP_MAX = N_("Keep at most")
KEEP_MAX_HELP = N_("Newest snapshots to keep at most (retain-max). Older ones go even if they are young.")
KEEP_MIN = N_("Keep at least")
KEEP_MIN_HELP = N_("Newest snapshots to keep in any case (retain-min).")
KEEP_LAST_HELP = N_("Newest snapshots of each branch to keep in any case (retain-last); a branch's own number wins.")
REFS_TOO = N_("Refs to drop too")
REFS_HINT = N_("Choose tags and branches")
CUTOFF_HELP = N_(
    "A length such as `7 d` or `36 h`, or a time. Blank: the table's own age, five days where it "
    "sets none. A branch's own age wins."
)


def own_age(age: str) -> str:
    return _("the table's own: {age}", age=age)


OLDER_THAN = N_("Only older than")
OLDER_THAN_HELP = N_(
    "A length such as `7 d` or `36 h`, or a time. Snapshots younger than that stay, unless there are "
    "more than the most to keep."
)
OLDER_THAN_HINT = N_("7d, 36 h, 2026-11-01")
MAX_DELETES = N_("Most at once")
MAX_DELETES_HELP = N_("Blank: to the end. The engine itself stops after snapshot.expire.limit (50) per run.")
DROP_TOO = N_("Tags to drop too")
TAGS_OLDER = N_("Tags made before")
TAGS_OLDER_HELP = N_(
    "A length such as `90 d` or a time: tags created before go in the same plan. A tag keeps its "
    "time of creation only where it was made with a retention; one without stays, and says so."
)
TAGS_ENDED = N_("Tags past their time")
TAGS_ENDED_HELP = N_("Also tags whose own retention has ended, by the wall clock of the machine Snapscope runs on.")
CHANGELOG_AGE = N_("Long-lived changelogs go by a length of time, not before a moment.")
CHANGELOG_AGE_NEXT = N_("Write a whole number and a unit: 7 d, 36 h.")
UNSET = N_("not set")
TAGS_TO_DELETE = N_("Tags to delete")
BRANCH = N_("Branch")
PREVIEW_EMPTY_EXPIRE = N_("Set at least one rule above to see what it would free.")
PREVIEW_EMPTY_TAGS = N_("Choose one or more tags above to see what deleting them would free.")
TAGS_KEEP_NOTHING = N_(
    "The table's own rules keep what its tags name anyway, or keep all, so dropping tags frees nothing."
)
NO_TAGS_TO_DELETE = N_("This table has no tags, so there is none to delete.")
MODE = N_("What may go")
OLDER_THAN_NEXT = N_(
    "Write a whole number and a unit (7 d, 36 h, 90 min), or a time such as 2026-11-01 or 2026-11-01T08:00."
)
TAGS_TO_DELETE_HINT = N_("Choose tags")
KEEPS_BELOW = N_("held by points that stay")
TAGS_KEEP = N_("Kept by tags alone")
TAGS_KEEP_BELOW = N_("of what going points held")
GO = N_("Points that go")
HOW = N_("How computed")
STEPS = N_("Steps")
STEP_HEADS = ("#", N_("Step"))
PLANNED_AT = N_("Counted from")
PART_FREED = N_("Would be freed")
PART_TAGS = N_("Goes from history, kept by tags alone")
PART_STAYS = N_("Stays")
KIND_HEADS = (N_("Kind"), N_("Files"), N_("Bytes"))
KEPT_BACK_HEADS = (N_("File"), N_("Why it stayed"))
ENDS = N_("Ends")
FREES = N_("Frees")
KEEPS = N_("Keeps")
VERDICTS = N_("Verdict per point")
FREED_FILES = N_("Files that would go")
COMMAND = N_("The same on the command line")
NOTHING_FREED = N_("This frees nothing. The reasons per point below say which rule kept everything.")
GOES = N_("✕ goes")
STAYS = N_("✓ stays")
CARRY_OUT = N_("Carry out")
WHY_NOT_HERE = N_(
    "This server was started for reading, so the plan is shown and not carried out. Run the command "
    "below, or start the dashboard with `snapscope serve WAREHOUSE --write`."
)
SWITCHED_OFF = N_(
    "Changes are switched off: “Allow changes” in the first line of the page lets this plan be carried out."
)
FINGERPRINT = N_("Plan")
FINGERPRINT_HELP = N_(
    "The plan is bound to the content of every snapshot, tag, branch and consumer file it was made "
    "from. If a point that goes has changed when it runs, it stops."
)
RULES = N_("Rules")


def of_points(total: int) -> str:
    return _("of {points}", points=units.plural(total, "point"))


def ended_files(number: int) -> str:
    return _("Files that end ({number})", number=units.count(number))


def freed_files(number: int) -> str:
    return _("{freed_files} ({number})", freed_files=_(FREED_FILES), number=units.count(number))


def kept_back(number: int) -> str:
    return _("{files} kept back", files=units.plural(number, "file"))


def applying(done: int, total: int, stage: str) -> str:
    return _("Deleted {done} of {files}", done=units.count(done), files=units.plural(total, "file")) if total else stage


def settling(seconds: float) -> str:
    return _("References are gone; writers get {seconds:g} s to finish before any file is deleted", seconds=seconds)


UNDER_WAY = N_("Under way: its progress stands at the top of the page.")
IS_OVER = N_("It has ended: the top of the page says how.")
CANCELLING = N_("Cancelling: what is under way ends, then it stops")


LAB_UNREAD = N_(
    "Not every snapshot or tag can be read, and those may need the same files: what is said here to "
    "be freed may be too much, and what is held too little."
)


def grave(why: Sequence[str]) -> str:
    return _("{reasons}.", reasons=capitalized(listing(why)))


def type_to_confirm(word: str) -> str:
    return _("Type **{word}** to confirm", word=word)


def delete_outside(what: str) -> str:
    return _("Delete {what}: no other table, nor a copy of this one, needs them", what=what)


def older_than_unread(text: str) -> str:
    return _("“{text}” is neither a length of time such as 7d nor a time such as 2026-11-01.", text=text)


PROCEDURE: Mapping[str, str] = {
    "sys": N_("Paimon's own procedure for the same; “Beside Paimon” of Retention says where its files would differ"),
    "system": N_("Iceberg's own Spark SQL for the same request, with a session in UTC"),
}
PROTECT = N_("Protect for 7 days")
PROTECT_POINT = N_("Keep a point that would go")
PROTECT_HELP = N_(
    "Makes a tag of this snapshot, looks up every one of its files, and lets the tag end by itself "
    "after 7 days. What it keeps is freed only after that."
)
RULE_SET = N_("Whose rules")
RULE_SETS: Mapping[str, str] = {"newest": N_("Paimon 2.x rules"), "1.x": "1.x", "0.9": "0.9"}
