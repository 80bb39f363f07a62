"""Where Paimon's own deletion differs from a plan, as reasons. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.formats.paimon.plan.engine_deletion import Native
from core.messages import Reason, counted
from core.model import codes


def _by_numbers(counted: tuple[str, object]) -> list[str | int]:
    """Snapshot 9 before snapshot 10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", counted[0])]


def broken(holders: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Per point the paths it would lose, `holders` being the points that still hold a path; points in their order."""
    lost: dict[str, list[str]] = {}
    for path, points in sorted(holders.items()):
        for point in points:
            lost.setdefault(point, []).append(path)
    return dict(sorted(lost.items(), key=_by_numbers))


def differences(native: Native, frees: set[str], holders: Mapping[str, Sequence[str]]) -> tuple[Reason, ...]:
    """What the engine would take beyond our plan and what it would strand.

    `frees` is our plan's paths, `holders` the points that still hold afterwards what the engine takes beyond them.
    """
    found: list[Reason] = []
    if native.failure:
        found.append(codes.ENGINE_FAILS(why=native.failure))
    for point, paths in broken(holders).items():
        files = counted(len(paths), "{count} file", "{count} files")
        found.append(codes.ENGINE_BREAKS(point=point, files=files))
    if stranded := len(frees - native.paths):
        files = counted(stranded, "{count} file", "{count} files")
        found.append(codes.ENGINE_STRANDS(files=files))
    return tuple(found)
