"""Credentials that a Paimon REST catalog lends for the files of a table (`data-token.enabled`).

The server answers with options of Paimon's file systems, which replace those of the catalog. Of them, those that reach
a store are used: its address and the credentials. S3 clients ask for new ones before they expire; a table on OSS is
read with those of its opening.
Source: `RESTTokenFileIO`, `S3FileIO`, `OSSFileIO` of Paimon 1.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core import settings_file
from core.credentials import conceal
from core.errors import Unsupported
from core.formats.paimon.catalogs import rest
from core.messages import message
from core.settings_file import NamedCatalog
from core.storage import lent_credentials, location_options
from core.storage.lent_credentials import Lent
from core.units import is_true
from core.urls import plain

_OF_S3 = ("fs.s3a.", "s3a.", "s3.")
_OF_OSS = ("fs.oss.",)
_NAMES = {  # as Paimon calls them without a prefix, and as fsspec's packages do
    "access.key": "key",
    "secret.key": "secret",
    "session.token": "token",
    "accessKeyId": "key",
    "accessKeySecret": "secret",
    "securityToken": "token",
}
_WHO = ("key", "secret", "token", "anon", "profile")


def use(catalog: NamedCatalog, client: rest.Client, database: str, name: str, path: str) -> None:
    """Read a table's files with lent credentials, if its server lends them. Nothing is lent for local files."""
    protocol, separator, _ = plain(path).partition("://")
    if not client.lends or not separator or protocol == "file":
        return
    found = _options(catalog, client, database, name, path)
    if protocol == "s3":
        later = lambda: _options(catalog, rest.Client(catalog), database, name, path)  # noqa: E731
        location_options.learn(path, lent_credentials.renewed(found, later))
    else:
        for each in ("secret", "token"):
            conceal(str(found[0].get(each) or ""))
        location_options.learn(path, found[0])


def _options(catalog: NamedCatalog, client: rest.Client, database: str, name: str, path: str) -> Lent:
    token, until_ms = client.token(database, name)
    known = settings_file.current().above(path)
    base = {} if known is None else location_options.of_settings(known)
    options = of_file_system(path, {**client.options, **token})
    if not options.get("key") or not options.get("secret"):
        raise Unsupported(
            "The catalog {name} lends credentials for {location} in a form that Snapscope does not know.",
            name=catalog.name,
            location=path,
            path=path,
            remedy=message("Write data-token-enabled = false for this catalog, and give the store's own credentials."),
        )
    return {**{key: each for key, each in base.items() if key not in _WHO}, **options}, until_ms


def of_file_system(location: str, options: Mapping[str, str]) -> dict[str, Any]:
    """Return what Paimon's options say about a store, as options of fsspec."""
    protocol, found = plain(location).partition("://")[0], dict[str, Any]()
    prefixes = {"s3": _OF_S3, "oss": _OF_OSS}.get(protocol, ())
    for key, value in options.items():
        prefix = next((each for each in prefixes if key.startswith(each)), None)
        if prefix is None:
            continue
        name = key.removeprefix(prefix)
        name = name.replace("-", ".") if protocol == "s3" else name
        if name in _NAMES:
            found[_NAMES[name]] = value
        elif name == "endpoint":
            found["endpoint_url" if protocol == "s3" else name] = value if "://" in value else f"https://{value}"
        elif name in ("region", "endpoint.region") and protocol == "s3":
            found["client_kwargs"] = {"region_name": value}
        elif name == "path.style.access" and is_true(value):
            found["config_kwargs"] = {"s3": {"addressing_style": "path"}}
    return found
