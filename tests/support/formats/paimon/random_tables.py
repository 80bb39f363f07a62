"""Random Paimon tables: steps drawn by Hypothesis, and a builder that turns them into a table."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.support.builders import DataFile, TableBuilder
from tests.support.formats.manifest_bytes import FORMS
from tests.support.formats.paimon.tables import merging

PARTITIONS = [("2026-01-01",), ("a longer value",), (None,), ("",), ("  ",), ("2026-01-02",)]


EXTRAS = [(), (), (".index",), ("-1.index", "-2.index")]


NUMBER = st.integers(0, 10**6)


STEP = st.tuples(
    st.sampled_from(
        [
            *("append", "append", "append", "delete", "overwrite", "compact", "upgrade", "merge", "tag", "tag"),
            *("branch", "expire", "expire", "gap", "delete-tag", "index", "again", "statistics", "changelog", "keep"),
        ]
    ),
    NUMBER,
    NUMBER,
)


FORMATS = st.lists(st.sampled_from(FORMS), min_size=1, max_size=4)
"""The metadata formats of successive commits."""


class Maker:
    """Turns steps (a name and two numbers) into a table; steps that do not fit the table are skipped."""

    def __init__(self, root: Path, options: dict[str, str], forms: Sequence[str] = ("avro",)) -> None:
        self.main = TableBuilder(root, partition_keys=["dt"], options=options, forms=forms)
        self.lines = [self.main]
        self.made = 0
        self.dead: list[DataFile] = []
        self.keeps_changelogs = False  # the builder does not know what a changelog holds, and would free it

    def run(self, steps: list[tuple[str, int, int]]) -> None:
        for word, a, b in steps:
            line = self.lines[a % len(self.lines)]
            getattr(self, f"do_{word.replace('-', '_')}")(line, a // len(self.lines), b)

    def file(self, line: TableBuilder, a: int, b: int, **more: Any) -> DataFile:
        self.made += 1
        fields: dict[str, Any] = {
            "partition": PARTITIONS[a % len(PARTITIONS)],
            "bucket": (0, 0, 1, -2)[b % 4],
            "extra": EXTRAS[b % len(EXTRAS)],
            "source": (0, 0, 1, None)[a % 4],
            "external": f"file:///elsewhere/x-{self.made}.parquet" if b % 7 == 0 else None,
        }
        return line.file(100 + self.made, rows=a % 3, **{**fields, **more})

    def chosen(self, line: TableBuilder, a: int, b: int) -> list[DataFile]:
        live = line.live()
        return random.Random(a).sample(live, min(len(live), 1 + b % 3)) if live else []

    def do_append(self, line: TableBuilder, a: int, b: int) -> None:
        line.commit([self.file(line, a + number, b + number) for number in range(b % 3)])

    def do_delete(self, line: TableBuilder, a: int, b: int) -> None:
        gone = self.chosen(line, a, b)
        self.dead += gone
        line.commit([], gone, kind="OVERWRITE")

    def do_overwrite(self, line: TableBuilder, a: int, b: int) -> None:
        line.commit([self.file(line, a, b)], self.chosen(line, a, b), kind="OVERWRITE")

    def do_compact(self, line: TableBuilder, a: int, b: int) -> None:
        gone = self.chosen(line, a, b)
        line.commit([self.file(line, a, b, source=1, level=5)] if gone else [], gone, kind="COMPACT")

    def do_upgrade(self, line: TableBuilder, a: int, b: int) -> None:
        """Put the same file at another level: one path, two identities."""
        gone = [file for file in self.chosen(line, a, b) if file.level < 5]
        line.commit([_at_level(file, file.level + 1) for file in gone], gone, kind="COMPACT")

    def do_merge(self, line: TableBuilder, a: int, b: int) -> None:
        with merging():
            line.commit([self.file(line, a, b)], kind="COMPACT")

    def do_again(self, line: TableBuilder, a: int, b: int) -> None:
        """Give a file a second lifetime, as `rollback_to_as_latest` does: the base list is rewritten without its
        past."""
        live = {file.identity for file in line.live()}
        back = [file for file in self.dead if file.identity not in live][: 1 + b % 2]
        with merging():
            line.commit([self.file(line, a, b)])
        with merging():
            line.commit(back, kind="OVERWRITE")

    def do_tag(self, line: TableBuilder, a: int, b: int) -> None:
        if line.commits:
            line.tag(f"t{b % 10}", sorted(line.commits)[a % len(line.commits)])

    def do_delete_tag(self, line: TableBuilder, a: int, b: int) -> None:
        if line.tags and not self.keeps_changelogs:
            line.delete_tag(sorted(line.tags)[a % len(line.tags)])

    def do_branch(self, line: TableBuilder, a: int, b: int) -> None:
        if self.main.tags and len(self.lines) < 3:
            tag = sorted(self.main.tags)[a % len(self.main.tags)]
            self.lines.append(self.main.branch(f"b{len(self.lines)}", tag))

    def do_expire(self, line: TableBuilder, a: int, b: int) -> None:
        line.expire(sorted(line.commits)[: a % max(len(line.commits), 1)], free=not self.keeps_changelogs)

    def do_gap(self, line: TableBuilder, a: int, b: int) -> None:
        if len(line.commits) > 2:
            line.expire([sorted(line.commits)[1:-1][a % (len(line.commits) - 2)]], free=not self.keeps_changelogs)

    def do_index(self, line: TableBuilder, a: int, b: int) -> None:
        before = line._last.index if line._last else ()
        kept = list(before)[b % 2 :]
        place = {"partition": PARTITIONS[a % len(PARTITIONS)], "bucket": b % 2}
        line.commit([], index=[*kept, *(line.index_file(100 + number, **place) for number in range(a % 3))])

    def do_statistics(self, line: TableBuilder, a: int, b: int) -> None:
        if line is self.main:  # for a branch the builder would write it into the branch
            line.commit([], kind="ANALYZE", statistics=True)

    def do_changelog(self, line: TableBuilder, a: int, b: int) -> None:
        made = self.file(line, a, b, prefix="changelog-", extra=(), external=None)
        line.commit([self.file(line, a, b)], changelog=[made])

    def do_keep(self, line: TableBuilder, a: int, b: int) -> None:
        if len(line.commits) > 1:
            first = min(line.commits)
            self.keeps_changelogs = True
            line.keep_changelog(first)
            line.expire([first], free=False)


def _at_level(file: DataFile, level: int) -> DataFile:
    return DataFile(**{**{name: getattr(file, name) for name in DataFile.__dataclass_fields__}, "level": level})
