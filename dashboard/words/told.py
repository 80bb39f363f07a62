"""What the core says: it knows how its sentences were made, so each language tells them in its own way."""

from __future__ import annotations

from collections.abc import Sequence


def spoken(text: str) -> str:
    """A text; if it is a sentence of the core, in the language of the reader."""
    return text


def listing(reasons: Sequence[str]) -> str:
    return "; ".join(reasons)
