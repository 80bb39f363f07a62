"""Readers on damaged tables: what a kept point needs never goes, and no error but ours is raised. More by `make proof`.

What nobody could tell is left out by the generator, and that it leaves out no more is shown here.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import pytest

from tests.support.builders import TableBuilder
from tests.support.execution import fuzz, ground

SEEDS, CASES = range(6), 40
ENDS = {"rejected when planned", "planned", "run", "damaged without a trace"}


@pytest.mark.slow
def test_no_damage_of_metadata_loses_a_file_that_is_needed() -> None:
    ended, bad = fuzz.run_apart(SEEDS, CASES)
    assert bad == []
    assert ended.total() == len(SEEDS) * CASES
    assert ended.keys() >= ENDS, "an end never came"
    assert ended["damaged without a trace"] < ended.total() // 10


# what is left out ----------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    return ground.small_table(ground.warehouse(tmp_path))


def why(table: TableBuilder, path: str, change: Callable[[bytes], bytes]) -> str | None:
    file = table.root / path
    before = file.read_bytes()
    file.write_bytes(change(before))
    return fuzz.nobody_tells(table.root, path, before)


def records(change: Callable[[list[dict[str, Any]]], object]) -> Callable[[bytes], bytes]:
    def write(data: bytes) -> bytes:
        reader = fastavro.reader(io.BytesIO(data))
        found: list[Any] = list(reader)
        change(found)
        out = io.BytesIO()
        fastavro.writer(out, reader.writer_schema, found)
        return out.getvalue()

    return write


def fields(**changed: Any) -> Callable[[bytes], bytes]:
    return lambda data: json.dumps(json.loads(data) | changed).encode()


def test_an_index_manifest_of_fewer_files_is_told_by_nothing(table: TableBuilder) -> None:
    path = f"manifest/{table.commits[5].index_manifest}"
    assert why(table, path, records(lambda found: found.clear())) is not None


@pytest.mark.parametrize("changed", [{"_FILE_NAME": "index-none"}, {"_FILE_SIZE": 7}])
def test_an_index_manifest_that_names_what_is_not_there_tells(table: TableBuilder, changed: dict[str, Any]) -> None:
    path = f"manifest/{table.commits[5].index_manifest}"
    assert why(table, path, records(lambda found: found[0].update(changed))) is None


def test_an_index_manifest_that_is_cut_tells(table: TableBuilder) -> None:
    assert why(table, f"manifest/{table.commits[5].index_manifest}", lambda data: data[:-1]) is None


def test_a_list_or_a_manifest_that_lost_a_record_tells(table: TableBuilder) -> None:
    commit = table.commits[5]
    for path in (commit.document["baseManifestList"], commit.manifests[0]["_FILE_NAME"]):
        assert why(table, f"manifest/{path}", records(lambda found: found.pop())) is None


def test_a_tag_of_another_snapshot_is_told_by_nothing(table: TableBuilder) -> None:
    assert why(table, "tag/tag-early", lambda _: (table.root / "tag/tag-packed").read_bytes()) is not None
    assert why(table, "tag/tag-packed", lambda data: data[:-1] + b" }") is None


def test_a_snapshots_own_index_manifest_is_told_by_a_copy_alone(table: TableBuilder) -> None:
    other = table.commits[2].index_manifest
    assert why(table, "snapshot/snapshot-6", fields(indexManifest=other)) is not None
    assert why(table, "snapshot/snapshot-6", fields(indexManifest="index-manifest-none")) is None
    assert why(table, "snapshot/snapshot-4", fields(indexManifest=None)) is None, "tags packed and twin tell"
    assert why(table, "snapshot/snapshot-7", fields(indexManifest=None, id=8)) is None, "its name tells"


def test_a_list_of_the_very_same_manifests_is_told_by_nothing(table: TableBuilder) -> None:
    there = table.root / "branch/branch-b/snapshot/snapshot-5"
    assert why(table, "snapshot/snapshot-5", fields(baseManifestList=_base(there))) is not None
    assert why(table, "snapshot/snapshot-7", fields(baseManifestList=_base(there))) is None


def _base(path: Path) -> str:
    return str(json.loads(path.read_bytes())["baseManifestList"])


@pytest.mark.slow
def test_the_same_seed_makes_the_same_damage() -> None:
    assert fuzz.run(3, 4) == fuzz.run(3, 4)
