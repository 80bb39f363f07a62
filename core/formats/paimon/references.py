"""Read every reference of a Paimon table: snapshots, tags, changelogs, consumers and schemas of every branch.

Invariant: names come from listings; a hint may add a snapshot that is not listed yet, and never removes one. A file
that exists but cannot be parsed is reported as unreadable, never left out. The original bytes are kept, because
fingerprints and copies are made from them.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from core import urls
from core.errors import Corrupt, SnapscopeError
from core.formats import unpack_limits
from core.formats.paimon import layout
from core.formats.paimon.capabilities import PAIMON
from core.formats.paimon.read.branches import branches_of
from core.formats.paimon.read.hints import NUMBER, gaps, left_out, number, problems, stray
from core.formats.paimon.read.lagging_reads import Patience
from core.formats.paimon.read.problems import unlistable, unread_reference
from core.messages import message
from core.model.references import MAIN, Consumer, Field, Heads, Line, Problem, Schema, Snapshot, Tag, Unreadable
from core.storage.conditional import LOCAL
from core.storage.file_systems import DirectoryEntry
from core.storage.kept_contents import ReadContents
from core.storage.local_contents import LocalContents, LocalListings
from core.storage.size_limits import HINT
from core.storage.store import Store

NO_WATERMARK = -(2**63)
T = TypeVar("T")


class LocalReferences:
    """What this process has read of the references of a table on the local disk, in the directory `root`."""

    def __init__(self, root: str) -> None:
        self.contents = LocalContents(root)
        self.heads = LocalListings[Heads](root)


def is_table(store: Store) -> bool:
    """Return whether this is a table: its schema directory has at least one schema file."""
    return any(_suffix(entry, layout.SCHEMA) is not None for entry in store.ls_if_there(layout.SCHEMA))


def read(
    store: Store,
    *,
    patience_s: float = 0.0,
    gone: Collection[str] = (),
    memory: ReadContents | None = None,
    local: LocalReferences | None = None,
) -> Heads:
    """List and read all references now.

    A file that does not parse is read again for up to `patience_s` seconds, because some writers rewrite tags and hints
    in place and a reader can see half of one. The same applies to a file that is listed but not found. If it remains
    listed, it is unreadable, unless the caller has deleted it (`gone`). Without patience, remote snapshots, tags and
    schemas that are listed with the checksum they had come from the local disk; with patience, all that `memory` has.
    Of a local table, without patience, `local` has the contents of files whose size, inode and times are unchanged, and
    the last answer for as long as that holds for all of them.

    Directories are listed at the same time on a remote store, but only after the snapshots of their branch were read,
    and branches after those of main: what takes over the files of a snapshot is created before that is deleted.
    """
    references: dict[str, bytes] = {}
    if patience_s > 0 or gone or not store.is_local:
        local = None
    if local is not None and (unchanged := local.heads.find()) is not None:
        return unchanged
    memory = memory if patience_s > 0 else None
    contents = None if local is None else local.contents
    patience = Patience(store, time.monotonic() + patience_s, gone, patience_s == 0, memory, contents)
    reader = _Reader(references, patience)
    try:
        reader.begin([MAIN])
        main, branches = reader.line(MAIN), branches_of(patience)
        reader.begin(branches)
        found = Heads(store.location, PAIMON, (main, *map(reader.line, branches)), references)
    finally:
        if local is not None:
            local.contents.forget_others(patience.listed)
    if local is not None and reader.is_whole and not any(line.unreadable for line in found.lines):
        local.heads.keep(found, patience.directories, patience.began_s)
    return found


class _Reader:
    """One pass over a table's references; collects the bytes it read."""

    def __init__(self, references: dict[str, bytes], patience: Patience) -> None:
        self.store = patience.store
        self.references = references
        self.patience = patience
        self.latest: dict[str, bytes | SnapscopeError] = {}  # may be newer than a listing
        self.is_whole = True  # no hint was there and could not be read

    def begin(self, branches: Sequence[str]) -> None:
        """List the snapshots of these branches and read what LATEST says."""
        hints = [layout.hint(each, layout.LATEST) for each in branches]
        directories = [f"{layout.branch_dir(each)}{layout.SNAPSHOT}" for each in branches]
        self.patience.look_ahead(directories, lambda: self.latest.update(self.store.read_many(hints, HINT)))

    def line(self, branch: str) -> Line:
        unreadable: list[Unreadable] = []
        warnings: list[Problem] = []
        hints = dict[str, bytes | SnapscopeError]()

        def hinted() -> list[int]:
            hints.update(self.patience.contents([layout.hint(branch, layout.EARLIEST)], HINT))
            hints[latest] = self.latest[latest]
            self.is_whole &= all(isinstance(each, bytes) or each.kind == "NotFound" for each in hints.values())
            return [int(text) for text in map(number, hints.values()) if text is not None]

        latest = layout.hint(branch, layout.LATEST)
        snapshots = self._numbered(branch, layout.SNAPSHOT, snapshot_of, unreadable, warnings, hinted)
        directories = (layout.CHANGELOG, layout.TAG, layout.SCHEMA, layout.CONSUMER)
        also = (layout.BRANCH,) if branch == MAIN else ()
        self.patience.look_ahead([*(f"{layout.branch_dir(branch)}{each}" for each in directories), *also])
        # Changelogs end where snapshots begin, and a schema that a snapshot refers to must exist.
        begin = min(snapshots, default=None)
        changelogs = self._numbered(branch, layout.CHANGELOG, snapshot_of, unreadable, warnings, end=begin)
        tags = self._named(branch, layout.TAG, tag_of, unreadable, warnings)
        points = [*snapshots.values(), *changelogs.values(), *(tag.snapshot for tag in tags)]
        of_points = {each.schema_id for each in points}
        schemas = self._numbered(branch, layout.SCHEMA, schema_of, unreadable, warnings, lambda: of_points)
        consumers = self._named(branch, layout.CONSUMER, consumer_of, unreadable, warnings)
        ids = sorted({*snapshots, *(int(each.name) for each in unreadable if each.kind == layout.SNAPSHOT)})
        warnings += problems(branch, ids, hints) + gaps(branch, ids)
        named = {layout.TAG: [each.name for each in tags], layout.CONSUMER: [each.name for each in consumers]}
        warnings += unlistable(branch, named)
        return Line(
            branch=branch,
            snapshots=tuple(snapshots[number] for number in sorted(snapshots)),
            tags=tuple(sorted(tags, key=lambda tag: (tag.snapshot.id, tag.name))),
            changelogs=tuple(changelogs[number] for number in sorted(changelogs)),
            consumers=tuple(sorted(consumers, key=lambda consumer: consumer.name)),
            schemas=dict(sorted(schemas.items())),
            unreadable=tuple(unreadable),
            warnings=tuple(warnings),
        )

    def _numbered(
        self,
        branch: str,
        kind: str,
        parse: Callable[[str, bytes, str], T],
        unreadable: list[Unreadable],
        warnings: list[Problem],
        hinted: Callable[[], Iterable[int]] = tuple,
        end: int | None = None,
    ) -> dict[int, T]:
        """Return all files of a kind by number.

        Besides the listed and the `hinted` numbers, gaps between them are tried up to `end`, because the listing of an
        object store may be stale; that of a local disk is not.
        """
        directory = f"{layout.branch_dir(branch)}{kind}"
        entries = self.patience.entries(directory) or ()
        names = {str(each): f"{directory}/{kind}-{each}" for each in hinted()}
        for entry in entries:
            suffix = _suffix(entry, kind)
            if suffix is not None and NUMBER.fullmatch(suffix):
                names[suffix] = f"{directory}/{entry.name}"
            elif not (kind in (layout.SNAPSHOT, layout.CHANGELOG) and entry.name in (layout.EARLIEST, layout.LATEST)):
                warnings.append(stray(directory, entry, message("files named {kind}-<number>", kind=kind)))
        found, unread, requested = dict[int, T](), list[Unreadable](), set[str]()
        is_sure = self.store.protocol in (*LOCAL, "memory")
        while names:
            found |= {int(name): value for name, value in self._parse(kind, names, parse, unread).items()}
            requested |= names.keys()
            known = [] if is_sure else sorted({*found, *(int(each.name) for each in unread)})
            names = {
                str(each): f"{directory}/{kind}-{each}" for each in left_out(known, end) if str(each) not in requested
            }
        unreadable += unread
        return found

    def _named(
        self,
        branch: str,
        kind: str,
        parse: Callable[[str, bytes, str], T],
        unreadable: list[Unreadable],
        warnings: list[Problem],
    ) -> list[T]:
        directory = f"{layout.branch_dir(branch)}{kind}"
        names: dict[str, str] = {}
        for entry in self.patience.entries(directory) or ():
            if entry.is_dir and entry.name == layout.SUCCESS_FILES:
                continue
            if entry.is_dir and entry.name.startswith(f"{kind}-"):  # a name with a slash: no engine lists it
                for path in self._below(f"{directory}/{entry.name}"):
                    names[path[len(directory) + len(kind) + 2 :]] = path
            elif (suffix := _suffix(entry, kind)) is not None:
                names[suffix] = f"{directory}/{entry.name}"
            else:
                warnings.append(stray(directory, entry, message("files named {kind}-<name>", kind=kind)))
        return list(self._parse(kind, names, parse, unreadable).values())

    def _below(self, directory: str) -> Iterator[str]:
        for entry in self.patience.entries(directory) or ():
            path = f"{directory}/{entry.name}"
            if entry.is_dir:
                yield from self._below(path)
            else:
                yield path

    def _parse(
        self, kind: str, names: Mapping[str, str], parse: Callable[[str, bytes, str], T], unreadable: list[Unreadable]
    ) -> dict[str, T]:
        read = functools.partial(_parsed, parse, names)
        parsed, contents, failed = self.patience.read(names, read)
        self.references |= {urls.shown(path): content for path, content in contents.items()}
        unreadable += [
            Unreadable(
                kind,
                urls.shown(name),
                unread_reference(kind, urls.shown(names[name]), error, is_read=names[name] in contents),
            )
            for name, error in failed.items()
        ]
        return parsed


