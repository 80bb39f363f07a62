"""Every undocumented name of pyiceberg that we use: it exists, behaves as expected, and is rejected by name if
missing."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from core.errors import Unsupported
from core.formats.iceberg.catalogs import pyiceberg_client as client
from tests.support.places import ROOT

MODULES = {
    "SqlCatalog": "pyiceberg.catalog.sql",
    "HiveCatalog": "pyiceberg.catalog.hive",
    "RestCatalog": "pyiceberg.catalog.rest",
}
OURS = Path(client.__file__)
NAMES = [(kind, name) for kind in MODULES for name in client.INTERNALS[kind]]
CALLED = {  # who calls it, so that a replacement is heard of; and what it is called with
    "_load_file_io": ("load_table", 0),
    "_convert_orm_to_iceberg": ("load_table", 1),
    "_convert_hive_into_iceberg": ("load_table", 1),
    "_response_to_table": ("load_table", 2),
    "_update_and_stage_table": ("commit_table", 4),
    "_write_metadata": ("commit_table", 0),
}


def class_of(kind: str) -> Any:
    return getattr(import_module(MODULES[kind]), kind)


def calls(kind: str, within: str, name: str) -> list[ast.Call]:
    """The calls of a method, told by name, in another one's source or in what `load_table` makes its answer by."""
    answer = next(each for each in client.INTERNALS[kind] if each.endswith(("_iceberg", "_table")))
    methods = [within, answer] if name == "_load_file_io" else [within]
    tree = [ast.parse(inspect.cleandoc("\n" + inspect.getsource(getattr(class_of(kind), each)))) for each in methods]
    return [
        node
        for each in tree
        for node in ast.walk(each)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name
    ]


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_a_name_is_there_and_called_as_it_is_replaced(kind: str, name: str) -> None:
    assert hasattr(class_of(kind), name), f"pyiceberg has renamed {kind}.{name}: see pyiceberg_client"
    within, positional = CALLED[name]
    found = calls(kind, within, name)
    assert found, f"{kind}.{within} no longer calls {name}: what replaces it is not heard of"
    if positional:
        assert {len(each.args) for each in found} == {positional}
    if name == "_write_metadata":
        assert {len(each.args) for each in found} == {0}, "it is replaced by what takes keywords alone"


@pytest.mark.parametrize("name", client.INTERNALS["SqlCatalog"])
def test_a_catalog_that_lacks_a_name_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were it only replaced where it is there, pyiceberg would write a metadata file of its own."""
    owner = next(each for each in class_of("SqlCatalog").__mro__ if name in vars(each))
    monkeypatch.delattr(owner, name)
    with pytest.raises(Unsupported, match=f"has no {name}, so"):
        client.opened("lake", {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db"})


def test_the_configuration_names_its_catalogs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", "sqlite://")
    assert "lake" in client.known()
    assert client.configuration("lake") == {"uri": "sqlite://"}
    assert client.configuration("another") is None


def test_metadata_is_parsed_as_a_commit_compares_it() -> None:
    from pyiceberg.exceptions import ValidationError
    from pyiceberg.table.metadata import TableMetadataV2

    path = next((ROOT / "tests/tables/iceberg/pyiceberg").rglob("*.metadata.json"))
    assert isinstance(client.parsed(path.read_text()), TableMetadataV2)
    with pytest.raises(ValidationError):
        client.parsed("{}")


def test_a_catalog_made_from_a_known_one_is_that_kind(tmp_path: Path) -> None:
    made = type("Own", (class_of("SqlCatalog"),), {})("lake", uri=f"sqlite:///{tmp_path}/c.db")
    assert client._kind(made) == "SqlCatalog"
    made.close()


def test_nobody_else_reaches_into_pyiceberg() -> None:
    """Of what it keeps to itself, and of its configuration. `rest` uses public updates, the catalog public errors."""
    public = {"pyiceberg.catalog", "pyiceberg.exceptions", "pyiceberg.table"}
    found = {}
    for path in (each for package in ("core", "dashboard", "snapscope") for each in (ROOT / package).rglob("*.py")):
        text = path.read_text()
        if path == OURS:
            continue
        imported = {
            node.module
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pyiceberg"
        }
        named = {name for names in client.INTERNALS.values() for name in names if name in text}
        if imported - public or named:
            found[path.name] = imported - public | named
    assert found == {}
