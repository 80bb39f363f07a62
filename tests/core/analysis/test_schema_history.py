"""Columns across schemas: what changed, and what readers see, on a table that Java Paimon wrote and on documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.analysis.schema_history import REORDERED, ColumnChange, SchemaHistory, full_name, schema_history
from core.cli import main
from core.formats.paimon.format import PaimonFormat
from core.model.references import Conversion, Field
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.iceberg_documents import SCHEMA, Json, document, snapshot
from tests.support.places import ROOT, SMALL_TABLES

EVOLVED = SMALL_TABLES / "paimon" / "default.db" / "schema_evolved"
CASTS = json.loads((ROOT / "tests" / "data" / "paimon_casts.json").read_text())


def changes(found: SchemaHistory) -> list[tuple[tuple[int, ...], str, str, str | None, str | None]]:
    return [
        (version.ids, str(each.kind), each.column, each.before, each.after)
        for version in found.versions
        for listed in version.changes.values()
        for each in listed
    ]


def meanings(found: SchemaHistory) -> dict[tuple[str, str], str]:
    listed: list[ColumnChange] = [
        each for version in found.versions for group in version.changes.values() for each in group
    ]
    return {(str(each.kind), each.column): " ".join(each.meaning) for each in listed}


def test_a_table_that_java_paimon_evolved() -> None:
    history = open_table(str(EVOLVED)).history()
    found = schema_history(history.heads, "main", history)
    assert changes(found) == [
        ((1,), "added", "c", None, "DOUBLE"),
        ((2,), "renamed", "a2", "a", "a2"),
        ((3,), "dropped", "b", "INT", None),
        ((4,), "retyped", "id", "INT", "BIGINT"),
        ((5, 6), "added", "b", None, "STRING"),  # 6 changed an option only
    ]
    assert [[each.id for each in version.snapshots] for version in found.versions] == [
        *([one, one + 1] for one in range(1, 11, 2)),
        [11, 12, 13, 14],
    ]
    latest = history.files_at(history.position("14"))["schema_id"].to_pylist()
    assert meanings(found) == {
        (
            "added",
            "c",
        ): f"Rows of older files have NULL in `c`. {latest.count(0)} files of the latest version are older.",
        (
            "renamed",
            "a2",
        ): "Only the name changed: files are matched by field id, so no value is lost. Queries must say "
        "`a2`. 4 older snapshots still call it `a`.",
        ("dropped", "b"): "Readers no longer see `b`. Its values stay in older files until those are rewritten. "
        f"{sum(each < 3 for each in latest)} files of the latest version were written with it. 6 older snapshots still "
        "show it.",
        ("retyped", "id"): "Values of older files become BIGINT when they are read, without loss. "
        f"{sum(each < 4 for each in latest)} files of the latest version are older. 8 older snapshots still show it as "
        "INT.",
        (
            "added",
            "b",
        ): "Rows of older files have NULL in `b`. It is a new column: the values of the dropped `b` do not "
        f"come back. {sum(each < 5 for each in latest)} files of the latest version are older.",
    }
    assert [found.versions[-1].is_current, *(each.is_current for each in found.versions[:-1])] == [True, *[False] * 5]
    names = [next(v.columns[key].name for v in reversed(found.versions) if key in v.columns) for key in found.keys]
    assert names == ["dt", "id", "a2", "b", "c", "b"], "a dropped column stands where it stood"


def test_a_conversion_is_what_java_paimon_did_with_values() -> None:
    for pair, answers in CASTS.items():
        old, new = (Field(0, "v", of) for of in pair.split(">"))
        found = PaimonFormat.conversion(old, new)
        if answers is None:  # Paimon rejects the change itself; of times to short texts although it has a cast
            assert found is Conversion.NONE or pair.endswith("CHAR(3)"), pair
        elif {"error": True} in answers.values() or None in answers.values():
            assert found is Conversion.CAST, f"{pair}: a value was rejected or lost"
        else:
            assert found in (Conversion.EXACT, Conversion.CAST), pair
        assert PaimonFormat.conversion(old, old) is Conversion.EXACT
    assert PaimonFormat.conversion(Field(0, "v", "INT"), Field(0, "v", "POINT")) is Conversion.UNKNOWN


def test_small_changes_of_a_paimon_table(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "shop.db" / "t")
    table.commit([table.file(10)])
    table.tag("kept")
    path = table.root / "schema" / "schema-0"
    first: Json = json.loads(path.read_text())
    inner = {"type": "ROW", "fields": [{"id": 4, "name": "zip", "type": "INT"}]}
    fields: list[Json] = [*first["fields"], {"id": 3, "name": "address", "type": inner}]

    def write(number: int, fields: list[Json], **more: Any) -> None:
        (table.root / "schema" / f"schema-{number}").write_text(
            json.dumps({**first, "id": number, "fields": fields, "timeMillis": 1_767_300_000_000 + number, **more})
        )

    def found() -> SchemaHistory:
        return schema_history(open_table(str(table.root)).heads(), "main")

    write(1, fields)
    write(2, fields, options={"bucket": "-1", "owner": "lab"})
    widened = {"type": "ROW NOT NULL", "fields": [{"id": 4, "name": "code", "type": "BIGINT"}]}
    amount = {**fields[1], "type": "DOUBLE NOT NULL", "description": "in euros", "defaultValue": "0"}
    write(3, [fields[0], amount, {**fields[3], "type": widened}, fields[2]])
    assert changes(found()) == [
        ((1, 2), "added", "address", None, "ROW<zip INT>"),
        ((3,), "not-null", "amount", None, None),
        ((3,), "default", "amount", None, "0"),
        ((3,), "comment", "amount", None, "in euros"),
        ((3,), "not-null", "address", None, None),
        ((3,), "renamed", "address.code", "zip", "code"),
        ((3,), "retyped", "address.code", "INT", "BIGINT"),
    ]
    assert [each.is_reordered for each in found().versions] == [False, False, True]
    assert [full_name(found().versions[-1].columns, key) for key in found().keys] == [
        *("id", "amount", "address", "address.code", "dt")
    ]
    assert found().versions[0].snapshots[0].id == 1
    write(5, [fields[0], amount, fields[2]])  # 4 was never there
    last = found().versions[-1]
    assert (last.ids, last.missing, last.time_ms) == ((5,), (4,), 1_767_300_000_005)
    assert ("dropped", "address") in meanings(found())
    assert not any("address." in column for kind, column in meanings(found()) if kind == "dropped")
    table.expire([1])  # its tag still shows the columns of then
    assert [each.id for each in found().versions[0].snapshots] == [1]


def test_an_unreadable_schema_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = TableBuilder(tmp_path / "shop.db" / "t")
    table.commit([table.file(10)])
    table.schema([("id", "BIGINT NOT NULL")])
    table.schema([("id", "BIGINT NOT NULL"), ("more", "INT")], ids=[0, 7])
    assert main(["schemas", str(table.root), "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert [each["schemas"] for each in whole["versions"]] == [[0], [1], [2]]
    (table.root / "schema" / "schema-1").write_text("{")
    assert main(["schemas", str(table.root), "--json"]) == 1
    partly = json.loads(capsys.readouterr().out)
    assert [(each["schemas"], each["missing"]) for each in partly["versions"]] == [([0], []), ([2], [1])]
    assert main(["schemas", str(table.root)]) == 1
    assert "Schemas not there or unreadable: 1." in capsys.readouterr().out


def iceberg(root: Path, schemas: list[list[Json]], used: list[int], current: int) -> SchemaHistory:
    """The history of a table whose snapshots were committed with the schemas `used`."""
    place = f"file:{root}"
    snapshots = [snapshot(n + 1, n or None, 1000 * (n + 1), place, **{"schema-id": id}) for n, id in enumerate(used)]
    found = document(
        3, place, snapshots=snapshots, refs={"main": {"snapshot-id": len(used), "type": "branch"}},
        schemas=[{**SCHEMA, "schema-id": id, "fields": fields} for id, fields in enumerate(schemas)],
    )  # fmt: skip
    found |= {"current-schema-id": current, "current-snapshot-id": len(used), "last-column-id": 9, "next-row-id": 0}
    found["snapshot-log"] = [{"timestamp-ms": each["timestamp-ms"], "snapshot-id": each["snapshot-id"]}
                             for each in snapshots]  # fmt: skip
    found["last-sequence-number"] = len(used)
    (root / "metadata").mkdir(parents=True)
    (root / "metadata" / "v1.metadata.json").write_text(json.dumps(found))
    return schema_history(open_table(str(root)).heads(), "main")


def test_an_iceberg_table(tmp_path: Path) -> None:
    one: list[Json] = [*SCHEMA["fields"], {"id": 3, "name": "n", "required": False, "type": "int"}]
    two: list[Json] = [
        *one[:2],
        {"id": 3, "name": "n", "required": False, "type": "long"},
        {"id": 4, "name": "k", "required": False, "type": "int", "initial-default": 7, "write-default": 8},
    ]
    three = [two[0], {**two[1], "name": "day", "doc": None}, {**two[2], "type": "date"}, two[3]]
    found = iceberg(tmp_path / "t", [one, two, three], [0, 0, 1, 2], 2)
    assert meanings(found) == {
        ("retyped", "n"): "The format does not convert long to date: queries over older files fail or answer wrongly. "
        "1 older snapshot still shows it as long.",
        ("added", "k"): "Rows of older files have 7 in `k`. New rows that leave it out get 8.",
        ("renamed", "day"): "Only the name changed: files are matched by field id, so no value is lost. Queries must "
        "say `day`. 3 older snapshots still call it `dt`.",
        ("comment", "day"): "Only the comment changed: values and queries are not affected.",
    }
    assert [each.since_ms for each in found.versions] == [1000, 3000, 4000], "schemas have no time of their own"


def test_an_iceberg_schema_that_became_current_again(tmp_path: Path) -> None:
    one: list[Json] = SCHEMA["fields"]
    two = [*one, {"id": 3, "name": "n", "required": False, "type": "int"}]
    three = [*two, {"id": 4, "name": "k", "required": False, "type": "int"}]
    found = iceberg(tmp_path / "t", [one, two, three], [0, 2, 0], 1)
    assert [each.ids for each in found.versions] == [(0,), (1,), (2,), (0,), (1,)]
    assert [each.is_current for each in found.versions] == [*[False] * 4, True]
    assert [len(each.snapshots) for each in found.versions] == [1, 0, 1, 1, 0]
    assert [(kind, column) for _, kind, column, *_ in changes(found)] == [
        *(("added", "n"), ("added", "k"), ("dropped", "n"), ("dropped", "k"), ("added", "n")),
    ]
    assert "Columns were moved" in REORDERED
