"""Unfinished changes: carry them on, or take them back. The journal says what was meant.

Law: nothing made since is touched. A reference that is there again after it was removed is somebody's, even with the
very bytes that were to go: a rollback to a tag writes its expired snapshot anew.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Sequence

from core import urls
from core.errors import Conflict, Invalid
from core.execution import data_commit, metadata_commit, rollback_as_latest
from core.execution import journal as journals
from core.execution.apply import NewTag, finished, repairs, verify
from core.execution.delete_files import Receipt, Work, carry_out, repair_hint
from core.execution.grace_period import SETTLE_S, refuse_settle
from core.execution.journal import Journal, Run
from core.execution.reference_rewrites import Rewrite
from core.execution.stable_read import agreed, read_if_there, read_or_none
from core.execution.table_lock import locked
from core.formats.paimon import layout
from core.messages import counted, told
from core.model.actions import Change, CreateTag, DeleteTags, Expire, OfCommits, RenameTag, ReplaceTag
from core.model.references import MAIN, Heads
from core.storage import presence
from core.table import Progress, Table


def resume(
    run_id: str,
    *,
    open_table: Callable[[str], Table],
    settle_s: float = SETTLE_S,
    progress: Progress | None = None,
    waits: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    journal: Journal | None = None,
    outside: Collection[str] = (),
) -> Receipt:
    """Carry on an unfinished run. References that were made again since (an id after a rollback) are left alone, and
    whatever anything holds by now stays. A resume always ends the run, unless it is cut off or cancelled itself.

    Outside the table it deletes under the roots alone that were named when it began; `outside` names those of a run
    that an older journal keeps, which knows none.
    """
    journal = journal or Journal()
    refuse_settle(settle_s)
    with locked(journal.run(run_id).table):
        found = journal.run(run_id)
        if not found.is_open:
            raise Invalid(
                "Run {run_id} is finished ({state}); there is nothing to resume.", run_id=run_id, state=found.state
            )
        allowed = tuple(found.plan.get("outside", map(urls.spelled, outside)))
        if "outside" not in found.plan:
            _refuse_unnamed(found, journal, allowed)
        if "edit" in found.plan:
            table, how = open_table(found.table), metadata_commit.Manner(settle_s, progress, waits, cancelled)
            return metadata_commit.resume(table, found, functools.partial(_again, table, found), journal, how, allowed)
        tag = NewTag.from_json(found.plan["tag"]) if "tag" in found.plan else None
        if found.change_kind in (CreateTag.__name__, RenameTag.__name__):
            assert tag is not None
            table = open_table(found.table)
            _publish_rest(table, tag)
            return finished(table, run_id, found.fingerprint, tag, journal)
        table = open_table(found.table)
        if "restoration" in found.plan:
            return rollback_as_latest.resume(table, found, journal)
        if isinstance(of := found.change, OfCommits):
            return data_commit.resume(table, found, of, journal)
        removes = journal.removed(run_id)
        is_removed = any(event["what"] == journals.REMOVED for event in journal.events(run_id))
        change = found.change
        if "rewrite" in found.plan:
            rewrite = Rewrite.from_json(found.plan["rewrite"])
            frees, kind = journal.frees(run_id), found.change_kind
            rest = Work(run_id, found.fingerprint, change.branch, kind, removes, (), frees, None, False, allowed)
            made: Callable[[], list[str]] = functools.partial(rewrite.carry_out, table.store, is_first=False)
            made = list if is_removed else made
            return carry_out(table, rest, journal, settle_s if frees else 0, progress, waits, cancelled, made)
        spares = frozenset(path for path, _ in removes) if is_removed else _spared(table, change, found, removes)
        work = Work(
            run_id,
            found.fingerprint,
            change.branch,
            found.change_kind,
            removes,
            found.plan["leaves"],
            journal.frees(run_id),
            repairs(change),
            False,
            allowed,
            spares,
        )
        is_waiting = tag is not None and not is_removed and read_if_there(table, tag.path) == tag.before
        replace = (lambda: tag.publish(table.store)) if tag is not None and is_waiting else None
        return carry_out(table, work, journal, settle_s, progress, waits, cancelled, replace)


def _refuse_unnamed(run: Run, journal: Journal, allowed: Collection[str]) -> None:
    """`Invalid` where an older journal's run still has to delete under roots that nobody names: a resume ends the run,
    and what it keeps back then is left for good."""
    done = set(journal.deleted(run.id))
    paths = [path for path, _, _ in journal.frees(run.id) if urls.is_url(path) and path not in done]
    waiting = [path for path in paths if not any(urls.is_below(path, root) for root in allowed)]
    if waiting:
        raise Invalid(
            "Run {run_id} deletes {files} outside the table's directory, such as {first}, and nobody has said that "
            "these are this table's alone; nothing was changed.",
            run_id=run.id,
            files=counted(len(waiting), "{count} file", "{count} files"),
            first=waiting[0],
            path=waiting[0],
            remedy=told(
                "Resume it with {roots}, where no other table, nor a copy of this one, needs them.",
                roots=" ".join(f"--outside {root}" for root in sorted(set(map(_root, waiting)))),
            ),
        )


def _root(path: str) -> str:
    """The directory above a file's partition and bucket."""
    parts = urls.spelled(path).split("/")[:-1]
    while parts[-1].startswith("bucket-") or "=" in parts[-1]:
        parts.pop()
    return "/".join(parts)


