"""Damaged metadata: random changes to bytes, records and fields, then a plan and its apply."""

from __future__ import annotations

from tests.support.execution import fuzz

CLAIM = (
    "Damaged metadata, wherever the damage can be detected, is rejected or reclaims less; no file that a kept "
    "snapshot or tag needs is deleted"
)
CASES = 20


def prove(seed: int) -> dict[str, int]:
    ended, bad = fuzz.run_apart([seed], CASES)
    assert not bad, bad
    return {"damaged tables": ended.total(), **ended}
