"""What Paimon's own expiry or tag deletion would delete, computed step by step as the engine does it.

It shares no step with our plans: it reads delta lists, the nearest previous tag and the bounding snapshot of one
branch, as the engine's source code does, including its defects. Invariant: a difference from our plan is shown, never
adopted."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from core.errors import NotFound, SnapscopeError
from core.formats.paimon import layout
from core.formats.paimon.file_paths import changelog_path, identities
from core.formats.paimon.manifests import ADD, ENTRY, INDEX, LIST, SOURCE_COMPACT, PaimonManifests
from core.formats.paimon.plan.expiry import requested_policy
from core.formats.paimon.retention import keeps_changelogs
from core.messages import message
from core.model.actions import Change, DeleteTags, Expire
from core.model.references import MAIN, Heads, Line, Snapshot, Tag
from core.storage.size_limits import HINT
from core.storage.store import Store


@dataclass(frozen=True, slots=True)
class Native:
    """The paths the engine would delete, or why it would fail before deleting anything."""

    paths: frozenset[str]
    failure: str | None = None


class _Fails(Exception):
    """The engine throws here."""


@dataclass(frozen=True, slots=True)
class _Entry:
    kind: int
    path: str
    extras: tuple[str, ...]
    source: int | None
    bucket: int


def would_delete(store: Store, heads: Heads, manifests: PaimonManifests, change: Change, now_ms: int) -> Native:
    """Return the engine's deletions for this change on this branch, of all its runs together."""
    line = heads.line(change.branch)
    if line is None or not isinstance(change, Expire | DeleteTags):
        return Native(frozenset())
    engine = _Engine(store, heads, line, manifests)
    try:
        if broken := next((each for each in line.unreadable if each.kind == layout.TAG), None):
            raise _Fails(message("it cannot read tag {name}", name=broken.name))
        if isinstance(change, Expire):
            (engine.expire_changelogs if change.changelogs_only else engine.expire)(change, now_ms)
            names: Sequence[str] = change.drop_tags  # the caller names those whose retention has ended
        else:
            names = change.names
        for name in names:
            engine.delete_tag(name)
    except _Fails as failure:
        return Native(frozenset(engine.deleted), failure.args[0])
    return Native(frozenset(engine.deleted))


