"""Diff: which files, columns and options differ between two versions, and which of that is only compaction.

Invariant: added = intervals over b and not over a; removed = the reverse. Rows and bytes are exact sums over those
files. A file belongs to a compaction if a COMPACT commit on the way from a to b added it, or removed it while its rows
stay in the table. Between two branches, that way leads through the snapshot at which they parted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.messages import counted, message
from core.model.history import History
from core.model.intervals import Intervals, Ints, Mask, maximal
from core.model.lineage import ancestors, apart, members
from core.model.references import Field, HolderKind, Schema, Snapshot
from core.model.time_travel import AsOf

COMPACTION = ("COMPACT", "replace")  # the kinds of rewriting commits in Paimon and Iceberg
NO_BUCKET = -(2**31)  # joins do not match nulls
_GROUPED = ("files", "bytes", "rows")
_Way = tuple[int, int | None]  # the position of a version, and that on its branch where the other's parted from it


@dataclass(frozen=True)
class Diff:
    """The difference from version `a` to version `b`.

    added, removed: the columns of `History.files_at` and `change`: "data", "compaction", or "deletes" for delete files
                    that are not merely rewritten by a compaction
    partitions: partition, bucket, {added,removed}_{files,bytes,rows}; every sum exact
    summary: the same sums in total and for the compaction part, and net_rows; rows are rows in data files, from which
             deletes_{added,removed}_files delete an unknown number
    is_backwards: `b` is the older of the two
    commits: the retained snapshots after the older version up to the newer one, on one branch; in Iceberg by their
             parents, so none between two snapshots on no branch of which neither descends from the other
    """

    a: AsOf
    b: AsOf
    added: pa.Table = field(repr=False)
    removed: pa.Table = field(repr=False)
    partitions: pa.Table = field(repr=False)
    summary: Mapping[str, int]
    schema_changes: tuple[str, ...]
    option_changes: tuple[str, ...]
    commits: tuple[Snapshot, ...] = field(repr=False)
    is_backwards: bool = False


def diff(history: History, a: AsOf, b: AsOf) -> Diff:
    """What changed from `a` to `b`; both must be versions of this history."""
    positions = [history.require(point.point) for point in (a, b)]
    at_a, at_b = (history.live.at(position) for position in positions)
    paths = maximal(history.live.of(history.files["object"].to_numpy(), history.held.owners))
    commits = _commits(history, a, b)
    if not history.heads.capabilities.ids_are_ordered and commits is None:
        only_a, only_b = _rewritten_since(history, a.snapshot, b.snapshot)
        added = _files(history, at_b & ~at_a, lambda _: only_b[at_b & ~at_a])
        removed = _files(history, at_a & ~at_b, lambda _: only_a[at_a & ~at_b])
    else:
        way_a, way_b = zip(positions, _parted(history, positions), strict=True)
        in_a, in_b = at_a & ~at_b, at_b & ~at_a
        added = _files(history, in_b, partial(_on_the_way, history, paths, in_b, (way_b, way_a)))
        removed = _files(history, in_a, partial(_on_the_way, history, paths, in_a, (way_a, way_b)))
    # An upgrade moves a file to another level without rewriting it: same path on both sides, not a change.
    if "level" in history.files.column_names and history.files["level"].null_count == 0:
        both = pc.is_in(added["path"], value_set=removed["path"]), pc.is_in(removed["path"], value_set=added["path"])
        added, removed = added.filter(pc.invert(both[0])), removed.filter(pc.invert(both[1]))
    else:  # a Puffin file with many deletion vectors is many files; a cherry-picked file is still the same one
        added, removed = _beyond(added, removed), _beyond(removed, added)
        added, removed = _rewritten_deletes(added, removed), _rewritten_deletes(removed, added)
    ours, theirs = (history.heads.require(point.branch).schemas for point in (a, b))
    return Diff(
        a=a,
        b=b,
        added=added,
        removed=removed,
        partitions=by_partition(added, removed),
        summary=_summary(added, removed),
        schema_changes=schema_changes(apart(a.schema, ours, theirs), b.schema),
        option_changes=option_changes(a.schema, b.schema),
        commits=commits or (),
        is_backwards=_is_older(history, b, a),
    )


def _files(history: History, chosen: Mask, by_compaction: Callable[[pa.Table], Mask]) -> pa.Table:
    files = history.files.filter(pa.array(chosen))
    change = pa.array(np.where(by_compaction(files), "compaction", "data").tolist(), pa.string())
    return files.append_column("change", change).sort_by("path")


def _rewritten_since(history: History, a: Snapshot, b: Snapshot) -> tuple[Mask, Mask]:
    """Per file: at `a` and not at `b` because of a rewriting commit, and the reverse.

    Two lines of Iceberg share a common ancestor. From there, a file was added on one line or removed on the other.
    """
    snapshots = members(history.heads)
    position = {int(holder.name): place for place, holder in enumerate(history.holders)}
    paths = [list(ancestors(snapshots, each.id)) for each in (a, b)]
    shared = {each.id for each in paths[0]} & {each.id for each in paths[1]}
    found: list[Mask] = [np.zeros(len(history.files), dtype=np.bool_) for _ in paths]
    for side, path in enumerate(paths):
        for each in path:
            if each.id in shared or each.kind not in COMPACTION or each.parent_id not in snapshots:
                continue
            before, after = (history.live.at(position[number]) for number in (each.parent_id, each.id))
            found[side] |= after & ~before
            found[1 - side] |= before & ~after
    return found[0], found[1]


def _parted(history: History, positions: Sequence[int]) -> Sequence[int | None]:
    """Where the branches of two versions parted, as a position on each: the newest snapshot that both have.

    On one branch that is the older version. None if no such snapshot is retained, or it cannot be read.
    """
    branches = [history.holders[position].branch for position in positions]
    if branches[0] == branches[1]:
        return [min(positions)] * 2
    seen: list[dict[tuple[int, int, str, int], int]] = [{}, {}]
    for number, each in enumerate(history.holders):
        if each.snapshot is None or each.kind is HolderKind.CHANGELOG or each.branch not in branches:
            continue
        snapshot = each.snapshot
        # a tag has more content than its snapshot
        key = snapshot.id, snapshot.time_ms, snapshot.commit_user, snapshot.commit_identifier
        seen[branches.index(each.branch)][key] = number
    newest = max(seen[0].keys() & seen[1].keys(), default=None)
    found = [None if newest is None else each[newest] for each in seen]
    return [None, None] if any(history.incomplete.get(each) for each in found if each is not None) else found


def _on_the_way(history: History, paths: Intervals, chosen: Mask, ways: tuple[_Way, _Way], files: pa.Table) -> Mask:
    """Per file that one version has and the other lacks: whether a COMPACT commit on the way between them is why.

    `ways`: of the version that has them, and of the other. What was there when the branches parted was removed or added
    on the other's branch, the rest on the version's own.
    """
    (position, parted), (other, their_parted) = ways
    if parted is None or their_parted is None:
        return _by_compaction(history, paths, files, position=position, born=True)
    own = _by_compaction(history, paths, files, position=position, born=position > parted)
    theirs = _by_compaction(history, paths, files, position=their_parted, born=other < their_parted)
    return np.where(history.live.at(their_parted)[chosen], theirs, own)


def _by_compaction(history: History, paths: Intervals, files: pa.Table, *, position: int, born: bool) -> Mask:
    """Per file live at `position`: whether a COMPACT commit added it (`born`) or removed it.

    The commit is found from the path's intervals on the branch, whatever levels it went through. Where that commit has
    expired, the file's own entry (_FILE_SOURCE) says how it was added; how it was removed is unknown and counts as
    data.
    """
    here = (paths.first <= position) & (paths.last >= position)
    line = [
        number
        for number, each in enumerate(history.holders)
        if each.branch == history.holders[position].branch and each.kind is not HolderKind.CHANGELOG
    ]
    edge: Ints = np.zeros(paths.owners, dtype=np.int64)
    edge[paths.owner[here]] = np.maximum(paths.first[here], line[0]) if born else np.minimum(paths.last[here], line[-1])
    compacts = _compacts(history, line, born=born)[edge[files["object"].to_numpy()]]
    by_entry = pc.fill_null(pc.equal(files["source"], "compact"), False).to_numpy() if born else False
    return np.asarray(np.where(compacts < 0, by_entry, compacts > 0), dtype=np.bool_)


def _compacts(history: History, line: Sequence[int], *, born: bool) -> Ints:
    """Per position: whether the commit leading to it (`born`), or the next one, is a COMPACT one.

    1, 0, or -1 if unknown.
    """
    answer: Ints = np.full(len(history.holders), -1, dtype=np.int64)
    for before, after in pairwise(line):
        one, next_one = history.holders[before].snapshot, history.holders[after].snapshot
        if one is None or next_one is None:
            continue
        if next_one.id == one.id:  # a tag and its snapshot
            if born:
                answer[after] = answer[before]
        elif next_one.parent_id == one.id or (next_one.parent_id is None and next_one.id == one.id + 1):
            answer[after if born else before] = next_one.kind in COMPACTION
    if not born:
        for before, after in pairwise(reversed(line)):
            one, next_one = history.holders[after].snapshot, history.holders[before].snapshot
            if one is not None and next_one is not None and one.id == next_one.id:
                answer[after] = answer[before]
    first = history.holders[line[0]].snapshot
    if born and first is not None and first.id == 1:
        answer[line[0]] = first.kind in COMPACTION
    return answer


def _is_older(history: History, point: AsOf, other: AsOf) -> bool:
    """Whether a version is older than another: by their ids where these increase with time, else by commit times."""
    if history.heads.capabilities.ids_are_ordered and point.branch == other.branch:
        return point.snapshot.id < other.snapshot.id
    return point.snapshot.time_ms < other.snapshot.time_ms


def _beyond(files: pa.Table, others: pa.Table) -> pa.Table:
    """The files that are not on the other side under another sequence number."""
    keys, own = (
        pc.binary_join_element_wise(each["path"], pc.fill_null(each["offset"].cast(pa.string()), ""), "\0")
        for each in (others, files)
    )
    return files.filter(pc.invert(pc.is_in(own, value_set=keys)))


def _rewritten_deletes(files: pa.Table, others: pa.Table) -> pa.Table:
    """Mark delete files as "deletes", except those of a compaction.

    A compaction's own count as well where the data file had another delete file on the other side.
    """
    has_another = pc.is_in(files["referenced"], value_set=others["referenced"].drop_null())
    is_new = pc.and_(pc.not_equal(files["content"], "data"), pc.equal(files["change"], "data"))
    place = files.schema.get_field_index("change")
    return files.set_column(place, "change", pc.if_else(pc.or_(has_another, is_new), "deletes", files["change"]))


def by_partition(added: pa.Table, removed: pa.Table) -> pa.Table:
    """Sums of both sides by partition and bucket, as in `Diff.partitions`."""
    sides = []
    for name, files in (("added", added), ("removed", removed)):
        place = files.schema.get_field_index("bucket")
        files = files.set_column(place, "bucket", pc.fill_null(files["bucket"], NO_BUCKET))
        grouped = files.group_by(["partition", "bucket"]).aggregate(
            [("path", "count"), ("bytes", "sum"), ("rows", "sum")]
        )
        sides.append(grouped.rename_columns(["partition", "bucket", *(f"{name}_{each}" for each in _GROUPED)]))
    joined = sides[0].join(sides[1], ["partition", "bucket"], join_type="full outer")
    for index, name in enumerate(joined.column_names):
        if name.startswith(("added_", "removed_")):
            joined = joined.set_column(index, name, pc.fill_null(joined[name], 0))
    place = joined.schema.get_field_index("bucket")
    buckets = pc.if_else(pc.equal(joined["bucket"], NO_BUCKET), None, joined["bucket"])  # Iceberg has no buckets
    return joined.set_column(place, "bucket", buckets).sort_by([("partition", "ascending"), ("bucket", "ascending")])


def _summary(added: pa.Table, removed: pa.Table) -> dict[str, int]:
    summary: dict[str, int] = {}
    for name, files in (("added", added), ("removed", removed)):
        compacted = files.filter(pc.equal(files["change"], "compaction"))
        deletes = files.filter(pc.equal(files["change"], "deletes"))
        summary[f"deletes_{name}_files"] = len(deletes)
        for prefix, part in (("", files), ("compaction_", compacted)):
            summary[f"{prefix}{name}_files"] = len(part)
            for column in ("bytes", "rows"):
                summary[f"{prefix}{name}_{column}"] = int(pc.sum(part[column]).as_py() or 0)
    summary["net_files"] = summary["added_files"] - summary["removed_files"]
    summary["net_bytes"] = summary["added_bytes"] - summary["removed_bytes"]
    summary["net_rows"] = summary["added_rows"] - summary["removed_rows"]
    return summary


def deletes(found: Diff) -> str | None:
    """What the sums leave out: rows that delete files delete. None if no delete file was added or removed."""
    sides = [found.summary.get(f"deletes_{side}_files", 0) for side in ("added", "removed")]
    if not any(sides):
        return None
    added, removed = (counted(count, "{count} delete file", "{count} delete files") for count in sides)
    return message(
        "{came} added, {went} removed. The rows they delete are not part of these sums, which "
        "count rows in data files; a row comparison includes them.",
        came=added,
        went=removed,
    )


def schema_changes(a: Schema, b: Schema) -> tuple[str, ...]:
    """Columns compared by id: added, dropped, renamed, retyped, moved; one sentence each."""
    old, new = ({column.id: column for column in schema.fields} for schema in (a, b))
    added = (column for key, column in new.items() if key not in old)
    dropped = (column for key, column in old.items() if key not in new)
    changes = [message("added column {name} {type}", name=each.name, type=_type(each)) for each in added]
    changes += [message("dropped column {name} {type}", name=each.name, type=_type(each)) for each in dropped]
    for key in (key for key in old if key in new):
        before, after = old[key], new[key]
        if before.name != after.name:
            changes.append(message("renamed column {name} to {new}", name=before.name, new=after.name))
        if before.type != after.type:
            types = {"before": _type(before), "after": _type(after)}
            changes.append(message("changed type of {name} from {before} to {after}", name=after.name, **types))
    shared = [key for key in old if key in new]
    if shared != [key for key in new if key in old]:
        changes.append(message("reordered columns"))
    return tuple(changes)


def _type(column: Field) -> str:
    return spelled(column.type)


def spelled(type_: object) -> str:
    """A type in SQL notation, whichever format's JSON it comes from: `ROW<x INT, y ARRAY<STRING>>`."""
    if not isinstance(type_, Mapping):
        return str(type_)
    root, null = str(type_.get("type", "?")).partition(" ")[::2]
    if "fields" in type_:
        inner = [f"{each.get('name')} {spelled(each.get('type'))}" for each in type_["fields"]]
    else:
        inner = [spelled(type_[name]) for name in ("element", "key", "value") if name in type_]
    return root + (f"<{', '.join(inner)}>" if inner else "") + (f" {null}" if null else "")


