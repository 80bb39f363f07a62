"""Files that no version of any branch refers to: left behind by crashed writers, rollbacks and deleted branches.

Invariant: a file is an orphan only if the whole history was read, it lies where this table keeps files
(`layout.is_place`, which also guards deletions) and is named like such a file, nothing holds it, and it is older than
the limit (a running writer's files look the same until it commits). A partition unknown to the history may belong to a
crashed writer or be a user's copy: it is listed, and cleaned only if it is named. Other directories, and tables inside
this one, are listed and never entered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from core.errors import Invalid
from core.formats.paimon import layout
from core.formats.paimon.partitions import is_named
from core.messages import Reason
from core.model import codes
from core.model.history import History
from core.model.plan import FREES, ordered
from core.model.references import ObjectKind, Schema
from core.storage.file_systems import DirectoryEntry
from core.storage.store import Store

_METADATA: dict[str, tuple[tuple[str, ObjectKind], ...]] = {
    layout.MANIFEST: (
        ("manifest-list-", ObjectKind.MANIFEST_LIST),
        ("manifest-", ObjectKind.MANIFEST),
        ("index-manifest-", ObjectKind.MANIFEST),
    ),
    layout.INDEX: (("index-", ObjectKind.INDEX),),
    layout.STATISTICS: (("stat-", ObjectKind.STATISTICS),),
}
_NUMBERED = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-\d+)?$")
_NAMED = 10


def find(
    store: Store, history: History, older_than_ms: int, also: Collection[str] = ()
) -> tuple[pa.Table, tuple[Reason, ...]]:
    """Return orphans as a plan's freed files, and notes on files that look orphaned but are kept.

    The history must be complete. `also`: directories of partitions that the history does not mention. Raises `Invalid`
    for a directory that is not a partition.
    """
    # By name, not by path: paths depend on options that may have changed since a file was written.
    paths = history.objects["path"].filter(pa.array(history.held.over(history.existing))).to_pylist()
    held = {path.rsplit("/", 1)[-1] for path in paths}
    if odd_name := next((each for each in also if not layout.is_text(each)), None):
        raise Invalid(
            "The name of the directory {directory} is not valid UTF-8, so it was not searched.",
            directory=layout.shown(odd_name),
            path=layout.shown(odd_name),
            remedy="Rename the directory, or delete its files yourself if no program needs them.",
        )
    walk = _Walk(store, history, frozenset(each.removeprefix("./").rstrip("/") for each in also))
    walk.all()
    rows: list[tuple[str, str, int]] = []
    odd = list[str]()
    young = unknown = ageless = 0
    for path, entry, kind in walk.found:
        if entry.name in held:
            continue
        if not layout.is_text(path):  # no manifest can name it, and neither can a plan
            odd.append(path)
            continue
        if kind is None or not layout.is_place(path):
            unknown += 1
        elif entry.modified_s is None:
            ageless += 1
        elif entry.modified_s * 1000 >= older_than_ms:
            young += 1
        elif store.leads_out(path):
            unknown += 1
        else:
            rows.append((path, kind.value, entry.size or 0))
    notes = (
        (young, codes.MAY_BE_COMMITTED()),
        (ageless, codes.AGELESS()),
        (unknown, codes.ODD_NAMES()),
    )
    columns = [pa.array([row[index] for row in rows], field.type) for index, field in enumerate(FREES)]
    frees = ordered(pa.Table.from_arrays(columns, schema=FREES))
    told_of = [codes.FILES_STAY(count=count, why=why) for count, why in notes if count]
    told_of += [codes.NO_TEXT_STAYS(**_shown(odd))] if odd else []
    return frees, (*walk.notes(), *told_of)


@dataclass
class _Walk:
    """A walk through the directories that may contain the table's files.

    `found`: files of the table, judging by their directory. `partitions`, `tables` and `others`: directories not
    entered.
    """

    store: Store
    history: History
    also: frozenset[str]
    found: list[tuple[str, DirectoryEntry, ObjectKind | None]] = field(default_factory=list)
    partitions: list[str] = field(default_factory=list)  # not empty, and unknown to the history
    tables: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        schemas = [schema for line in self.history.heads.lines for schema in line.schemas.values()]
        self.roots = {schema.options.get("data-file.path-directory", "").strip("/") for schema in schemas} | {""}
        self.schemas: Sequence[Schema] = list({schema.partition_keys: schema for schema in schemas}.values())
        self.known = frozenset({"", *self.history.files["partition"].unique().to_pylist()})
        data = {schema.options.get("data-file.prefix", "data-") for schema in schemas}
        changes = {schema.options.get("changelog-file.prefix", "changelog-") for schema in schemas}
        self.kinds = (
            *((prefix, ObjectKind.DATA) for prefix in sorted(data)),
            *((prefix, ObjectKind.CHANGELOG) for prefix in sorted(changes)),
            ("compacted-changelog-", ObjectKind.CHANGELOG),
        )

    def all(self) -> None:
        for directory, kinds in _METADATA.items():
            for entry in self.store.ls_if_there(directory):
                if not entry.is_dir:
                    plain = _NUMBERED.sub("", entry.name)  # a newer engine's files have longer names
                    kind = next((kind for prefix, kind in kinds if plain == prefix), None)
                    self.found.append((f"{directory}/{entry.name}", entry, kind))
        for entry in self.store.ls():
            if entry.is_dir and entry.name not in layout.OWN and entry.name not in _METADATA:
                if entry.name.startswith(layout.STAGING):  # left by one of our jobs that was killed before its commit
                    self._staged(entry.name)
                else:
                    self._enter(entry.name)
        if wrong := sorted(self.also - {directory for directory in self.also if self._is_partition(directory)}):
            raise Invalid(
                "{directory} is not a partition directory of this table, so it was not searched.",
                directory=wrong[0],
                path=wrong[0],
                remedy="`snapscope orphans TABLE` lists the directories you can give.",
            )

    def notes(self) -> list[Reason]:
        found: list[Reason] = []
        if self.partitions:
            shown = _shown(self.partitions)
            found.append(codes.PARTITIONS_STAY(**shown))
            found.append(codes.NAME_PARTITIONS())
        if self.tables:
            found.append(codes.TABLES_STAY(**_shown(self.tables)))
        if self.others:
            found.append(codes.OTHERS_STAY(**_shown(self.others)))
        return found

    def _enter(self, directory: str) -> None:
        at = self._at(directory)
        if at is None:
            self.others.append(directory)
            return
        entries = self.store.ls(directory)
        if any(entry.is_dir and entry.name in layout.OF_TABLES for entry in entries):
            self.tables.append(directory)  # its content belongs to that table
            return
        kind, partition = at
        if kind == "bucket" and (partition in self.known or directory.rpartition("/")[0] in self.also):
            self.found += [
                (f"{directory}/{entry.name}", entry, self._kind(entry.name)) for entry in entries if not entry.is_dir
            ]
            self.others += [f"{directory}/{entry.name}" for entry in entries if entry.is_dir]
        elif kind == "bucket":
            above = directory.rpartition("/")[0]
            if entries and above not in self.partitions:
                self.partitions.append(above)
        else:
            for entry in entries:
                if entry.is_dir:
                    self._enter(f"{directory}/{entry.name}")
                else:
                    self.found.append((f"{directory}/{entry.name}", entry, None))

    def _at(self, directory: str) -> tuple[str, str] | None:
        """Classify a directory: ("bucket", its partition), or ("above", "") if it is a parent of buckets; else None."""
        for root in self.roots:
            if f"{root}/".startswith(f"{directory}/"):
                return "above", ""
            if root and not directory.startswith(f"{root}/"):
                continue
            steps = (directory.removeprefix(root).strip("/")).split("/")
            for schema in self.schemas:
                keys = len(schema.partition_keys)
                if not is_named(schema, steps[:keys]):
                    continue
                if len(steps) <= keys:
                    return "above", ""
                if len(steps) == keys + 1 and layout.BUCKET.fullmatch(steps[-1]):
                    return "bucket", "/".join(steps[:-1])
        return None

    def _is_partition(self, directory: str) -> bool:
        """Return whether `also` may name the directory: a partition of this table, not inside another table."""
        is_own = directory not in ("", *self.roots) and (self._at(f"{directory}/bucket-0") or ("",))[0] == "bucket"
        return is_own and not any(f"{directory}/".startswith(f"{table}/") for table in self.tables)

    def _staged(self, directory: str) -> None:
        entries = self.store.ls(directory)
        if any(entry.is_dir and entry.name in layout.OF_TABLES for entry in entries):
            self.tables.append(directory)
            return
        for entry in entries:
            if entry.is_dir:
                self._staged(f"{directory}/{entry.name}")
            else:
                self.found.append((f"{directory}/{entry.name}", entry, ObjectKind.DATA))

    def _kind(self, name: str) -> ObjectKind | None:
        if _NUMBERED.sub("", name) == "index-":  # `index-file-in-data-file-dir`
            return ObjectKind.INDEX
        return next((kind for prefix, kind in self.kinds if name.startswith(prefix)), None)


def _shown(paths: Sequence[str]) -> dict[str, object]:
    named = ", ".join(map(layout.shown, sorted(paths)[:_NAMED])) + (", …" if paths[_NAMED:] else "")
    return {"count": len(paths), "named": named}
