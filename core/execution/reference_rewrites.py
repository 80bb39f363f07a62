"""References rewritten one by one, in an order that leaves a readable table wherever it is cut off.

Law: each file is changed only while it has the bytes it was planned with; what a new reference was copied from is as it
was before and after, or all is taken back. Doing it twice is doing it once. A first run stops where another hand was
faster; a resumed one leaves what was removed and is there again: it is somebody's.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Conflict
from core.formats.paimon import layout
from core.messages import told
from core.model.plan import Plan, Step
from core.storage.presence import read_if_there, read_or_none
from core.storage.store import Store


@dataclass(frozen=True, slots=True)
class Rewrite:
    """See `Plan.steps`, `guards` and `clears`."""

    steps: tuple[Step, ...]
    guards: tuple[tuple[str, bytes], ...]
    clears: tuple[str, ...]

    @classmethod
    def of(cls, plan: Plan) -> Rewrite:
        return cls(plan.steps, plan.guards, plan.clears)

    def to_json(self) -> dict[str, Any]:
        return {
            "steps": [[each.path, _text(each.before), _text(each.after), each.is_hint] for each in self.steps],
            "guards": [[path, _text(content)] for path, content in self.guards],
            "clears": list(self.clears),
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Rewrite:
        steps = (Step(path, _bytes(before), _bytes(after), is_hint) for path, before, after, is_hint in kept["steps"])
        guards = ((path, b64decode(content)) for path, content in kept["guards"])
        return cls(tuple(steps), tuple(guards), tuple(kept["clears"]))

    def carry_out(self, store: Store, *, is_first: bool) -> list[str]:
        """From the first step to the last; the references that are new."""
        is_guarded = is_first or not self._is_built_on(store)
        if is_guarded:
            self._guard(store, take_back=False)
        for step in self.steps:
            if step.is_hint:
                _set(store, step.path, step.after) if is_guarded else _repair(store, step.path)
                continue
            now = read_if_there(store, step.path) if step.after is None else read_or_none(store, step.path)
            if now == step.after or (now != step.before and step.after is None and not is_first):
                continue
            if now != step.before:
                raise _anothers(step.path, told("Undo this run."))
            _set(store, step.path, step.after, is_new=now is None)
        if is_guarded:
            self._guard(store, take_back=is_first)
        if late := self._late(store):
            raise Conflict(
                "{late} was committed meanwhile, on top of what was removed.",
                late=late,
                path=late,
                remedy="Undo this run: that brings back what it stands on.",
            )
        for directory in self.clears:
            schemas = (entry.name for entry in store.ls_if_there(f"{directory}/{layout.SCHEMA}"))
            if not any(name.startswith(f"{layout.SCHEMA}-") for name in schemas):  # else it was made again
                _clear(store, directory)
        return [step.path for step in self.steps if step.before is None and not step.is_hint]

    def take_back(self, store: Store) -> list[str]:
        """Everything as it was; what changed. `Conflict` before anything is done where another hand was there since.

        A snapshot that was committed on top of one that went stays, and what it stands on comes back. Where it has the
        id of one that went, that one and those after it do not: the id is others' by now.
        """
        late, steps = self._late(store), [step for step in self.steps if not step.is_hint]
        if late is not None and late in {step.path for step in steps}:
            steps = [step for step in steps if not _is_beyond(step.path, late)]
        found = {step.path: (read_or_none if step.before else read_if_there)(store, step.path) for step in steps}
        for step in steps:
            if found[step.path] not in (step.before, step.after):
                raise _anothers(step.path, told("Resume the run instead."))
        changed = [step for step in reversed(steps) if found[step.path] != step.before]
        for step in changed:
            _set(store, step.path, step.before, is_new=found[step.path] is None)
        for path in dict.fromkeys(step.path for step in self.steps if step.is_hint):
            _repair(store, path)
        made = {step.path.rpartition("/")[0] for step in changed if step.before is None}
        for directory in sorted(each for each in made if each.startswith(f"{layout.BRANCH}/")):
            store.remove_empty_dir(directory)  # an empty branch directory is a branch
            store.remove_empty_dir(directory.rpartition("/")[0])
        if made:
            store.remove_empty_dir(layout.BRANCH)
        return [step.path for step in changed]

    def _late(self, store: Store) -> str | None:
        """A snapshot of others that stands on one that went, or goes: others' do not lead up to it from the newest that
        stays. Where that one is gone, too, it has expired since, and nobody knows."""
        own = {step.path: (step.before, step.after) for step in self.steps}
        for step in self.steps:
            directory, _, name = step.path.rpartition("/")
            if step.is_hint and name == layout.LATEST and directory.endswith(layout.SNAPSHOT) and step.after:
                names = (entry.name.removeprefix(f"{layout.SNAPSHOT}-") for entry in store.ls_if_there(directory))
                there, newest = sorted(int(each) for each in names if each.isdecimal()), int(step.after)
                expected = newest + 1
                for number in (each for each in there if each > newest and newest in there):
                    path = f"{directory}/{layout.SNAPSHOT}-{number}"
                    if path in own and read_or_none(store, path) in own[path]:
                        continue
                    if number != expected:
                        return path
                    expected += 1
        return None

    def _is_built_on(self, store: Store) -> bool:
        """Is all done, and have others committed since? Then it is theirs, and what it came from may go."""
        found = [(step, read_or_none(store, step.path)) for step in self.steps if not step.is_hint]
        is_done = all(now != step.before for step, now in found)
        return is_done and any(now != step.after for step, now in found)

    def _guard(self, store: Store, *, take_back: bool) -> None:
        for path, content in self.guards:
            if read_or_none(store, path) != content:
                if take_back:
                    self.take_back(store)
                raise _anothers(path, told("Plan again."))


def _is_beyond(path: str, late: str) -> bool:
    """Is it the reference of this snapshot, or of a later one of its branch?"""
    (directory, _, number), (beside, _, least) = path.rpartition("-"), late.rpartition("-")
    return directory == beside and int(number) >= int(least)


def _anothers(path: str, remedy: str) -> Conflict:
    return Conflict(told("{path} was changed by another hand since it was read.", path=path), path=path, remedy=remedy)


def _set(store: Store, path: str, content: bytes | None, *, is_new: bool = False) -> None:
    if content is None:
        store.delete(path)
    elif is_new:
        store.create(path, content)
    else:
        store.put(path, content)


def _repair(store: Store, path: str) -> None:
    """A hint says what there is; it goes where there is nothing."""
    directory, _, name = path.rpartition("/")
    kind = directory.rpartition("/")[2]
    prefix = f"{kind}-"
    names = [entry.name.removeprefix(prefix) for entry in store.ls_if_there(directory) if entry.name.startswith(prefix)]
    numbers = [int(each) for each in names if each.isdecimal()]
    if numbers:
        store.put(path, str(max(numbers) if name == layout.LATEST else min(numbers)).encode())
    else:
        store.delete(path)


def _clear(store: Store, directory: str) -> None:
    """What engines keep beside references (hints, success files, litter), and the directories. `Conflict` for more."""
    for entry in store.ls_if_there(directory):
        path = f"{directory}/{entry.name}"
        is_beside = entry.name in (layout.EARLIEST, layout.LATEST) or directory.endswith(layout.SUCCESS_FILES)
        if entry.is_dir:
            _clear(store, path)
        elif is_beside or (entry.name.startswith(".") and entry.name.endswith(".tmp")):
            store.delete(path)
        else:
            raise Conflict(
                told("{path} was made while its branch was being removed, and is left there.", path=path),
                path=path,
                remedy="Undo this run, or remove what is left with the table's own engine and resume it.",
            )
    store.remove_empty_dir(directory)


def _text(content: bytes | None) -> str | None:
    return None if content is None else b64encode(content).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
