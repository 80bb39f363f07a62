"""A diff as text, tables and HTML: the summary line, totals by partition and bucket, and files."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.analysis.diff import Diff, by_partition
from core.model.row_diff import RowDiff
from dashboard import words
from dashboard.formatting import markup, units
from dashboard.formatting.markup import Html, Piece


def compacted_files(found: Diff) -> int:
    """Count the files that compaction added or removed."""
    return found.summary["compaction_added_files"] + found.summary["compaction_removed_files"]


def compacted_rows(found: Diff) -> int:
    """Return the row difference between files added and removed by compaction: rows that were appended or deleted
    between A and B and then rewritten."""
    return found.summary["compaction_added_rows"] - found.summary["compaction_removed_rows"]


def stat_line(found: Diff) -> Html:
    """`Net +1,200 rows, 3.1 MB, +9 files · +12 files 4.1 MB … · −3 files … · compaction 5 → 1 files …`."""
    sums = found.summary
    net: list[Piece] = [
        words.NET,
        markup.strong(f"{units.signed_plural(sums['net_rows'], 'row')},"),
        markup.hint(markup.strong(f"{units.signed_size(sums['net_bytes'])},"), units.exact_bytes(sums["net_bytes"])),
        markup.strong(units.signed_plural(sums["net_files"], "file")),
    ]
    parts = [markup.join(net)]
    for side in ("added", "removed"):
        own = {name: sums[f"{side}_{name}"] - sums[f"compaction_{side}_{name}"] for name in ("files", "bytes", "rows")}
        parts.append(_side(side, own["files"], own["bytes"], own["rows"]))
    if compacted_files(found):
        parts.append(
            markup.in_hue(
                "compaction",
                words.compaction_stat(
                    sums["compaction_removed_files"],
                    sums["compaction_added_files"],
                    sums["compaction_removed_bytes"],
                    sums["compaction_added_bytes"],
                    compacted_rows(found),
                ),
            )
        )
    return markup.stat(parts)


def _side(side: str, files: int, size: int, rows: int) -> Html:
    sign = "+" if side == "added" else units.MINUS
    if not files:
        return markup.muted(words.NONE_OF[side])
    details = markup.join([markup.size(size), units.plural(rows, "row")], ", ")
    return markup.join([markup.in_hue(side, f"{sign}{units.plural(files, 'file')}"), details])


def partitions(found: Diff, *, hide_compaction: bool) -> pa.Table:
    """Return core's totals by partition and bucket, optionally without the files that compaction added or removed."""
    return _by_partition(found) if hide_compaction else found.partitions


def partition_frame(table: pa.Table) -> pd.DataFrame:
    """Return the same as a table with one row per bucket."""
    types = {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype()}
    shown: pd.DataFrame = table.to_pandas(types_mapper=types.get)
    return shown


def _by_partition(found: Diff) -> pa.Table:
    """Compute the totals by partition and bucket over the files that compaction did not add or remove."""
    return by_partition(_changed(found.added), _changed(found.removed))


def _changed(files: pa.Table) -> pa.Table:
    return files.filter(pc.not_equal(files["change"], "compaction"))


def listed(found: Diff, *, hide_compaction: bool) -> pa.Table:
    """List every file that differs: side ("added" or "removed"), path, partition, bytes, rows, change, and bucket and
    level or, for Iceberg, content."""
    parts = []
    for side, table in (("added", found.added), ("removed", found.removed)):
        shown = _changed(table) if hide_compaction else table
        own = ["content"] if "content" in shown.column_names else ["bucket", "level"]
        shown = shown.select(["path", "partition", *own, "bytes", "rows", "change"])
        parts.append(shown.add_column(0, "side", pa.array([side] * len(shown), pa.string())))
    return pa.concat_tables(parts)


def files(rows: pa.Table) -> pd.DataFrame:
    """Convert rows of `listed` for display."""
    frame = partition_frame(rows)
    frame["side"] = frame["side"].map(words.SIDES)
    frame["change"] = frame["change"].map(words.CHANGES)
    return frame


def sentence(found: Diff) -> str | None:
    """Return the sentence to show above the tables, or None if the tables are enough."""
    if found.a.snapshot.content == found.b.snapshot.content:
        return words.SAME_POINT
    sums = found.summary
    if not sums["added_files"] and not sums["removed_files"]:
        return words.NO_FILE_CHANGE
    if (sums["added_files"], sums["removed_files"]) == (
        sums["compaction_added_files"],
        sums["compaction_removed_files"],
    ):
        return compacted(found)
    return None


