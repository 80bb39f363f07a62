"""Catalogs that Spark's settings define (`spark.sql.catalog.NAME`), in the words of our settings file and of pyiceberg.

A catalog of files only (Paimon's filesystem, Iceberg's Hadoop) is a warehouse. Secrets are only passed on. What cannot
be opened here is left out with the reason; catalogs of other formats are ignored.
Source: `SparkCatalog` and `CatalogOptions` of Paimon 2.0; `SparkCatalog` and `CatalogUtil` of Iceberg 1.11.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core import spark_settings
from core.errors import SnapscopeError, Unsupported
from core.messages import message
from core.units import is_true

PREFIX = "spark.sql.catalog."
_PAIMON = tuple(f"org.apache.paimon.spark.{name}" for name in ("SparkCatalog", "SparkGenericCatalog"))
_ICEBERG = tuple(f"org.apache.iceberg.spark.{name}" for name in ("SparkCatalog", "SparkSessionCatalog"))
_METASTORE = "spark.hadoop.hive.metastore.uris"
_IMPLEMENTED = {
    "org.apache.iceberg.rest.RESTCatalog": "rest", "org.apache.iceberg.hive.HiveCatalog": "hive",
    "org.apache.iceberg.aws.glue.GlueCatalog": "glue", "org.apache.iceberg.jdbc.JdbcCatalog": "jdbc",
    "org.apache.iceberg.hadoop.HadoopCatalog": "hadoop",
}  # fmt: skip
_OF_JAVA = ("", "type", "catalog-impl", "io-impl")  # name classes there
_STORE = {  # options of a store, as both formats call them, and as our settings file does
    "s3.endpoint": "endpoint", "s3.access-key": "access-key", "s3.access-key-id": "access-key",
    "s3.secret-key": "secret-key", "s3.secret-access-key": "secret-key", "s3.session-token": "session-token",
    "s3.session.token": "session-token", "s3.path.style.access": "path-style", "s3.path-style-access": "path-style",
    "s3.region": "region", "client.region": "region", "fs.oss.endpoint": "endpoint",
    "fs.oss.accessKeyId": "access-key", "fs.oss.accessKeySecret": "secret-key",
    "fs.oss.securityToken": "session-token",
}  # fmt: skip
_PAIMON_KEYS: Mapping[str, Mapping[str, str]] = {
    "hive": {"warehouse": "warehouse", "lock.enabled": "lock-enabled"},
    "jdbc": {
        "warehouse": "warehouse", "lock.enabled": "lock-enabled", "catalog-key": "catalog-key", "jdbc.user": "user",
        "jdbc.password": "password",
    },
    "rest": {"warehouse": "warehouse", "data-token.enabled": "data-token-enabled"},
}  # fmt: skip
"""By metastore, the options that reach a catalog beside its uri, and their names in our settings file."""
_LOGINS: Mapping[str, Mapping[str, str]] = {
    "bear": {"token": "token"},
    "dlf": {
        "dlf.region": "region", "dlf.token-path": "credentials-file", "dlf.access-key-id": "access-key",
        "dlf.access-key-secret": "secret-key", "dlf.security-token": "session-token",
    },
}  # fmt: skip
"""The same for a REST catalog's ways of identifying its users (`token.provider`)."""
_FLAGS = ("path-style", "lock-enabled", "data-token-enabled")
_SQLITE = "jdbc:sqlite:"

Options = Mapping[str, str | bool]


