"""Every undocumented name of pyiceberg that we use: it exists, behaves as expected, and is rejected by name if
missing."""

from __future__ import annotations

import ast
import copy
import getpass
import inspect
import json
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hive_metastore import ttypes

from core.errors import Unsupported
from core.formats.iceberg.catalogs import pyiceberg_client as client
from tests.support.execution import iceberg_ground as ground
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
    "_create_lock_request": ("commit_table", 2),
    "_get_hive_table": ("commit_table", 3),
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


class FakeHive:
    """The Thrift client of a Metastore with one table, which compares the expected parameter, as Hive 4 does."""

    def __init__(self, table: Any) -> None:
        self.table, self.answers, self.user = table, True, ""
        self.late: Callable[[], None] = lambda: None

    def __enter__(self) -> FakeHive:
        return self

    def __exit__(self, *_: object) -> None:
        vars(self).pop("alter_table_with_environment_context", None)  # each opening gives a new one

    def lock(self, request: Any) -> Any:
        self.user = request.user
        return ttypes.LockResponse(lockid=1, state=ttypes.LockState.ACQUIRED)

    def unlock(self, _: Any) -> None:
        pass

    def get_table(self, dbname: str, tbl_name: str) -> Any:
        return copy.deepcopy(self.table)

    def alter_table_with_environment_context(
        self, dbname: str, tbl_name: str, new_tbl: Any, environment_context: Any
    ) -> None:
        self.late()
        asked = environment_context.properties
        assert asked["DO_NOT_UPDATE_STATS"] == "true"
        if self.table.parameters[asked["expected_parameter_key"]] != asked["expected_parameter_value"]:
            raise ttypes.MetaException(
                "The table has been modified. The parameter value for key 'metadata_location' is"
            )
        self.table = copy.deepcopy(new_tbl)
        if not self.answers:
            raise ttypes.MetaException("The table has been modified: this is the second attempt")


@pytest.fixture
def hive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHive:
    """A table that Hive can query, whose writers take no lock."""
    ground.small_table(tmp_path / "t", **{"engine.hive.enabled": "true", "engine.hive.lock-enabled": "false"})
    directory, base = f"file://{tmp_path}/t", f"file://{ground.newest(tmp_path / 't')}"
    handler = "org.apache.iceberg.mr.hive.HiveIceberg"
    descriptor = ttypes.StorageDescriptor(
        cols=[ttypes.FieldSchema("x", "int", None)],
        location=directory,
        inputFormat=f"{handler}InputFormat",
        outputFormat=f"{handler}OutputFormat",
        serdeInfo=ttypes.SerDeInfo(serializationLib=f"{handler}SerDe"),
    )
    parameters = {"table_type": "ICEBERG", "metadata_location": base, "storage_handler": f"{handler}StorageHandler"}
    fake = FakeHive(ttypes.Table("t", "db", "me", sd=descriptor, parameters=parameters, tableType="EXTERNAL_TABLE"))
    monkeypatch.setattr(class_of("HiveCatalog"), "_create_hive_client", staticmethod(lambda _: fake))
    return fake


def committed(hive: FakeHive, name: str) -> str:
    """Write the metadata of a next commit and return its location."""
    base = hive.table.parameters["metadata_location"]
    path = Path(base.removeprefix("file://"))
    document = json.loads(path.read_bytes())
    document["properties"]["by"] = name
    document["metadata-log"] = [*document.get("metadata-log", ()), {"timestamp-ms": 1, "metadata-file": base}]
    (path.parent / name).write_text(json.dumps(document))
    return f"file://{path.parent}/{name}"


def swapped(hive: FakeHive) -> str:
    target = committed(hive, "00009-ours.metadata.json")
    made = client.opened("lake", {"type": "hive", "uri": "thrift://nowhere:1"})
    metadata = client.parsed(Path(target.removeprefix("file://")).read_text())
    base = hive.table.parameters["metadata_location"]
    found = client.swapped(made, ("db", "t"), lambda location: location == base, target, metadata)
    assert found == target
    return target


def theirs(hive: FakeHive) -> None:
    hive.table.parameters["metadata_location"] = committed(hive, "00009-theirs.metadata.json")
    hive.late = lambda: None


def test_a_swap_in_hive_keeps_what_hive_queries_the_table_by(hive: FakeHive) -> None:
    descriptor = copy.deepcopy(hive.table.sd)
    target = swapped(hive)
    assert hive.table.parameters["metadata_location"] == target
    assert hive.table.parameters["storage_handler"].endswith("HiveIcebergStorageHandler")
    assert hive.table.sd == descriptor


def test_a_swap_in_hive_keeps_columns_of_which_hive_has_no_type(hive: FakeHive) -> None:
    path = Path(hive.table.parameters["metadata_location"].removeprefix("file://"))
    document = json.loads(path.read_bytes()) | {"format-version": 3, "next-row-id": 0, "last-column-id": 99}
    for each in document["schemas"]:
        each["fields"].append({"id": 99, "name": "ts", "required": False, "type": "timestamp_ns"})
    for each in document["snapshots"]:
        each |= {"first-row-id": 0, "added-rows": 0}
    path.write_text(json.dumps(document))
    descriptor = copy.deepcopy(hive.table.sd)
    assert hive.table.parameters["metadata_location"] != swapped(hive)
    assert hive.table.sd == descriptor


def test_a_user_without_a_name_takes_hives_lock(hive: FakeHive, monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 54321")

    monkeypatch.setattr(getpass, "getuser", nameless)
    swapped(hive)
    assert hive.user == f"uid-{os.getuid()}"


def test_a_commit_to_hive_without_a_lock_is_not_lost(hive: FakeHive) -> None:
    """It comes between reading the table and swapping."""
    from pyiceberg.exceptions import CommitFailedException

    hive.late = lambda: theirs(hive)
    with pytest.raises(CommitFailedException):
        swapped(hive)
    assert hive.table.parameters["metadata_location"].endswith("theirs.metadata.json")


@pytest.mark.parametrize("is_followed", [False, True])
def test_a_swap_that_hive_refuses_after_making_it_is_not_said_to_have_failed(
    hive: FakeHive, monkeypatch: pytest.MonkeyPatch, is_followed: bool
) -> None:
    hive.answers = False
    get_table = hive.get_table

    def late(dbname: str, tbl_name: str) -> Any:
        if is_followed and hive.table.parameters["metadata_location"].endswith("ours.metadata.json"):
            theirs(hive)
        return get_table(dbname, tbl_name)

    monkeypatch.setattr(hive, "get_table", late)
    with pytest.raises(ttypes.MetaException):
        swapped(hive)


def test_hives_commit_alters_the_table_by_the_names_that_are_replaced() -> None:
    (found,) = calls("HiveCatalog", "commit_table", "alter_table_with_environment_context")
    assert not found.args
    assert {each.arg for each in found.keywords} == {"dbname", "tbl_name", "new_tbl", "environment_context"}


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
