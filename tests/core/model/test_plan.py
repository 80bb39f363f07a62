"""A plan's fingerprint is what scripts confirm (`--plan`), so it must stay as recorded here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from core.errors import SnapscopeError
from core.model.actions import (
    Change,
    ClearConsumers,
    CreateBranch,
    CreateTag,
    DeleteBranches,
    DeleteTags,
    Expire,
    FastForward,
    Rollback,
    Truncate,
)
from core.table import open_table
from tests.support.places import ROOT, SMALL_TABLES

WRITTEN = ROOT / "tests" / "data" / "fingerprints.json"
NOW = 4_000_000_000_000
CHANGES: dict[str, Change] = {
    "expire": Expire(retain_max=1, retain_min=1),
    "delete tags": DeleteTags(("v1",)),
    "create tag": CreateTag("new"),
    "create branch": CreateBranch("new"),
    "delete branch": DeleteBranches(("b1",)),
    "fast forward": FastForward("b1"),
    "roll back": Rollback("latest~1"),
    "roll back, destructively": Rollback("latest~1", destructive=True),
    "clear consumers": ClearConsumers(".*"),
    "truncate": Truncate(),
}


PAIMON = sorted((SMALL_TABLES / "paimon" / "default.db").iterdir())
ICEBERG = sorted(path.parent for path in (SMALL_TABLES / "iceberg").glob("*/*/metadata"))


def fingerprints(tables: Sequence[Path]) -> Iterator[tuple[str, str]]:
    for path in tables:
        table = open_table(str(path))
        for name, change in CHANGES.items():
            try:
                found = table.preview(change, NOW).fingerprint
            except SnapscopeError as error:
                found = type(error).__name__
            yield f"{path.relative_to(SMALL_TABLES)}: {name}", found


@pytest.mark.slow
def test_fingerprints_are_what_they_were() -> None:
    written = json.loads(WRITTEN.read_text())
    assert sum(len(each) == 64 for each in written.values()) > 30
    assert dict(fingerprints([*PAIMON, *ICEBERG])) == written


def test_fingerprints_of_a_table_of_each_format_are_what_they_were() -> None:
    written = json.loads(WRITTEN.read_text())
    found = dict(fingerprints([PAIMON[0], ICEBERG[0]]))
    assert sum(len(each) == 64 for each in found.values()) > 3
    assert found == {name: written[name] for name in found}
