"""Columns of a table with what is known about them, example statements and conditions for it, and the words of SQL.
Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.analysis.diff import spelled
from core.model.capabilities import Capabilities
from core.model.references import Heads, Schema
from core.spark.read import system_tables
from dashboard.formatting.cells import quoted

_NUMBERS = re.compile(r"(TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|DECIMAL|LONG)\b", re.IGNORECASE)
_SIMPLE = re.compile(
    r"(BOOLEAN|TINYINT|SMALLINT|INT|BIGINT|LONG|FLOAT|DOUBLE|DECIMAL|DATE|TIMESTAMP|STRING|CHAR|VARCHAR|UUID)",
    re.IGNORECASE,
)
_REQUIRED = " NOT NULL"
MOST_NULLS = 12

# What the editor completes besides names.
KEYWORDS = (
    "SELECT DISTINCT FROM WHERE GROUP BY HAVING ORDER ASC DESC NULLS FIRST LAST LIMIT OFFSET WITH AS JOIN INNER LEFT "
    "RIGHT FULL OUTER CROSS SEMI ANTI ON USING UNION ALL EXCEPT INTERSECT CASE WHEN THEN ELSE END AND OR NOT IN EXISTS "
    "BETWEEN LIKE ILIKE RLIKE IS NULL TRUE FALSE OVER PARTITION ROWS RANGE UNBOUNDED PRECEDING FOLLOWING CURRENT ROW "
    "LATERAL VIEW PIVOT UNPIVOT VALUES INTERVAL DATE TIMESTAMP CALL"
).split()
FUNCTIONS = (
    "count sum avg min max count_if any_value first last approx_count_distinct percentile median stddev collect_list "
    "collect_set array_agg coalesce nullif if ifnull cast try_cast abs round floor ceil greatest least length lower "
    "upper trim substring concat concat_ws split replace regexp_extract regexp_replace date_trunc date_add datediff "
    "to_date to_timestamp year month day hour explode size map_keys map_values get_json_object row_number rank "
    "dense_rank lag lead hash xxhash64 md5 hex typeof"
).split()


@dataclass(frozen=True, slots=True)
class QueryableColumn:
    """A column for display: `written` is its name as quoted in SQL, `marks` are keys of `words.COLUMN_MARKS`."""

    name: str
    written: str
    type: str
    marks: tuple[str, ...]
    comment: str


def columns(heads: Heads, schema: Schema) -> tuple[QueryableColumn, ...]:
    """List the columns of a schema, in order."""
    required = _required(heads, schema.id)
    found = []
    for field in schema.fields:
        text = spelled(field.type)
        marks = {
            "partition": field.name in schema.partition_keys,
            "primary": field.name in schema.primary_keys,
            "required": text.endswith(_REQUIRED) or field.id in required,
        }
        found.append(
            QueryableColumn(
                field.name,
                quoted(field.name),
                text.removesuffix(_REQUIRED),
                tuple(name for name, is_so in marks.items() if is_so),
                field.description or "",
            )
        )
    return tuple(found)


def _required(heads: Heads, id: int) -> frozenset[int]:
    """Return the ids of required columns; Iceberg stores this next to the type."""
    listed = heads.document.get("schemas") or []
    return frozenset(
        field["id"] for each in listed if each.get("schema-id") == id for field in each["fields"] if field["required"]
    )


def tables(name: str, of: Capabilities, *, has_before: bool) -> tuple[str, ...]:
    """List the other tables that a statement can use, as quoted in SQL: the second version, the changes, the metadata
    tables."""
    kinds = (*system_tables.kinds(of.format), *(("audit_log",) if of.has_row_kinds else ()))
    compared = ("t_before", *(("t_changes",) if of.has_row_kinds else ())) if has_before else ()
    return (*dict.fromkeys(("t", quoted(name))), *compared, *(f"`t${kind}`" for kind in sorted(kinds)))


def statements(schema: Schema, name: str, of: Capabilities, *, has_before: bool) -> tuple[tuple[str, str], ...]:
    """Suggest statements, each with its key in `words.EXAMPLES`. All of them run on this table."""
    table = quoted(name)
    found = [("rows", f"SELECT *\nFROM {table}\nLIMIT 100")]
    groups = [quoted(each.name) for each in schema.fields if each.name in schema.partition_keys] or _groups(schema)[:1]
    by = ", ".join(groups)
    if groups:
        found.append(("count", f"SELECT {by}, count(*) AS n\nFROM {table}\nGROUP BY {by}\nORDER BY {by}"))
    else:
        found.append(("count", f"SELECT count(*) AS n\nFROM {table}"))
    if numbers := _numbers(schema):
        value = numbers[0]
        figures = f"count(*) AS n, sum({value}) AS total, min({value}) AS least, max({value}) AS most"
        text = f"SELECT {by}, {figures}\nFROM {table}\nGROUP BY {by}\nORDER BY {by}" if groups else ""
        found.append(("sum", text or f"SELECT {figures}\nFROM {table}"))
    if keys := _keys(schema):
        key = ", ".join(keys)
        found.append(
            (
                "twice",
                f"SELECT {key}, count(*) AS n\nFROM {table}\nGROUP BY {key}\nHAVING count(*) > 1\n"
                "ORDER BY n DESC\nLIMIT 100",
            )
        )
    nullable = [quoted(each.name) for each in schema.fields if not spelled(each.type).endswith(_REQUIRED)][:MOST_NULLS]
    if nullable:
        counted = ",\n  ".join(f"count_if({each} IS NULL) AS {each}" for each in nullable)
        found.append(("nulls", f"SELECT count(*) AS `rows`,\n  {counted}\nFROM {table}"))
    found.append(
        (
            "files",
            "SELECT `partition`, count(*) AS files, sum(file_size_in_bytes) AS bytes, sum(record_count) AS n\n"
            "FROM `t$files`\nGROUP BY `partition`\nORDER BY bytes DESC",
        )
    )
    if of.format in _COMMITS:
        found.append(("commits", _COMMITS[of.format]))
    if has_before:
        found.append(("before", _compared(groups)))
        if of.has_row_kinds:
            found.append(("changes", "SELECT _rowkind, count(*) AS n\nFROM t_changes\nGROUP BY _rowkind\nORDER BY 1"))
    return tuple(found)


_COMMITS = {
    "paimon": "SELECT snapshot_id, commit_time, commit_kind, commit_user, delta_record_count\nFROM `t$snapshots`\n"
    "ORDER BY snapshot_id DESC",
    "iceberg": "SELECT snapshot_id, committed_at, operation, summary\nFROM `t$snapshots`\nORDER BY committed_at DESC",
}


def _compared(groups: Sequence[str]) -> str:
    if not groups:
        return "SELECT (SELECT count(*) FROM t) AS now, (SELECT count(*) FROM t_before) AS earlier"
    by = ", ".join(groups)
    return (
        f"SELECT {by}, sum(now) AS now, sum(earlier) AS earlier\nFROM (\n"
        f"  SELECT {by}, count(*) AS now, 0 AS earlier FROM t GROUP BY {by}\n  UNION ALL\n"
        f"  SELECT {by}, 0, count(*) FROM t_before GROUP BY {by}\n)\n"
        f"GROUP BY {by}\nHAVING sum(now) <> sum(earlier)\nORDER BY {by}"
    )


def conditions(schema: Schema, rows: int | None) -> tuple[str, ...]:
    """Suggest bisect conditions on the whole table. `rows` is the row count of the latest version."""
    found = [f"count(*) > {max((rows or 2_000) // 2, 0)}"]
    if numbers := _numbers(schema):
        found += [f"exists(select 1 from t where {numbers[0]} < 0)", f"max({numbers[0]}) > 1000"]
    keys = _keys(schema)
    if len(keys) == 1:
        found.append(f"count(*) > count(distinct {keys[0]})")
    nullable = [quoted(each.name) for each in schema.fields if not spelled(each.type).endswith(_REQUIRED)]
    if nullable:
        found.append(f"count_if({nullable[-1]} is null) > 0")
    return tuple(found)


def _numbers(schema: Schema) -> list[str]:
    """List the numeric columns, those whose names do not look like ids first."""
    plain = [
        each.name
        for each in schema.fields
        if _NUMBERS.match(spelled(each.type)) and each.name not in (*schema.primary_keys, *schema.partition_keys)
    ]
    figures = [name for name in plain if not re.search(r"(^|_)(id|key|year|month|day)$", name, re.IGNORECASE)]
    exact = {
        each.name for each in schema.fields if re.match(r"DECIMAL|DOUBLE|FLOAT", spelled(each.type), re.IGNORECASE)
    }
    return [quoted(name) for name in sorted(figures, key=lambda name: name not in exact) or plain]


def _keys(schema: Schema) -> list[str]:
    if schema.primary_keys:
        return [quoted(name) for name in schema.primary_keys]
    simple = [each.name for each in schema.fields if _SIMPLE.match(spelled(each.type))]
    named = [name for name in simple if re.search(r"(^|_)(id|key)$", name, re.IGNORECASE)]
    return [quoted(name) for name in (named or simple)[:1]]


def _groups(schema: Schema) -> list[str]:
    texts = [
        each.name for each in schema.fields if re.match(r"STRING|VARCHAR|CHAR|DATE", spelled(each.type), re.IGNORECASE)
    ]
    return [quoted(name) for name in texts]