def option_changes(a: Schema, b: Schema) -> tuple[str, ...]:
    changes = []
    for key in sorted(a.options.keys() | b.options.keys()):
        before, after = a.options.get(key), b.options.get(key)
        if before != after:
            changes.append(
                message("set {key} to {after}", key=key, after=after)
                if before is None
                else message("removed {key} (was {before})", key=key, before=before)
                if after is None
                else message("changed {key} from {before} to {after}", key=key, before=before, after=after)
            )
    return tuple(changes)


def _commits(history: History, a: AsOf, b: AsOf) -> tuple[Snapshot, ...] | None:
    """The commits between two versions, the oldest first; None if no branch leads from one to the other."""
    line = history.heads.line(b.branch)
    if line is None or a.branch != b.branch:
        return None
    if history.heads.capabilities.ids_are_ordered:
        low, high = sorted((a.snapshot.id, b.snapshot.id))
        return tuple(each for each in line.snapshots if low < each.id <= high)
    snapshots = members(history.heads)
    for older, newer in ((a.snapshot.id, b.snapshot.id), (b.snapshot.id, a.snapshot.id)):
        way = [each.id for each in ancestors(snapshots, newer)]
        if older in way:
            return tuple(snapshots[id] for id in reversed(way[: way.index(older)]))
    return None
