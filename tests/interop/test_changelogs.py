"""Long-lived changelogs: which files the engine's own expiry deletes, compared with our prediction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.plan.engine_deletion import would_delete
from core.model.actions import Expire
from core.table import open_table
from tests.engines.paimon_java import PaimonJudge
from tests.support.interop.engine_deleted import act, copied

pytestmark = pytest.mark.engines

NOW_MS = 4_000_000_000_000
COLUMNS = [("k", "INT NOT NULL"), ("v", "STRING")]
KEEP_ALL: dict[str, Any] = {"changelog_retain_max": 1_000, "changelog_retain_min": 1_000}


def table_with_changelogs(judge: PaimonJudge, root: Path, options: dict[str, str], **more: Any) -> Path:
    """Ten commits, compacted and overwritten in between, with tags; all but the last three snapshots expired and left
    their changelogs behind, in two runs, a tag among them deleted since."""
    table = root / "default.db" / "t"
    judge.create(table, COLUMNS, options={"bucket": "1", "file.format": "parquet", **options}, **more)
    for number in range(10):
        judge.write(table, [[number % 4, f"v{number}"]])
        if number % 3 == 1 and "primary_keys" in more:
            judge.compact(table, full=True)
        if number in (2, 3, 5):
            judge.create_tag(table, f"t{number}")
    latest = max(each["id"] for each in judge.snapshots(table))
    for keep in (7, 3):
        judge.expire(table, rule="bare", retain_max=keep, retain_min=keep, **KEEP_ALL)
    judge.delete_tag(table, "t3")
    assert len(judge.snapshots(table)) == 3
    assert len(list((table / "changelog").glob("changelog-*"))) == latest - 3
    return table


@pytest.mark.parametrize("release", ["java_judge", "java_1x_judge", "java_09_judge"])
@pytest.mark.parametrize("producer", ["input", "none", "full-compaction"])
def test_the_engine_takes_of_changelogs_what_is_predicted(
    release: str, producer: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    judge: PaimonJudge = request.getfixturevalue(release)
    made = table_with_changelogs(judge, tmp_path, {"changelog-producer": producer}, primary_keys=["k"])
    opened = open_table(str(made))
    heads = opened.heads()
    retained = len(heads.main.snapshots) + len(heads.main.changelogs)
    predicted_any = False
    for keep in (retained - 1, retained - 4, 4, 1):
        change = Expire(changelogs_only=True, changelog_retain_max=keep, changelog_retain_min=keep)
        native = would_delete(opened.store, heads, PaimonFormat.of(opened.format).manifests, change, NOW_MS)
        with copied(made) as copy:
            outcome = act(judge, copy, change)
        assert outcome.errors == (() if native.failure is None else outcome.errors)
        theirs = {path for path in outcome.deleted if path.rsplit("/", 1)[-1] not in ("EARLIEST", "LATEST")}
        there = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
        assert native.paths & there == theirs, (keep, native.paths & there ^ theirs)
        predicted_any |= bool(theirs)
    assert predicted_any
