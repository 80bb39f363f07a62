"""Iceberg tables of several layouts with a past."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from tests.engines.iceberg_java import IcebergJudge

COLUMNS = (
    ("id", "long"), ("b", "boolean"), ("i", "int"), ("f", "float"), ("d", "double"), ("e", "decimal(33,2)"),
    ("day", "date"), ("ts", "timestamp"), ("tz", "timestamptz"), ("s", "string"), ("u", "uuid"), ("x", "fixed[4]"),
    ("y", "binary"),
)  # fmt: skip


LAYOUTS = {
    "whole": (),
    "days": (("day", "identity"), ("tz", "day")),
    "hours": (("ts", "hour"), ("e", "truncate[10]")),
    "odd": (("u", "identity"), ("b", "identity")),
    "text": (("s", "identity"), ("i", "bucket[2]")),
    "moments": (("ts", "identity"), ("tz", "month")),
    "numbers": (("e", "identity"), ("f", "identity"), ("i", "identity")),
    "bytes": (("y", "truncate[1]"), ("day", "year")),
}


class Past:
    """A table with all types, and a sequence of changes to it."""

    def __init__(self, judge: IcebergJudge, root: Path, layout: str, version: int) -> None:
        self.judge, self.address, self.choose = judge, str(root / "t"), random.Random(f"{layout} {version}")
        judge.create(self.address, COLUMNS, partition_by=LAYOUTS[layout], format_version=version)
        self.ids = 0

    def do(self, what: str, **more: Any) -> None:
        self.judge.change(self.address, {"do": what, "name": f"n{self.choose.random()}", **more})

    def columns(self) -> list[tuple[str, str]]:
        state = self.judge.state(self.address)
        return [tuple(each.split(":", 2)[1:]) for each in state["schemas"][str(state["schema"])]]

    def rows(self, many: int = 8) -> list[list[Any]]:
        return [[self.value(name, of) for name, of in self.columns()] for _ in range(many)]

    def value(self, name: str, of: str) -> Any:
        self.ids += name == "id"
        if name == "id":
            return self.ids
        if self.choose.random() < 0.2:
            return None
        small = self.choose.randint(0, 2)
        moment = self.choose.choice(
            (
                "1969-12-31T23:59:59.000001",
                "2026-01-01T00:00:00",
                "2026-01-01T05:06:07.123456",
                "0001-01-01T00:00:00.000001",
                "9999-12-31T23:59:59.999999",
            )
        )
        texts = {
            "date": ("1969-12-31", "2026-01-01", "2026-02-28")[small], "timestamp": moment, "timestamptz": f"{moment}Z",
            "string": ("", "a/b c", "ü=%")[small], "uuid": f"00000000-0000-0000-0000-00000000000{small}",
            "fixed[4]": f"0000000{small}", "binary": ("", "00", "00ff")[small], "boolean": small == 1,
        }  # fmt: skip
        if of in texts:
            return texts[of]
        if of.startswith("decimal"):  # more digits than Python's default decimal context keeps
            return (f"{small}.50", f"{'9' * 31}.99", f"-{'9' * 30}{small}.01")[self.choose.randint(0, 2)]
        return small - 1

    def positions(self) -> None:
        files = self.judge.scan(self.address)["files"]
        some = self.choose.sample(files, min(len(files), 3))
        rows = {file["path"]: sorted(self.choose.sample(range(file["records"]), 1)) for file in some}
        self.do("row_delta", positions=rows)

    def equality(self, *columns: str) -> None:
        self.do("row_delta", equality={"columns": list(columns), "rows": self.rows(4)})

    def append(self) -> None:
        self.do("append", rows=self.rows())
