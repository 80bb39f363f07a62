"""How to reach locations that something else than the environment tells about: a catalog's settings and credentials.

Invariant: options stay in memory. They are in no location, message, journal or report, and a location has only those
of the nearest directory above it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_known: dict[str, Mapping[str, Any]] = {}
_OF_S3 = {
    "s3.access-key-id": "key",
    "s3.secret-access-key": "secret",
    "s3.session-token": "token",
    "s3.endpoint": "endpoint_url",
}


def learn(location: str, options: Mapping[str, Any]) -> None:
    """Use these options of fsspec for a directory and all below it; newer ones replace those before."""
    if options:
        _known[_plain(location)] = options


def of(location: str) -> Mapping[str, Any]:
    """Return the options for a location: those of the nearest directory that has any."""
    path = _plain(location)
    while path:
        if (found := _known.get(path)) is not None:
            return found
        path = path.rpartition("/")[0]
    return {}


def of_iceberg(location: str, properties: Mapping[str, str]) -> dict[str, Any]:
    """Return what a catalog's properties say about a store, as options of fsspec; empty for other stores than S3."""
    if not _plain(location).startswith("s3://"):
        return {}
    found: dict[str, Any] = {ours: properties[name] for name, ours in _OF_S3.items() if properties.get(name)}
    if region := properties.get("s3.region"):
        found["client_kwargs"] = {"region_name": region}
    return found


def _plain(location: str) -> str:
    protocol, separator, path = location.partition("://")
    is_s3 = protocol in ("s3a", "s3n")
    return f"{'s3' if is_s3 else protocol}{separator}{path}".rstrip("/")
