"""What Iceberg data files actually contain, from their footers: the columns that metadata claims, and field ids at all.

Invariants: the JVM reads a column that a file lacks as null. So if another source would have to fill a column (the
partition, a default), the file itself is checked first, because `column_sizes` may have been copied from the file that
it was rewritten from. A footer is read once per process, and only for files that a query needs. Whether files have ids
is checked in one file per commit: Spark itself refuses a file without any.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache, partial

import pyarrow as pa

from core.formats import undecoded
from core.formats.iceberg import types
from core.messages import message
from core.spark.read.iceberg import files as iceberg_files
from core.spark.read.iceberg import stored_files
from core.spark.read.iceberg.scan import IcebergScan

_KEPT = 1 << 17  # files in the cache
_AT_ONCE = 8


def settled(of: IcebergScan, columns: Collection[int] | None) -> IcebergScan:
    """Assign files that lack one of these columns (by number; None: all) to Python tasks, which fill it."""
    columns_read = of.columns if columns is None else [of.columns[number] for number in columns]
    must_have = of.must_have & frozenset[int]().union(*({each.id} | types.leaves(each) for each in columns_read))
    if not must_have or not of.native:
        return of
    paths = [path for path, _ in of.native]
    local = [iceberg_files.local(of.place, path) for path in paths]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        has = dict(zip(paths, pool.map(partial(_has, must_have), local, paths), strict=True))
    return _given_to_tasks(of, {path for path in paths if not has[path]})


def guessed(of: IcebergScan) -> tuple[IcebergScan, tuple[str, ...]]:
    """Assign files without field ids to Python tasks, if the table has no name mapping either.

    Also returns sentences on how their columns are identified. Files on other stores are not checked.
    """
    if of.names is not None or not of.place.store.is_local:
        return of, ()
    live = {path for path, _ in of.native} | {file["path"] for unit in of.work for file in unit["files"]}
    commits: dict[int | None, list[str]] = {}
    for path, commit in zip(of.data["file"].to_pylist(), of.data["snapshot_id"].to_pylist(), strict=True):
        if path in live:
            commits.setdefault(commit, []).append(path)
    lacking: list[str] = []
    forms: dict[str, str] = {}
    for paths in commits.values():
        form, has_ids = _identified(iceberg_files.local(of.place, paths[0]), paths[0])
        if not has_ids:
            lacking += paths
            forms.setdefault(form, paths[0])
    notes = [
        message(
            "Files such as {path} have no field ids, and the table has no name mapping "
            "(schema.name-mapping.default): their columns are matched {how}, as Iceberg's own "
            "readers do",
            path=path,
            how=message("by their place") if form == "parquet" else message("by their current names"),
        )
        for form, path in forms.items()
    ]
    return _given_to_tasks(of, set(lacking)), tuple(notes)


def _given_to_tasks(of: IcebergScan, paths: Collection[str]) -> IcebergScan:
    moved = [{"files": [of.described[path]], "positions": [], "equality": []} for path, _ in of.native if path in paths]
    if not moved:
        return of
    return replace(of, native=tuple(each for each in of.native if each[0] not in paths), work=(*of.work, *moved))


@lru_cache(_KEPT)
def _has(ids: frozenset[int], local: str, path: str) -> bool:
    return ids <= set(_ids(_opened(local, path)[1]))


@lru_cache(_KEPT)
def _identified(local: str, path: str) -> tuple[str, bool]:
    form, schema = _opened(local, path)
    return form, stored_files.has_ids(schema)


def _opened(local: str, path: str) -> tuple[str, pa.Schema]:
    try:
        with stored_files.opened(local, path, 1) as file:
            return file.form, file.schema
    except FileNotFoundError as error:
        raise iceberg_files.missing(path) from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise undecoded.error(error, path) from error


def _ids(fields: Iterable[pa.Field]) -> Iterable[int | None]:
    for field in fields:
        yield stored_files.id_of(field)
        yield from _ids(stored_files.children(field.type))
