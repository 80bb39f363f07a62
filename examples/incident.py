"""Find the first snapshot at which a condition is true, tag it and the last good one, and roll back.

    python examples/incident.py /warehouse/shop.db/orders "count_if(amount < 0) > 0" --roll-back

Both tags are created first, so that no expiry removes the evidence. Without --roll-back nothing else is changed.
"""

from __future__ import annotations

import argparse
import sys

import snapscope


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("condition", help="SQL that is true of a bad table t")
    parser.add_argument("--keep", default="30 d", help="how long the tags are kept")
    parser.add_argument("--roll-back", action="store_true", help="return to the last good version")
    args = parser.parse_args()

    table = snapscope.open(args.table)
    found = table.bisect(args.condition)
    print(found)
    if found.first_true is None or found.last_false is None:
        print("No good version is followed by a bad one, so nothing was changed.", file=sys.stderr)
        return 1
    bad, good = table.as_of(found.first_true), table.as_of(found.last_false)
    print(table.diff(good.version, bad.version))

    for name, version in (("first-bad", bad), ("last-good", good)):
        plan = table.plan.create_tag(name, snapshot=version.snapshot, time_retained=args.keep)
        print(table.apply(plan))
    if args.roll_back:
        plan = table.plan.rollback(good.version)
        print(plan)
        print(table.apply(plan))
    return 0


if __name__ == "__main__":
    sys.exit(main())
