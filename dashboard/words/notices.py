"""One line for each thing worth knowing about a table."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.charts.time_axis import MAX_POINTS
from dashboard.formatting import units


def listed(names: Sequence[str], most: int = 6) -> str:
    shown = list(names[:most])
    if len(names) > most:
        return ", ".join(shown) + f" and {len(names) - most} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" and {shown[-1]}"


def no_snapshots(table: str) -> str:
    return f"{table} has no snapshots yet: nothing was ever committed to it."


NO_SNAPSHOTS_NEXT = (
    "History starts with the first commit. Write to the table with any Paimon engine, then press Refresh."
)


def one_snapshot(number: str) -> str:
    return f"Snapshot {number} is the only one: there is nothing to compare it with until the next commit."


def held_by_tags(tags: Sequence[str], snapshots: Sequence[int]) -> str:
    which = ", ".join(str(number) for number in snapshots[:5]) + (" …" if len(snapshots) > 5 else "")
    if len(snapshots) == 1:
        names = listed(tags)
        return (
            f"Snapshot {which} has expired and is kept by {'tag' if len(tags) == 1 else 'tags'} {names}: "
            f"it can still be read by {'that name' if len(tags) == 1 else 'those names'}."
        )
    return f"{len(snapshots)} snapshots ({which}) have expired and are kept by {units.plural(len(tags), 'tag')} alone."


def twin_tags(names: Sequence[str], number: int) -> str:
    several = "both" if len(names) == 2 else "all"
    return (
        f"Tags {listed(names)} keep the same snapshot {number}: deleting one of them frees nothing, "
        f"deleting {several} may."
    )


def gap(first: int, last: int) -> str:
    what = f"Snapshot {first} is" if first == last else f"Snapshots {first} to {last} are"
    return (
        f"{what} missing between {first - 1} and {last + 1}: Paimon's time travel fails across this gap and its "
        f"expiry may free files that are still needed."
    )


def on_branch(branch: str) -> str:
    return f" (branch {branch})"


def many_snapshots(number: int) -> str:
    return (
        f"{units.count(number)} snapshots are more than {units.count(MAX_POINTS)} points: the timeline shows how many "
        "commits each stretch of time holds. Click a bar to look inside."
    )


def lower_bound(problems: int) -> str:
    return f"{units.plural(problems, 'file')} could not be read, so totals marked ≥ are lower bounds."
