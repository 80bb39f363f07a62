"""Orphan files."""

from __future__ import annotations

from functools import partial

from core.model.actions import CleanOrphans
from core.procedures.definition import Argument, Definition, Given, Procedure, distinct
from core.procedures.units import SWITCH, TEXT, TIME

_DAY_MS = 86_400_000
_OLDER = Argument(
    "older_than_ms",
    TIME,
    "--older-than",
    "only files last written before this (default: a day ago; three days for Iceberg)",
    call="older_than",
)
_DRY = Argument("dry_run", SWITCH, call="dry_run")
_ALSO = "Paimon: also look in this partition directory, which no snapshot or tag mentions"


def _older_than(days: int, given: Given, branch: str, now_ms: int) -> CleanOrphans:
    older_ms = given["older_than"]
    return CleanOrphans(now_ms - days * _DAY_MS if older_ms is None else older_ms, branch)


CLEAN = Definition(
    CleanOrphans,
    "orphans",
    "Find orphan files; delete them with --delete.",
    (
        _OLDER,
        Argument("", SWITCH, "--delete", "delete what was found", is_always_shown=True),
        Argument("also", TEXT, "--also", _ALSO, metavar="DIR", example="dt=2020-01-01", gather=distinct),
    ),
    paimon=(
        Procedure(
            "remove_orphan_files",
            CleanOrphans,
            (_OLDER, _DRY),
            make_request=partial(_older_than, 1),
            without=("also",),
        ),
    ),
    iceberg=(
        Procedure(
            "remove_orphan_files", CleanOrphans, (_OLDER, _DRY), make_request=partial(_older_than, 3), without=("also",)
        ),
    ),
)
