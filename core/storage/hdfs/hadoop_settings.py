"""Hadoop's settings for a location, and the NameNodes that they name.

They are those of `core-site.xml` and `hdfs-site.xml` in `$HADOOP_CONF_DIR`, else in `$HADOOP_HOME/etc/hadoop`. Those of
the location itself, from the settings file, take precedence.

Source: `Configuration` and `DFSUtilClient` of Hadoop 3.4.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from core import settings_file
from core.errors import Invalid
from core.messages import message

RPC, HTTP, HTTPS = (f"dfs.namenode.{kind}-address" for kind in ("rpc", "http", "https"))
_OF_HDFS = "dfs."
_HADOOP = (_OF_HDFS, "hadoop.")
_NAMESERVICES = "dfs.nameservices"
_NODES = "dfs.ha.namenodes"
_PROVIDER = "dfs.client.failover.proxy.provider"
_USUAL_PROVIDER = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
_ATTEMPTS = "dfs.client.failover.max.attempts"
_ROUNDS = 6  # with pauses in between that add up to about 30 seconds, in which a standby becomes active
_RPC_PORT = 8020
_VARIABLE = re.compile(r"\$\{([^{}$\s]+)\}")
_DEPTH = 20  # of variables in variables, as in Hadoop
_REACHED_S = 2.0


def read(own: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings for a location; `own` are its options, of which only Hadoop's count."""
    home, found = os.environ.get("HADOOP_HOME"), dict[str, str]()
    directory = os.environ.get("HADOOP_CONF_DIR") or (f"{home}/etc/hadoop" if home else None)
    for name in ("core-site.xml", "hdfs-site.xml") if directory else ():
        found |= _properties(Path(str(directory), name))
    found |= of_hadoop(own)
    return {name: _expanded(value, found) for name, value in found.items()}


def of_hadoop(options: Mapping[str, Any]) -> dict[str, str]:
    """Return those options that are settings of Hadoop."""
    return {name: value for name, value in options.items() if name.startswith(_HADOOP) and isinstance(value, str)}


def nodes(settings: Mapping[str, str], name: str, kind: str = RPC) -> dict[str, str]:
    """Return the addresses of a nameservice's NameNodes by their ids; empty if `name` is that of a host.

    Raises `Invalid` for a nameservice without any."""
    ids = [each.strip() for each in settings.get(f"{_NODES}.{name}", "").split(",") if each.strip()]
    known = {each: settings.get(f"{kind}.{name}.{each}") for each in ids}
    found = {each: address for each, address in known.items() if address}
    if ids and not found:
        raise Invalid(
            "There is no address of a NameNode of {name}: {key} is not set.",
            name=name,
            key=f"{kind}.{name}.{ids[0]}",
            remedy=message("Set it in hdfs-site.xml in $HADOOP_CONF_DIR, or in the settings file."),
        )
    return found


def of_client(host: str | None, port: int | None, own: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the address for a client of HDFS's own protocol, and its settings.

    A NameNode that does not answer would hold up each call for minutes, so those that do come first. A call waits for a
    fail-over, but not longer than reads may take, and not for a single NameNode."""
    settings = read(own)
    if host is None:
        host, port = _default(settings)
    if port is None and (found := nodes(settings, host)):
        settings[f"{_NODES}.{host}"] = ",".join(_answering_first(found))
        settings.setdefault(_ATTEMPTS, str(_ROUNDS * len(found) - 1))
        return f"hdfs://{host}", settings
    settings.setdefault(_ATTEMPTS, "1")
    address = settings.get(f"{RPC}.{host}") if port is None else None  # a nameservice of one NameNode
    return f"hdfs://{address or f'{host}:{port or _RPC_PORT}'}", settings


def for_spark() -> dict[str, str]:
    """Return what engines' connectors in Spark need to reach the same NameNodes: all settings of HDFS.

    Those of Hadoop's security are left out: with them, Spark starts only if there is a ticket."""
    own = [of_hadoop(each.options) for each in settings_file.current().warehouses.values()]
    found = {name: value for name, value in read({}).items() if name.startswith(_OF_HDFS)}
    names = [each.get(_NAMESERVICES, "") for each in (found, *own)]
    for each in own:
        found |= {name: value for name, value in each.items() if name.startswith(_OF_HDFS)}
    if services := ",".join(dict.fromkeys(each.strip() for each in ",".join(names).split(",") if each.strip())):
        found[_NAMESERVICES] = services
    for key in [key for key in found if key.startswith(f"{_NODES}.")]:
        found.setdefault(f"{_PROVIDER}.{key.removeprefix(f'{_NODES}.')}", _USUAL_PROVIDER)
    return {f"spark.hadoop.{name}": value for name, value in found.items()}


def named(location: str) -> tuple[str | None, int | None]:
    """Return the host or nameservice of a location, spelled as there, and its port."""
    name, colon, port = location.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")
    if colon and not port.isdecimal():
        raise Invalid("{location!r} has no valid port.", location=location, remedy="Write hdfs://HOST:PORT/PATH.")
    return name or None, int(port) if port else None


def _default(settings: Mapping[str, str]) -> tuple[str, int | None]:
    place = settings.get("fs.defaultFS", "")
    host, port = named(place) if place.startswith("hdfs://") else (None, None)
    if host is None:
        raise Invalid(
            "The location names no server, and fs.defaultFS is not one of HDFS.",
            remedy=message("Write hdfs://HOST:PORT/PATH or hdfs://NAMESERVICE/PATH, or set $HADOOP_CONF_DIR."),
        )
    return host, port


def _answering_first(found: Mapping[str, str]) -> list[str]:
    with ThreadPoolExecutor(len(found)) as pool:
        answers = dict(zip(found, pool.map(_answers, found.values()), strict=True))
    return sorted(found, key=lambda each: not answers[each])


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), _REACHED_S).close()
    except (OSError, ValueError):
        return False
    return True


def _properties(path: Path) -> dict[str, str]:
    try:
        root = ElementTree.fromstring(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ElementTree.ParseError) as error:
        raise Invalid(
            "Hadoop's settings cannot be read: {error}.",
            error=error,
            path=str(path),
            remedy="Correct the file, or let $HADOOP_CONF_DIR name another directory.",
        ) from error
    pairs = [(each.findtext("name"), each.findtext("value")) for each in root.iter("property")]
    return {name.strip(): (value or "").strip() for name, value in pairs if name}


def _expanded(value: str, settings: Mapping[str, str]) -> str:
    """Replace `${name}` by another setting, `${env.NAME}` by a variable of the environment."""
    for _ in range(_DEPTH):
        if not (found := _VARIABLE.search(value)):
            break
        name = found[1]
        new = os.environ.get(name[4:]) if name.startswith("env.") else settings.get(name)
        if new is None:
            break
        value = value.replace(found[0], new)
    return value
