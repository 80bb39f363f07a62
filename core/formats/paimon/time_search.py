"""Find the snapshot of a time on a remote store by reading few of them.

Invariant: the answer is what Paimon's own search finds, and, if commit times increase with ids, what `time_travel`
finds in all snapshots. Where anything that was read contradicts that (equal or decreasing times, a missing id, a file
that cannot be read), or no snapshot is old enough, there is no answer here, and all snapshots are read.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Sequence
from itertools import pairwise

from core.errors import SnapscopeError
from core.formats.paimon import layout
from core.formats.paimon.read.branches import branches_of
from core.formats.paimon.read.hints import number
from core.formats.paimon.read.lagging_reads import Patience
from core.formats.paimon.references import schema_of, snapshot_of
from core.formats.paimon.time_travel import searched
from core.messages import message
from core.model.references import MAIN, Snapshot
from core.model.time_travel import AsOf, in_words
from core.storage import kept_contents, presence
from core.storage.size_limits import HINT
from core.storage.store import Store

FEWEST = 512  # of fewer snapshots, all are read: that is as quick
AT_ONCE = 64  # snapshots read in parallel in one round
AROUND = 8  # snapshots read on both sides of the answer: clocks mostly differ by little
_ID = re.compile(rf"{layout.SNAPSHOT}-([1-9]\d{{0,18}}|0)")


def find(store: Store, branch: str, time_ms: int) -> AsOf | None:
    """Return the snapshot of a time with its neighbours; None if all snapshots must be read."""
    try:
        reading = _Reading(store, branch)
        return _answer(reading, time_ms) if reading.is_worthwhile() else None
    except SnapscopeError:  # the full read finds it again, and says what is wrong
        return None


def has_snapshot(store: Store, id: int) -> bool:
    """Return whether a snapshot of any branch has this id. None is read: a file of that name is one."""
    branches = (MAIN, *branches_of(Patience(store, time.monotonic())))
    found = presence.sizes(store, [layout.reference(each, layout.SNAPSHOT, id) for each in branches])
    return any(size is not None for size in found.values())


class _Reading:
    """The listed ids of a branch, ascending, and those snapshots that were read."""

    def __init__(self, store: Store, branch: str) -> None:
        self.store, self.branch = store, branch
        self.directory = f"{layout.branch_dir(branch)}{layout.SNAPSHOT}"
        self.patience = Patience(store, time.monotonic(), keeps=True)
        latest = store.read_many([layout.hint(branch, layout.LATEST)], HINT)  # may be newer than the listing
        names = [each.name for each in self.patience.entries(self.directory) or () if not each.is_dir]
        self.ids = sorted(int(match[1]) for match in map(_ID.fullmatch, names) if match)
        self.hinted = max((int(text) for text in map(number, latest.values()) if text is not None), default=0)
        self.found = dict[int, Snapshot]()

    def is_worthwhile(self) -> bool:
        """Whether the ids have no gap, and many of them would have to be read from the store."""
        if len(self.ids) < FEWEST or self.ids[-1] - self.ids[0] != len(self.ids) - 1 or self.hinted > self.ids[-1]:
            return False
        marks = {self.store.url(path): md5 for path, md5 in self.patience.checksums.items()}
        return len(self.ids) - len(kept_contents.find(marks)) >= FEWEST

    def read(self, positions: Collection[int]) -> None:
        """Read the snapshots at these positions; raise the error of one that cannot be read."""
        wanted = {self.ids[each] for each in positions if 0 <= each < len(self.ids)}.difference(self.found)
        paths = {f"{self.directory}/{layout.SNAPSHOT}-{each}": each for each in sorted(wanted)}
        for path, content in self.patience.contents(list(paths)).items():
            if isinstance(content, SnapscopeError):
                raise content
            self.found[paths[path]] = snapshot_of(str(paths[path]), content, path)

    def at(self, position: int) -> Snapshot:
        return self.found[self.ids[position]]


def _answer(reading: _Reading, time_ms: int) -> AsOf | None:
    last = len(reading.ids) - 1
    reading.read([0, last])
    if reading.at(0).time_ms > time_ms:
        return None
    low, high = (last, last + 1) if reading.at(last).time_ms <= time_ms else (0, last)
    while high - low > 1:
        step = max(1, (high - low) // AT_ONCE)
        reading.read(range(low, high, step))
        low = max(each for each in range(low, high, step) if reading.at(each).time_ms <= time_ms)
        high = min(low + step, high)
    reading.read(range(low - AROUND, low + AROUND + 1))
    reading.read(_probes(low, last))
    times = [reading.found[each].time_ms for each in sorted(reading.found)]
    if any(after <= before for before, after in pairwise(times)):
        return None
    found = reading.at(low)
    engine, _ = searched(reading.found, reading.ids[0], reading.ids[-1], time_ms)
    if engine != found.id:
        return None
    path = layout.reference(reading.branch, layout.SCHEMA, found.schema_id)
    schema = schema_of(str(found.schema_id), reading.store.read(path), path)
    rule = message(
        "The last of the {count} retained snapshots committed at or before {asked}: {id}, committed {at}. It was found "
        "as Paimon finds it, which takes commit times to increase with ids; {read} of {all} snapshots were read.",
        count=f"{low + 1:,}",
        asked=in_words(time_ms),
        id=found.id,
        at=in_words(found.time_ms),
        read=f"{len(reading.found):,}",
        all=f"{len(reading.ids):,}",
    )
    return AsOf(
        point=str(found.id) if reading.branch == MAIN else f"branch:{reading.branch}/{found.id}",
        branch=reading.branch,
        snapshot=found,
        rule=rule,
        before=reading.at(low - 1) if low else None,
        after=reading.at(low + 1) if low < last else None,
        gap_ms=time_ms - found.time_ms,
        engine=engine,
        engine_note=None,
        schema=schema,
    )


def _probes(answer: int, last: int) -> Sequence[int]:
    """Return the positions that Paimon's search reads if it ends at this answer."""
    low, high, found = 0, last, []
    while low <= high:
        middle = low + (high - low) // 2
        found.append(middle)
        low, high = (middle + 1, high) if middle <= answer else (low, middle - 1)
    return found
