"""Which holder names which metadata files: the first step from references to intervals. Pure.

Invariant: a holder names what its own document names and nothing else. A tag's changelog list is not held (it is
missing in healthy tables), and a changelog has no live files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from core.model.intervals import Ints
from core.model.references import Heads, Holder, HolderKind, Problem


@dataclass(slots=True)
class Names:
    """Distinct file names and the positions that name them."""

    number: dict[str, int] = field(default_factory=dict)
    position: list[int] = field(default_factory=list)
    name: list[int] = field(default_factory=list)

    def add(self, position: int, name: object) -> None:
        if isinstance(name, str):
            self.position.append(position)
            self.name.append(self.number.setdefault(name, len(self.number)))

    def only(self, wanted: Callable[[int, str], bool]) -> Names:
        """Return a copy with only the (position, name) pairs that `wanted` accepts."""
        found, names = Names(), self.names
        for position, name in zip(self.position, self.name, strict=True):
            if wanted(position, names[name]):
                found.add(position, names[name])
        return found

    @property
    def names(self) -> list[str]:
        return list(self.number)

    @property
    def pairs(self) -> tuple[Ints, Ints]:
        """Parallel arrays: position, and number of the name."""
        return np.array(self.position, dtype=np.int64), np.array(self.name, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Named:
    """All files that holders name.

    `lists` are held; `view_lists` determine the live files; `delta_lists` are what the commits themselves added.
    """

    lists: Names = field(default_factory=Names)
    view_lists: Names = field(default_factory=Names)
    delta_lists: Names = field(default_factory=Names)
    changelog_lists: Names = field(default_factory=Names)
    index_manifests: Names = field(default_factory=Names)
    statistics: Names = field(default_factory=Names)
    list_bytes: list[tuple[int, str, int]] = field(default_factory=list)  # position, list, its expected size in bytes


def named(heads: Heads, holders: tuple[Holder, ...]) -> Named:
    """Return what each position names; unreadable holders name nothing (see `unreadable`)."""
    found = Named()
    for position, holder in enumerate(holders):
        if holder.snapshot is None:
            continue
        fields = holder.snapshot.fields
        base, delta, change = (fields.get(f"{kind}ManifestList") for kind in ("base", "delta", "changelog"))
        for kind in ("base", "delta") if holder.kind is HolderKind.TAG else ("base", "delta", "changelog"):
            name, size = fields.get(f"{kind}ManifestList"), fields.get(f"{kind}ManifestListSize")
            if isinstance(name, str) and isinstance(size, int):
                found.list_bytes.append((position, name, size))
        match holder.kind:
            case HolderKind.SNAPSHOT | HolderKind.TAG:
                for names in (found.lists, found.view_lists):
                    names.add(position, base)
                    names.add(position, delta)
                found.index_manifests.add(position, fields.get("indexManifest"))
                found.statistics.add(position, fields.get("statistics"))
                if holder.kind is HolderKind.SNAPSHOT:
                    found.delta_lists.add(position, delta)
                    found.changelog_lists.add(position, change)
            case HolderKind.CHANGELOG:
                found.changelog_lists.add(position, change)
                line = heads.line(holder.branch)
                if line is not None and line.options.get("changelog-producer", "none") == "none":
                    found.lists.add(position, base)
                    found.lists.add(position, delta)
                    found.delta_lists.add(position, delta)
    return found


def unreadable(heads: Heads, holders: tuple[Holder, ...]) -> Iterator[tuple[int, Problem]]:
    """Yield the positions whose own document could not be read, with the problem."""
    problems = {(line.branch, each.kind, each.name): each.problem for line in heads.lines for each in line.unreadable}
    for position, holder in enumerate(holders):
        if holder.snapshot is None:
            yield position, problems[(holder.branch, holder.kind.value, holder.name)]
