"""Commits that end live files or count rows. Rows to put in place of others need a frame: overwrites are made by
core.spark.write.append."""

from __future__ import annotations

import dataclasses

from core.model.actions import Analyze, Compact, DropPartitions, Truncate
from core.procedures.definition import Argument, Definition, Procedure
from core.procedures.units import NUMBER, PARTITIONS, SWITCH, TEXT

_PARTITIONS = Argument(
    "partitions", PARTITIONS, "--partition", "only this one's files", gather=tuple, call="partitions"
)
_TAKEN = "take this one's rows away: some or all of its keys"
_MIN_FILES = "small files that become one (default: the table's option)"
_COLUMNS = "columns"

DROP = Definition(
    DropPartitions,
    "drop-partition",
    "Take the rows of partitions out of the newest point, by a commit.",
    (dataclasses.replace(_PARTITIONS, help=_TAKEN, is_needed=True),),
)
TRUNCATE = Definition(Truncate, "truncate", "Take all rows out of the newest point, by a commit.")
COMPACT = Definition(
    Compact,
    "compact",
    "Make few large files of many small ones; rows stay as they are.",
    (_PARTITIONS, Argument("min_files", NUMBER, "--min-files", _MIN_FILES)),
    paimon=(Procedure("compact", Compact, (_PARTITIONS,)),),
)
ANALYZE = Definition(
    Analyze,
    "analyze",
    "Count rows and columns for planners, and commit the statistics.",
    (
        Argument("columns", TEXT, "--column", "this column's, too", metavar="NAME", gather=tuple, group=_COLUMNS),
        Argument("columns", SWITCH, "--all-columns", gives=None, group=_COLUMNS),
    ),
)
