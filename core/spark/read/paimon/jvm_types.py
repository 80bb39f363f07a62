"""Which columns of Paimon's data files Spark's own readers read wrong. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from core.formats.paimon.types import PaimonType

_ONLY_IN_PYTHON = ("TIME", "VECTOR", "VARIANT", "BLOB")
_TIMES = ("TIMESTAMP", "TIMESTAMP_LTZ")


def is_hard(of: PaimonType, form: str) -> bool:
    """Whether Spark reads a column of such a file wrong, or not at all.

    Of ORC it shifts times into this machine's zone, and days before 1582 to another calendar, and it keeps the blanks
    that fill a CHAR up; of Parquet it cuts nanoseconds off towards 1970.
    """
    if form == "orc":
        return any(each.root in (*_ONLY_IN_PYTHON, *_TIMES, "DATE", "CHAR") for each in _within(of))
    if of.root == "VARIANT":
        return False
    return any(each.root in _ONLY_IN_PYTHON or (each.root in _TIMES and (each.size or 0) >= 7) for each in _within(of))


def _within(of: PaimonType) -> Iterator[PaimonType]:
    """The type and all inside of it."""
    yield of
    for inner in (*of.args, *(field.type for field in of.fields)):
        yield from _within(inner)
