"""Tables kept on the local disk: whole and as they were written, or not there."""

from __future__ import annotations

import errno
import multiprocessing
import os
import stat
from pathlib import Path

import pyarrow as pa
import pytest

from core.errors import Invalid
from core.paths import cache_dir
from core.storage import mapped_tables

PLACE, KEY = "s3://lake/t", "paimon 1"
TABLES = {
    "files": pa.table({"path": ["a", "bb", ""], "bytes": [1, None, 3]}),
    "none": pa.table({"row": pa.array([], pa.int64())}),
}


def kept() -> Path:
    (path,) = (cache_dir() / "histories").glob("*.arrow")
    return path


def test_tables_are_found_as_they_were() -> None:
    mapped_tables.keep(PLACE, KEY, TABLES)
    found = mapped_tables.find(PLACE, KEY)
    assert found is not None
    assert {name: table.to_pylist() for name, table in found.items()} == {n: t.to_pylist() for n, t in TABLES.items()}
    assert {name: table.schema for name, table in found.items()} == {n: t.schema for n, t in TABLES.items()}
    assert mapped_tables.find(PLACE, "paimon 2") is None
    assert mapped_tables.find("s3://lake/u", KEY) is None


def test_other_users_can_neither_read_nor_list_them() -> None:
    mapped_tables.keep(PLACE, KEY, TABLES)
    assert stat.S_IMODE(kept().stat().st_mode) == 0o600
    assert stat.S_IMODE(kept().parent.stat().st_mode) == 0o700


def test_no_changed_byte_is_overlooked() -> None:
    mapped_tables.keep(PLACE, KEY, TABLES)
    whole = kept().read_bytes()
    for at in range(len(whole)):
        kept().write_bytes(whole[:at] + bytes([whole[at] ^ (1 << at % 8)]) + whole[at + 1 :])
        assert mapped_tables.find(PLACE, KEY) is None, at
    kept().write_bytes(whole)
    assert mapped_tables.find(PLACE, KEY) is not None


def test_neither_a_cut_nor_a_longer_nor_a_rearranged_file_is_taken() -> None:
    mapped_tables.keep(PLACE, KEY, TABLES)
    whole = kept().read_bytes()
    for length in (*range(0, len(whole), 7), len(whole) - 8, len(whole) - 1):
        kept().write_bytes(whole[:length])
        assert mapped_tables.find(PLACE, KEY) is None, length
    for more in (whole + bytes(8), whole + whole, whole[:64] + whole[72:80] + whole[64:72] + whole[80:]):
        if more != whole:
            kept().write_bytes(more)
            assert mapped_tables.find(PLACE, KEY) is None


def test_the_file_of_another_place_is_found_only_under_its_own_key() -> None:
    mapped_tables.keep(PLACE, KEY, TABLES)
    mapped_tables.keep("s3://lake/u", "iceberg 1", TABLES)
    one, other = sorted((cache_dir() / "histories").glob("*.arrow"))
    one.write_bytes(other.read_bytes())
    assert [mapped_tables.find(place, key) for place, key in ((PLACE, KEY), ("s3://lake/u", "iceberg 1"))].count(
        None
    ) == 1


@pytest.mark.parametrize("broken", ["os.replace", "_write", "_checksum"])
def test_a_full_disk_costs_reads_only(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mapped_tables.keep(PLACE, KEY, TABLES)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(f"core.storage.mapped_tables.{broken}", full)
        mapped_tables.keep(PLACE, KEY, {"files": pa.table({"row": [2]})})
    found = mapped_tables.find(PLACE, KEY)
    assert found is not None
    assert found["files"].equals(TABLES["files"])
    assert [path.suffix for path in kept().parent.iterdir()] == [".arrow"]


def test_a_cache_that_is_no_directory_costs_reads_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SNAPSCOPE_CACHE", str(tmp_path / "file"))
    mapped_tables.keep(PLACE, KEY, TABLES)
    assert mapped_tables.find(PLACE, KEY) is None


def test_what_was_mapped_stays_as_it_was() -> None:
    mapped_tables.keep(PLACE, KEY, TABLES)
    before = mapped_tables.find(PLACE, KEY)
    mapped_tables.keep(PLACE, KEY, {"files": pa.table({"row": [2]})})
    assert before is not None
    assert before["files"].to_pylist() == TABLES["files"].to_pylist()
    kept().unlink()
    assert before["files"].to_pylist() == TABLES["files"].to_pylist()


def _write_often(number: int) -> None:
    for _ in range(100):
        mapped_tables.keep(PLACE, KEY, {"files": pa.table({"row": [number] * 1000})})


def test_two_processes_write_whole_files() -> None:
    mapped_tables.keep(PLACE, KEY, {"files": pa.table({"row": [0] * 1000})})
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_often, args=(number,)) for number in (1, 2)]
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        found = mapped_tables.find(PLACE, KEY)
        assert found is not None
        (number,) = set(found["files"]["row"].to_pylist())
        seen.add(number)
    for writer in writers:
        writer.join()
    assert all(writer.exitcode == 0 for writer in writers)
    assert {1, 2} & seen
    assert [path.suffix for path in kept().parent.iterdir()] == [".arrow"]


def test_those_used_least_recently_go_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        mapped_tables.keep(f"s3://lake/t{number}", KEY, TABLES)
        newest = max((cache_dir() / "histories").glob("*.arrow"), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, (number, number))
    size = newest.stat().st_size
    mapped_tables.find("s3://lake/t0", KEY)
    monkeypatch.setenv("SNAPSCOPE_CACHE_SIZE", f"{size * 3}")
    mapped_tables.keep("s3://lake/t4", KEY, TABLES)
    assert [mapped_tables.find(f"s3://lake/t{n}", KEY) is not None for n in range(5)] == [
        True,
        False,
        False,
        True,
        True,
    ]


def test_nothing_is_kept_or_found_where_it_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    mapped_tables.keep(PLACE, KEY, TABLES)
    monkeypatch.setenv("SNAPSCOPE_CACHE_SIZE", "0")
    assert mapped_tables.find(PLACE, KEY) is None
    monkeypatch.setenv("SNAPSCOPE_CACHE_SIZE", "much")
    with pytest.raises(Invalid, match="SNAPSCOPE_CACHE_SIZE=much"):
        mapped_tables.find(PLACE, KEY)
