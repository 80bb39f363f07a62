"""Reads reference files side by side, and those again that cannot be right: half of one, or one that is not there.

Law: a file that was listed and is not found when it is read was deleted meanwhile only if it is not listed any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from core.errors import NotFound, SnapscopeError
from core.storage import presence
from core.storage.store import DirectoryEntry, Store

LAG_S = 0.2  # how long a listing may be behind the time at the least
T = TypeVar("T")


@dataclass(slots=True)
class Patience:
    """How a pass over references reads. `gone`: what whoever asks has deleted itself, and may still be listed."""

    store: Store
    deadline: float
    gone: Collection[str] = ()
    listed: set[str] = field(default_factory=set)  # paths that a listing of this pass showed

    def entries(self, directory: str) -> list[DirectoryEntry] | None:
        """What a directory lists, None where it is not there; `Corrupt` where it is listed itself, and stays so."""
        ends = max(self.deadline, time.monotonic() + LAG_S)
        while True:
            try:
                found = self.store.ls(directory)
            except NotFound:
                is_ours = any(path.startswith(f"{directory}/") for path in self.gone)
                if directory not in self.listed or is_ours or not presence.listed(self.store, [directory]):
                    return None
                if time.monotonic() > ends:
                    raise presence.unread(directory) from None
                time.sleep(presence.PAUSE_S)
                continue
            self.listed.update(f"{directory}/{entry.name}" for entry in found)
            return found

    def read(
        self, names: Mapping[str, str], parse: Callable[[str, bytes], T]
    ) -> tuple[dict[str, T], dict[str, bytes], dict[str, SnapscopeError]]:
        """Per name what its path holds, parsed; the bytes that were read by path; and why nothing else was parsed."""
        parsed: dict[str, T] = {}
        contents: dict[str, bytes] = {}
        waiting, deadline, least = dict(names), self.deadline, time.monotonic() + LAG_S
        while waiting:
            failed: dict[str, SnapscopeError] = {}
            absent: dict[str, str] = {}
            found = self.store.read_many(list(waiting.values()))
            for name, path in waiting.items():
                content = found[path]
                if isinstance(content, SnapscopeError):
                    contents.pop(path, None)
                    if content.kind != "NotFound":
                        failed[name] = content
                    elif path in self.listed and path not in self.gone:
                        absent[name] = path
                    continue
                contents[path] = content
                try:
                    parsed[name] = parse(name, content)
                except SnapscopeError as error:
                    failed[name] = error
            if absent:
                still = presence.listed(self.store, list(absent.values()))
                failed |= {name: presence.unread(path) for name, path in absent.items() if path in still}
                deadline = max(deadline, least)
            if not failed or time.monotonic() > deadline:
                return parsed, contents, failed
            time.sleep(presence.PAUSE_S)
            waiting = {name: names[name] for name in failed}
        return parsed, contents, {}
