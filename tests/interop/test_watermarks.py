"""Time travel to a watermark: what the engine's own search finds, and a batch read reads, beside ours."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from core.analysis.tag_target import tag_target
from core.errors import NotFound
from core.formats.paimon.time_travel import searched_by_watermark
from core.table import open_table, resolve
from tests.engines.paimon_java import EngineError, PaimonJudge
from tests.support.depth import sample

pytestmark = pytest.mark.engines

NONE = -(2**63)  # what writers without watermarks may write
MARKS: dict[str, tuple[int | None, ...]] = {
    "equal": (3, 3, 3, 6, 6, 6),
    "none at first": (None, NONE, 2, 2, 5),
    "none within": (1, 3, None, 4, 4, None, 7, 7),
    "none at last": (1, 2, 3, None),
    "the smallest at last": (1, 2, 3, NONE),
    "falling": (5, 1, 1, 7, 2, 7, 9),
    "one": (4,),
}
for seed in range(20):
    draw = random.Random(seed)
    MARKS[f"seed {seed}"] = tuple(draw.choice((None, NONE, *range(8))) for _ in range(draw.randrange(2, 9)))


def made(judge: PaimonJudge, place: Path, marks: tuple[int | None, ...]) -> None:
    judge.create(place, [("k", "INT")], options={"bucket": "-1", "snapshot.num-retained.min": "100"})
    for number, mark in enumerate(marks, 1):
        judge.write(place, [[number]])
        path = place / "snapshot" / f"snapshot-{number}"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"watermark": mark}))


@pytest.mark.parametrize("name", sample(tuple(MARKS), 9))
def test_a_watermark_tells_what_the_engine_finds(name: str, tmp_path: Path, java_judge: PaimonJudge) -> None:
    place = tmp_path / "default.db" / "t"
    made(java_judge, place, MARKS[name])
    heads = open_table(str(place)).heads()
    for wanted in range(-1, 10):
        try:
            found = resolve(heads, f"watermark:{wanted}")
        except NotFound:
            found = None
        by_id = {each.id: each for each in heads.main.snapshots}
        if "does not end" in str(searched_by_watermark(by_id, min(by_id), max(by_id), wanted)[1]):
            continue  # the engine would hang
        try:
            theirs = java_judge.travel(place, watermark=wanted)
        except EngineError:
            theirs = None
        assert theirs == (found and found.engine), wanted
        if found is None:
            continue
        assert (found.engine_note is None) == (theirs == found.snapshot.id)
        target = tag_target(heads, watermark=wanted)
        assert (target.snapshot.id, target.engine) == (found.snapshot.id, theirs)
        assert (found.engine_note in target.sentences()) == (theirs != found.snapshot.id)