@dataclass(frozen=True)
class SparkCatalogs:
    """By name: `warehouses` with their location under `location`, and Paimon's `catalogs`, in the keys of our settings
    file; `iceberg` catalogs as pyiceberg is configured; why others are `left_out`, and which of those may commit to
    Paimon tables by themselves (`unasked`). `unread`: why the settings cannot be read; then it is not known which
    catalogs they define."""

    warehouses: dict[str, Options] = field(default_factory=dict)
    catalogs: dict[str, Options] = field(default_factory=dict)
    iceberg: dict[str, dict[str, str]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    unasked: set[str] = field(default_factory=set)
    unread: str | None = None


_read: tuple[object, SparkCatalogs] | None = None


def current() -> SparkCatalogs:
    """Return the catalogs of Spark's settings now."""
    global _read
    seen = tuple(_states())
    if _read is None or _read[0] != seen:
        try:
            found = of(spark_settings.of_spark() | spark_settings.of_environment())
        except SnapscopeError as error:
            found = SparkCatalogs(unread=error.message)
        _read = (seen, found)
    return _read[1]


def _states() -> Iterator[object]:
    """What the settings depend on: variables, and the state of the files they name."""
    for name in ("SNAPSCOPE_SPARK_CONF", "SPARK_CONF_DIR", "SPARK_HOME"):
        text = os.environ.get(name, "").strip()
        yield text
        if not text or text.startswith("spark."):
            continue
        for path in (Path(text), Path(text, "spark-defaults.conf"), Path(text, "conf", "spark-defaults.conf")):
            try:
                state = path.expanduser().stat()
            except (OSError, RuntimeError):
                continue
            yield str(path), state.st_ino, state.st_mtime_ns, state.st_size


def of(properties: Mapping[str, str]) -> SparkCatalogs:
    """Return the catalogs that these properties define."""
    found, options = SparkCatalogs(), dict[str, dict[str, str]]()
    for key, value in properties.items():
        if key.startswith(PREFIX):
            name, _, option = key.removeprefix(PREFIX).partition(".")
            options.setdefault(name, {})[option] = value
    servers = properties.get(_METASTORE, "")
    for name, own in options.items():
        if own.get("") in _PAIMON:
            _add_paimon(found, name, own, servers)
        elif own.get("") in _ICEBERG:
            _add_iceberg(found, name, own, servers)
    return found


def unusable(name: str, why: str) -> Unsupported:
    """Return the error for a catalog that is left out."""
    return Unsupported(
        "Spark's settings define the catalog {name}, which Snapscope cannot open: {why}",
        name=name,
        why=why,
        remedy=message(
            "If it is reachable otherwise, define it in the settings file (Paimon) or in pyiceberg's configuration "
            "(Iceberg)."
        ),
    )


def _add_paimon(found: SparkCatalogs, name: str, own: Mapping[str, str], servers: str) -> None:
    kind = own.get("metastore", "filesystem").lower()
    if kind == "filesystem":
        _add_warehouse(found, name, own)
        return
    if kind not in _PAIMON_KEYS:
        found.left_out[name] = message("Snapscope does not know catalogs of the type {kind}.", kind=kind)
        found.unasked.add(name)
        return
    login = _login(own) if kind == "rest" else {}
    if login is None:
        provider = own.get("token.provider", "")
        found.left_out[name] = message("Snapscope cannot sign its requests (token.provider={kind}).", kind=provider)
        found.unasked.add(name)
        return
    uri = own.get("uri") or (servers if kind == "hive" else "")
    if not uri:
        found.left_out[name] = message("It has no uri.")
        return
    options = {ours: own[theirs] for theirs, ours in _PAIMON_KEYS[kind].items() if own.get(theirs)} | login
    found.catalogs[name] = {"type": f"paimon-{kind}", "uri": uri, **_flagged(options)}


def _login(own: Mapping[str, str]) -> dict[str, str] | None:
    """Return the options that identify the user of a REST catalog; None if its requests cannot be signed here."""
    provider = own.get("token.provider", "bear")
    login = {ours: own[theirs] for theirs, ours in _LOGINS.get(provider, {}).items() if own.get(theirs)}
    if provider == "bear":
        return login
    loader, signature = own.get("dlf.token-loader", "local_file"), own.get("dlf.signing-algorithm", "default")
    if "credentials-file" in login:
        login = {key: login[key] for key in ("region", "credentials-file") if key in login}
    elif loader != "local_file" or not {"access-key", "secret-key"} <= login.keys():
        return None
    usual = ("default", "openapi") if "dlfnext" in own.get("uri", "").lower() else ("default",)
    return login if provider == "dlf" and signature in usual else None


def _add_iceberg(found: SparkCatalogs, name: str, own: Mapping[str, str], servers: str) -> None:
    written = own.get("catalog-impl", "")
    kind = _IMPLEMENTED.get(written, written) or own.get("type", "hive").lower()
    options = {key: value for key, value in own.items() if key not in _OF_JAVA}
    uri = options.get("uri") or (servers if kind == "hive" else "")
    if kind == "hadoop":
        _add_warehouse(found, name, own)
    elif kind == "jdbc" and uri.startswith(_SQLITE):
        path = uri.removeprefix(_SQLITE).removeprefix("file:").partition("?")[0]
        found.iceberg[name] = {**options, "type": "sql", "uri": f"sqlite:///{path}"}
    elif kind == "glue" or (kind in ("rest", "hive") and uri):
        found.iceberg[name] = {**options, "type": kind, **({"uri": uri} if uri else {})}
    elif kind in ("rest", "hive"):
        found.left_out[name] = message("It has no uri.")
    else:
        found.left_out[name] = message("Snapscope does not know catalogs of the type {kind}.", kind=kind)


def _add_warehouse(found: SparkCatalogs, name: str, own: Mapping[str, str]) -> None:
    if place := own.get("warehouse", ""):
        options = {ours: own[theirs] for theirs, ours in _STORE.items() if own.get(theirs)}
        found.warehouses[name] = {"location": place, **_flagged(options)}
    else:
        found.left_out[name] = message("It has no warehouse.")


def _flagged(options: Mapping[str, str]) -> dict[str, str | bool]:
    return {key: is_true(value) if key in _FLAGS else value for key, value in options.items()}
