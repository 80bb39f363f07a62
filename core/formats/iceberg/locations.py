"""Locations that only Iceberg understands: a name in a catalog, or one metadata file. Loads no library."""

from __future__ import annotations

import re

SCHEME = "iceberg://"

_METADATA = re.compile(r".*\.metadata\.json(\.gz)?")


def claims(location: str) -> bool:
    """Return whether only Iceberg understands the location."""
    return is_name(location) or is_metadata(location.rstrip("/").rpartition("/")[2])


def is_name(location: str) -> bool:
    """Return whether this is the name of a catalog, of a namespace in it, or of a table."""
    return location.startswith(SCHEME)


def is_metadata(name: str) -> bool:
    """Return whether this is the name of a metadata file."""
    return _METADATA.fullmatch(name) is not None
