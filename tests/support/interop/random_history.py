"""Random histories driven through a real engine: a table directory and a log of what was done to it.

    python -m tests.support.interop.random_history --seeds 0-24 --directory /tmp/histories
        prints how often each kind of thing occurred; ends with status 1 where one did not occur at all

    history = make(judge, directory / "default.db" / "h7", seed=7)
    with copied(history.table) as copy: ...        # see tests.support.interop.engine_deleted

The same seed makes the same decisions with the same release of the engine; names of files and what depends on them
(UUIDs) differ. Commit times are rewritten to lie days to minutes apart, with ties and clocks that go back.

Invariant: a history does nothing the engine is known to break a table by. Expiry and tag deletion stop where a branch
begins (the engine protects none), and a gap in the ids is torn last: `dangling` of a finished history is empty unless
it has a gap. What the engine refuses is in the log as its error and counts as nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.engines.paimon_java import NEWEST, EngineError, PaimonJudge, missing, set_commit_time
from tests.support.interop.engine_deleted import points

FAMILIES = ("primary key", "append", "primary key", "append buckets", "primary key", "dynamic buckets", "vectors")
PRODUCERS = ("none", "input", "lookup", "full-compaction")
ENGINES = ("deduplicate", "partial-update", "deduplicate", "aggregation", "first-row")
FORMATS = ("parquet", "parquet", "orc", "avro")
MANIFESTS = ("avro", "avro", "orc", "parquet")
PARTITIONS = ("2026-01-01", "b c", "x/y=z%")
LOOKED_UP = ("2026-01-01", "b c", "x:y=z%")
"""Looking a key up while compacting makes a local file named after the partition: a slash breaks it, 0.9 to 2.0."""
DAY_MS = 86_400_000
STEPS_MS = (0, 1, 1_000, 60_000, 3_600_000, DAY_MS, -5_000)

KINDS = (
    *("append table", "primary-key table", "partitioned", "unpartitioned", "write", "rows deleted", "compaction"),
    *(
        "upgrade",
        "overwrite",
        "dynamic overwrite",
        "dropped partition",
        "truncate",
        "manifests compacted",
        "statistics",
    ),
    *("tag", "two tags on one snapshot", "tag with a time", "tag deleted", "tag replaced", "tag renamed"),
    *("branch", "branch commit", "branch tag", "branch compaction", "branch renamed", "branch deleted", "fast-forward"),
    *("rollback", "commit after rollback", "rollback as latest", "expiry", "expiry by itself", "consumer", "gap"),
    *("changelog input", "changelog lookup", "changelog full-compaction", "long-lived changelog", "changelog expiry"),
    *("row tracking", "manifests in orc", "manifests in parquet"),
    *("schema change", "shared index file", "hash index", "deletion vectors", "extra files", "orc", "avro"),
    *("equal commit times", "merge engine partial-update", "merge engine aggregation", "merge engine first-row"),
)
"""What the seeds of tests/interop/test_differential.py must have between them with the newest engine."""
_NO_ROLLBACK_AS_LATEST = frozenset(["rollback as latest"])
_BEFORE_1_3 = frozenset(["row tracking"]) | _NO_ROLLBACK_AS_LATEST
NOT_IN: dict[str, frozenset[str]] = {
    "0.9.0": frozenset(
        [
            "schema change",
            "tag replaced",
            "tag renamed",
            "branch renamed",
            "manifests compacted",
            "rollback",
            "commit after rollback",
        ]
    )
    | _BEFORE_1_3,
    "1.0.1": frozenset(["rollback", "commit after rollback"]) | _BEFORE_1_3,
    "1.1.1": frozenset(["rollback", "commit after rollback"]) | _BEFORE_1_3,
    "1.2.0": _BEFORE_1_3,
    "1.3.1": _NO_ROLLBACK_AS_LATEST,
    "1.4.2": _NO_ROLLBACK_AS_LATEST,
}


@dataclass
class History:
    """A table with a past: `log` holds each step and what came of it, `counts` how often each of KINDS occurred."""

    table: Path
    seed: int
    version: str
    variant: dict[str, Any]
    log: list[dict[str, Any]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    may_dangle: bool = False
    """It has a gap: the engine's own expiry after it is known to be wrong."""


