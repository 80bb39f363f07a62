"""The codes of errors, by which programs decide."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import snapscope
from core.errors import Conflict, Corrupt, ErrorCode, Invalid, NotFound, SnapscopeError, Unsupported
from core.model.actions import Change, CreateTag
from core.model.time_input import moment
from core.reports import references_json
from core.spark.session import task_errors
from core.table import open_table, resolve
from tests.support.builders import TableBuilder
from tests.support.places import ROOT


def test_every_code_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text().partition("## Errors")[2]
    assert re.findall(r"^\|[^|]*\| `([a-z-]+)` \|", page, re.MULTILINE) == [*ErrorCode][1:]


@pytest.mark.parametrize("kind", [NotFound, Invalid, Conflict, Corrupt, Unsupported])
def test_an_error_without_a_narrower_code_has_that_of_its_class(kind: type[SnapscopeError]) -> None:
    assert kind("x").code == re.sub(r"(?<!^)([A-Z])", r"-\1", kind.__name__).lower()
    assert kind("x", code=ErrorCode.NO_TAG).code == "no-such-tag"


def test_a_code_reaches_json_and_survives_spark() -> None:
    error = NotFound("There is no tag {name}.", name="v", remedy="Tags: w.", code=ErrorCode.NO_TAG)
    said = {"kind": "NotFound", "code": "no-such-tag", "message": "There is no tag v.", "path": None}
    assert references_json.error(error)["error"] == {**said, "remedy": "Tags: w."}
    received = task_errors.received(task_errors.carried(error))
    assert received is not None
    assert (type(received), received.code) == (NotFound, ErrorCode.NO_TAG)


def test_codes_say_what_is_missing(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    table.commit([table.file()])
    table.tag("v", 1)
    heads = open_table(str(tmp_path / "t")).heads()
    for point, code in {
        "9": ErrorCode.NO_SNAPSHOT,
        "latest~4": ErrorCode.NO_SNAPSHOT,
        "tag:w": ErrorCode.NO_TAG,
        "branch:b": ErrorCode.NO_BRANCH,
        "time:1970-01-01T00:00:00Z": ErrorCode.NO_SNAPSHOT_THEN,
        "v": ErrorCode.NOT_A_VERSION,
        "time:x": ErrorCode.NOT_A_TIME,
    }.items():
        with pytest.raises(SnapscopeError) as raised:
            resolve(heads, point)
        assert raised.value.code == code, point
    with pytest.raises(snapscope.NotFound) as missing:
        snapscope.open(str(tmp_path / "nothing"))
    assert missing.value.code == "no-such-table"


def test_what_was_probably_meant(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    table.commit([table.file()])
    table.tag("nightly", 1)
    heads = open_table(str(tmp_path / "t")).heads()
    for point, remedy in {
        "nightly": "Did you mean tag:nightly?",
        "teusday": 'Did you mean "tuesday"?',
        "20261120": "If it is a date, write 2026-11-20. The nearest retained snapshot is 1.",
    }.items():
        with pytest.raises(SnapscopeError) as raised:
            resolve(heads, point)
        assert raised.value.remedy == remedy


def test_an_ambiguous_time_and_a_name_that_is_taken(tmp_path: Path) -> None:
    with pytest.raises(Invalid) as raised:
        moment("03/04/2026", "UTC")
    assert raised.value.code == ErrorCode.AMBIGUOUS_TIME
    table = TableBuilder(tmp_path / "t")
    table.commit([table.file()])
    table.tag("v", 1)
    asked: Change = CreateTag("v")
    with pytest.raises(Invalid) as taken:
        open_table(str(tmp_path / "t")).preview(asked, 1)
    assert taken.value.code == ErrorCode.NAME_TAKEN
