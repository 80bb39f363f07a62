"""Iceberg's Java core as a judge: one JVM, thousands of commands (see IcebergJudge.java).

    with IcebergJudge() as judge:
        judge.create(table, [("id", "long"), ("p", "string")], partition_by=[("p", "identity")], format_version=3)
        judge.change(table, {"do": "append", "name": "a", "rows": [[1, "x"]]}, now=1_000)      # -> [id of the snapshot]
        judge.expire(table, now=2_000, older_than_ms=1_500)["reachable"]                        # changes nothing

A table is a directory of HadoopTables (`vN.metadata.json`, a version hint), named by a path or as `file:/…`. A question
may name one metadata file instead: `metadata=`. `now=` is what the engine's clock says, in ms since 1970; without it
the system's. The engine has no such setting, so the classes of iceberg-core that ask for the time are copied with that
one call redirected (`_told_the_time`); nothing else in them is touched.

The jars are fetched once by Maven and kept, with the compiled driver, in the cache of `tests.engines.lines`. Hadoop's
client comes with PySpark.

Invariant: nothing here judges. What the engine refuses is an `EngineError`.
"""

from __future__ import annotations

import functools
import os
import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.engines.java import JAVA_FLAGS, Missing, compiled, fetched, find_java, from_pyspark
from tests.engines.lines import EngineError, JudgeDied, Lines
from tests.engines.paimon_java import ordered

HERE = Path(__file__).resolve().parent
POM = HERE / "iceberg-pom.xml"
SOURCE = HERE / "IcebergJudge.java"
VERSION = "1.11.0"
CLOCK = "IcebergJudge$Clock"

Row = Sequence[Any]
Table = str | os.PathLike[str]
Change = Mapping[str, Any]


# --- what it takes ---------------------------------------------------------------------------------------------------


def class_path() -> str:
    """Everything the driver needs, itself included."""
    words = ["dependency:copy-dependencies", f"-Diceberg.version={VERSION}", "-DoutputDirectory={}"]
    jars = fetched(f"iceberg-{VERSION}", POM, words)
    (core,) = (jar for jar in jars if jar.name == f"iceberg-core-{VERSION}.jar")

    def tell_the_time(classes: Path) -> None:
        for name, content in _told_the_time(core):
            (classes / name).parent.mkdir(parents=True, exist_ok=True)
            (classes / name).write_bytes(content)

    return compiled("iceberg-classes", SOURCE, [*jars, *from_pyspark()], tell_the_time, Path(__file__).read_text())


@functools.cache
def missing() -> str:
    """What this machine lacks to judge; "" where nothing. Fetches and compiles it."""
    try:
        class_path()
    except Missing as lack:
        return str(lack)
    return ""


# --- the clock -------------------------------------------------------------------------------------------------------