def make(judge: PaimonJudge, table: Path, seed: int, steps: int = 30) -> History:
    """Create a table in this directory with a random past of this many steps."""
    walk = _Walk(judge, table, seed)
    walk.create()
    for _ in range(3):
        walk.write()
    for _ in range(steps):
        walk.step()
    walk.finish()
    return walk.history


# --- the walk ---------------------------------------------------------------------------------------------------------


class _Walk:
    def __init__(self, judge: PaimonJudge, table: Path, seed: int) -> None:
        self.judge = judge
        self.rng = random.Random(seed)
        self.table = table
        self.history = History(table, seed, judge.version, _variant(seed, self.rng))
        self.variant = self.history.variant
        self.clock_ms = int(time.time() * 1000) - 90 * DAY_MS
        self.times: set[int] = set()
        self.names = 0
        self.levels: dict[str, int] = {}
        self.branches: list[str] = []
        self.is_branched = False
        self.is_rolled_back = False
        self.kept: set[str] = set()
        """Tags that hold what a rollback as latest restored."""

    def count(self, *kinds: str) -> None:
        self.history.counts.update(kinds)

    def do(self, what: str, call: Callable[[], Any], **said: Any) -> Any:
        """Run one step and log it; None if the engine rejected it."""
        entry = {"do": what, **said}
        self.history.log.append(entry)
        try:
            entry["result"] = call()
        except EngineError as error:
            entry["error"] = str(error)
            return None
        finally:
            entry["ms"] = round(self.judge.ms, 1)
        return True if entry["result"] is None else entry["result"]

    def name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}{self.names}"

    # What there is.

    def ids(self, branch: str | None = None) -> list[int]:
        found = points(self.table).values()
        return [at["snapshot"] for at in found if "snapshot" in at and at.get("branch") == branch]

    def tags(self, branch: str | None = None) -> list[str]:
        found = points(self.table).values()
        return [at["tag"] for at in found if "tag" in at and at.get("branch") == branch]

    # Tables and rows.

    def create(self) -> None:
        variant, options = self.variant, self.variant["options"]
        columns = [
            ("k", "BIGINT NOT NULL"),
            ("p", "STRING NOT NULL"),
            ("h", "INT NOT NULL"),
            ("v", "STRING"),
            ("n", "INT"),
        ]
        keys = ["k", *variant["partition_keys"]] if variant["is_keyed"] else []
        self.judge.create(
            self.table, columns, partition_keys=variant["partition_keys"], primary_keys=keys, options=options
        )
        self.history.log.append({"do": "create", **variant})
        self.count("primary-key table" if variant["is_keyed"] else "append table")
        self.count("partitioned" if variant["partition_keys"] else "unpartitioned")
        if variant["producer"] != "none":
            self.count(f"changelog {variant['producer']}")
        if options.get("merge-engine", "deduplicate") != "deduplicate":
            self.count(f"merge engine {options['merge-engine']}")
        if options["file.format"] != "parquet":
            self.count(options["file.format"])
        if options["manifest.format"] != "avro":
            self.count(f"manifests in {options['manifest.format']}")
        if "row-tracking.enabled" in options:
            self.count("row tracking")

    def rows(self, branch: str | None, partition: str | None = None) -> list[list[Any]]:
        fields = self.judge.schema(self.table, branch=branch)["fields"]
        made = []
        for _ in range(self.rng.randint(1, 8)):
            given = {
                "k": self.rng.randrange(30),
                "p": partition or self.rng.choice(self.variant["partitions"]),
                "h": self.rng.randrange(2),
                "v": f"v{self.rng.randrange(1000)}" if self.rng.random() < 0.9 else None,
            }
            made.append([given[f["name"]] if f["name"] in given else self.rng.randrange(100) for f in fields])
        return made

    def committed(self, ids: Sequence[int], branch: str | None = None) -> None:
        """Record the times of new snapshots and the kinds of their commits."""
        for id in ids:
            self.clock_ms += self.rng.choice(STEPS_MS)
            if self.clock_ms in self.times:
                self.count("equal commit times")
            self.times.add(self.clock_ms)
            set_commit_time(self.table, id, self.clock_ms, branch or "main")
        if not ids:
            return
        if branch is not None:
            self.count("branch commit")
            return
        if self.is_rolled_back:
            self.count("commit after rollback")
            self.is_rolled_back = False
        live = self.judge.files(self.table)
        levels = {file["path"]: file["level"] for file in live}
        if any(levels[path] != level for path, level in self.levels.items() if path in levels):
            self.count("upgrade")
        if any(file["extra"] for file in live):
            self.count("extra files")
        self.levels = levels

    def write(self, branch: str | None = None) -> None:
        rows = self.rows(branch)
        kinds = None
        if self.variant["may_delete"] and self.rng.random() < 0.4:
            kinds = [self.rng.choice(("+I", "+I", "+U", "-D")) for _ in rows]
        before = self.ids(branch)
        watermark = self.clock_ms if self.rng.random() < 0.3 else None
        ids = self.do(
            "write",
            lambda: self.judge.write(self.table, rows, kinds=kinds, branch=branch, watermark=watermark),
            rows=len(rows),
            branch=branch,
        )
        if ids:
            self.count("write")
            self.count(*(["rows deleted"] if kinds and "-D" in kinds else []))
            self.count(*(["compaction"] if len(ids) > 1 else []))
            if before and self.ids(branch)[0] > before[0]:
                self.count("expiry by itself")
            self.committed([id for id in ids if id in self.ids(branch)], branch)

    # One step.

    def step(self) -> None:
        weights = dict(STEPS)
        if not self.branches:
            del weights["on_branch"], weights["fast_forward"]
        if self.is_branched:
            del weights["expire"], weights["delete_tag"], weights["expire_changelogs"]
        elif self.variant["is_long_lived"]:
            weights |= {"expire": 12, "expire_changelogs": 12, "branch": 1}
        else:
            del weights["expire_changelogs"]
        name = self.rng.choices(list(weights), list(weights.values()))[0]
        getattr(self, name)()

    def compact(self, branch: str | None = None) -> None:
        options = {"compaction.min.file-num": "2", "write-only": "false"}
        full = not self.variant["is_keyed"] or self.rng.random() < 0.8
        ids = self.do(
            "compact",
            lambda: self.judge.compact(self.table, full=full, branch=branch, options=options),
            branch=branch,
            full=full,
        )
        if ids:
            self.count("compaction" if branch is None else "branch compaction")
            self.committed(ids, branch)

    def overwrite(self) -> None:
        if not self.variant["partition_keys"]:
            which, rows = {}, self.rows(None)
        elif self.rng.random() < 0.5:
            partition = self.rng.choice(self.variant["partitions"])
            which, rows = {"p": partition}, self.rows(None, partition)
        else:
            which, rows = {}, self.rows(None)
        ids = self.do("overwrite", lambda: self.judge.write(self.table, rows, overwrite=which), partition=which)
        if ids:
            self.count("overwrite" if which or not self.variant["partition_keys"] else "dynamic overwrite")
            self.committed([id for id in ids if id in self.ids()])

    def drop_partition(self) -> None:
        if not self.variant["partition_keys"]:
            return
        which = {"p": self.rng.choice(self.variant["partitions"])}
        if ids := self.do("drop_partition", lambda: self.judge.drop_partitions(self.table, which), partition=which):
            self.count("dropped partition")
            self.committed(ids)

    def truncate(self) -> None:
        if ids := self.do("truncate", lambda: self.judge.truncate(self.table)):
            self.count("truncate")
            self.committed(ids)
            self.write()

    def analyze(self) -> None:
        if ids := self.do("analyze", lambda: self.judge.analyze(self.table)):
            self.count("statistics")
            self.committed(ids)

    def compact_manifest(self) -> None:
        if ids := self.do("compact_manifest", lambda: self.judge.compact_manifest(self.table)):
            self.count("manifests compacted")
            self.committed(ids)

    def alter(self) -> None:
        change = self.rng.choice((("add", self.name("c"), "INT"), ("set_option", "manifest.merge-min-count", "4")))
        if change[0] == "add" and self.judge.version == "0.9.0":
            return  # its branches only get the newest schema, and cannot read files of an older one
        if self.do("alter", lambda: self.judge.alter(self.table, change), change=change):
            self.count(*(["schema change"] if change[0] == "add" else []))

    def tag(self, branch: str | None = None) -> None:
        ids = self.ids(branch)
        if not ids:
            return
        name, id = self.name("t"), self.rng.choice(ids[-6:])
        again = id in {at["snapshot"] for at in self.judge.tags(self.table, branch=branch)}
        retained = 3_600_000 if self.rng.random() < 0.3 else None
        made = self.do(
            "tag",
            lambda: self.judge.create_tag(self.table, name, snapshot=id, retained_ms=retained, branch=branch),
            name=name,
            snapshot=id,
            branch=branch,
        )
        if made:
            self.count("tag" if branch is None else "branch tag")
            self.count(*(["two tags on one snapshot"] if again else []), *(["tag with a time"] if retained else []))

    def delete_tag(self) -> None:
        tags = [tag for tag in self.tags() if tag not in self.kept]
        if not tags:
            return
        name = self.rng.choice(tags)
        if self.do("delete_tag", lambda: self.judge.delete_tag(self.table, name), name=name):
            self.count("tag deleted")

    def change_tag(self) -> None:
        tags = [tag for tag in self.tags() if tag not in self.kept]
        ids = self.ids()
        if not tags or not ids:
            return
        name, other, id = self.rng.choice(tags), self.name("r"), self.rng.choice(ids)
        if self.rng.random() < 0.5:
            if self.do("rename_tag", lambda: self.judge.rename_tag(self.table, name, other), name=name, to=other):
                self.count("tag renamed")
        elif self.do(
            "replace_tag", lambda: self.judge.replace_tag(self.table, name, snapshot=id), name=name, snapshot=id
        ):
            self.count("tag replaced")

    def branch(self) -> None:
        """Create a branch from a tag whose snapshot exists, which works in every release, with its own commit."""
        if self.history.log[0]["expires_by_itself"] or len(self.branches) > 2:
            return
        living = set(self.ids())
        tags = [at["name"] for at in self.judge.tags(self.table) if at["snapshot"] in living]
        tag = self.rng.choice(tags) if tags else None
        name = self.name("b")
        if self.do("branch", lambda: self.judge.create_branch(self.table, name, tag=tag), name=name, tag=tag):
            self.is_branched = True
            self.branches.append(name)
            self.count("branch")
            self.write(name)

    def on_branch(self) -> None:
        if not self.branches:
            return
        branch, chance = self.rng.choice(self.branches), self.rng.random()
        if chance < 0.4:
            self.write(branch)
        elif chance < 0.65:
            self.tag(branch)
        elif chance < 0.85:
            self.compact(branch)
        elif chance < 0.95:
            other = self.name("b")
            if self.do(
                "rename_branch", lambda: self.judge.rename_branch(self.table, branch, other), name=branch, to=other
            ):
                self.branches[self.branches.index(branch)] = other
                self.count("branch renamed")
        elif self.do("delete_branch", lambda: self.judge.delete_branch(self.table, branch), name=branch):
            self.branches.remove(branch)
            self.count("branch deleted")

    def fast_forward(self) -> None:
        if not self.branches:
            return
        branch = self.rng.choice(self.branches)
        if self.do("fast_forward", lambda: self.judge.fast_forward(self.table, branch), name=branch):
            self.count("fast-forward")
            self.levels = {}
            self.write()

    def rollback(self) -> None:
        ids = self.ids()
        if len(ids) < 4 or self.judge.version < "1.2":  # before 1.2 it deleted files that are still live
            return
        id = self.rng.choice(ids[-4:-1])
        if self.do("rollback", lambda: self.judge.rollback(self.table, snapshot=id), snapshot=id):
            self.count("rollback")
            self.levels = {}
            self.is_rolled_back = True

    def rollback_as_latest(self) -> None:
        ids = self.ids()
        if len(ids) < 4:
            return
        id, before = self.rng.choice(ids[-4:-1]), set(self.tags())
        if made := self.do(
            "rollback_as_latest", lambda: self.judge.rollback_as_latest(self.table, snapshot=id), snapshot=id
        ):
            self.count("rollback as latest")
            self.kept |= set(self.tags()) - before
            self.committed(made)

    def consumer(self) -> None:
        ids = self.ids()
        if not ids:
            return
        names = sorted(self.judge.consumers(self.table))
        if names and self.rng.random() < 0.5:
            name = self.rng.choice(names)
            self.do("delete_consumer", lambda: self.judge.delete_consumer(self.table, name), name=name)
            return
        name, following = self.name("job"), self.rng.choice([*ids, ids[-1] + 1])
        if self.do("consumer", lambda: self.judge.set_consumer(self.table, name, following), name=name, next=following):
            self.count("consumer")

    def expire(self) -> None:
        most = self.rng.randint(2, max(3, len(self.ids())))
        fields: dict[str, Any] = {"retain_max": most, "retain_min": self.rng.randint(1, min(4, most))}
        if self.rng.random() < 0.5:
            fields["older_than_ms"] = self.clock_ms - self.rng.choice((0, DAY_MS, 10 * DAY_MS))
        if self.rng.random() < 0.3:
            fields["max_deletes"] = self.rng.randint(1, 5)
        if self.variant["is_long_lived"]:
            fields |= {"changelog_retain_max": 1000, "changelog_retain_min": 1000}
        went = self.do("expire", lambda: self.judge.expire(self.table, rule="bare", **fields), **fields)
        if went and went is not True and went > 0:
            self.count("expiry")

    def expire_changelogs(self) -> None:
        most = self.rng.randint(3, 12)
        if self.do("expire_changelogs", lambda: self._expire_changelogs(most), retain_max=most):
            self.count("changelog expiry")

    def _expire_changelogs(self, most: int) -> int:
        return self.judge.expire(self.table, rule="changelogs", retain_max=most, retain_min=1)

    # The end.

    def finish(self) -> None:
        """Create a gap if the variant has one, and count the events that are only visible in the whole history."""
        ids = self.ids()
        if self.variant["has_gap"] and len(ids) > 3:
            lost = self.rng.choice(ids[1:-1])
            (self.table / "snapshot" / f"snapshot-{lost}").unlink()
            self.history.log.append({"do": "lose", "snapshot": lost})
            self.history.may_dangle = True
            self.count("gap")
        if any((self.table / "changelog").glob("changelog-*")):
            self.count("long-lived changelog")
        indexes: Counter[str] = Counter()
        for point in points(self.table).values():
            if "changelog_id" not in point and not self.history.may_dangle:
                indexes.update(self.judge.refs(self.table, **point)["index"])
        if indexes:
            self.count("deletion vectors" if self.variant["family"] == "vectors" else "hash index")
        if indexes and max(indexes.values()) > 1:
            self.count("shared index file")


