"""Time travel in Iceberg: ids and refs are table-wide, and a time means what main pointed to. Pure.

Invariant: a time means the entry of the snapshot-log with the greatest time at or before it, the last listed on a tie;
never the snapshots' own times, and never the oldest if no entry fits. The latest version and branches are read with the
table's current schema; ids, tags and times with the snapshot's. Java's own answer (up to 1.11: the last listed entry
that fits) is reported as well.
"""

from __future__ import annotations

import re

from core.errors import Corrupt, ErrorCode, Invalid, NotFound
from core.messages import Message, both, counted, message
from core.model.lineage import ancestors, members
from core.model.ref_names import tags_there
from core.model.references import MAIN, Heads, Line, Ref, Schema, Snapshot
from core.model.time_hints import of_digits
from core.model.time_travel import AsOf, in_words, not_a_version, parse_time_ms
from core.model.time_travel import unwritten as without_snapshots

GRAMMAR = message(
    "Try a snapshot id, tag:NAME, branch:NAME, branch:NAME/latest~N, latest, earliest, latest~N, "
    'or a time: 2026-11-17, "yesterday 08:00", time:2026-11-17T08:00:00Z.'
)


def resolve(heads: Heads, point: str, branch: str = MAIN) -> AsOf:
    """Resolve `point` on `branch`.

    Raises `Invalid` for an invalid version, `NotFound` (with the nearest ones) if absent, `Corrupt` for a ref without
    its snapshot.
    """
    text = point.strip()
    if text.startswith("branch:"):
        branch, text = _split(heads, text[len("branch:") :])
    if heads.line(branch) is None:
        _refuse_broken(heads, branch, True)
    line = heads.require(branch)
    kind, _, value = text.partition(":")
    if re.fullmatch(r"\d{1,19}", text):
        return _by_id(heads, int(text))
    if kind == "tag" and value:
        return _by_tag(heads, value)
    if kind == "time" and value:
        if branch != MAIN:
            raise Invalid(
                "A time finds what main pointed to, so it cannot be used with branch {branch!r}.",
                branch=branch,
                remedy="Give the branch, an id, or a time without a branch.",
            )
        return _by_time(heads, parse_time_ms(value))
    if text == "latest" or re.fullmatch(r"latest~\d{1,9}", text):
        return _from_latest(heads, line, int(text.partition("~")[2] or 0))
    if text == "earliest":
        chain = _chain(heads, line)
        return _answer(
            heads,
            chain[-1],
            message("The earliest of the {chain} ancestors of {head}.", chain=f"{len(chain):,}", head=_head(line))
            if line.head is not None
            else message("The earliest of the snapshots that are on no branch."),
        )
    if kind == "watermark":
        raise Invalid("Iceberg snapshots have no watermark.", remedy=GRAMMAR)
    raise not_a_version(point, heads, GRAMMAR)


def unwritten(heads: Heads) -> AsOf | None:
    """Return the state of a table without snapshots; None if it has one."""
    schema = heads.main.schema
    if members(heads) or schema is None:
        return None
    return without_snapshots(schema, heads.document.get("last-updated-ms", 0))


def _split(heads: Heads, text: str) -> tuple[str, str]:
    """Split text into a branch's name, which may contain slashes, and the version on it."""
    fitting = [line.branch for line in heads.lines if text == line.branch or text.startswith(f"{line.branch}/")]
    branch = max(fitting, key=len, default=text)
    return branch, text[len(branch) + 1 :] or "latest"


def _by_id(heads: Heads, wanted: int) -> AsOf:
    found = members(heads).get(wanted)
    if found is not None:
        rule = message("Snapshot {id}, given by its id.", id=wanted)
        return _answer(
            heads, found, both(rule, message("Its status: {note}.", note=found.note)) if found.note else rule
        )
    logged = any(number == wanted for _, number in heads.pointer)
    why_missing = message("it has expired; main once pointed to it" if logged else "it is not in the table's metadata")
    why = message("There is no snapshot {id}: {why}.", id=wanted, why=why_missing)
    remedy = of_digits(str(wanted)) or message("Choose another snapshot.")
    raise NotFound(why, path=heads.location, remedy=remedy, code=ErrorCode.NO_SNAPSHOT)


