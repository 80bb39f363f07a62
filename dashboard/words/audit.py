"""Changes in progress, their receipts, and the journal."""

from __future__ import annotations

from collections.abc import Mapping

from core.execution.delete_files import Receipt
from core.execution.journal import Run
from core.model.actions import DELETING
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, ngettext
from dashboard.words.explanations import Rule

JOB_DISMISS = N_("Dismiss")
JOB_TWICE = N_("This plan has already been submitted.")
JOB_TWICE_NEXT = N_("Wait until it finishes; this page shows its progress.")


def job_busy(subject: str) -> str:
    return _("Another change of {subject} is running.", subject=subject)


def receipt(found: Receipt) -> str:
    if found.created and (not found.deleted):
        return _("Created {created}.", created=_(", ").join(found.created))
    text = _(
        "{outcome} {files} deleted, ",
        outcome=_(_OUTCOMES[found.outcome]),
        files=units.plural(len(found.deleted), "file"),
    )
    if found.keeps_versions:
        return text + _(
            "{freed_bytes} kept as old versions, which stay billed until the bucket's lifecycle rule deletes them.",
            freed_bytes=units.size(found.freed_bytes),
        )
    return text + _("{freed_bytes} reclaimed.", freed_bytes=units.size(found.freed_bytes))


def carried_out(run: Run, started: str) -> str:
    """Say when, by whom and what was changed: the reader may not be the person who pressed the button."""
    return _("On {started} by {who}: {headline}", started=started, who=run.who, headline=run.plan["headline"])


_OUTCOMES = {
    "done": N_("Done:"),
    "cancelled": N_("Cancelled. Until then:"),
    "incomplete": N_("Incomplete:"),
}


RESUME = N_("Resume")
UNDO = N_("Undo")
UNFINISHED_WAYS: Mapping[bool, str] = {
    False: N_("Resume it on the command line, or here once changes are allowed"),
    True: N_("Resume or undo it on the command line, or here once changes are allowed"),
}
UNFINISHED_ON_SPARK: Mapping[bool, str] = {
    False: N_("It was begun with Spark, which reads what may not fit here: resume it on the command line"),
    True: N_("It was begun with Spark, which reads what may not fit here: resume or undo it on the command line"),
}
CHANGE_NAMES: Mapping[str, str] = {
    "Expire": N_("Expire snapshots"),
    "DeleteTags": N_("Delete tags"),
    "CreateTag": N_("Create a tag"),
    "ReplaceTag": N_("Move a tag"),
    "RenameTag": N_("Rename a tag"),
    "CreateBranch": N_("Create a branch"),
    "ReplaceBranch": N_("Replace a branch"),
    "RenameBranch": N_("Rename a branch"),
    "DeleteBranches": N_("Delete branches"),
    "FastForward": N_("Fast-forward"),
    "Rollback": N_("Roll back"),
    "ResetConsumer": N_("Reset a consumer"),
    "ClearConsumers": N_("Clear consumers"),
    "CleanOrphans": N_("Clean up orphans"),
    "DropPartitions": N_("Drop partitions"),
    "Truncate": N_("Truncate table"),
    "Compact": N_("Compact"),
    "Analyze": N_("Analyze"),
}
_STATES: Mapping[str, str] = {
    "started": N_("stopped before anything changed"),
    "references removed": N_("stopped before any file was deleted"),
    "sweep started": N_("stopped while deleting files"),
    "failed": N_("stopped by an error"),
    "cancelled": N_("cancelled by the user"),
    "done": N_("done"),
    "undone": N_("undone"),
}
_REFUSED = N_("failed, nothing changed")  # a run undoes what it did before its error


def run_state(run: Run) -> str:
    return _(_REFUSED) if run.state == "undone" and run.problem else _(_STATES.get(run.state, run.state))


def people(run: Run) -> str:
    """Say who started a run and, if anyone did, who else resumed, cancelled or undid it."""
    if not run.others:
        return run.who
    return _("{who}, then {others}", who=run.who, others=_(", ").join(run.others))


