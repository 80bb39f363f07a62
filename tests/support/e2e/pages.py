"""A URL of each page that shows as much of it as one URL can."""

from __future__ import annotations

from dashboard import words

VIEWS = {
    "timeline": "point=12",
    "asof": "point=12",
    "diff": "a=11&b=12",
    "retention": "keep_max=12",
    "tags": "point=12",
    "query": "point=12&before=11",
}
"""What is checked on each page: as much as one URL can show. Pages not listed here are opened without parameters."""


def address(page: str, **more: str) -> str:
    """Return the URL of a page; the first one is served at the root."""
    return f"{page if page != next(iter(words.PAGES)) else ''}?" + "&".join(f"{k}={v}" for k, v in more.items())


def view(page: str, table: str, **more: str) -> str:
    return f"{address(page, table=table, **more)}&{VIEWS.get(page, '')}"
