"""A difference in words, tables and HTML: one stat line, sums by partition and bucket, the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.diff import Diff, by_partition
from dashboard.present import markup, units, words
from dashboard.present.markup import Html, Piece

if TYPE_CHECKING:  # Spark is slow to load
    from core.spark.rowdiff import RowDiff

SHOWN_PARTITIONS = 200


def compacted_files(found: Diff) -> int:
    """How many files compaction brought or took away."""
    return found.summary["compaction_added_files"] + found.summary["compaction_removed_files"]


def carried_rows(found: Diff) -> int:
    """Rows that compaction's files gained or lost: appended or dropped between A and B, then rewritten."""
    return found.summary["compaction_added_rows"] - found.summary["compaction_removed_rows"]


def stat_line(found: Diff) -> str:
    """`Net +1,200 rows, 3.1 MB, +9 files · +12 files 4.1 MB … · −3 files … · compaction 5 → 1 files …`."""
    sums = found.summary
    net: list[Piece] = [
        words.NET,
        Html(f"<b>{units.signed_plural(sums['net_rows'], words.ROW)},</b>"),
        markup.hint(Html(f"<b>{units.signed_size(sums['net_bytes'])},</b>"), units.exact_bytes(sums["net_bytes"])),
        Html(f"<b>{units.signed_plural(sums['net_files'], words.FILE)}</b>"),
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
                    carried_rows(found),
                ),
            )
        )
    return f'<div class="snap-stat">{markup.join(parts, " &nbsp;·&nbsp; ")}</div>'


def _side(side: str, files: int, size: int, rows: int) -> Html:
    sign = "+" if side == "added" else units.MINUS
    if not files:
        return markup.muted(words.NONE_OF[side])
    details = markup.join([markup.size(size), units.plural(rows, "row")], ", ")
    return markup.join([markup.in_hue(side, f"{sign}{units.plural(files, 'file')}"), details])


def partitions(found: Diff, *, hide_compaction: bool) -> str:
    """Sums by partition and bucket with a bar per side; capped, with a notice of what was left out."""
    table = _by_partition(found) if hide_compaction else found.partitions
    if not len(table):
        return markup.note("info", compacted(found))
    rows = table.slice(0, SHOWN_PARTITIONS).to_pylist()
    most = max(max(row["added_bytes"], row["removed_bytes"]) for row in rows) or 1
    lines: list[list[Piece]] = []
    for row in rows:
        line: list[Piece] = [
            markup.mono(row["partition"] or words.WHOLE_TABLE),
            markup.mono(words.bucket(row["bucket"])),
        ]
        for side in ("added", "removed"):
            files, size, count = (row[f"{side}_{name}"] for name in ("files", "bytes", "rows"))
            if files:
                shown = markup.in_hue(side, _signed(side, files))
                line += [shown, markup.bar(side, size / most, size), _signed(side, count)]
            else:
                line += [markup.muted("—"), "", ""]
        lines.append(line)
    text = markup.table(words.PARTITION_HEADS, lines, numbers=(2, 4, 5, 7))
    if len(table) > SHOWN_PARTITIONS:
        text += markup.note("info", words.capped(SHOWN_PARTITIONS, len(table), words.PARTITIONS))
    return text


def _by_partition(found: Diff) -> pa.Table:
    """The core's sums by partition and bucket, over files that no compaction brought or took away."""
    return by_partition(_changed(found.added), _changed(found.removed))


def _changed(files: pa.Table) -> pa.Table:
    return files.filter(pc.not_equal(files["change"], "compaction"))


def _signed(side: str, value: int) -> str:
    return ("+" if side == "added" else units.MINUS) + units.count(value)


def files(found: Diff, *, hide_compaction: bool) -> pd.DataFrame:
    """Every file that differs: side, path, partition, bucket, bytes, rows, level, what changed it."""
    parts = []
    for side, table in (("added", found.added), ("removed", found.removed)):
        shown = _changed(table) if hide_compaction else table
        shown = shown.select(["path", "partition", "bucket", "bytes", "rows", "level", "change"])
        parts.append(shown.append_column("side", pa.array([words.SIDES[side]] * len(shown), pa.string())))
    frame: pd.DataFrame = pa.concat_tables(parts).to_pandas()
    frame["change"] = frame["change"].map(words.CHANGES)
    return frame[["side", "path", "partition", "bucket", "bytes", "rows", "level", "change"]]


def sentence(found: Diff) -> str | None:
    """What there is to say before any table, None where the tables say it."""
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
    """Where compaction brought or took every file that differs: whether it is all that happened, or has also merged
    what was written meanwhile."""
    commits = len(found.commits) == abs(found.b.snapshot.id - found.a.snapshot.id) and found.commits
    is_all = commits and all(each.kind == "COMPACT" for each in commits)
    return words.ONLY_COMPACTION if is_all else words.ALL_COMPACTED


def row_stat(found: RowDiff) -> str:
    """`12 added · 3 removed · 5 changed · 80 unchanged`."""
    parts: list[Piece] = [
        markup.in_hue("ink" if side == "changed" else side, words.row_count(count, side))
        if (count := getattr(found, side))
        else markup.muted(words.row_count(0, side))
        for side in words.ROW_SIDES
    ]
    if found.unchanged is not None:
        parts.append(markup.muted(words.rows_unchanged(found.unchanged)))
    return f'<div class="snap-stat">{markup.join(parts, " &nbsp;·&nbsp; ")}</div>'


def rows(found: RowDiff) -> tuple[pd.DataFrame, dict[str, str]]:
    """A line for each row that differs, and the labels of its columns: what happened, how often, the key, and what a
    row has in the columns that differ: `before → after` of a changed one. Columns in which nothing differs are not
    there. Names are numbers, because a column of a table may be called anything."""
    lines = []
    for each in found.changes:
        line = {"side": words.ROW_SIDES[each.kind]}
        if not found.key:
            line["times"] = str(each.times)
        line |= {f"k{found.key.index(name)}": _cell(value) for name, value in each.key.items()}
        for name in each.after or each.before:
            before, after = _cell(each.before.get(name)), _cell(each.after.get(name))
            only = after if each.kind == "added" else before
            line[f"c{found.columns.index(name)}"] = words.became(before, after) if each.kind == "changed" else only
        lines.append(line)
    labels = {"side": words.COLUMN["side"], "times": words.TIMES}
    labels |= {f"k{number}": name for number, name in enumerate(found.key)}
    labels |= {f"c{number}": name for number, name in enumerate(found.columns)}
    shown = {name: label for name, label in labels.items() if any(name in line for line in lines)}
    return pd.DataFrame(lines, columns=list(shown)).fillna(""), shown


def _cell(value: object) -> str:
    if value is None:
        return words.NULL
    return value.hex() if isinstance(value, bytes) else str(value)
