"""Real Java Paimon as a judge: one JVM, thousands of commands (see PaimonJudge.java).

    with PaimonJudge() as judge:                       # or PaimonJudge("0.9.0")
        judge.create(table, [("id", "BIGINT NOT NULL"), ("v", "STRING")], primary_keys=["id"], options={"bucket": "2"})
        judge.write(table, [[1, "a"], [2, "b"]])       # -> [1], the snapshots it made
        judge.expire(table, retain_max=1, retain_min=1)

The jar of a release is fetched once by Maven and kept, with the compiled driver, in the cache of `tests.engines.lines`.
Hadoop's client comes with PySpark. A command on a branch takes `branch=`; every command takes `options=`, the dynamic
table options it runs under. What a release does not have raises `EngineError` with `is_unsupported`.

Invariant: nothing here judges. The JVM's clock and zone (UTC unless told) are the engine's.
"""

from __future__ import annotations

import functools
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.engines.java import JAVA_FLAGS, Missing, compiled, fetched, find_java, from_pyspark
from tests.engines.lines import EngineError, JudgeDied, Lines

HERE = Path(__file__).resolve().parent
POM = HERE / "pom.xml"
SOURCE = HERE / "PaimonJudge.java"

# 2.0.0 has no bundle of its own in Maven Central; its Flink connector carries the same core, formats and code
# generation, and nothing here loads the Flink half of it.
RELEASES = {
    "2.0.0": "paimon-flink-2.0",
    "1.4.2": "paimon-bundle",
    "1.3.1": "paimon-bundle",
    "1.2.0": "paimon-bundle",
    "1.1.1": "paimon-bundle",
    "1.0.1": "paimon-bundle",
    "0.9.0": "paimon-bundle",
}
NEWEST = "2.0.0"
NO_DEFAULTS = ("core-default.xml", "mapred-default.xml", "yarn-default.xml", "hdfs-default.xml")
"""Hadoop's, found empty first on the class path: Paimon 0.9 reads them anew for each ORC format it makes, often twenty
times a command, and nothing here uses a file system of Hadoop's."""

Row = Sequence[Any]
Table = str | os.PathLike[str]


# --- what it takes ---------------------------------------------------------------------------------------------------


def class_path(version: str = NEWEST) -> str:
    """Everything the driver needs, itself included."""
    if version not in RELEASES:
        raise Missing(f"no jar is known for Paimon {version}; known: {', '.join(RELEASES)}")
    words = ["dependency:copy", f"-Dpaimon.artifact={RELEASES[version]}", f"-Dpaimon.version={version}", "-Djars={}"]
    jars = [*fetched(f"paimon-{version}", POM, words), *from_pyspark()]

    def hide_defaults(classes: Path) -> None:
        for name in NO_DEFAULTS:
            (classes / name).write_text("<configuration/>\n")

    return compiled(f"classes-{version}", SOURCE, jars, hide_defaults, repr(NO_DEFAULTS))


@functools.cache
def missing(version: str = NEWEST) -> str:
    """What this machine lacks to judge with a release; "" where nothing. Fetches and compiles it."""
    try:
        class_path(version)
    except Missing as lack:
        return str(lack)
    return ""


def available(version: str = NEWEST) -> bool:
    return not missing(version)


# --- the judge -------------------------------------------------------------------------------------------------------


