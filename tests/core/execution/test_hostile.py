"""Damaged and hostile metadata, from the command line to the disk: one JSON document, an honest status, no traceback.

What the points that stay need is known from the whole table, read before it is damaged. It never goes; damage to what
stays refuses, damage to what goes frees less.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from core.formats.paimon import format as paimon
from core.formats.paimon import references
from tests.support import set_model
from tests.support.builders import TableBuilder, _avro
from tests.support.command_line import run
from tests.support.execution import fuzz, ground
from tests.support.formats.paimon.tables import avro

NOW = "2053-01-01T00:00:00Z"
KEEP_TWO = ("--retain-max", "2", "--retain-min", "1", "--now", NOW, "--json")
GOES = frozenset(map(str, range(1, 8)))


class Whole(NamedTuple):
    """A table before it is damaged, what its versions need, and what the expiry `KEEP_TWO` frees."""

    root: Path
    builder: TableBuilder
    truth: set_model.Model
    freed: frozenset[str]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    root = ground.warehouse(tmp_path_factory.mktemp("whole"))
    builder = ground.small_table(root)
    builder.consumer("job", 8)
    truth = set_model.read(root)
    return Whole(root, builder, truth, truth.freed(GOES))


@pytest.fixture
def root(whole: Whole, tmp_path: Path) -> Path:
    return ground.copied(whole.root, ground.warehouse(tmp_path))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is going to complete a damaged file: skip the waiting time."""
    clock = itertools.count()
    monkeypatch.setattr(references, "time", SimpleNamespace(monotonic=lambda: next(clock) * 10.0, sleep=lambda _: None))
    monkeypatch.setattr(paimon, "_EXPIRING_S", ())


class Said(NamedTuple):
    status: int
    document: Any
    gone: frozenset[str]

    @property
    def error(self) -> str:
        """Why it was rejected; empty if it was carried out, as planned or in part."""
        return str(self.document.get("error", ""))


def expire(root: Path) -> Said:
    """Plan and run on the command line."""
    before = ground.disk(root)
    status, document = run("expire", root, *KEEP_TWO, "--yes", "--settle", "0 s")
    return Said(status, document, before - ground.disk(root))


def check(whole: Whole, said: Said) -> None:
    """Whatever was reported, nothing was deleted that the undamaged table would not have freed."""
    assert said.gone <= whole.freed, said.gone - whole.freed
    assert not (said.error and said.gone), said.document


def test_the_whole_table_is_freed_as_the_sets_say(whole: Whole, root: Path) -> None:
    status, plan = run("plan", "expire", root, *KEEP_TWO)
    assert (status, ground.disk(root)) == (0, ground.disk(whole.root))
    said = expire(root)
    assert (said.status, said.gone) == (0, whole.freed)
    assert said.document["fingerprint"] == plan["fingerprint"]


# damaged files -------------------------------------------------------------------------------------------------------

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "garbage": lambda data: bytes((7 * index + 13) % 251 for index in range(len(data))),
    "an empty object": lambda data: b"{}",
    "deep": lambda data: b"[" * 100_000,
    "no text": lambda data: b'{"id": "\xff\xfe"}',
    "Avro of nothing": lambda data: _avro("list", [], "null"),
}


def files(builder: TableBuilder) -> dict[str, tuple[str, bool]]:
    """For each kind, one file that only expiring versions need, and one that a kept version needs: (path, is kept)."""
    first, last = builder.commits[1].document, builder.commits[9]
    return {
        "was created while the commit ran and points to a snapshot that expires; no file was deleted.": (
            "snapshot/snapshot-1",
            False,
        ),
        "a base list that goes": (f"manifest/{first['baseManifestList']}", False),
        "a delta list that goes": (f"manifest/{builder.commits[6].document['deltaManifestList']}", False),
        "a changelog list that goes": (f"manifest/{first['changelogManifestList']}", False),
        "a snapshot": ("snapshot/snapshot-9", True),
        "a base list": (f"manifest/{last.document['baseManifestList']}", True),
        "a delta list": (f"manifest/{last.document['deltaManifestList']}", True),
        "a manifest": (f"manifest/{last.manifests[0]['_FILE_NAME']}", True),
        "an index manifest": (f"manifest/{last.index_manifest}", True),
        "a tag": ("tag/tag-early", True),
        "a tag of a branch": ("branch/branch-b/tag/tag-packed", True),
        "a snapshot of a branch": ("branch/branch-b/snapshot/snapshot-5", True),
        "a schema": ("schema/schema-0", True),
        "a schema of a branch": ("branch/branch-b/schema/schema-0", True),
        "a consumer": ("consumer/consumer-job", True),
    }


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file(damage: str, whole: Whole, root: Path) -> None:
    for what, (path, stays) in files(whole.builder).items():
        ground.copied(whole.root, root)
        (root / path).write_bytes(DAMAGES[damage]((whole.root / path).read_bytes()))
        if fuzz.nobody_tells(root, path, (whole.root / path).read_bytes()) is not None:
            continue
        said = expire(root)
        check(whole, said)
        assert bool(said.error) == stays, (what, said.document)
        if stays:
            assert path.rpartition("/")[2] in said.error, (what, said.document)
        else:
            assert "snapshot/snapshot-2" in said.gone, what


