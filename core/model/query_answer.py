"""The answer to a query over one version of a table, and the files it read."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from core.model.time_travel import AsOf
from core.units import several


@dataclass(frozen=True)
class QueryAnswer:
    """The rows of a query, and how they were read.

    `files_read` of `files_live` data files were given to Spark; None if the `engine`, a connector, does not report it.
    `bytes_read` is their total size, although Spark reads only the columns it needs; None if not reported. `left_out`
    describes rows that the engine would not show at this version, and neither does this answer. `differs` describes
    where the engine itself would answer differently today.
    """

    table: pa.Table
    truncated: bool
    seconds: float
    files_read: int | None
    files_live: int
    point: AsOf
    before: AsOf | None
    engine: str
    left_out: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    bytes_read: int | None = None

    @property
    def named_apart(self) -> pa.Table:
        """The rows with unique column names: a repeated name gets a number, so that no column hides another."""
        found: list[str] = []
        for name in self.table.column_names:
            number, own = 2, name
            while own in found:
                number, own = number + 1, f"{name}_{number}"
            found.append(own)
        return self.table.rename_columns(found)

    @property
    def note(self) -> str:
        files = several(self.files_live, "file")
        read = f"{files} live, read" if self.files_read is None else f"read {self.files_read:,} of {files}"
        sentence = f"as of {self.point.point}, {read} in {self.seconds:.1f} s by {self.engine}."
        return " ".join(
            (sentence, *(f"Left out: {each}." for each in self.left_out), *(f"{each}." for each in self.differs))
        )
