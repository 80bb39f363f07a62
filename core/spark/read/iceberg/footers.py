"""Whether Iceberg's data files really have the columns that metadata claims, by the files' own footers.

Law: the JVM reads a column that a file lacks as null. So where another source would have to fill a column (the
partition, a default), the file itself is checked first: `column_sizes` may have been copied from the file that it was
rewritten from. A footer is read once per process, and only of files that a query needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache, partial

import pyarrow as pa
import pyarrow.parquet as parquet

from core.errors import Corrupt
from core.formats import footer_limits
from core.formats.iceberg import types
from core.spark.read.iceberg import files as iceberg_files
from core.spark.read.iceberg.scan import IcebergScan

_KEPT = 1 << 17  # of files that are known
_AT_ONCE = 8


def settled(of: IcebergScan, columns: Collection[int] | None) -> IcebergScan:
    """The point with the files that lack one of these columns (by number; None: all) given to tasks, which fill it."""
    asked = of.columns if columns is None else [of.columns[number] for number in columns]
    must_have = of.must_have & frozenset[int]().union(*({each.id} | types.leaves(each) for each in asked))
    if not must_have or not of.native:
        return of
    paths = [path for path, _ in of.native]
    local = [iceberg_files.local(of.place, path) for path in paths]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        has = dict(zip(paths, pool.map(partial(_has, must_have), local, paths), strict=True))
    lacking = [{"files": [of.described[path]], "positions": [], "equality": []} for path in paths if not has[path]]
    return replace(of, native=tuple(each for each in of.native if has[each[0]]), work=(*of.work, *lacking))


@lru_cache(_KEPT)
def _has(ids: frozenset[int], local: str, path: str) -> bool:
    try:
        footer_limits.refuse_large(local, "parquet")
        return ids <= set(_ids(parquet.read_schema(local)))
    except FileNotFoundError as error:
        raise iceberg_files.missing(path) from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Corrupt(
            "The file could not be read: {error}.", error=f"{type(error).__name__}: {error}", path=path
        ) from error


def _ids(fields: Iterable[pa.Field]) -> Iterable[int | None]:
    for field in fields:
        yield iceberg_files.id_of(field)
        yield from _ids(iceberg_files.children(field.type))
