"""Every release of Java Paimon that can be had, from 0.4 on: its own reading of its own tables, and its own deletions,
beside ours. `tests/core/formats/paimon/test_releases.py` holds what these made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.model.actions import DeleteTags, Expire
from core.table import open_table
from tests.engines import paimon_old
from tests.engines.paimon_old import OLD_RELEASES, OldPaimon
from tests.support.depth import sample
from tests.support.interop import old_tables

NOW_MS = 2_000_000_000_000

pytestmark = [pytest.mark.engines, pytest.mark.slow]


@pytest.mark.parametrize("release", sample(OLD_RELEASES, 4))
def test_a_release_reads_and_deletes_what_ours_does(release: str, tmp_path: Path) -> None:
    if lack := paimon_old.missing(release):
        pytest.skip(f"engines: {lack}")
    with OldPaimon(release) as engine:
        for kind in old_tables.kinds_of(release):
            table = tmp_path / "made" / "default.db" / kind
            points = old_tables.make(engine, table, kind)
            history = open_table(str(table)).history()
            is_miscounted = release.startswith(("0.4", "0.5")) and kind != "append"  # see test_releases.py
            assert bool(history.incomplete) == is_miscounted
            assert {each.point for each in history.holders if each.exists} == set(points)
            for point, truth in points.items():
                found = history.files_at(history.position(point))["path"].to_pylist()
                assert sorted(path.rsplit("/", 1)[-1] for path in found) == truth["files"], (kind, point)
            if is_miscounted:
                continue
            other = old_tables.copied(table, tmp_path / "expired")
            for keep, tag in [(3, None), (1, None), (None, "v")]:
                if tag is not None and release in paimon_old.WITHOUT_TAGS:
                    continue
                change = Expire(retain_max=keep, retain_min=keep) if keep is not None else DeleteTags((str(tag),))
                plan = open_table(str(other)).preview(change, NOW_MS)
                goes = {*plan.frees["path"].to_pylist(), *dict(plan.removes)}
                before = old_tables.paths(other)
                if keep is not None:
                    engine.expire(other, keep)
                else:
                    engine.delete_tag(other, "v")
                assert before - old_tables.paths(other) == goes, (kind, keep)