def run_done(run: Run) -> str:
    receipt = run.receipt or {}
    deleted = receipt["deleted"]  # a number or, for tags and commits, their names
    number = deleted if isinstance(deleted, int) else len(deleted)
    if run.change_kind not in DELETING:
        return units.plural(number, "reference")
    size = units.size(int(receipt["freed_bytes"]))
    if receipt.get("keeps_versions"):
        return ngettext(
            "{count} file, {size} kept as old versions", "{count} files, {size} kept as old versions", number, size=size
        )
    return ngettext("{count} file, {size} reclaimed", "{count} files, {size} reclaimed", number, size=size)


def unfinished(run: Run, started: str) -> str:
    what = _(CHANGE_NAMES.get(run.change_kind, run.change_kind))
    text = _(
        "“{what}”, started {started} by {who}, did not finish: {run_state}.",
        what=what,
        started=started,
        who=run.who,
        run_state=run_state(run),
    )
    return _("{text} {problem}", text=text, problem=run.problem) if run.problem else text


def running_elsewhere(run: Run, since: str, who: str) -> str:
    what = _(CHANGE_NAMES.get(run.change_kind, run.change_kind))
    return _("“{what}” is running in another process, since {since}, by {who}.", what=what, since=since, who=who)


RUNNING_NOW = N_("It is running now, so it can be neither resumed nor undone.")
AUDIT_SUMMARY = N_("Changes made with Snapscope from this machine")
AUDIT_ALL = N_("All tables")
AUDIT_OF = N_("Table")
AUDIT_ANY = N_("All")
AUDIT_SINCE = N_("From")
AUDIT_UNTIL = N_("Before", context="filter")
AUDIT_TIME_HELP = N_("A date or time, such as 2026-11-01 or 2026-11-01 08:00, in the zone shown on the left.")
AUDIT_TIME_HINT = "2026-11-01"
AUDIT_TEXT = N_("Text")
AUDIT_TEXT_HELP = N_(
    "Searches ids, fingerprints, tables, names of tags, branches and snapshots, requests and messages."
)
AUDIT_TEXT_HINT = N_("a tag, a run, a table path")
AUDIT_EMPTY = N_("No changes have been made yet.")
AUDIT_EMPTY_NEXT = N_(
    "Every change run here or on the command line, such as a tag, an expiry or a clean-up, "
    "is listed with its plan and receipt."
)
AUDIT_NONE_HERE = N_("No changes to this table have been made yet.")
AUDIT_NONE_HERE_NEXT = N_("Choose All tables above to see changes to other tables.")
AUDIT_NONE = N_("No run matches these filters.")
AUDIT_NONE_NEXT = N_("Remove a filter, or choose All tables.")
AUDIT_PICK = N_("Choose a row to see its plan, its receipt and every path it deleted.")
AUDIT_ENDED = N_("Ended")
AUDIT_DONE = N_("Deleted")
AUDIT_CREATED = N_("Created")
AUDIT_TOOK = N_("Took")
AUDIT_EXACTLY = N_("Matches plan")
AUDIT_COMMAND = N_("The command that runs exactly this plan; it refuses if the table has changed since")
AUDIT_FINGERPRINT = N_("Fingerprint")
AUDIT_REFERENCE = N_("reference")
AUDIT_FATES: Mapping[bool, str] = {True: N_("deleted", context="fate"), False: N_("not deleted")}
AUDIT_POINT_COLUMNS: Mapping[str, str] = {
    "point": N_("Snapshot or tag"),
    "verdict": N_("Decision"),
    "reasons": N_("Why"),
}
AUDIT_FILE_COLUMNS: Mapping[str, str] = {
    "path": N_("Path"),
    "kind": N_("Kind"),
    "bytes": N_("Bytes"),
    "fate": N_("Result"),
}
AUDIT_EVENT_COLUMNS: Mapping[str, str] = {
    "number": N_("Entry", context="its number"),
    "at": N_("When"),
    "what": N_("What"),
    "who": N_("Who"),
    "hash": N_("Hash"),
}
AUDIT_ENTRIES_NOUN = N_("entries")
AUDIT_EVENTS: Mapping[str, str] = {
    "started": N_("plan recorded"),
    "resumed": N_("resumed"),
    "undo started": N_("undo started"),
    "commit sent": N_("commit sent"),
    "references removed": N_("references changed"),
    "sweep started": N_("deletion started"),
    "swept": N_("files deleted"),
    "failed": N_("failed"),
    "cancelled": N_("cancelled"),
    "done": N_("done"),
    "undone": N_("undone"),
}
AUDIT_OUTCOMES: Mapping[str, str] = {
    "exact": N_("matches the plan"),
    "inexact": N_("differs from the plan"),
    "ended": N_("done"),
    "taken back": N_("undone"),
    "refused": _REFUSED,
    "unfinished": N_("unfinished"),
}
AUDIT_COLUMNS: Mapping[str, str] = {
    "started": N_("Started"),
    "change": N_("Change"),
    "table": N_("Table"),
    "who": N_("Who"),
    "outcome": N_("Outcome"),
    "files": N_("Files"),
    "bytes": N_("Reclaimed"),
    "planned": N_("Plan"),
    "took": N_("Took"),
    "run": N_("Run"),
}
HOW_EXACT = Rule(
    N_("Plans that ran exactly as shown"),
    N_(
        "Of the newest 40 finished runs that delete files by a plan: those whose receipt matches "
        "the plan that was shown."
    ),
    N_("The journal: the plan, recorded before the first change, and the receipt of what was deleted."),
    N_(
        "The number of files and bytes deleted equals the plan, and no file was kept back. Runs "
        "that were undone or did not finish are not counted, nor are changes that delete nothing."
    ),
    N_("Runs."),
)
HOW_CHAIN = Rule(
    N_("Hash chain"),
    N_("Entries of the whole journal, for all tables."),
    N_("The journal itself (state directory, journal.sqlite), read again whenever it has grown."),
    N_(
        "Each entry's SHA-256 covers the previous entry; the first entry of a run also covers "
        "its plan, its files and the contents of its references. Changing, removing or inserting "
        "an entry breaks the chain. A copy of the head, kept elsewhere, proves every entry up to "
        "it."
    ),
    N_("Entries."),
)


