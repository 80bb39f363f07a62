"""An Iceberg table whose listings or reads are stale, or whose metadata is replaced and deleted while it is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import Corrupt
from core.formats.iceberg import references
from core.formats.iceberg.write.commit import read_current
from tests.support.execution.lying import Lies, lying_store
from tests.support.iceberg_documents import document

NAME = "v{}.metadata.json"


def write(root: Path, version: int, hint: int | None = None) -> None:
    (root / "metadata").mkdir(parents=True, exist_ok=True)
    found = {**document(2, f"file:{root}"), "last-updated-ms": version}
    (root / "metadata" / NAME.format(version)).write_text(json.dumps(found))
    (root / "metadata/version-hint.text").write_text(str(version if hint is None else hint))


def read_version(root: Path, lies: Lies) -> int:
    return int(references.read(lying_store(root, lies))[0].document["last-updated-ms"])


def absent(version: int, times: int) -> Lies:
    path = f"metadata/{NAME.format(version)}"
    return Lies(how="absent", picks=lambda call, at, n: (call, at) == ("cat_file", path) and n < times)


def test_metadata_that_is_listed_and_found_at_last_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "LAG_S", 100.0)  # nobody waits for as long
    for version in (1, 2):
        write(tmp_path, version)
    assert read_version(tmp_path, absent(2, 2)) == 2


def test_metadata_that_is_listed_and_never_found_is_no_reason_to_read_an_older_one(tmp_path: Path) -> None:
    for version in (1, 2):
        write(tmp_path, version)
    with pytest.raises(Corrupt, match="lists this file") as told:
        read_version(tmp_path, absent(2, 10_000))
    assert told.value.path == "metadata/v2.metadata.json"


@pytest.mark.parametrize("hint", [2, 3])
def test_metadata_that_a_hint_names_is_read_though_never_listed(hint: int, tmp_path: Path) -> None:
    """And what follows it, as Java looks."""
    for version in (1, 2, 3):
        write(tmp_path, version, hint)
    hidden = {NAME.format(2), NAME.format(3)}
    assert read_version(tmp_path, Lies(behind=lambda directory, names: names - hidden)) == 3


def busy(root: Path, at: str, commits: int) -> Lies:
    """Before each of the first calls `at` a writer commits and deletes what it replaced (delete-after-commit)."""
    done = 1

    def commit(call: str, path: str, n: int) -> bool:
        nonlocal done
        if call == at and done <= commits:
            done += 1
            write(root, done)
            (root / "metadata" / NAME.format(done - 1)).unlink()
        return False

    return Lies(picks=commit)


@pytest.mark.parametrize("commits", [1, 2, 5])
@pytest.mark.parametrize("at", ["cat_file", "ls"])
def test_metadata_replaced_and_deleted_while_it_is_read_is_no_damage(at: str, commits: int, tmp_path: Path) -> None:
    write(tmp_path, 1)
    found = read_version(tmp_path, busy(tmp_path, at, commits))
    assert 1 < found <= commits + 1


def test_a_hint_of_a_version_that_is_gone_for_good_is_told(tmp_path: Path) -> None:
    write(tmp_path, 1, hint=4)
    with pytest.raises(Corrupt, match="The hint says version 4, but v"):
        read_version(tmp_path, Lies())


def naming(names: list[str]) -> Callable[[], str]:
    """A catalog that names one after the other, and the last for ever."""
    return lambda: names.pop(0) if len(names) > 1 else names[0]


def test_what_a_catalog_names_next_is_read_where_the_file_before_it_went(tmp_path: Path) -> None:
    write(tmp_path, 3)
    store = lying_store(tmp_path, Lies())
    names = [f"metadata/{NAME.format(number)}" for number in (1, 2, 3)]
    content, path = read_current(naming(names), store.read)
    assert path == "metadata/v3.metadata.json"
    assert json.loads(content)["last-updated-ms"] == 3
