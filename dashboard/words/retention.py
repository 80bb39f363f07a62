"""Retention: what may expire, the plan, and running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.model.actions import Action
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, capitalized, listing

RETENTION_TEACH = N_(
    "Describe what may be deleted. Nothing changes here: first you see exactly which files "
    "that reclaims and why the rest is kept."
)
MODE_EXPIRE = N_("Expire snapshots")
MODE_TAGS = N_("Delete tags")
MODE_CHANGELOGS = N_("Expire changelogs")
KEEP_MAX = N_("Keep at most")
KEEP_MAX_HELP = N_("Newest snapshots to keep at most (retain-max). Older ones expire even if they are young.")
KEEP_MIN = N_("Keep at least")
KEEP_MIN_HELP = N_("Newest snapshots to keep in any case (retain-min).")
KEEP_LAST_HELP = N_("Newest snapshots of each branch to keep in any case (retain-last); a branch's own number wins.")
REFS_TOO = N_("Also delete refs")
REFS_HINT = N_("Choose tags and branches")
CUTOFF_HELP = N_(
    "A duration such as `7 d` or `36 h`, or a time. Blank: the table's own age limit, or "
    "five days if it sets none. A branch's own limit takes precedence."
)


def own_age(age: str) -> str:
    return _("the table's own: {age}", age=age)


OLDER_THAN = N_("Only older than")
OLDER_THAN_HELP = N_(
    "A duration such as `7 d` or `36 h`, or a time. Younger snapshots are kept, unless there are more than the maximum."
)
OLDER_THAN_HINT = N_("7d, 36 h, 2026-11-01")
MAX_DELETES = N_("Expire at most")
MAX_DELETES_HELP = N_(
    "Blank: the table's own snapshot.expire.limit or, if it is not set, to the end. The engine itself then stops after "
    "50 per run."
)
DROP_TOO = N_("Also delete tags")
TAGS_OLDER = N_("Tags created before")
TAGS_OLDER_HELP = N_(
    "A duration such as `90 d` or a time: tags created before it are deleted in the same "
    "plan. A tag stores its creation time only if it was created with a retention; one "
    "without is kept, and the plan says so."
)
TAGS_ENDED = N_("Expired tags")
TAGS_ENDED_HELP = N_("Also tags whose own retention has ended, by the wall clock of the machine Snapscope runs on.")
CHANGELOG_AGE = N_("Long-lived changelogs expire by a length of time, not before a moment.")
CHANGELOG_AGE_NEXT = N_("Write a whole number and a unit: 7 d, 36 h.")
UNSET = N_("not set")
TAGS_TO_DELETE = N_("Tags to delete")
BRANCH = N_("Branch")
PREVIEW_EMPTY_TAGS = N_(
    "Choose one or more tags above to see what deleting them would reclaim. “Storage” shows which tags reclaim most."
)
TAGS_KEEP_NOTHING = N_(
    "The table's own rules keep what its tags refer to anyway, or keep everything, so deleting tags reclaims nothing."
)
NO_TAGS_TO_DELETE = N_("This table has no tags to delete.")
MODE = N_("What may be deleted")
OLDER_THAN_NEXT = N_(
    "Write a whole number and a unit (7 d, 36 h, 90 min), or a time such as 2026-11-01 or 2026-11-01T08:00."
)
TAGS_TO_DELETE_HINT = N_("Choose tags")
KEEPS_BELOW = N_("held by kept snapshots or tags")
TAGS_KEEP = N_("Kept only by tags")
TAGS_KEEP_BELOW = N_("of the files the removed snapshots and tags held")
GO = N_("Removed snapshots and tags")
HOW = N_("How computed")
STEPS = N_("Steps")
STEP_HEADS = ("#", N_("Step"))
PLANNED_AT = N_("Ages counted from")
PART_FREED = N_("Would be reclaimed")
PART_TAGS = N_("Removed from history, kept only by tags")
PART_STAYS = N_("Kept")
KIND_HEADS = (N_("Kind"), N_("Files"), N_("Bytes"))
KEPT_BACK_HEADS = (N_("File"), N_("Why it was kept"))
ENDS = N_("No longer current")
FREES = N_("Reclaims")
KEEPS = N_("Keeps")
VERDICTS = N_("Decision per snapshot or tag")
FREED_FILES = N_("Files that would be deleted")
COMMAND = N_("The same on the command line")
NOTHING_FREED = N_("This reclaims nothing. The reasons below say which rule kept each snapshot or tag.")
GOES = N_("✕ deleted")
EXPIRES = N_("✕ expires")
STAYS = N_("✓ kept")
CARRY_OUT = N_("Run")
WHY_NOT_HERE = N_(
    "This server is read-only, so plans are shown but cannot be run here. Run the command "
    "below, or start the dashboard with `snapscope serve WAREHOUSE --write`."
)
SWITCHED_OFF = N_(
    "Changes are switched off. To run this plan, switch on “Allow changes” in the first line of the page."
)
FINGERPRINT = N_("Plan")
FINGERPRINT_HELP = N_(
    "The plan is bound to the content of every snapshot, tag, branch and consumer file it "
    "was made from. If a snapshot or tag to be removed has changed when it runs, it stops."
)
RULES = N_("Rules")


def fate(change: Action | type[Action], point: str, keep: bool) -> str:
    """What a plan does with a version, in a word."""
    return _(STAYS if keep else EXPIRES if change.expires(point) else GOES)


def of_points(total: int) -> str:
    return _("of {points}", points=units.plural(total, "snapshot or tag", "snapshots or tags"))


def ended_files(number: int) -> str:
    return _("Files no longer current ({number})", number=units.count(number))


def freed_files(number: int) -> str:
    return _("{freed_files} ({number})", freed_files=_(FREED_FILES), number=units.count(number))


def kept_back(number: int) -> str:
    return _("{files} kept", files=units.plural(number, "file"))


UNDER_WAY = N_("In progress: see the top of the page.")
IS_OVER = N_("Done: see the result at the top of the page.")


LAB_UNREAD = N_(
    "Not every snapshot or tag can be read, and those may need the same files: the reclaimed "
    "size shown may be too large, and the held size too small."
)


def grave(why: Sequence[str]) -> str:
    return _("{reasons}.", reasons=capitalized(listing(why)))


def type_to_confirm(word: str) -> str:
    return _("Type **{word}** to confirm", word=word)


def delete_outside(what: str) -> str:
    return _("Delete {what}: no other table, nor a copy of this one, needs them", what=what)


def older_than_unread(text: str) -> str:
    return _("not a valid duration or time: “{text}”.", text=text)


PROCEDURE: Mapping[str, str] = {
    "sys": N_("Paimon's own procedure for the same"),
    "system": N_("Iceberg's own Spark SQL for the same request, with a session in UTC"),
}
PROCEDURE_BESIDE = N_("Paimon's own procedure for the same; “Compare with Paimon” shows where its files would differ")
PROTECT = N_("Protect for 7 days")
PROTECT_POINT = N_("Keep a snapshot that would expire")
PROTECT_HELP = N_(
    "Creates a tag of this snapshot, checks that each of its files exists, and lets the tag "
    "expire automatically after 7 days. What it keeps is reclaimed only after that."
)
PROTECT_OTHERS = N_("The newest are listed; create a tag of any other on Tags.")
RULE_SET = N_("Whose rules")
RULE_SETS: Mapping[str, str] = {"newest": N_("Paimon 2.x rules"), "1.x": "1.x", "0.9": "0.9"}

# one screen -----------------------------------------------------------------------------------------------------------

PRESETS = N_("Presets")
PRESET: Mapping[str, str] = {
    "policy": N_("Table's own policy"),
    "newest": N_("Newest 5"),
    "older": N_("Older than 30 days"),
}
MORE_RULES = N_("More rules, and tags in the same plan")
CURVE_ALT = N_(
    "What keeping the newest N snapshots reclaims, for every N. Click a number to keep that many; the boxes above do "
    "the same."
)
COST = N_("Cost")
COST_TITLE = N_("Cost of storage")
COST_PRICE = N_("Price of one GB for a month")
COST_PRICE_HELP = N_("Optional. Sizes on this page are then shown as money, too. Kept for all tables. Blank: no costs.")
COST_FIXED = N_("The settings file (`SNAPSCOPE_CONFIG`) sets this price for the whole warehouse.")
COST_CURRENCY = N_("Currency")
NOT_A_PRICE = N_("Not a price. Write a number such as 0.023.")


def reclaims(size: int, files: int) -> str:
    return _("Reclaims {size} in {files}", size=units.size(size), files=units.plural(files, "file"))


def expires_of(going: int, total: int) -> str:
    return _("expires {going} of {total} snapshots and tags", going=units.count(going), total=units.count(total))


def completed(name: str, number: int) -> str:
    return _(
        "{name} is {number} here as well: the table's own option contradicts the other number.",
        name=name,
        number=units.count(number),
    )


# orphans --------------------------------------------------------------------------------------------------------------

ORPHANS_TEACH = N_(
    "Orphans are files in the table's directory that no snapshot, tag or branch names: crashed writers and deleted "
    "branches leave them. Files of a writer that has not committed yet look the same, so young ones are left alone."
)
ORPHANS_NONE = N_("No orphan files")
ORPHANS_OLDER = N_("Last written before")
ORPHANS_ALSO = N_("Also look in these partition directories")
ORPHANS_ALSO_HELP = N_(
    "Directories of partitions that no snapshot or tag mentions are listed below and left alone, unless they are named "
    "here, with commas between them."
)
ORPHANS_ALSO_HINT = N_("dt=2026-01-01, dt=2026-01-02")
ORPHANS_LOOKING = N_("Listing the table's directories")


def orphans_older_help(usual: str) -> str:
    return _(
        "A length such as `1 d` or `36 h`, or a time. Blank: {usual}. Shorter than a writer takes is unsafe.",
        usual=usual,
    )


def orphans_searched_everywhere(before_ms: int, zone: str) -> str:
    return _(
        "Searched: the table's directories of data and metadata. Age limit: files last written before {before}.",
        before=units.moment(before_ms, zone),
    )


def orphans_searched(before_ms: int, also: Sequence[str], zone: str) -> str:
    before = units.moment(before_ms, zone)
    if also:
        return _(
            "Searched: the table's metadata directories, the partitions that snapshots and tags name, and "
            "{directories}. Age limit: files last written before {before}.",
            directories=", ".join(also),
            before=before,
        )
    return _(
        "Searched: the table's metadata directories and the partitions that snapshots and tags name. "
        "Age limit: files last written before {before}.",
        before=before,
    )
