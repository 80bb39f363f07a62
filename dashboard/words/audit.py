"""Changes under way, their receipts, and the journal."""

from __future__ import annotations

from collections.abc import Mapping

from core.execution.delete_files import Receipt
from core.execution.journal import Run
from core.model.actions import DELETING
from dashboard.formatting import units
from dashboard.words.explanations import Rule

JOB_STARTING = "Starting"
JOB_DISMISS = "Dismiss"
JOB_TWICE = "This plan has been submitted already."
JOB_TWICE_NEXT = "Wait for it to end; its progress is shown on this page."


def job_busy(subject: str) -> str:
    return f"Another change of {subject} is being carried out."


def receipt(found: Receipt) -> str:
    if found.created and not found.deleted:
        return f"Created {', '.join(found.created)}."
    text = f"{_OUTCOMES[found.outcome]} {units.plural(len(found.deleted), 'file')} deleted, "
    return text + f"{units.size(found.freed_bytes)} freed."


def carried_out(run: Run, started: str) -> str:
    """When, by whom and what, beside a receipt: whoever sees it may not have pressed the button."""
    return f"On {started} by {run.who}: {run.plan['headline']}"


_OUTCOMES = {
    "done": "Done:",
    "cancelled": "Cancelled; what had gone by then:",
    "incomplete": "Not everything could be deleted:",
}


RESUME = "Carry on"
UNDO = "Take back"
UNFINISHED_WAYS: Mapping[bool, str] = {  # by whether it can be taken back
    False: "Carry it on on the command line, or here once changes are allowed",
    True: "Carry it on, or take it back, on the command line; or here once changes are allowed",
}
CHANGE_NAMES: Mapping[str, str] = {
    "Expire": "Expire snapshots",
    "DeleteTags": "Delete tags",
    "CreateTag": "Create a tag",
    "ReplaceTag": "Replace a tag",
    "RenameTag": "Rename a tag",
    "CreateBranch": "Create a branch",
    "ReplaceBranch": "Replace a branch",
    "RenameBranch": "Rename a branch",
    "DeleteBranches": "Delete branches",
    "FastForward": "Fast-forward",
    "Rollback": "Roll back",
    "ResetConsumer": "Reset a consumer",
    "ClearConsumers": "Clear consumers",
    "CleanOrphans": "Clean up orphans",
    "DropPartitions": "Drop partitions",
    "Truncate": "Truncate",
    "Compact": "Compact",
    "Analyze": "Analyze",
}
_STATES: Mapping[str, str] = {
    "started": "stopped before it changed anything",
    "references removed": "stopped before any file was deleted",
    "sweep started": "stopped while deleting files",
    "failed": "stopped by a problem",
    "cancelled": "cancelled by its user",
    "done": "done",
    "undone": "taken back",
}


def run_state(run: Run) -> str:
    return _STATES.get(run.state, run.state)


def run_done(run: Run) -> str:
    receipt = run.receipt or {}
    gone = receipt["deleted"]  # a number, or (of tags and commits) their names
    number = gone if isinstance(gone, int) else len(gone)
    if run.change_kind not in DELETING:
        return units.plural(number, "reference")
    return f"{units.plural(number, 'file')}, {units.size(int(receipt['freed_bytes']))} freed"


def unfinished(run: Run, started: str) -> str:
    what = CHANGE_NAMES.get(run.change_kind, run.change_kind)
    text = f"“{what}”, started {started} by {run.who}, did not end: {run_state(run)}."
    return f"{text} {run.problem}" if run.problem else text


