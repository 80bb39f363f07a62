"""Expire old snapshots and tags of all tables in a warehouse, up to a size limit, and record a receipt for each table.

    python examples/daily_cleanup.py /warehouse --older-than "7 d" --keep 5 --most-gigabytes 50

Tables whose plan would reclaim more than the limit, or has warnings, are skipped for manual review. The exit status is
1 if any table was skipped or failed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import snapscope


def clean(location: str, args: argparse.Namespace) -> dict[str, object]:
    """Plan one table, check the plan and run it; return the outcome."""
    table = snapscope.open(location)
    plan = table.plan.expire(time_retained=args.older_than, retain_min=args.keep, expired_tags=args.expired_tags)
    print(plan, end="\n\n")
    found: dict[str, object] = {"table": location, "plan": plan.fingerprint, "planned_bytes": plan.reclaimed_bytes}
    if plan.reclaimed_bytes > args.most_gigabytes * 1e9:
        return {**found, "outcome": "left: over the limit"}
    if plan.warnings:
        return {**found, "outcome": f"left: {plan.warnings[0]}"}
    receipt = table.apply(plan, settle=args.settle)
    return {
        **found,
        "outcome": receipt.outcome,
        "run": receipt.run,
        "deleted_files": len(receipt.deleted),
        "reclaimed_bytes": receipt.reclaimed_bytes,
        "journal_head": receipt.journal_head,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warehouse")
    parser.add_argument("--older-than", default="7 d", help="age from which a snapshot may expire")
    parser.add_argument("--keep", type=int, default=5, help="snapshots to keep in any case")
    parser.add_argument("--expired-tags", action="store_true", help="also delete tags whose retention has passed")
    parser.add_argument("--most-gigabytes", type=float, default=50, help="limit of what one table may reclaim")
    parser.add_argument("--receipts", type=Path, default=Path("receipts.jsonl"))
    parser.add_argument("--settle", default="30 s", help="time for running writers before files are deleted")
    args = parser.parse_args()
    is_complete = True
    tables = snapscope.tables(args.warehouse)
    for problem in tables["problem"].dropna():
        print(f"not listed: {problem}", file=sys.stderr)
        is_complete = False
    for location in tables.loc[tables["problem"].isna(), "location"]:
        try:
            found = clean(location, args)
        except snapscope.SnapscopeError as error:
            found = {"table": location, "outcome": f"failed: {error}"}
        is_complete &= found["outcome"] in ("done", "nothing to do")
        with args.receipts.open("a") as receipts:
            receipts.write(json.dumps(found) + "\n")
        print(f"{location}: {found['outcome']}")
    return 0 if is_complete else 1


if __name__ == "__main__":
    sys.exit(main())