@dataclass
class _Engine:
    """The engine working on one branch, with the snapshots and tags that it still sees."""

    store: Store
    heads: Heads
    line: Line
    manifests: PaimonManifests
    deleted: set[str] = field(default_factory=set)
    _tags: list[Tag] = field(default_factory=list)
    _snapshots: dict[int, Snapshot] = field(default_factory=dict)
    _lists_of: dict[str, list[str]] = field(default_factory=dict)
    _entries_of: dict[str, list[_Entry]] = field(default_factory=dict)
    _errors: dict[str, SnapscopeError] = field(default_factory=dict)
    _live_of: dict[bytes, dict[str, _Entry]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Releases up to 2.1 read the tags of main for every branch.
        owner = self.line if self.line.branch == MAIN else self.heads.main
        self._tags = [tag for tag in owner.tags if "/" not in tag.name]
        self._snapshots = {each.id: each for each in self.line.snapshots}

    @functools.cached_property
    def _sizes(self) -> dict[str, int]:
        """The sizes of the files in `manifest/`, in bytes; listed only if something is deleted."""
        listed = self.store.ls_if_there(layout.MANIFEST)
        return {entry.name: entry.size for entry in listed if entry.size is not None}

    # expiry -------------------------------------------------------------------------------------------------------

    def expire(self, change: Expire, now_ms: int) -> None:
        if not self._snapshots:
            return
        earliest, latest = self._earliest(), self._latest()
        decoupled = keeps_changelogs(self.line.options) or change.changelog_retain_max is not None
        if change.snapshots:
            self._expire_range(earliest, max(change.snapshots) + 1, decoupled)
            return
        rule = requested_policy(change, self.line.options, now_ms)
        low = max(latest - rule.retain_max + 1, earliest)
        high = min([latest - rule.retain_min + 1, *(consumer.next_snapshot for consumer in self.line.consumers)])
        if rule.max_deletes is not None:
            high = min(high, earliest + rule.max_deletes)
        for number in range(low, high):
            judged = self._snapshots.get(number + 1 if change.rules == "newest" else number)
            if judged is not None and judged.time_ms >= rule.threshold_ms:
                high = number
                break
        if high > earliest:
            self._expire_range(earliest, high, decoupled)

    def _earliest(self) -> int:
        hint = self._hint(layout.EARLIEST)
        return hint if hint in self._snapshots else min(self._snapshots)

    def _latest(self) -> int:
        hint = self._hint(layout.LATEST)
        if hint is None or hint <= 0 or hint + 1 in self._snapshots:
            return max(self._snapshots)
        if hint not in self._snapshots:
            raise _Fails(message("its LATEST hint refers to snapshot {id}, which does not exist", id=hint))
        return hint

    def _hint(self, name: str, kind: str = layout.SNAPSHOT) -> int | None:
        try:
            return int(self.store.read(layout.hint(self.line.branch, name, kind), HINT))
        except (NotFound, ValueError):
            return None

    def _expire_range(self, earliest: int, high: int, decoupled: bool) -> None:
        chosen = [self._snapshots[number] for number in sorted(self._snapshots) if earliest <= number <= high]
        if not chosen:
            return
        begin = chosen[0].id
        self._prefetch(chosen, ("base", "delta", "changelog"))
        keeps_appends = decoupled and self.line.options.get("changelog-producer", "none") == "none"
        for snapshot in chosen:
            if begin < snapshot.id <= high:
                self._delete_data(snapshot, keeps_appends)
            if snapshot.id < high and not decoupled:
                for entry in self._entries(snapshot, "changelog"):
                    if entry.kind == ADD:
                        self.deleted.add(entry.path)
        if high not in self._snapshots:
            return
        keep = self._metadata([*self._overlapping(begin, high), self._snapshots[high]])
        for snapshot in chosen:
            if snapshot.id >= high:
                continue
            metadata_files = self._metadata([snapshot], data_lists=not keeps_appends)
            if not decoupled:
                metadata_files |= self._lists(snapshot, ("changelog",))
            self.deleted |= metadata_files - keep
            self.deleted.add(layout.reference(self.line.branch, layout.SNAPSHOT, snapshot.id))
            del self._snapshots[snapshot.id]

    def _delete_data(self, snapshot: Snapshot, keeps_appends: bool) -> None:
        removed: dict[str, _Entry] = {}
        try:
            for entry in self._read(snapshot, "delta"):
                if entry.kind == ADD:
                    removed.pop(entry.path, None)
                else:
                    removed[entry.path] = entry
            before = [tag for tag in self._tags if tag.snapshot.id < snapshot.id]
            held = self._live(before[-1].snapshot) if before else {}
        except SnapscopeError:
            return
        for path, entry in removed.items():
            if path not in held and not (keeps_appends and entry.source != SOURCE_COMPACT):
                self.deleted |= {path, *entry.extras}

    def _overlapping(self, begin: int, high: int) -> list[Snapshot]:
        """Return the snapshots of the tags in a range of ids, and of the last tag before it."""
        left = [tag.snapshot for tag in self._tags if tag.snapshot.id <= begin]
        return [*left[-1:], *(tag.snapshot for tag in self._tags if begin < tag.snapshot.id < high)]

    # long-lived changelogs ------------------------------------------------------------------------------------------

    def expire_changelogs(self, change: Expire, now_ms: int) -> None:
        kept = {each.id: each for each in self.line.changelogs}
        if not kept or not self._snapshots:
            return
        rule = requested_policy(change, self.line.options, now_ms)
        hints = (self._hint(name, layout.CHANGELOG) for name in (layout.EARLIEST, layout.LATEST))
        first, last = (hint if hint in kept else end for hint, end in zip(hints, (min(kept), max(kept)), strict=True))
        latest = self._latest()
        low = max(latest - rule.retain_max + 1, first)
        high = min([latest - rule.retain_min + 1, last, *(each.next_snapshot for each in self.line.consumers)])
        if rule.max_deletes is not None:
            high = min(high, first + rule.max_deletes)
        high = next(
            (each for each in range(low, high + 1) if each in kept and kept[each].time_ms >= rule.threshold_ms), high
        )
        if high <= first:
            return
        if high not in kept:
            raise _Fails(message("it needs changelog {id}, which does not exist", id=high))
        keep = self._metadata([*self._overlapping(first, high), kept[high], self._snapshots[self._earliest()]])
        self._prefetch((kept[each] for each in range(first, high) if each in kept), ("delta", "changelog"))
        for number in range(first, high):
            if number not in kept:
                raise _Fails(message("it needs changelog {id}, which does not exist", id=number))
            self._delete_changelog(kept[number], keep)

    def _delete_changelog(self, changelog: Snapshot, keep: set[str]) -> None:
        """Delete the changelog's own files or, where data files are the changelog, those its commit replaced."""
        if changelog.fields.get("changelogManifestList") is not None:
            self.deleted |= {entry.path for entry in self._entries(changelog, "changelog") if entry.kind == ADD}
            metadata_files = self._lists(changelog, ("changelog",))
        else:
            self._delete_data(changelog, keeps_appends=False)
            metadata_files = self._lists(changelog, ("base", "delta"))
        self.deleted |= metadata_files - keep
        self.deleted.add(layout.reference(self.line.branch, layout.CHANGELOG, changelog.id))

    # tags -----------------------------------------------------------------------------------------------------------

    def delete_tag(self, name: str) -> None:
        tag = next((each for each in self._tags if each.name == name), None)
        if tag is None:
            return
        here = tag.snapshot
        neighbours = [each.snapshot for each in self._tags if each.snapshot.id != here.id]
        shared = sum(each.snapshot.id == here.id for each in self._tags) > 1
        self._tags.remove(tag)
        self.deleted.add(layout.reference(self.line.branch, layout.TAG, name))
        if here.id in self._snapshots or shared:
            return
        left = max((each for each in neighbours if each.id < here.id), key=lambda each: each.id, default=None)
        bounds = [each for each in neighbours if each.id > here.id]
        if self._snapshots:
            bounds.append(self._snapshots[self._earliest()])
        elif bounds:
            raise _Fails(message("it throws after it has deleted the tag file: a later tag is left, but no snapshot"))
        else:
            return
        right = min(bounds, key=lambda each: each.id)
        kept = [each for each in (left, right) if each is not None]
        try:
            held = {path for each in kept for path in self._live(each)}
            for path, entry in self._live(here).items():
                if path not in held:
                    self.deleted |= {path, *entry.extras}
        except SnapscopeError:
            pass  # the engine logs that it skips the data files, and continues with the metadata
        self.deleted |= self._metadata([here]) - self._metadata(kept)

    # reading --------------------------------------------------------------------------------------------------------

    def _live(self, snapshot: Snapshot) -> dict[str, _Entry]:
        """Apply the engine's map rule to base, then delta."""
        if snapshot.content in self._live_of:
            return self._live_of[snapshot.content]
        live: dict[str, _Entry] = {}
        for entry in (*self._read(snapshot, "base"), *self._read(snapshot, "delta")):
            if entry.kind == ADD:
                live[entry.path] = entry
            else:
                live.pop(entry.path, None)
        self._live_of[snapshot.content] = live
        return live

    def _entries(self, snapshot: Snapshot, which: str) -> list[_Entry]:
        try:
            return self._read(snapshot, which)
        except SnapscopeError:
            return []

    def _read(self, snapshot: Snapshot, which: str) -> list[_Entry]:
        names = self._manifests(snapshot, which)
        self._load(names)
        for name in names:
            if name in self._errors:
                raise self._errors[name]
        entries = [entry for name in names for entry in self._entries_of[name]]
        if which != "changelog":
            return entries
        return [dataclasses.replace(entry, path=changelog_path(entry.path, entry.bucket)) for entry in entries]

    def _manifests(self, snapshot: Snapshot, which: str) -> list[str]:
        name = snapshot.fields.get(f"{which}ManifestList")
        if name is None:
            return []
        self._load_lists([name])
        if name in self._errors:
            raise self._errors[name]
        return self._lists_of[name]

    def _prefetch(self, snapshots: Iterable[Snapshot], kinds: Sequence[str]) -> None:
        """Decode what many snapshots need in one go; files that cannot be read are reported when they are used."""
        names = [snapshot.fields.get(f"{kind}ManifestList") for snapshot in snapshots for kind in kinds]
        self._load_lists([name for name in names if name is not None])
        self._load([each for name in names if name is not None for each in self._lists_of.get(name, ())])

    def _load_lists(self, names: Sequence[str]) -> None:
        wanted = [name for name in dict.fromkeys(names) if name not in self._lists_of and name not in self._errors]
        if not wanted:
            return
        loaded = self.manifests.load(wanted, LIST, self._sizes)
        self._errors |= loaded.errors
        found = loaded.rows["name"].to_pylist()
        for number, name in enumerate(wanted):
            if name not in loaded.errors:
                self._lists_of[name] = found[loaded.start[number] : loaded.start[number + 1]]

    def _load(self, names: Sequence[str]) -> None:
        wanted = [name for name in dict.fromkeys(names) if name not in self._entries_of and name not in self._errors]
        if not wanted:
            return
        loaded = self.manifests.load(wanted, ENTRY, self._sizes)
        self._errors |= loaded.errors
        found = identities(loaded.rows, self.heads)
        paths = found.files["path"].to_pylist()
        extras: dict[int, list[str]] = {}
        for owner, path in zip(found.extra_owner.tolist(), found.extra_path.to_pylist(), strict=True):
            extras.setdefault(owner, []).append(path)
        columns = (loaded.rows[name].to_pylist() for name in ("kind", "source", "bucket"))
        entries = [
            _Entry(kind, paths[identity], tuple(extras.get(identity, ())), source, bucket)
            for identity, kind, source, bucket in zip(found.identity.tolist(), *columns, strict=True)
        ]
        for number, name in enumerate(wanted):
            self._entries_of[name] = entries[loaded.start[number] : loaded.start[number + 1]]

    def _lists(self, snapshot: Snapshot, which: Iterable[str]) -> set[str]:
        """Return the named lists and their manifests; an unreadable list counts as empty."""
        names: set[str] = set()
        for each in which:
            name = snapshot.fields.get(f"{each}ManifestList")
            if name is not None:
                names.add(name)
                try:
                    names.update(self._manifests(snapshot, each))
                except SnapscopeError:
                    continue
        return {f"{layout.MANIFEST}/{name}" for name in names if name in self._sizes}

    def _metadata(self, snapshots: Iterable[Snapshot], *, data_lists: bool = True) -> set[str]:
        paths: set[str] = set()
        for snapshot in snapshots:
            if data_lists:
                paths |= self._lists(snapshot, ("base", "delta"))
            if (index := snapshot.fields.get("indexManifest")) is not None:
                paths.add(f"{layout.MANIFEST}/{index}")
                loaded = self.manifests.load([index], INDEX, self._sizes)
                paths |= set(identities(loaded.rows, self.heads, index_files=True).files["path"].to_pylist())
            if (statistics := snapshot.fields.get("statistics")) is not None:
                paths.add(f"{layout.STATISTICS}/{statistics}")
        return paths
