"""Damages the metadata of a small table at random, plans and applies changes on it, and checks that no needed file is
deleted.

The table is read before it is damaged; what the kept versions need at that time decides. A damaged table may be
rejected, or lead to a smaller plan. A needed file must never be deleted, and only our own errors may be raised.

There are two kinds of damage. Bytes: flipped bits; pieces cut, duplicated, moved or zeroed; changed digits. Records: a
well-formed Avro file in which one field of one record is changed, or a record is lost, duplicated or taken from
elsewhere, with or without matching counts in other files.

Invariant: damage that cannot be detected is not a case (see `nobody_tells`); nothing else is left out.
"""

from __future__ import annotations

import dataclasses
import io
import json
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest import mock

import fastavro

from core.errors import SnapscopeError
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.avro import decode as avro
from core.model.actions import Change, CleanOrphans, DeleteTags, Expire
from core.table import open_table
from tests.support import builders, set_model
from tests.support.builders import HOUR_MS, START_MS, TableBuilder
from tests.support.execution import ground

Damage = Callable[[random.Random, bytes, list[bytes]], bytes]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result for one damaged table."""

    kind: str  # rejected at opening, planning or applying; carried out; planned; undetectable
    damage: str
    lost: tuple[tuple[str, str], ...]  # (kept version, file it needs)


@dataclasses.dataclass
class Subject:
    """An undamaged table, what its versions need, and a directory in which copies are damaged."""

    good: Path
    root: Path
    now_ms: int
    truth: set_model.Model
    journal: Journal
    has_sizes: bool


def subject(directory: Path, chance: random.Random) -> Subject:
    """Create a small random table: partitions, compactions, upgrades, indexes, tags, a branch, merged manifests."""
    before, builders.MERGE_AFTER = builders.MERGE_AFTER, chance.choice((3, 4, 30))
    try:
        return _subject(directory, chance)
    finally:
        builders.MERGE_AFTER = before


def _subject(directory: Path, chance: random.Random) -> Subject:
    good = ground.warehouse(directory / "good")
    keys = ["dt"] if chance.random() < 0.5 else []
    table = TableBuilder(good, partition_keys=keys, codec=chance.choice(("null", "null", "deflate", "zstandard")))
    has_sizes = chance.random() < 0.5
    lines = [table]
    for step in range(chance.randint(6, 11)):
        line = chance.choice(lines) if chance.random() < 0.3 else table
        partition = (chance.choice(("2026-01-01", "2026-01-02")),) if keys else ()
        here = [each for each in line.live() if each.partition == partition]
        adds = [
            line.file(
                chance.randint(500, 60_000), rows=chance.randint(1, 5_000), partition=partition,
                extra=(".index",) if chance.random() < 0.2 else (),
            )
            for _ in range(chance.randint(1, 3))
        ]  # fmt: skip
        fields: dict[str, Any] = {}
        if chance.random() < 0.25:
            fields["index"] = [line.index_file(chance.randint(30, 400), partition=partition) for _ in range(2)]
        if chance.random() < 0.2:
            fields["statistics"] = line is table
        if here and chance.random() < 0.35:
            rows = sum(each.rows for each in here)
            line.commit([line.file(9_000, rows=rows, partition=partition, source=1)], here, kind="COMPACT", **fields)
        elif here and chance.random() < 0.2:
            line.commit([dataclasses.replace(here[0], level=5)], here[:1], kind="COMPACT", **fields)
        elif here and chance.random() < 0.3:
            line.commit(adds, here[:1], kind="OVERWRITE", **fields)
        else:
            line.commit(adds, **fields)
        if not has_sizes:
            _drop_sizes(line)
        if chance.random() < 0.3:
            line.tag(f"t{step}", chance.choice(sorted(line.commits)))
        if len(lines) == 1 and table.tags and chance.random() < 0.3:
            lines.append(table.branch("b", chance.choice(sorted(table.tags))))
    if chance.random() < 0.2:
        table.consumer("c", max(table.commits) - 1)
    now = max(line.next_ms for line in lines) + HOUR_MS
    truth = set_model.read(good)
    root = ground.warehouse(directory / "damaged")
    return Subject(good, root, now, truth, Journal(directory / "journal.sqlite"), has_sizes)


def _drop_sizes(line: TableBuilder) -> None:
    """Drop the sizes of manifest lists, as writers up to 1.0 did."""
    number = line._last_id
    commit = line.commits[number]
    document = {key: value for key, value in commit.document.items() if not key.endswith("ListSize")}
    line.commits[number] = line._last = dataclasses.replace(commit, document=document)
    line._json(f"snapshot/snapshot-{number}", document)


# damage by bytes -----------------------------------------------------------------------------------------------------


def flip(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    out = bytearray(data)
    out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def scribble(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    out = bytearray(data)
    for _each in range(chance.choice((1, 1, 2, 4, 16))):
        out[chance.randrange(len(out))] = chance.randrange(256)
    return bytes(out)


def cut(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    return data[: chance.randrange(len(data))]


def remove(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + data[at + chance.choice((1, 1, 2, 8, 64)) :]


def insert(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.choice((1, 1, 2, 8))) + data[at:]


def double(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    at, size = chance.randrange(len(data)), chance.choice((1, 8, 64, 300))
    return data[:at] + data[at : at + size] + data[at:]


def move(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    out, size = bytearray(data), chance.choice((1, 4, 16, 64))
    a, b = chance.randrange(len(data)), chance.randrange(len(data))
    out[a : a + size], out[b : b + size] = data[b : b + size], data[a : a + size]
    return bytes(out)


def zero(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes(len(data[at : at + 40])) + data[at + 40 :]


def digit(chance: random.Random, data: bytes, _: list[bytes]) -> bytes:
    """Change a digit: names that share a uuid differ only in their last digit."""
    places = [found.start() for found in re.finditer(rb"[0-9]", data)]
    if not places:
        return flip(chance, data, [])
    at = chance.choice(places)
    return data[:at] + str(chance.randrange(10)).encode() + data[at + 1 :]


def other(chance: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Replace the content by that of another file of the same kind, as after a failed restore."""
    return chance.choice(others)


