"""Snapshots, tags and errors as JSON values."""

from __future__ import annotations

from pathlib import Path

from core.errors import NotFound
from core.reports import references_json
from core.table import open_table
from tests.support.formats.paimon.tables import four_commits


def test_a_snapshot_has_the_fields_of_the_specification_first(tmp_path: Path) -> None:
    line = open_table(str(four_commits(tmp_path / "w" / "default.db" / "t").root)).heads().main
    for found in references_json.snapshots(line):
        assert tuple(found)[: len(references_json.SEED_FIELDS)] == references_json.SEED_FIELDS
    [tag] = references_json.tags(line)
    assert (tag["tag_name"], tag["expires"], tag["id"]) == ("v", None, 2)


def test_an_error_keeps_its_remedy_apart() -> None:
    error = NotFound("There is no {what}.", what="tag", path="/t", remedy="Name another.")
    said = {
        "kind": "NotFound",
        "code": "not-found",
        "message": "There is no tag.",
        "path": "/t",
        "remedy": "Name another.",
    }
    assert references_json.error(error) == {"error": said}