def _by_tag(heads: Heads, name: str) -> AsOf:
    for line in heads.lines:
        for tag in line.tags:
            if tag.name == name:
                rule = message("Tag {name} points to snapshot {id}.", name=name, id=tag.snapshot.id)
                return _answer(heads, tag.snapshot, rule)
    _refuse_broken(heads, name, False)
    why = message("There is no tag {name!r}.", name=name)
    remedy = tags_there(name, [tag.name for line in heads.lines for tag in line.tags], "tag:")
    raise NotFound(why, path=heads.location, remedy=remedy, code=ErrorCode.NO_TAG)


def _refuse_broken(heads: Heads, name: str, is_branch: bool) -> None:
    for ref in heads.refs:
        if ref.name == name and ref.is_branch == is_branch and ref.snapshot_id not in members(heads):
            raise _lost(heads, ref)


def _lost(heads: Heads, ref: Ref) -> Corrupt:
    return Corrupt(
        "Ref {name} points to snapshot {snapshot_id}, which the table does not have.",
        name=ref.name,
        snapshot_id=ref.snapshot_id,
        path=heads.location,
        remedy="Choose another version; the next expiry deletes the ref.",
    )


def _by_time(heads: Heads, time_ms: int) -> AsOf:
    log = heads.pointer
    if not log:
        raise NotFound(
            ("The table's snapshot-log is empty, so what main pointed to at any time cannot be determined."),
            path=heads.location,
            remedy=message("Give a snapshot id or a tag."),
            code=ErrorCode.NO_SNAPSHOT_THEN,
        )
    snapshots = members(heads)
    fitting = [place for place, (entry_ms, _) in enumerate(log) if entry_ms <= time_ms]
    if not fitting:
        first_ms, first = min(log)
        raise NotFound(
            "The snapshot-log has no entry for {at}: it starts at {first}.",
            at=in_words(time_ms),
            first=in_words(first_ms),
            path=heads.location,
            remedy=message(
                (
                    "The first entry points to snapshot {id}; older snapshots that are kept can be read by "
                    "id or tag only."
                ),
                id=first,
            ),
            code=ErrorCode.NO_SNAPSHOT_THEN,
        )
    engine = log[fitting[-1]][1]
    at = max(fitting, key=lambda place: (log[place][0], place))
    entry_ms, wanted = log[at]
    rule = message(
        "From {since} on, main pointed to {id} (snapshot-log, entry {entry} of {entries}).",
        id=wanted,
        since=in_words(entry_ms),
        entry=f"{at + 1:,}",
        entries=f"{len(log):,}",
    )
    if sum(each_ms == entry_ms for each_ms, _ in log) > 1:
        rule = both(
            rule, message("Several entries have that time; the last listed one counts, because it stayed in effect.")
        )
    if any(each_ms > time_ms for each_ms, _ in log[:at]) or any(
        log[place][0] > log[place + 1][0] for place in range(len(log) - 1)
    ):
        rule = both(rule, message("The log is not in order of time (clocks differed)."))
    if wanted not in snapshots:
        raise NotFound(
            "At {at} main pointed to snapshot {id}, which has expired.",
            at=in_words(time_ms),
            id=wanted,
            path=heads.location,
            remedy=message("Engines fail here or return an older state; give a snapshot id or a tag."),
            code=ErrorCode.NO_SNAPSHOT_THEN,
        )
    found = snapshots[wanted]
    if found.time_ms != entry_ms:
        late = "The snapshot itself was committed {at}; main was moved to it later."
        rule = both(rule, message(late, at=in_words(found.time_ms)))
    note = None
    if engine != wanted:
        note = message("Java up to 1.11 finds {id}: it takes the last listed entry that fits.", id=engine)
    elif (first := next(number for each_ms, number in log if each_ms == entry_ms)) != wanted:
        note = message("Java after 1.11 finds {id}: of entries with the same time it takes the first.", id=first)
    before = [snapshots[number] for _, number in log[:at] if number in snapshots]
    after = [snapshots[number] for _, number in log[at + 1 :] if number in snapshots]
    return _answer(
        heads,
        found,
        rule,
        gap_ms=time_ms - entry_ms,
        neighbours=(before[-1] if before else None, after[0] if after else None),
        engine=engine,
        note=note,
    )