def undo(run_id: str, *, open_table: Callable[[str], Table], journal: Journal | None = None) -> tuple[str, ...]:
    """Write back every reference of a run whose sweep has not started; the paths restored or taken away again."""
    journal = journal or Journal()
    with locked(journal.run(run_id).table):
        found = journal.run(run_id)
        if not found.can_undo:
            why = told("it is finished") if not found.is_open else told("its sweep has started, so files may be gone")
            remedy = told("Resume it instead.") if found.is_open else None
            raise Invalid("Run {run_id} cannot be undone: {why}.", run_id=run_id, why=why, remedy=remedy)
        table = open_table(found.table)
        if "edit" in found.plan:
            restored = metadata_commit.take_back(table, found, journal)
        elif "restoration" in found.plan:
            restored = rollback_as_latest.take_back(table, found)
        elif isinstance(of := found.change, OfCommits):
            restored = data_commit.take_back(table, found, of)
        elif "rewrite" in found.plan:
            metadata_commit.refuse_swept(table, found, journal)
            restored = Rewrite.from_json(found.plan["rewrite"]).take_back(table.store)
        elif "tag" in found.plan:
            restored = _take_back(table, NewTag.from_json(found.plan["tag"]))
        else:
            restored = _write_back(table, found, journal)
        journal.add(run_id, journals.UNDONE, {"restored": restored})
    return tuple(restored)


# expiries and deleted tags -------------------------------------------------------------------------------------------


def _again(table: Table, run: Run, heads: Heads) -> tuple[tuple[str, bytes], ...]:
    """What the same change lets go by these references."""
    change = metadata_commit.what_is_left(run.change, heads)
    return table.preview(change, run.plan["now_ms"], table.history(heads)).removes


def _spared(table: Table, change: Change, run: Run, removes: Sequence[tuple[str, bytes]]) -> frozenset[str]:
    """References that were to go when the run died among them, and may no longer.

    They go in order, so what is there before one that is gone was made again. Of the rest, the same change planned
    now must still let them go: a consumer may have come, or a rollback made one the newest snapshot.
    """
    if isinstance(change, ReplaceTag):
        return frozenset()
    heads = agreed(table)
    there = [heads.references.get(path) == content for path, content in removes]
    begin = max((number + 1 for number, is_there in enumerate(there) if not is_there), default=0)
    waiting = frozenset(path for path, _ in removes[begin:])
    if not waiting:
        return frozenset(path for path, _ in removes)
    again = table.preview(_of_what_is_left(change, heads), run.plan["now_ms"], table.lasting(heads))
    return frozenset(path for path, _ in removes) - (waiting & {path for path, _ in again.removes})


def _of_what_is_left(change: Change, heads: Heads) -> Change:
    """The change without the points it names that are gone already."""
    line = heads.line(change.branch)
    tags = set() if line is None else {each.name for each in line.tags} | {each.name for each in line.unreadable}
    match change:
        case DeleteTags():
            return dataclasses.replace(change, names=tuple(name for name in change.names if name in tags))
        case Expire():
            left = set() if line is None else {each.id for each in line.snapshots}
            return dataclasses.replace(
                change,
                drop_tags=tuple(name for name in change.drop_tags if name in tags),
                snapshots=tuple(number for number in change.snapshots if number in left),
            )
        case _:
            return change


