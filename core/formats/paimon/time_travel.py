"""Time travel in Paimon: which snapshot a version means, and why.

Invariant: a time means the retained snapshot with the greatest id among those committed at or before it; tags are never
used for a time. `latest~N` counts retained snapshots, never ids. `latest` is read with the branch's newest schema, all
other versions with their snapshot's, as in the engine. The result of the engine's own bisection is also computed. If
the answer might be an unreadable snapshot, there is no answer: unknown is not absent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.errors import Corrupt, ErrorCode, NotFound
from core.messages import both, message
from core.model.ref_names import tags_there
from core.model.references import MAIN, Heads, Line, Schema, Snapshot
from core.model.time_hints import of_digits
from core.model.time_travel import AsOf, in_words, not_a_version, parse_time_ms
from core.model.time_travel import unwritten as without_snapshots

GRAMMAR = message(
    "Try a snapshot id such as 12, tag:NAME, branch:NAME, branch:NAME/VERSION, latest, earliest, latest~N, "
    'watermark:NUMBER, or a time: 2026-11-17, "yesterday 08:00", time:2026-11-17T08:00:00Z.'
)


def resolve(heads: Heads, point: str, branch: str = MAIN) -> AsOf:
    """Resolve `point` on `branch`.

    Raises `Invalid` for an invalid version, `NotFound` (with the nearest ones) if absent, `Corrupt` if it may be an
    unreadable one.
    """
    text = point.strip()
    if text.startswith("branch:"):
        branch, _, text = text[len("branch:") :].partition("/")
        text = text or "latest"
    line = heads.require(branch)
    kind, _, value = text.partition(":")
    if re.fullmatch(r"\d{1,19}", text):
        return _by_id(line, int(text))
    if kind == "tag" and value:
        return _by_tag(line, value)
    if kind == "time" and value:
        return _by_time(line, parse_time_ms(value))
    if kind == "watermark" and re.fullmatch(r"-?\d{1,19}", value):
        return _by_watermark(line, int(value))
    if text == "latest" or re.fullmatch(r"latest~\d{1,9}", text):
        return _from_latest(line, int(text.partition("~")[2] or 0))
    if text == "earliest":
        snapshots = _retained(line)
        _refuse_between(line, None, snapshots[0].id)
        return _answer(line, 0, message("The earliest of the {count} retained snapshots.", count=len(snapshots)))
    raise not_a_version(point, heads, GRAMMAR)


def unwritten(heads: Heads) -> AsOf | None:
    """Return the state of a table to which nothing was committed; None if anything suggests that something was."""
    line = heads.main
    if line.snapshots or line.unreadable or line.warnings or line.tags or line.schema is None:
        return None
    return without_snapshots(line.schema, line.schema.time_ms)


def _by_id(line: Line, wanted: int) -> AsOf:
    for index, snapshot in enumerate(line.snapshots):
        if snapshot.id == wanted:
            return _answer(line, index, message("Snapshot {id}, given by its id.", id=wanted))
    _refuse_unreadable(line, "snapshot", str(wanted))
    tags = [f"tag:{tag.name}" for tag in line.tags if tag.snapshot.id == wanted]
    closest = min(line.snapshots, key=lambda each: abs(each.id - wanted), default=None)
    way = message("No snapshot is retained.")
    if closest:
        way = message("The nearest retained snapshot is {id}.", id=closest.id)
    if day := of_digits(str(wanted)):
        way = both(day, way)
    if tags:
        way = both(message("It expired, but {tags} still keeps it.", tags=" and ".join(tags)), way)
    raise NotFound(
        "Snapshot {id} is not retained{on}.", id=wanted, on=_on(line), remedy=way, code=ErrorCode.NO_SNAPSHOT
    )


def _by_tag(line: Line, name: str) -> AsOf:
    for tag in line.tags:
        if tag.name == name:
            break
    else:
        _refuse_unreadable(line, "tag", name)
        remedy = tags_there(name, [each.name for each in line.tags], "tag:")
        raise NotFound("There is no tag {name!r}{on}.", name=name, on=_on(line), remedy=remedy, code=ErrorCode.NO_TAG)
    own = tag.snapshot
    is_retained = any(each.id == own.id and each.content == own.content for each in line.snapshots)
    kept = "Tag {name} keeps snapshot {id}."
    expired = "Tag {name} keeps snapshot {id}, which has expired: only tags still hold it."
    rule = message(kept, name=name, id=own.id) if is_retained else message(expired, name=name, id=own.id)
    before = next((each for each in reversed(line.snapshots) if each.id < own.id), None)
    after = next((each for each in line.snapshots if each.id > own.id), None)
    return AsOf(
        _text(line, f"tag:{name}"), line.branch, own, rule, before, after, None, own.id, None, _schema(line, own)
    )


def _by_time(line: Line, time_ms: int) -> AsOf:
    snapshots = _retained(line)
    fitting = [index for index, each in enumerate(snapshots) if each.time_ms <= time_ms]
    engine, engine_note = _bisect(line, time_ms)
    if not fitting:
        _refuse_between(line, None, snapshots[0].id)
        first = min(snapshots, key=lambda each: each.time_ms)
        older = [tag for tag in line.tags if tag.snapshot.time_ms <= time_ms]
        newest = max(older, key=lambda tag: (tag.snapshot.time_ms, tag.snapshot.id), default=None)
        way = message("The nearest is snapshot {id}, committed {at}.", id=first.id, at=in_words(first.time_ms))
        if newest:
            at = in_words(newest.snapshot.time_ms)
            way = both(way, message("There is an older tag: tag:{name}, committed {at}.", name=newest.name, at=at))
        why = "No retained snapshot{on} was committed at or before {at}."
        raise NotFound(message(why, on=_on(line), at=in_words(time_ms)), remedy=way, code=ErrorCode.NO_SNAPSHOT_THEN)
    index = fitting[-1]
    found = snapshots[index]
    _refuse_between(line, found.id, snapshots[index + 1].id if index + 1 < len(snapshots) else None)
    ties = sum(each.time_ms == found.time_ms for each in snapshots)
    rule = message(
        ("The highest id among the {count} retained snapshots committed at or before {asked}: {id}, committed {at}."),
        count=f"{len(fitting):,}",
        asked=in_words(time_ms),
        id=found.id,
        at=in_words(found.time_ms),
    )
    if ties > 1:
        rule = both(rule, message("{ties} snapshots have that commit time; the last of them counts.", ties=ties))
    if any(each.time_ms > time_ms for each in snapshots[:index]):
        skew = "Commit times do not increase with ids here (clocks differed), so a lower id may be newer."
        rule = both(rule, message(skew))
    if engine != found.id and engine_note is None:
        own = message("nothing") if engine is None else engine
        engine_note = message(
            "Paimon's own search finds {what}: it stops at equal or out-of-order commit times.", what=own
        )
    return _answer(line, index, rule, time_ms - found.time_ms, (engine, engine_note))


def _by_watermark(line: Line, watermark: int) -> AsOf:
    snapshots = _retained(line)
    past = "The first retained snapshot whose watermark is at or past {watermark}."
    for index, each in enumerate(snapshots):
        if each.watermark is not None and each.watermark >= watermark:
            _refuse_between(line, snapshots[index - 1].id if index else None, each.id)
            by_id = {own.id: own for own in snapshots}
            engine, note = searched_by_watermark(by_id, snapshots[0].id, snapshots[-1].id, watermark)
            if engine != each.id and note is None:
                finds = "Paimon's own search finds {what}: it stops at equal, missing or out-of-order watermarks."
                note = message(finds, what=message("nothing") if engine is None else engine)
            return _answer(line, index, message(past, watermark=watermark), None, (engine, note))
    _refuse_between(line, snapshots[-1].id, None)
    known = [each.watermark for each in snapshots if each.watermark is not None]
    what = message("No retained snapshot has a watermark.")
    if known:
        what = message("The highest watermark is {watermark}.", watermark=max(known))
    why = "No retained snapshot{on} has a watermark at or past {watermark}."
    raise NotFound(message(why, on=_on(line), watermark=watermark), remedy=what, code=ErrorCode.NO_SNAPSHOT_THEN)


def _from_latest(line: Line, back: int) -> AsOf:
    snapshots = _retained(line)
    ids = sorted([*(each.id for each in snapshots), *_unreadable_ids(line)])
    if back >= len(ids):
        why = "latest~{back} goes back further than the {count} retained snapshots{on}."
        way = "The earliest is snapshot {id} (latest~{back})."
        raise NotFound(
            message(why, back=back, count=f"{len(ids):,}", on=_on(line)),
            remedy=message(way, id=ids[0], back=len(ids) - 1),
            code=ErrorCode.NO_SNAPSHOT,
        )
    wanted = ids[-1 - back]
    _refuse_unreadable(line, "snapshot", str(wanted))
    index = next(index for index, each in enumerate(snapshots) if each.id == wanted)
    if back:
        return _answer(
            line, index, message("{back} retained snapshots before the newest, {id}.", back=back, id=ids[-1])
        )
    schema = _newest_schema(line, snapshots[index])
    rule = message("The newest snapshot.")
    if schema.id != snapshots[index].schema_id:
        rule = message("The newest snapshot, read with the newest schema, {schema}.", schema=schema.id)
    return _answer(line, index, rule, schema=schema)


def _bisect(line: Line, time_ms: int) -> tuple[int | None, str | None]:
    by_id = {each.id: each for each in line.snapshots}
    return searched(by_id, line.snapshots[0].id, line.snapshots[-1].id, time_ms)


def searched(by_id: Mapping[int, Snapshot], low: int, high: int, time_ms: int) -> tuple[int | None, str | None]:
    """Search over ids step by step as the engine does: it stops at the first snapshot with exactly this time."""
    if by_id[low].time_ms > time_ms:
        return None, None
    best = None
    while low <= high:
        middle = low + (high - low) // 2
        if middle not in by_id:
            return None, message("Paimon's own search fails: it asks for snapshot {id}, which is missing.", id=middle)
        if by_id[middle].time_ms == time_ms:
            return middle, None
        if by_id[middle].time_ms > time_ms:
            high = middle - 1
        else:
            best, low = middle, middle + 1
    return best, None


def searched_by_watermark(
    by_id: Mapping[int, Snapshot], low: int, high: int, watermark: int
) -> tuple[int | None, str | None]:
    """Search over ids step by step as the engine does: it stops at the first snapshot with exactly this watermark.

    From a snapshot without one it goes back to one that has one, but answers with the snapshot it came from.
    """
    marks = {number: _mark(each) for number, each in by_id.items()}
    if by_id[high].watermark is None:
        return None, message("Paimon's own search finds nothing: the newest snapshot has no watermark.")
    best = None
    try:
        while marks[low] is None:
            low += 1
        if (first := marks[low]) is not None and first >= watermark:
            return low, None
        while low <= high:
            middle = at = low + (high - low) // 2
            while (own := marks[at]) is None and at >= low:
                at -= 1
            if own == watermark:
                return middle, None
            if own is not None and own > watermark:
                high, best = at - 1, middle
            elif at < low:
                endless = "Paimon's own search does not end: snapshot {id} has no watermark."
                return None, message(endless, id=middle)
            else:
                low = at + 1
    except KeyError as missing:
        id = missing.args[0]
        return None, message("Paimon's own search fails: it asks for snapshot {id}, which is missing.", id=id)
    return best, None


def _mark(snapshot: Snapshot) -> int | None:
    """Return the watermark as the engine compares it: the smallest number, which stands for none, is a number, too."""
    return snapshot.fields.get("watermark") if snapshot.watermark is None else snapshot.watermark


def _answer(
    line: Line,
    index: int,
    rule: str,
    gap_ms: int | None = None,
    engine: tuple[int | None, str | None] | None = None,
    schema: Schema | None = None,
) -> AsOf:
    found = line.snapshots[index]
    engine_id, note = engine or (found.id, None)
    return AsOf(
        point=_text(line, str(found.id)),
        branch=line.branch,
        snapshot=found,
        rule=rule,
        before=line.snapshots[index - 1] if index else None,
        after=line.snapshots[index + 1] if index + 1 < len(line.snapshots) else None,
        gap_ms=gap_ms,
        engine=engine_id,
        engine_note=note,
        schema=schema or _schema(line, found),
    )


def _retained(line: Line) -> Sequence[Snapshot]:
    if not line.snapshots:
        _refuse_between(line, None, None)
        way = message("Nothing has been committed yet, or everything has expired.")
        raise NotFound("There is no snapshot{on}.", on=_on(line), remedy=way, code=ErrorCode.NO_SNAPSHOT)
    return line.snapshots


def _schema(line: Line, snapshot: Snapshot) -> Schema:
    try:
        return line.schemas[snapshot.schema_id]
    except KeyError:
        path = f"schema/schema-{snapshot.schema_id}"
        raise Corrupt(
            "Snapshot {id} was written with schema {schema}, which cannot be read.",
            id=snapshot.id,
            schema=snapshot.schema_id,
            path=path,
        ) from None


def _newest_schema(line: Line, newest: Snapshot) -> Schema:
    """Return the branch's newest schema, with which the engine reads the newest snapshot, whichever it was written
    with. Raises `Corrupt` if a schema file that may be the newest cannot be read."""
    schema = line.schema
    if schema is None or schema.id < newest.schema_id:
        return _schema(line, newest)
    for each in line.unreadable:
        if each.kind == "schema" and (not each.name.isdecimal() or int(each.name) > schema.id):
            remedy = message("Restore the file, or give snapshot {id}: it is read with its own schema.", id=newest.id)
            raise Corrupt(each.problem.sentence(), path=each.problem.path, remedy=remedy)
    return schema


def _refuse_unreadable(line: Line, kind: str, name: str) -> None:
    for each in line.unreadable:
        if (each.kind, each.name) == (kind, name):
            raise Corrupt(each.problem.sentence(), path=each.problem.path)


def _unreadable_ids(line: Line) -> list[int]:
    return [int(each.name) for each in line.unreadable if each.kind == "snapshot"]


def _refuse_between(line: Line, after: int | None, before: int | None) -> None:
    """Raise `Corrupt` if a snapshot with an id strictly between these two cannot be read."""
    for each in line.unreadable:
        if each.kind != "snapshot":
            continue
        number = int(each.name)
        if (after is None or number > after) and (before is None or number < before):
            raise Corrupt(
                both(
                    message("Snapshot {id} may be the requested one, but it cannot be read.", id=number),
                    each.problem.sentence(),
                ),
                path=each.problem.path,
                remedy=message("Restore the file, or give a snapshot id or tag instead."),
            )


def _text(line: Line, own: str) -> str:
    return own if line.branch == MAIN else f"branch:{line.branch}/{own}"


def _on(line: Line) -> str:
    return "" if line.branch == MAIN else message(" on branch {name}", name=line.branch)
