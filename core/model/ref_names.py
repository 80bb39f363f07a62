"""Names of tags and branches that every reader can list, address and delete. Pure."""

from __future__ import annotations

import re

from core.errors import Invalid
from core.messages import told

MAX_BYTES = 200
KINDS = {"tag": told("tag"), "branch": told("branch"), "consumer": told("consumer")}
_DAY = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(\d\d){0,2}", re.ASCII)  # of automatic tags
_RESERVED = {("branch", "main"), ("tag", "success-file")}


def refuse_name(kind: str, name: str) -> None:
    """Raise `Invalid` for a tag, branch or consumer name that breaks listing, expiry, time travel or `CALL`."""
    if not name.strip():
        wrong = told("is blank")
    elif name != name.strip():
        wrong = told("starts or ends with a space")
    elif any(char in "/\\," or ord(char) < 32 or ord(char) == 127 for char in name):
        wrong = told("contains a slash, backslash, comma or control character")
    elif ".." in name or name.startswith("."):
        wrong = told("starts with a dot or contains two in a row")
    elif len(name.encode()) > MAX_BYTES:
        wrong = told("is longer than {max_bytes} bytes", max_bytes=MAX_BYTES)
    elif name.isdecimal() and not (kind == "tag" and _DAY.fullmatch(name)):
        wrong = told("is a number, which would be read as a snapshot id")
    elif re.fullmatch(r"watermark-\d+", name):
        wrong = told("would be read as a watermark")
    elif (kind, name) in _RESERVED:
        wrong = told("is reserved")
    else:
        return
    raise Invalid(
        "The {kind} name {name!r} {wrong}.",
        kind=KINDS[kind],
        name=name,
        wrong=wrong,
        remedy="Choose another name made of letters, digits and dashes.",
    )