def audit_exact(same: int, ended: int) -> str:
    return ngettext(
        "Last {count} plan: {same} exact (the files deleted were the files shown).",
        "Last {count} plans: {same} exact (the files deleted were the files shown).",
        ended,
        same=units.count(same),
    )


def audit_export(style: str) -> str:
    return _("Download the whole journal as {style}", style=style.upper())


AUDIT_CSV = N_("Download these runs as CSV")


def audit_verified(entries: int, head: str) -> str:
    return ngettext(
        "Journal verified: {count} entry, chain intact; its head is {head}.",
        "Journal verified: {count} entries, chain intact; its head is {head}.",
        entries,
        head=head[:16],
    )


def audit_shown(shown: int, all: int) -> str:
    return ngettext("{shown} of {count} run", "{shown} of {count} runs", all, shown=units.count(shown))


def audit_open(number: int) -> str:
    return ngettext(
        "{count} run has not finished: resume it or undo it, unless it is running now",
        "{count} runs have not finished: resume or undo them, unless they are running now",
        number,
    )


def audit_files(number: int) -> str:
    return _("Files ({number})", number=units.count(number))


def audit_points(number: int) -> str:
    return _("Snapshots and tags ({number})", number=units.count(number))


def audit_entries(number: int) -> str:
    return _("Journal entries ({number})", number=units.count(number))


def audit_warnings(number: int) -> str:
    return _("Warnings ({number})", number=units.count(number))


def restored(number: int) -> str:
    return ngettext(
        "Undone: {count} reference restored.",
        "Undone: {count} references restored.",
        number,
    )
