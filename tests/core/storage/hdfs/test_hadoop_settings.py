"""Hadoop's settings: whose count, what they may contain, and which server a location means."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from core.errors import Invalid
from core.settings_file import current
from core.storage.hdfs import hadoop_settings
from core.storage.hdfs.hadoop_settings import RPC, named, nodes, of_client, read
from core.storage.location_options import of_settings

PAIR = {
    "dfs.nameservices": "Ns",
    "dfs.ha.namenodes.Ns": "nn1, nn2",
    "dfs.namenode.rpc-address.Ns.nn1": "127.0.0.1:1",
    "dfs.namenode.rpc-address.Ns.nn2": "127.0.0.1:2",
}
CONFIG = """
[warehouse.prod]
location = "hdfs://Ns/lake"
dfs.nameservices = "Ns"
dfs.ha.namenodes.Ns = "nn1,nn2"
"dfs.namenode.rpc-address.Ns.nn1" = "one:8020"
dfs.namenode.rpc-address.Ns.nn2 = "two:8020"
dfs.client.failover.max.attempts = 3
dfs.client.use.datanode.hostname = true

[warehouse.web]
location = "webhdfs://Other/lake"
dfs.nameservices = "Other"
dfs.ha.namenodes.Other = "a,b"
user = "me"
"""


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("HADOOP_HOME", raising=False)


def written(directory: Path, name: str, **settings: str) -> None:
    pairs = "".join(f"<property><name> {k} </name><value>\n{v} </value></property>" for k, v in settings.items())
    (directory / name).write_text(f"<?xml version='1.0'?><!-- ours --><configuration>{pairs}</configuration>")


def test_the_nearest_setting_counts_and_names_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(
        tmp_path, "core-site.xml", **{"fs.defaultFS": "hdfs://${ns}", "ns": "One", "dfs.a": "core", "dfs.b": "core"}
    )
    written(tmp_path, "hdfs-site.xml", **{"dfs.a": "hdfs", "dfs.c": "${env.ZONE}-${no.such}"})
    monkeypatch.setenv("ZONE", "eu")
    found = read({"dfs.b": "own", "dfs.d": None, "use_listings_cache": False, "key": "secret"})
    assert found == {
        "fs.defaultFS": "hdfs://One", "ns": "One", "dfs.a": "hdfs", "dfs.b": "own", "dfs.c": "eu-${no.such}",
    }  # fmt: skip
    assert of_client(None, None, PAIR | {"ns": "Ns", "fs.defaultFS": "x"})[0] == "hdfs://One:8020"


def test_hadoop_home_has_settings_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "etc/hadoop").mkdir(parents=True)
    written(tmp_path / "etc/hadoop", "hdfs-site.xml", **{"dfs.a": "1"})
    monkeypatch.delenv("HADOOP_CONF_DIR")
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path))
    assert read({}) == {"dfs.a": "1"}


def test_a_variable_that_contains_itself_ends() -> None:
    assert "${dfs.a}" in read({"dfs.a": "x${dfs.a}"})["dfs.a"]


def test_a_file_that_is_not_xml_is_named(tmp_path: Path) -> None:
    (tmp_path / "hdfs-site.xml").write_text("<configuration>")
    with pytest.raises(Invalid, match="cannot be read") as told:
        read({})
    assert told.value.path == str(tmp_path / "hdfs-site.xml")


def test_a_nameservice_has_addresses_and_a_host_has_none() -> None:
    assert nodes(PAIR, "Ns") == {"nn1": "127.0.0.1:1", "nn2": "127.0.0.1:2"}
    assert nodes(PAIR, "ns") == nodes(PAIR, "host") == {}
    with pytest.raises(Invalid, match=r"dfs\.namenode\.http-address\.Ns\.nn1 is not set"):
        nodes(PAIR, "Ns", hadoop_settings.HTTP)


@pytest.mark.parametrize(
    ("location", "address"),
    [
        ("hdfs://Ns/lake", "hdfs://Ns"),
        ("hdfs://host/lake", "hdfs://host:8020"),
        ("hdfs://host:9000/lake", "hdfs://host:9000"),
        ("hdfs://me@host:9000/lake", "hdfs://host:9000"),
        ("hdfs://single/lake", "hdfs://nn.example:8021"),
    ],
)
def test_a_location_leads_to_a_server(location: str, address: str) -> None:
    found, settings = of_client(*named(location), PAIR | {f"{RPC}.single": "nn.example:8021"})
    assert found == address
    assert settings["dfs.client.failover.max.attempts"] == ("11" if address == "hdfs://Ns" else "1")


def test_a_location_without_a_server_needs_a_default(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="names no server"):
        of_client(None, None, {})
    written(tmp_path, "core-site.xml", **{"fs.defaultFS": "hdfs://Ns"})
    assert of_client(None, None, PAIR)[0] == "hdfs://Ns"
    with pytest.raises(Invalid, match="no valid port"):
        named("hdfs://host:x/lake")


def test_name_nodes_that_answer_come_first() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        settings = of_client("Ns", None, PAIR | {f"{RPC}.Ns.nn2": f"127.0.0.1:{port}"})[1]
    assert settings["dfs.ha.namenodes.Ns"] == "nn2,nn1"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.toml"
    path.write_text(CONFIG)
    monkeypatch.setenv("SNAPSCOPE_CONFIG", str(path))


@pytest.mark.usefixtures("config")
def test_the_settings_file_has_settings_of_hadoop() -> None:
    found = of_settings(current().warehouses["prod"])
    assert found["dfs.namenode.rpc-address.Ns.nn2"] == "two:8020"
    assert found["dfs.client.failover.max.attempts"] == "3"
    assert found["dfs.client.use.datanode.hostname"] == "true"
    assert of_settings(current().warehouses["web"])["user"] == "me"


@pytest.mark.usefixtures("config")
def test_spark_gets_all_nameservices_and_how_to_fail_over(tmp_path: Path) -> None:
    written(tmp_path, "hdfs-site.xml", **{"dfs.nameservices": "Site", "hadoop.security.authentication": "kerberos"})
    found = hadoop_settings.for_spark()
    assert found["spark.hadoop.dfs.nameservices"] == "Site,Ns,Other"
    assert found["spark.hadoop.dfs.namenode.rpc-address.Ns.nn1"] == "one:8020"
    assert found["spark.hadoop.dfs.client.failover.proxy.provider.Ns"].endswith("ConfiguredFailoverProxyProvider")
    assert not [name for name in found if "security" in name]
