"""Commits that remove live files or compute statistics.

Replacing rows by others needs a data frame, so overwrites are in core.spark.write.append.
"""

from __future__ import annotations

import dataclasses

from core.model.actions import Analyze, Compact, DropPartitions, Truncate
from core.procedures.definition import Argument, Definition, Procedure
from core.procedures.units import NUMBER, PARTITIONS, SWITCH, TEXT

_PARTITIONS = Argument(
    "partitions",
    PARTITIONS,
    "--partition",
    "only files of this partition",
    gather=tuple,
    call="partitions",
    example="dt=2026-11-01",
)
_TAKEN = "delete the rows of this partition; name some or all of its keys"
_MIN_FILES = "combine no fewer small files than this (default: the table's option)"
_COLUMNS = "columns"

DROP = Definition(
    DropPartitions,
    "drop-partition",
    "Commit the deletion of whole partitions; older snapshots keep them.",
    (dataclasses.replace(_PARTITIONS, help=_TAKEN, is_needed=True),),
)
TRUNCATE = Definition(Truncate, "truncate", "Commit the deletion of all rows; older snapshots keep them.")
COMPACT = Definition(
    Compact,
    "compact",
    "Rewrite many small files as few large ones; rows stay the same.",
    (_PARTITIONS, Argument("min_files", NUMBER, "--min-files", _MIN_FILES)),
    paimon=(Procedure("compact", Compact, (_PARTITIONS,)),),
)
ANALYZE = Definition(
    Analyze,
    "analyze",
    "Commit statistics of rows and columns for query planners.",
    (
        Argument(
            "columns",
            TEXT,
            "--column",
            "also statistics of this column",
            metavar="NAME",
            example="amount",
            gather=tuple,
            group=_COLUMNS,
        ),
        Argument("columns", SWITCH, "--all-columns", "also statistics of every column", gives=None, group=_COLUMNS),
    ),
)
