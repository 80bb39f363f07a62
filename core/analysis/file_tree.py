"""Files by folder: partition by partition key, then bucket, with exact sums on every level.

Invariant: the sums of a level are the sums of the files below its folder; no file is missing and none counts twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.model.intervals import Ints

LEVEL = pa.schema(
    [("name", pa.string()), ("folder", pa.string()), ("is_file", pa.bool_()),
     ("files", pa.int64()), ("bytes", pa.int64()), ("rows", pa.int64())]
)  # fmt: skip
"""`folder` is what a row opens: the next folder or, with `is_file`, the path of that one file."""


def folders(files: pa.Table) -> pa.DictionaryArray:
    """Per file its folder: its partition and, if the format has them, its bucket (`dt=2026-11-01/bucket-0`)."""
    bucket = files["bucket"]
    if bucket.null_count == len(bucket):
        return files["partition"].combine_chunks().dictionary_encode()
    last = pc.binary_join_element_wise("bucket", bucket.cast(pa.string()), "-")
    joined = pc.binary_join_element_wise(files["partition"], last, "/")
    whole = pc.if_else(pc.equal(files["partition"], ""), last, joined)
    return whole.combine_chunks().dictionary_encode()


def below(files: pa.Table, folder: str) -> pa.Table:
    """The files in a folder and below it; all files for the empty folder."""
    if not folder:
        return files
    found = folders(files)
    inside = [each == folder or each.startswith(f"{folder}/") for each in found.dictionary.to_pylist()]
    if all(inside):
        return files
    return files.filter(pa.array(inside, pa.bool_()).take(found.indices))


def level(files: pa.Table, folder: str) -> pa.Table:
    """The direct contents of a folder, largest first: subfolders with their sums, and files."""
    inside = below(files, folder)
    found = folders(inside)
    heads = [_next(each, folder) for each in found.dictionary.to_pylist()]
    names = sorted({head for head in heads if head is not None})
    number = {name: place for place, name in enumerate(names)}
    code_of = np.array([-1 if head is None else number[head] for head in heads], dtype=np.int64)
    code: Ints = code_of[found.indices.to_numpy(zero_copy_only=False)] if len(inside) else np.zeros(0, dtype=np.int64)
    deeper = code >= 0
    sums = {"files": np.bincount(code[deeper], minlength=len(names)).astype(np.int64)}
    for column in ("bytes", "rows"):
        summed = np.zeros(len(names), dtype=np.int64)
        np.add.at(summed, code[deeper], inside[column].to_numpy()[deeper])
        sums[column] = summed
    start = f"{folder}/" if folder else ""
    parts = pa.table(
        {"name": names, "folder": [start + name for name in names], "is_file": [False] * len(names), **sums},
        schema=LEVEL,
    )
    here = inside.filter(pa.array(~deeper))
    own = pa.table(
        {
            "name": pc.replace_substring_regex(here["path"], r"^.*/", ""),
            "folder": here["path"],
            "is_file": pa.array([True] * len(here), pa.bool_()),
            "files": pa.array([1] * len(here), pa.int64()),
            "bytes": here["bytes"],
            "rows": here["rows"],
        },
        schema=LEVEL,
    )
    return pa.concat_tables([parts, own]).sort_by([("bytes", "descending"), ("name", "ascending")])


def capped(rows: pa.Table, most: int) -> tuple[pa.Table, pa.Table]:
    """The first rows of a level, and the rest, to be shown as one row."""
    return (rows, rows.slice(0, 0)) if len(rows) <= most else (rows.slice(0, most - 1), rows.slice(most - 1))


def steps(folder: str) -> Sequence[tuple[str, str]]:
    """The folders on the way down to a folder, as `(name, folder)`."""
    parts = folder.split("/") if folder else []
    return [(part, "/".join(parts[: place + 1])) for place, part in enumerate(parts)]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: left edge, lower edge, width, height."""

    x: float
    y: float
    width: float
    height: float


def squarified(sizes: Sequence[float], width: float, height: float) -> list[Box]:
    """Rectangles with these areas (all positive, largest first) that fill the frame and are as square as possible."""
    scale = width * height / (sum(sizes) or 1)
    areas = [size * scale for size in sizes]
    boxes: list[Box] = []
    x = y = 0.0
    at = 0
    while at < len(areas):
        short = min(width - x, height - y)
        row = [areas[at]]
        while at + len(row) < len(areas):
            longer = [*row, areas[at + len(row)]]
            if _worst(longer, short) > _worst(row, short):
                break
            row = longer
        depth = sum(row) / short if short else 0.0
        along = 0.0
        for area in row:
            length = area / depth if depth else 0.0
            if width - x >= height - y:  # a column on the left
                boxes.append(Box(x, y + along, depth, length))
            else:
                boxes.append(Box(x + along, y, length, depth))
            along += length
        if width - x >= height - y:
            x += depth
        else:
            y += depth
        at += len(row)
    return boxes


def _worst(row: Sequence[float], short: float) -> float:
    """The worst aspect ratio of the rectangles in a row."""
    total = sum(row)
    if not total or not short:
        return float("inf")
    return max(short * short * max(row) / (total * total), total * total / (short * short * min(row)))


def _next(folder: str, above: str) -> str | None:
    """The name of the next step from `above` towards a folder below it; None if it is that folder."""
    rest = folder[len(above) + 1 :] if above else folder
    return rest.split("/", 1)[0] or None
