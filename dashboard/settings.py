"""What a person has set once for all tables: the price of storage. One document of `core.user_state`, `settings`.

A price of the settings file, which is of one warehouse, comes first.

Invariant: nothing here changes what a plan does, only how a figure is shown; a file of another form is an error.
"""

from __future__ import annotations

import math
from typing import Any

from core import settings_file, user_state
from core.errors import Corrupt
from dashboard import words
from dashboard.formatting.prices import USD, Price

_SETTINGS, _PRICE, _CURRENCY = "settings", "price_per_gb_month", "currency"


def fixed_price(location: str) -> Price | None:
    """The price that the settings file names for the warehouse of this location; None where it names none."""
    named = settings_file.current().above(location)
    return None if named is None or named.price is None else Price(named.price, named.currency or USD)


def price(location: str | None = None) -> Price | None:
    """The price at a location, or the one for all tables; None where none was set.

    `Corrupt` where something else stands there.
    """
    if location is not None and (fixed := fixed_price(location)) is not None:
        return fixed
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
