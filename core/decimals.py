"""Decimals without a digit lost. Pure.

Law: what is made here has exactly the value that it is made of, or is a `ValueError`. Python's own arithmetic rounds to
28 digits (`abs(d)`, `-d` and `+d` too) and columns have up to 38, so nothing else in the house computes with decimals:
tests/test_architecture.py. To compare, to hash and to print rounds nothing.
"""

from __future__ import annotations

from decimal import Clamped, Context, Decimal, DecimalException, Inexact, InvalidOperation, Overflow, Rounded
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

MOST = 38  # digits of a column
Integers: TypeAlias = npt.NDArray[Any]

_EXACT = Context(prec=80, traps=[Clamped, Inexact, InvalidOperation, Overflow, Rounded])


def number(unscaled: int, scale: int) -> Decimal:
    """`unscaled` with its last `scale` digits behind the point."""
    try:
        return Decimal(unscaled).scaleb(-scale, _EXACT)
    except DecimalException as error:
        raise ValueError(f"a number of {unscaled.bit_length()} bits has too many digits") from error


def unscaled(value: Decimal | int, scale: int, size: int = MOST) -> int:
    """The digits of a value with `scale` of them behind the point; it has at most `size`."""
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
    """A number as text, with exactly `scale` digits behind the point."""
    return number(unscaled(parsed(text), scale, size), scale)


def parsed(text: str) -> Decimal:
    """A number as text."""
    try:
        return Decimal(text)
    except DecimalException as error:
        raise ValueError(f"{text!r:.60} is no number") from error


def integers(column: pa.Array) -> Integers:
    """The unscaled numbers of a column of 128 bits, anything where it is null: int64 for up to 18 digits, which leave
    room for a sum of nine, else Python's integers, which have no end."""
    words = np.frombuffer(column.buffers()[1], dtype=np.int64)[2 * column.offset : 2 * (column.offset + len(column))]
    low = words[::2]
    if column.type.precision <= 18:
        return low
    wide: Integers = (words[1::2].astype(object) << 64) | low.view(np.uint64).astype(object)
    return wide


def column(unscaled: Integers, there: npt.NDArray[np.bool_], of: pa.DataType) -> pa.Array:
    """The inverse of `integers`; null where there is none."""
    if unscaled.dtype.kind == "i":
        low = np.where(there, unscaled, 0).astype(np.int64)
        words = np.stack((low, low >> 63), axis=1).tobytes()
    else:
        words = b"".join(int(each).to_bytes(16, "little", signed=True) if is_there else bytes(16)
                         for each, is_there in zip(unscaled, there, strict=True))  # fmt: skip
    valid = pa.array(there).buffers()[1]
    return pa.Array.from_buffers(of, len(unscaled), [valid, pa.py_buffer(words)])