class PaimonJudge(Lines):
    """A JVM with one release of Paimon."""

    def __init__(self, version: str = NEWEST, zone: str = "UTC", timeout_s: float = 300) -> None:
        java, _ = find_java()
        flags = [*JAVA_FLAGS, f"-Duser.timezone={zone}", "-Djava.io.tmpdir={own}"]
        super().__init__([java, *flags, "-cp", class_path(version), "PaimonJudge", "{own}"], timeout_s=timeout_s)
        self.version = version

    def run(self, cmd: str, table: Table, **fields: Any) -> Any:
        """Any command of PaimonJudge.java by its name."""
        return self.ask(cmd=cmd, table=os.fspath(table), **fields)

    def held(self, directory: Path, at: str, cmd: str, table: Table, **fields: Any) -> Held:
        """Starts a command that stops right before it puts a file at a path that ends with `at`. Nothing else may be
        asked before it has ended. `directory` is empty, and used for this alone."""
        return Held(self, directory, {"hold": {"at": at, "directory": str(directory)}, **fields}, cmd, table)

    def hello(self) -> dict[str, str]:
        """The JVM's `java` version and `zone`."""
        return self.ask(cmd="hello")

    # Tables.

    def create(
        self,
        table: Table,
        columns: Sequence[tuple[str, Any]],
        *,
        partition_keys: Sequence[str] = (),
        primary_keys: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
    ) -> None:
        """A new table in this directory. A column is (name, type as schema-N writes it)."""
        keys = {"partition_keys": list(partition_keys), "primary_keys": list(primary_keys)}
        self.run("create", table, columns=[list(c) for c in columns], options=dict(options or {}), **keys)

    def alter(self, table: Table, *changes: Sequence[str], branch: str | None = None) -> int:
        """("set_option", k, v) ("remove_option", k) ("add", name, type) ("drop", name) ("rename", a, b) ("type", name,
        type), in one new schema; its id."""
        return self.run("alter", table, changes=[list(change) for change in changes], branch=branch)

    def schema(self, table: Table, **at: Any) -> dict[str, Any]:
        return self.run("schema", table, **at)

    # Commits: each answers the ids of the snapshots it made.

    def write(
        self,
        table: Table,
        rows: Sequence[Row],
        *,
        kinds: Sequence[str] | None = None,
        overwrite: Mapping[str, str | None] | None = None,
        user: str | None = None,
        identifier: int | None = None,
        watermark: int | None = None,
        wait: bool = True,
        origin: Table | None = None,
        branch: str | None = None,
        options: Mapping[str, str] | None = None,
        columns: Sequence[str] | None = None,
        first_row_id: int | None = None,
        writer: int | None = None,
    ) -> list[int]:
        """Appends or upserts. `kinds`: "+I" "-U" "+U" "-D" of each row. `overwrite`: a static partition, {} = dynamic.
        `origin`: another table, whose rows come first. `columns`: of all, those that rows have, in the table's order;
        with `first_row_id` new values of rows that are there, from that one on. `writer`: of a `user`, one whose files
        in the postpone bucket have an order.

        `wait`: until compactions this write starts are done, so that they are in a second snapshot of this commit.
        """
        return self._made(
            "write",
            table,
            rows=[list(row) for row in rows],
            kinds=None if kinds is None else list(kinds),
            overwrite=None if overwrite is None else dict(overwrite),
            user=user,
            identifier=identifier,
            watermark=watermark,
            wait=wait,
            **{"from": None if origin is None else os.fspath(origin)},
            branch=branch,
            options=options,
            columns=None if columns is None else list(columns),
            first_row_id=first_row_id,
            writer=writer,
        )

    def prepare(self, table: Table, rows: Sequence[Row], **fields: Any) -> str:
        """Writes files as `write` does, and commits nothing: a handle for `commit` or `abort`."""
        return self.run("write", table, rows=[list(row) for row in rows], prepare=True, **fields)["handle"]

    def commit(self, handle: str) -> list[int]:
        return self.ask(cmd="commit", handle=handle)["snapshots"]

    def abort(self, handle: str) -> None:
        self.ask(cmd="abort", handle=handle)

    def drop_partitions(self, table: Table, *partitions: Mapping[str, str], **at: Any) -> list[int]:
        return self._made("drop_partitions", table, partitions=[dict(p) for p in partitions], **at)

    def delete_rows(self, table: Table, *ids: int, **at: Any) -> list[int]:
        """Of a table with data evolution and deletion vectors, by their row ids."""
        return self._made("delete_rows", table, ids=list(ids), **at)

    def truncate(self, table: Table, **at: Any) -> list[int]:
        return self._made("truncate", table, **at)

    def compact(self, table: Table, *, full: bool = True, **at: Any) -> list[int]:
        """Every bucket, or what the coordinator of an append table without buckets picks (`compaction.min.file-num`
        and `compaction.file-size` in `options` say what that is)."""
        return self._made("compact", table, full=full, **at)

    def compact_manifest(self, table: Table, **at: Any) -> list[int]:
        return self._made("compact_manifest", table, **at)

    def analyze(self, table: Table, **at: Any) -> list[int]:
        """Commits a statistics file with the table's rows and bytes."""
        return self._made("analyze", table, **at)

    def rollback_as_latest(self, table: Table, *, snapshot: int | None = None, tag: str | None = None) -> list[int]:
        return self._made("rollback_as_latest", table, snapshot=snapshot, tag=tag)

    def merge_branch(self, table: Table, name: str, to: str = "main", **at: Any) -> list[int]:
        return self._made("merge_branch", table, name=name, to=to, **at)

    def _made(self, cmd: str, table: Table, **fields: Any) -> list[int]:
        return self.run(cmd, table, **fields)["snapshots"]

    # Tags and branches.

    def create_tag(
        self, table: Table, name: str, *, snapshot: int | None = None, retained_ms: int | None = None, **at: Any
    ) -> None:
        """Of the newest snapshot unless told. Without `retained_ms`: `tag.default-time-retained`."""
        self.run("create_tag", table, name=name, snapshot=snapshot, retained_ms=retained_ms, **at)

    def replace_tag(
        self, table: Table, name: str, *, snapshot: int | None = None, retained_ms: int | None = None, **at: Any
    ) -> None:
        self.run("replace_tag", table, name=name, snapshot=snapshot, retained_ms=retained_ms, **at)

    def rename_tag(self, table: Table, name: str, to: str, **at: Any) -> None:
        self.run("rename_tag", table, name=name, to=to, **at)

    def delete_tag(self, table: Table, name: str, **at: Any) -> None:
        self.run("delete_tag", table, name=name, **at)

    def expire_tags(self, table: Table, *, older_than_ms: int | None = None, **at: Any) -> list[str]:
        """The names that went: time over, or made before `older_than_ms`."""
        return self.run("expire_tags", table, older_than_ms=older_than_ms, **at)

    def auto_tag(self, table: Table, **at: Any) -> None:
        """Automatic creation and expiry under the table's `tag.*` options, as after a commit; with `batch=True` the
        creation that follows a batch write."""
        self.run("auto_tag", table, **at)

    def create_branch(self, table: Table, name: str, *, tag: str | None = None) -> None:
        self.run("create_branch", table, name=name, tag=tag)

    def delete_branch(self, table: Table, name: str) -> None:
        self.run("delete_branch", table, name=name)

    def rename_branch(self, table: Table, name: str, to: str) -> None:
        self.run("rename_branch", table, name=name, to=to)

    def fast_forward(self, table: Table, name: str) -> None:
        """main becomes this branch from where it began."""
        self.run("fast_forward", table, name=name)

    # What removes.

    def expire(
        self,
        table: Table,
        *,
        rule: str = "call",
        retain_max: int | None = None,
        retain_min: int | None = None,
        older_than_ms: int | None = None,
        time_retained_ms: int | None = None,
        max_deletes: int | None = None,
        changelog_retain_max: int | None = None,
        changelog_retain_min: int | None = None,
        changelog_time_retained_ms: int | None = None,
        branch: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> int:
        """How many snapshots went. `rule`: whose defaults fill what is not given.

        "call": CALL expire_snapshots of this release (1.0+: the table's options; 0.9: the builder's, as "bare");
        "bare": retain_max no limit, retain_min 1, no age, no limit of deletes; "commit": nothing may be given, the
        table's next commit would do this (answers -1); "changelogs": long-lived changelogs instead of snapshots.
        """
        return self.run(
            "expire",
            table,
            rule=rule,
            retain_max=retain_max,
            retain_min=retain_min,
            older_than_ms=older_than_ms,
            time_retained_ms=time_retained_ms,
            max_deletes=max_deletes,
            changelog_retain_max=changelog_retain_max,
            changelog_retain_min=changelog_retain_min,
            changelog_time_retained_ms=changelog_time_retained_ms,
            branch=branch,
            options=options,
        )

    def rollback(self, table: Table, *, snapshot: int | None = None, tag: str | None = None, **at: Any) -> None:
        self.run("rollback", table, snapshot=snapshot, tag=tag, **at)

    def orphans(self, table: Table, *, older_than_ms: int, dry_run: bool = False) -> list[str]:
        """What the engine's orphan cleaner removes, or would (1.0+)."""
        return self.run("orphans", table, older_than_ms=older_than_ms, dry_run=dry_run)

    def repair_earliest(self, table: Table, snapshot: int, **at: Any) -> int:
        return self.run("repair_earliest", table, snapshot=snapshot, **at)

    # Consumers.

    def set_consumer(self, table: Table, name: str, next_snapshot: int, *, branch: str | None = None) -> None:
        self.run("set_consumer", table, name=name, next=next_snapshot, branch=branch)

    def delete_consumer(self, table: Table, name: str, *, branch: str | None = None) -> None:
        self.run("delete_consumer", table, name=name, branch=branch)

    def consumers(self, table: Table, *, branch: str | None = None) -> dict[str, int]:
        return self.run("consumers", table, branch=branch)

    # Questions. A point is snapshot=, tag=, or nothing for the newest; reads also take time_ms=, watermark=, version=.

    def snapshots(self, table: Table, **at: Any) -> list[dict[str, Any]]:
        """The JSON of every snapshot as the engine understands it."""
        return self.run("snapshots", table, **at)

    def tags(self, table: Table, **at: Any) -> list[dict[str, Any]]:
        """name, snapshot, created (local time without zone, or None), retained_ms (or None)."""
        return self.run("tags", table, **at)

    def branches(self, table: Table) -> list[str]:
        return self.run("branches", table)

    def as_of(
        self,
        table: Table,
        *,
        time_ms: int | None = None,
        watermark: int | None = None,
        rule: str = "earlier",
        **at: Any,
    ) -> int | None:
        """Which snapshot the engine's search picks, `rule` "earlier" (time travel) or "later" (to make a tag)."""
        return self.run("as_of", table, time_ms=time_ms, watermark=watermark, rule=rule, **at)["snapshot"]

    def travel(self, table: Table, **point: Any) -> int | None:
        """Which snapshot a batch read takes; None where there is nothing to read."""
        return self.run("travel", table, **point)["snapshot"]

    def rows(self, table: Table, **point: Any) -> list[list[Any]]:
        """Every row, ordered. Bytes are hex; decimals, dates, times and non-finite numbers are text. With `audit=True`
        each row begins with its kind, and deleted rows are there: what changed, given `incremental-between` in options.

        With `branch=` and `tag=` the engine's time travel looks for the tag among main's tags (0.9 to 2.0); with
        `own=True` this reads the branch's. With `postponed=True` also rows of the postpone bucket, as Spark and Flink
        do if `postpone.merge-on-read` is true, with `reversed=True` its writers the other way round.
        """
        return ordered(self.run("read", table, **point)["rows"])

    def count(self, table: Table, **point: Any) -> int:
        """How many rows a read gives."""
        return self.run("read", table, count=True, **point)["count"]

    def totals(self, table: Table, threads: int) -> tuple[list[int], float]:
        """Rows, then of each column (BIGINT, INT, STRING) its values and their sum, of texts that of their lengths;
        and the seconds that reading them took."""
        found = self.run("totals", table, threads=threads)
        return found["totals"], found["seconds"]

    def files(self, table: Table, *, detail: bool = False, **point: Any) -> list[dict[str, Any]]:
        """Live data files: path, bytes, rows, partition, bucket, level, schema_id, total_buckets, source, min_sequence,
        max_sequence, delete_rows, extra; with `detail` min_key, max_key, partition_bytes, key_stats, value_stats as
        the hex of what a manifest holds."""
        return self.run("files", table, detail=detail, **point)

    def statistics(self, table: Table, **at: Any) -> dict[str, Any] | None:
        """What `analyze` left for planners: snapshot, schema, rows, bytes, and of each of `columns` its id, distinct
        values, nulls, min and max as text (None for texts), lengths (average, greatest)."""
        return self.run("statistics", table, **at)

    def refs(self, table: Table, *, changelog: bool = False, **point: Any) -> dict[str, list[str]]:
        """Every file a reader of this point may open, by kind: data, index, statistics, manifest, manifest-list and,
        where asked, changelog. With `changelog_id=` instead of a point: of a long-lived changelog, changelog only."""
        return self.run("refs", table, changelog=changelog, **point)


class Held:
    """A command of an engine that waits in the middle of what it does."""

    def __init__(self, judge: PaimonJudge, directory: Path, fields: Mapping[str, Any], cmd: str, table: Table) -> None:
        self._directory = directory
        self._pool = ThreadPoolExecutor(1)
        self._answer = self._pool.submit(judge.run, cmd, table, **fields)
        while not (directory / "held").exists():
            if self._answer.done():
                self._pool.shutdown()
                raise AssertionError(f"{cmd} ended before it could be held: {self._answer.result()}")
            time.sleep(0.001)

    def go_on(self) -> Any:
        """The command's answer; raises what the engine says."""
        (self._directory / "go").touch()
        return self._answer.result()

    def close(self) -> None:
        """Lets it go on, whatever it answers: the engine can be asked again."""
        (self._directory / "go").touch()
        self._pool.shutdown()


def ordered(rows: list[list[Any]]) -> list[list[Any]]:
    """One order for the rows of every judge."""
    return sorted(rows, key=json.dumps)


def set_commit_time(table: Table, snapshot: int, time_ms: int, branch: str = "main") -> None:
    """Rewrites when a snapshot was committed, in its file and in the tags of it: the engine has no such argument.

    The one change is the number; the engine reads it as if its clock had said so.
    """
    root = Path(table) if branch == "main" else Path(table) / "branch" / f"branch-{branch}"
    path = root / "snapshot" / f"snapshot-{snapshot}"
    before = json.loads(path.read_text())
    tags = [tag for tag in sorted((root / "tag").glob("tag-*")) if tag.is_file()] if (root / "tag").is_dir() else []
    for file in [path, *tags]:
        said = file.read_text()
        if json.loads(said)["deltaManifestList"] == before["deltaManifestList"]:
            file.write_text(re.sub(r'("timeMillis"\s*:\s*)\d+', rf"\g<1>{time_ms}", said, count=1))


__all__ = [
    "NEWEST",
    "RELEASES",
    "EngineError",
    "Held",
    "JudgeDied",
    "Missing",
    "PaimonJudge",
    "available",
    "missing",
    "set_commit_time",
]