def empty(*_: object) -> bytes:
    return b""


BYTES: tuple[Damage, ...] = (flip, flip, scribble, cut, remove, insert, double, move, zero, digit, digit, other, empty)


# damage by records ---------------------------------------------------------------------------------------------------


def records(chance: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Change one thing in a well-formed file; padding keeps the file size if possible."""
    reader = fastavro.reader(io.BytesIO(data))
    schema, codec = reader.writer_schema, reader.codec
    found: list[Any] = list(reader)
    if not found:
        return flip(chance, data, others)
    what = chance.randrange(8)
    at = chance.randrange(len(found))
    if what == 0:
        del found[at]
    elif what == 1:
        found.append(found[at])
    elif what == 2:
        found[at] = found[chance.randrange(len(found))]
    elif what == 3:
        elsewhere = _records(chance.choice(others))
        if elsewhere:
            found[at] = chance.choice(elsewhere)
    else:
        found[at] = _field(chance, found[at], found)
    out = io.BytesIO()
    fastavro.writer(out, schema, found, codec=codec, sync_marker=bytes(16))
    return out.getvalue()


def _field(chance: random.Random, record: dict[str, Any], found: list[Any]) -> dict[str, Any]:
    """Change one field of a record: to a neighbour's value, or slightly."""
    name = chance.choice(sorted(record))
    value = record[name]
    theirs = chance.choice(found)[name]
    if isinstance(value, dict):
        return {**record, name: _field(chance, value, [each[name] for each in found])}
    if theirs != value and chance.random() < 0.5:
        return {**record, name: theirs}
    match value:
        case bool() | None:
            return record
        case int():
            return {**record, name: chance.choice((0, 1, value + 1, max(value - 1, 0), value * 2))}
        case str() if value:
            cut_at = chance.randrange(len(value))
            return {**record, name: value[:cut_at] + chance.choice("0123456789abcdef") + value[cut_at + 1 :]}
        case bytes() if value:
            return {**record, name: flip(chance, value, [])}
        case list():
            return {**record, name: value[1:]}
        case _:
            return record


def fields(chance: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Remove, rename or retype one field of a JSON document, or give it another document's value."""
    document = json.loads(data)
    name = chance.choice(sorted(document))
    what = chance.randrange(5)
    value = document.pop(name)
    if what == 1:
        document[name[:-1]] = value
    elif what == 2:
        document[name] = chance.choice(
            (None, "", 0, -1, 2**70, [], {}, True, "x", 1.5, "../../x", "manifest-list-none")
        )
    elif what == 3:
        theirs = json.loads(chance.choice(others))
        document[name] = theirs.get(name)
    elif what == 4 and document:
        swap = chance.choice(sorted(document))
        document[name], document[swap] = document[swap], value
    return json.dumps(document).encode()


# what nobody could tell ---------------------------------------------------------------------------------------------


def nobody_tells(root: Path, path: str, before: bytes) -> str | None:
    """Explain why damage to this file leaves a consistent, if different, table; None otherwise.

    What is then deleted is not needed by that table, and no reader could know better.
    """
    after = (root / path).read_bytes()
    name = path.rpartition("/")[2]
    if name.startswith("index-manifest-"):
        was, now = _index_files(before), _index_files(after)
        # Its size and number of entries are not recorded anywhere. A missing file or a wrong size can be detected.
        if was is None or now is None or now >= was:
            return None
        return "an index manifest of fewer files" if all(_is_there(root, *each) for each in now - was) else None
    if not name.startswith(("snapshot-", "tag-")) or after == before:
        return None
    documents = {each: each.read_bytes() for each in _documents(root) if each != root / path}
    if name.startswith("tag-") and after in documents.values():
        return "the tag names another snapshot: somebody may have replaced it"
    try:
        old, new = json.loads(before), json.loads(after)
        changed = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    except (ValueError, AttributeError, RecursionError):
        return None
    if changed == {"baseManifestList"} and _manifests(root, old) == _manifests(root, new):
        return "another list of the very same manifests: those of a branch, beside main's"
    copies = [each for each in documents.values() if json.dumps(old["deltaManifestList"]).encode() in each]
    if copies or not changed or not changed <= {"indexManifest", "statistics"}:
        return None
    places = {"indexManifest": "manifest", "statistics": "statistics"}
    if all(new.get(key) is None or (root / places[key] / str(new[key])).is_file() for key in changed):
        return "another index manifest or statistics, or none, in the only document of that snapshot"
    return None


def _manifests(root: Path, document: dict[str, Any]) -> list[str] | None:
    file = root / "manifest" / str(document.get("baseManifestList"))
    return [each["_FILE_NAME"] for each in _records(file.read_bytes())] if file.is_file() else None


def _index_files(data: bytes) -> set[tuple[str, int]] | None:
    """Return names and sizes; None if the file cannot be read."""
    try:
        return {(each["_FILE_NAME"], each["_FILE_SIZE"]) for each in _records(data)}
    except Exception:  # noqa: BLE001 - whatever damaged bytes make of a decoder
        return None


def _records(data: bytes) -> list[Any]:
    return list(fastavro.reader(io.BytesIO(data)))


def _is_there(root: Path, name: str, size: int) -> bool:
    file = root / "index" / name
    return "/" not in name and file.is_file() and file.stat().st_size == size


def _documents(root: Path) -> list[Path]:
    return [each for kind in ("snapshot", "tag") for each in root.glob(f"**/{kind}/{kind}-*")]


# one case ------------------------------------------------------------------------------------------------------------


def kinds(root: Path) -> dict[str, list[str]]:
    """Group the metadata files by kind."""
    found: dict[str, list[str]] = {}
    for path in sorted(ground.disk(root)):
        directory, _, name = path.rpartition("/")
        if "bucket-" in directory or directory in ("index", "statistics"):
            continue
        kind = re.sub(r"-?[0-9a-f]{8}-.*|-[^-]*$", "", name)
        found.setdefault(kind, []).append(path)
    return found


def case(given: Subject, chance: random.Random) -> Outcome:
    """Damage the table once, then plan and possibly apply one change."""
    ground.copied(given.good, given.root)
    by_kind = kinds(given.root)
    weights = {"manifest": 5, "manifest-list": 4, "index-manifest": 3, "snapshot": 4, "tag": 3}
    names = sorted(by_kind)
    kind = chance.choices(names, [weights.get(name, 1) for name in names])[0]
    said, silent = [], None
    count = min(chance.choice((1, 1, 1, 1, 2, 3)), len(by_kind[kind]))
    everything = [(given.root / path).read_bytes() for path in by_kind[kind]]
    for number in chance.sample(range(len(everything)), count):
        path, data = by_kind[kind][number], everything[number]
        special = fields if kind in ("snapshot", "tag", "schema", "consumer") else records
        damages = BYTES if data.isdigit() or not data else (*BYTES, *[special] * 6)
        damage = chance.choice(damages)
        (given.root / path).write_bytes(damage(chance, data or b"0", everything))
        said.append(f"{damage.__name__} {path}")
        silent = silent or nobody_tells(given.root, path, data)
    change = _change(given, chance)
    if silent is not None:
        return Outcome("damaged without a trace", silent, ())
    return _try(given, change, f"{' and '.join(said)}; {change}", chance.random() < 0.15)


def _change(given: Subject, chance: random.Random) -> Change:
    tags = sorted(point.removeprefix("tag:") for point in given.truth.holders if point.startswith("tag:"))
    kind = chance.randrange(10)
    if kind == 0:
        return CleanOrphans(older_than_ms=given.now_ms)
    if kind <= 2 and tags:
        return DeleteTags(tuple(chance.sample(tags, chance.randint(1, len(tags)))))
    dropped = tuple(chance.sample(tags, chance.randint(0, len(tags)))) if chance.random() < 0.5 else ()
    branch = (
        "b" if chance.random() < 0.15 and any(point.startswith("branch:") for point in given.truth.holders) else "main"
    )
    most = chance.randint(1, 4)
    return Expire(
        branch=branch,
        retain_max=most,
        retain_min=chance.randint(1, most),
        drop_tags=dropped if branch == "main" else (),
    )


def _try(given: Subject, change: Change, damage: str, is_applied: bool) -> Outcome:
    if isinstance(change, CleanOrphans):
        ground.age(given.root, ground.files(given.root), START_MS / 1000)
    try:
        table = open_table(str(given.root))
        history = table.history(table.heads())  # read as is: no writer is going to complete it
    except SnapscopeError:
        return Outcome("rejected when opened", damage, ())
    try:
        plan = table.preview(change, given.now_ms, history)
    except SnapscopeError:
        return Outcome("rejected when planned", damage, ())
    kept = [verdict.point for verdict in plan.points if verdict.keep and verdict.point in given.truth.holders]
    needed = {path: point for point in kept for path in given.truth.holders[point].paths}
    if not is_applied and not needed.keys() & set(plan.frees["path"].to_pylist()):
        return Outcome("planned", damage, ())
    before = ground.disk(given.root)
    try:
        apply(table, plan, settle_s=0, journal=given.journal)
        kind = "run"
    except SnapscopeError:
        kind = "rejected when run"
    for run in given.journal.runs():
        if run.is_open:
            given.journal.add(run.id, "undone", {})
    gone = before - ground.disk(given.root)
    return Outcome(kind, damage, tuple(sorted((needed[path], path) for path in gone & needed.keys())))


def run(seed: int, cases: int) -> tuple[Counter[str], list[Outcome]]:
    """Run cases on one table; return counts of the results, and the cases in which a needed file was lost."""
    chance = random.Random(seed)
    directory = Path(tempfile.mkdtemp(prefix="snapscope-fuzz-"))
    ended: Counter[str] = Counter()
    bad = []
    try:
        given = subject(directory, chance)
        for _ in range(cases):
            with mock.patch.object(avro, "PATIENCE_S", 2.0):
                outcome = case(given, chance)
            ended[outcome.kind] += 1
            if outcome.lost:
                bad.append(outcome)
    finally:
        shutil.rmtree(directory)
    return ended, bad


def run_apart(seeds: Sequence[int], cases: int) -> tuple[Counter[str], list[Outcome]]:
    """Run each seed in a separate process, because a decoder that never ends occupies a core for as long as its process
    lives."""
    ended: Counter[str] = Counter()
    bad = []
    with ProcessPoolExecutor(2, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        for one, lost in pool.map(run, seeds, [cases] * len(seeds)):
            ended += one
            bad += lost
    return ended, bad