def _parsed(parse: Callable[[str, bytes, str], T], names: Mapping[str, str], name: str, content: bytes) -> T:
    return parse(urls.shown(name), content, urls.shown(names[name]))


def _suffix(entry: DirectoryEntry, kind: str) -> str | None:
    return entry.name[len(kind) + 1 :] if entry.name.startswith(f"{kind}-") and not entry.is_dir else None


# JSON documents ---------------------------------------------------------------------------------------------


def document(content: bytes, path: str) -> dict[str, Any]:
    """Parse a JSON object. Raises `Corrupt` for anything else."""
    try:
        value = unpack_limits.document(content)
    except ValueError as error:
        what = message("is empty") if not content else message("is not valid JSON ({error})", error=error)
        raise Corrupt(
            "Expected a JSON document; the file of {content} bytes {what}.",
            content=len(content),
            what=what,
            path=path,
        ) from error
    if not isinstance(value, dict):
        raise Corrupt("Expected a JSON object, found {name}.", name=type(value).__name__, path=path)
    return value


def _want(fields: Mapping[str, Any], name: str, kind: type | tuple[type, ...], path: str) -> Any:
    value = fields.get(name)
    if type(value) is kind:  # checked first for speed: a long history asks this a hundred thousand times
        return value
    if isinstance(value, bool) or not isinstance(value, kind):
        wanted = kind.__name__ if isinstance(kind, type) else "/".join(each.__name__ for each in kind)
        found: str = message("no such field") if name not in fields else f"{value!r:.60}"
        raise Corrupt(
            "Field {name!r} must be {wanted}; found {found}.",
            name=name,
            wanted=wanted,
            found=found,
            path=path,
        )
    return value