@pytest.mark.slow
@pytest.mark.parametrize("instead", ["nothing", "a directory", "a link to nothing", "a link to outside"])
def test_something_else_in_the_place_of_a_file(instead: str, whole: Whole, root: Path, tmp_path: Path) -> None:
    """A missing reference does not exist; a link may lead to an unmounted disk, and is not followed."""
    outside = tmp_path / "outside"
    outside.write_bytes(b"somebody else's")
    for what, (path, stays) in files(whole.builder).items():
        if "link" not in instead and not path.startswith("manifest/"):
            continue
        ground.copied(whole.root, root)
        (root / path).unlink()
        if instead == "a directory":
            (root / path).mkdir()
        elif "link" in instead:
            (root / path).symlink_to(outside if instead == "a link to outside" else tmp_path / "gone")
        said = expire(root)
        check(whole, said)
        assert outside.read_bytes() == b"somebody else's"
        if stays:
            assert path.rpartition("/")[2] in said.error, (what, said.document)


# fields of documents -------------------------------------------------------------------------------------------------

VALUES: tuple[Any, ...] = ([], "../../x", -1, 2**70, {"a": 1}, True, 1.5, "", "x" * 5_000, "\0", "/etc/passwd", None)
DOCUMENTS = {
    "snapshot/snapshot-1": False,
    "snapshot/snapshot-9": True,
    "tag/tag-early": True,
    "schema/schema-0": True,
    "consumer/consumer-job": True,
}


@pytest.mark.slow
@pytest.mark.parametrize("path", DOCUMENTS)
def test_each_field_missing_and_mistyped(path: str, whole: Whole, root: Path) -> None:
    """Remove each field, and set each field to a value of another type."""
    before = (whole.root / path).read_bytes()
    document = json.loads(before)
    values = itertools.cycle(VALUES)
    refused = 0
    for field in sorted(document):
        for change in ("missing", next(values)):
            changed = {key: value for key, value in document.items() if key != field or change != "missing"}
            if change != "missing":
                changed[field] = change
            ground.copied(whole.root, root)
            (root / path).write_text(json.dumps(changed))
            if fuzz.nobody_tells(root, path, before) is not None:
                continue
            said = expire(root)
            check(whole, said)
            refused += bool(said.error)
            assert DOCUMENTS[path] or not said.error, (field, change, said.document)
    assert refused > 1 or not DOCUMENTS[path]


# names that lead elsewhere -------------------------------------------------------------------------------------------


