"""Which entries of manifests mean the same file, as columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.formats import large_texts
from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.manifests import DATA
from core.model.intervals import Ints
from core.storage.decoded_files import flat

_NEVER = np.iinfo(np.int64).min  # no offset and no sequence number


def identities(place: TableLocation, table: pa.Table) -> tuple[pa.StringArray, Ints, int]:
    """Return the path and the identity of each row, and how many identities there are, in order of appearance.

    A file that is cherry-picked or added again has another sequence number, so other deletes apply to it.
    """
    path = place.paths(flat(table["path"]))
    of_path, rows = large_texts.numbered(path)
    count = len(rows)
    if count == len(path):
        return path, of_path, count
    first = rows[of_path]
    parts = [_numbers(table["content"], DATA), *(_numbers(table[name], _NEVER) for name in ("offset", "sequence"))]
    if all((part == part[first]).all() for part in parts):
        return path, of_path, count
    _, at, inverse = np.unique(np.column_stack([of_path, *parts]), axis=0, return_index=True, return_inverse=True)
    order = np.empty(len(at), dtype=np.int64)
    order[np.argsort(at)] = np.arange(len(at))
    return path, order[inverse.reshape(-1)], len(at)


def _numbers(column: pa.ChunkedArray, missing: int) -> Ints:
    numbers: Ints = flat(pc.fill_null(column, missing)).to_numpy()
    return numbers