def _from_latest(heads: Heads, line: Line, back: int) -> AsOf:
    chain = _chain(heads, line)
    if back >= len(chain):
        raise NotFound(
            "latest~{back} goes back further than the {count} existing snapshots on {branch}.",
            code=ErrorCode.NO_SNAPSHOT,
            back=back,
            count=f"{len(chain):,}",
            branch=_head(line),
            path=heads.location,
            remedy=message("The earliest is snapshot {id} (latest~{back}).", id=chain[-1].id, back=len(chain) - 1),
        )
    if line.head is None:
        before = "{count} snapshot before the newest on no branch.", "{count} snapshots before the newest on no branch."
        rule = counted(back, *before) if back else message("The newest of the snapshots that are on no branch.")
        return _answer(heads, chain[back], rule)
    if back:
        ancestor = (
            "{count} ancestor before snapshot {id}, the head of {branch}.",
            "{count} ancestors before snapshot {id}, the head of {branch}.",
        )
        return _answer(heads, chain[back], counted(back, *ancestor, id=chain[0].id, branch=_head(line)))
    rule = message("The head of {branch}, read with the table's current schema.", branch=_head(line))
    return _answer(heads, chain[0], rule, schema=line.schema)


def _head(line: Line) -> Message:
    if line.head is None:
        return message("no branch")
    return message("the main branch") if line.branch == MAIN else message("branch {name}", name=line.branch)


def _chain(heads: Heads, line: Line) -> list[Snapshot]:
    """Return a branch from its head back; snapshots on no branch are ordered by time, newest first."""
    if line.head is not None:
        return list(ancestors(members(heads), line.head.id))
    ref = next((ref for ref in heads.refs if ref.is_branch and ref.name == line.branch), None)
    if ref is not None:
        raise _lost(heads, ref)
    if not line.snapshots:
        raise NotFound(
            "The table has no current snapshot.",
            path=heads.location,
            remedy="Nothing has been committed to main yet.",
            code=ErrorCode.NO_SNAPSHOT,
        )
    return list(reversed(line.snapshots))


def _answer(
    heads: Heads,
    found: Snapshot,
    rule: str,
    *,
    gap_ms: int | None = None,
    neighbours: tuple[Snapshot | None, Snapshot | None] | None = None,
    engine: int | None = None,
    note: str | None = None,
    schema: Schema | None = None,
) -> AsOf:
    line = next(line for line in heads.lines if found in line.snapshots)
    before, after = neighbours or (  # its parent, wherever that is, and its child on this branch
        None if found.parent_id is None else members(heads).get(found.parent_id),
        next((each for each in line.snapshots if each.parent_id == found.id), None),
    )
    return AsOf(
        point=str(found.id) if line.branch == MAIN else f"branch:{line.branch}/{found.id}",
        branch=line.branch,
        snapshot=found,
        rule=rule,
        before=before,
        after=after,
        gap_ms=gap_ms,
        engine=found.id if engine is None else engine,
        engine_note=note,
        schema=schema or _schema(heads, line, found),
    )


def _schema(heads: Heads, line: Line, snapshot: Snapshot) -> Schema:
    try:
        return line.schemas[snapshot.schema_id]
    except KeyError:
        raise Corrupt(
            "Snapshot {id} was written with schema {schema_id}, which is no longer in the metadata "
            "(it was cleaned up).",
            id=snapshot.id,
            schema_id=snapshot.schema_id,
            path=heads.location,
            remedy="Open an older metadata.json that still has the schema.",
        ) from None
