"""The sentences as they are read, whole."""

from __future__ import annotations

from pathlib import Path

from core.analysis.commit_changes import CommitChanges
from core.analysis.commit_sentences import attention_sentence, sentence
from core.analysis.usual_commits import attention, usual
from core.table import open_table
from tests.support.builders import DAY_MS, START_MS, TableBuilder


def made(tmp_path: Path) -> CommitChanges:
    table = TableBuilder(tmp_path / "shop.db" / "t", partition_keys=["dt"], start_ms=START_MS, step_ms=DAY_MS)
    for day in range(7):
        table.commit([table.file(1_000, rows=100, partition=(f"d{day}",))], user="loader")
    table.commit([table.file(9_000, rows=900, partition=("d7",))], user="loader")
    old = table.live()[:4]
    table.commit([table.file(4_000, rows=400, partition=("d8",))], old, kind="COMPACT", user="compactor")
    table.commit([], [each for each in table.live() if each.partition == ("d7",)], kind="OVERWRITE", user="cleaner")
    table.expire([1])
    return CommitChanges(open_table(str(table.root)).history())


def test_every_kind_of_sentence(tmp_path: Path) -> None:
    changes = made(tmp_path)
    assert [sentence(changes.of(number), usual(changes, number)) for number in (0, 1, 6, 7, 8)] == [
        "loader (append): the change is unknown, because the snapshot before it has expired or cannot be read.",
        "loader (append): added 100 rows in 1 file (1.0 kB), in dt=d2. Too little history to say whether this is "
        "usual: 0 earlier commits of kind append, at least 5 are needed.",
        "loader (append): added 900 rows in 1 file (9.0 kB), in dt=d7. Larger than usual: the median of the 5 earlier "
        "commits of kind append at this time of day is 100 rows, typically ± 0.",
        "compactor (compaction): rewrote 4 files (4.0 kB) into 1 file (4.0 kB), in dt=d8, dt=d0 and 3 more partitions. "
        "Too little history to say whether this is usual: 0 earlier commits of kind compaction, at least 5 are needed.",
        "cleaner (overwrite): removed 900 rows in 1 file (9.0 kB), in dt=d7. Too little history to say whether this "
        "is usual: 0 earlier commits of kind overwrite, at least 5 are needed.",
    ]


def test_every_reason_for_attention(tmp_path: Path) -> None:
    changes = made(tmp_path)
    now_ms = changes.snapshots[-1].time_ms + 9 * DAY_MS
    assert [attention_sentence(each) for each in attention(changes, 0, now_ms)] == [
        "No load for 11 d: the longest pause between the last loads was 1 d.",
        "Snapshot 10 by cleaner removed every file of dt=d7.",
        "Snapshot 10 by cleaner removed 56 % of the rows (900 rows).",
        "Snapshot 8 by loader added 900 rows, 9.0 times the usual 100 rows.",
    ]


def test_a_short_pause_is_not_rounded_away(tmp_path: Path) -> None:
    """`No load for 1 min: the longest pause was 1 min` gives no reason."""
    table = TableBuilder(tmp_path / "shop.db" / "t", start_ms=START_MS, step_ms=250)
    for _ in range(9):
        table.commit([table.file(1_000, rows=300)], user="etl")
    changes = CommitChanges(open_table(str(table.root)).history())
    found = attention(changes, 0, changes.snapshots[-1].time_ms + 83_400)
    assert [attention_sentence(each) for each in found] == [
        "No load for 1 min 23 s: the longest pause between the last loads was 250 ms."
    ]


def test_a_replacing_load_is_compared_by_all_rows_that_it_moved(tmp_path: Path) -> None:
    """The number that is shown is the one that the factor is of."""
    table = TableBuilder(tmp_path / "shop.db" / "t", start_ms=START_MS, step_ms=DAY_MS)
    for _ in range(9):
        table.commit([table.file(1_000, rows=300)], table.live(), kind="OVERWRITE", user="etl")
    table.commit([table.file(9_000, rows=1_500)], table.live(), kind="OVERWRITE", user="etl")
    changes = CommitChanges(open_table(str(table.root)).history())
    assert [attention_sentence(each) for each in attention(changes, 0, changes.snapshots[-1].time_ms)] == [
        "Snapshot 10 by etl added and removed 1,800 rows, 3.0 times the usual 600 rows."
    ]
