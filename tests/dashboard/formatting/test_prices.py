"""What bytes cost, in words."""

from __future__ import annotations

import pytest

from dashboard.formatting.prices import GB, Price, money, price_suffix


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (0, "0.00"),
        (GB, "0.50"),
        (3_000 * GB, "1,500.00"),
        (GB // 10, "0.050"),
        (1_000_000, "0.00050"),
        (1, "0.00000000050"),
    ],
)
def test_a_small_amount_keeps_two_digits(size: int, told: str) -> None:
    assert money(size, Price(0.5, "EUR")) == f"{told} EUR a month"


def test_nothing_is_said_without_a_price() -> None:
    assert price_suffix(GB, None) == ""
    assert price_suffix(2 * GB, Price(1.0)) == " · 2.00 USD a month"
