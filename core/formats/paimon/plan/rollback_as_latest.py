"""Plan a rollback as latest: nothing is deleted; the next snapshot gets the content of an old one, kept by a tag. Pure.

Source: docs/paimon.md §9.2, Paimon 2.0.
"""

from __future__ import annotations

import dataclasses
import itertools

import pyarrow.compute as pc

from core.errors import ErrorCode, Invalid, Unsupported
from core.formats.paimon import layout
from core.formats.paimon.plan import automatic_tags, effects
from core.formats.paimon.time_travel import resolve
from core.formats.paimon.write import documents
from core.messages import Reason, counted, message
from core.model import codes
from core.model.actions import Rollback
from core.model.effects import CommitSnapshot
from core.model.history import History
from core.model.plan import Plan
from core.model.references import MAIN, Line
from core.model.time_travel import AsOf
from core.planning import reclaim as planning

RULES = codes.PAIMON_AS_LATEST()


def preview(history: History, change: Rollback, now_ms: int) -> Plan:
    """Plan `change`.

    Raises `Invalid` for an invalid target, `Corrupt` if either snapshot cannot be read completely, `Unsupported` for a
    chain table.
    """
    heads = history.heads
    found, line = resolve(heads, change.point, change.branch), heads.line(change.branch)
    latest = None if line is None else line.latest
    target = found.snapshot
    if line is None or latest is None or change.any_line or found.branch != line.branch:
        raise Invalid(
            "A Paimon branch can be rolled back only to a snapshot or tag of its own.",
            remedy="Choose a snapshot or tag of this branch.",
        )
    if line.options.get("chain-table.enabled", "").strip().lower() == "true":
        raise Unsupported(
            "In a chain table, a rollback as latest also concerns partitions of the other branches.",
            remedy="Roll back with the table's own engine, or delete the later snapshots (--destructive).",
        )
    if latest.id == target.id and latest.content == documents.untagged(target.content):
        raise Invalid(
            "Snapshot {id} is already the newest; there is nothing to do.",
            id=target.id,
            code=ErrorCode.NOTHING_TO_DO,
        )
    prefix = "" if line.branch == MAIN else f"branch:{line.branch}/"
    positions = history.require(f"{prefix}{latest.id}"), history.require(found.point)
    now, then = (history.files_at(position, is_ordered=False)["path"] for position in positions)
    removed_count, restored_count = (
        pc.sum(pc.invert(pc.is_in(a, value_set=b))).as_py() or 0 for a, b in ((now, then), (then, now))
    )
    _, is_tag, name = found.point.rpartition("tag:")
    source = layout.reference(line.branch, layout.TAG if is_tag else layout.SNAPSHOT, name if is_tag else target.id)
    lasting = {each.name for each in line.tags if each.retained is None}
    is_kept = (
        is_tag and name in lasting and line.options.get(automatic_tags.MODE, "none").lower() == "none"
    )  # no tag expires
    used_names = {each.name for each in line.tags}
    free = (f"rollback-to-as-latest-{target.id}-{ms}" for ms in itertools.count(now_ms))
    kept = name if is_kept else next(each for each in free if each not in used_names)
    new = layout.reference(line.branch, layout.SNAPSHOT, latest.id + 1)
    warnings = [
        codes.AS_LATEST(
            id=latest.id + 1,
            point=found.point,
            goes=counted(removed_count, "{count} current data file is", "{count} current data files are"),
            comes=counted(restored_count, "{count} file of that version is", "{count} files of that version are"),
        ),
        codes.AS_LATEST_TAG(
            name=kept,
        ),
    ]
    warnings += elsewhere(line, change.point, found)
    leaves = [new] if is_kept else [layout.reference(line.branch, layout.TAG, kept), new]
    plan = planning.drafted(history, change, RULES, now_ms, history.existing.copy(), {}, leaves, warnings)
    newest = layout.reference(line.branch, layout.SNAPSHOT, latest.id)
    doing = effects.restored(
        CommitSnapshot(
            line.branch,
            newest,
            heads.references[newest],
            f"rollback-to-as-latest-{plan.fingerprint[:32]}",
            restores=source,
            restored_content=heads.references[source],
        ),
        found.point,
        None if is_kept else kept,
    )
    return dataclasses.replace(plan, effects=doing, source=target)


def elsewhere(line: Line, point: str, found: AsOf) -> list[Reason]:
    """Return a reason if the engine's own rollback to this time or watermark would reach another snapshot."""
    notes = list[Reason]()
    kind, _, value = point.strip().partition(":")
    if kind != "watermark" and found.engine_note is not None:
        notes.append(codes.ENGINE_SEARCH(said=found.engine_note))
    if kind == "watermark":
        fitting = [each.id for each in line.snapshots if each.watermark is not None and each.watermark <= int(value)]
        theirs = message("moves to {id}", id=max(fitting)) if fitting else message("finds no snapshot")
        if max(fitting, default=None) != found.snapshot.id:
            notes.append(
                codes.WATERMARK_ELSEWHERE(
                    id=found.snapshot.id,
                    theirs=theirs,
                )
            )
    return notes
