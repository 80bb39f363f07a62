"""Changes under way, their receipts, and the journal."""

from __future__ import annotations

from collections.abc import Mapping

from core.execution.delete_files import Receipt
from core.execution.journal import Run
from core.model.actions import DELETING
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, ngettext
from dashboard.words.explanations import Rule

JOB_STARTING = N_("Starting")
JOB_DISMISS = N_("Dismiss")
JOB_TWICE = N_("This plan has been submitted already.")
JOB_TWICE_NEXT = N_("Wait for it to end; its progress is shown on this page.")


def job_busy(subject: str) -> str:
    return _("Another change of {subject} is being carried out.", subject=subject)


def receipt(found: Receipt) -> str:
    if found.created and (not found.deleted):
        return _("Created {created}.", created=_(", ").join(found.created))
    text = _(
        "{outcome} {files} deleted, ",
        outcome=_(_OUTCOMES[found.outcome]),
        files=units.plural(len(found.deleted), "file"),
    )
    return text + _("{freed_bytes} freed.", freed_bytes=units.size(found.freed_bytes))


def carried_out(run: Run, started: str) -> str:
    """When, by whom and what, beside a receipt: whoever sees it may not have pressed the button."""
    return _("On {started} by {who}: {headline}", started=started, who=run.who, headline=run.plan["headline"])


_OUTCOMES = {
    "done": N_("Done:"),
    "cancelled": N_("Cancelled; what had gone by then:"),
    "incomplete": N_("Not everything could be deleted:"),
}


RESUME = N_("Carry on")
UNDO = N_("Take back")
UNFINISHED_WAYS: Mapping[bool, str] = {
    False: N_("Carry it on on the command line, or here once changes are allowed"),
    True: N_("Carry it on, or take it back, on the command line; or here once changes are allowed"),
}
CHANGE_NAMES: Mapping[str, str] = {
    "Expire": N_("Expire snapshots"),
    "DeleteTags": N_("Delete tags"),
    "CreateTag": N_("Create a tag"),
    "ReplaceTag": N_("Replace a tag"),
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
    "Truncate": N_("Truncate"),
    "Compact": N_("Compact"),
    "Analyze": N_("Analyze"),
}
_STATES: Mapping[str, str] = {
    "started": N_("stopped before it changed anything"),
    "references removed": N_("stopped before any file was deleted"),
    "sweep started": N_("stopped while deleting files"),
    "failed": N_("stopped by a problem"),
    "cancelled": N_("cancelled by its user"),
    "done": N_("done"),
    "undone": N_("taken back"),
}


def run_state(run: Run) -> str:
    return _(_STATES.get(run.state, run.state))


def run_done(run: Run) -> str:
    receipt = run.receipt or {}
    gone = receipt["deleted"]  # a number, or (of tags and commits) their names
    number = gone if isinstance(gone, int) else len(gone)
    if run.change_kind not in DELETING:
        return units.plural(number, "reference")
    size = units.size(int(receipt["freed_bytes"]))
    return ngettext("{count} file, {size} freed", "{count} files, {size} freed", number, size=size)


def unfinished(run: Run, started: str) -> str:
    what = _(CHANGE_NAMES.get(run.change_kind, run.change_kind))
    text = _(
        "“{what}”, started {started} by {who}, did not end: {run_state}.",
        what=what,
        started=started,
        who=run.who,
        run_state=run_state(run),
    )
    return _("{text} {problem}", text=text, problem=run.problem) if run.problem else text


