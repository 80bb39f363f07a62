"""Which entries of manifests mean the same file, as columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.formats import large_texts
from core.formats.iceberg.manifests import DATA
from core.model.intervals import Ints
from core.storage.decoded_files import flat

_NEVER = np.iinfo(np.int64).min  # no offset and no sequence number


def identities(path: pa.StringArray, table: pa.Table) -> tuple[Ints, int, bool]:
    """Return the identity of each row with its path, how many there are, in order of appearance, and whether no two
    share a path.

    A file that is cherry-picked or added again has another sequence number, so other deletes apply to it.
    """
    of_path, rows = large_texts.numbered(path)
    count = len(rows)
    if count == len(path):
        return of_path, count, True
    first = rows[of_path]
    parts = [_numbers(table["content"], DATA), *(_numbers(table[name], _NEVER) for name in ("offset", "sequence"))]
    if all((part == part[first]).all() for part in parts):
        return of_path, count, True
    _, at, inverse = np.unique(np.column_stack([of_path, *parts]), axis=0, return_index=True, return_inverse=True)
    order = np.empty(len(at), dtype=np.int64)
    order[np.argsort(at)] = np.arange(len(at))
    return order[inverse.reshape(-1)], len(at), False


def _numbers(column: pa.ChunkedArray, missing: int) -> Ints:
    numbers: Ints = flat(pc.fill_null(column, missing)).to_numpy()
    return numbers