def _maybe(fields: Mapping[str, Any], name: str, kind: type | tuple[type, ...], path: str) -> Any:
    value = fields.get(name)
    return value if value is None or type(value) is kind else _want(fields, name, kind, path)


@lru_cache(16_384)  # parsed for every request, and rarely different
def snapshot_of(name: str | None, content: bytes, path: str) -> Snapshot:
    """Parse a snapshot, changelog or tag; `name` is the id in the file name, None for tags. Raises `Corrupt`."""
    fields = document(content, path)
    snapshot_id = _want(fields, "id", int, path)
    if name is not None and int(name) != snapshot_id:
        raise Corrupt(
            "The file name says id {name}, but the document says {snapshot_id}.",
            name=name,
            snapshot_id=snapshot_id,
            path=path,
        )
    layout.plain_name(_want(fields, "deltaManifestList", str, path), path)
    for each in ("baseManifestList", "changelogManifestList", "indexManifest", "statistics"):
        if (value := _maybe(fields, each, str, path)) is not None:
            layout.plain_name(value, path)
    watermark = _maybe(fields, "watermark", int, path)
    return Snapshot(
        id=snapshot_id,
        time_ms=_want(fields, "timeMillis", int, path),
        kind=_want(fields, "commitKind", str, path),
        schema_id=_want(fields, "schemaId", int, path),
        commit_user=_want(fields, "commitUser", str, path),
        commit_identifier=_want(fields, "commitIdentifier", int, path),
        total_rows=_maybe(fields, "totalRecordCount", int, path),
        delta_rows=_maybe(fields, "deltaRecordCount", int, path),
        watermark=None if watermark == NO_WATERMARK else watermark,
        fields=fields,
        content=content,
    )


