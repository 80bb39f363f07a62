"""Who may come in, and which places are opened for whom: what is said before any page of the dashboard."""

from __future__ import annotations

OPEN_TITLE = "Open this location?"
OPEN_WHY = (
    "This server was not started with the location that this link names. Nothing has been read from it yet. Opening it "
    "uses the files and credentials of whoever runs this server: open it only if you trust the link."
)
OPEN_INSTEAD = "Go to the served warehouse"


def open_place(place: str) -> str:
    return f"Open {place}"
