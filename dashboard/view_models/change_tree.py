"""A diff by folder: partition keys, then buckets, with exact totals for each folder. Pure.

Invariant: the totals of a folder are sums of core's numbers, never computed from what is displayed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from dashboard import words
from dashboard.formatting import markup, units
from dashboard.formatting.markup import Html, Piece

SHOWN = 200  # the maximum number of leaf folders shown
OPEN = 40  # the maximum number of folders that start expanded
SIDES = ("added", "removed")
COUNTED = tuple(f"{side}_{name}" for side in SIDES for name in ("files", "bytes", "rows"))


@dataclass(slots=True)
class Folder:
    """A folder on the path to changed files, with the totals below it."""

    name: str
    sums: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    inner: dict[str, Folder] = field(default_factory=dict)

    def add(self, steps: list[str], sums: dict[str, int]) -> None:
        for name in COUNTED:
            self.sums[name] += sums[name]
        if steps:
            self.inner.setdefault(steps[0], Folder(steps[0])).add(steps[1:], sums)


def tree(partitions: pa.Table) -> Folder:
    """Convert the rows of `Diff.partitions` to a tree; a folder with a single subfolder is merged with it."""
    root = Folder("")
    for row in partitions.to_pylist():
        steps = [step for step in row["partition"].split("/") if step]
        steps += [] if row["bucket"] is None else [f"bucket-{words.bucket(row['bucket'])}"]
        root.add(steps, row)
    return Folder("", root.sums, {name: _joined(each) for name, each in root.inner.items()})


def _joined(folder: Folder) -> Folder:
    inner = {name: _joined(each) for name, each in folder.inner.items()}
    if len(inner) == 1:
        only = next(iter(inner.values()))
        return Folder(f"{folder.name}/{only.name}", folder.sums, only.inner)
    return Folder(folder.name, folder.sums, inner)


def leaves(folder: Folder) -> int:
    return sum(map(leaves, folder.inner.values())) if folder.inner else 1


def drawn(partitions: pa.Table) -> Html:
    """Render the tree as HTML that expands and collapses in the browser, with a note on omitted folders."""
    root = tree(partitions)
    total = leaves(root)
    most = max((each.sums[f"{side}_bytes"] for each in root.inner.values() for side in SIDES), default=0) or 1
    left = [SHOWN]
    lines = markup.join((_line(each, most, left, 0, is_open=total <= OPEN) for each in root.inner.values()), "")
    if not root.inner:
        lines = _sums(Folder(words.WHOLE_TABLE, root.sums), max(root.sums.values()) or 1, 0)
    text = markup.tree(words.TREE_HEADS, lines)
    if total > SHOWN:
        text += markup.note("info", words.capped(SHOWN, total, words.PARTITIONS))
    return text


def _line(folder: Folder, most: int, left: list[int], depth: int, *, is_open: bool) -> Html:
    if left[0] <= 0:
        return Html()
    if not folder.inner:
        left[0] -= 1
        return _sums(folder, most, depth)
    lines = [_line(each, most, left, depth + 1, is_open=is_open) for each in folder.inner.values()]
    return markup.folder(_sums(folder, most, depth), markup.join(lines, ""), is_open=is_open)


def _sums(folder: Folder, most: int, depth: int) -> Html:
    cells: list[Piece] = []
    for side in SIDES:
        files, size, rows = (folder.sums[f"{side}_{name}"] for name in ("files", "bytes", "rows"))
        sign = "+" if side == "added" else units.MINUS
        if files:
            shown = markup.in_hue(side, f"{sign}{units.count(files)}")
            cells += [shown, markup.bar(side, size / most, size), f"{sign}{units.count(rows)}"]
        else:
            cells += [markup.muted("—"), "", ""]
    return markup.tree_line(depth, markup.mono(folder.name), cells)
