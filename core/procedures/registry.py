"""Every action's definition, and every procedure of the engines by name. Pure.

Procedures without a counterpart here are listed with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.messages import message
from core.model.actions import Change
from core.procedures.definition import Argument, Definition, Procedure
from core.procedures.definitions import branches, commits, consumers, expiry, orphans, tags

PAIMON, ICEBERG = "sys", "system"  # the namespaces of procedures
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

_PAIMON = [*(each for action in DEFINITIONS for each in action.paimon), *tags.REQUESTS, *branches.REQUESTS]
_ICEBERG = [each for action in DEFINITIONS for each in action.iceberg]
TABLES: Mapping[str, Mapping[str, Procedure]] = {
    PAIMON: {each.name: each for each in _PAIMON},
    ICEBERG: {each.name: each for each in _ICEBERG},
}

MISSING: Mapping[tuple[str, str], str] = {
    (PAIMON, "compact_database"): message("tables are compacted one at a time; call compact on each."),
    (PAIMON, "drop_partition"): message(
        "Paimon 2.0 has no such procedure; `snapscope drop-partition` drops partitions."
    ),
    (PAIMON, "compact_manifest"): message("only commits merge manifests; run it in the table's own engine."),
    (PAIMON, "merge_branch"): message(
        "Snapscope makes no commit that gives a file two owners; run it in the table's own engine."
    ),
    (PAIMON, "expire_partitions"): message("Snapscope does not expire partitions; run it in the table's own engine."),
    (PAIMON, "purge_files"): message("it deletes every tag, branch and file at once; delete them in separate plans."),
    (PAIMON, "repair_earliest_snapshot"): message(
        "Snapscope never relies on hints, and an expiry repairs them; run it in the table's own engine."
    ),
    (PAIMON, "remove_unexisting_files"): message(
        "Snapscope does not commit the loss of a file; run it in the table's own engine."
    ),
    (PAIMON, "remove_unexisting_manifests"): message(
        "Snapscope does not commit the loss of a manifest; run it in the table's own engine."
    ),
    (ICEBERG, "rollback_to_timestamp"): message(
        "it uses the ancestors' commit times; roll back to the snapshot that as-of finds."
    ),
    (ICEBERG, "cherrypick_snapshot"): message("Snapscope does not replay commits; run it in the table's own engine."),
    (ICEBERG, "rewrite_data_files"): message(
        "Snapscope does not rewrite data of Iceberg tables; run it in the table's own engine."
    ),
    (ICEBERG, "rewrite_manifests"): message("Snapscope does not rewrite manifests; run it in the table's own engine."),
}


def definition(change: Change) -> Definition:
    return _BY_ACTION[type(change)]
