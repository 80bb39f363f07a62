"""The columns of a branch across its schemas: what each change was, and what it means for readers. Pure.

Invariant: a column is its field id, never its name. Schemas that do not differ in columns are one version. A schema
that is not there is named, since what it changed shows only in the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import pyarrow.compute as pc

from core.analysis.diff import spelled
from core.formats import registry
from core.formats.table_format import TableFormat
from core.messages import counted, message
from core.model.history import History
from core.model.references import Conversion, Field, Heads, HolderKind, Line, Schema, Snapshot, literal

Key = tuple[int, ...]  # field ids, from the column down to a field inside it
NOT_NULL = " NOT NULL"
REORDERED = message(
    "Columns were moved: `SELECT *` returns them in another order; files and queries by name are the same."
)


class ChangeKind(StrEnum):
    """What changed of a column."""

    ADDED = "added"
    DROPPED = "dropped"
    RENAMED = "renamed"
    RETYPED = "retyped"
    REQUIRED = "not-null"
    OPTIONAL = "nullable"
    DEFAULT = "default"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """One change of one column; `meaning` in sentences. `before` and `after`: names, types, defaults or comments."""

    kind: ChangeKind
    column: str
    before: str | None
    after: str | None
    meaning: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """Schemas with the same columns, one after another.

    ids: of the schemas. `missing`: those just before it that are not there or cannot be read.
    time_ms: when it was made, if the format records it
    snapshots: the retained ones that were committed with it, the oldest first, those that only tags keep included
    is_reordered: columns were moved; queries by name see no difference
    """

    ids: tuple[int, ...]
    missing: tuple[int, ...]
    time_ms: int | None
    snapshots: tuple[Snapshot, ...] = field(repr=False)
    is_current: bool
    columns: Mapping[Key, Field] = field(repr=False)
    changes: Mapping[Key, tuple[ColumnChange, ...]]
    is_reordered: bool = False

    @property
    def since_ms(self) -> int | None:
        """When it was made; if the format does not record that, when the first retained snapshot was committed with
        it."""
        return self.time_ms or next((each.time_ms for each in self.snapshots), None)


@dataclass(frozen=True, slots=True)
class SchemaHistory:
    """`keys`: all columns that ever were, in the order of the newest version that has them; fields inside a column
    only if they changed by themselves."""

    versions: tuple[Version, ...]
    keys: tuple[Key, ...]

    @property
    def changed(self) -> int:
        """How many versions differ in columns from the one before."""
        return max(len(self.versions) - 1, 0)


def schema_history(heads: Heads, branch: str, history: History | None = None) -> SchemaHistory:
    """The schemas of a branch. With `history`, the files of its latest version are counted by the schema they were
    written with, where the format records it."""
    line = heads.require(branch)
    steps = _steps(line)
    found: list[Version] = []
    for number, (schema, snapshots) in enumerate(steps):
        columns = dict(_fields(schema.fields))
        is_last = number == len(steps) - 1
        if found and found[-1].columns == columns and list(found[-1].columns) == list(columns):
            last = found[-1]
            ids = last.ids if schema.id in last.ids else (*last.ids, schema.id)
            found[-1] = replace(last, ids=ids, snapshots=(*last.snapshots, *snapshots), is_current=is_last)
            continue
        missing: tuple[int, ...] = ()
        if found and schema.id > found[-1].ids[-1]:
            missing = tuple(range(found[-1].ids[-1] + 1, schema.id))
        found.append(Version((schema.id,), missing, schema.time_ms or None, tuple(snapshots), is_last, columns, {}))
    judge = _Judge(registry.of(heads), found, _written_with(line, history))
    versions = tuple(judge.judged(number) for number in range(len(found)))
    return SchemaHistory(versions, _keys(versions))


def _steps(line: Line) -> list[tuple[Schema, list[Snapshot]]]:
    """Which schema was current, one after another, and the retained snapshots committed with it."""
    known = line.schemas
    listed = {each.id: each for each in line.snapshots}
    kept = {tag.snapshot.id: tag.snapshot for tag in line.tags if tag.snapshot.id not in listed}
    if line.current_schema is None:  # each change makes a new schema
        snapshots = sorted([*kept.values(), *listed.values()], key=lambda each: each.id)
        return [(known[id], [each for each in snapshots if each.schema_id == id]) for id in sorted(known)]
    steps: list[tuple[Schema, list[Snapshot]]] = []
    for each in line.snapshots:
        if each.schema_id not in known:
            continue
        if not steps or steps[-1][0].id != each.schema_id:
            steps.append((known[each.schema_id], []))
        steps[-1][1].append(each)
    for id in sorted(known.keys() - {schema.id for schema, _ in steps}):  # no retained snapshot has it
        at = next((at for at, (schema, _) in enumerate(steps) if schema.id > id), len(steps))
        steps.insert(at, (known[id], []))
    if steps and steps[-1][0].id != line.current_schema:  # an earlier schema became the current one again
        steps.append((known[line.current_schema], []))
    return steps


def _written_with(line: Line, history: History | None) -> Mapping[int, int] | None:
    """Files of the branch's latest version by the schema they were written with; None if that is not known."""
    latest = line.latest
    if history is None or latest is None or line.current_schema is not None:
        return None
    at = next(
        (
            at
            for at, holder in enumerate(history.holders)
            if holder.branch == line.branch and holder.kind is HolderKind.SNAPSHOT and holder.name == str(latest.id)
        ),
        None,
    )
    if at is None or at in history.incomplete:
        return None
    counts = pc.value_counts(history.files_at(at, is_ordered=False)["schema_id"]).to_pylist()
    found = {each["values"]: each["counts"] for each in counts}
    return None if None in found else found


