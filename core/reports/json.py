"""Answers as plain JSON values, one function per question: what the command line prints with `--json`.

Ids are integers here. Paths are relative to the table. Names of snapshot fields are the format's own in snake case.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from core.analysis import file_lifetime
from core.analysis.diff import Diff
from core.analysis.expiration_dates import expiries, expiring
from core.analysis.file_lifetime import FileLifetime
from core.analysis.schema_history import SchemaHistory
from core.analysis.storage_cost import TagDeletion, by_holders, drops, exclusive, is_exact, retention_curve
from core.analysis.tag_target import TagTarget
from core.errors import Invalid
from core.execution.automatic_tags import Tagging
from core.execution.delete_files import Receipt
from core.execution.journal import Run
from core.formats import registry
from core.messages import Reason, code_names, message, sentences
from core.model.effects import steps
from core.model.expiry import Forecast
from core.model.history import History, HistorySummary
from core.model.plan import Plan
from core.model.references import MAIN, HolderKind, Snapshot
from core.model.row_diff import RowDiff
from core.model.time_travel import AsOf
from core.reports.references_json import problem

Json = dict[str, Any]
UNREAD = message(
    "Not every snapshot or tag can be read, and those may need what would be reclaimed: how much cannot be determined."
)


def files(history: History, point: AsOf) -> list[Json]:
    """One object per live file; in formats with delete files, delete files are included, each with its content."""
    columns = ["path", "bytes", "rows", "partition", "bucket", "level"]
    if history.heads.capabilities.deletes_are_files:
        columns = ["path", "bytes", "rows", "partition", "content", "offset", "referenced", "deletes"]
    found: list[Json] = history.files_of(point.point).select(columns).to_pylist()
    return found


def as_of(value: AsOf) -> Json:
    before, after = value.before, value.after
    return {
        "snapshot": value.snapshot.id,
        "committed_at_ms": value.snapshot.time_ms,
        "rule": value.rule,
        "before": before.id if before else None,
        "after": after.id if after else None,
        "engine": value.engine,
        "engine_note": value.engine_note,
        "point": value.point,
        "branch": value.branch,
        "gap_ms": value.gap_ms,
        "before_committed_at_ms": before.time_ms if before else None,
        "after_committed_at_ms": after.time_ms if after else None,
        "schema_id": value.schema.id,
    }


def diff(value: Diff) -> Json:
    columns = ["path", "bytes", "rows", "partition", "bucket", "change"]
    return {
        "from": value.a.snapshot.id,
        "to": value.b.snapshot.id,
        "from_point": value.a.point,
        "to_point": value.b.point,
        "added": value.added.select(columns).to_pylist(),
        "removed": value.removed.select(columns).to_pylist(),
        "summary": dict(value.summary),
        "partitions": value.partitions.to_pylist(),
        "schema_changes": list(value.schema_changes),
        "option_changes": list(value.option_changes),
        "commits": [{"id": each.id, "commit_kind": each.kind, "time_millis": each.time_ms} for each in value.commits],
    }


def rows(value: RowDiff) -> Json:
    return {
        "totals": {name: getattr(value, name) for name in ("added", "removed", "changed", "unchanged")},
        "key": list(value.key),
        "columns": list(value.columns),
        "not_compared": list(value.not_compared),
        "changes": [
            {"kind": e.kind, "key": e.key, "times": e.times, "before": e.before, "after": e.after}
            for e in value.changes
        ],
        "truncated": value.truncated,
        "files_read": value.files_read,
        "files_live": value.files_live,
        "notes": list(value.notes),
        "seconds": round(value.seconds, 3),
        "engine": value.engine,
    }


def plan(value: Plan, native: tuple[Reason, ...] = (), coming: Forecast | None = None) -> Json:
    return {
        "table": value.table,
        "change": {"type": type(value.change).__name__, **dataclasses.asdict(value.change)},
        "rules": value.rules.text,
        "rules_code": value.rules.code.name,
        "fingerprint": value.fingerprint,
        "now_ms": value.now_ms,
        "headline": value.headline,
        "points": [
            {
                "point": verdict.point,
                "keep": verdict.keep,
                "reasons": sentences(verdict.reasons),
                "codes": code_names(verdict.reasons),
            }
            for verdict in value.points
        ],
        "frees": value.frees.to_pylist(),
        "orphans": value.orphans.to_pylist(),
        "leaving": value.leaving.to_pylist(),
        "effects": [{"effect": step.kind, "count": step.count, "text": step.words} for step in steps(value.effects)],
        "freed_bytes": value.freed_bytes,
        "outside": [dataclasses.asdict(each) for each in value.outside],
        "kept_bytes": value.kept_bytes,
        "warnings": sentences(value.warnings),
        "warning_codes": code_names(value.warnings),
        "notes": sentences(value.notes),
        "note_codes": code_names(value.notes),
        "native": sentences(native),
        "native_codes": code_names(native),
        "next_commit": forecast(coming),
    }


def forecast(value: Forecast | None) -> Json | None:
    """What the next commit expires; null if writers expire nothing, and for plans that expire nothing."""
    if value is None:
        return None
    return {
        "branch": value.branch,
        "headline": value.headline,
        "goes": list(value.expired),
        "breaks": sentences(value.breaks),
        "break_codes": code_names(value.breaks),
        "prevented_by": sentences(value.prevented_by),
        "prevented_by_codes": code_names(value.prevented_by),
    }


def tagging(value: Tagging) -> Json:
    """Automatic tags: the rules, the plans of a run (null without rules), and the next dates."""
    of = value.rules
    return {
        "mode": of.mode if of else None,
        "period_ms": of.period_ms if of else None,
        "delay_ms": of.delay_ms if of else None,
        "creates": [each.change.set_tag for each in value.plans if each.change.set_tag is not None],
        "deletes": {name: why.text for name, why in value.why.items()},
        "delete_codes": {name: why.code.name for name, why in value.why.items()},
        "plans": [plan(each) for each in value.plans],
        "coming": [{"tag": each.name, "due_ms": each.due_ms, "is_due": each.is_due} for each in value.coming],
        "notes": sentences(value.notes),
        "note_codes": code_names(value.notes),
        "fingerprint": value.fingerprint,
    }


def tag_target(value: TagTarget) -> Json:
    """What a tag from a time or a watermark names, and what time travel returns there (null: nothing)."""
    return {
        "snapshot": value.snapshot.id,
        "committed_at_ms": value.snapshot.time_ms,
        "watermark": value.snapshot.watermark,
        "tag": value.tag,
        "rule": value.rule,
        "time_travel": as_of(value.travel) if value.travel else None,
        "engine": value.engine,
    }


def costs(history: HistorySummary, now_ms: int, branch: str = MAIN) -> Json:
    """Storage costs of a table: each tag's two costs and bytes by set of holders.

    For `branch`: the retention curve and the best tags to delete. If some versions cannot be read (`problems`), what is
    held is reported as far as it is known, but nothing about what would be freed, because those versions may need it.
    """
    kept = history.existing
    dates = expiries(history.heads, now_ms)
    curve_files, curve_bytes = retention_curve(history, branch)
    retained = range(0 if history.incomplete else len(curve_files))[1:]
    best, untold = _best_drops(history, now_ms, branch)
    return {
        "held_bytes": history.reclaimed(~kept & False, kept, ~kept & False).kept_bytes,
        "tags": tag_costs(history, now_ms),
        "snapshots": [
            {
                "point": holder.point,
                "expires": dates[holder.point].words,
                "not_before_ms": dates[holder.point].not_before_ms,
            }
            for holder in history.holders
            if holder.kind is HolderKind.SNAPSHOT and holder.point in dates
        ],
        "by_holders": by_holders(history).to_pylist(),
        "retention": [
            {"retain": keep, "freed_files": int(curve_files[keep]), "freed_bytes": int(curve_bytes[keep])}
            for keep in retained
        ],
        "best_drops": [{"tags": list(drop.tags), "files": drop.files, "bytes": drop.bytes} for drop in best],
        "best_drops_untold": untold,
        **problems(history),
    }


def tag_costs(history: HistorySummary, now_ms: int) -> list[Json]:
    """One object per tag: what it alone keeps, now and after every branch's own policy has run, and when it expires.

    Numbers are null if another version that stays cannot be read, because what it keeps is unknown.
    """
    if not history.heads.capabilities.tags_hold_files:
        return _later_costs(history, now_ms)
    kept = history.existing
    settled = kept & ~expiring(history, now_ms)
    (files, sizes), (_, later) = exclusive(history, kept), exclusive(history, settled)
    now, then = is_exact(history, kept), is_exact(history, settled)
    dates = expiries(history.heads, now_ms)
    return [
        {
            "point": holder.point,
            "snapshot": holder.snapshot.id if holder.snapshot else None,
            "exclusive_now_files": int(files[position]) if now[position] else None,
            "exclusive_now_bytes": int(sizes[position]) if now[position] else None,
            "exclusive_after_policy_bytes": int(later[position]) if then[position] else None,
            "expires": dates[holder.point].words if holder.point in dates else None,
        }
        for position, holder in enumerate(history.holders)
        if holder.kind is HolderKind.TAG
    ]


def _best_drops(history: HistorySummary, now_ms: int, branch: str) -> tuple[tuple[TagDeletion, ...], str | None]:
    """The best tags to delete, or the reason if there are too many to choose from; other answers are unaffected."""
    if history.incomplete:
        return (), UNREAD
    try:
        return drops(history, now_ms, branch), None
    except Invalid as error:
        return (), str(error)


def _later_costs(history: HistorySummary, now_ms: int) -> list[Json]:
    """Costs of tags that hold no files: deleting one frees nothing now, and something at the next expiry by policy."""
    dates = expiries(history.heads, now_ms)
    split, kept = registry.of(history.heads).by_tags(history, now_ms)
    _, sizes = exclusive(split, kept)
    later = {
        each.name: int(size) for each, size in zip(split.holders, sizes, strict=True) if each.kind is HolderKind.TAG
    }
    return [
        {
            "point": f"tag:{tag.name}",
            "snapshot": tag.snapshot.id,
            "exclusive_now_files": 0,
            "exclusive_now_bytes": 0,
            "exclusive_after_policy_bytes": None if history.incomplete else later.get(tag.name, 0),
            "expires": dates[f"tag:{tag.name}"].words,
        }
        for tag in history.heads.main.tags
    ]


def lifetime(value: FileLifetime) -> Json:
    """What keeps a file and until when, and which commits added and removed it."""

    def commit(found: Snapshot | None) -> Json | None:
        return None if found is None else {"snapshot": found.id, "kind": found.kind, "committed_ms": found.time_ms}

    return {
        **dataclasses.asdict(value.life),
        "branch": value.branch,
        "born": commit(value.born),
        "born_is_exact": value.is_exact,
        "removed": commit(value.removed),
        "is_live": value.is_live,
        "stretches": file_lifetime.table(value).to_pylist(),
    }


def schemas(value: SchemaHistory) -> Json:
    """A branch's columns across its schemas, and each change with what it means for readers."""
    return {
        "versions": [
            {
                "schemas": list(each.ids),
                "missing": list(each.missing),
                "made_at_ms": each.time_ms,
                "snapshots": [snapshot.id for snapshot in each.snapshots],
                "is_current": each.is_current,
                "is_reordered": each.is_reordered,
                "columns": [
                    {"id": key[0], "column": column.name, "type": column.type}
                    for key, column in each.columns.items()
                    if len(key) == 1
                ],
            }
            for each in value.versions
        ],
        "changes": [
            {
                "schema": version.ids[0],
                "since_ms": version.since_ms,
                "id": key[-1],
                "change": each.kind.value,
                "column": each.column,
                "before": each.before,
                "after": each.after,
                "meaning": " ".join(each.meaning),
            }
            for version in value.versions
            for key, changes in version.changes.items()
            for each in changes
        ],
    }


def run(value: Run) -> Json:
    return {**dataclasses.asdict(value), "is_open": value.is_open, "can_undo": value.can_undo}


def receipt(value: Receipt) -> Json:
    return {
        **dataclasses.asdict(value),
        "kept_back": [{"path": path, "why": why.text, "code": why.code.name} for path, why in value.kept_back],
        "problems": sentences(value.problems),
        "problem_codes": code_names(value.problems),
        "notes": sentences(value.notes),
    }


def problems(history: HistorySummary) -> Json:
    """What could not be read in a history, and the first of it as an error; empty if the answer is complete."""
    found = [problem(each) for each in history.problems]
    return {"problems": [each["error"] for each in found], **(found[0] if found else {})}
