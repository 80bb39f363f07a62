"""Listed files, and those of them that nothing holds."""

from __future__ import annotations

import pyarrow as pa
import pytest

from core.model.unheld import LISTED, Listed, names, unheld


def listed(*rows: tuple[str, str | None]) -> pa.Table:
    return pa.table(
        [[path for path, _ in rows], ["data"] * len(rows), [1] * len(rows), [why for _, why in rows]], schema=LISTED
    )


@pytest.mark.parametrize(
    ("path", "name"), [("a", "a"), ("b/a", "a"), ("s3://x/b/a", "a"), ("b\nc/a", "a"), ("b/a\nc", "a\nc"), ("b/", "")]
)
def test_names(path: str, name: str) -> None:
    assert names(pa.array([path])).to_pylist() == [name]


def test_what_is_held_is_known_by_its_name() -> None:
    files = listed(("p/1", None), ("p/2", None), ("q/2", None), ("q/3", "young"), ("q/4", "young"), ("q/5", "odd"))
    frees, stays = unheld(files, pa.chunked_array([["1", "3"], ["1"]]))
    assert frees.to_pylist() == [{"path": f"{each}/2", "kind": "data", "bytes": 1} for each in "pq"]
    assert stays == {"young": 1, "odd": 1}


def test_of_nothing() -> None:
    frees, stays = unheld(LISTED.empty_table(), pa.chunked_array([], pa.string()))
    assert (frees.to_pylist(), stays) == ([], {})
    assert unheld(listed(("p/1", None)), pa.chunked_array([], pa.string()))[0]["path"].to_pylist() == ["p/1"]


def test_together() -> None:
    found = Listed.together([Listed(listed(("1", None)), ("a",), ("t",)), Listed(listed(("2", None)), others=("o",))])
    assert found.files["path"].to_pylist() == ["1", "2"]
    assert (found.odd, found.tables, found.others) == (("a",), ("t",), ("o",))
