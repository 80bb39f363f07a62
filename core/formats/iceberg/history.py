"""Build a table's History, starting from its manifests.

Each snapshot's list tells which manifests it uses, which gives each manifest its intervals; each manifest is decoded
once. A file is live where a manifest is listed that has it with status EXISTING or ADDED. A snapshot holds its list,
its manifests, its live files by path (a Puffin file with many deletion vectors is one file), and its statistics
files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import SnapscopeError
from core.formats import large_texts
from core.formats.avro.decode import JOINT, NOTHING
from core.formats.iceberg.file_identity import identities
from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.manifests import ADDED, CONTENTS, DATA, DELETED, ENTRY, LIST, IcebergManifests
from core.formats.iceberg.metadata import Metadata, signed
from core.formats.iceberg.references import reference
from core.messages import clause, told
from core.model.history import History
from core.model.intervals import Intervals, Ints, empty, from_pairs, maximal, union
from core.model.references import Heads, Holder, HolderKind, ObjectKind, Problem
from core.storage import memory
from core.storage.decoded_files import Loaded, expand, first_rows, flat

_NOTHING: Ints = np.zeros(0, dtype=np.int64)
_STATUS = ("existing", "added", "deleted")
_BYTES_PER_ENTRY = 1000  # of memory, at most: 650 measured with statistics of 8 columns, 990 if all paths end alike
_ENTRY_PACKED = 100  # bytes of an entry in a manifest, if nothing counts them


def axis(heads: Heads) -> tuple[Holder, ...]:
    """Return a position for every snapshot, branch by branch."""
    return tuple(
        Holder(HolderKind.SNAPSHOT, line.branch, str(each.id), each, reference(f"snapshots/{each.id}"))
        for line in heads.lines
        for each in line.snapshots
    )


def build(
    place: TableLocation,
    heads: Heads,
    found: Metadata,
    manifests: IcebergManifests,
    progress: Callable[[int, int], None] | None = None,
) -> History:
    """Read every list and manifest of any snapshot, and compute which snapshot holds which files."""
    return _Builder(place, heads, found, manifests, progress).build()


class _Builder:
    """The steps of `build`, and the state they share."""

    def __init__(
        self,
        place: TableLocation,
        heads: Heads,
        found: Metadata,
        manifests: IcebergManifests,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.place, self.heads, self.found, self.manifests, self.progress = place, heads, found, manifests, progress
        self.holders = axis(heads)
        self.positions = len(self.holders)
        self.at = {int(holder.name): position for position, holder in enumerate(self.holders)}
        self.incomplete: dict[int, list[Problem]] = {}
        self.warnings = [problem for line in heads.lines for problem in line.warnings]
        self.paths: list[pa.Array] = []
        self.kinds: list[pa.Array] = []
        self.bytes: list[pa.Array] = []
        self.held: list[Intervals] = []

    def build(self) -> History:
        listed, sizes = self._lists()
        names, (position, manifest), rows = self._named(listed, sizes)
        sizes |= self.place.sizes([name for name in names if name not in sizes])
        self._fits(names, rows, sizes)
        entries = self.manifests.load(self.place, names, ENTRY, sizes, self.progress)
        self._check_counts(entries, names, rows, sizes)
        self._blame(entries.errors, position, [names[number] for number in manifest], told("a readable manifest"))
        entries = inherited(entries, rows)
        runs = from_pairs(manifest, position, len(names), self.positions)
        number = len(self.held)
        files, live = self._files(entries, runs, len(names))
        own = pa.array([sizes.get(name) for name in names], pa.int64())
        self._hold(pa.array(names, pa.string()), ObjectKind.MANIFEST, own, runs)
        self._hold_statistics()
        return self._history(files, live, number)

    # reading ----------------------------------------------------------------------------------------------------------

    def _lists(self) -> tuple[dict[str, list[int]], dict[str, int]]:
        """Return the positions by path of their manifest list, and the sizes of the lists that exist."""
        wanted: dict[str, list[int]] = {}
        for holder in self.holders:
            given = self.found.snapshots[int(holder.name)].manifest_list
            if given is not None:
                wanted.setdefault(self.place.path(given), []).append(self.at[int(holder.name)])
        sizes = self.place.sizes(list(wanted))
        paths = list(wanted)
        pairs = [(position, number) for number, path in enumerate(paths) for position in wanted[path]]
        at, number = _columns(pairs)
        self._hold(
            pa.array(paths, pa.string()),
            ObjectKind.MANIFEST_LIST,
            pa.array([sizes.get(path) for path in paths], pa.int64()),
            from_pairs(number, at, len(paths), self.positions),
        )
        return wanted, sizes

    def _named(
        self, listed: Mapping[str, list[int]], sizes: dict[str, int]
    ) -> tuple[list[str], tuple[Ints, Ints], pa.Table]:
        """Return distinct manifest paths, (position, manifest) pairs, and the first list row of each manifest."""
        lists = list(listed)
        loaded = self.manifests.load(self.place, lists, LIST, sizes)
        for path, error in loaded.errors.items():
            for position in listed[path]:
                self._incomplete(position, path, error, told("a readable manifest list"))
        inline = [
            (self.at[member.id], path, member.id)
            for member in self.found.snapshots.values()
            for path in member.manifests
        ]
        rows = pa.concat_tables([loaded.rows.drop_columns(["key"]), inline_rows(inline)]).combine_chunks()
        paths = self.place.paths(flat(rows["path"])) if len(rows) else flat(rows["path"])
        manifest_of, first = large_texts.numbered(paths)
        at, number = _columns([(place, number) for number, path in enumerate(lists) for place in listed[path]])
        index, row = expand(loaded.start, number) if len(number) else (_NOTHING, _NOTHING)
        own = np.array([position for position, _, _ in inline], dtype=np.int64)
        pairs = (
            np.concatenate((at[index], own)),
            np.concatenate((manifest_of[row], manifest_of[len(loaded.rows) :])),
        )
        return (
            paths.take(pa.array(first)).to_pylist(),
            pairs,
            rows.take(pa.array(first)),
        )

    def _fits(self, names: Sequence[str], rows: pa.Table, sizes: Mapping[str, int]) -> None:
        """Refuse entries that do not fit into memory; lists of version 1 need not say how many there are."""
        own = np.array([sizes.get(name, 0) for name in names], dtype=np.int64)
        said = pc.add(pc.add(rows["existing"], rows["added"]), rows["deleted"])
        claimed = pc.coalesce(said, pa.array(own // _ENTRY_PACKED))
        memory.require(flat(claimed).to_numpy(), own, _BYTES_PER_ENTRY, self.place.store.location)

    def _check_counts(self, entries: Loaded, names: Sequence[str], rows: pa.Table, sizes: Mapping[str, int]) -> None:
        """Compare the numbers of entries with those in the manifest list.

        A manifest that lost whole blocks is still readable. If its size matches the list, the list is wrong, as some
        writers' lists are.
        """
        assert isinstance(entries.errors, dict)
        manifest = np.repeat(np.arange(len(names)), np.diff(entries.start))
        status = entries.rows["status"].to_numpy()
        lengths = rows["bytes"].to_pylist()
        for value, name in enumerate(_STATUS):
            counts = np.bincount(manifest[status == value], minlength=len(names))
            for number, said in enumerate(rows[name].to_pylist()):
                if said is None or said == counts[number] or names[number] in entries.errors:
                    continue
                expected = told("{said} {name} entries from its manifest list", said=said, name=name)
                if sizes.get(names[number]) == lengths[number]:
                    remedy = told(
                        "Harmless: only the count in the list is wrong; the manifest has the length that the "
                        "list states."
                    )
                    found = f"{counts[number]}"
                    self.warnings.append(Problem(names[number], expected, found, remedy))
                else:
                    entries.errors[names[number]] = SnapscopeError(
                        "expected {said} {name} entries according to its manifest list, found {counts}",
                        said=said,
                        name=name,
                        counts=counts[number],
                    )

    def _blame(self, errors: Mapping[str, SnapscopeError], positions: Ints, paths: Sequence[str], what: str) -> None:
        if errors:
            for position, path in zip(positions, paths, strict=True):
                if path in errors:
                    self._incomplete(int(position), path, errors[path], what)

    def _incomplete(self, position: int, path: str, error: SnapscopeError, expected: str) -> None:
        problem = Problem(
            path,
            expected,
            clause(error.message),
            error.remedy or told("Restore the file, or expire the snapshots that need it."),
        )
        found = self.incomplete.setdefault(position, [])
        if problem not in found:
            found.append(problem)

    # holders of files -------------------------------------------------------------------------------------------------

    def _files(self, entries: Loaded, runs: Intervals, manifests: int) -> tuple[pa.Table, Intervals]:
        """Return files, distinct by content, path, offset and sequence number, and where they are live."""
        manifest = np.repeat(np.arange(manifests, dtype=np.int64), np.diff(entries.start))
        rows = np.flatnonzero(entries.rows["status"].to_numpy() != DELETED)
        table = _taken(entries.rows, rows)
        path, identity, count = identities(self.place, table)
        first = first_rows(identity, count)
        own = _taken(table, first)
        content = pc.fill_null(flat(own["content"]), DATA)
        files = self._described(own, path if count == len(path) else path.take(pa.array(first)), content)
        start = np.searchsorted(runs.owner, np.arange(manifests + 1)).astype(np.int64)
        index, run = expand(start, manifest[rows]) if len(rows) else (_NOTHING, _NOTHING)
        live = maximal(Intervals(identity[index], runs.first[run], runs.last[run], count, self.positions))
        kinds = pa.array(["data", "deletes"]).take(pa.array((content.to_numpy() != DATA).astype(np.int8)))
        self._hold(files["path"], kinds, own["bytes"], live)
        return files, live

    def _described(self, own: pa.Table, path: pa.StringArray, content: pa.Array) -> pa.Table:
        """Return one row per file. Delete files have no table rows; a deletion vector has the size of its blob."""
        is_data = pc.equal(content, DATA)
        referenced = flat(own["referenced"])
        if referenced.null_count < len(referenced):
            referenced = pc.if_else(pc.is_valid(referenced), self.place.paths(pc.fill_null(referenced, "/")), None)
        nothing = pa.nulls(len(own), pa.int32())
        return pa.table(
            {
                "path": path,
                "bytes": pc.coalesce(own["size"], own["bytes"]),
                "rows": pc.if_else(is_data, own["rows"], 0),
                "partition": partitions(self.found, own["partition"]),
                "bucket": nothing,
                "level": nothing,
                "schema_id": pa.nulls(len(own), pa.int64()),
                "source": self._sources(own["snapshot_id"]),
                "format": pc.utf8_lower(own["format"]),
                "content": pa.array(CONTENTS, pa.string()).take(content),
                "offset": own["offset"],
                "referenced": referenced,
                "sequence": own["sequence"],
                "deletes": pc.if_else(is_data, 0, own["rows"]),
                "spec_id": own["spec_id"],
                "spelled": own["partition"],
            }
        )

    def _sources(self, snapshots: pa.ChunkedArray) -> pa.Array:
        """Return whether a rewriting commit added a file, if that commit is still known."""
        known = {signed(member.id): member.summary.get("operation") for member in self.found.snapshots.values()}
        words_of = {number: "compact" if kind == "replace" else "append" for number, kind in known.items() if kind}
        encoded = flat(snapshots).dictionary_encode()
        words = pa.array([words_of.get(number) for number in encoded.dictionary.to_pylist()], pa.string())
        return words.take(encoded.indices) if len(words) else pa.nulls(len(encoded), pa.string())

    def _hold_statistics(self) -> None:
        wanted: dict[str, tuple[int, list[int]]] = {}
        for number, path, size in self.found.statistics:
            if number in self.at:
                wanted.setdefault(self.place.path(path), (size, []))[1].append(self.at[number])
        at, owner = _columns(
            [(position, number) for number, (_, some) in enumerate(wanted.values()) for position in some]
        )
        runs = from_pairs(owner, at, len(wanted), self.positions)
        sizes = pa.array([size for size, _ in wanted.values()], pa.int64())
        self._hold(pa.array(list(wanted), pa.string()), ObjectKind.STATISTICS, sizes, runs)

    def _hold(
        self, paths: pa.Array | pa.ChunkedArray, kind: ObjectKind | pa.Array, sizes: pa.Array, runs: Intervals
    ) -> None:
        self.paths.append(flat(paths))
        kinds = pa.array([kind.value] * len(paths), pa.string()) if isinstance(kind, ObjectKind) else kind
        self.kinds.append(kinds)
        self.bytes.append(flat(sizes))
        self.held.append(runs)

    # assembling the history -------------------------------------------------------------------------------------------

    def _history(self, files: pa.Table, live: Intervals, number: int) -> History:
        """Put the parts together. The paths of `files` are part `number`."""
        starts = np.concatenate(([0], np.cumsum([len(each) for each in self.paths]))).astype(np.int64)
        paths = pa.chunked_array(self.paths, pa.string()).combine_chunks()
        files = files.set_column(0, "path", paths.slice(starts[number], len(files)))  # one copy of the texts
        self.paths.clear()
        code, first = large_texts.numbered(paths)
        count = len(first)
        parts = [
            runs.of(code[begin:end], count) for runs, (begin, end) in zip(self.held, pairwise(starts), strict=True)
        ]
        objects = pa.table(
            {
                "path": paths,
                "kind": pa.chunked_array(self.kinds, pa.string()).combine_chunks(),
                "bytes": pa.chunked_array(self.bytes, pa.int64()).combine_chunks(),
            }
        )
        objects = _taken(objects, first)
        objects = objects.append_column("ours", self.place.ours(flat(objects["path"])))
        own = pa.array(code[starts[number] : starts[number + 1]])
        return History(
            heads=self.heads,
            holders=self.holders,
            objects=objects,
            held=maximal(union(*parts) if parts else empty(0, self.positions)),
            files=files.append_column("object", own),
            live=live,
            incomplete={position: tuple(problems) for position, problems in sorted(self.incomplete.items())},
            warnings=tuple(dict.fromkeys(self.warnings)),
        )


def _taken(table: pa.Table, rows: Ints) -> pa.Table:
    """The given rows, in ascending order, without a copy if they are all."""
    return table if len(rows) == len(table) else table.take(pa.array(rows))


def partitions(found: Metadata, spelled: pa.ChunkedArray) -> pa.Array:
    """Return partitions as `name=value/…`, by the ids of the specs' fields."""
    fields = {each["field-id"]: each for spec in found.specs.values() for each in spec}
    types = {column.id: column.type for schema in found.schemas.values() for column in schema.fields}
    encoded = flat(spelled).dictionary_encode()
    texts = []
    for text in encoded.dictionary.to_pylist():
        parts = []
        for part in text.split(JOINT) if text else ():
            number, _, value = part.partition("=")
            spec = fields.get(int(number), {"name": f"field-{number}", "transform": "identity"})
            is_float = (
                types.get(spec.get("source-id", -1)) in ("float", "float NOT NULL") and spec["transform"] == "identity"
            )
            shown = str(np.float32(value)) if is_float and value != NOTHING else _shown(value, spec["transform"])
            parts.append(f"{spec['name']}={shown}")
        texts.append("/".join(parts))
    return pa.array(texts, pa.string()).take(encoded.indices) if texts else pa.array([], pa.string())


