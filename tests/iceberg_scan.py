"""Which deletes apply to which data files of one point (Iceberg 1.11, `DeleteFileIndex`, without its use of bounds).

Law: a deletion vector applies to the data file it names, and where one does no position delete counts; position
deletes reach files of their partition written up to them, equality deletes files written before them, in their
partition or, from a spec without partitions, anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from core.formats.iceberg.metadata import Metadata

Row = Mapping[str, Any]


def scan(files: pa.Table, found: Metadata) -> list[tuple[Row, tuple[Row, ...]]]:
    """Each data file among the live `files` of a point, with the delete files that apply to it, by path."""
    rows = files.sort_by("path").to_pylist()
    whole = {number for number, spec in found.specs.items() if all(each["transform"] == "void" for each in spec)}
    named: dict[str, list[Row]] = {}
    inside: dict[tuple[int, str], list[Row]] = {}
    anywhere: list[Row] = []
    for row in rows:
        if row["content"] == "data":
            continue
        if row["content"] == "equality-deletes" and row["spec_id"] in whole:
            anywhere.append(row)
        elif row["referenced"] is not None:
            named.setdefault(row["referenced"], []).append(row)
        else:
            inside.setdefault((row["spec_id"], row["spelled"]), []).append(row)
    return [
        (row, _applying(row, named.get(row["path"], ()), inside.get((row["spec_id"], row["spelled"]), ()), anywhere))
        for row in rows
        if row["content"] == "data"
    ]


def _applying(data: Row, named: Sequence[Row], inside: Sequence[Row], anywhere: Sequence[Row]) -> tuple[Row, ...]:
    def is_reached(each: Row) -> bool:
        if each["content"] == "equality-deletes":
            return bool(data["sequence"] < each["sequence"])
        return bool(data["sequence"] <= each["sequence"])

    scope = data["spec_id"], data["spelled"]
    own = [each for each in named if (each["spec_id"], each["spelled"]) == scope and is_reached(each)]
    vectors = [each for each in own if each["format"] == "puffin"]
    others = [each for each in (*own, *inside) if each["format"] != "puffin" and is_reached(each)]
    if vectors:
        others = [each for each in others if each["content"] == "equality-deletes"]
    return (*vectors, *others, *(each for each in anywhere if is_reached(each)))
