"""Creating, replacing, renaming and deleting tags."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Any

from core.model.actions import CreateTag, DeleteTags, RenameTag, ReplaceTag
from core.procedures.definition import Argument, Definition, Procedure, distinct
from core.procedures.requests import AutoTag, ExpireTags, TagFrom
from core.procedures.units import DURATION, ID, NAMES, NUMBER, SWITCH, TEXT, TIME, quoted


def _each(texts: Iterable[str]) -> tuple[Any, ...]:
    """Split names given one by one, or separated by commas; what `_whole` wrote is one name again."""
    parts = (_trimmed(part) for text in texts for part in re.findall(r"(?:\\.|[^,])+", text, re.DOTALL))
    return distinct(re.sub(r"\\([\\,\s])", r"\1", part) for part in parts if part)


def _trimmed(text: str) -> str:
    text = text.lstrip()
    found = text.rstrip()
    backslashes = len(found) - len(found.rstrip("\\"))
    return text[: len(found) + backslashes % 2]  # an escaped space is part of the name


def _whole(name: str) -> str:
    """Write a name so that its commas and outer spaces stay in it."""
    return re.sub(r"[\\,]|^\s+|\s+\Z", lambda found: "".join(f"\\{each}" for each in found[0]), name)


_SOURCE = "source"
_NAME = Argument(
    "name",
    TEXT,
    "--name",
    "the tag",
    metavar="NAME",
    is_needed=True,
    call="tag",
    also=("tag_name", "tagName", "name"),
    is_also_option=True,
)
_SNAPSHOT = Argument(
    "snapshot_id",
    ID,
    "--snapshot",
    "the snapshot to tag (default: latest)",
    group=_SOURCE,
    call="snapshot",
    also=("snapshot_id",),
    is_also_option=True,
)
_KEPT = Argument(
    "retained_ms",
    DURATION,
    "--time-retained",
    "the engine deletes the tag after this",
    call="time_retained",
    also=("timeRetained",),
    is_also_option=True,
)
_TIME = Argument("time_ms", TIME, "--time", "tag the first snapshot committed at or after this", group=_SOURCE)
_WATERMARK = Argument(
    "watermark",
    NUMBER,
    "--watermark",
    "tag the first snapshot whose watermark is at least this",
    metavar="NUMBER",
    example="1793520000000",
    group=_SOURCE,
)
_TO = Argument(
    "to",
    TEXT,
    "--to",
    "the tag's new name",
    metavar="NAME",
    is_needed=True,
    call="target_tag",
    also=("target_tag_name", "targetTagName"),
    is_also_option=True,
)
_NAMES = dataclasses.replace(
    _NAME,
    name="names",
    unit=dataclasses.replace(NAMES, word=_whole),
    help="the tag; write a comma that is part of its name as \\,",
    metavar="NAME[,NAME…]",
    example="v1,v2",
    gather=_each,
)
_FROM = Argument("time_ms", NUMBER, is_needed=True, call="timestamp")
_FROM_WATERMARK = Argument("watermark", NUMBER, is_needed=True, call="watermark")


def _alter(verb: str, change: CreateTag | ReplaceTag, title: str) -> str | None:
    at = "" if change.snapshot_id is None else f" AS OF VERSION {change.snapshot_id}"
    if change.retained_ms is None:
        kept = ""
    elif change.retained_ms % 60_000:
        return None  # the statement counts in minutes
    else:
        kept = f" RETAIN {change.retained_ms // 60_000} MINUTES"
    return f"ALTER TABLE {title} {verb} TAG {quoted(change.name)}{at}{kept}"


DELETE = Definition(
    DeleteTags,
    "delete-tag",
    "Delete tags and the files only they keep.",
    (_NAMES,),
    paimon=(Procedure("delete_tag", DeleteTags, (_NAMES,)),),
    statement=lambda change, title: ";\n".join(f"ALTER TABLE {title} DROP TAG {quoted(each)}" for each in change.names),
)
CREATE = Definition(
    CreateTag,
    "create-tag",
    "Tag a snapshot, so that no expiry removes its files.",
    (
        _NAME,
        _SNAPSHOT,
        _TIME,
        _WATERMARK,
        _KEPT,
        Argument("verified", SWITCH, "--verify", "delete the tag again if a file of its snapshot is missing"),
    ),
    paimon=(Procedure("create_tag", CreateTag, (_NAME, _SNAPSHOT, _KEPT), without=("verified",)),),
    statement=lambda change, title: _alter("CREATE", change, title),
)
REPLACE = Definition(
    ReplaceTag,
    "replace-tag",
    "Move a tag to another snapshot.",
    (_NAME, _SNAPSHOT, _TIME, _WATERMARK, _KEPT),
    paimon=(Procedure("replace_tag", ReplaceTag, (_NAME, _SNAPSHOT, _KEPT)),),
    statement=lambda change, title: _alter("REPLACE", change, title),
)
RENAME = Definition(
    RenameTag,
    "rename-tag",
    "Rename a tag.",
    (_NAME, _TO),
    paimon=(Procedure("rename_tag", RenameTag, (_NAME, _TO)),),
)
REQUESTS = (
    Procedure("create_tag_from_timestamp", TagFrom, (_NAME, _FROM, _KEPT)),
    Procedure("create_tag_from_watermark", TagFrom, (_NAME, _FROM_WATERMARK, _KEPT)),
    Procedure("expire_tags", ExpireTags, (Argument("older_than_ms", TIME, call="older_than"),)),
    Procedure("trigger_tag_automatic_creation", AutoTag),
)
