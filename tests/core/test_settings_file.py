"""The settings file: what it may say, how secrets are kept, and what a name means."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from core import settings_file
from core.credentials import Secret, masked
from core.errors import Corrupt, Invalid, NotFound, SnapscopeError

Write = Callable[..., Path]
SECRET = "marker-secret"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("SNAPSCOPE_CONFIG", str(path))

    def write(text: str, mode: int = 0o600) -> Path:
        path.write_text(text)
        path.chmod(mode)
        return path

    return write


def refused(kind: type[SnapscopeError] = Invalid) -> SnapscopeError:
    with pytest.raises(kind) as told:
        settings_file.current()
    assert told.value.path == os.environ["SNAPSCOPE_CONFIG"]
    return told.value


def test_nothing_is_named_without_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SNAPSCOPE_CONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert settings_file.current().warehouses == {}
    below = tmp_path / ".config" / "snapscope"
    below.mkdir(parents=True)
    (below / "config.toml").write_text("[warehouse.lake]\nlocation = '/lake'")
    assert settings_file.location("lake") == "/lake", "the default place"


def test_a_file_that_is_named_must_be_there(write: Write) -> None:
    assert "SNAPSCOPE_CONFIG" in str(refused(NotFound))


def test_names_stand_for_locations(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("[warehouse.prod]\nlocation = 's3://lake/wh/'\n[warehouse.home]\nlocation = '~/wh'")
    monkeypatch.chdir(tmp_path)
    assert settings_file.location("prod") == "s3://lake/wh"
    assert settings_file.location("prod/shop.db/orders") == "s3://lake/wh/shop.db/orders"
    assert settings_file.location("home/t") == f"{Path.home()}/wh/t"
    for place in ("./prod", "/prod", "s3://prod", "product", "other/prod", "", " ", "file:/prod"):
        assert settings_file.location(place) == place


def test_a_name_that_is_also_a_directory_is_refused(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("[warehouse.prod]\nlocation = 's3://lake/wh'")
    (tmp_path / "prod").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Invalid, match=r"Write \./prod/t, or the location: s3://lake/wh\.") as told:
        settings_file.location("prod/t")
    assert told.value.path


def test_urls_of_this_machine_are_paths(write: Write) -> None:
    """As what is typed: `%20` is a space in a URL, and nothing else in the name of a table below it."""
    write(
        "[warehouse.a]\nlocation = 'file:///my%20lake/'\n"
        "[catalog.b]\ntype = 'paimon-jdbc'\nuri = 'x'\nwarehouse = 'a'\n"
        "[catalog.c]\ntype = 'paimon-jdbc'\nuri = 'x'\nwarehouse = 'file:/w%25'\n"
    )
    found = settings_file.current()
    assert found.warehouses["a"].location.rstrip("/") == "/my lake"
    assert found.catalogs["b"].text("warehouse").rstrip("/") == "/my lake"
    assert found.catalogs["c"].text("warehouse") == "/w%"


def test_the_nearest_named_warehouse_counts(write: Write) -> None:
    write("[warehouse.a]\nlocation = 's3a://lake'\n[warehouse.b]\nlocation = 's3://lake/b'\n")
    found = settings_file.current()
    names = {place: (of := found.above(place)) and of.name for place in ("s3://lake/x", "s3://lake/b/x", "s3://lakes")}
    assert names == {"s3://lake/x": "a", "s3://lake/b/x": "b", "s3://lakes": None}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[warehouses.a]", "Did you mean warehouse?"),
        ("[warehouse.a]\nlocation = '/a'\nlocaton = 1", "Did you mean location?"),
        ("[warehouse.a]\nlocation = 's3://a'\npath_style = true", "Did you mean path-style?"),
        ("[warehouse.a]\nlocation = 's3://a'\nzzz = true", "warehouse.a.zzz"),
        ("[warehouse.a]\nlocation = 'gs://a'\nregion = 'x'", "region is not an option of gs:// locations"),
        ("[warehouse.a]\nlocation = '/a'\nregion = 'x'", "region is not an option of the local disk"),
        ("[warehouse.a]\nregion = 'x'", "warehouse.a.location"),
        ("[warehouse.a]\nlocation = 'a/b'", "an absolute path"),
        ("[warehouse.a]\nlocation = 's3://key:marker-secret@a'", "without credentials"),
        ("[warehouse.a]\nlocation = 's3://a'\nanonymous = 'yes'", "true or false"),
        ("[warehouse.a]\nlocation = 's3://a'\nregion = 3", "a text"),
        ("[warehouse.a]\nlocation = 's3://a'\nregion = {env = 'X'}", "a text"),
        ("[warehouse.a]\nlocation = 's3://a'\naccess-key = 'x'", "secret-key beside it"),
        ("[warehouse.a]\nlocation = 's3://a'\nprofile = 'x'\nanonymous = true", "only one way"),
        ("[warehouse.a]\nlocation = 's3://a'\naccess-key = 'x'\nsecret-key = {envv = 'X'}", "{ env = 'NAME' }"),
        ("[warehouse.a]\nlocation = '/a'\nprice-per-gb-month = -1", "zero or more"),
        ("[warehouse.a]\nlocation = '/a'\ncurrency = 'EUR'", "beside price-per-gb-month"),
        ("[warehouse.a]\nlocation = '/a'\n[warehouse.b]\nlocation = '/a/'", "another location than that of a"),
        ("[warehouse.'a b']\nlocation = '/a'", "a name of letters"),
        ("warehouse = 3", "a table: [warehouse.NAME]"),
        ("[warehouse]\na = 3", "a table"),
        ("[catalog.a]\ntype = 'x'", "catalog.a.type"),
        ("[catalog.a]\ntype = 'paimon-jdbc'\nuri = 'x'", "catalog.a.warehouse"),
        ("[catalog.a]\ntype = 'paimon-jdbc'\nuri = 'x'\nwarehouse = 'w'", "an absolute path"),
        ("[catalog.a]\ntype = 'paimon-jdbc'\nuri = 'x'\nwarehouse = '/w'\ncatalogkey = 'w'", "catalog-key?"),
        ("[catalog.a]\ntype = 'paimon-jdbc'\nuri = 'x'\nwarehouse = '/w'\nlock-enabled = 1", "true or false"),
        ("[catalog.a]\ntype = 'paimon-rest'\nuri = 'http://me:marker-secret@host'", "without credentials"),
        ("[catalog.a]\ntype = 'paimon-rest'\nuri = 'http://h?token=marker-secret'", "without credentials"),
        ("[warehouse.a]\nlocation = '/a'\n[catalog.a]\ntype = 'paimon-rest'\nuri = 'x'", "another name"),
    ],
)
def test_what_is_not_valid_names_the_key(write: Write, text: str, said: str) -> None:
    write(text)
    error = refused()
    assert said in str(error)
    assert SECRET not in str(error)


def test_damaged_files_are_refused(write: Write) -> None:
    write(f"secret-key = {SECRET}")
    error = refused(Corrupt)
    assert "line 1" in str(error)
    assert SECRET not in str(error)
    path = write("")
    path.write_bytes(b"\xff")
    refused(Corrupt)
    path.write_bytes(b"#" * (settings_file.MOST_BYTES + 1))
    refused(Corrupt)


def test_a_pipe_is_refused_and_not_waited_for(write: Write, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.toml", 0o600)
    refused(Corrupt)
    os.unlink(tmp_path / "config.toml")
    (tmp_path / "config.toml").mkdir()
    refused(Corrupt)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_secret_in_a_file_that_others_can_read_is_refused(write: Write, mode: int) -> None:
    write(f"[warehouse.a]\nlocation = 's3://a'\naccess-key = 'me'\nsecret-key = '{SECRET}'", mode)
    error = refused()
    assert "chmod go=" in str(error)
    assert "secret-key = { env = 'NAME' }" in str(error)
    assert SECRET not in str(error)
    write("[warehouse.a]\nlocation = 's3://a'\naccess-key = 'me'\nsecret-key = {env = 'X'}", mode)
    assert settings_file.current().warehouses, "a reference may be read by all"


def test_a_file_that_all_can_change_is_refused(write: Write) -> None:
    write("", 0o602)
    assert "chmod go=" in str(refused())


def test_secrets_are_read_when_they_are_used(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    write(
        "[warehouse.a]\nlocation = 's3://a'\naccess-key = {env = 'MY_KEY'}\n"
        f"secret-key = '{SECRET}'\nsession-token = {{file = '{own}'}}"
    )
    options = settings_file.current().warehouses["a"].options
    assert SECRET not in repr(settings_file.current())
    key, secret, token = (options[name] for name in ("access-key", "secret-key", "session-token"))
    assert isinstance(key, Secret)
    assert isinstance(secret, Secret)
    assert isinstance(token, Secret)
    with pytest.raises(Invalid, match=r"\$MY_KEY"):
        key.value()
    with pytest.raises(Invalid, match="cannot be read"):
        token.value()
    own.write_text("")
    with pytest.raises(Invalid, match="empty"):
        token.value()
    own.write_text("a-token\n")
    monkeypatch.setenv("MY_KEY", "me")
    assert (key.value(), secret.value(), token.value()) == ("me", SECRET, "a-token")
    assert masked(f"Refused: {SECRET}, a-token; me?sig=abc&x=1") == "Refused: …, …; me?sig=…&x=1"


def test_the_file_is_read_again_once_it_changes(write: Write) -> None:
    write("[warehouse.a]\nlocation = '/a'")
    first = settings_file.current()
    assert settings_file.current() is first
    path = write("[warehouse.b]\nlocation = '/b'")
    assert list(settings_file.current().warehouses) == ["b"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