AUDIT_ALL = N_("All tables")
AUDIT_THIS = N_("This table")
AUDIT_OF = N_("Table")
AUDIT_ANY = N_("All")
AUDIT_SINCE = N_("From")
AUDIT_UNTIL = N_("Before", context="filter")
AUDIT_TIME_HELP = N_("A date or a time, such as 2026-11-01 or 2026-11-01 08:00, in the zone shown on the left.")
AUDIT_TIME_HINT = "2026-11-01"
AUDIT_TEXT = N_("Text")
AUDIT_TEXT_HELP = N_(
    "Looked for in ids, fingerprints, tables, names of tags and points, what was asked and what was said."
)
AUDIT_TEXT_HINT = N_("a tag, a run, a path of a table")
AUDIT_EMPTY = N_("No change was made from here yet.")
AUDIT_EMPTY_NEXT = N_(
    "Every tag, expiry and clean-up carried out here or on the command line is listed with its plan and receipt."
)
AUDIT_NONE_HERE = N_("No change of this table was made from here yet.")
AUDIT_NONE_HERE_NEXT = N_("All tables, chosen above, shows what was done to the others.")
AUDIT_NONE = N_("No run fits these filters.")
AUDIT_NONE_NEXT = N_("Take one of them away, or look at all tables.")
AUDIT_PICK = N_("Choose a row to see its plan, its receipt and every path it deleted.")
AUDIT_ENDED = N_("Ended")
AUDIT_DONE = N_("Gone")
AUDIT_CREATED = N_("Made")
AUDIT_TOOK = N_("Took")
AUDIT_EXACTLY = N_("As planned")
AUDIT_COMMAND = N_("The command that ran exactly this plan, or refuses where the table is not as it was then")
AUDIT_FINGERPRINT = N_("Fingerprint")
AUDIT_REFERENCE = N_("reference")
AUDIT_FATES: Mapping[bool, str] = {True: N_("deleted", context="fate"), False: N_("not deleted")}
AUDIT_POINT_COLUMNS: Mapping[str, str] = {"point": N_("Point"), "verdict": N_("Verdict"), "reasons": N_("Why")}
AUDIT_FILE_COLUMNS: Mapping[str, str] = {
    "path": N_("Path"),
    "kind": N_("Kind"),
    "bytes": N_("Bytes"),
    "fate": N_("What became of it"),
}
AUDIT_EVENT_COLUMNS: Mapping[str, str] = {
    "number": N_("Entry", context="its number"),
    "at": N_("When"),
    "what": N_("What"),
    "hash": N_("Hash"),
}
AUDIT_ENTRIES_NOUN = N_("entries")
AUDIT_EVENTS: Mapping[str, str] = {
    "started": N_("plan written down"),
    "references removed": N_("references changed"),
    "sweep started": N_("deleting began"),
    "swept": N_("files deleted"),
    "failed": N_("failed"),
    "cancelled": N_("cancelled"),
    "done": N_("done"),
    "undone": N_("taken back"),
}
AUDIT_OUTCOMES: Mapping[str, str] = {
    "exact": N_("exactly as planned"),
    "inexact": N_("not as planned"),
    "ended": N_("done"),
    "taken back": N_("taken back"),
    "unfinished": N_("unfinished"),
}
AUDIT_COLUMNS: Mapping[str, str] = {
    "started": N_("Started"),
    "change": N_("Change"),
    "table": N_("Table"),
    "who": N_("Who"),
    "outcome": N_("Outcome"),
    "files": N_("Files"),
    "bytes": N_("Freed"),
    "planned": N_("Plan"),
    "took": N_("Took"),
    "run": N_("Run"),
}
HOW_EXACT = Rule(
    N_("Exact plans"),
    N_("Of the newest 40 runs that ended and delete by a plan: those whose receipt equals the plan that was shown."),
    N_("The journal: what was planned, written down before the first effect, and the receipt of what was deleted."),
    N_(
        "As many files went as were planned, with as many bytes, and nothing was kept back. Runs that "
        "were taken back or did not end are not counted, nor changes that delete nothing."
    ),
    N_("Runs."),
)
HOW_CHAIN = Rule(
    N_("The chain of hashes"),
    N_("Entries of the whole journal, of all tables."),
    N_("The journal itself (state directory, journal.sqlite), read anew whenever it has grown."),
    N_(
        "Each entry's SHA-256 covers the one before it, and the first of a run covers its plan, its "
        "files and the bytes of its references: whatever is altered, taken out or put in breaks it. The "
        "head, kept elsewhere, proves all of it."
    ),
    N_("Entries."),
)


def audit_exact(same: int, ended: int) -> str:
    return ngettext(
        "Last {count} plan: {same} exact (what went was what had been shown, file for file).",
        "Last {count} plans: {same} exact (what went was what had been shown, file for file).",
        ended,
        same=units.count(same),
    )


def audit_export(style: str) -> str:
    return _("Whole journal as {style}", style=style.upper())


AUDIT_CSV = N_("These runs as CSV")


def audit_verified(entries: int, head: str) -> str:
    return ngettext(
        "Journal verified: {count} entry, unbroken; its head is {head}.",
        "Journal verified: {count} entries, unbroken; its head is {head}.",
        entries,
        head=head[:16],
    )


def audit_shown(shown: int, all: int) -> str:
    return ngettext("{shown} of {count} run", "{shown} of {count} runs", all, shown=units.count(shown))


def audit_open(number: int) -> str:
    return ngettext(
        "{count} run did not end. Carry on, or take back what can be taken back:",
        "{count} runs did not end. Carry on, or take back what can be taken back:",
        number,
    )


def audit_files(number: int) -> str:
    return _("Files ({number})", number=units.count(number))


def audit_points(number: int) -> str:
    return _("Points ({number})", number=units.count(number))


def audit_entries(number: int) -> str:
    return _("Journal entries ({number})", number=units.count(number))


def audit_warnings(number: int) -> str:
    return _("Warnings ({number})", number=units.count(number))


def restored(number: int) -> str:
    return ngettext(
        "Taken back: {count} reference written back as before.",
        "Taken back: {count} references written back as before.",
        number,
    )
