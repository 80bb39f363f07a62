"""Identities and paths of the files that manifest entries refer to.

Invariant: a file entry's identity is (partition bytes, bucket, level, name, extra files in order, embedded index bytes,
external path); its object is the physical path. Two identities may share one path (an upgrade changes the level).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core import urls
from core.errors import SnapscopeError
from core.formats import large_texts
from core.formats.paimon import layout
from core.formats.paimon.manifests import SOURCES
from core.formats.paimon.partitions import UNNAMED, directories, has_legacy_names
from core.messages import message
from core.model.codes import Fault
from core.model.intervals import Ints, Mask
from core.model.references import Heads, Holder, Line, Problem, Schema
from core.storage.decoded_files import flat
from core.units import is_true

_BUCKETS = 1 << 31  # added to a bucket number, which may be negative
_PATH_DIRECTORY, _INDEX_PLACE = "data-file.path-directory", "index-file-in-data-file-dir"


@dataclass(frozen=True)
class Identities:
    """The distinct identities of manifest entries.

    `identity[i]` is the number of entry i's identity, `first[i]` the first entry of identity i; `files` has one row per
    identity.

    `are_paths_distinct`: no two identities share a path; False if that is not known.

    - files: path, bytes, rows, partition (directory text), partition_bytes, bucket, level, schema_id, source, format
    - extra_owner/extra_path: one row per extra file, with the identity it belongs to
    """

    identity: Ints
    first: Ints
    count: int
    files: pa.Table
    extra_owner: Ints
    extra_path: pa.Array
    heads: Heads
    are_paths_distinct: bool

    def changelog_paths(self) -> pa.Array:
        """Return the physical file of each identity, for changelog entries."""
        paths, buckets = self.files["path"].to_pylist(), self.files["bucket"].to_pylist()
        return pa.array(
            [changelog_path(path, bucket) for path, bucket in zip(paths, buckets, strict=True)], pa.string()
        )

    def ours(self, paths: pa.ChunkedArray) -> pa.Array:
        """Return for each path whether it may be the table's: inside it, or below a root that its options configure."""
        if not large_texts.may_contain(paths, b":", b"..") and not pc.any(pc.starts_with(paths, "/")).as_py():
            return pa.repeat(True, len(paths))
        paths = flat(paths)
        inside = pc.invert(pc.match_substring_regex(paths, urls.ELSEWHERE))
        if pc.all(inside).as_py() is not False:
            return inside
        roots = external_roots(self.heads)
        directories = pc.replace_substring_regex(paths, "/[^/]*$", "/").dictionary_encode()
        under = [
            urls.is_url(each) and any(urls.is_below(f"{each}x", root) for root in roots)
            for each in directories.dictionary.to_pylist()
        ]
        return pc.or_(inside, pa.array(under, pa.bool_()).take(directories.indices))


def external_roots(heads: Heads) -> tuple[str, ...]:
    """Return the directories outside the table that the options of any schema of any branch configure for files."""
    return tuple(
        dict.fromkeys(
            root.strip()
            for line in heads.lines
            for schema in line.schemas.values()
            for option in ("data-file.external-paths", "global-index.external-path")
            for root in schema.options.get(option, "").split(",")
            if urls.is_url(root.strip())
        )
    )


def changelog_path(path: str, bucket: int) -> str:
    """Return the physical file of a changelog entry: a compacted changelog is a range of a file in another bucket."""
    directory, _, name = path.rpartition("/")
    if not name.startswith("compacted-changelog-"):
        return path
    real, own = layout.physical_changelog(name, bucket)
    return "/".join(part for part in (directory.rpartition("/")[0], layout.bucket_dir(own), real) if part)


