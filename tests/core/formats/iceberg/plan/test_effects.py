"""The effects of Iceberg plans: one metadata swap, then file deletions."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.model.actions import Change, CreateTag, DeleteTags, Expire, Rollback
from core.model.effects import DeleteUnreferencedFiles, SwapMetadata, Wait, is_shared, steps
from core.storage.store import Store
from tests.support.execution import iceberg_ground as ground

CLEANS = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "3"}


@pytest.mark.parametrize(
    ("change", "order"),
    [
        (Expire(drop_tags=("early",)), ["SwapMetadata", "Wait", "DeleteUnreferencedFiles", "CheckTable"]),
        (DeleteTags(("early",)), ["SwapMetadata", "CheckTable"]),
        (CreateTag("new"), ["SwapMetadata"]),
        (CreateTag("new", verified=True), ["VerifyFiles", "SwapMetadata"]),
        (Rollback("latest~1"), ["SwapMetadata"]),
    ],
)
def test_references_go_and_come_together_and_files_after_them(change: Change, order: list[str], tmp_path: Path) -> None:
    plan = ground.opened(Store(str(ground.small_table(tmp_path / "t")))).preview(change, ground.LATE_MS)
    assert [each.kind for each in steps(plan.effects)] == order
    (swap,) = [each for each in plan.effects if isinstance(each, SwapMetadata)]
    assert swap.removes == plan.removes
    assert [path for path, _ in swap.sets] == list(plan.leaves)
    assert not is_shared(plan.effects)
    assert sum(each.files for each in plan.effects if isinstance(each, DeleteUnreferencedFiles)) == len(plan.frees)


def test_nobody_is_waited_for_where_only_old_metadata_goes(tmp_path: Path) -> None:
    """Nobody publishes a reference to that."""
    table = ground.opened(Store(str(ground.small_table(tmp_path / "t", **CLEANS))))
    plan = table.preview(CreateTag("new"), ground.LATE_MS)
    assert len(plan.frees)
    assert Wait() not in plan.effects
    assert [each.kind for each in steps(plan.effects)] == ["SwapMetadata", "DeleteUnreferencedFiles", "CheckTable"]
