"""Numbers of texts and cheap checks, compared with plain Python."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formats import large_texts

LONG = "x" * 200
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(["data-1.parquet", "data-2.parquet", "dt=ä/data-1.parquet", f"a/{LONG}", f"b/{LONG}", LONG]),
        st.text("ab/.:", min_size=0, max_size=20),
    ),
    max_size=20,
)
ENOUGH = st.lists(st.text("abcdef0123456789", min_size=8, max_size=80) | st.sampled_from([f"a/{LONG}", f"b/{LONG}"]))


def mentions(texts: list[str]) -> tuple[list[int], list[int]]:
    known = list(dict.fromkeys(texts))
    return [known.index(text) for text in texts], [texts.index(text) for text in known]


def shown(texts: pa.StringArray) -> tuple[list[int], list[int]]:
    numbers, first = large_texts.numbered(texts)
    return numbers.tolist(), first.tolist()


@given(TEXTS | ENOUGH, st.integers(0, 3))
def test_equal_texts_have_one_number(texts: list[str], skipped: int) -> None:
    repeated = [*texts, *texts[::2]]
    array = pa.array(repeated, pa.string()).slice(skipped)  # a part of a longer array, as decoded manifests are
    assert shown(array) == mentions(repeated[skipped:])
    assert shown(pa.array(dict.fromkeys(texts), pa.string())) == mentions(list(dict.fromkeys(texts)))


def test_texts_that_look_alike_have_numbers_of_their_own() -> None:
    texts = [f"{number % 7}/{LONG}" for number in range(50)]  # the same end, and the same length
    assert shown(pa.array(texts)) == mentions(texts)


def test_a_column_longer_than_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"data-{number % 70:040d}.parquet" for number in range(100)]
    expected = mentions(texts)
    monkeypatch.setattr(large_texts, "_ROWS", 16)
    monkeypatch.setattr(large_texts, "_PIECE", 16)
    assert shown(pa.array(texts)) == expected
    assert large_texts.may_contain(pa.array(texts), b"a-")
    assert not large_texts.may_contain(pa.array(texts), b"tp", b":")


@given(TEXTS, st.lists(st.sampled_from([b":", b"/", b"..", b"//", b"/.", b"a"]), max_size=3), st.integers(0, 3))
def test_what_is_contained_is_found(texts: list[str], wanted: list[bytes], skipped: int) -> None:
    array = pa.array(texts, pa.string()).slice(skipped)
    is_there = any(each in text.encode() for text in texts[skipped:] for each in wanted)
    together = "".join(texts[skipped:]).encode()  # what spans two texts may be found too
    assert is_there <= large_texts.may_contain(array, *wanted) == any(each in together for each in wanted)


def test_no_texts() -> None:
    nothing = pa.array([], pa.string())
    assert shown(nothing) == ([], [])
    assert not large_texts.may_contain(nothing, b"a")
    assert np.array_equal(large_texts.numbered(pa.array([""] * 3))[0], [0, 0, 0])
