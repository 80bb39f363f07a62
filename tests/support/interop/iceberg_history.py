"""Random histories of an Iceberg table, driven through the engine's Java core: the table and a log of what was done.

    python -m tests.support.interop.iceberg_history --seeds 0-24 --directory /tmp/histories
        prints how often each kind of thing occurred; ends with status 1 where one did not occur at all

    history = make(judge, directory / "t7", seed=7)
    for request in requests(history, judge.state(history.address)):
        judge.expire(history.address, **request)

The same seed makes the same decisions with the same release of the engine; snapshot ids and names of metadata differ.
The engine's clock is told: commits lie milliseconds to days apart, with ties and a clock that goes back.

Invariant: a history is what the engine itself does; what it refuses is in the log as its error and counts as nothing.
Half of the histories have real rows, whose every snapshot can be read; the others have files in metadata alone.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.engines.iceberg_java import EngineError, IcebergJudge, missing

EPOCH_MS = 1_767_225_600_000
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
STEPS_MS = (0, 1, 1_000, 60_000, HOUR_MS, HOUR_MS, 7 * HOUR_MS, DAY_MS, -5_000)
COLUMNS = (("id", "long"), ("p", "string"), ("d", "date"), ("k", "int"), ("f", "float"), ("v", "string"))
LAYOUTS: tuple[tuple[tuple[str, str], ...], ...] = (
    (),
    (("p", "identity"),),
    (("id", "bucket[3]"),),
    (("d", "day"), ("p", "truncate[1]")),
    (("p", "identity"), ("d", "month")),
)
VALUES = ("a", "b c", "x/y=z%")
ADDRESSES = ("{}", "file:{}", "file://{}")
"""A directory as metadata may spell it."""

KINDS = (
    *("v1", "v2", "v3", "real rows", "files in metadata alone", "empty table", "unpartitioned", "partitioned"),
    *("file: address", "gzip metadata", "object storage", "old metadata deleted", "manifests merged", "retention set"),
    *("append", "fast append", "overwrite", "overwrite where", "delete", "delete where", "replace partitions"),
    *("position deletes", "deletion vectors", "vectors of one Puffin", "vector replaced", "equality deletes", "upsert"),
    *("deletes removed", "rewrite", "rewrite with deletes", "manifests rewritten", "transaction"),
    *("staged", "cherry-pick", "cherry-pick that moves main", "rollback", "rollback to a time", "set current"),
    *("commit after rollback", "tag", "tag with an age", "tag on a staged snapshot", "two tags on one snapshot"),
    *("tag replaced", "tag removed", "numeric tag", "branch", "branch with retention", "branch commit"),
    *("branch replaced", "branch renamed", "branch removed", "branch deletes", "fast-forward", "retention changed"),
    *(
        "column added",
        "column added again",
        "column renamed",
        "column dropped",
        "column widened",
        "columns reordered",
        "default",
    ),
    *("partition field added", "partition field removed", "several specs", "statistics", "statistics replaced"),
    *("partition statistics", "properties", "upgrade", "table replaced", "expiry", "expiry of files", "refs expired"),
    *("incremental expiry", "log cleared", "equal times", "clock back", "older snapshots than the log"),
)
"""What must occur at least once in 25 seeds."""


@dataclass
class History:
    """A table with a past: `log` holds each change and its result, `counts` how often each of KINDS occurred."""

    table: Path
    address: str
    """The location in its metadata."""
    seed: int
    variant: dict[str, Any]
    clock_ms: int = EPOCH_MS
    log: list[dict[str, Any]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def is_real(self) -> bool:
        return bool(self.variant["is_real"])


def make(judge: IcebergJudge, table: Path, seed: int, steps: int = 32) -> History:
    """Create a table in this directory with a random past of this many steps."""
    walk = _Walk(judge, table, seed)
    walk.create()
    if walk.history.variant["is_empty"]:
        walk.count("empty table")
        return walk.history
    for _ in range(2):
        walk.append()
    for _ in range(steps):
        walk.step()
    walk.finish()
    return walk.history


def times(state: Mapping[str, Any]) -> list[int]:
    """Return times around every point where the result of an as-of can change: from the log, and from snapshots not in
    it."""
    known = {ms for ms, _ in state["log"]} | {each["ms"] for each in state["snapshots"]}
    return sorted({near for ms in known for near in (ms - 1, ms, ms + 1)} | {0, EPOCH_MS + 1000 * DAY_MS})


def requests(history: History, state: Mapping[str, Any], many: int = 12) -> list[dict[str, Any]]:
    """Return expiry requests: by table settings now and later, by times at and near a boundary and between clocks that
    differed, by count, by id, and without some refs."""
    rng = random.Random(history.seed)
    now, snapshots = history.clock_ms, state["snapshots"]
    refs = sorted(set(state["refs"]) - {"main"})
    moments = sorted({each["ms"] for each in snapshots}) or [now]
    asked: list[dict[str, Any]] = [{"now": now}, {"now": now + 6 * DAY_MS}, {"now": now + 60 * DAY_MS}]
    asked.append({"now": now, "older_than_ms": now + 1})
    asked += [
        {"now": now, "older_than_ms": now + 1, "drop_refs": [name]} for name in rng.sample(refs, min(3, len(refs)))
    ]
    if len(refs) > 1:
        asked.append({"now": now, "older_than_ms": now + 1, "drop_refs": refs})
    known = {each["id"]: each["ms"] for each in snapshots}
    skewed = [known[each["parent"]] for each in snapshots if known.get(each["parent"], 0) > each["ms"]]
    asked += [{"now": now, "older_than_ms": ms} for ms in rng.sample(skewed, min(2, len(skewed)))]
    if history.variant["is_linear"]:  # removed recently: the engine's incremental cleanup leaves some of it behind
        removers = [each["ms"] for each in snapshots if each["operation"] in ("delete", "overwrite", "replace")]
        cutoffs = rng.sample(removers, min(3, len(removers)))
        asked += [{"now": now, "older_than_ms": ms, "drop_refs": refs} for ms in cutoffs]
    while len(asked) < many:
        request: dict[str, Any] = {"now": now + rng.choice((0, HOUR_MS, DAY_MS, 30 * DAY_MS))}
        if rng.random() < 0.8:
            request["older_than_ms"] = rng.choice(moments) + rng.choice((0, 0, 1))
        if rng.random() < 0.4:
            request["retain_last"] = rng.choice((1, 2, 5))
        if snapshots and rng.random() < 0.3:
            request["snapshots"] = [each["id"] for each in rng.sample(snapshots, min(2, len(snapshots)))]
        if refs and rng.random() < 0.3:
            request["drop_refs"] = [rng.choice(refs)]
        asked.append(request)
    return asked


# --- the walk ---------------------------------------------------------------------------------------------------------


class _Walk:
    def __init__(self, judge: IcebergJudge, table: Path, seed: int) -> None:
        self.judge = judge
        self.rng = random.Random(seed)
        variant = _variant(seed, self.rng)
        self.history = History(table, variant["address"].format(table), seed, variant)
        self.names = 0
        self.staged: list[int] = []
        self.dropped: list[str] = []
        self.is_rolled_back = False
        self.state: dict[str, Any] = {}

    def count(self, *kinds: str) -> None:
        self.history.counts.update(kinds)

    def name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}{self.names}"

    def do(self, *changes: dict[str, Any], counts: Sequence[str] = ()) -> list[int] | None:
        """Commit, log and count; return the new snapshots, or None if the engine rejected it."""
        before, now = self.state, self.history.clock_ms + self.rng.choice(STEPS_MS)
        entry: dict[str, Any] = {"now": now, "changes": changes}
        self.history.log.append(entry)
        try:
            made = entry["snapshots"] = self.judge.change(self.history.address, *changes, now=now)
        except EngineError as error:
            entry["error"] = str(error)
            return None
        self.history.clock_ms = now
        self.look()
        self.count(*counts)
        self.moved(before)
        return made

    def moved(self, before: Mapping[str, Any]) -> None:
        """Count the events that are only visible in the log."""
        log, was = self.state["log"], before["log"]
        if len(log) > len(was) and was:
            if log[-1][0] == log[-2][0]:
                self.count("equal times")
            elif log[-1][0] < log[-2][0]:
                self.count("clock back")
        if len(log) < len(was):
            self.count("log cleared")

    def look(self) -> None:
        self.state = self.judge.state(self.history.address)

    # What there is.

    @property
    def version(self) -> int:
        return int(self.state["format_version"])

    def ids(self) -> list[int]:
        return [each["id"] for each in self.state["snapshots"]]

    def ancestors(self) -> list[int]:
        """The ancestors of main's head, newest first, without the head."""
        parents = {each["id"]: each["parent"] for each in self.state["snapshots"]}
        found, at = list[int](), parents.get(self.state["current"])
        while at is not None and at in parents:
            found.append(at)
            at = parents[at]
        return found

    def refs(self, kind: str) -> list[str]:
        return [name for name, ref in self.state["refs"].items() if ref["type"] == kind and name != "main"]

    def live(self, branch: str | None = None) -> list[dict[str, Any]]:
        """Return the data files with their delete files, sorted."""
        if self.state["current"] is None and branch is None:
            return []
        return sorted(self.judge.scan(self.history.address, ref=branch)["files"], key=lambda file: file["path"])

    def some(self, branch: str | None = None, most: int = 2) -> list[dict[str, Any]]:
        files = self.live(branch)
        return self.rng.sample(files, min(len(files), self.rng.randint(1, most)))

    # Files.

    def rows(self, many: int) -> list[list[Any]]:
        types = [column.split(":", 2)[1:] for column in self.state["schemas"][str(self.state["schema"])]]
        return [[self.value(name, type) for name, type in types] for _ in range(many)]

    def value(self, name: str, type: str) -> Any:
        if name == "p":
            return self.rng.choice(VALUES)
        if type in ("int", "long"):
            return self.rng.randrange(40)
        if type in ("float", "double"):
            return self.rng.randrange(100) / 4
        if type == "date":
            return f"2026-0{self.rng.randint(1, 3)}-0{self.rng.randint(1, 2)}"
        return self.rng.choice((None, f"v{self.rng.randrange(100)}"))

    def data(self, rows: int = 6) -> dict[str, Any]:
        """Create new data files for a change."""
        if self.history.is_real:
            return {"name": self.name("f"), "rows": self.rows(self.rng.randint(1, rows))}
        return {"claimed": [self.claimed() for _ in range(self.rng.randint(1, 3))]}

    def claimed(self) -> dict[str, Any]:
        parts = [f"{name}={self.part(transform)}" for name, transform in self.state["partition_fields"]]
        size = {"bytes": self.rng.randrange(1_000, 100_000), "records": self.rng.randrange(1, 500)}
        return {"name": self.name("f") + ".parquet", "partition": "/".join(parts), **size}

    def part(self, transform: str) -> str:
        """Format a value as in a partition directory name."""
        if transform.startswith(("bucket", "day", "month")):
            number = self.rng.randrange(3)
            return {"b": str(number), "d": f"2026-01-0{number + 1}", "m": str(672 + number)}[transform[0]]
        return "__HIVE_DEFAULT_PARTITION__" if transform == "void" else self.rng.choice("ab")

    # One step.

    def create(self) -> None:
        variant, history = self.history.variant, self.history
        self.judge.create(
            history.address,
            COLUMNS,
            partition_by=variant["partition_by"],
            format_version=variant["format_version"],
            properties=variant["properties"],
            now=history.clock_ms,
        )
        self.look()
        properties = variant["properties"]
        self.count(f"v{variant['format_version']}", "partitioned" if variant["partition_by"] else "unpartitioned")
        self.count("real rows" if history.is_real else "files in metadata alone")
        said = {
            "file: address": history.address.startswith("file:"),
            "gzip metadata": properties.get("write.metadata.compression-codec") == "gzip",
            "object storage": "write.object-storage.enabled" in properties,
            "old metadata deleted": "write.metadata.delete-after-commit.enabled" in properties,
            "manifests merged": "commit.manifest.min-count-to-merge" in properties,
            "retention set": any(name.startswith("history.expire") for name in properties),
        }
        self.count(*(kind for kind, is_so in said.items() if is_so))

    def step(self) -> None:
        weights = dict(STEPS)
        if self.version < 2:
            del weights["row_delta"]
        if self.history.variant["is_linear"]:
            weights = {name: weight for name, weight in weights.items() if name not in NOT_LINEAR} | {"expire": 5}
        getattr(self, self.rng.choices(list(weights), list(weights.values()))[0])()

    def commit(self, change: dict[str, Any], kind: str) -> list[int] | None:
        """Change main's data."""
        made = self.do(change, counts=[kind])
        if made and self.is_rolled_back:
            self.count("commit after rollback")
            self.is_rolled_back = False
        return made

    def append(self) -> None:
        fast = self.rng.random() < 0.3
        self.commit({"do": "append", "fast": fast, **self.data()}, "fast append" if fast else "append")

    def overwrite(self) -> None:
        change: dict[str, Any] = {"do": "overwrite", **self.data()}
        if ["p", "identity"] in self.state["partition_fields"] and self.rng.random() < 0.4:
            value = self.rng.choice(VALUES if self.history.is_real else "ab")
            self.commit(change | {"where": ["p", value]}, "overwrite where")
        else:
            self.commit(change | {"delete": [file["path"] for file in self.some()]}, "overwrite")

    def delete(self) -> None:
        if ["p", "identity"] in self.state["partition_fields"] and self.rng.random() < 0.4:
            value = self.rng.choice(VALUES if self.history.is_real else "ab")
            self.commit({"do": "delete", "where": ["p", value]}, "delete where")
        elif files := self.some():
            self.commit({"do": "delete", "delete": [file["path"] for file in files]}, "delete")

    def replace_partitions(self) -> None:
        self.commit({"do": "replace_partitions", **self.data()}, "replace partitions")

    def row_delta(self, branch: str | None = None) -> None:
        live = self.live(branch)
        with_deletes = [file for file in live if file["deletes"]]
        pool = with_deletes if with_deletes and self.rng.random() < 0.4 else live
        if not pool:
            return
        files = self.rng.sample(pool, min(len(pool), self.rng.randint(1, 3)))
        change: dict[str, Any] = {"do": "row_delta", "name": self.name("d")}
        if branch:
            change["branch"] = branch
        chance = self.rng.random()
        held = [(file, delete) for file in files for delete in file["deletes"]]
        if held and chance < 0.2:
            names = {path if offset is None else f"{path}@{offset}" for _, (_, path, offset) in held}
            change["remove_deletes"], kinds = sorted(names), ["deletes removed"]
        elif chance < 0.4:
            change |= self.equality(files)
            kinds = ["equality deletes"]
        else:
            change |= self.positions(files)
            kinds = ["deletion vectors" if self.version > 2 else "position deletes"]
            if self.version > 2:
                kinds += ["vectors of one Puffin"] * (len(files) > 1)
                kinds += ["vector replaced"] * any(offset is not None for _, (_, _, offset) in held)
        if "remove_deletes" not in change and self.rng.random() < 0.4:
            change |= self.data() | {"name": change["name"]}
            kinds += ["upsert"] * (kinds == ["equality deletes"])
        self.do(change, counts=[*kinds, *(["branch deletes"] if branch else [])])

    def equality(self, files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        names = [column.split(":")[1] for column in self.state["schemas"][str(self.state["schema"])]]
        if self.history.is_real:
            return {"equality": {"columns": [self.rng.choice(names[:2])], "rows": self.rows(2)}}
        claimed = {"name": self.name("e") + ".parquet", "bytes": 700, "records": 2, "equality": [names[0]]}
        return {"claimed_deletes": [claimed | {"data": files[0]["path"]}]}

    def positions(self, files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        if self.history.is_real:
            return {"positions": {file["path"]: [self.rng.randrange(file["records"])] for file in files}}
        claimed = [{"data": file["path"], "records": 1, "bytes": 900} for file in files]
        if self.version < 3:
            chosen = [
                each | {"name": self.name("p") + ".parquet", "referenced": self.rng.random() < 0.5} for each in claimed
            ]
        else:
            puffin = self.name("dv") + ".puffin"
            chosen = [each | {"name": puffin, "offset": 4 + 50 * i, "length": 50} for i, each in enumerate(claimed)]
        return {"claimed_deletes": chosen}

    def rewrite(self) -> None:
        files = self.some(most=4)
        if not files:
            return
        change: dict[str, Any] = {"do": "rewrite", "delete": [file["path"] for file in files]}
        if self.history.is_real:
            change |= {"name": self.name("r"), "compact": True}
        else:
            change["claimed"] = [self.claimed() | {"records": sum(file["records"] for file in files)}]
        has_deletes = any(file["deletes"] for file in files)
        self.commit(change, "rewrite with deletes" if has_deletes else "rewrite")

    def rewrite_manifests(self) -> None:
        self.commit({"do": "rewrite_manifests", "into": self.rng.randint(1, 3)}, "manifests rewritten")

    def transaction(self) -> None:
        first: dict[str, Any] = {"do": "append", **self.data()}
        if (files := self.some()) and self.rng.random() < 0.6:
            first = {"do": "delete", "delete": [file["path"] for file in files]}
        tag = {"do": "properties", "set": {self.name("note"): "x"}}
        rest = [{"do": "append", **self.data()}, *([tag] if self.rng.random() < 0.5 else [])]
        self.do(first, *rest, counts=["transaction"])

    def stage(self) -> None:
        do = self.rng.choice(("append", "append", "replace_partitions"))
        made = self.do({"do": do, "stage": True, **self.data()}, counts=["staged"])
        self.staged += made or []
        if made and self.rng.random() < 0.2:
            self.cherrypick()

    def cherrypick(self) -> None:
        staged = [id for id in self.staged if id in self.ids()]
        if not staged:
            self.stage()
            return
        id = staged[-1] if self.rng.random() < 0.5 else self.rng.choice(staged)
        made = self.do({"do": "cherrypick", "snapshot": id})
        if made is not None:
            self.count("cherry-pick" if made else "cherry-pick that moves main")

    def rollback(self) -> None:
        ancestors = self.ancestors()[:4]
        if not ancestors:
            return
        id = self.rng.choice(ancestors)
        if self.rng.random() < 0.3:
            (ms,) = (each["ms"] for each in self.state["snapshots"] if each["id"] == id)
            made = self.do({"do": "rollback_to_time", "time_ms": ms + 1}, counts=["rollback to a time"])
        else:
            made = self.do({"do": "rollback", "snapshot": id}, counts=["rollback"])
        self.is_rolled_back |= made is not None

    def set_current(self) -> None:
        if ids := self.ids():
            self.do({"do": "set_current", "snapshot": self.rng.choice(ids[-6:])}, counts=["set current"])

    # Refs.

    def tag(self) -> None:
        ids = self.ids()
        if not ids:
            return
        tagged = [self.state["refs"][name]["snapshot"] for name in self.refs("tag")]
        staged = [id for id in self.staged if id in ids]
        id = self.rng.choice((staged if staged and self.rng.random() < 0.3 else ids)[-8:])
        number = self.name("")
        name = self.rng.choice((f"t{number}", f"t{number}", number, f"rel/{number} ü"))
        change: dict[str, Any] = {"do": "create_tag", "name": name, "snapshot": id}
        kinds = ["tag", *(["tag on a staged snapshot"] if id in self.staged else [])]
        kinds += ["two tags on one snapshot"] * (id in tagged) + ["numeric tag"] * name.isdigit()
        if self.rng.random() < 0.4:
            change["max_ref_age_ms"] = self.rng.choice((HOUR_MS, DAY_MS, 20 * DAY_MS))
            kinds.append("tag with an age")
        self.do(change, counts=kinds)

    def change_tag(self) -> None:
        tags = self.refs("tag")
        if not tags:
            return
        name = self.rng.choice(tags)
        if self.rng.random() < 0.5:
            self.do({"do": "remove_tag", "name": name}, counts=["tag removed"])
        else:
            change = {"do": "replace_tag", "name": name, "snapshot": self.rng.choice(self.ids())}
            self.do(change, counts=["tag replaced"])

    def retention(self) -> dict[str, int]:
        chosen = {
            "min_snapshots_to_keep": self.rng.randint(1, 3),
            "max_snapshot_age_ms": self.rng.choice((1, HOUR_MS, 2 * DAY_MS)),
            "max_ref_age_ms": self.rng.choice((DAY_MS, 10 * DAY_MS)),
        }
        return {name: value for name, value in chosen.items() if self.rng.random() < 0.6}

    def branch(self) -> None:
        ids = self.ids()
        if not ids or len(self.refs("branch")) > 3:
            return
        name, set_to = self.name("b"), self.retention() if self.rng.random() < 0.5 else {}
        at = self.state["current"] if self.rng.random() < 0.6 else self.rng.choice(ids)
        if at is None:
            return
        kinds = ["branch", *(["branch with retention"] if set_to else [])]
        if self.do({"do": "create_branch", "name": name, "snapshot": at, **set_to}, counts=kinds) is not None:
            self.on_branch(name)

    def on_branch(self, branch: str | None = None) -> None:
        branches = self.refs("branch")
        if not branches:
            return
        branch = branch or self.rng.choice(branches)
        chance = self.rng.random()
        if chance < 0.6:
            self.do({"do": "append", "branch": branch, **self.data()}, counts=["branch commit"])
        elif chance < 0.8 and self.version > 1:
            self.row_delta(branch)
        elif files := self.some(branch):
            change = {"do": "delete", "branch": branch, "delete": [file["path"] for file in files]}
            self.do(change, counts=["branch commit"])

    def change_branch(self) -> None:
        branches = self.refs("branch")
        if not branches:
            return
        name, kind = self.rng.choice(branches), self.rng.choice(("replaced", "renamed", "renamed", "removed", "kept"))
        if kind == "replaced":
            change: dict[str, Any] = {"do": "replace_branch", "name": name, "snapshot": self.rng.choice(self.ids())}
        elif kind == "renamed":
            change = {"do": "rename_branch", "name": name, "to": self.name("b")}
        elif kind == "removed":
            change = {"do": "remove_branch", "name": name}
        else:
            name = self.rng.choice((name, "main"))
            change = {"do": "retention", "name": name, **self.retention()}
            if name == "main":
                change.pop("max_ref_age_ms", None)
        self.do(change, counts=["retention changed" if kind == "kept" else f"branch {kind}"])

    def fast_forward(self) -> None:
        """Fast-forward a branch that has just left main, or one that main has overtaken."""
        if self.state["current"] is None:
            return
        name = self.name("b")
        start = self.do({"do": "create_branch", "name": name, "snapshot": self.state["current"]}, counts=["branch"])
        if start is None:
            return
        if self.rng.random() < 0.6:
            self.do({"do": "append", "branch": name, **self.data()}, counts=["branch commit"])
            pair = {"name": "main", "to": name}
        else:
            self.append()
            pair = {"name": name, "to": "main"}
        self.do({"do": "fast_forward", **pair}, counts=["fast-forward"])

    # The rest of the metadata.

    def schema(self) -> None:
        columns = [column.split(":", 2)[1:] for column in self.state["schemas"][str(self.state["schema"])]]
        parted = {"id", "p", "d"}
        free = [name for name, _ in columns if name not in parted]
        kind = self.rng.choice(("added", "renamed", "dropped", "dropped", "widened", "reordered", "default"))
        if self.dropped and self.rng.random() < 0.6:
            kind = "added"
        narrow = [(name, type) for name, type in columns if type in ("int", "float") and name not in parted]
        if kind in ("added", "default"):
            is_again = bool(self.dropped) and kind == "added"
            name = self.dropped.pop() if is_again else self.name("c")
            change: list[Any] = ["add", name, self.rng.choice(("int", "string", "float"))]
            if kind == "default":
                change = [*change[:2], "int", 7]
            kind = "added again" if is_again else kind
        elif kind == "widened" and narrow:
            name, type = self.rng.choice(narrow)
            change = ["type", name, {"int": "long", "float": "double"}[type]]
        elif kind == "reordered":
            change = ["first", self.rng.choice([name for name, _ in columns])]
        elif kind in ("renamed", "dropped") and free:
            name = self.rng.choice(free)
            change = ["rename", name, self.name("n")] if kind == "renamed" else ["drop", name]
        else:
            return
        what = {"reordered": "columns reordered", "default": "default"}.get(kind, f"column {kind}")
        if self.do({"do": "schema", "changes": [change]}, counts=[what]) is not None and kind == "dropped":
            self.dropped.append(change[1])

    def spec(self) -> None:
        fields = [(name, transform) for name, transform in self.state["partition_fields"] if transform != "void"]
        if fields and self.rng.random() < 0.4:
            change = {"do": "spec", "changes": [["remove", self.rng.choice(fields)[0]]]}
            self.do(change, counts=["partition field removed", "several specs"])
        else:
            new = self.rng.choice((("id", "bucket[3]"), ("p", "identity"), ("d", "day"), ("p", "truncate[1]")))
            self.do({"do": "spec", "changes": [["add", *new]]}, counts=["partition field added", "several specs"])

    def statistics(self) -> None:
        ids = self.ids()
        if not ids:
            return
        held = [each[0] for each in self.state["statistics"]]
        id = self.rng.choice(held if held and self.rng.random() < 0.2 else ids[-5:])
        if self.history.is_real and self.rng.random() < 0.3:
            self.do({"do": "partition_statistics", "snapshot": id}, counts=["partition statistics"])
            return
        change = {"do": "statistics", "snapshot": id, "name": self.name("s")}
        self.do(change, counts=["statistics", *(["statistics replaced"] if id in held else [])])

    def properties(self) -> None:
        if self.version < 3 and self.rng.random() < 0.4:
            self.do({"do": "properties", "set": {"format-version": str(self.version + 1)}}, counts=["upgrade"])
        else:
            keep = {"history.expire.min-snapshots-to-keep": str(self.rng.randint(1, 3))}
            self.do({"do": "properties", "set": keep}, counts=["properties"])

    def expire(self) -> None:
        if len(self.ids()) < 4:
            return
        request: dict[str, Any] = {"now": self.history.clock_ms}
        chance = self.rng.random()
        if chance < 0.6:
            moments = sorted(each["ms"] for each in self.state["snapshots"])
            request |= {"older_than_ms": moments[len(moments) // 2], "retain_last": self.rng.randint(1, 3)}
        elif chance < 0.8:
            request["older_than_ms"] = self.history.clock_ms - 2 * DAY_MS
        else:
            request["snapshots"] = [self.rng.choice(self.ids()[:-1])]
        entry: dict[str, Any] = {"expire": request}
        before = self.state
        self.history.log.append(entry)
        try:
            entry["result"] = done = self.judge.expire_now(self.history.address, **request)
        except EngineError as error:
            entry["error"] = str(error)
            return
        self.look()
        self.moved(before)
        self.count(
            *(["expiry"] if done["removed_snapshots"] else []), *(["expiry of files"] if done["deleted"] else [])
        )
        self.count(*(["refs expired"] if done["removed_refs"] else []))
        self.count(*(["incremental expiry"] if done["incremental"] and done["deleted"] else []))

    def replace_table(self) -> None:
        now = self.history.clock_ms = self.history.clock_ms + HOUR_MS
        parts = self.rng.choice(LAYOUTS[:2])
        self.judge.replace_table(self.history.address, COLUMNS, partition_by=parts, now=now)
        self.history.log.append({"replace_table": parts, "now": now})
        self.look()
        self.count("table replaced")
        self.append()

    def finish(self) -> None:
        """Count the events that are only visible in the whole history."""
        logged = {id for _, id in self.state["log"]}
        first = min((ms for ms, _ in self.state["log"]), default=None)
        if first is not None and any(
            each["ms"] < first and each["id"] not in logged for each in self.state["snapshots"]
        ):
            self.count("older snapshots than the log")


STEPS = {
    "append": 14,
    "overwrite": 8,
    "delete": 7,
    "replace_partitions": 4,
    "row_delta": 16,
    "rewrite": 7,
    "rewrite_manifests": 4,
    "transaction": 4,
    "stage": 3,
    "cherrypick": 6,
    "rollback": 5,
    "set_current": 2,
    "tag": 12,
    "change_tag": 5,
    "branch": 4,
    "on_branch": 8,
    "change_branch": 7,
    "fast_forward": 2,
    "schema": 7,
    "spec": 2,
    "statistics": 8,
    "properties": 5,
    "expire": 3,
    "replace_table": 0.6,
}
NOT_LINEAR = ("stage", "cherrypick", "rollback", "set_current", "branch", "on_branch", "change_branch", "fast_forward")
"""Without these, every snapshot is an ancestor of main, and the engine's plain expiry may choose another cleanup."""


FORMATS = ("parquet", "orc", "avro")


def _variant(seed: int, rng: random.Random) -> dict[str, Any]:
    """Choose the kind of table for a seed: families in turn, the rest at random."""
    properties: dict[str, str] = {}
    if rng.random() < 0.4:
        properties["commit.manifest.min-count-to-merge"] = "2"
    if rng.random() < 0.2:
        properties["write.metadata.compression-codec"] = "gzip"
    if rng.random() < 0.2:
        properties["write.object-storage.enabled"] = "true"
    if rng.random() < 0.3:
        properties |= {
            "write.metadata.delete-after-commit.enabled": "true",
            "write.metadata.previous-versions-max": str(rng.randint(1, 6)),
        }
    if rng.random() < 0.4:
        properties["history.expire.max-snapshot-age-ms"] = str(rng.choice((1, HOUR_MS, 2 * DAY_MS)))
    if rng.random() < 0.3:
        properties["history.expire.min-snapshots-to-keep"] = str(rng.randint(2, 4))
    if rng.random() < 0.2:
        properties["history.expire.max-ref-age-ms"] = str(3 * DAY_MS)
    formats = random.Random(f"formats of {seed}")  # separate from `rng`, so that existing histories stay the same
    for name in ("write.format.default", "write.delete.format.default"):
        properties[name] = formats.choice(FORMATS)
    return {
        "format_version": (2, 3, 2, 3, 1)[seed % 5],
        "is_real": seed % 2 == 0,
        "is_linear": seed % 4 == 1,
        "is_empty": seed % 25 == 24,
        "address": ADDRESSES[seed % len(ADDRESSES)],
        "partition_by": rng.choice(LAYOUTS),
        "properties": properties,
    }


# --- by hand ----------------------------------------------------------------------------------------------------------


def absent(counts: Counter[str]) -> list[str]:
    """Return the kinds that never occurred."""
    return [kind for kind in KINDS if not counts[kind]]


def make_all(judge: IcebergJudge, directory: Path, seeds: Sequence[int]) -> Iterator[History]:
    for seed in seeds:
        yield make(judge, directory / f"h{seed}", seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", default="0-24", help="first-last")
    parser.add_argument("--directory", type=Path, help="where the tables and their logs stay")
    asked = parser.parse_args()
    first, last = map(int, asked.seeds.split("-"))
    if lack := missing():
        print(lack, file=sys.stderr)
        return 2
    counts: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as own, IcebergJudge() as judge:
        for history in make_all(judge, asked.directory or Path(own), range(first, last + 1)):
            counts.update(history.counts)
            refused.update(entry["error"].split("\n")[0][:120] for entry in history.log if "error" in entry)
            if asked.directory:
                log = asked.directory / f"h{history.seed}.json"
                log.write_text("\n".join(json.dumps(entry) for entry in history.log) + "\n")
    for kind in KINDS:
        print(f"{counts[kind]:6}  {kind}")
    print("refused by the engine:", sum(refused.values()))
    for said, often in refused.most_common():
        print(f"{often:6}  {said}")
    if lacking := absent(counts):
        print("did not occur:", ", ".join(lacking), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
