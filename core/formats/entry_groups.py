"""Files in groups: those that the same manifests name in the same way, so that they are held by the same versions.

Invariant: all files of a group have exactly the same entries, in the same order. Two groups may have the same: that
costs time, never an answer. A commit writes its files together and a merge of manifests moves them together, so a
million files are some ten thousand groups, and what versions hold is computed for groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.model.intervals import Intervals, Ints, Mask
from core.storage.decoded_files import expand

_MIX = np.uint64(0xBF58476D1CE4E5B9)  # odd, with its bits spread evenly
_STEP = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Groups:
    """`group_of`: the group of each file. Group g has the entries `start[g]` to `start[g + 1]` of `manifest` and
    `code`, what the manifest says about its files."""

    group_of: Ints
    start: Ints
    manifest: Ints
    code: Ints

    @classmethod
    def none(cls) -> Groups:
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, np.zeros(1, dtype=np.int64), nothing, nothing)

    @property
    def count(self) -> int:
        return len(self.start) - 1

    @property
    def owner(self) -> Ints:
        """The group of each entry."""
        return np.repeat(np.arange(self.count, dtype=np.int64), np.diff(self.start))

    def extended(self, file: Ints, manifest: Ints, code: Ints, files: int) -> Groups:
        """Add entries of manifests that had none: `file[i]` is what entry i names; those after the known ones are new.

        `files` is the number of files from then on.
        """
        group_of = np.concatenate((self.group_of, np.full(files - len(self.group_of), -1, dtype=np.int64)))
        if not len(file):
            return Groups(group_of, self.start, self.manifest, self.code)
        order = np.argsort(file, kind="stable")
        file, entry = file[order], (manifest * np.int64(1 << 8) + code)[order]
        first = np.flatnonzero(np.concatenate(([True], file[1:] != file[:-1])))
        touched, length = file[first], np.diff(np.concatenate((first, [len(file)])))
        own = np.arange(len(file), dtype=np.int64) - np.repeat(first, length)
        keys = np.add.reduceat(_mixed(_mixed(entry.astype(np.uint64)) + own.astype(np.uint64)), first)
        keys = _mixed(keys + group_of[touched].astype(np.uint64))
        begins = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))  # neighbours are mostly alike
        by_key = np.argsort(keys[begins], kind="stable")
        sorted_keys = keys[begins[by_key]]
        is_new = np.concatenate(([True], sorted_keys[1:] != sorted_keys[:-1]))
        examples, number = begins[by_key[is_new]], np.empty(len(begins), dtype=np.int64)
        number[by_key] = np.cumsum(is_new) - 1
        number = np.repeat(number, np.diff(np.concatenate((begins, [len(keys)]))))
        like = examples[number]
        same = np.array_equal(group_of[touched], group_of[touched[like]]) and np.array_equal(length, length[like])
        if not (same and np.array_equal(entry, entry[np.repeat(first[like], length) + own])):  # equal keys, not entries
            examples = number = np.arange(len(touched), dtype=np.int64)
        before = group_of[touched[examples]]
        counts = length[examples]
        held = np.concatenate((np.diff(self.start), [0]))[before]  # -1, a file without entries, has none
        into, row = expand(np.concatenate((self.start, [self.start[-1]])), np.where(before < 0, self.count, before))
        at, added = expand(np.concatenate((first, [len(file)])), examples)
        owner = np.concatenate((into, at))
        together = np.argsort(owner, kind="stable")  # what is added follows what was there
        manifests = np.concatenate((self.manifest[row], entry[added] >> 8))[together]
        codes = np.concatenate((self.code[row], entry[added] & 0xFF))[together]
        start = self.start[-1] + np.cumsum(held + counts)
        group_of[touched] = self.count + number
        return Groups(
            group_of,
            np.concatenate((self.start, start)),
            np.concatenate((self.manifest, manifests)),
            np.concatenate((self.code, codes)),
        )

    def only(self, files: Ints) -> Groups:
        """Return the same groups of some of the files."""
        return Groups(self.group_of[files], self.start, self.manifest, self.code)

    def without(self, manifests: Mask, files: Ints, numbers: Ints) -> Groups:
        """Keep some files and the entries of the chosen manifests, whose new numbers are `numbers`."""
        used = np.zeros(self.count, dtype=np.bool_)
        used[self.group_of[files]] = True
        kept = manifests[self.manifest] & used[self.owner]
        counts = np.bincount(self.owner[kept], minlength=self.count)[used]
        group_of = (np.cumsum(used) - 1)[self.group_of[files]]
        start = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        return Groups(group_of, start, numbers[self.manifest[kept]], self.code[kept])

    def covered(self, runs: Intervals, codes: tuple[int, ...]) -> Intervals:
        """Return where groups are named with one of these codes; `runs` are where each manifest is listed."""
        chosen = np.flatnonzero(np.isin(self.code, codes))
        starts = np.searchsorted(runs.owner, np.arange(runs.owners + 1)).astype(np.int64)
        index, run = expand(starts, self.manifest[chosen])
        return Intervals(self.owner[chosen][index], runs.first[run], runs.last[run], self.count, runs.positions)

    def pairs(self, position: Ints, manifest: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the entries of manifests at positions as (position, group, code)."""
        order = np.argsort(self.manifest, kind="stable")
        start = np.searchsorted(self.manifest[order], np.arange(manifest.max(initial=-1) + 2)).astype(np.int64)
        index, row = expand(start, manifest)
        found = order[row]
        return position[index], self.owner[found], self.code[found]

    def on_files(self, runs: Intervals) -> Intervals:
        """Return intervals of groups, sorted by group, as intervals of their files, sorted by file."""
        starts = np.searchsorted(runs.owner, np.arange(self.count + 1)).astype(np.int64)
        file, run = expand(starts, self.group_of)
        return Intervals(file, runs.first[run], runs.last[run], len(self.group_of), runs.positions)


def _mixed(numbers: np.typing.NDArray[np.uint64]) -> np.typing.NDArray[np.uint64]:
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _MIX
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _STEP
    return numbers ^ (numbers >> np.uint64(31))
