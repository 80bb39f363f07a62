"""What is said of files that look orphaned, whatever the format."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from core.errors import Invalid
from core.formats import orphan_files
from core.messages import code_names
from core.model.actions import CleanOrphans
from core.model.references import ObjectKind
from core.model.unheld import LISTED, Listed, Unheld
from core.storage.file_systems import DirectoryEntry
from core.storage.store import Store
from tests.support.builders import DAY_MS

DATA = ObjectKind.DATA


def test_an_age_below_a_day_is_warned_of_and_one_in_the_future_refused() -> None:
    assert orphan_files.cautions(CleanOrphans(0), DAY_MS) == []
    assert code_names(orphan_files.cautions(CleanOrphans(1), DAY_MS)) == ["young-orphans"]
    with pytest.raises(Invalid):
        orphan_files.cautions(CleanOrphans(1), 0)


def test_a_file_stays_for_the_first_reason_there_is(tmp_path: Path) -> None:
    old, young = DirectoryEntry("x", 5, False, 1.0), DirectoryEntry("x", 5, False, 2.0)
    ageless = DirectoryEntry("x", None, False, None)
    files: list[orphan_files.Found] = [("in/a", old, DATA), ("in/b", young, DATA), ("in/c", ageless, DATA)]
    files += [("in/d", ageless, None), ("out/e", old, DATA), ("in/\udcff", old, DATA)]
    found = orphan_files.judged(Store(str(tmp_path)), files, 2_000, lambda path: path.startswith("in/"))
    stays = dict(zip(found.files["path"].to_pylist(), found.files["stays"].to_pylist(), strict=True))
    assert stays == {"in/a": None, "in/b": "young", "in/c": "ageless", "in/d": "unknown", "out/e": "unknown"}
    assert found.files["bytes"].to_pylist() == [5, 5, 0, 0, 5]
    assert found.odd == ("in/\udcff",)


def test_a_file_behind_a_link_stays_and_everything_is_told(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "t" / "data").mkdir(parents=True)
    (tmp_path / "t" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "t" / "data" / "out").symlink_to(tmp_path / "elsewhere" / "c")
    (tmp_path / "t" / "data" / "within").symlink_to(tmp_path / "t" / "data" / "a")
    frees = pa.table({"path": ["data/a", "data/out", "data/within", "link/b"], "kind": ["data"] * 4, "bytes": [1] * 4})
    listed = Listed(LISTED.empty_table(), ("\udcff",), ("inner",), ("backup",))
    found, notes = orphan_files.freed_and_notes(
        Store(str(tmp_path / "t")), Unheld(frees, {"young": 2, "unknown": 1}, listed)
    )
    assert found["path"].to_pylist() == ["data/a", "data/within"]
    counts = {each.values["why"].code.name: each.values["count"] for each in notes if each.code.name == "files-stay"}
    assert counts == {"may-be-committed": 2, "odd-names": 3}
    assert code_names(notes)[-1] == "no-text-stays"
    assert code_names(orphan_files.neighbours(["b", "a"], ["c"])) == ["tables-stay", "others-stay"]
    assert orphan_files.shown([f"{number:02}" for number in range(11)]) == {
        "count": 11,
        "named": ", ".join(f"{number:02}" for number in range(10)) + ", …",
    }
