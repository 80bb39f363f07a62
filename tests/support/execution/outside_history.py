"""Random histories of tables with files in unusual places: several roots outside the table, partitions with values that
are invalid in URLs, separate index directories. Also tests what happens around such tables: `cp -r`, copied partitions,
nested tables.

The oracle is `tests.support.set_model`, which reads the table's files without the code under test.
"""

from __future__ import annotations

import os
import random
import shutil
import uuid
from collections import Counter
from pathlib import Path

from core.errors import Invalid
from core.execution.apply import apply
from core.model.actions import Change, CleanOrphans, CreateTag, DeleteBranches, DeleteTags, Expire
from core.table import open_table
from tests.support import set_model
from tests.support.builders import DataFile, TableBuilder, Value
from tests.support.execution import ground

VALUES: tuple[Value, ...] = (
    "10:00", "a%2Fb", "a/b", "a b", "ü", "#", "?", "+", "..", ".", "x" * 200, "a=b", "%", "a\\b", "~", "[x]", "'", '"',
    "a.bak", "bucket-0", "日本", "a,b", "&", "*", "{a}", "^", None, " ", "__DEFAULT_PARTITION__",
)  # fmt: skip
ROOTS = ("plain", "an odd one", "per%20cent", "hash#1", "ask?q=1", "plus+", "ü", "deep/er/root")
NOW_MS = ground.LATE_MS
UNNAMED = "__DEFAULT_PARTITION__"