def compacted(found: Diff) -> str:
    """If compaction added or removed every file that differs, say whether that is the only change, or whether it also
    merged data written in between."""
    commits = len(found.commits) == abs(found.b.snapshot.id - found.a.snapshot.id) and found.commits
    is_all = commits and all(each.kind == "COMPACT" for each in commits)
    return words.ONLY_COMPACTION if is_all else words.ALL_COMPACTED


def row_stat(found: RowDiff) -> Html:
    """`12 added · 3 removed · 5 changed · 80 unchanged`."""
    parts: list[Piece] = [
        markup.in_hue(side, words.row_count(count, side))
        if (count := getattr(found, side))
        else markup.muted(words.row_count(0, side))
        for side in words.ROW_SIDES
    ]
    if found.unchanged is not None:
        parts.append(markup.muted(words.rows_unchanged(found.unchanged)))
    return markup.stat(parts)


def rows(found: RowDiff, kinds: Collection[str] = ()) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, str]]:
    """List the rows that differ, optionally of these kinds only, each cell's colour by meaning ("" for none), and the
    labels of the columns: kind, number of occurrences, key, and the values of the columns that differ (`before → after`
    where a changed row differs, the value of both versions where it does not). Columns without differences are left
    out. Column names are numbers, because a table's columns can have any name."""
    lines, meanings = list[dict[str, str]](), list[dict[str, str]]()
    for each in found.changes:
        if kinds and each.kind not in kinds:
            continue
        line = {"side": words.ROW_SIDES[each.kind]}
        if not found.key:
            line["times"] = str(each.times)
        line |= {f"k{found.key.index(name)}": _cell(value) for name, value in each.key.items()}
        for name in each.after or each.before:
            before, after = _cell(each.before.get(name)), _cell(each.after.get(name))
            only = after if each.kind == "added" else before
            line[f"c{found.columns.index(name)}"] = (
                words.value_change(before, after) if each.kind == "changed" else only
            )
        coloured = [name for name in line if each.kind != "changed" or name.startswith("c")]
        meanings.append(dict.fromkeys(coloured, each.kind))
        line |= {f"c{found.columns.index(name)}": _cell(value) for name, value in each.same.items()}
        lines.append(line)
    labels = {"side": words.COLUMN["side"]} | ({} if found.key else {"times": words.TIMES})
    labels |= {f"k{number}": name for number, name in enumerate(found.key)}
    differing = {name for each in meanings for name in each}
    labels |= {f"c{number}": name for number, name in enumerate(found.columns) if f"c{number}" in differing}
    listed, hues = (pd.DataFrame(each, columns=list(labels)).fillna("") for each in (lines, meanings))
    return listed, hues, labels


def _cell(value: object) -> str:
    if value is None:
        return words.NULL
    return value.hex() if isinstance(value, bytes) else str(value)


def settings(found: Diff, before: Mapping[str, str], after: Mapping[str, str]) -> pd.DataFrame:
    """List the changes other than rows, one per line: columns, options and ANALYZE statistics."""
    lines = [(words.SETTING_COLUMN, words.spoken(each)) for each in found.schema_changes]
    lines += [(words.SETTING_OPTION, words.spoken(each)) for each in found.option_changes]
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            nothing = words.NOT_COUNTED
            change = words.value_change(before.get(name, nothing), after.get(name, nothing))
            lines.append((words.SETTING_STATISTICS, f"{name}: {change}"))
    return pd.DataFrame(lines, columns=["of", "changed"])


def commits(found: Diff, zone: str, now_ms: int) -> pd.DataFrame:
    """List the commits in between, newest first."""
    listed = tuple(reversed(found.commits))
    return pd.DataFrame(
        {
            "snapshot": [str(each.id) for each in listed],
            "kind": [words.commit_kind(each.kind) for each in listed],
            "committed": [units.moment(each.time_ms, zone) for each in listed],
            "ago": [units.ago(each.time_ms, now_ms) for each in listed],
            "delta": [units.signed(each.delta_rows) for each in listed],
            "user": [each.commit_user for each in listed],
        }
    )
