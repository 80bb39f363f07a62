"""Reports to take away."""

from __future__ import annotations

REPORT_OF_TABLE = "Report (HTML)"
REPORT_OF_TABLE_HELP = (
    "The table's state at this point as one file to hand on: columns, tags, branches, snapshots, who holds the bytes. "
    "It needs no network and runs nothing; in English, times in this zone. The same: `snapscope report TABLE -o FILE`."
)
REPORT_OF_DIFF = "Report (HTML)"
REPORT_OF_DIFF_HELP = (
    "This difference as one file to hand on: files, partitions, commits, columns and options. It needs no network and "
    "runs nothing; in English. `snapscope report TABLE --diff A B -o FILE` makes the same."
)
REPORT_OF_PLAN = "For approval (HTML)"
REPORT_OF_PLAN_HELP = (
    "This plan as one file to hand on: what goes, what keeps the rest, warnings, and the command that runs exactly "
    "this plan or refuses. It needs no network, runs nothing; in English. The same: `snapscope plan … --report FILE`."
)