def outside_names(root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    own = f"file:{root}"
    yield "climbs", {"_FILE_NAME": "../../../../outside"}
    yield "absolute", {"_FILE_NAME": f"{root.parents[1]}/outside"}
    yield "dots", {"_FILE_NAME": ".."}
    yield "a zero byte", {"_FILE_NAME": "a\0b"}
    yield "climbing extra", {"_EXTRA_FILES": ["../snapshot/snapshot-9"]}
    yield "external, elsewhere", {"_EXTERNAL_PATH": f"file:{root.parents[1]}/outside"}
    yield "external, climbing", {"_EXTERNAL_PATH": f"{own}/bucket-0/../snapshot/snapshot-9"}
    yield "external, absolute", {"_EXTERNAL_PATH": f"{root.parents[1]}/outside"}
    yield "external, another store", {"_EXTERNAL_PATH": "nosuch://bucket/outside"}
    yield "external, a reference of its own", {"_EXTERNAL_PATH": f"{own}/snapshot/snapshot-9"}
    yield "external, a schema of its own", {"_EXTERNAL_PATH": f"{own}/schema/schema-0"}
    yield "external, NUL", {"_EXTERNAL_PATH": f"{own}/a\0b"}


NAMES = [name for name, _ in outside_names(Path("/a/b/c/d"))]


@pytest.mark.parametrize("is_configured", [False, True], ids=["", "under a configured root"])
@pytest.mark.parametrize("name", NAMES)
def test_a_manifest_that_names_what_lies_elsewhere(name: str, is_configured: bool, tmp_path: Path) -> None:
    """The file is deleted as planned; the file that its name leads to does not belong to the table, and is kept."""
    root = ground.warehouse(tmp_path)
    (tmp_path / "outside").write_bytes(b"somebody else's")
    options = {"data-file.external-paths": f"file:{tmp_path}"} if is_configured else {}
    table = TableBuilder(root, options=options)
    table.commit([table.file(rows=3)])
    table.commit([table.file()], table.live(), kind="OVERWRITE")
    changed = dict(outside_names(root))[name]
    for number in (1, 2):  # its ADD, and the DELETE that ends it

        def change(records: list[dict[str, Any]]) -> None:
            for each in records:
                if each["_FILE"]["_ROW_COUNT"] == 3:
                    each["_FILE"] |= changed

        rewritten(table, number, change)
    needed = {path for path in ground.disk(root) if path.startswith("schema/")} | set_model.read(root).holders[
        "2"
    ].paths - {f"bucket-0/{table.live()[0].name}"}
    _, document = run(
        "expire", root, "--retain-max", "1", "--retain-min", "1", "--now", NOW, "--json", "--yes", "--settle", "0 s"
    )
    assert (tmp_path / "outside").read_bytes() == b"somebody else's", (
        "also where that root is configured: the table lies in it"
    )
    assert {path for path in needed if "://" not in path and "file:" not in path} <= ground.disk(root), document


def rewritten(table: TableBuilder, number: int, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Replace a commit's manifest by another encoding, and correct every recorded size of it and of its lists."""
    name = table.commits[number].manifests[-1]["_FILE_NAME"]
    avro(table.root / "manifest" / name, change)
    size = os.path.getsize(table.root / "manifest" / name)
    for commit in table.commits.values():
        document = dict(commit.document)
        for kind in ("base", "delta"):
            path = table.root / "manifest" / document[f"{kind}ManifestList"]
            avro(path, lambda records: [each.update(_FILE_SIZE=size) for each in records if each["_FILE_NAME"] == name])
            document[f"{kind}ManifestListSize"] = os.path.getsize(path)
        (table.root / f"snapshot/snapshot-{document['id']}").write_text(json.dumps(document))


def test_a_file_that_is_held_under_another_spelling_stays(tmp_path: Path) -> None:
    """One external file, written as `file:/…` by expiring versions and `file:///…` by kept ones."""
    root = ground.warehouse(tmp_path)
    place = tmp_path / "external"
    place.mkdir()
    table = TableBuilder(root, options={"data-file.external-paths": f"file:{place}"})
    file = table.file(rows=3, write=False, external="x")
    (place / file.name).write_bytes(b"rows")
    one, two = (replace(file, external=f"{spelling}{place}/{file.name}") for spelling in ("file:", "file://"))
    table.commit([one])
    table.commit([two], [one], kind="OVERWRITE")
    named = "--yes", "--settle", "0 s", "--outside", f"{place}"
    _, said = run("expire", root, "--retain-max", "1", "--retain-min", "1", "--now", NOW, "--json", *named)
    assert [each["path"] for each in said["receipt"]["kept_back"]] == [one.external]
    assert (place / file.name).is_file()


# links and strays ----------------------------------------------------------------------------------------------------


def test_directories_that_lead_out_of_the_table_keep_their_files(whole: Whole, root: Path, tmp_path: Path) -> None:
    """A partition that was moved to another disk must not be deleted there."""
    outside = tmp_path / "disk" / "dt=2026-01-02"
    outside.parent.mkdir()
    shutil.move(root / "dt=2026-01-02", outside)
    (root / "dt=2026-01-02").symlink_to(outside)
    before = ground.disk(outside)
    said = expire(root)
    assert said.document["receipt"]["outcome"] == "incomplete"
    assert ground.disk(outside) == before
    kept = {each["path"] for each in said.document["receipt"]["kept_back"] if "symbolic link" in each["why"]}
    assert kept == {path for path in whole.freed if path.startswith("dt=2026-01-02/")}


STRAYS = {
    "tag/tag-success-file/early_SUCCESS": b"",
    "tag/notes.txt": b"?",
    "tag/.tag-x.tmp": b"",
    "snapshot/snapshot-": b"",
    "snapshot/snapshot-5.tmp": b"{",
    "snapshot/.snapshot-12.0a1b.tmp": b"{}",
    "snapshot/readme": b"",
    "snapshot/snapshot-x/y": b"",
    "consumer/.hidden": b"",
    "schema/schema-none": b"",
    "branch/notes": b"",
    "changelog/x": b"",
}


def test_strays_harm_nothing_and_stay(whole: Whole, root: Path) -> None:
    for path, content in STRAYS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    said = expire(root)
    assert (said.status, said.gone) == (0, whole.freed)
    assert STRAYS.keys() <= ground.disk(root)
