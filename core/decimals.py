"""Exact decimal arithmetic. Pure.

Invariant: a result has exactly the value of its input, or a `ValueError` is raised. Python's own arithmetic rounds to
28 digits (even `abs(d)`, `-d` and `+d`) while columns have up to 38, so no other module computes with decimals
(tests/test_architecture.py enforces it). Comparing, hashing and printing never round.
"""

from __future__ import annotations

from decimal import Clamped, Context, Decimal, DecimalException, Inexact, InvalidOperation, Overflow, Rounded
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

MOST = 38  # digits that a column can have
Integers: TypeAlias = npt.NDArray[Any]

_EXACT = Context(prec=80, traps=[Clamped, Inexact, InvalidOperation, Overflow, Rounded])


def number(unscaled: int, scale: int) -> Decimal:
    """`unscaled` with its last `scale` digits after the decimal point.

    Raises `ValueError` if it has too many digits.
    """
    try:
        return Decimal(unscaled).scaleb(-scale, _EXACT)
    except DecimalException as error:
        raise ValueError(f"a number of {unscaled.bit_length()} bits has too many digits") from error


def unscaled(value: Decimal | int, scale: int, size: int = MOST) -> int:
    """The unscaled integer of a value, `scale` digits after the point. Raises `ValueError` if it does not fit."""
    exact = Decimal(value)
    if not exact.is_finite() or (exact and exact.adjusted() + scale >= size):
        raise ValueError(f"it does not fit {size} digits with {scale} after the point")
    try:
        shifted = exact.scaleb(scale, _EXACT)
    except DecimalException as error:
        raise ValueError(f"it has more than {scale} digits after the point") from error
    if shifted != (whole := int(shifted)):
        raise ValueError(f"it has more than {scale} digits after the point")
    return whole


def scaled(text: str, scale: int, size: int = MOST) -> Decimal:
    """Parse a number with exactly `scale` digits after the point."""
    return number(unscaled(parsed(text), scale, size), scale)


def parsed(text: str) -> Decimal:
    """Parse a number. Raises `ValueError` if the text is not one."""
    try:
        return Decimal(text)
    except DecimalException as error:
        raise ValueError(f"{text!r:.60} is not a number") from error


def integers(column: pa.Array) -> Integers:
    """The unscaled integers of a 128-bit decimal column; undefined where it is null.

    int64 for up to 18 digits, which leaves room for a sum of nine; otherwise Python integers, which do not overflow.
    """
    words = np.frombuffer(column.buffers()[1], dtype=np.int64)[2 * column.offset : 2 * (column.offset + len(column))]
    low = words[::2]
    if column.type.precision <= 18:
        return low
    wide: Integers = (words[1::2].astype(object) << 64) | low.view(np.uint64).astype(object)
    return wide


def column(unscaled: Integers, is_valid: npt.NDArray[np.bool_], type_: pa.DataType) -> pa.Array:
    """The inverse of `integers`; null where `there` is false."""
    if unscaled.dtype.kind == "i":
        low = np.where(is_valid, unscaled, 0).astype(np.int64)
        words = np.stack((low, low >> 63), axis=1).tobytes()
    else:
        words = b"".join(int(each).to_bytes(16, "little", signed=True) if is_there else bytes(16)
                         for each, is_there in zip(unscaled, is_valid, strict=True))  # fmt: skip
    valid = pa.array(is_valid).buffers()[1]
    return pa.Array.from_buffers(type_, len(unscaled), [valid, pa.py_buffer(words)])


def rounded(value: Decimal, scale: int, size: int) -> Decimal | None:
    """The nearest value with `scale` digits behind the point, halves away from zero; None if it takes more than `size`
    digits."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError("it is not a number")
    shift = exponent + scale
    if value and value.adjusted() + scale >= size:
        return None
    if -shift > len(digits):
        return number(0, scale)
    whole = int("".join(map(str, digits)))
    if shift >= 0:
        whole *= 10**shift
    else:
        whole, rest = divmod(whole, 10**-shift)
        whole += 2 * rest >= 10**-shift
    return number(-whole if sign else whole, scale) if whole < 10**size else None