# ------------------------------------------------------------------------------------------------------------ columns


def full_name(columns: Mapping[Key, Field], key: Key) -> str:
    """The name of a column, or of a field inside one: `address.zip`."""
    return ".".join(columns[key[:depth]].name for depth in range(1, len(key) + 1))


def _fields(fields: Iterable[Field], path: Key = ()) -> Iterator[tuple[Key, Field]]:
    """Every column and every field inside it."""
    for each in fields:
        yield (*path, each.id), each
        yield from _inside(each.type, (*path, each.id))


def _inside(type_: object, path: Key) -> Iterator[tuple[Key, Field]]:
    if isinstance(type_, Mapping):
        yield from _fields(map(_field, type_.get("fields", ())), path)
        for part in ("element", "key", "value"):
            yield from _inside(type_.get(part), path)


def _field(given: Mapping[str, Any]) -> Field:
    """A field inside a column, from either format's JSON."""
    type_ = given["type"]
    is_required = given.get("required") is True and isinstance(type_, str)
    return Field(
        int(given["id"]),
        str(given["name"]),
        f"{type_}{NOT_NULL}" if is_required else type_,
        given.get("doc", given.get("description")),
        literal(given.get("initial-default")),
        literal(given.get("write-default", given.get("defaultValue"))),
    )


def _own(type_: object) -> str:
    """A type without NOT NULL, and without the fields inside it, which are compared one by one."""
    if not isinstance(type_, Mapping):
        return str(type_).removesuffix(NOT_NULL)
    root = str(type_.get("type", "?")).removesuffix(NOT_NULL)
    inner = ["…"] if "fields" in type_ else [_own(type_[name]) for name in ("element", "key", "value") if name in type_]
    return f"{root}<{', '.join(inner)}>"


def _is_required(type_: object) -> bool:
    return str(type_.get("type") if isinstance(type_, Mapping) else type_).endswith(NOT_NULL)


def _keys(versions: Sequence[Version]) -> tuple[Key, ...]:
    """The newest version's columns in its order; each that was dropped after the column it stood behind."""
    wanted = {key for version in versions for key in version.changes}
    found: list[Key] = []
    for version in reversed(versions):
        at = 0
        for key in version.columns:
            if key in found:
                at = found.index(key) + 1
            elif len(key) == 1 or key in wanted:
                found.insert(at, key)
                at += 1
    return tuple(found)


# ------------------------------------------------------------------------------------------------------------ changes


