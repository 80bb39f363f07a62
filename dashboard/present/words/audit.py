"""Changes under way, their receipts, and the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dashboard.present import units

if TYPE_CHECKING:
    from core.journal import Run
    from core.sweep import Receipt

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


_OUTCOMES = {
    "done": "Done:",
    "cancelled": "Cancelled; what had gone by then:",
    "incomplete": "Not everything could be deleted:",
}


RESUME = "Carry on"
UNDO = "Take back"
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
}
    "DropPartitions": "Drop partitions",
    "Truncate": "Truncate",
    "Compact": "Compact",
    "Analyze": "Analyze",
DELETING = ("Expire", "DeleteTags", "ReplaceTag", "DeleteBranches", "CleanOrphans")
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


def run_done(receipt: Mapping[str, Any]) -> str:
    return f"{units.plural(int(receipt['deleted']), 'file')}, {units.size(int(receipt['freed_bytes']))} freed"


def unfinished(run: Run, started: str) -> str:
    what = CHANGE_NAMES.get(run.change_kind, run.change_kind)
    text = f"“{what}”, started {started} by {run.who}, did not end: {run_state(run)}."
    return f"{text} {run.problem}" if run.problem else text


AUDIT_ALL = "All tables"
AUDIT_ALL_HELP = "Also changes of other tables made from this machine."
AUDIT_EMPTY = "No change was made from here yet."
AUDIT_EMPTY_NEXT = (
    "Every tag, expiry and clean-up carried out here or on the command line is listed with its plan and receipt."
)
AUDIT_PICK = "Choose a row to see its plan, its receipt and every path it deleted."
AUDIT_ENDED = "Ended"
AUDIT_DONE = "Done"
AUDIT_PATH_HEADS = ("Deleted",)
AUDIT_POINT_HEADS = ("Point", "Verdict", "Why")
AUDIT_COLUMNS: Mapping[str, str] = {
    "run": "Run",
    "started": "Started",
    "who": "Who",
    "change": "Change",
    "table": "Table",
    "state": "State",
    "planned": "Plan",
}


def audit_exact(same: int, ended: int) -> str:
    return f"Last {units.plural(ended, 'plan')}: {units.count(same)} exact."


def audit_export(style: str) -> str:
    return f"Download the journal as {style.upper()}"


def audit_intact(head: str) -> str:
    return f"The journal's chain of hashes is intact; its head is {head[:16]}."


def audit_deleted(number: int) -> str:
    return f"{units.plural(number, 'path')} deleted"


def audit_points(number: int) -> str:
    return f"Verdicts of {units.plural(number, 'point')}"


def audit_entries(number: int) -> str:
    return units.plural(number, "journal entry", "journal entries")


def restored(number: int) -> str:
    return f"Taken back: {units.plural(number, 'reference')} written back as before."
