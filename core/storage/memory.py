"""Whether a table's metadata fits into memory: estimated before it is decoded, so that no process is killed for it.

Invariants:
- What is available is the least of what the machine, each control group around this process and its own limits leave.
  An unknown limit is none.
- The estimate is of a table with typical names. A small one is never refused.
"""

from __future__ import annotations

import re
import resource
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from core.errors import DoesNotFit
from core.messages import message
from core.model.intervals import Ints
from core.units import size

SMALL = 256 << 20
"""Bytes that are always assumed to be there."""

_LEAST_PACKED = 16  # bytes of an entry in a manifest: a file's name contains a UUID, which no codec shortens
_GROUPS = Path("/sys/fs/cgroup")
_PROC = Path("/proc")


def require(claimed: Ints, sizes: Ints, bytes_each: int, location: str) -> None:
    """Raise DoesNotFit if the history of the entries of manifests, at that many bytes each, does not fit.

    `claimed` are the entries of each manifest by its list, which may be wrong, and `sizes` its bytes.
    """
    entries = int(possible(claimed, sizes).sum())
    needed = entries * bytes_each
    if needed <= SMALL or (left := available()) is None or needed <= left:
        return
    raise DoesNotFit(
        "The metadata has {entries:,} entries of files, which need about {needed} of memory; {left} is available.",
        entries=entries,
        needed=size(needed),
        left=size(left),
        path=location,
        remedy=message(
            "Plan with Spark on the command line: snapscope plan expire … --on-spark. Or use a machine with more "
            "memory, raise this process's memory limit, or expire snapshots and compact manifests with the table's own "
            "engine."
        ),
    )


def possible(claimed: Ints, sizes: Ints) -> Ints:
    """Entries of manifests, at most as many as fit into their sizes in bytes."""
    return np.minimum(claimed, sizes // _LEAST_PACKED)


def available() -> int | None:
    """The bytes of memory that this process can still use; None if nothing says."""
    return min((max(each, 0) for each in (*_machine(), *_groups(), *_own())), default=None)


def _machine() -> Iterator[int]:
    found = _numbers(_PROC / "meminfo")
    if "MemAvailable" in found:
        yield (found["MemAvailable"] + found.get("SwapFree", 0)) * 1024


def _groups() -> Iterator[int]:
    """What the limits of control groups leave, of this process's group and of those around it. Files that the system
    caches for a group count as used, but make way."""
    for line in _text(_PROC / "self" / "cgroup").splitlines():
        _, kinds, path = line.split(":", 2)
        if kinds not in ("", "memory"):
            continue
        root, limit, used, cached, kept = (
            (_GROUPS, "memory.max", "memory.current", "file", "shmem")
            if kinds == ""
            else (_GROUPS / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache", "total_shmem")
        )
        group = root / path.lstrip("/")
        for each in (group, *group.parents):
            most, now = _text(each / limit).strip(), _text(each / used).strip()
            if most.isdecimal() and now.isdecimal():
                stat = _numbers(each / "memory.stat")
                yield int(most) - int(now) + stat.get(cached, 0) - stat.get(kept, 0)
            if each == root:
                break


def _own() -> Iterator[int]:
    status = _numbers(_PROC / "self" / "status")
    for limit, used in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        most = resource.getrlimit(limit)[0]
        if most != resource.RLIM_INFINITY and used in status:
            yield most - status[used] * 1024


def _numbers(path: Path) -> dict[str, int]:
    return {name: int(number) for name, number in re.findall(r"^(\w+):?\s+(\d+)", _text(path), re.MULTILINE)}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, PermissionError, NotADirectoryError):  # another system, or no control groups
        return ""