STEPS = {
    "write": 30,
    "compact": 12,
    "overwrite": 8,
    "drop_partition": 4,
    "truncate": 1,
    "analyze": 3,
    "compact_manifest": 2,
    "alter": 3,
    "tag": 14,
    "delete_tag": 4,
    "change_tag": 4,
    "branch": 4,
    "on_branch": 12,
    "fast_forward": 2,
    "rollback": 3,
    "rollback_as_latest": 2,
    "consumer": 3,
    "expire": 6,
    "expire_changelogs": 2,
}


def _variant(seed: int, rng: random.Random) -> dict[str, Any]:
    """Choose the kind of table: rare features rotate with the seed, so that 25 seeds cover all of them."""
    family = FAMILIES[seed % len(FAMILIES)]
    is_keyed = family not in ("append", "append buckets")
    producer = PRODUCERS[(seed // 2) % 4] if family == "primary key" else "none"
    engine = (
        ENGINES[(seed // 5) % len(ENGINES)]
        if family == "primary key" and producer in ("none", "lookup")
        else "deduplicate"
    )
    format = FORMATS[(seed // 2) % len(FORMATS)]
    partition_keys = rng.choice(([], ["p"], ["p"], ["p", "h"]))
    expires_by_itself = seed % 6 == 5
    options = {
        "bucket": "-1" if family in ("append", "dynamic buckets") else rng.choice(("1", "2")),
        "file.format": format,
        "manifest.format": MANIFESTS[(seed // 3) % len(MANIFESTS)],
        "manifest.merge-min-count": rng.choice(("2", "3", "30")),
        "num-sorted-run.compaction-trigger": rng.choice(("3", "5")),
        # Nothing expires automatically, except in tables of that kind.
        "snapshot.num-retained.min": "3" if expires_by_itself else "1000",
        "snapshot.num-retained.max": "7" if expires_by_itself else "2147483647",
        "snapshot.time-retained": "1 ms" if expires_by_itself else "1000 d",
    }
    if is_keyed:
        options |= {"changelog-producer": producer, "merge-engine": engine}
    if engine == "aggregation":
        options["fields.n.aggregate-function"] = "sum"
    if family == "append buckets":
        options["bucket-key"] = "k"
    if family == "vectors":
        options["deletion-vectors.enabled"] = "true"
    if not is_keyed and seed % 2 and format != "avro":
        options |= {"file-index.bloom-filter.columns": "k", "file-index.in-manifest-threshold": "1 b"}
    if family == "append" and seed % 2 == 0:
        options["row-tracking.enabled"] = "true"
    is_long_lived = producer != "none" and not expires_by_itself and rng.random() < 0.6
    is_looked_up = producer == "lookup" or family == "vectors" or engine == "first-row"
    return {
        "family": family,
        "is_keyed": is_keyed,
        "producer": producer,
        "partition_keys": partition_keys,
        "partitions": LOOKED_UP if is_looked_up else PARTITIONS,
        "may_delete": is_keyed and engine == "deduplicate",
        "expires_by_itself": expires_by_itself,
        "is_long_lived": is_long_lived,
        "has_gap": seed % 8 == 7,
        "options": options,
    }


# --- by hand ----------------------------------------------------------------------------------------------------------


def seeds(text: str) -> list[int]:
    """ "0-24", "7" or "1,5,9"."""
    first, dash, last = text.partition("-")
    return list(range(int(first), int(last) + 1)) if dash else [int(each) for each in text.split(",")]


def absent(counts: Counter[str], version: str) -> list[str]:
    """Return what should have occurred over many seeds, and did not."""
    return [kind for kind in KINDS if not counts[kind] and kind not in NOT_IN.get(version, ())]


def make_all(judge: PaimonJudge, directory: Path, numbers: Sequence[int], steps: int = 30) -> Iterator[History]:
    """Create one history per seed, each in `<directory>/default.db/h<seed>`."""
    for seed in numbers:
        yield make(judge, directory / "default.db" / f"h{seed}", seed, steps)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.support.interop.random_history")
    parser.add_argument("--seeds", type=seeds, default=seeds("0-24"))
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--version", default=NEWEST)
    parser.add_argument("--directory", type=Path, help="keeps the tables and a log beside each")
    asked = parser.parse_args()
    if lack := missing(asked.version):
        print(lack, file=sys.stderr)
        return 2
    counts: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as own, PaimonJudge(asked.version) as judge:
        for history in make_all(judge, asked.directory or Path(own), asked.seeds, asked.steps):
            counts.update(history.counts)
            refused.update(entry["do"] for entry in history.log if "error" in entry)
            if asked.directory:
                log = asked.directory / f"h{history.seed}.json"
                log.write_text("\n".join(json.dumps(entry) for entry in history.log) + "\n")
    for kind in KINDS:
        print(f"{counts[kind]:6}  {kind}")
    print("refused by the engine:", dict(refused) or "nothing")
    if lacking := absent(counts, asked.version):
        print("did not occur:", ", ".join(lacking), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
