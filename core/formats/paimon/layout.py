"""Paimon's directory layout: names and paths relative to the table's root. Pure text, no I/O.

Invariant: a path is derived from a manifest's stored bytes, never a value from a path (null, blank and legacy dates
share directories). Source: the format's directory layout, partition escaping and file naming rules.
"""

from __future__ import annotations

import re

from core import urls
from core.errors import Corrupt
from core.model.references import MAIN

SNAPSHOT, CHANGELOG, TAG, SCHEMA, CONSUMER = "snapshot", "changelog", "tag", "schema", "consumer"
MANIFEST, INDEX, STATISTICS, BRANCH = "manifest", "index", "statistics", "branch"
OF_MANIFESTS = tuple(f"{kind}-{digit}" for kind in ("manifest", "manifest-list") for digit in "048c")
"""Where names in the directory of manifests, which are UUIDs, split into parts of about the same size, in order."""
OF_NUMBERS = {kind: tuple(f"{kind}-{digit}" for digit in "357") for kind in (SNAPSHOT, CHANGELOG)}
"""The same for directories of numbered files, of which there may be many, by kind."""
EARLIEST, LATEST = "EARLIEST", "LATEST"
SUCCESS_FILES = "tag-success-file"  # a directory in `tag/` that is not a tag
POSTPONE_BUCKET = -2
STAGING = ".snapscope-staging-"  # prefix of directories in which our Spark jobs leave files until they are committed

OWN = frozenset({SNAPSHOT, TAG, CHANGELOG, SCHEMA, CONSUMER, BRANCH})
"""Directories of references: a run never deletes objects in them."""
OF_TABLES = frozenset({SCHEMA, "metadata"})
"""A directory that contains one of these is a Paimon or Iceberg table of its own."""
BUCKET = re.compile(r"bucket-(?:postpone|-?\d+)")
_PLACE = re.compile(
    rf"({MANIFEST}|{INDEX}|{STATISTICS})/[^/]+"
    rf"|(?:(?:[^/:]+/)*{BUCKET.pattern}|{re.escape(STAGING)}[^/:]+(?:/[^/:]+)*)/[^/]+"
)

NO_FILE_NAME = r"[/\\\x00]|^\.{0,2}$"
"""Matches anything but a plain file name; the same rule as `plain_name`."""

_ESCAPED = frozenset(chr(code) for code in range(0x20)) | {"\x7f"} | frozenset("\"#%'*/:=?\\{}[]^")
_COMPACTED_CHANGELOG = re.compile(r"(compacted-changelog-.*\$(\d+)-\d+)(?:-\d+-\d+)?(\.cc-.+)")


def is_place(path: str) -> bool:
    """Return whether tables keep files at this path. Damaged or hostile metadata may name any path."""
    return _PLACE.fullmatch(path) is not None and path.split("/", 1)[0] not in OWN and not urls.climbs(path)


def branch_dir(branch: str) -> str:
    """Return the directory of a branch's own metadata, with a trailing slash; empty for main."""
    return "" if branch == MAIN else f"{BRANCH}/{BRANCH}-{branch}/"


def reference(branch: str, kind: str, name: object) -> str:
    """Return the path of a snapshot, tag, changelog, schema or consumer file."""
    return f"{branch_dir(branch)}{kind}/{kind}-{name}"


def hint(branch: str, name: str, kind: str = SNAPSHOT) -> str:
    """Return the path of an EARLIEST or LATEST hint."""
    return f"{branch_dir(branch)}{kind}/{name}"


def plain_name(name: str, path: str) -> str:
    """Return `name` if it is a plain file name. Raises `Corrupt` if a metadata file names something elsewhere."""
    if not urls.is_text(name) or not name or "/" in name or "\\" in name or "\0" in name or name in (".", ".."):
        raise Corrupt(
            "Expected a file name; found {name!r}, which points elsewhere.",
            name=name,
            path=path,
            remedy="Paimon did not write this file; restore it from a good copy.",
        )
    return name


def bucket_dir(bucket: int) -> str:
    return "bucket-postpone" if bucket == POSTPONE_BUCKET else f"bucket-{bucket}"


def escape(text: str) -> str:
    """Escape a partition key or value as in a directory name."""
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in text)


def unescape(name: str) -> str | None:
    """Return the key or value behind a directory name; None if the engine never produces this name."""
    text = re.sub("%([0-9A-F]{2})", lambda code: chr(int(code[1], 16)), name)
    return text if escape(text) == name else None


def physical_changelog(name: str, bucket: int) -> tuple[str, int]:
    """Return the physical file and bucket of a changelog entry; compacted ones are ranges of another bucket's file."""
    match = _COMPACTED_CHANGELOG.fullmatch(name)
    return (match[1] + match[3], int(match[2])) if match else (name, bucket)


def file_format(name: str) -> str:
    """Return the format of a data file: the text after its last dot, or before a compression suffix."""
    parts = name.rsplit(".", 2)
    if parts[-1] in ("gz", "zst", "snappy", "lz4", "bz2") and len(parts) == 3:
        return parts[1]
    return parts[-1] if len(parts) > 1 else ""