def tag_of(name: str, content: bytes, path: str) -> Tag:
    """Parse a tag: a snapshot with an optional creation time and retention. Raises `Corrupt`."""
    snapshot = snapshot_of(None, content, path)
    return Tag(
        name,
        snapshot,
        _local_time(snapshot.fields.get("tagCreateTime"), path),
        _seconds(snapshot.fields.get("tagTimeRetained"), path),
    )


def _local_time(value: Any, path: str) -> dt.datetime | None:
    """Parse `[year, month, day, hour, minute, second?, nano?]` or ISO text as a wall-clock time without a zone."""
    try:
        if value is None:
            return None
        if isinstance(value, str):
            return dt.datetime.fromisoformat(value).replace(tzinfo=None)
        if isinstance(value, list) and 5 <= len(value) <= 7 and all(type(part) is int for part in value):
            second, nano = (*value[5:], 0, 0)[:2]
            year, month, day, hour, minute = value[:5]
            return dt.datetime(year, month, day, hour, minute, second, nano // 1000)  # noqa: DTZ001  # the format stores none
    except (ValueError, OverflowError, TypeError) as error:
        raise Corrupt("Field 'tagCreateTime' is not a valid time: {error}.", error=error, path=path) from error
    raise Corrupt("Field 'tagCreateTime' must be a time, not {value!r:.60}.", value=value, path=path)


def _seconds(value: Any, path: str) -> dt.timedelta | None:
    try:
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return dt.timedelta(seconds=value)
    except (ValueError, OverflowError):
        return dt.timedelta.max
    raise Corrupt("Field 'tagTimeRetained' must be seconds, not {value!r:.60}.", value=value, path=path)


def consumer_of(name: str, content: bytes, path: str) -> Consumer:
    return Consumer(name, _want(document(content, path), "nextSnapshot", int, path))


def schema_of(name: str, content: bytes, path: str) -> Schema:
    fields = document(content, path)
    columns = []
    for column in _want(fields, "fields", list, path):
        if not isinstance(column, dict):
            raise Corrupt("Each column must be an object, not {column!r:.60}.", column=column, path=path)
        columns.append(
            Field(
                _want(column, "id", int, path),
                _want(column, "name", str, path),
                _want(column, "type", (str, dict), path),
                _maybe(column, "description", str, path),
                write_default=_maybe(column, "defaultValue", str, path),
            )
        )
    options = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in (_maybe(fields, "options", dict, path) or {}).items()
    }
    version = _maybe(fields, "version", int, path) or 1
    if version <= 1:
        options.setdefault("bucket", "1")
    if version <= 2:
        options.setdefault("file.format", "orc")
    keys = [_maybe(fields, each, list, path) or [] for each in ("partitionKeys", "primaryKeys")]
    known = {column.name for column in columns}
    for key in (*keys[0], *keys[1]):
        if not isinstance(key, str) or key not in known:
            raise Corrupt("The key {key!r:.60} is not a column of the schema.", key=key, path=path)
    return Schema(
        id=_want(fields, "id", int, path),
        fields=tuple(columns),
        partition_keys=tuple(keys[0]),
        primary_keys=tuple(keys[1]),
        options=options,
        time_ms=_maybe(fields, "timeMillis", int, path) or 0,
        comment=_maybe(fields, "comment", str, path),
    )