def _write_back(table: Table, run: Run, journal: Journal) -> list[str]:
    change, removes = run.change, journal.removed(run.id)
    _refuse_moved_on(table, run, change, removes)
    metadata_commit.refuse_swept(table, run, journal)
    restored = []
    for path, content in reversed(removes):
        if read_or_none(table, path) != content:
            table.store.create(path, content)  # Conflict where the name was re-used: nothing is overwritten
            restored.append(path)
    if isinstance(change, Expire):
        own = {content for _, content in removes}
        for path in run.plan["leaves"]:
            if read_if_there(table, path) in own:
                table.store.delete(path)
        if run.plan["leaves"]:
            _repair_latest_changelog(table, change.branch)
    if kind := repairs(change):
        repair_hint(table, change.branch, kind)
    return restored


def _refuse_moved_on(table: Table, run: Run, change: Change, removes: Sequence[tuple[str, bytes]]) -> None:
    """`Conflict` before anything is written where what went no longer fits: a name was taken, or what followed is gone.

    Brought back behind a rollback, old snapshots would be the newest; behind another's expiry, they would leave a hole.
    """
    why = {
        path: told("is another's by now")
        for path, content in removes
        if read_or_none(table, path) not in (None, content)
    }
    if (after := _followed(run, change, removes)) is not None and read_or_none(table, after) is None:
        why[after] = told("is gone, too")
    for path, said in why.items():
        raise Conflict(
            told(
                "{path} {said}: others have rolled back or expired since, so nothing was brought back.",
                path=path,
                said=said,
            ),
            path=path,
            remedy="Resume the run instead.",
        )


def _followed(run: Run, change: Change, removes: Sequence[tuple[str, bytes]]) -> str | None:
    """The first snapshot, or long-lived changelog, that stayed after those that went."""
    if not isinstance(change, Expire):
        return None
    kind, label = (layout.CHANGELOG, "changelog:") if change.changelogs_only else (layout.SNAPSHOT, "")
    label = label if change.branch == MAIN else f"branch:{change.branch}/{label}"
    kept = [point[len(label) :] for point, keep, _ in run.plan["points"] if keep and point.startswith(label)]
    first = min((int(each) for each in kept if each.isdecimal()), default=None)
    directory = layout.reference(change.branch, kind, "")
    if first is None or not any(path.startswith(directory) for path, _ in removes):
        return None
    return f"{directory}{first}"


def _repair_latest_changelog(table: Table, branch: str) -> None:
    """Engines believe this hint without looking whether what it names is there."""
    hint, line = (
        layout.hint(branch, layout.LATEST, layout.CHANGELOG),
        table.heads(patience_s=presence.PATIENCE_S).line(branch),
    )
    if line is not None and line.changelogs:
        table.store.put(hint, str(line.changelogs[-1].id).encode())
    else:
        table.store.delete(hint)


# tags ----------------------------------------------------------------------------------------------------------------


def _publish_rest(table: Table, tag: NewTag) -> None:
    """What is still to be done of a tag that is made or renamed."""
    now = read_if_there(table, tag.path)
    if now is None:
        tag.publish(table.store)
    elif now != tag.content:
        raise Conflict(
            told("{path} is another's by now.", path=tag.path),
            path=tag.path,
            remedy="Undo this run; the tag there is left alone.",
        )
    elif tag.removed and read_if_there(table, tag.source) == tag.expected:
        table.store.delete(tag.source)
    if not tag.removed:
        verify(table, tag)


def _take_back(table: Table, tag: NewTag) -> list[str]:
    """The tags as they were before; `Conflict` where another hand has changed them since."""
    now = read_if_there(table, tag.path)
    if tag.kind == ReplaceTag.__name__:
        if now == tag.before:
            return []
        if now is None:
            table.store.create(tag.path, tag.before)
        elif now == tag.content:
            table.store.put(tag.path, tag.before)
        else:
            raise Conflict(
                told("{path} was replaced again by another hand since; it is left as it is.", path=tag.path),
                path=tag.path,
                remedy="Resume the run instead.",
            )
        return [tag.path]
    if now != tag.content:
        return []
    restored = [tag.path]
    if tag.removed:
        old = read_if_there(table, tag.source)
        if old is None:
            table.store.create(tag.source, tag.expected)
            restored.append(tag.source)
        elif old != tag.expected:
            return []  # the old name is another's by now: the new one alone keeps the view
    table.store.delete(tag.path)
    return restored