@dataclass(frozen=True, slots=True)
class _Judge:
    """Says what changed with each version. `written`: files of the latest version by the schema they were written
    with; None if that is not known."""

    format: type[TableFormat]
    versions: Sequence[Version]
    written: Mapping[int, int] | None

    def judged(self, number: int) -> Version:
        new = self.versions[number]
        if number == 0:
            return new
        old = self.versions[number - 1]
        changes: dict[Key, tuple[ColumnChange, ...]] = {}
        for key in dict.fromkeys((*new.columns, *old.columns)):
            above = [key[:depth] for depth in range(1, len(key))]
            if all(each in old.columns and each in new.columns for each in above) and (
                found := tuple(self._changes(number, key))
            ):
                changes[key] = found
        orders = ([key for key in of.columns if key in other.columns] for of, other in ((old, new), (new, old)))
        return replace(new, changes=changes, is_reordered=next(orders) != next(orders))

    def _changes(self, number: int, key: Key) -> Iterator[ColumnChange]:
        before, after = self.versions[number - 1].columns, self.versions[number].columns
        old, new = before.get(key), after.get(key)
        name = full_name(after if new else before, key)
        if new is None:
            yield self._dropped(number, key, name)
        elif old is None:
            yield self._added(number, key, name)
        else:
            if old.name != new.name:
                yield self._renamed(number, key, name)
            if _own(old.type) != _own(new.type):
                yield self._retyped(number, key, name)
            yield from _small_changes(name, old, new)

    def _added(self, number: int, key: Key, name: str) -> ColumnChange:
        new = self.versions[number].columns[key]
        value = "NULL" if new.initial_default is None else new.initial_default
        meaning: list[str] = [message("Rows of older files have {value} in `{name}`.", value=value, name=name)]
        if any(full_name(each.columns, own) == name for each in self.versions[:number] for own in each.columns):
            meaning.append(
                message("It is a new column: the values of the dropped `{name}` do not come back.", name=name)
            )
        if new.write_default is not None and new.write_default != new.initial_default:
            meaning.append(message("New rows that leave it out get {value}.", value=new.write_default))
        return ColumnChange(ChangeKind.ADDED, name, None, spelled(new.type), (*meaning, *self._older_files(number)))

    def _dropped(self, number: int, key: Key, name: str) -> ColumnChange:
        old = self.versions[number - 1].columns[key]
        meaning: list[str] = [
            message(
                "Readers no longer see `{name}`. Its values stay in older files until those are rewritten.", name=name
            )
        ]
        if self.written is not None:
            files = self._files(each for each in self.versions[:number] if key in each.columns)
            meaning.append(
                counted(
                    files,
                    "{count} file of the latest version was written with it.",
                    "{count} files of the latest version were written with it.",
                )
            )
        if count := self._snapshots(number, lambda each: key in each.columns):
            meaning.append(
                counted(count, "{count} older snapshot still shows it.", "{count} older snapshots still show it.")
            )
        return ColumnChange(ChangeKind.DROPPED, name, spelled(old.type), None, tuple(meaning))

    def _renamed(self, number: int, key: Key, name: str) -> ColumnChange:
        old = self.versions[number - 1].columns[key].name
        meaning: list[str] = [
            message(
                "Only the name changed: files are matched by field id, so no value is lost. Queries must say `{name}`.",
                name=name,
            )
        ]
        if count := self._snapshots(number, lambda each: key in each.columns and each.columns[key].name == old):
            meaning.append(
                counted(
                    count,
                    "{count} older snapshot still calls it `{before}`.",
                    "{count} older snapshots still call it `{before}`.",
                    before=old,
                )
            )
        return ColumnChange(ChangeKind.RENAMED, name, old, self.versions[number].columns[key].name, tuple(meaning))

    def _retyped(self, number: int, key: Key, name: str) -> ColumnChange:
        old, new = self.versions[number - 1].columns[key], self.versions[number].columns[key]
        before, after = spelled(old.type), spelled(new.type)
        meaning = [_conversion(self.format.conversion(old, new), before, after), *self._older_files(number)]
        if count := self._snapshots(number, lambda each: key in each.columns and each.columns[key].type == old.type):
            meaning.append(
                counted(
                    count,
                    "{count} older snapshot still shows it as {before}.",
                    "{count} older snapshots still show it as {before}.",
                    before=before,
                )
            )
        return ColumnChange(ChangeKind.RETYPED, name, before, after, tuple(meaning))

    def _files(self, versions: Iterable[Version]) -> int:
        written = self.written or {}
        return sum(written.get(id, 0) for id in {id for version in versions for id in version.ids})

    def _older_files(self, number: int) -> tuple[str, ...]:
        if self.written is None:
            return ()
        files = self._files(self.versions[:number])
        return (
            counted(
                files, "{count} file of the latest version is older.", "{count} files of the latest version are older."
            ),
        )

    def _snapshots(self, number: int, has: Callable[[Version], bool]) -> int:
        """How many snapshots of before can still be read and show a column as it was."""
        return len({each.id for version in self.versions[:number] if has(version) for each in version.snapshots})


def _conversion(conversion: Conversion, before: str, after: str) -> str:
    match conversion:
        case Conversion.EXACT:
            return message("Values of older files become {after} when they are read, without loss.", after=after)
        case Conversion.CAST:
            return message(
                "Values of older files are cast to {after} when they are read: digits may be lost, and a value that "
                "does not fit may change or stop the query.",
                after=after,
            )
        case Conversion.NONE:
            return message(
                "The format does not convert {before} to {after}: queries over older files fail or answer wrongly.",
                before=before,
                after=after,
            )
        case _:
            return message("How older files are read as {after} is not known.", after=after)


def _small_changes(name: str, old: Field, new: Field) -> Iterator[ColumnChange]:
    """Changes that leave the values of older files as they are."""
    if _is_required(new.type) and not _is_required(old.type):
        meaning = message(
            "Writers must fill `{name}` from then on. Rows of older files were not checked and may have NULL.",
            name=name,
        )
        yield ColumnChange(ChangeKind.REQUIRED, name, None, None, (meaning,))
    if _is_required(old.type) and not _is_required(new.type):
        meaning = message("New rows may have NULL in `{name}`; existing rows are not changed.", name=name)
        yield ColumnChange(ChangeKind.OPTIONAL, name, None, None, (meaning,))
    if old.write_default != new.write_default:
        value = "NULL" if new.write_default is None else new.write_default
        meaning = message("New rows that leave it out get {value}; existing rows are not changed.", value=value)
        yield ColumnChange(ChangeKind.DEFAULT, name, old.write_default, new.write_default, (meaning,))
    if (old.description or "") != (new.description or ""):
        meaning = message("Only the comment changed: values and queries are not affected.")
        yield ColumnChange(ChangeKind.COMMENT, name, old.description, new.description, (meaning,))
