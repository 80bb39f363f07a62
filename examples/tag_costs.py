"""Write the storage cost of each tag in a warehouse as CSV: the files that deleting only this tag would reclaim.

python examples/tag_costs.py /warehouse > tag_costs.csv
"""

from __future__ import annotations

import sys

import pandas as pd

import snapscope


def main(warehouse: str) -> int:
    frames, status = [], 0
    for each in snapscope.tables(warehouse).to_dict("records"):
        try:
            if each["problem"]:
                raise snapscope.Corrupt(each["problem"])
            costs = snapscope.open(each["location"], read_only=True).costs()
        except snapscope.SnapscopeError as error:
            print(f"{each['location']}: {error}", file=sys.stderr)
            status = 1
            continue
        costs.insert(0, "table", each["table"])
        frames.append(costs)
    if frames:
        found = pd.concat(frames, ignore_index=True).sort_values("exclusive_bytes", ascending=False)
        found.to_csv(sys.stdout, index=False)
    return status


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
