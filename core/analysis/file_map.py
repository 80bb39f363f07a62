"""What the map of files can be coloured by: age, size of a file, rewrites. Pure.

Invariant: each value is of the files below its row only; None, not 0, where metadata does not have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.analysis.commit_changes import object_of
from core.analysis.file_tree import folders
from core.model.history import History
from core.model.intervals import Ints

AGE, SIZE, REWRITES = "age", "size", "rewrites"
Values = list[float | None]


def first_seen_ms(history: History) -> Ints:
    """Per row of `history.files` the time of the oldest snapshot or tag it is live in; -1 where none has a time."""
    untimed = np.iinfo(np.int64).max
    times = [untimed if each.snapshot is None else each.snapshot.time_ms for each in history.holders]
    runs = history.live
    found = np.full(len(history.files), untimed, dtype=np.int64)
    if len(runs.owner):
        ends = np.column_stack((runs.first, runs.last + 1)).ravel()
        least = np.minimum.reduceat(np.array([*times, untimed], dtype=np.int64), ends)[::2]
        np.minimum.at(found, runs.owner, least)
    return np.where(found == untimed, -1, found)


def values(history: History, files: pa.Table, level: pa.Table, folder: str, by: str, now_ms: int) -> Values:
    """Per row of `core.analysis.file_tree.level` of these files: the mean age of its bytes in ms, the mean bytes of a
    file, or how many bytes were written for each that is live, in the history that is retained."""
    calculations: Mapping[str, Callable[[], Values]] = {
        AGE: lambda: _ages(history, files, level, folder, now_ms),
        SIZE: lambda: [row["bytes"] / row["files"] if row["files"] else None for row in level.to_pylist()],
        REWRITES: lambda: _rewrites(history, level, folder),
    }
    return calculations[by]()


def _ages(history: History, files: pa.Table, level: pa.Table, folder: str, now_ms: int) -> Values:
    seen = first_seen_ms(history)
    least = np.full(len(history.objects), np.iinfo(np.int64).max, dtype=np.int64)
    owner = history.files["object"].to_numpy()  # an upgrade gives a path a second row
    np.minimum.at(least, owner[seen >= 0], seen[seen >= 0])
    since = np.where(least == np.iinfo(np.int64).max, -1, least)[files["object"].to_numpy()]
    sizes = files["bytes"].to_numpy()
    weight = np.where(since < 0, 0, np.maximum(sizes, 1))
    age = weight * np.maximum(now_ms - since, 0).astype(np.float64)
    sums, weights = _below(files, folder, age), _below(files, folder, weight)
    return [sums[name] / weights[name] if weights.get(name) else None for name in level["folder"].to_pylist()]


def _rewrites(history: History, level: pa.Table, folder: str) -> Values:
    owner, _ = object_of(history.files)  # an upgrade writes nothing
    every = history.files.take(pa.array(np.unique(owner, return_index=True)[1]))
    written = _below(every, folder, every["bytes"].to_numpy())
    rows = level.to_pylist()
    here = sum(row["bytes"] for row in rows if row["is_file"])
    found: Values = []
    for row in rows:  # a file's own rewrites are those of the folder it lies in
        parent, live = (folder, here) if row["is_file"] else (row["folder"], row["bytes"])
        found.append(written[parent] / live if parent in written and live else None)
    return found


def _below(files: pa.Table, folder: str, amounts: npt.NDArray[np.float64] | Ints) -> dict[str, float]:
    """Sums by the next folder below one, by path of the files in it, and of that folder itself without those below."""
    folder_of = folders(files)
    names = folder_of.dictionary.to_pylist()
    sums = np.bincount(folder_of.indices.to_numpy(zero_copy_only=False), weights=amounts, minlength=len(names))
    found: dict[str, float] = {}
    start = f"{folder}/" if folder else ""
    for name, total in zip(names, sums, strict=True):
        if name == folder:
            found[folder] = found.get(folder, 0.0) + float(total)
        elif name.startswith(start):
            below = start + name[len(start) :].split("/", 1)[0]
            found[below] = found.get(below, 0.0) + float(total)
    if folder in names:
        paths = files["path"].to_pylist()
        here = names.index(folder)
        inside = np.flatnonzero(folder_of.indices.to_numpy(zero_copy_only=False) == here)
        found |= {paths[place]: float(amounts[place]) for place in inside}
    return found
