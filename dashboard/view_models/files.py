"""Files, manifests, holders, columns and health as rows and facts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.analysis import file_lifetime
from core.analysis.file_health import Health
from core.analysis.file_lifetime import FileLifetime
from core.model.column_bounds import Bounds
from core.model.history import History
from dashboard import words
from dashboard.formatting import markup, units
from dashboard.formatting.markup import Piece

PAIMON = ("path", "bytes", "rows", "partition", "bucket", "level", "schema_id", "source", "format")
ICEBERG = ("path", "content", "bytes", "rows", "deletes", "partition", "sequence", "source", "format")
ENTRIES = ("change", "kind", "path", "bytes", "rows", "partition", "bucket", "level", "schema_id", "sequences",
           "source", "delete_rows")  # fmt: skip
_ORDERS: Mapping[str, list[tuple[str, str]]] = {
    "large": [("bytes", "descending"), ("path", "ascending")],
    "small": [("bytes", "ascending"), ("path", "ascending")],
    "path": [("path", "ascending")],
}


def found(files: pa.Table, text: str | None) -> pa.Table:
    """Filter files by a text in their path or partition, ignoring case."""
    if not text:
        return files
    hits = (pc.match_substring(files[name], text, ignore_case=True) for name in ("path", "partition"))
    return files.filter(pc.or_(*hits))


def ordered(files: pa.Table, order: str) -> pa.Table:
    return files.sort_by(_ORDERS[order])


def frame(files: pa.Table) -> pd.DataFrame:
    """Convert rows of `History.files_at` for display, with the columns that this format has."""
    names = ICEBERG if "content" in files.column_names else PAIMON
    shown: pd.DataFrame = _frame(files.select(list(names)))
    shown["source"] = shown["source"].map(lambda each: words.SOURCES.get(each, each))
    return shown


def level(rows: pa.Table) -> pd.DataFrame:
    """List the direct children of a folder."""
    return _frame(rows.select(["name", "files", "bytes", "rows"]))


def lists(manifests: pa.Table) -> list[list[Piece]]:
    """List the manifest lists, one per line: kind, file, size, and totals of their manifests."""
    grouped = manifests.group_by(["list", "list_path", "list_bytes"], use_threads=False).aggregate(
        [("path", "count"), ("added", "sum"), ("deleted", "sum")]
    )
    return [
        [
            words.LISTS[row["list"]],
            markup.mono(row["list_path"].rsplit("/", 1)[-1]),
            markup.size(row["list_bytes"]),
            units.count(row["path_count"]),
            units.count(row["added_sum"]),
            units.count(row["deleted_sum"]),
        ]
        for row in grouped.to_pylist()
    ]


def manifests(rows: pa.Table) -> pd.DataFrame:
    """List all manifests, grouped by manifest list."""
    shown = _frame(rows.select(["list", "path", "bytes", "added", "deleted", "existing", "schema_id"]))
    return shown.dropna(axis="columns", how="all") if len(shown) else shown


def entries(rows: pa.Table) -> pd.DataFrame:
    """List the entries of a manifest, without empty columns."""
    shown = _frame(rows)
    shown["change"] = shown["change"].map(words.ENTRY_CHANGES)
    shown["source"] = shown["source"].map(lambda each: words.SOURCES.get(each, each))
    first, last = rows["min_sequence"].to_pylist(), rows["max_sequence"].to_pylist()
    shown["sequences"] = [_sequences(*each) for each in zip(first, last, strict=True)]
    shown = shown[list(ENTRIES)]
    return shown.dropna(axis="columns", how="all") if len(shown) else shown


def _sequences(first: int | None, last: int | None) -> str | None:
    if first is None or last is None:
        return None
    return str(first) if first == last else f"{first} – {last}"


def _frame(table: pa.Table) -> pd.DataFrame:
    """Convert to pandas; integers stay integers even if some values are null."""
    types = {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype()}
    found: pd.DataFrame = table.to_pandas(types_mapper=types.get)
    return found


# a file's life -------------------------------------------------------------------------------------------------------


def file_facts(history: History, path: str) -> list[tuple[str, Piece]]:
    """List what the manifests record about a file; for other than data files, kind and size."""
    at = pc.index(history.objects["path"], path).as_py()
    kind, size = history.objects["kind"][at].as_py(), history.objects["bytes"][at].as_py()
    facts: list[tuple[str, Piece]] = [
        (words.FILE_COLUMN["kind"], kind),
        (words.FILE_COLUMN["bytes"], markup.size(size)),
    ]
    own = np.flatnonzero(history.files["object"].to_numpy() == at)
    if not len(own):
        return facts
    rows = history.files.take(pa.array(own)).to_pylist()
    for name in ("rows", "deletes", "partition", "bucket", "level", "schema_id", "sequence", "source", "format"):
        values = [row[name] for row in rows if row.get(name) not in (None, "")]
        if values and not (name == "deletes" and not any(values)):
            texts = [
                words.SOURCES.get(str(each), str(each)) if name == "source" else _field_text(each) for each in values
            ]
            facts.append((words.FILE_COLUMN[name], ", ".join(dict.fromkeys(texts))))
    return facts


def _field_text(value: object) -> str:
    return units.count(value) if isinstance(value, int) else str(value)


def life_facts(course: FileLifetime, zone: str, now_ms: int) -> list[tuple[str, Piece]]:
    """List when the file was added and removed, its holders, the reason, and the earliest deletion date."""
    counts = Counter({"snapshot": 0, "tag": 0, "changelog": 0})
    for each in course.stretches:
        counts[each.kind.value] += len(each.holders)
    born: Piece = words.LIFE_NO_LIVE
    if course.born is not None:
        born = markup.hint(words.life_added(course, zone), f"{course.born.time_ms} ms since 1970 UTC")
    facts: list[tuple[str, Piece]] = [(words.LIFE_BORN, born)]
    if course.born is not None and not course.is_reference:
        facts.append((words.LIFE_REMOVED, words.life_removed(course, zone)))
    facts.append((words.LIFE_KEPT, words.life_held(counts)))
    facts.append((words.LIFE_WHY, words.capitalized(words.spoken(course.life.words))))
    facts.append((words.LIFE_EARLIEST, _earliest(course, zone, now_ms)))
    return facts


def _earliest(course: FileLifetime, zone: str, now_ms: int) -> Piece:
    at = course.life.not_before_ms
    if at is not None:
        return words.LIFE_NOW if at <= now_ms else markup.moment(at, zone, now_ms)
    if not course.life.holders:
        return words.LIFE_NOW
    dated = [each.ends.not_before_ms for each in course.stretches if each.ends and each.ends.not_before_ms]
    if dated and max(dated) > now_ms:
        return words.life_at_least(max(dated), zone)
    ends = [each.ends for each in course.stretches]
    hangs = any(each is not None and each.is_open for each in ends)
    never = any(each is None or (each.not_before_ms is None and not each.is_open) for each in ends)
    return words.LIFE_UNDATED if hangs and not never else words.LIFE_NEVER


def stretches(course: FileLifetime, zone: str) -> pd.DataFrame:
    """List the periods for which the file is held, one per row."""
    rows = file_lifetime.table(course).to_pylist()

    def own(row: Mapping[str, str], end: str) -> str:  # without the branch, which has its own column
        return row[end].removeprefix(f"branch:{row['branch']}/")

    return pd.DataFrame(
        {
            "holders_of": [words.life_row(row["kind"], row["branch"]) for row in rows],
            "points": [words.stretch_points(own(row, "first"), own(row, "last"), row["holders"]) for row in rows],
            "ends": [words.spoken(each.ends.words) if each.ends else "—" for each in course.stretches],
            "since": [units.moment(row["since_ms"], zone) for row in rows],
            "until": [units.moment(row["until_ms"], zone) for row in rows],
        }
    )


# columns and health ---------------------------------------------------------------------------------------------------


def columns(bounds: tuple[Bounds, ...]) -> pd.DataFrame:
    """List minimum, maximum and null count of each column; values that were not written are marked as such."""
    return pd.DataFrame(
        {
            "column": [each.column.name for each in bounds],
            "type": [each.column.type for each in bounds],
            "low": [_bound(each, each.low, cut=each.low_cut) for each in bounds],
            "high": [_bound(each, each.high, cut=each.high_cut) for each in bounds],
            "nulls": [words.nulls(each) for each in bounds],
            "told": [words.statistics_from(each) for each in bounds],
        }
    )


def _bound(of: Bounds, value: Any, *, cut: bool) -> str:
    if value is None:
        if of.unreadable:
            return words.OTHER_TYPE
        return words.ALL_NULL if of.files and of.files_with_bounds == of.files else words.NOT_WRITTEN
    text = value.hex() if isinstance(value, bytes) else str(value)
    return words.cut(text) if cut else text


def health_tiles(of: Health) -> list[tuple[str, Piece, Piece]]:
    """List the health figures, each with its rule as text."""
    has_buckets = of.fullest is not None and of.fullest.bucket is not None
    tiles: list[tuple[str, Piece, Piece]] = [
        (words.HEALTH_SMALL, words.small_value(of), words.small_rule(of)),
        (
            words.HEALTH_PER_PLACE if has_buckets else words.HEALTH_PER_PARTITION,
            words.per_place_value(of),
            words.per_place_rule(of),
        ),
        (words.HEALTH_SKEW, words.skew_value(of), words.skew_rule(of)),
        (words.HEALTH_DELETES, words.deletes_value(of), words.deletes_rule(of)),
    ]
    if of.runs is not None:
        tiles.insert(3, (words.HEALTH_RUNS, words.runs_value(of), words.runs_rule(of)))
    return tiles


def partitions(of: Health) -> pd.DataFrame:
    """List the partitions, those with most small files first."""
    shown = _frame(of.partitions)
    shown["partition"] = shown["partition"].where(shown["partition"] != "", words.WHOLE_TABLE)
    return shown[["partition", "small_files", "files", "small_bytes", "bytes"]]


def live_files(history: History, point: str) -> tuple[int, int]:
    """Data files, and files that only take rows of others away, that are live at a point."""
    live = history.live.at(history.position(point))
    if "content" not in history.files.column_names:
        return int(live.sum()), 0
    is_data = pc.equal(history.files["content"], "data").to_numpy()
    return int((live & is_data).sum()), int((live & ~is_data).sum())
