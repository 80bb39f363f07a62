"""The reader of each format's rows. A new format is one more line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.errors import Unsupported
from core.formats import undecoded
from core.model.history import History
from core.model.time_travel import AsOf
from core.spark.read.iceberg import reader as iceberg
from core.spark.read.paimon import reader as paimon
from core.spark.read.reader import Source
from core.table import Table

READERS: Mapping[str, Callable[[Table, History, AsOf], Source]] = {"paimon": paimon.source, "iceberg": iceberg.source}


def source(table: Table, history: History, at: AsOf) -> Source:
    """A version to be read.

    Raises `Unsupported` by name for what cannot be read correctly, `Corrupt` if it is incomplete.
    """
    reader = READERS.get(table.capabilities.format)
    if reader is None:
        what = table.capabilities.title
        raise Unsupported(
            "Snapscope cannot read rows of {format} tables.",
            format=what,
            path=table.location,
            remedy=undecoded.ELSEWHERE,
        )
    return reader(table, history, at)
