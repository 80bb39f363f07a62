"""Entries of one file, compared with a dictionary of tuples."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from core.formats.iceberg.file_identity import identities
from core.formats.iceberg.file_paths import TableLocation
from core.storage.decoded_files import flat
from core.storage.store import Store

ENTRIES = st.lists(
    st.tuples(
        st.sampled_from(["/t/a", "/t//a", "file:/t/a", "/t/b", "/t/data/./b", "s3://elsewhere/a"]),
        st.sampled_from([None, 0, 1]),
        st.sampled_from([None, 0, 4]),
        st.sampled_from([None, 0, 1, 7]),
    ),
    max_size=12,
)
SCHEMA = pa.schema([("path", pa.string()), ("content", pa.int32()), ("offset", pa.int64()), ("sequence", pa.int64())])


@given(ENTRIES)
def test_entries_are_one_file_if_path_content_offset_and_sequence_agree(
    entries: list[tuple[str, int | None, int | None, int | None]],
) -> None:
    place = TableLocation.of(Store("/t"), "/t", {})
    table = pa.Table.from_pylist([dict(zip(SCHEMA.names, entry, strict=True)) for entry in entries], SCHEMA)
    path = place.paths(flat(table["path"]))
    identity, count, is_distinct = identities(path, table)
    known: dict[tuple[str, int, int | None, int | None], int] = {}
    expected = [
        known.setdefault((place.path(location), content or 0, offset, sequence), len(known))
        for location, content, offset, sequence in entries
    ]
    assert (identity.tolist(), count) == (expected, len(known))
    assert path.to_pylist() == [place.path(entry[0]) for entry in entries]
    assert is_distinct == (len({key[0] for key in known}) == len(known))


@given(
    st.lists(st.sampled_from(["a", "..", ".", "", ".hidden", "a..b", "b\\c", "ä"]), max_size=4).map("/".join),
    st.sampled_from(["/t", "/t/", "/", "s3://b/t", "s3a://b/t", "file:///t"]),
    st.sampled_from(["/t", "/t/", "s3://b/t", "s3a://b/t", "file:/t", "/tea"]),
)
def test_a_path_is_the_same_alone_and_beside_paths_outside(below: str, location: str, prefix: str) -> None:
    """Where all paths are spelled like the table's location, they are not normalized one by one."""
    place = TableLocation.of(Store("/t"), location, {})
    written = f"{prefix.rstrip('/')}/{below}"
    beside = place.paths(pa.array([written, "hdfs://elsewhere/x"]))
    assert place.paths(pa.array([written]))[0] == beside[0]