class Life:
    """A table, its outside roots, and the operations on it."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.chance, self.folder, self.seen = chance, folder, Counter[str]()
        self.root = ground.warehouse(folder / "w")
        self.outer = folder / "outer"
        self.outer.mkdir()
        self.roots = [self.outer / name for name in chance.sample(ROOTS, chance.choice((0, 1, 1, 2, 3)))]
        options = {"data-file.external-paths": ",".join(f"{self._spelling()}{each}" for each in self.roots)}
        if chance.random() < 0.3:
            options["data-file.path-directory"] = chance.choice(("data", "of/data"))
        if chance.random() < 0.4:
            options["index-file-in-data-file-dir"] = "true"
        if chance.random() < 0.2:
            options["partition.default-name"] = "nothing"
        self.options, self.prefix = options, options.get("data-file.path-directory", "")
        self.keys = ["dt"] if chance.random() < 0.8 else []
        self.table = TableBuilder(self.root, partition_keys=self.keys, options=options)
        self.sizes: dict[str, int] = {}
        self.lines = [self.table]
        self.values = chance.sample(VALUES, 6)

    def _spelling(self) -> str:
        return self.chance.choice(("file:", "file://"))

    def build(self) -> None:
        chance = self.chance
        for number in range(chance.randint(4, 9)):
            line = chance.choice(self.lines)
            live = line.live()
            adds = [self._file(line) for _ in range(chance.randint(1, 4))]
            gone = chance.sample(live, chance.randint(0, len(live)))
            index = None
            if chance.random() < 0.3:
                at = {"partition": adds[0].partition, "bucket": 0}
                index = [line.index_file(chance.randint(50, 90), **at)]
                self.sizes[index[0].name] = index[0].bytes
            line.commit(adds, gone, kind="OVERWRITE" if gone else "APPEND", index=index)
            if chance.random() < 0.3:
                line.tag(f"v{number}")
                if chance.random() < 0.3 and line is self.table and len(self.lines) == 1:
                    self.lines.append(line.branch("b", f"v{number}"))
        self._lay_out()

    def _file(self, line: TableBuilder) -> DataFile:
        value = (self.chance.choice(self.values),) if self.keys else ()
        size = self.chance.randint(1, 2_000)
        file = line.file(size, rows=1, partition=value, write=False, extra=self.chance.choice(((), (".index",))))
        self.sizes |= {file.name: size, **dict.fromkeys(file.extra, 100)}
        if not self.roots or self.chance.random() < 0.3:
            return file
        text = str(value[0] or "") if value else ""
        text = text if text.strip() else self.options.get("partition.default-name", UNNAMED)
        place = f"dt={set_model._escape(text)}/bucket-0" if value else "bucket-0"
        external = f"{self._spelling()}{self.chance.choice(self.roots)}/{place}/{file.name}"
        self.seen["files outside"] += 1
        return DataFile(file.name, size, 1, value, extra=file.extra, external=external)

    def _lay_out(self) -> None:
        """Create every file that metadata references, where it references it."""
        for path in set_model.read(self.root).paths():
            place = self.place(path)
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
                os.truncate(place, self.sizes[place.name])
        if self.options.get("index-file-in-data-file-dir"):
            shutil.rmtree(self.root / "index", ignore_errors=True)  # where the builder had put them

    def place(self, path: str) -> Path:
        return Path("/" + path.removeprefix("file:").lstrip("/")) if path.startswith("file:") else self.root / path

    def everything(self) -> frozenset[Path]:
        return frozenset(path for path in self.folder.rglob("*") if path.is_file())

    def whole(self) -> None:
        missing = [path for path in set_model.read(self.root).paths() if not self.place(path).is_file()]
        assert not missing, missing

    # what happens -----------------------------------------------------------------------------------------------------

    def copy(self) -> None:
        """Clean up a copy, as a user who takes it for an independent table."""
        copy = self.root.parent / "copy"
        shutil.copytree(self.root, copy)
        self.seen["copies"] += 1
        for change in self._changes():
            table = open_table(str(copy))
            plan = table.preview(change, NOW_MS)
            before = self.everything()
            try:
                apply(table, plan, settle_s=0)
            except Invalid:
                assert plan.outside
                assert self.everything() == before
                self.seen["plans of copies refused"] += 1
            else:
                assert not plan.outside
            assert self._beyond(copy, before) == self._beyond(copy, self.everything())
            self.whole()
        shutil.rmtree(copy)

    def _beyond(self, directory: Path, files: frozenset[Path]) -> frozenset[Path]:
        return frozenset(path for path in files if directory not in path.parents and "state" not in path.parts)

    def _changes(self) -> list[Change]:
        tags = tuple(each.name for each in open_table(str(self.root)).heads().main.tags)
        changes: list[Change] = [Expire(retain_max=self.chance.randint(1, 3), retain_min=1)]
        changes += [DeleteBranches(("b",))] if len(self.lines) > 1 else []
        changes += [DeleteTags(tuple(self.chance.sample(tags, self.chance.randint(1, len(tags)))))] if tags else []
        self.chance.shuffle(changes)
        return changes

    def change(self) -> None:
        """Apply each change to the original, naming its roots: it frees what the sets say, wherever those files are."""
        for change in self._changes():
            table = open_table(str(self.root))
            plan, before, disk = table.preview(change, NOW_MS), set_model.read(self.root).paths(), self.everything()
            if plan.outside:
                try:
                    apply(table, plan, settle_s=0, outside=[each.root for each in plan.outside[1:]])
                except Invalid:
                    assert self.everything() == disk
                else:
                    raise AssertionError("deleted under a root that was not named")
            receipt = apply(table, plan, settle_s=0, outside=[each.root for each in plan.outside])
            assert (receipt.outcome, receipt.kept_back) == ("done", ()), receipt
            self.whole()
            kept, left = {self.place(each) for each in set_model.read(self.root).paths()}, self.everything()
            freed = {self.place(each) for each in before} - kept
            assert not freed & left, freed & left
            gone = {path for path in disk - left if "state" not in path.parts and path not in freed}
            assert all(path.parent.name in ground.OWN or "branch" in path.parts for path in gone), gone
            outside = {path for path in freed if self.outer in path.parents}
            assert sum(each.files for each in plan.outside) == len(outside)
            assert sum(each.files for each in plan.outside) == 0 or "Outside the table" in plan.headline
            self.seen.update({"changes": 1, "files freed": len(freed), "files freed outside": len(outside)})
            self.seen["odd partitions"] += len({path.parent for path in outside})

    def verify(self) -> None:
        """Check that a verified tag is created exactly if every file of its snapshot exists."""
        table = open_table(str(self.root))
        newest = table.heads().main.latest
        if newest is None:
            return
        paths = table.history().files_at(table.history().require(str(newest.id)))["path"].to_pylist()
        apply(table, table.preview(CreateTag("whole", newest.id, verified=True), NOW_MS), settle_s=0)
        if paths:
            place = self.place(self.chance.choice(paths))
            content = place.read_bytes()
            place.unlink()
            try:
                apply(table, table.preview(CreateTag("broken", newest.id, verified=True), NOW_MS), settle_s=0)
            except Exception:  # noqa: BLE001 - which one is told by other tests
                assert not (self.root / "tag/tag-broken").exists()
            else:
                raise AssertionError(f"a tag was verified without {place}")
            place.write_bytes(content)
        self.seen["tags verified"] += 1

    def orphans(self) -> None:
        """Check that a clean-up finds exactly the planted orphans, among neighbours that look like the table's own
        files."""
        chance, table = self.chance, open_table(str(self.root))
        buckets = sorted(
            {
                path.rpartition("/")[0]
                for path in set_model.read(self.root).paths()
                if "bucket-" in path and ":" not in path
            }
        )
        own = {f"{chance.choice(buckets)}/{_name(chance)}" for _ in range(chance.randint(0, 4)) if buckets}
        begin = f"{self.prefix}/" if self.prefix else ""
        others = {
            f"{begin}dt=never seen/bucket-0/{_name(chance)}", f"{begin}dt=a:b/bucket-0/{_name(chance)}",
            f"{begin}dt=x.bak/bucket-0/data-mine.parquet", f"backup/bucket-0/{_name(chance)}",
            f"{begin}nested/metadata/v1.metadata.json", f"{begin}nested/bucket-0/{_name(chance)}",
            f"{begin}dt=ice/metadata/version-hint.text", f"{begin}dt=ice/bucket-0/{_name(chance)}",
            f"{begin}dt=theirs/schema/schema-0", f"{begin}dt=theirs/bucket-0/{_name(chance)}",
            *(f"{bucket}/old/{_name(chance)}" for bucket in buckets[:2]),
            *(f"{bucket.rpartition('/')[0]}/copy of it/bucket-0/{_name(chance)}".lstrip("/") for bucket in buckets[:2]),
        }  # fmt: skip
        others = {path for path in others if chance.random() < 0.7}
        for path in own | others:
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(b"rows")
        for root in self.roots:
            (root / "bucket-0").mkdir(parents=True, exist_ok=True)
            (root / "bucket-0" / _name(chance)).write_bytes(b"another table's")
        before = self.everything()
        plan = table.preview(CleanOrphans(NOW_MS - 1), NOW_MS)
        assert set(plan.frees["path"].to_pylist()) == own
        receipt = apply(table, plan, settle_s=0)
        assert (receipt.outcome, receipt.kept_back) == ("done", ()), receipt
        gone = {path for path in before - self.everything() if "state" not in path.parts}
        assert gone == {self.root / path for path in own}
        self.whole()
        self.seen.update({"orphans": len(own), "neighbours that stayed": len(others) + len(self.roots)})


def _name(chance: random.Random) -> str:
    kind, end = chance.choice((("data", ".parquet"), ("changelog", ".parquet"), ("index", "")))
    return f"{kind}-{uuid.UUID(int=chance.getrandbits(128), version=4)}-0{end}"


def live(folder: Path, seed: int) -> Counter[str]:
    """Run one random history; return the event counts."""
    made = Life(folder, random.Random(seed))
    made.build()
    made.whole()
    made.copy()
    made.change()
    made.verify()
    made.orphans()
    return made.seen
