"""Which system tables a statement means, by the table's format."""

from __future__ import annotations

from core.spark.read.system_tables import kinds, named


def test_the_names_a_statement_means() -> None:
    asked = "select * from `T$Files` join `orders$tags` join `t$refs`"
    assert named(asked, ("orders", "t"), "paimon") == {"orders$tags": "tags", "t$files": "files"}
    assert named(asked, ("orders", "t"), "iceberg") == {"t$files": "files", "t$refs": "refs"}


def test_a_format_that_nobody_lists_has_none() -> None:
    assert kinds("ledger") == ()
    assert named("select * from `t$files`", ("t",), "ledger") == {}
