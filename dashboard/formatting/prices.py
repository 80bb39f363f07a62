"""What stored bytes cost. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dashboard.formatting.language import _

GB = 1_000_000_000
USD = "USD"


@dataclass(frozen=True, slots=True)
class Price:
    """The price of one GB (1,000,000,000 bytes) for one month. `currency` is any name that the reader has entered."""

    per_gb_month: float
    currency: str = USD

    def of(self, size: int) -> float:
        """What so many bytes cost in a month."""
        return self.per_gb_month * size / GB


def money(size: int, price: Price) -> str:
    """`1.64 USD a month`: two decimals, or two digits where that would be nothing."""
    amount = price.of(size)
    number = f"{amount:,.2f}" if amount >= 0.1 or not amount else f"{amount:.{_places(amount)}f}"
    return _("{amount} {currency} a month", amount=number, currency=price.currency)


def _places(amount: float) -> int:
    """How many decimals show two digits of a small amount."""
    return min(1 - math.floor(math.log10(amount)), 12)


def price_suffix(size: int, price: Price | None) -> str:
    """` · 1.64 USD a month`, to be appended to a size; nothing without a price."""
    return "" if price is None else f" · {money(size, price)}"
