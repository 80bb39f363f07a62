"""Schema changes: ids, what is kept, and what is rejected by name. tests/interop compares them with the engine."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import Invalid, NotFound, SnapscopeError, Unsupported
from core.formats.paimon.write import alter, documents, harmless_options
from core.formats.paimon.write.alter import AddColumn, DropColumn, RenameColumn, SetOption, WidenColumn

COLUMNS = (("id", "INT NOT NULL"), ("v", "INT"), ("d", "DATE"), ("p", "STRING"), ("r", "ROW<x INT>"))


def first(**more: str) -> dict[str, Any]:
    return documents.first_schema(COLUMNS, ["p"], more, 1) | {"new in 9.0": [1]}


def test_all_changes_are_one_schema_and_no_id_comes_twice() -> None:
    changes: list[alter.SchemaChange] = [
        DropColumn("v"),
        AddColumn("v", "ROW<a INT>"),
        RenameColumn("id", "key"),
        WidenColumn("key", "BIGINT"),
        WidenColumn("d", "STRING"),
    ]
    after = alter.altered(first(), [*changes, SetOption("snapshot.num-retained.max", "50")], 7)
    assert (after["id"], after["timeMillis"], after["highestFieldId"], after["new in 9.0"]) == (1, 7, 7, [1])
    assert [(field["id"], field["name"], field["type"]) for field in after["fields"]] == [
        (0, "key", "BIGINT NOT NULL"),
        (2, "d", "STRING"),
        (3, "p", "STRING"),
        (4, "r", {"type": "ROW", "fields": [{"id": 5, "name": "x", "type": "INT"}]}),
        (6, "v", {"type": "ROW", "fields": [{"id": 7, "name": "a", "type": "INT"}]}),
    ]
    assert after["options"] == {"bucket": "-1", "snapshot.num-retained.max": "50"}
    assert alter.altered(after, [SetOption("snapshot.num-retained.max", None)], 8)["options"] == {"bucket": "-1"}


@pytest.mark.parametrize(
    ("change", "kind", "says"),
    [
        (AddColumn("v", "INT"), Invalid, "column 'v' already"),
        (AddColumn("V", "INT"), Invalid, "column 'V' already"),
        (AddColumn("x", "INT NOT NULL"), Invalid, "must be nullable"),
        (AddColumn("_KEY_x", "INT"), Invalid, "A column cannot be named '_KEY_x'."),
        (AddColumn("  ", "INT"), Invalid, "A column cannot be named '"),
        (RenameColumn("v", "d"), Invalid, "column 'd' already"),
        (RenameColumn("nothing", "x"), NotFound, "no column 'nothing'; the table has id, v"),
        (RenameColumn("p", "q"), Invalid, "'p' is a key"),
        (DropColumn("p"), Invalid, "'p' is a key"),
        (WidenColumn("p", "BYTES"), Invalid, "'p' is a key"),
        (DropColumn("d"), Unsupported, "'sequence.field' = 'd' names it"),
        (WidenColumn("d", "STRING"), Unsupported, "given another order: the option 'sequence.field' = 'd' names it"),
        (WidenColumn("v", "SMALLINT"), Unsupported, "INT cannot become SMALLINT"),
        (WidenColumn("v", "STRING"), Unsupported, "explicit cast alone"),
        (WidenColumn("r", "ROW<x BIGINT>"), Unsupported, "every value of the old one"),
        (SetOption("bucket", "4"), Unsupported, "'bucket'"),
        (SetOption("snapshot.num-retained.max", "9"), Invalid, "At least 10 and at most 9"),
        (SetOption("snapshot.num-retained.min", "many"), Invalid, "whole number"),
        (SetOption("commit.callbacks", "x.Y"), Unsupported, "'commit.callbacks'"),
    ],
)
def test_what_would_be_wrong_is_refused_by_name(change: Any, kind: type[SnapscopeError], says: str) -> None:
    own = {"disable-explicit-type-casting": "true", "sequence.field": "d"}
    with pytest.raises(kind, match=says):
        alter.altered(first(**own), [change], 2)


def test_options_follow_a_column_that_is_renamed() -> None:
    own = {
        "sequence.field": "v,d",
        "fields.v.aggregate-function": "sum",
        "fields.v,d.sequence-group": "r,v",
        "fields.dv.distinct": "true",
        "comment": "of x",
    }
    after = alter.altered(first(**own), [RenameColumn("v", "w")], 2)["options"]
    assert after == {
        "bucket": "-1",
        "sequence.field": "w,d",
        "fields.w.aggregate-function": "sum",
        "fields.w,d.sequence-group": "r,w",
        "fields.dv.distinct": "true",
        "comment": "of x",
    }
    with pytest.raises(Unsupported, match=r"'rowkind\.field' = 'v' names it"):  # the engine leaves that one behind
        alter.altered(first(**{"rowkind.field": "v"}), [RenameColumn("v", "w")], 2)
    with pytest.raises(Unsupported, match=r"'sequence\.field' = 'd, v' names it"):  # and what has spaces
        alter.altered(first(**{"sequence.field": "d, v"}), [RenameColumn("v", "w")], 2)


def test_the_last_column_stays_and_nothing_is_no_change() -> None:
    one = documents.first_schema([("id", "INT")], [], {}, 1)
    with pytest.raises(Invalid, match="only column"):
        alter.altered(one, [DropColumn("id")], 2)
    with pytest.raises(Invalid, match="No schema change"):
        alter.altered(one, [], 2)


def test_options_are_harmless_by_their_whole_name_or_family() -> None:
    assert all(
        map(harmless_options.is_harmless, ("write-only", "parquet.page.size", "tag.callback.x.param", "commit.timeout"))
    )
    assert not any(
        map(
            harmless_options.is_harmless,
            ("commit.callbacks", "write.sequence-number-init-mode", "parquet.encryption.key"),
        )
    )
    assert harmless_options.is_harmless("path")
    assert not harmless_options.is_changeable("path")
