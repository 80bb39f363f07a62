"""Options for reaching locations that do not come from the environment: those of the settings file, and a catalog's
settings and credentials.

Invariant: options stay in memory. They are in no location, message, journal or report, and a location has only those
of the nearest directory above it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core import settings_file
from core.credentials import Secret
from core.settings_file import NamedWarehouse
from core.units import is_true
from core.urls import plain

_known: dict[str, Mapping[str, Any]] = {}
_OPTIONS = {  # of the settings file, as fsspec's packages call them; Hadoop's have their own names
    "endpoint": "endpoint_url",
    "profile": "profile",
    "access-key": "key",
    "secret-key": "secret",
    "session-token": "token",
    "account": "account_name",
    "account-key": "account_key",
    "sas-token": "sas_token",
    "connection-string": "connection_string",
    "credentials-file": "token",
    "delegation": "token",
}
_OF_S3 = {
    "s3.access-key-id": "key",
    "s3.secret-access-key": "secret",
    "s3.session-token": "token",
    "s3.endpoint": "endpoint_url",
}


def learn(location: str, options: Mapping[str, Any]) -> None:
    """Use these options of fsspec for a directory and all below it; newer ones replace those before."""
    if options:
        _known[plain(location)] = options


def of(location: str) -> Mapping[str, Any]:
    """Return the options for a location: those of the nearest directory that has any."""
    named, path = settings_file.current().above(location), plain(location)
    while path:
        if (found := _known.get(path)) is not None:
            return found
        if named is not None and path == plain(named.location):
            return of_settings(named)
        path = path.rpartition("/")[0]
    return {}


def of_settings(named: NamedWarehouse) -> dict[str, Any]:
    """Return the options of a named warehouse as those of fsspec. Its secrets are read now."""
    protocol, found = named.location.partition("://")[0], dict[str, Any]()
    for key, value in named.options.items():
        match key:
            case "region":
                found["client_kwargs"] = {"region_name": value}
            case "path-style":
                found["config_kwargs"] = {"s3": {"addressing_style": "path" if value else "virtual"}}
            case "anonymous":
                found |= ({"token": "anon"} if protocol in ("gs", "gcs") else {"anon": True}) if value else {}
            case "endpoint" if protocol == "oss":
                found["endpoint"] = value
            case _:
                found[_OPTIONS.get(key, key)] = value.value() if isinstance(value, Secret) else value
    return found


def of_iceberg(location: str, properties: Mapping[str, str]) -> dict[str, Any]:
    """Return what a catalog's properties say about a store, as options of fsspec; empty for other stores than S3."""
    if not plain(location).startswith("s3://"):
        return {}
    found: dict[str, Any] = {ours: properties[name] for name, ours in _OF_S3.items() if properties.get(name)}
    if region := properties.get("s3.region") or properties.get("client.region"):
        found["client_kwargs"] = {"region_name": region}
    if is_true(properties.get("s3.path-style-access")):
        found["config_kwargs"] = {"s3": {"addressing_style": "path"}}
    return found
