"""The engine names a directory after every kind of partition value, and our path of each file is its real path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.table import open_table
from tests.engines.paimon_java import PaimonJudge

CLOCKS = ["2026-01-02T03:04:05", "2026-01-02T03:04:00", "1960-01-02T00:00:00"]
VALUES: dict[str, list[Any]] = {
    "TIMESTAMP(0)": CLOCKS,
    "TIMESTAMP(3)": [*CLOCKS, "2026-01-02T03:04:05.120"],
    "TIMESTAMP(6)": [*CLOCKS, "2026-01-02T03:04:05.120", "1960-01-02T03:04:05.000001"],
    "TIMESTAMP(9)": [*CLOCKS, "2026-01-02T03:04:05.1", "2026-01-02T03:04:05.123456789", "2026-01-02T03:04:05.0000001"],
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": ["2026-01-02T03:04:05.120Z", "2026-01-02T00:00:00Z"],
    "TIME(0)": ["03:04:05", "03:04"],
    "TIME(3)": ["03:04:05.120", "03:04:05.123", "03:04"],
    "DATE": ["2026-01-02", "0099-01-02", "1969-12-31"],
    "DECIMAL(10,2)": ["1.50", "-0.05"],
    "DECIMAL(30,10)": ["0.0000000001", "12345678901234567890.5"],
    "DOUBLE": [1.0, 1e10, 1e-5, 0.1],
    "FLOAT": [1.1, 1e10],
    "BOOLEAN": [True, False],
    "BYTES": ["616263"],
    "CHAR(5)": ["ab"],
    "STRING": ["ab", " ", "a/b", "ü"],
    "BIGINT": [-5, 2**62],
    "TINYINT": [-1],
}
UNTOLD = {("BYTES", "true"), ("TIMESTAMP(6) WITH LOCAL TIME ZONE", "false")}


@pytest.mark.parametrize("legacy", ["true", "false"])
def test_directories_are_named_as_the_engine_names_them(java_judge: PaimonJudge, tmp_path: Path, legacy: str) -> None:
    for number, (kind, values) in enumerate(VALUES.items()):
        table = tmp_path / f"w/default.db/t{number}"
        options = {"bucket": "-1", "partition.legacy-name": legacy}
        java_judge.create(table, [("id", "BIGINT"), ("p", kind)], partition_keys=["p"], options=options)
        for value in [*values, None]:
            java_judge.write(table, [[1, value]])
        there = {path.relative_to(table).as_posix() for path in table.glob("p=*/*/*.*") if path.name[0] != "."}
        assert len(there) == len(values) + 1
        opened = open_table(str(table))
        if (kind, legacy) in UNTOLD:
            history = opened.history()
            assert len(history.incomplete) == len(values) + 1, "each holds the first one's file"
            assert all(", and the metadata does not record that." in problem.sentence() for problem in history.problems)
            continue
        objects = opened.history().objects
        ours = {row["path"] for row in objects.select(["path", "kind"]).to_pylist() if row["kind"] == "data"}
        assert ours == there, kind
