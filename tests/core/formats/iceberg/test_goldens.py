"""What Iceberg's own Java core answered about random histories, answered by us: as of, scan, expire, file for file.

Its plain API may free less than reachability does; what it leaves is what our warning marks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.errors import Invalid, NotFound
from core.formats.iceberg import retention
from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.format import IcebergFormat
from core.formats.iceberg.plan.expiry import preview
from core.messages import code_names
from core.model.actions import Expire
from core.model.history import History
from core.model.lineage import members
from core.model.plan import Plan
from core.storage.store import Store
from core.table import open_table, resolve
from tests.support.formats.goldens import digest
from tests.support.iceberg_scan import scan
from tests.support.iceberg_tables import JAVA_RANDOM, PYICEBERG, SMALL, as_if_there, moved

Json = Mapping[str, Any]
NAMES = sorted(path.name for path in JAVA_RANDOM.iterdir())


def answers(name: str, op: str) -> list[tuple[Json, Json]]:
    found = json.loads((JAVA_RANDOM / name / "expected.json").read_bytes())
    return [(each["request"], each["answer"]) for each in found if each["request"]["op"] == op]


@pytest.mark.parametrize("name", NAMES)
def test_as_of(name: str) -> None:
    heads = as_if_there(JAVA_RANDOM / name)[0].heads
    asked = 0
    for request, answer in answers(name, "asof"):
        for time_ms, wanted in zip(request["ts"], answer["ids"], strict=True):
            if isinstance(wanted, str):
                with pytest.raises(NotFound, match="starts at"):
                    resolve(heads, f"time:{time_ms}")
            else:
                assert resolve(heads, f"time:{time_ms}").engine == wanted
            asked += 1
    assert asked > 10


@pytest.mark.parametrize("name", NAMES)
def test_scan(name: str) -> None:
    history, found = as_if_there(JAVA_RANDOM / name)
    place = TableLocation.of(Store(str(JAVA_RANDOM / name)), found.location, found.properties)
    for request, answer in answers(name, "scan"):
        point = resolve(history.heads, str(request["snapshot"]))
        ours = [
            {"data": data["path"], "deletes": sorted(map(spelled, deletes))}
            for data, deletes in scan(place, found, point.schema.id, point.snapshot.id)
        ]
        assert ours == sorted(answer["files"], key=lambda each: each["data"])
        columns = [f"{each.id}:{each.name}:{str(each.type).removesuffix(' NOT NULL')}" for each in point.schema.fields]
        assert columns == answer["columns"]


def spelled(delete: Json) -> str:
    offset = "" if delete["offset"] is None else f"@{delete['offset']}"
    return f"{delete['content'].replace('-', '_').upper()} {delete['path']}{offset}"


def change_of(request: Json) -> Expire:
    return Expire(
        older_than_ms=request.get("older_than"),
        retain_min=request.get("retain_last"),
        snapshots=tuple(request.get("ids", ())),
        drop_tags=tuple(request.get("drop_refs", ())),
    )


@pytest.mark.parametrize("name", NAMES)
def test_expire(name: str) -> None:
    history, _ = as_if_there(JAVA_RANDOM / name)
    differing = 0
    for request, answer in answers(name, "expire"):
        if "error" in answer:
            with pytest.raises(Invalid, match="still referenced by"):
                preview(history, change_of(request), request["now"])
            continue
        plan = preview(history, change_of(request), request["now"])
        goes, gone_refs = split(plan)
        assert goes == set(answer["removed_snapshots"])
        assert gone_refs == {*answer["removed_refs"], *request.get("drop_refs", ())}
        assert {each.name for each in history.heads.refs} - gone_refs == set(answer["refs"])
        frees = set(plan.frees["path"].to_pylist())
        assert frees == set(answer["spark_action_deleted"])
        left = members(history.heads).keys() - goes
        log = history.heads.pointer or ()
        assert [list(each) for each in (retention.trimmed(log, left) if goes else log)] == answer["log"]
        ids = frozenset(request.get("ids", ()))
        is_incremental = retention.cleans_incrementally(history.heads, frozenset(goes), ids)
        assert is_incremental == (answer["incremental"] == "true")
        later = set(later_of(name, history, plan)) if is_incremental else set()
        assert frees - set(answer["deleted"]) == later
        differing += bool(later)
    assert differing or "linear" not in name


def split(plan: Plan) -> tuple[set[int], set[str]]:
    """The snapshots and the refs that go."""
    own = [verdict.point.rpartition("/")[2] for verdict in plan.deleted_points]
    return {int(each) for each in own if each.isdecimal()}, {
        each.partition(":")[2] for each in own if not each.isdecimal()
    }


def later_of(name: str, history: History, plan: Plan) -> list[str]:
    """What plain Java frees only later or never, by a table that takes the place for the one it names."""
    table = AsIfThere(Store(str(JAVA_RANDOM / name)))
    later, never = (found["path"].to_pylist() for found in table.freed_later(plan, history))
    said = code_names(table.finished(plan, history).warnings)
    assert ["java-later" in said, "java-never" in said] == [bool(later), bool(never)]
    return [*later, *never]


class AsIfThere(IcebergFormat):
    def place(self, found: Any) -> Any:
        return TableLocation.of(self.store, found.location, found.properties)


def test_the_same_through_a_table_that_is_where_it_says(tmp_path: Path) -> None:
    """One table opened by its path, planned and told in full."""
    name = next(each for each in NAMES if "linear" in each)
    table = open_table(str(moved(JAVA_RANDOM / name, tmp_path / name)))
    history = table.history()
    assert history.incomplete == {}
    for request, answer in answers(name, "expire"):
        if "error" not in answer:
            plan = table.preview(change_of(request), request["now"], history)
            assert set(plan.frees["path"].to_pylist()) <= set(answer["spark_action_deleted"])
            missing = set(answer["spark_action_deleted"]) - set(plan.frees["path"].to_pylist())
            assert not any(path.startswith("metadata/snap-") for path in missing)


def test_the_small_copies_are_copies() -> None:
    for small, whole in ((SMALL / "java_random", JAVA_RANDOM), (SMALL / "pyiceberg", PYICEBERG)):
        names = sorted(path.name for path in small.iterdir() if path.is_dir())
        assert len(names) >= 4
        for name in names:
            assert digest(small / name) == digest(whole / name), name
    assert sum(path.stat().st_size for path in SMALL.rglob("*") if path.is_file()) < 4_000_000
