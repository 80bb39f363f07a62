"""Options that decide which rows a table has and how they merge, where they have changed since a version, and options
that make the engine read another version than the newest. Pure.

Invariant: the engine reads the past with current options, Snapscope with the version's own; each difference is said.
"""

from __future__ import annotations

import re

from core.formats.paimon.options import resolved
from core.messages import message
from core.model.references import Heads, Schema

DECIDES = re.compile(  # options that affect the result of a merge
    r"merge-engine|sequence\.|fields\.|deletion-vectors\.enabled|deletion-vectors\.merge|changelog-producer$|"
    r"force-lookup|postpone\.merge-on-read|(.*\.)?ignore-delete|.*\.remove-record-on-"
)
_ELSEWHERE = re.compile(
    r"(scan\.(fallback|primary|fallback-snapshot|fallback-delta)-branch|chain-table\..*)"
)  # options that add rows of another branch
_POSITION = re.compile(
    r"scan\.(mode|snapshot-id|tag-name|version|watermark|timestamp(-millis)?|(file-)?creation-time-millis)|"
    r"incremental-(between(-timestamp)?|to-auto-tag)"
)
_NEWEST = ("default", "latest-full", "latest", "full")  # values of scan.mode


def differs(schema: Schema, heads: Heads, branch: str) -> tuple[str, ...]:
    """Sentences on options changed since: Paimon reads the past with current options, this with the version's own."""
    return tuple(
        message(
            (
                "Paimon itself reads this version with today's '{name}' ({today}); this answer uses the "
                "version's own ({own})"
            ),
            name=name,
            today=today,
            own=own,
        )
        for name, today, own in decided(schema, heads, branch)
    )


def elsewhere(heads: Heads, branch: str, snapshot_id: int) -> tuple[str, ...]:
    """Sentences on options by which Paimon reads another version where none is asked for; none of old snapshots."""
    line = heads.line(branch)
    if line is None or not line.snapshots or line.snapshots[-1].id != snapshot_id:
        return ()
    return tuple(
        message(
            "If no version is asked for, Paimon itself reads this table by its option '{name}' ({value}); this answer "
            "is the newest snapshot",
            name=name,
            value=value,
        )
        for name, value in sorted(resolved(line.options).items())
        if _POSITION.fullmatch(name) and not (name == "scan.mode" and value.lower() in _NEWEST)
    )


def decided(schema: Schema, heads: Heads, branch: str) -> list[tuple[str, str, str]]:
    """Options that affect which rows exist or how they merge, and that have changed since the version.

    Each as (name, current value, value then).
    """
    line = heads.line(branch)
    today, own = resolved(line.options if line is not None else {}), resolved(schema.options)
    names = sorted(
        name for name in {*today, *own} if _ELSEWHERE.fullmatch(name) or (schema.primary_keys and DECIDES.match(name))
    )
    return [
        (name, today.get(name, message("not set")), own.get(name, message("not set")))
        for name in names
        if today.get(name) != own.get(name)
    ]
