"""What is rejected, by name, before a primary-key table is written."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from core.errors import Invalid, Unsupported
from core.formats.paimon import references
from core.formats.paimon.write import documents

COLUMNS = (("k", "INT"), ("p", "STRING"), ("v", "STRING"))


def refuse(options: Mapping[str, str], **columns: str) -> None:
    own = [*COLUMNS, *columns.items()]
    document = documents.first_schema(own, ["p"], {"bucket": "2", **options}, 0, primary_keys=["p", "k"])
    documents.refuse_unwritable_keyed(references.schema_of("0", documents.pretty(document), "schema/schema-0"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bucket", "-1"),
        ("bucket", "-2"),
        ("bucket", "0"),
        ("bucket-key", "v"),
        ("bucket-function.type", "mod"),
        ("changelog-producer", "lookup"),
        ("changelog-producer", "input"),
        ("data-file.thin-mode", "true"),
        ("deletion-vectors.enabled", "true"),
        ("fields.v.default-value", "x"),
        ("fields.v.nested-key", "k"),
        ("file-index.bloom-filter.columns", "v"),
        ("file.format", "orc"),
        ("force-lookup", "true"),
        ("ignore-update-before", "true"),
        ("local-merge", "1"),
        ("merge-engine", "newest"),
        ("metadata.stats-mode", "full"),
        ("record-level.expire-time", "1 d"),
        ("sequence.snapshot-ordering", "true"),
    ],
)
def test_options_that_are_not_honoured(name: str, value: str) -> None:
    with pytest.raises(Unsupported, match=rf"'{name}'"):
        refuse({name: value})


def test_what_is_written() -> None:
    refuse(
        {
            "bucket-key": "k",
            "merge-engine": "Partial-Update",
            "fields.v.sequence-group": "k",
            "fields.v.aggregate-function": "listagg",
            "ignore-delete": "true",
            "num-sorted-run.compaction-trigger": "3",
            "target-file-size": "1 mb",
            "write-only": "true",
        },
        at="TIMESTAMP(3)",
    )


def test_contradictions() -> None:
    with pytest.raises(Unsupported, match=r"'sequence\.field'.*first-row"):
        refuse({"merge-engine": "first-row", "sequence.field": "v"})
    with pytest.raises(Unsupported, match="'at' of type TIMESTAMP"):
        refuse({}, at="TIMESTAMP(9)")
    with pytest.raises(Invalid, match="primary key"):
        documents.first_schema(COLUMNS, ["p"], {}, 0, primary_keys=["k"])
    with pytest.raises(Invalid, match="not a partition key"):
        documents.first_schema(COLUMNS, ["p"], {}, 0, primary_keys=["p"])
    plain = documents.first_schema(COLUMNS, [], {}, 0)
    with pytest.raises(Unsupported, match="no primary key"):
        documents.refuse_unwritable_keyed(references.schema_of("0", documents.pretty(plain), "schema/schema-0"))
    keyed = documents.first_schema(COLUMNS, [], {"bucket": "1"}, 0, primary_keys=["k"])
    with pytest.raises(Unsupported, match="merged by key"):
        documents.refuse_unwritable(references.schema_of("0", documents.pretty(keyed), "schema/schema-0"))
