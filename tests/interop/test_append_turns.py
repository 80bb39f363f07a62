"""We and the engine write append tables in turns; and what both make of the same schema changes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.errors import Invalid, SnapscopeError, Unsupported
from core.formats.paimon.write import publish
from core.formats.paimon.write.alter import AddColumn, DropColumn, RenameColumn, SetOption, WidenColumn
from core.storage.store import Store
from tests.engines.paimon_java import EngineError, PaimonJudge
from tests.support.interop.append_turns import Turns

SEQUENCES, STEPS = 10, 6


def test_sequences_in_turns_have_the_same_rows_after_every_step(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path
) -> None:
    counts: Counter[str] = Counter()
    for seed in range(SEQUENCES):
        try:
            counts += Turns(spark, java_judge, str(tmp_path / f"s{seed}.db" / "t"), seed).run(STEPS)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
    assert counts["our commits"] == counts["the engine's commits"] == SEQUENCES * STEPS // 2


ARRAY = {"type": "ARRAY", "element": "INT"}
CHANGES: list[tuple[Any, tuple[Any, ...]]] = [
    (AddColumn("e", ARRAY), ("add", "e", ARRAY)),
    (AddColumn("f", "DECIMAL(10, 2)"), ("add", "f", "DECIMAL(10, 2)")),
    (RenameColumn("b", "bb"), ("rename", "b", "bb")),
    (WidenColumn("bb", "BIGINT"), ("type", "bb", "BIGINT")),
    (WidenColumn("c", "STRING"), ("type", "c", "STRING")),
    (WidenColumn("f", "DECIMAL(12, 2)"), ("type", "f", "DECIMAL(12, 2)")),
    (DropColumn("e"), ("drop", "e")),
    (AddColumn("e", "INT"), ("add", "e", "INT")),
    (WidenColumn("e", "DOUBLE"), ("type", "e", "DOUBLE")),
    (SetOption("snapshot.num-retained.max", "90"), ("set_option", "snapshot.num-retained.max", "90")),
    (SetOption("snapshot.num-retained.max", None), ("remove_option", "snapshot.num-retained.max")),
]
REFUSED: list[tuple[Any, tuple[Any, ...]]] = [
    (AddColumn("bb", "INT"), ("add", "bb", "INT")),
    (AddColumn("x", "INT NOT NULL"), ("add", "x", "INT NOT NULL")),
    (RenameColumn("bb", "c"), ("rename", "bb", "c")),
    (RenameColumn("nothing", "x"), ("rename", "nothing", "x")),
    (RenameColumn("p", "x"), ("rename", "p", "x")),
    (DropColumn("p"), ("drop", "p")),
    (WidenColumn("p", "BYTES"), ("type", "p", "BYTES")),
    (WidenColumn("bb", ARRAY), ("type", "bb", ARRAY)),
    (SetOption("snapshot.num-retained.max", "9"), ("set_option", "snapshot.num-retained.max", "9")),
    (SetOption("bucket", "4"), ("set_option", "bucket", "4")),
    (SetOption("merge-engine", "first-row"), ("set_option", "merge-engine", "first-row")),
]


def test_schema_changes_make_the_engines_schemas_and_are_refused_where_it_refuses(
    java_judge: PaimonJudge, tmp_path: Path
) -> None:
    columns = [("a", "INT NOT NULL"), ("b", "INT"), ("c", "INT"), ("p", "STRING")]
    ours, theirs = (Store(str(tmp_path / f"{name}.db" / "t")) for name in ("ours", "theirs"))
    for store in (ours, theirs):
        java_judge.create(store.root, columns, partition_keys=["p"], options={"bucket": "-1"})
        java_judge.write(store.root, [[1, 2, 3, "x"]])

    def document(store: Store, number: int) -> dict[str, Any]:
        return {**json.loads(store.read(f"schema/schema-{number}")), "timeMillis": 0}

    for number, (change, words) in enumerate(CHANGES, 1):
        assert publish.alter(ours, [change], time_ms=1).id == number
        java_judge.alter(theirs.root, words)
        assert document(ours, number) == document(theirs, number), change
    for change, words in REFUSED:
        with pytest.raises(SnapscopeError):
            publish.alter(ours, [change], time_ms=1)
        with pytest.raises(EngineError):
            java_judge.alter(theirs.root, words)
    assert java_judge.rows(ours.root) == java_judge.rows(theirs.root)


def test_tables_with_a_key_change_as_the_engine_changes_them(java_judge: PaimonJudge, tmp_path: Path) -> None:
    columns = [("k", "INT NOT NULL"), ("v", "INT"), ("w", "STRING"), ("s", "INT")]
    ours, theirs = (Store(str(tmp_path / f"{name}.db" / "t")) for name in ("ours", "theirs"))
    for store in (ours, theirs):
        options = {"bucket": "2", "sequence.field": "s"}
        java_judge.create(store.root, columns, primary_keys=["k"], options=options)
        java_judge.write(store.root, [[1, 2, "w", 1], [2, 3, "w", 1]])
    changes: list[tuple[Any, tuple[Any, ...]]] = [
        (RenameColumn("v", "vv"), ("rename", "v", "vv")),
        (WidenColumn("vv", "BIGINT"), ("type", "vv", "BIGINT")),
        (DropColumn("w"), ("drop", "w")),
        (AddColumn("w", "INT"), ("add", "w", "INT")),
    ]
    for change, words in changes:
        number = publish.alter(ours, [change], time_ms=1).id
        java_judge.alter(theirs.root, words)
        documents = [json.loads(store.read(f"schema/schema-{number}")) | {"timeMillis": 0} for store in (ours, theirs)]
        assert documents[0] == documents[1], change
    for store in (ours, theirs):
        java_judge.write(store.root, [[1, 2**40, 2, 7]])
        assert java_judge.rows(store.root) == [[1, 2**40, 2, 7], [2, 3, 1, None]]
    for change, words in ((DropColumn("k"), ("drop", "k")), (WidenColumn("k", "BIGINT"), ("type", "k", "BIGINT"))):
        with pytest.raises(Invalid, match="'k' is a key"):
            publish.alter(ours, [change], time_ms=1)
        with pytest.raises(EngineError):
            java_judge.alter(theirs.root, words)
    with pytest.raises(Unsupported, match=r"'sequence\.field' = 's' names it"):
        publish.alter(ours, [DropColumn("s")], time_ms=1)
    with pytest.raises(EngineError):
        java_judge.alter(theirs.root, ("drop", "s"))
