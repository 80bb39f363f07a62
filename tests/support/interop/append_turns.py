"""Random sequences on an append table, alternating between us and the engine, compared with a plain list of rows.

Every step is one commit or schema change by either side. After each step the engine must read exactly the rows of the
list; at the end we must, too, every tag must still have its rows, and the engine's orphan cleaner must find nothing to
remove.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from core.formats.paimon.write import alter, commit, publish
from core.spark.read.paimon import frames as read
from core.spark.write import analyze
from core.spark.write import append as write
from core.storage.store import Store
from tests.engines.paimon_java import PaimonJudge, ordered

T0 = 1_790_000_000_000
PARTITIONS = ("x", "y", "z")
ARROW = {"INT": pa.int32(), "BIGINT": pa.int64(), "STRING": pa.string()}
FAR = 4_102_444_800_000 - 1


class Turns:
    """A table, its expected content, and whose turn it is."""

    def __init__(self, spark: SparkSession, judge: PaimonJudge, location: str, seed: int) -> None:
        self.spark, self.judge, self.chance = spark, judge, random.Random(seed)
        self.store = Store(location)
        self.location = location
        self.is_partitioned = self.chance.random() < 0.7
        self.columns: list[list[Any]] = [[0, "id", "BIGINT"], [1, "v", "STRING"], [2, "p", "STRING"]]  # id, name, type
        self.next_field = 3
        self.rows: list[dict[int, Any]] = []
        self.tags: dict[str, list[int]] = {}
        self.ids = itertools.count(1)
        self.batches = itertools.count(1)
        self.clock = itertools.count(T0, 1000)
        self.counts: Counter[str] = Counter()
        options = {"bucket": "-1", "manifest.merge-min-count": str(self.chance.choice((2, 3, 30)))}
        if self.chance.random() < 0.3:
            options["manifest.full-compaction-threshold-size"] = "1 b"
        keys = ["p"] if self.is_partitioned else []
        columns = [(name, of) for _, name, of in self.columns]
        if self.chance.random() < 0.5:
            write.create_table(self.store, columns, partition_keys=keys, options=options, time_ms=T0)
        else:
            judge.create(location, columns, partition_keys=keys, options=options)

    def run(self, steps: int) -> Counter[str]:
        first = self.chance.randrange(2)
        for number in range(steps):
            is_ours = number % 2 == first
            what = self.chance.choice(("append", "append", "append", *KINDS))
            before = list(self.rows)
            try:
                (getattr(self, f"our_{what}") if is_ours else getattr(self, f"their_{what}"))()
                assert self.judge.rows(self.location) == self.expected()
            except BaseException as error:
                error.add_note(f"step {number}, {'our' if is_ours else 'their'} {what}; {len(before)} rows before")
                raise
            self.counts["our commits" if is_ours else "the engine's commits"] += 1
            if self.chance.random() < 0.15 and self.rows:
                self.tag()
        self.check_end()
        return self.counts

    # what is expected ------------------------------------------------------------------------------------------------

    def expected(self) -> list[list[Any]]:
        return ordered([[row.get(number) for number, _, _ in self.columns] for row in self.rows])

    def fresh(self) -> list[list[Any]]:
        """Create new rows in column order, and add them to the list."""
        made = []
        for _ in range(self.chance.randrange(1, 4)):
            number = next(self.ids)
            values = {0: number, 1: f"v{number}", 2: self.chance.choice(PARTITIONS)}
            row = {field: values.get(field, number % 5 or None) for field, _, _ in self.columns}
            made.append(row)
        self.rows += made
        return [[row[field] for field, _, _ in self.columns] for row in made]

    def forget(self, partitions: tuple[str, ...] | None = None) -> None:
        self.rows = [row for row in self.rows if partitions is not None and row[2] not in partitions]

    def frame(self, rows: list[list[Any]]) -> Any:
        columns = zip(*rows, strict=True)
        arrays = {
            name: pa.array(column, ARROW[of]) for (_, name, of), column in zip(self.columns, columns, strict=True)
        }
        return self.spark.createDataFrame(pa.table(arrays)).coalesce(1)

    def at(self, **more: Any) -> commit.Stamp:
        return write.stamp(next(self.clock), **more)

    def one(self) -> str:
        return self.chance.choice(PARTITIONS)

    def columns_beside(self) -> list[list[Any]]:
        return [column for column in self.columns if column[0] > 2]

    # commits ---------------------------------------------------------------------------------------------------------

    def our_append(self) -> None:
        write.append(self.store, self.frame(self.fresh()), self.at())

    def their_append(self) -> None:
        self.judge.write(self.location, self.fresh())

    def our_batch(self) -> None:
        """Commit with an identifier, twice."""
        at = self.at(user="stream", identifier=next(self.batches))
        frame = self.frame(self.fresh())
        first, again = (write.append(self.store, frame, at) for _ in range(2))
        assert first == again

    def their_batch(self) -> None:
        self.judge.write(self.location, self.fresh(), user="engine", identifier=next(self.batches))

    def our_overwrite(self) -> None:
        partition = self.one()
        self.forget((partition,) if self.is_partitioned else None)
        rows = self.fresh_in(partition)
        write.overwrite(self.store, self.frame(rows), [{"p": partition} if self.is_partitioned else {}], self.at())

    def their_overwrite(self) -> None:
        partition = self.one()
        self.forget((partition,) if self.is_partitioned else None)
        self.judge.write(
            self.location, self.fresh_in(partition), overwrite={"p": partition} if self.is_partitioned else {}
        )

    def fresh_in(self, partition: str) -> list[list[Any]]:
        rows, at = self.fresh(), next(n for n, column in enumerate(self.columns) if column[0] == 2)
        for row, kept in zip(rows, self.rows[-len(rows) :], strict=True):
            row[at] = kept[2] = partition
        return rows

    def our_dynamic(self) -> None:
        write.overwrite_touched(self.store, self.frame(self.replaced()), self.at())

    def their_dynamic(self) -> None:
        self.judge.write(self.location, self.replaced(), overwrite={})

    def replaced(self) -> list[list[Any]]:
        before = len(self.rows)
        rows = self.fresh()
        kept, new = self.rows[:before], self.rows[before:]
        touched = {row[2] for row in new}
        self.rows = [row for row in kept if self.is_partitioned and row[2] not in touched] + new
        return rows

    def our_drop(self) -> None:
        if self.is_partitioned:
            self.forget(two := (self.one(), self.one()))
            assert write.drop_partitions(self.store, [{"p": p} for p in two], self.at()).kind == "OVERWRITE"

    def their_drop(self) -> None:
        if self.is_partitioned:
            self.forget((partition := self.one(),))
            self.judge.drop_partitions(self.location, {"p": partition})

    def our_truncate(self) -> None:
        self.forget()
        assert write.truncate(self.store, self.at()).total_rows == 0

    def their_truncate(self) -> None:
        self.forget()
        self.judge.truncate(self.location)

    def our_compact(self) -> None:
        snapshot = write.compact(self.store, self.at(), spark=self.spark)
        assert snapshot is None or (snapshot.kind, snapshot.delta_rows) == ("COMPACT", 0)

    def their_compact(self) -> None:
        self.judge.compact(self.location, options={"compaction.min.file-num": "2"})

    def our_analyze(self) -> None:
        snapshot = analyze.analyze(self.store, self.at(), spark=self.spark, columns=None)
        assert snapshot is None or snapshot.kind == "ANALYZE"

    def their_analyze(self) -> None:
        if publish.read_head(self.store).snapshot is not None:
            self.judge.analyze(self.location)

    def their_expire(self) -> None:
        if publish.read_head(self.store).snapshot is not None:
            self.judge.expire(self.location, retain_max=self.chance.randrange(1, 4), retain_min=1)

    def our_expire(self) -> None:  # our expiry is tested elsewhere; this compacts manifests
        if publish.read_head(self.store).snapshot is not None:
            self.judge.compact_manifest(self.location)

    # schemas ---------------------------------------------------------------------------------------------------------

    def our_alter(self) -> None:
        self.changed(
            lambda name: publish.alter(self.store, [alter.AddColumn(name, "INT")], time_ms=next(self.clock)),
            lambda old, new: publish.alter(self.store, [alter.RenameColumn(old, new)], time_ms=next(self.clock)),
            lambda name: publish.alter(self.store, [alter.DropColumn(name)], time_ms=next(self.clock)),
            lambda name: publish.alter(self.store, [alter.WidenColumn(name, "BIGINT")], time_ms=next(self.clock)),
        )

    def their_alter(self) -> None:
        self.changed(
            lambda name: self.judge.alter(self.location, ("add", name, "INT")),
            lambda old, new: self.judge.alter(self.location, ("rename", old, new)),
            lambda name: self.judge.alter(self.location, ("drop", name)),
            lambda name: self.judge.alter(self.location, ("type", name, "BIGINT")),
        )

    def changed(
        self,
        add: Callable[[str], Any],
        rename: Callable[[str, str], Any],
        drop: Callable[[str], Any],
        widen: Callable[[str], Any],
    ) -> None:
        beside = self.columns_beside()
        match self.chance.randrange(4) if beside else 0:
            case 0:
                name = next(name for name in (f"c{n}" for n in range(99)) if not any(c[1] == name for c in beside))
                add(name)  # a name that was dropped before is added again, with another id
                self.columns.append([self.next_field, name, "INT"])
                self.next_field += 1
            case 1:
                column = self.chance.choice([*beside, self.columns[1]])
                rename(column[1], new := f"r{next(self.ids)}")
                column[1] = new
            case 2:
                column = self.chance.choice(beside)
                drop(column[1])
                self.columns.remove(column)
            case _:
                column = self.chance.choice(beside)
                widen(column[1])
                column[2] = "BIGINT"

    # tags and the end -------------------------------------------------------------------------------------------------

    def tag(self) -> None:
        name = f"t{len(self.tags)}"
        if self.chance.random() < 0.5:
            publish.create_tag(self.store, name)
        else:
            self.judge.create_tag(self.location, name)
        self.tags[name] = sorted(row[0] for row in self.rows)

    def check_end(self) -> None:
        head = publish.read_head(self.store)
        if head.snapshot is None:
            return
        schemas = {number: publish.read_schema(self.store, number) for number in range(head.schema.id + 1)}
        files = write.file_table(head.schema, commit.live_entries(self.store, head.snapshot))
        found = read.frame(self.spark, self.store, head.schema, schemas, files).toArrow().to_pylist()
        assert ordered([list(row.values()) for row in found]) == self.expected()
        assert head.snapshot.total_rows == len(self.rows)
        for name, ids in self.tags.items():
            assert sorted(row[0] for row in self.judge.rows(self.location, tag=name)) == ids, name
            self.counts["tags"] += 1
        held = self.judge.refs(self.location)
        assert all(self.store.size(path) is not None for paths in held.values() for path in paths)
        assert self.judge.orphans(self.location, older_than_ms=FAR, dry_run=True) == []
        self.counts["sequences"] += 1


KINDS = tuple(sorted(name.removeprefix("our_") for name in vars(Turns) if name.startswith("our_")))
assert all(hasattr(Turns, f"their_{name}") for name in KINDS)
