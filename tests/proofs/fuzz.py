"""Damaged metadata: random changes to bytes, records and fields, then a plan and its apply."""

from __future__ import annotations

from tests.support.execution import fuzz

CLAIM = (
    "Metadata damaged in any way that anything tells of is refused or frees less; no file that a kept point needs goes"
)
CASES = 20


def prove(seed: int) -> dict[str, int]:
    ended, bad = fuzz.run_apart([seed], CASES)
    assert not bad, bad
    return {"damaged tables": ended.total(), **ended}
