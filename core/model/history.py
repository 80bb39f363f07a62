"""A table's whole history as columns: which objects each holder keeps, and which files are live at each point.

Law: H(x), the set of holders of an object, is exactly the positions in its intervals. Positions are holders in a fixed
order. What could not be read is told per position in `incomplete`; nothing here guesses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt, NotFound
from core.model.intervals import Intervals, Ints, Mask, Shapes, shapes
from core.model.references import Heads, Holder, HolderKind, Problem


@dataclass(frozen=True, slots=True)
class Totals:
    """Per position: live files, their bytes and rows (rows in files, before any merge)."""

    files: Ints
    bytes: Ints
    rows: Ints


@dataclass(frozen=True)
class History:
    """Everything the questions are asked of.

    objects: one row per physical path: path (text, relative to the table, or a full URI where external),
             kind (text, `ObjectKind`), bytes (int64, null where only the store knows), ours (bool: may be deleted)
    held:    intervals of objects over positions
    files:   one row per live identity of a data file: path, bytes, rows, partition, bucket, level, schema_id,
             source ("append", "compact" or null), format, object (row in `objects`)
    live:    intervals of files over positions
    incomplete: position → what could not be read there
    """

    heads: Heads = field(repr=False)
    holders: tuple[Holder, ...] = field(repr=False)
    objects: pa.Table = field(repr=False)
    held: Intervals = field(repr=False)
    files: pa.Table = field(repr=False)
    live: Intervals = field(repr=False)
    incomplete: Mapping[int, tuple[Problem, ...]]
    warnings: tuple[Problem, ...]

    @cached_property
    def existing(self) -> Mask:
        """Positions of holders that are there now (not those an expiry would create)."""
        return np.array([holder.exists for holder in self.holders], dtype=np.bool_)

    @cached_property
    def totals(self) -> Totals:
        ones = np.ones(self.live.owners, dtype=np.int64)
        return Totals(
            self.live.sums(ones),
            self.live.sums(self.files["bytes"].to_numpy()),
            self.live.sums(self.files["rows"].to_numpy()),
        )

    @cached_property
    def shapes(self) -> Shapes:
        """Objects by where they are held, with the bytes of those that may be deleted and whose size is known."""
        sizes: Ints = pc.fill_null(self.objects["bytes"], 0).to_numpy()
        return shapes(self.held, sizes * self.objects["ours"].to_numpy())

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Each thing that could not be read, once."""
        return tuple(dict.fromkeys(problem for found in self.incomplete.values() for problem in found))

    def position(self, point: str) -> int:
        """The position of a holder by its point text; `NotFound` otherwise."""
        try:
            return self._positions[point]
        except KeyError:
            raise NotFound("The table has no point {point}.", point=point, path=self.heads.location) from None

    def require(self, point: str) -> int:
        """The position of a point that was read in full; `Corrupt` with the first thing that could not be."""
        position = self.position(point)
        if problems := self.incomplete.get(position):
            raise Corrupt(
                "{point} cannot be read in full: {problem}",
                point=point,
                problem=problems[0].sentence(),
                path=problems[0].path,
                remedy="Other points are not affected.",
            )
        return position

    @cached_property
    def _positions(self) -> dict[str, int]:
        found = {holder.point: position for position, holder in enumerate(self.holders)}
        if not self.heads.capabilities.tags_hold_files:  # each is its snapshot
            named = {holder.name: position for position, holder in enumerate(self.holders)}
            found |= {f"tag:{tag.name}": named[str(tag.snapshot.id)] for tag in self.heads.main.tags}
        return found

    def files_at(self, position: int) -> pa.Table:
        """The live data files of one point, ordered by path: what of it could be read (see `require`)."""
        return self.files.filter(pa.array(self.live.at(position))).sort_by("path")

    def holders_of(self, path: str) -> tuple[Holder, ...]:
        """Who keeps this object now; empty where the history does not know the path."""
        found = pc.index(self.objects["path"], path).as_py()
        if found < 0:
            return ()
        mask = self.held.positions_of(found) & self.existing
        return tuple(self.holders[position] for position in np.flatnonzero(mask))

    def bytes_of(self, chosen: Mask) -> int:
        """The sum of the known bytes of the chosen objects."""
        return int(pc.sum(self.objects["bytes"].filter(pa.array(chosen))).as_py() or 0)

    def live_now(self) -> int | None:
        """The position of main's newest snapshot, None for a table without snapshots."""
        latest = self.heads.main.latest
        return None if latest is None else self.position(str(latest.id))

    def snapshot_positions(self) -> tuple[int, ...]:
        """Positions that have a live set: snapshots and tags, readable or not."""
        return tuple(
            position for position, holder in enumerate(self.holders) if holder.kind is not HolderKind.CHANGELOG
        )
