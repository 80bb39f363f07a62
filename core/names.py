"""Names of tags and branches that every reader can list, address and delete again. Pure."""

from __future__ import annotations

import re

from core.errors import Invalid

MAX_BYTES = 200
_DAY = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(\d\d){0,2}", re.ASCII)  # of automatic tags
_RESERVED = {("branch", "main"), ("tag", "success-file")}


def refuse_name(kind: str, name: str) -> None:
    """`Invalid` for a tag or branch name that listing, expiry, time travel or `CALL` would trip over."""
    if not name.strip():
        wrong = "is blank"
    elif name != name.strip():
        wrong = "has outer spaces"
    elif any(char in "/\\," or ord(char) < 32 or ord(char) == 127 for char in name):
        wrong = "has a slash, backslash, comma or control character"
    elif ".." in name or name.startswith("."):
        wrong = "starts with a dot or holds two in a row"
    elif len(name.encode()) > MAX_BYTES:
        wrong = f"is longer than {MAX_BYTES} bytes"
    elif name.isdecimal() and not (kind == "tag" and _DAY.fullmatch(name)):
        wrong = "is a number, which reads as a snapshot id"
    elif re.fullmatch(r"watermark-\d+", name):
        wrong = "reads as a watermark to travel to"
    elif (kind, name) in _RESERVED:
        wrong = "is reserved"
    else:
        return
    raise Invalid(f"The {kind} name {name!r} {wrong}.", remedy="Choose another name, of letters, digits and dashes.")