AUDIT_ALL = "All tables"
AUDIT_THIS = "This table"
AUDIT_OF = "Table"
AUDIT_ANY = "All"
AUDIT_SINCE = "From"
AUDIT_UNTIL = "Before"
AUDIT_TIME_HELP = "A date or a time, such as 2026-11-01 or 2026-11-01 08:00, in the zone shown on the left."
AUDIT_TIME_HINT = "2026-11-01"
AUDIT_TEXT = "Text"
AUDIT_TEXT_HELP = "Looked for in ids, fingerprints, tables, names of tags and points, what was asked and what was said."
AUDIT_TEXT_HINT = "a tag, a run, a path of a table"
AUDIT_EMPTY = "No change was made from here yet."
AUDIT_EMPTY_NEXT = (
    "Every tag, expiry and clean-up carried out here or on the command line is listed with its plan and receipt."
)
AUDIT_NONE_HERE = "No change of this table was made from here yet."
AUDIT_NONE_HERE_NEXT = "All tables, chosen above, shows what was done to the others."
AUDIT_NONE = "No run fits these filters."
AUDIT_NONE_NEXT = "Take one of them away, or look at all tables."
AUDIT_PICK = "Choose a row to see its plan, its receipt and every path it deleted."
AUDIT_ENDED = "Ended"
AUDIT_DONE = "Gone"
AUDIT_CREATED = "Made"
AUDIT_TOOK = "Took"
AUDIT_EXACTLY = "As planned"
AUDIT_COMMAND = "The command that ran exactly this plan, or refuses where the table is not as it was then"
AUDIT_FINGERPRINT = "Fingerprint"
AUDIT_REFERENCE = "reference"
AUDIT_FATES: Mapping[bool, str] = {True: "deleted", False: "not deleted"}
AUDIT_POINT_COLUMNS: Mapping[str, str] = {"point": "Point", "verdict": "Verdict", "reasons": "Why"}
AUDIT_FILE_COLUMNS: Mapping[str, str] = {"path": "Path", "kind": "Kind", "bytes": "Bytes", "fate": "What became of it"}
AUDIT_EVENT_COLUMNS: Mapping[str, str] = {"number": "Entry", "at": "When", "what": "What", "hash": "Hash"}
AUDIT_ENTRIES_NOUN = "entries"
AUDIT_EVENTS: Mapping[str, str] = {
    "started": "plan written down",
    "references removed": "references changed",
    "sweep started": "deleting began",
    "swept": "files deleted",
    "failed": "failed",
    "cancelled": "cancelled",
    "done": "done",
    "undone": "taken back",
}
AUDIT_OUTCOMES: Mapping[str, str] = {
    "exact": "exactly as planned",
    "inexact": "not as planned",
    "ended": "done",
    "taken back": "taken back",
    "unfinished": "unfinished",
}
AUDIT_COLUMNS: Mapping[str, str] = {
    "started": "Started",
    "change": "Change",
    "table": "Table",
    "who": "Who",
    "outcome": "Outcome",
    "files": "Files",
    "bytes": "Freed",
    "planned": "Plan",
    "took": "Took",
    "run": "Run",
}
HOW_EXACT = Rule(
    "Exact plans",
    "Of the newest 40 runs that ended and delete by a plan: those whose receipt equals the plan that was shown.",
    "The journal: what was planned, written down before the first effect, and the receipt of what was deleted.",
    "As many files went as were planned, with as many bytes, and nothing was kept back. Runs that were taken back or "
    "did not end are not counted, nor changes that delete nothing.",
    "Runs.",
)
HOW_CHAIN = Rule(
    "The chain of hashes",
    "Entries of the whole journal, of all tables.",
    "The journal itself (state directory, journal.sqlite), read anew whenever it has grown.",
    "Each entry's SHA-256 covers the one before it, and the first of a run covers its plan, its files and the bytes of "
    "its references: whatever is altered, taken out or put in breaks it. The head, kept elsewhere, proves all of it.",
    "Entries.",
)


def audit_exact(same: int, ended: int) -> str:
    exact = f"Last {units.plural(ended, 'plan')}: {units.count(same)} exact"
    return f"{exact} (what went was what had been shown, file for file)."


def audit_export(style: str) -> str:
    return f"Whole journal as {style.upper()}"


AUDIT_CSV = "These runs as CSV"


def audit_verified(entries: int, head: str) -> str:
    what = units.plural(entries, "entry", "entries")
    return f"Journal verified: {what}, unbroken; its head is {head[:16]}."


def audit_shown(shown: int, all: int) -> str:
    return f"{units.count(shown)} of {units.plural(all, 'run')}"


def audit_open(number: int) -> str:
    return f"{units.plural(number, 'run')} did not end. Carry on, or take back what can be taken back:"


def audit_files(number: int) -> str:
    return f"Files ({units.count(number)})"


def audit_points(number: int) -> str:
    return f"Points ({units.count(number)})"


def audit_entries(number: int) -> str:
    return f"Journal entries ({units.count(number)})"


def audit_warnings(number: int) -> str:
    return f"Warnings ({units.count(number)})"


def restored(number: int) -> str:
    return f"Taken back: {units.plural(number, 'reference')} written back as before."
