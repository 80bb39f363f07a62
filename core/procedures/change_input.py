"""Turn a user's input into an action, completed with what depends on the table or the current time. Pure.

Values are named after the command's options, as typed on the command line or given through the Python API.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.analysis.tag_target import TagTarget, tag_target
from core.errors import Invalid
from core.model.actions import Change
from core.model.references import Heads
from core.model.time_travel import parse_time_ms
from core.procedures.definition import Definition
from core.procedures.definitions import orphans
from core.units import iso


def read_change(
    action: Definition, given: Mapping[str, Any], heads: Heads, now_ms: int, clock_ms: int
) -> tuple[Change, TagTarget | None]:
    """The action; and for a tag created from a time or a watermark, which snapshot that is and why.

    `now_ms`: the moment at which ages are computed. `clock_ms`: the real time; orphans are old by the earlier of the
    two, so that no file of a running writer is taken for one.
    """
    target = None
    if action is orphans.CLEAN:
        age_ms = heads.capabilities.orphan_age_ms
        if parse_time_ms(given["older_than"] or iso(now_ms - age_ms)) > clock_ms:
            raise Invalid("The age limit for orphans must be in the past.", remedy="Give a time in the past.")
        given = {**given, "older_than": given["older_than"] or iso(min(now_ms, clock_ms) - age_ms)}
    time, watermark = given.get("time"), given.get("watermark")
    if time is not None or watermark is not None:
        time_ms = None if time is None else parse_time_ms(time)
        target = tag_target(heads, time_ms=time_ms, watermark=watermark, branch=given["branch"])
        given = {**given, "snapshot": str(target.snapshot.id)}
    return action.read(given), target
