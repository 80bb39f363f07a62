"""What a person sets once for all tables: kept, forgotten, and never guessed from a file of another form."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from core import user_state
from core.errors import Corrupt
from dashboard import settings
from dashboard.formatting.prices import Price


def test_a_price_is_kept_and_forgotten() -> None:
    assert settings.price() is None
    settings.set_price(Price(0.023, "EUR"))
    assert settings.price() == Price(0.023, "EUR")
    user_state.change("settings", lambda document: {**document, "other": 1}, {})
    settings.set_price(None)
    assert settings.price() is None
    assert user_state.read("settings", {}) == {"other": 1}, "what else is kept there stays"


def test_a_price_of_the_settings_file_comes_first() -> None:
    settings.set_price(Price(0.023, "EUR"))
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(
        "[warehouse.a]\nlocation = '/w/a'\nprice-per-gb-month = 0.01\n"
        "[warehouse.b]\nlocation = '/w/b'\nprice-per-gb-month = 1\ncurrency = 'CHF'\n"
    )
    assert settings.price("/w/a/shop.db/t") == Price(0.01, "USD")
    assert settings.price("/w/b") == Price(1, "CHF")
    assert settings.price("/w/c") == Price(0.023, "EUR")
    assert settings.fixed_price("/w/c") is None


@pytest.mark.parametrize(
    "document",
    [[], "0.1", {"price_per_gb_month": "0.1"}, {"price_per_gb_month": -1}, {"price_per_gb_month": True},
     {"price_per_gb_month": 1, "currency": 2}],
)  # fmt: skip
def test_a_file_of_another_form_is_an_error(document: Any) -> None:
    user_state.change("settings", lambda _: document, {})
    with pytest.raises(Corrupt):
        settings.price()
