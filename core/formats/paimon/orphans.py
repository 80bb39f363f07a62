"""Files that no point of any branch names: what crashed writers, rollbacks and deleted branches leave behind.

Law: a file is an orphan only if the whole history was read, its name and place are those of a file of this table and
of none within it, nothing holds it, and it is older than the guard (a running writer's files look the same until it
commits).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

from core.formats.paimon import layout
from core.history import History
from core.model import ObjectKind
from core.planned import FREES, ordered
from core.store import Entry, Store
from core.told import told

_OWN_DIRECTORIES = frozenset(
    {layout.SNAPSHOT, layout.CHANGELOG, layout.TAG, layout.SCHEMA, layout.CONSUMER, layout.BRANCH}
)
_METADATA: dict[str, tuple[tuple[str, ObjectKind], ...]] = {
    layout.MANIFEST: (
        ("manifest-list-", ObjectKind.MANIFEST_LIST),
        ("manifest-", ObjectKind.MANIFEST),
        ("index-manifest-", ObjectKind.MANIFEST),
    ),
    layout.INDEX: (("index-", ObjectKind.INDEX),),
    layout.STATISTICS: (("stat-", ObjectKind.STATISTICS),),
}
_NUMBERED = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-\d+)?$")


def find(store: Store, history: History, older_than_ms: int) -> tuple[pa.Table, tuple[str, ...]]:
    """Orphans as a plan's freed files, and sentences on what looks orphaned but stays. The history must be complete."""
    # By name, not by path: where a file lies follows options that may have changed since it was written.
    paths = history.objects["path"].filter(pa.array(history.held.over(history.existing))).to_pylist()
    held = {path.rsplit("/", 1)[-1] for path in paths}
    rows: list[tuple[str, str, int]] = []
    young = unknown = ageless = 0
    for path, entry, kind in _candidates(store, history):
        if entry.name in held:
            continue
        if kind is None:
            unknown += 1
        elif entry.modified_s is None:
            ageless += 1
        elif entry.modified_s * 1000 >= older_than_ms:
            young += 1
        else:
            rows.append((path, kind.value, entry.size or 0))
    notes = (
        (young, told("named by nothing yet, but younger than the guard: a running writer may be about to commit them")),
        (ageless, told("named by nothing, but the store tells no age for them")),
        (unknown, told("not named like a table's files")),
    )
    columns = [pa.array([row[index] for row in rows], field.type) for index, field in enumerate(FREES)]
    frees = ordered(pa.Table.from_arrays(columns, schema=FREES))
    return frees, tuple(told("{count:,} files stay: {why}.", count=count, why=why) for count, why in notes if count)


def _candidates(store: Store, history: History) -> Iterator[tuple[str, Entry, ObjectKind | None]]:
    options = history.heads.main.options
    data = options.get("data-file.prefix", "data-"), options.get("changelog-file.prefix", "changelog-")
    buckets = (
        (data[0], ObjectKind.DATA),
        (data[1], ObjectKind.CHANGELOG),
        ("compacted-changelog-", ObjectKind.CHANGELOG),
    )
    for directory, kinds in _METADATA.items():
        for entry in store.ls_if_there(directory):
            if not entry.is_dir:
                plain = _NUMBERED.sub("", entry.name)  # a newer engine's files beside them have more to their names
                kind = next((kind for prefix, kind in kinds if plain == prefix), None)
                yield f"{directory}/{entry.name}", entry, kind
    places = _buckets(history)
    for entry in store.ls():
        if entry.is_dir and entry.name not in _OWN_DIRECTORIES and entry.name not in _METADATA:
            yield from _below(store, entry.name, buckets, places)


def _buckets(history: History) -> re.Pattern[str]:
    """The directories that hold data files, under every option the table has had."""
    schemas = [schema for line in history.heads.lines for schema in line.schemas.values()]
    roots = {schema.options.get("data-file.path-directory", "").strip("/") for schema in schemas} - {""}
    above = "|".join(re.escape(f"{root}/") for root in roots)
    partitions = "|".join(
        "".join(f"{re.escape(layout.escape(key))}=[^/]*/" for key in keys)
        for keys in {schema.partition_keys for schema in schemas}
    )
    return re.compile(rf"(?:{above})?(?:{partitions})bucket-[^/]+")


def _below(
    store: Store, directory: str, kinds: tuple[tuple[str, ObjectKind], ...], places: re.Pattern[str]
) -> Iterator[tuple[str, Entry, ObjectKind | None]]:
    is_bucket = places.fullmatch(directory) is not None
    is_staged = directory.startswith(layout.STAGING)  # of a job of ours that was killed: nothing in it was committed
    found = store.ls(directory)
    if any(entry.is_dir and entry.name == layout.SCHEMA for entry in found):
        return  # a table of its own
    for entry in found:
        path = f"{directory}/{entry.name}"
        if not entry.is_dir:
            yield path, entry, ObjectKind.DATA if is_staged else _kind(entry.name, kinds) if is_bucket else None
        elif not is_bucket:
            yield from _below(store, path, kinds, places)


def _kind(name: str, kinds: tuple[tuple[str, ObjectKind], ...]) -> ObjectKind | None:
    return next((kind for prefix, kind in kinds if name.startswith(prefix)), None)