def inherited(entries: Loaded, rows: pa.Table) -> Loaded:
    """Fill in what ADDED entries inherit from their manifest's row in the list: snapshot id and sequence number.

    Version 1 has no sequence numbers: all its entries get 0.
    """
    counts = np.diff(entries.start)
    table = entries.rows
    given = pa.array(np.repeat(np.arange(len(counts)), counts))
    sequence = pc.fill_null(rows["sequence"], 0).take(given)
    is_added = pc.equal(table["status"], ADDED)
    for name, value in (
        ("snapshot_id", pc.if_else(is_added, rows["snapshot_id"].take(given), None)),
        ("sequence", pc.if_else(pc.or_(is_added, pc.equal(sequence, 0)), sequence, None)),
        ("content", rows["content"].take(given)),
    ):
        table = table.set_column(
            table.schema.get_field_index(name), name, pc.coalesce(table[name], value.cast(table[name].type))
        )
    table = table.append_column("spec_id", rows["spec_id"].take(given))
    return Loaded(table, entries.start, entries.errors)


def inline_rows(inline: Sequence[tuple[int, str, int]]) -> pa.Table:
    """Return list rows for the manifests that a version 1 snapshot names itself."""
    schema = pa.schema([(column.name, column.type) for column in LIST if column.name != "key"])
    rows = [
        {"path": path, "spec_id": 0, "content": 0, "sequence": 0, "snapshot_id": signed(own)} for _, path, own in inline
    ]
    return pa.Table.from_pylist(rows, schema)


def _shown(value: str, transform: str) -> str:
    """Format a partition value for people: years, months, days and hours are stored as counts from 1970."""
    if value == NOTHING:
        return "null"
    if not value.lstrip("-").isdigit():
        return value
    match transform:
        case "year":
            return str(1970 + int(value))
        case "month":
            return f"{1970 + int(value) // 12}-{int(value) % 12 + 1:02d}"
        case "day" | "hour":
            unit = np.timedelta64(int(value), "D" if transform == "day" else "h")
            return str(np.datetime64(0, "D" if transform == "day" else "h") + unit)
        case _:
            return value


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