def identities(rows: pa.Table, heads: Heads, *, index_files: bool = False) -> Identities:
    """Number the identities of manifest entries, or of index manifest entries with `index_files`.

    Raises `Corrupt` or `Unsupported` for a partition whose directory cannot be derived.
    """
    schema = heads.main.schema
    partition = flat(rows["partition"]).dictionary_encode()
    identity, first = large_texts.numbered(flat(rows["name"]))
    own, are_names_distinct = rows, True
    if len(first) < len(rows):  # not every entry names a file of its own
        also = ["bucket", "external_path", *([] if index_files else ["level", "extra_files", "embedded_index"])]
        keys = rows.select(also).append_column("partition", partition.indices)
        repeated = np.flatnonzero(first[identity] != np.arange(len(rows)))
        if not keys.take(pa.array(repeated)).equals(keys.take(pa.array(first[identity[repeated]]))):
            codes = [_codes(partition), rows["bucket"].to_numpy(), _codes(_encode(rows["external_path"]))]
            if not index_files:
                extra = pc.binary_join(rows["extra_files"], "\0")
                codes += [rows["level"].to_numpy(), _codes(_encode(extra)), _codes(_encode(rows["embedded_index"]))]
            first, identity = _group([identity, *codes], len(rows))
            are_names_distinct = False
        own = rows.take(pa.array(first))
    in_index = index_files and (schema is None or not is_true(schema.options.get(_INDEX_PLACE)))
    directories = [""] * len(partition.dictionary) if in_index else _directories(partition.dictionary, schema)
    of = _codes(partition)[first]
    prefix = _prefix(schema)
    places = pa.array((of << 33) + (own["bucket"].to_numpy() + np.int64(_BUCKETS))).dictionary_encode()
    texts = [
        "/".join(
            part for part in (prefix, directories[key >> 33], layout.bucket_dir(key % (1 << 33) - _BUCKETS)) if part
        )
        for key in places.dictionary.to_pylist()
    ]
    if in_index:
        texts = [layout.INDEX] * len(texts)
    directory = pa.array(texts, pa.string()).take(places.indices)
    path = _join(directory, flat(own["name"]))
    if own["external_path"].null_count < len(own):
        path = pc.coalesce(flat(own["external_path"]), path)
    columns = {"path": path, "bytes": own["bytes"]}
    extra_owner: Ints = np.zeros(0, dtype=np.int64)
    extra_path = pa.array([], pa.string())
    if not index_files:
        columns |= {
            "rows": own["rows"],
            "partition": pa.array(directories, pa.string()).take(pa.array(of)),
            "partition_bytes": own["partition"],
            "bucket": own["bucket"],
            "level": own["level"],
            "schema_id": own["schema_id"],
            "source": _sources(flat(own["source"])),
            "format": _formats(flat(own["name"])),
        }
        extra_owner, extra_path = extras(own["extra_files"], path)
    # A path ends with its file's name, which contains no slash.
    are_distinct = are_names_distinct and not in_index and own["external_path"].null_count == len(own)
    return Identities(identity, first, len(first), pa.table(columns), extra_owner, extra_path, heads, are_distinct)


def unreadable_partitions(rows: pa.Table, heads: Heads) -> tuple[Mask, SnapscopeError]:
    """Return a mask of the rows whose partition cannot be read with the table's keys, and one of the errors."""
    schema = heads.main.schema
    distinct = rows["partition"].unique()
    errors: dict[int, SnapscopeError] = {}
    for number in range(len(distinct)):
        try:
            _directories(distinct.slice(number, 1), schema)
        except SnapscopeError as error:
            errors[number] = error
    bad = pc.is_in(rows["partition"], distinct.take(pa.array(list(errors), pa.int64())))
    return bad.to_numpy(), next(iter(errors.values()))


def kept_elsewhere(heads: Heads, holders: Sequence[Holder]) -> Iterator[tuple[int, Problem]]:
    """Yield the versions of branches whose own options place files elsewhere than main's, by which all are located.

    The engine locates the files of a branch by the branch's options, which may differ: a branch without snapshots
    accepts any. Source: `FileStorePathFactory`, `IndexFileHandler`.
    """
    main = heads.main.schema
    found = {line.branch: _placed_otherwise(line, main) for line in heads.lines if main is not None}
    for position, holder in enumerate(holders):
        for option, problem in found.get(holder.branch, {}).items():
            fields = {} if holder.snapshot is None else holder.snapshot.fields
            if option != _INDEX_PLACE or fields.get("indexManifest") is not None:
                yield position, problem


