"""Tables whose commits a REST server decides, on a server of a few lines; a real one is asked in tests/interop."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from core.cli import main
from core.errors import Conflict, Corrupt, Unsupported
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.paimon.catalogs import served_tables
from core.formats.paimon.write import publish
from core.model.actions import (
    Change,
    CleanOrphans,
    CreateBranch,
    CreateTag,
    DeleteTags,
    Expire,
    FastForward,
    Rollback,
    Truncate,
)
from core.table import Table, open_table
from tests.support.builders import TableBuilder
from tests.support.formats.paimon.rest_catalog import Post, Server, serving
from tests.support.formats.paimon.tables import four_commits

NAME = "paimon://meta/shop/orders"
EXPIRE = Expire(retain_max=1, retain_min=1)
LATE_MS = 1 << 41
Snapshots = dict[str, dict[str, Any]]


@dataclass
class Served:
    """What the server knows: where the table is, and its newest snapshot and those of its branches by object name."""

    table: TableBuilder
    path: str
    snapshots: Snapshots = field(default_factory=dict)
    is_external: bool = False
    is_there: bool = True
    sent: list[Any] = field(default_factory=list)
    server: Server | None = None

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        match [unquote(each) for each in path.removeprefix("/v1/").split("/")]:
            case ["config"]:
                return 200, {}
            case ["databases"]:
                return 200, {"databases": ["shop"]}
            case ["databases", "shop", "table-details"]:
                return 200, {"tableDetails": [self.details]}
            case ["databases", "shop", "tables", "orders"] if self.is_there:
                return 200, self.details
            case ["databases", "shop", "tables", name, "snapshot"] if name in self.snapshots:
                return 200, {"snapshot": {"snapshot": self.snapshots[name], "recordCount": 1}}
            case ["databases", "shop", "tables", _, "snapshot"]:
                return 404, {"resourceType": "SNAPSHOT", "message": "No Snapshot", "code": 404}
        return 404, {"resourceType": "TABLE", "message": "no such table", "code": 404}

    def post(self, path: str, document: Any) -> tuple[int, Any]:
        """Publish a snapshot, in another form, unless there is one of this id; return whether it did."""
        branch = unquote(path).removeprefix("/v1/databases/shop/tables/").removesuffix("/commit")
        self.sent.append((branch, document))
        snapshot = document["snapshot"]
        directory = self.table.root / branch.replace("orders", "").replace("$branch_", "branch/branch-")
        file = directory / f"snapshot/snapshot-{snapshot['id']}"
        if document["tableId"] != "id-1" or file.exists():
            return 200, {"success": False}
        file.write_text(json.dumps(snapshot, sort_keys=True))
        self.snapshots[branch] = snapshot
        return 200, {"success": True}

    def posts(self, answer: Post) -> None:
        assert self.server is not None
        self.server.post = answer

    @property
    def details(self) -> dict[str, Any]:
        return {"id": "id-1", "name": "orders", "path": self.path, "schemaId": 0, "isExternal": self.is_external}

    def knows(self, number: int, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.table.root / f"snapshot/snapshot-{number}").read_bytes())
        return found | more

    @property
    def files(self) -> dict[str, bytes]:
        root = self.table.root
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(served_tables, "_WAIT_S", 0.01)
    table = four_commits(tmp_path / "any" / "where", options={"commit.max-retries": "1"})
    found = Served(table, str(table.root))
    found.snapshots["orders"] = found.knows(4)
    with serving(found.answer) as server:
        found.server = server
        server.post = found.post
        Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(f"[catalog.meta]\ntype = 'paimon-rest'\nuri = '{server.url}'")
        yield found


def run(change: Change, table: Table | None = None) -> None:
    table = table or open_table(NAME)
    apply(table, table.preview(change, LATE_MS), settle_s=0)


def test_what_the_engine_does_in_files_is_done_here(served: Served) -> None:
    for change in (CreateTag("v9", 2), CreateTag("v8", 1), DeleteTags(("v8",)), EXPIRE, CleanOrphans(LATE_MS)):
        run(change)
    found = {each for each in served.files if each.startswith(("tag/", "snapshot/snapshot-"))}
    assert found == {"tag/tag-v", "tag/tag-v9", "snapshot/snapshot-4"}
    assert open_table(NAME).history().incomplete == {}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (CreateBranch("new"), "Branches of this table are changed through the catalog meta."),
        (FastForward("dev"), "Branches of this table are changed through the catalog meta."),
        (Rollback("2", destructive=True), "A rollback that deletes snapshots goes through the catalog meta."),
    ],
)
def test_what_only_the_server_does_is_refused(served: Served, change: Change, said: str) -> None:
    shutil.copytree(served.table.root / "schema", served.table.root / "branch/branch-dev/schema")
    shutil.copytree(served.table.root / "snapshot", served.table.root / "branch/branch-dev/snapshot")
    before = served.files
    plan = open_table(NAME).preview(change, LATE_MS)
    assert any(said in each.text for each in plan.warnings)
    with pytest.raises(Unsupported, match=said):
        run(change)
    assert (served.files, served.sent) == (before, [])


def test_schemas_and_branches_are_not_written_around_the_server(served: Served) -> None:
    store = open_table(NAME).store
    for write in (
        lambda: publish.add_column(store, "more", "INT", time_ms=0),
        lambda: publish.create_branch(store, "dev", "v"),
    ):
        with pytest.raises(Unsupported, match="are changed through the catalog meta"):
            write()


def test_the_command_line_says_why(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["create-tag", NAME, "--name", "v9", "--snapshot", "2", "--yes"]) == 0
    assert main(["rollback", NAME, "2", "--destructive", "--yes"]) == 1
    assert "through the catalog meta" in capsys.readouterr().err


# commits --------------------------------------------------------------------------------------------------------------


def test_the_server_publishes_commits(served: Served) -> None:
    """It writes the snapshot in its own form."""
    run(Rollback("2"))
    [(name, document)] = served.sent
    assert (name, document["tableId"], document["snapshot"]["id"]) == ("orders", "id-1", 5)
    [changed] = document["statistics"]
    assert changed.pop("lastFileCreationTime") > 0
    size = 1000 - 1002 - 1003
    assert changed == {"spec": {}, "recordCount": -10, "fileSizeInBytes": size, "fileCount": -1, "totalBuckets": -1}
    assert served.files["snapshot/LATEST"] == b"5"
    table = open_table(NAME)
    assert rows(table, "5") == rows(table, "2")
    run(Truncate(), table)
    assert [each.id for each in open_table(NAME).heads().main.snapshots] == [1, 2, 3, 4, 5, 6]
    assert Journal().open_run(NAME) is None


def rows(table: Table, point: str) -> set[str]:
    history = table.history()
    return set(history.files_at(history.require(point))["path"].to_pylist())


def test_an_answer_that_was_lost_is_found_out(served: Served) -> None:
    answers: list[tuple[int, Any]] = [(0, None), (500, {"message": "lost"}), (200, {}), (200, {"success": False})]
    served.posts(lambda *sent: (served.post(*sent), answers[len(served.sent) - 1])[1])
    for number in range(4):
        run(Truncate() if number % 2 else Rollback("2"))
    assert len(served.sent) == 4
    assert [each.id for each in open_table(NAME).heads().main.snapshots] == [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("answer", [(0, None), (500, {}), (200, {"success": True}), (200, [])])
def test_a_commit_of_unknown_outcome_deletes_nothing(served: Served, answer: tuple[int, Any]) -> None:
    before = set(served.files)
    served.posts(lambda *_: answer)
    with pytest.raises(Conflict, match="It cannot be determined"):
        run(Truncate())
    lists = [each for each in set(served.files) - before if each.startswith("manifest/manifest-list")]
    assert lists, "the server may still publish what refers to them"
    assert Journal().open_run(NAME) is not None


@pytest.mark.parametrize("arrives", [True, False])
def test_a_commit_of_unknown_outcome_is_made_once(served: Served, arrives: bool) -> None:
    """Whether the server publishes it before the run is resumed, or never."""
    kept = list[Any]()
    served.posts(lambda *sent: (kept.append(sent), (500, {}))[1])
    with pytest.raises(Conflict, match="It cannot be determined"):
        run(Truncate())
    if arrives:
        assert served.post(*kept[0]) == (200, {"success": True})
    served.posts(served.post)
    unfinished = Journal().open_run(NAME)
    assert unfinished is not None
    recovery.resume(unfinished.id, open_table=open_table)
    assert [each.id for each in open_table(NAME).heads().main.snapshots] == [1, 2, 3, 4, 5]
    assert served.post(*kept[-1]) == (200, {"success": False})
    assert Journal().open_run(NAME) is None
    assert open_table(NAME).history().incomplete == {}


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_commit_that_the_server_rejects_leaves_nothing(served: Served, status: int) -> None:
    before = served.files
    served.posts(lambda *_: (status, {"message": "no writing"}))
    with pytest.raises(Corrupt, match=f"HTTP {status} no writing"):
        run(Truncate())
    assert served.files == before


def test_a_commit_that_came_first_is_a_conflict(served: Served) -> None:
    lists = {name: each for name, each in served.knows(4).items() if name.endswith("ManifestList")}

    def late(path: str, document: Any) -> tuple[int, Any]:
        other = document["snapshot"] | lists | {"commitUser": "another"}
        served.post(path, document | {"snapshot": other})
        return served.post(path, document)

    served.posts(late)
    with pytest.raises(Conflict, match="Others have committed"):
        run(Truncate())
    assert served.knows(5)["commitUser"] == "another"


def test_a_commit_to_a_branch_names_it(served: Served) -> None:
    for each in ("schema", "snapshot"):
        shutil.copytree(served.table.root / each, served.table.root / f"branch/branch-dev/{each}")
    run(Truncate(branch="dev"))
    assert [name for name, _ in served.sent] == ["orders$branch_dev"]
    assert "branch/branch-dev/snapshot/snapshot-5" in served.files


# other tables ---------------------------------------------------------------------------------------------------------


def test_the_table_is_opened_by_its_name(served: Served) -> None:
    with pytest.raises(Unsupported, match=f"go through the catalog meta. Open it as {NAME}"):
        run(CreateTag("v9", 2), open_table(str(served.table.root)))


@pytest.mark.parametrize("place", [NAME, ""])
def test_an_external_table_is_changed_as_one_without_a_catalog(served: Served, place: str) -> None:
    """The server does not know the snapshots of such a table."""
    served.is_external, served.snapshots = True, {}
    table = open_table(place or str(served.table.root))
    assert table.location == str(served.table.root)
    run(CreateTag("v9", 2), table)
    run(CreateBranch("dev", "tag:v9"), table)
    assert "branch/branch-dev/tag/tag-v9" in served.files


# what the server knows and the directory does not ------------------------------------------------------------------


def lost(served: Served) -> str:
    served.snapshots["orders"] = served.knows(4, id=5)
    return "snapshot/snapshot-5, which does not exist"


def behind(served: Served) -> str:
    served.snapshots["orders"] = served.snapshots["orders"] | {"id": 3}
    return "snapshot/snapshot-4 is newer than"


def other(served: Served) -> str:
    served.snapshots["orders"] = served.knows(4, deltaManifestList="manifest-list-other-1")
    return "snapshot/snapshot-4 is not the snapshot that the catalog knows"


def none(served: Served) -> str:
    del served.snapshots["orders"]
    return "The catalog knows no snapshot, but snapshot/snapshot-"


def of_a_branch(served: Served) -> str:
    shutil.copytree(served.table.root / "schema", served.table.root / "branch/branch-dev/schema")
    served.snapshots["orders$branch_dev"] = served.knows(4, id=7)
    return "branch/branch-dev/snapshot/snapshot-7, which does not exist"


def moved(served: Served) -> str:
    served.path = "/elsewhere"
    return "now has this table at /elsewhere"


def dropped(served: Served) -> str:
    served.is_there = False
    return "no such table"


CASES = [lost, behind, other, none, of_a_branch, moved, dropped]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("change", [CreateTag("v9", 2), EXPIRE])
def test_a_table_that_the_server_knows_otherwise_is_not_changed(served: Served, case: Any, change: Change) -> None:
    table = open_table(NAME)
    plan = table.preview(change, LATE_MS)
    said, before = case(served), served.files
    with pytest.raises(Unsupported, match=said):
        apply(table, plan, settle_s=0)
    assert served.files == before


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_deleted_once_the_server_knows_otherwise(served: Served, case: Any) -> None:
    """While a run waits for writers."""
    before, said = set(served.files), list[str]()
    table = open_table(NAME)
    with pytest.raises(Conflict) as refused:
        apply(table, table.preview(EXPIRE, LATE_MS), settle_s=0.01, waits=lambda _: said.append(case(served)))
    assert said[0] in refused.value.message
    kept = {each for each in before if not each.startswith("snapshot/")}
    assert kept <= set(served.files), "references were deleted, files were not"
    assert Journal().open_run(NAME) is not None


def test_a_server_that_publishes_a_moment_later_is_asked_again(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    behind(served)
    monkeypatch.setattr(time, "sleep", lambda _: served.snapshots.update(orders=served.knows(4)))
    run(CreateTag("v9", 2))
