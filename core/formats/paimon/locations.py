"""Names in Paimon catalogs, `paimon://CATALOG/DATABASE/TABLE`, and locations. Loads no library."""

from __future__ import annotations

import os
from urllib.parse import quote, unquote

from core import urls
from core.errors import Invalid
from core.messages import message
from core.settings_file import OF_CATALOGS
from core.storage.store import Store

SCHEME = OF_CATALOGS


def is_name(location: str) -> bool:
    """Return whether this is the name of a catalog, of a database in it, or of a table."""
    return location.startswith(SCHEME)


def url(catalog: str, *names: str) -> str:
    """Return the name of a catalog, of a database, or of a table."""
    return SCHEME + "/".join([catalog, *(quote(each, safe="") for each in names)])


def parts(location: str) -> tuple[str, str, str]:
    """Split a name into catalog, database and table; "" for missing parts. Raises `Invalid`."""
    words = location.removeprefix(SCHEME).rstrip("/").split("/")
    if len(words) > 3 or not all(words[1:]):
        raise Invalid(
            "{location!r} does not name a table in a catalog.",
            location=location,
            remedy=message("Write {scheme}CATALOG/DATABASE/TABLE.", scheme=SCHEME),
        )
    catalog, database, name = (*words, "", "")[:3]
    return catalog, unquote(database), unquote(name)


def is_at(store: Store, location: str | None) -> bool:
    """Return whether a location in a catalog may be that of a table."""
    if not location:
        return False
    if store.is_local:
        path = urls.local_path(location)
        return path is not None and os.path.realpath(path) == store.root
    return urls.may_be_below(urls.spelled(location), store.location, is_root=True)