_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Bytes after the tag of each kind of constant (JVM specification, table 4.4-A) but Utf8, which says its own."""


def _told_the_time(jar: Path) -> Iterable[tuple[str, bytes]]:
    """Classes of a jar that ask System for the time, made to ask `CLOCK`."""
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith(".class") and b"currentTimeMillis" in content:
                yield name, redirected(content)


def redirected(content: bytes) -> bytes:
    """A class file whose calls of System.currentTimeMillis() go to `CLOCK`: two constants more, one reference moved."""
    (count,) = struct.unpack_from(">H", content, 8)
    at, index, tags = 10, 1, dict[int, tuple[int, int]]()
    while index < count:
        tag = content[at]
        tags[index] = tag, at + 1
        at += 1 + (2 + struct.unpack_from(">H", content, at + 1)[0] if tag == 1 else _SIZES[tag])
        index += 2 if tag in (5, 6) else 1  # a long or a double takes two numbers

    def pair(index: int) -> tuple[int, int]:
        return struct.unpack_from(">HH", content, tags[index][1])

    def text(index: int) -> bytes:
        start = tags[index][1]
        return content[start + 2 : start + 2 + struct.unpack_from(">H", content, start)[0]]

    def class_name(index: int) -> bytes:
        return text(pair(index)[0])

    changed = bytearray(content)
    for index, (tag, start) in tags.items():
        if tag != 10 or class_name(pair(index)[0]) != b"java/lang/System":
            continue
        if text(pair(pair(index)[1])[0]) == b"currentTimeMillis":
            struct.pack_into(">H", changed, start, count + 1)
    clock = CLOCK.encode()
    changed[at:at] = struct.pack(">BH", 1, len(clock)) + clock + struct.pack(">BH", 7, count)
    struct.pack_into(">H", changed, 8, count + 2)
    return bytes(changed)


# --- the judge -------------------------------------------------------------------------------------------------------


class IcebergJudge(Lines):
    """A JVM with Iceberg's core."""

    version = VERSION

    def __init__(self, timeout_s: float = 300) -> None:
        java, _ = find_java()
        flags = [*JAVA_FLAGS, "-Duser.timezone=UTC", "-Djava.io.tmpdir={own}"]
        super().__init__([java, *flags, "-cp", class_path(), "IcebergJudge", "{own}"], timeout_s=timeout_s)

    def run(self, cmd: str, table: Table | None, **fields: Any) -> Any:
        """Any command of IcebergJudge.java by its name."""
        return self.ask(cmd=cmd, table=None if table is None else os.fspath(table), **fields)

    def hello(self, **fields: Any) -> dict[str, Any]:
        """The JVM's `java` version, what its clock says `now`, and where the `engine`'s classes come from."""
        return self.ask(cmd="hello", **fields)

    # What changes a table.

    def create(
        self,
        table: Table,
        columns: Sequence[tuple[str, str]],
        *,
        partition_by: Sequence[tuple[str, str]] = (),
        format_version: int = 2,
        properties: Mapping[str, str] | None = None,
        now: int | None = None,
    ) -> str:
        """A new table in this directory; its metadata file. A column is (name, primitive type), all optional; a part of
        the partition is (column, transform), as metadata writes them."""
        return self.run(
            "create",
            table,
            schema=schema_of(columns),
            partition_by=[list(part) for part in partition_by],
            format_version=str(format_version),
            properties=dict(properties or {}),
            now=now,
        )

    def replace_table(
        self,
        table: Table,
        columns: Sequence[tuple[str, str]],
        *,
        partition_by: Sequence[tuple[str, str]] = (),
        now: int | None = None,
    ) -> str:
        """REPLACE TABLE: history and other refs stay, main and what it read go."""
        parts = [list(part) for part in partition_by]
        return self.run("replace_table", table, schema=schema_of(columns), partition_by=parts, now=now)

    def change(self, table: Table, *changes: Change, now: int | None = None) -> list[int]:
        """One change, or several in one transaction; the snapshots that are new. Each is {"do": …} with, of these:

        append (fast), overwrite (where, delete), delete (where, delete), replace_partitions, rewrite (delete,
        delete_deletes, compact), rewrite_manifests (into), row_delta (remove_deletes, positions {path: [row]},
        equality {columns, rows}, claimed_deletes): all take branch, stage, summary; what adds data takes `name` and
        `rows` (real Parquet, one file a partition) or `claimed` [{name, bytes, records, partition "p=1/q=2"}], files
        in metadata alone. `where` is (column, value); files are named by path, deletion vectors by path@offset. A
        claimed delete is {name, data (path of a live file), bytes, records} and offset and length (a vector, in place
        of the one there was), or equality [columns], or referenced;
        create_tag, replace_tag, create_branch, replace_branch (name, snapshot), remove_tag, remove_branch,
        rename_branch (name, to), fast_forward (name, to), retention: each with max_ref_age_ms, max_snapshot_age_ms,
        min_snapshots_to_keep; rollback, set_current, cherrypick (snapshot), rollback_to_time (time_ms);
        schema (changes: (add, name, type[, default]) (drop, name) (rename, a, b) (type, name, type) (first, name)
        (after, name, other) (optional, name)); spec (changes: (add, column, transform) (remove, field));
        properties (set, remove; set format-version upgrades); statistics (snapshot, name), partition_statistics,
        remove_statistics (snapshot).
        """
        return self.run("change", table, changes=list(changes), now=now)["snapshots"]

    def changed(self, metadata: str, *changes: Change, now: int | None = None) -> dict[str, Any]:
        """The `state` a change would lead to from one metadata file."""
        return self.run("change", None, metadata=metadata, changes=list(changes), now=now)["state"]

    def expire_now(self, table: Table, *, now: int | None = None, **request: Any) -> dict[str, Any]:
        """Does what `expire` asks about, by the plain API; `state`, `removed_snapshots`, `removed_refs`, `deleted`,
        `incremental`. `cleanup` "NONE" leaves every file."""
        return self.run("expire", table, apply=True, now=now, **request)

    # Questions. A point is snapshot=, ref=, time_ms=, or nothing for the newest; metadata= instead of a table, and with
    # it moved={where it was: where it is} for a table that lies elsewhere than its metadata says.

    def expire(
        self,
        table: Table | None,
        *,
        now: int | None = None,
        older_than_ms: int | None = None,
        retain_last: int | None = None,
        snapshots: Sequence[int] | None = None,
        drop_refs: Sequence[str] | None = None,
        clean_expired_metadata: bool | None = None,
        metadata: str | None = None,
        moved: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """What an expiry would do, after `drop_refs`: `state` (see `state`) afterwards, `removed_snapshots`,
        `removed_refs` (beyond the dropped), and three sets of files: `deleted` by the plain API, which chose
        `incremental` cleanup or not; `reachable` by its reachable cleanup; `action` by the set difference that Spark's
        procedure computes."""
        return self.run(
            "expire",
            table,
            now=now,
            older_than_ms=older_than_ms,
            retain_last=retain_last,
            snapshots=None if snapshots is None else list(snapshots),
            drop_refs=None if drop_refs is None else list(drop_refs),
            clean_expired_metadata=clean_expired_metadata,
            metadata=metadata,
            moved=moved,
        )

    def state(self, table: Table | None, **at: Any) -> dict[str, Any]:
        """The metadata as the engine understands it: metadata (its file), format_version, uuid, location, updated_ms,
        schema, spec, current, snapshots [{id, parent, ms, sequence, operation, schema, summary}], log [[ms, id]],
        refs {name: {snapshot, type, min_snapshots_to_keep, max_snapshot_age_ms, max_ref_age_ms}}, schemas {id:
        ["id:name:type"]}, specs, partition_fields, properties, metadata_log [[ms, file]], statistics and
        partition_statistics [[snapshot, path, bytes]]."""
        return self.run("state", table, **at)

    def as_of(self, table: Table | None, times: Sequence[int], **at: Any) -> list[int | str]:
        """Which snapshot each time picks, or the engine's words where it picks none."""
        return self.run("as_of", table, times=list(times), **at)

    def scan(self, table: Table | None, **point: Any) -> dict[str, Any]:
        """`columns` ["id:name:type"] and `files` {path, bytes, records, spec, partition, sequence, deletes: [[content,
        path, offset]]}."""
        return self.run("scan", table, **point)

    def rows(self, table: Table | None, **point: Any) -> list[list[Any]]:
        """Every row, ordered. Bytes are hex; decimals, dates, times, UUIDs and non-finite numbers are text."""
        return ordered(self.run("rows", table, **point)["rows"])

    def files(self, table: Table | None, **at: Any) -> dict[int, dict[str, dict[str, int]]]:
        """Bytes by path by kind (manifest_list, manifest, data, position_deletes, equality_deletes) of what each
        snapshot reaches; `snapshots=[id]` for these alone."""
        found = self.run("files", table, **at)
        return {int(id): {kind: dict(files) for kind, files in kinds.items()} for id, kinds in found.items()}


def schema_of(columns: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Iceberg's JSON of a schema."""
    fields = [
        {"id": id, "name": name, "required": False, "type": type} for id, (name, type) in enumerate(columns, start=1)
    ]
    return {"type": "struct", "schema-id": 0, "fields": fields}


__all__ = ["VERSION", "EngineError", "IcebergJudge", "JudgeDied", "Missing", "missing", "redirected"]