def _placed_otherwise(line: Line, main: Schema) -> dict[str, Problem]:
    """Return the problem of each option that places files of this branch elsewhere than files of main."""
    own = line.schema
    if own is None:
        return {}
    path, places, expected = layout.reference(line.branch, layout.SCHEMA, own.id), _places(own), _places(main)
    return {
        option: Problem(
            path,
            message("the same {option} as on the main branch, {value!r}", option=option, value=expected.get(option)),
            repr(value),
            message("Snapscope cannot tell where the files of this branch are: use the table's own engine for it."),
            Fault.UNSUPPORTED,
        )
        for option, value in places.items()
        if value != expected.get(option)  # None if main has no partitions, as in a damaged schema
    }


def _places(schema: Schema) -> dict[str, str]:
    """Return the options that determine where files are, with their values in one spelling."""
    named = {
        "partition.default-name": schema.options.get("partition.default-name", UNNAMED),
        "partition.legacy-name": str(has_legacy_names(schema)).lower(),
    }
    return {
        _PATH_DIRECTORY: _prefix(schema),
        _INDEX_PLACE: str(is_true(schema.options.get(_INDEX_PLACE))).lower(),
        **(named if schema.partition_keys else {}),
    }


def _encode(column: pa.ChunkedArray) -> pa.DictionaryArray:
    return flat(column).dictionary_encode()


def _codes(column: pa.DictionaryArray) -> Ints:
    """Return the dictionary codes, with null as -1."""
    codes: Ints = pc.fill_null(column.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def _group(codes: list[Ints], rows: int) -> tuple[Ints, Ints]:
    """Return the first row of each distinct combination, and the number of each row's combination."""
    key = np.zeros(rows, dtype=np.int64)
    for code in codes:
        low = int(code.min(initial=0))
        span = int(code.max(initial=0)) - low + 1
        if span > 1:
            _, key = np.unique(key, return_inverse=True)
            key = key.astype(np.int64) * span + (code - np.int64(low))
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return first.astype(np.int64), number.astype(np.int64)


def _directories(partitions: pa.Array, schema: Schema | None) -> list[str]:
    """Return the directory of each partition, by the schema's partition keys and types."""
    distinct = partitions.to_pylist()
    return [""] * len(distinct) if schema is None else directories(schema, distinct)


def _prefix(schema: Schema | None) -> str:
    return (schema.options.get(_PATH_DIRECTORY, "") if schema else "").strip("/")


def _join(directory: pa.Array, name: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(directory, name, "/")


def _sources(numbers: pa.Array) -> pa.Array:
    """Return the names of known sources, the numbers of others as text, and null where none is recorded."""
    encoded = numbers.dictionary_encode()
    texts = [SOURCES.get(number, str(number)) for number in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def _formats(names: pa.Array) -> pa.Array:
    if pc.all(pc.ends_with(names, ".parquet")).as_py():
        return pa.repeat("parquet", len(names))
    encoded = pc.replace_substring_regex(names, r"^[^.]*", "").dictionary_encode()  # what follows the UUID repeats
    texts = pa.array([layout.file_format(f"x{suffix}") for suffix in encoded.dictionary.to_pylist()], pa.string())
    return texts.take(encoded.indices)


def extras(extra: pa.ChunkedArray, path: pa.Array | pa.ChunkedArray) -> tuple[Ints, pa.Array]:
    """Return the extra files of files at these paths: the number of the file, and the path of the extra file."""
    if not len(pc.list_flatten(extra)):
        return np.zeros(0, dtype=np.int64), pa.array([], pa.string())
    extra, path = flat(extra), flat(path)
    owner = pc.list_parent_indices(extra).to_numpy(zero_copy_only=False).astype(np.int64)
    names = pc.list_flatten(extra)
    parent = pc.replace_substring_regex(path.take(pa.array(owner)), r"/[^/]*$", "")
    return owner, _join(parent, names)
