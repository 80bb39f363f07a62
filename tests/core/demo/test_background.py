"""What becomes of a build that nobody watches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.demo import background, build, progress


def test_in_the_background_the_reason_is_written_down(
    made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.nice", lambda _: 0)
    with monkeypatch.context() as patch:
        patch.setattr(build, "_clicks", fail)
        assert background.main(str(tmp_path)) == 1
    found = progress.read(str(tmp_path))
    assert found is not None
    assert "the disk is full" in found.problem
    assert list(found.told) == ["crm.customers"]
    assert background.main(str(tmp_path)) == 0
    assert progress.read(str(tmp_path)) is None
    assert made.count("crm.customers") == 1
