"""The price of storage, set once for all tables: with one, sizes are shown as money, too."""

from __future__ import annotations

import math

import streamlit as st

from dashboard import settings, words
from dashboard.formatting import markup
from dashboard.formatting.prices import USD, Price

_AMOUNT, _CURRENCY, _WRONG = "price.amount", "price.currency", "price.wrong"


def draw(location: str) -> None:
    """The button that opens the two boxes; it shows the price that is set at a table's location.

    A price of the settings file cannot be changed here.
    """
    price = settings.price(location)
    shown = words.COST if price is None else f"{price.per_gb_month:g} {price.currency}"
    with st.popover(shown, icon=":material/payments:", type="tertiary", help=words.COST_TITLE):
        if settings.fixed_price(location) is not None:
            st.markdown(words.COST_FIXED)
            return
        amount, currency = ("", USD) if price is None else (f"{price.per_gb_month:.12g}", price.currency)
        st.text_input(
            words.COST_PRICE, amount, key=_AMOUNT, help=words.COST_PRICE_HELP, placeholder="0.023", on_change=_changed
        )
        st.text_input(words.COST_CURRENCY, currency, key=_CURRENCY, on_change=_changed)
        if st.session_state.pop(_WRONG, False):
            st.html(markup.note("problem", words.NOT_A_PRICE))


def _changed() -> None:
    typed, currency = st.session_state[_AMOUNT].strip(), st.session_state[_CURRENCY].strip() or USD
    if not typed:
        settings.set_price(None)
        return
    try:
        amount = float(typed)
    except ValueError:
        amount = math.nan
    if 0 <= amount < math.inf:
        settings.set_price(Price(amount, currency[:12]))
    else:
        st.session_state[_WRONG] = True
