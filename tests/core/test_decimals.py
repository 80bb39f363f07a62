"""Decimal arithmetic compared with Python's fractions, which lose no digits."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core import decimals

MOST = 10**38 - 1
UNSCALED = st.integers(-MOST, MOST) | st.sampled_from([MOST, -MOST, 2**63, -(2**63), 2**64, -(2**64), 10**28 + 1, 0])


@given(UNSCALED, st.integers(0, 38))
@example(-MOST, 38)
def test_a_number_and_its_digits(unscaled: int, scale: int) -> None:
    made = decimals.number(unscaled, scale)
    assert Fraction(made) == Fraction(unscaled, 10**scale)
    assert decimals.unscaled(made, scale) == unscaled
    assert decimals.scaled(format(made, "f"), scale) == made
    assert str(decimals.scaled(f"{made:f}", scale)) == str(made)


@given(UNSCALED, st.integers(0, 37), st.integers(0, 3))
def test_what_is_not_exact_is_no_value(unscaled: int, scale: int, fewer: int) -> None:
    made = decimals.number(unscaled, scale)
    less = max(0, scale - fewer)
    if (Fraction(unscaled, 10**scale) * 10**less).denominator == 1:
        assert Fraction(decimals.unscaled(made, less), 10**less) == Fraction(made)
    else:
        with pytest.raises(ValueError, match="digits after the point"):
            decimals.unscaled(made, less)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999999999", "-1e38", "1" * 39, "x", ""])
def test_what_is_no_number_of_a_column(text: str) -> None:
    with pytest.raises(ValueError, match=r"number|does not fit"):
        decimals.scaled(text, 0)


@given(st.data(), st.sampled_from([(9, 2), (18, 0), (19, 4), (38, 10)]))
def test_columns_and_their_integers(data: st.DataObject, of: tuple[int, int]) -> None:
    most, kind = 10 ** of[0] - 1, pa.decimal128(*of)
    some = st.none() | st.integers(-most, most) | st.sampled_from([most, -most])
    values = data.draw(st.lists(some, max_size=20))
    there = np.array([each is not None for each in values], dtype=np.bool_)
    column = pa.array([None if each is None else decimals.number(each, of[1]) for each in values], kind)
    skip = data.draw(st.integers(0, len(values)))
    found = decimals.integers(column[skip:])
    assert [int(n) for n, known in zip(found, there[skip:], strict=True) if known] == [
        each for each in values[skip:] if each is not None
    ]
    again = decimals.column(found, there[skip:], kind)
    again.validate(full=True)
    assert again.equals(column[skip:])


@pytest.mark.parametrize(
    ("value", "scale", "size", "found"),
    [
        ("1.25", 1, 5, "1.3"), ("-1.25", 1, 5, "-1.3"), ("1.249", 1, 5, "1.2"), ("0.04", 1, 5, "0.0"),
        ("9.95", 1, 2, None), ("1E2", 1, 5, "100.0"), ("1E400", 1, 5, None), ("1E-400", 1, 5, "0.0"),
        ("99.94", 1, 3, "99.9"), ("0.05", 1, 3, "0.1"),
        ("123456789012345678901234567890.125", 2, 38, "123456789012345678901234567890.13"),
    ],
)  # fmt: skip
def test_values_are_rounded_away_from_zero(value: str, scale: int, size: int, found: str | None) -> None:
    made = decimals.rounded(Decimal(value), scale, size)
    assert (None if made is None else f"{made:f}") == found
    with pytest.raises(ValueError, match="not a number"):
        decimals.rounded(Decimal("NaN"), scale, size)
