"""Differences between Paimon's own deletion and a plan, as reasons. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.formats.paimon.plan.engine_deletion import Native
from core.messages import Reason, counted
from core.model import codes


def _by_numbers(counted: tuple[str, object]) -> list[str | int]:
    """Sort key that places snapshot 9 before snapshot 10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", counted[0])]


def broken(holders: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the paths each version would lose, in order; `holders` maps a path to the versions holding it."""
    lost: dict[str, list[str]] = {}
    for path, points in sorted(holders.items()):
        for point in points:
            lost.setdefault(point, []).append(path)
    return dict(sorted(lost.items(), key=_by_numbers))


def differences(native: Native, frees: set[str], holders: Mapping[str, Sequence[str]]) -> tuple[Reason, ...]:
    """Return what the engine would delete beyond our plan, and what it would leave behind.

    `frees` are our plan's paths; `holders` maps what the engine deletes beyond them to the versions that still hold
    it.
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
