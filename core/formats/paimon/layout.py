"""Where Paimon keeps what: names and paths relative to the table's root. Pure text, no I/O.

Law: a path is derived from a manifest's stored bytes, never a value from a path (null, blank and legacy dates share
directories). Source: the format's directory layout, partition escaping and file naming rules.
"""

from __future__ import annotations

import datetime as dt
import decimal
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.errors import Corrupt
from core.formats.paimon.binary_row import Single
from core.model import MAIN

SNAPSHOT, CHANGELOG, TAG, SCHEMA, CONSUMER = "snapshot", "changelog", "tag", "schema", "consumer"
MANIFEST, INDEX, STATISTICS, BRANCH = "manifest", "index", "statistics", "branch"
EARLIEST, LATEST = "EARLIEST", "LATEST"
SUCCESS_FILES = "tag-success-file"  # a directory in `tag/` that is no tag
POSTPONE_BUCKET = -2
DEFAULT_PARTITION = "__DEFAULT_PARTITION__"

NO_FILE_NAME = r"[/\\\x00]|^\.{0,2}$"
"""Matches what is no bare file name; the same rule as `plain_name`."""

_NO_BLANKS = frozenset("\x85\xa0\u2007\u202f")  # white space in Python and not in Java
_ESCAPED = frozenset(chr(code) for code in range(0x20)) | {"\x7f"} | frozenset("\"#%'*/:=?\\{}[]^")
_COMPACTED_CHANGELOG = re.compile(r"(compacted-changelog-.*\$(\d+)-\d+)(?:-\d+-\d+)?(\.cc-.+)")


def branch_dir(branch: str) -> str:
    """The directory of a branch's own metadata, with a trailing slash; empty for main."""
    return "" if branch == MAIN else f"{BRANCH}/{BRANCH}-{branch}/"


def reference(branch: str, kind: str, name: object) -> str:
    """The path of a snapshot, tag, changelog, schema or consumer file."""
    return f"{branch_dir(branch)}{kind}/{kind}-{name}"


def hint(branch: str, name: str, kind: str = SNAPSHOT) -> str:
    """The path of an EARLIEST or LATEST hint."""
    return f"{branch_dir(branch)}{kind}/{name}"


def plain_name(name: str, path: str) -> str:
    """`name` if it is a bare file name; `Corrupt` where a metadata file tries to name something elsewhere."""
    if not is_text(name) or not name or "/" in name or "\\" in name or "\0" in name or name in (".", ".."):
        raise Corrupt(
            f"A file name was expected, found {name!r}, which points elsewhere.",
            path=path,
            remedy="The file was not written by Paimon; restore it from a good copy.",
        )
    return name


def is_text(name: str) -> bool:
    """Can the name be written as UTF-8? Bytes in a file name that are no text come as lone surrogates."""
    return not any("\ud800" <= char <= "\udfff" for char in name)


def bucket_dir(bucket: int) -> str:
    return "bucket-postpone" if bucket == POSTPONE_BUCKET else f"bucket-{bucket}"


def escape(text: str) -> str:
    """A partition key or value as it stands in a directory name."""
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in text)


def partition_path(
    keys: Sequence[str], values: Sequence[Any], *, default_name: str = DEFAULT_PARTITION, legacy: bool = True
) -> str:
    """`k1=v1/k2=v2`, empty for an unpartitioned table; values as decoded from a BinaryRow."""
    return "/".join(
        f"{escape(key)}={escape(partition_text(value, default_name=default_name, legacy=legacy))}"
        for key, value in zip(keys, values, strict=True)
    )


def partition_text(value: Any, *, default_name: str = DEFAULT_PARTITION, legacy: bool = True) -> str:
    """The text of one partition value; null and blank text become the default name."""
    if value is None:
        return default_name
    text = _legacy_text(value) if legacy else _sql_text(value)
    return text if text.strip() or _NO_BLANKS.intersection(text) else default_name


def _legacy_text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case dt.datetime():
            text = value.replace(tzinfo=None).isoformat("T", "minutes")
            if value.second or value.microsecond:
                text += f":{value.second:02d}" + _fraction(value.microsecond)
            return text
        case dt.date():
            return str((value - dt.date(1970, 1, 1)).days)
        case dt.time():
            return str(((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000)
        case decimal.Decimal():
            return format(value, "f")
        case float():
            return _java_double(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case _:
            return str(value)


def _sql_text(value: Any) -> str:
    match value:
        case dt.datetime():
            return value.replace(tzinfo=None).isoformat(" ", "seconds") + _fraction(value.microsecond)
        case dt.date():
            return value.isoformat()
        case dt.time():
            return value.strftime("%H:%M:%S") + _fraction(value.microsecond)
        case _:
            return _legacy_text(value)


def _fraction(microsecond: int) -> str:
    """Java prints fractions in groups of three digits."""
    if not microsecond:
        return ""
    return f".{microsecond // 1000:03d}" if microsecond % 1000 == 0 else f".{microsecond:06d}"


def _java_double(value: float) -> str:
    """`Double.toString` and `Float.toString`: plain from 1e-3 to 1e7, otherwise one digit, a fraction, an exponent."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    shortest = str(np.float32(value)) if isinstance(value, Single) else repr(value)
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        plain = format(decimal.Decimal(shortest), "f")
        return plain if "." in plain else f"{plain}.0"
    sign, digits, _ = decimal.Decimal(shortest).as_tuple()
    exponent = decimal.Decimal(shortest).adjusted()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{exponent}"


def physical_changelog(name: str, bucket: int) -> tuple[str, int]:
    """The real file behind a changelog entry: compacted changelogs are windows into one file of another bucket."""
    match = _COMPACTED_CHANGELOG.fullmatch(name)
    return (match[1] + match[3], int(match[2])) if match else (name, bucket)


def file_format(name: str) -> str:
    """The format of a data file: the text after its last dot, or before a compression suffix."""
    parts = name.rsplit(".", 2)
    if parts[-1] in ("gz", "zst", "snappy", "lz4", "bz2") and len(parts) == 3:
        return parts[1]
    return parts[-1] if len(parts) > 1 else ""
