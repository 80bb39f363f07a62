"""Names of tags and branches that every reader can list, address and delete. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.errors import Invalid
from core.messages import Message, both, message
from core.units import nearest

MAX_BYTES = 200
_LISTED = 20  # names that an error lists
KINDS = {"tag": message("tag"), "branch": message("branch"), "consumer": message("consumer")}
_DAY = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(\d\d){0,2}", re.ASCII)  # of automatic tags
_RESERVED = {("branch", "main"), ("tag", "success-file")}


def tags_there(wanted: str, names: Sequence[str], prefix: str = "") -> str:
    """The tags there are and, if a name is similar, which one was probably meant."""
    return _there(wanted, names, message("Tags: {names}.", names=", ".join(names[:_LISTED]) or "none"), prefix)


def branches_there(wanted: str, names: Sequence[str]) -> str:
    """The branches there are and, if a name is similar, which one was probably meant."""
    return _there(wanted, names, message("Branches: {names}.", names=", ".join(names)), "")


def refs_there(wanted: str, names: Sequence[str]) -> str:
    """The same for Iceberg's refs, which are tags and branches."""
    return _there(wanted, names, message("Refs: {names}.", names=", ".join(names[:_LISTED]) or "none"), "")


def _there(wanted: str, names: Sequence[str], listed: Message, prefix: str) -> str:
    close = nearest(wanted, names)
    return both(message("Did you mean {name}?", name=f"{prefix}{close}"), listed) if close else listed


def refuse_name(kind: str, name: str, *, is_file: bool = True) -> None:
    """Raise `Invalid` for a tag, branch or consumer name that breaks listing, expiry, time travel or `CALL`.

    `is_file`: the name becomes the name of a file, as in Paimon. With a colon in it, Hadoop's `Path`, and with it every
    listing and every expiry of Paimon, fails.
    """
    if not name.strip():
        wrong = message("is blank")
    elif name != name.strip():
        wrong = message("starts or ends with a space")
    elif any(char in "/\\," or ord(char) < 32 or ord(char) == 127 for char in name):
        wrong = message("contains a slash, backslash, comma or control character")
    elif is_file and ":" in name:
        wrong = message("contains a colon, with which Paimon can neither list it nor expire snapshots")
    elif ".." in name or name.startswith("."):
        wrong = message("starts with a dot or contains two in a row")
    elif any("\ud800" <= char <= "\udfff" for char in name):
        wrong = message("is not UTF-8 text")
    elif len(name.encode()) > MAX_BYTES:
        wrong = message("is longer than {max_bytes} bytes", max_bytes=MAX_BYTES)
    elif name.isdecimal() and not (kind == "tag" and _DAY.fullmatch(name)):
        wrong = message("is a number, which would be read as a snapshot id")
    elif re.fullmatch(r"watermark-\d+", name):
        wrong = message("would be read as a watermark")
    elif (kind, name) in _RESERVED:
        wrong = message("is reserved")
    else:
        return
    raise Invalid(
        "The {kind} name {name!r} {wrong}.",
        kind=KINDS[kind],
        name=name,
        wrong=wrong,
        remedy="Choose another name made of letters, digits and dashes.",
    )
