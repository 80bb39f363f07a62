"""What a person has set once for all tables: the price of storage. One document of `core.user_state`, `settings`.

Invariant: nothing here changes what a plan does, only how a figure is shown; a file of another form is an error.
"""

from __future__ import annotations

import math
from typing import Any

from core import user_state
from core.errors import Corrupt
from dashboard import words
from dashboard.formatting.prices import USD, Price

_SETTINGS, _PRICE, _CURRENCY = "settings", "price_per_gb_month", "currency"


def price() -> Price | None:
    """The price that was set; None where none was. `Corrupt` where something else stands there."""
    found = _settings(user_state.read(_SETTINGS, {}))
    if found.get(_PRICE) is None:
        return None
    amount, currency = found[_PRICE], found.get(_CURRENCY, USD)
    is_amount = isinstance(amount, int | float) and not isinstance(amount, bool) and 0 <= amount < math.inf
    if not is_amount or not isinstance(currency, str):
        raise _other_form()
    return Price(float(amount), currency)


def set_price(price: Price | None) -> None:
    """Keep a price for all tables; None forgets it."""

    def changed(document: Any) -> dict[str, Any]:
        rest = {name: value for name, value in _settings(document).items() if name not in (_PRICE, _CURRENCY)}
        return rest if price is None else {**rest, _PRICE: price.per_gb_month, _CURRENCY: price.currency}

    user_state.change(_SETTINGS, changed, {})


def _settings(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise _other_form()
    return document


def _other_form() -> Corrupt:
    return Corrupt(words.not_kept(_SETTINGS), remedy=words.NOT_KEPT_NEXT)
