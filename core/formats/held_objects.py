"""Objects and the positions that hold each, while a history is put together."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from core.model.intervals import Intervals, Mask
from core.model.references import ObjectKind
from core.storage.decoded_files import flat


@dataclass(frozen=True, slots=True)
class HeldObjects:
    """HeldObjects with the kind of each, and the positions that hold them."""

    paths: pa.Array
    kinds: pa.Array
    bytes: pa.Array
    runs: Intervals

    @classmethod
    def of(
        cls, paths: pa.Array | pa.ChunkedArray, kind: ObjectKind, sizes: pa.Array | pa.ChunkedArray, runs: Intervals
    ) -> HeldObjects:
        """Return objects of one kind."""
        return cls(flat(paths), pa.repeat(kind.value, len(paths)), flat(sizes), runs)

    def only(self, chosen: Mask) -> HeldObjects:
        which = pa.array(chosen)
        paths, kinds, sizes = (each.filter(which) for each in (self.paths, self.kinds, self.bytes))
        return HeldObjects(paths, kinds, sizes, self.runs.only(chosen))
