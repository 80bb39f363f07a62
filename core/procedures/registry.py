"""Every action's definition, and every procedure of the engines by its name. Pure.

What has no counterpart here is named with what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.messages import told
from core.model.actions import Change
from core.procedures.definition import Argument, Definition, Procedure
from core.procedures.definitions import branches, commits, consumers, expiry, orphans, tags

PAIMON, ICEBERG = "sys", "system"  # the namespaces procedures are called in
TABLE = Argument("table", is_needed=True, call="table", also=("table_id", "identifier"))  # the first argument of all

DEFINITIONS: tuple[Definition, ...] = (
    expiry.EXPIRE,
    tags.DELETE,
    tags.CREATE,
    tags.REPLACE,
    tags.RENAME,
    branches.CREATE,
    branches.REPLACE,
    branches.DELETE,
    branches.RENAME,
    branches.FORWARD,
    branches.ROLLBACK,
    consumers.RESET,
    consumers.CLEAR,
    commits.DROP,
    commits.TRUNCATE,
    commits.COMPACT,
    commits.ANALYZE,
    orphans.CLEAN,
)
BY_COMMAND: Mapping[str, Definition] = {each.command: each for each in DEFINITIONS}
_BY_ACTION: Mapping[type[Change], Definition] = {each.of: each for each in DEFINITIONS}

_PAIMON = [*(each for of in DEFINITIONS for each in of.paimon), *tags.REQUESTS, *branches.REQUESTS]
_ICEBERG = [each for of in DEFINITIONS for each in of.iceberg]
TABLES: Mapping[str, Mapping[str, Procedure]] = {
    PAIMON: {each.name: each for each in _PAIMON},
    ICEBERG: {each.name: each for each in _ICEBERG},
}

MISSING: Mapping[tuple[str, str], str] = {
    (PAIMON, "compact_database"): told("tables are compacted one by one; call compact on each."),
    (PAIMON, "drop_partition"): told(
        "Paimon 2.0 has no such procedure; `snapscope drop-partition` takes partitions out."
    ),
    (PAIMON, "compact_manifest"): told("manifests are merged by commits alone; run it in the table's own engine."),
    (PAIMON, "merge_branch"): told("no commit here gives one file two owners; run it in the table's own engine."),
    (PAIMON, "expire_partitions"): told("partitions are not expired here; run it in the table's own engine."),
    (PAIMON, "purge_files"): told("it drops every tag, branch and file at once; delete them by plans of their own."),
    (PAIMON, "repair_earliest_snapshot"): told(
        "hints are never trusted here, and repaired by expiries; run it in the table's own engine."
    ),
    (PAIMON, "remove_unexisting_files"): told(
        "nothing here commits that a file is lost; run it in the table's own engine."
    ),
    (PAIMON, "remove_unexisting_manifests"): told(
        "nothing here commits that a manifest is lost; run it in the table's own engine."
    ),
    (ICEBERG, "rollback_to_timestamp"): told(
        "it goes by the ancestors' times; roll back to the snapshot that as-of names."
    ),
    (ICEBERG, "cherrypick_snapshot"): told("no commit here replays another; run it in the table's own engine."),
    (ICEBERG, "remove_orphan_files"): told(
        "orphans of Iceberg tables are not looked for; run it in the table's own engine."
    ),
    (ICEBERG, "rewrite_data_files"): told(
        "nothing here rewrites data of Iceberg tables; run it in the table's own engine."
    ),
    (ICEBERG, "rewrite_manifests"): told("nothing here rewrites manifests; run it in the table's own engine."),
}


def definition(change: Change) -> Definition:
    return _BY_ACTION[type(change)]
