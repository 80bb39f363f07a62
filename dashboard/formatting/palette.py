"""Colours by meaning, the same in every chart and chip, for light and dark backgrounds.

Invariant: colour is never the only signal: each meaning also has a shape or a letter (`SHAPES`, `SIGNS`). The pairs
that matter together (added and removed, tag and branch, kept and reclaimed) also differ in lightness, for colour-blind
readers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a theme as `#rrggbb`."""

    ink: str  # lines and text without a meaning of their own
    muted: str
    grid: str
    paper: str
    added: str
    removed: str
    changed: str
    compaction: str
    tag: str
    branch: str
    consumer: str
    freed: str
    pointer: str  # the path of Iceberg's main
    rows: str  # quantities over time
    files: str
    bytes: str

    def soft(self, name: str, alpha: float = 0.14) -> str:
        """Return a transparent version of a colour."""
        colour: str = getattr(self, name)
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        return f"rgba({red},{green},{blue},{alpha})"


LIGHT = Palette(
    ink="#2b3648", muted="#667085", grid="#e4e7ec", paper="#ffffff",
    added="#1668c7", removed="#c8500a", changed="#7d5500", compaction="#7f8a9b", tag="#0a8276", branch="#8236bf",
    consumer="#a87200", freed="#c62436", pointer="#a3197a", rows="#3d4a9e", files="#55711a", bytes="#7a4b2a",
)  # fmt: skip
DARK = Palette(
    ink="#dfe4ec", muted="#98a3b5", grid="#2b3340", paper="#12161d",
    added="#66aaff", removed="#ff9a5c", changed="#f0c04f", compaction="#8b96a8", tag="#3fd0bf", branch="#c9a0ff",
    consumer="#f0c04f", freed="#ff7582", pointer="#ff8ad4", rows="#9fabff", files="#b3cc63", bytes="#d8b596",
)  # fmt: skip


def palette(theme: str | None) -> Palette:
    """Return the palette of a browser theme; light if unknown."""
    return DARK if theme == "dark" else LIGHT


# Commit kinds: colour, marker. Unknown kinds are drawn hollow.
KINDS: Mapping[str, tuple[str, str]] = {
    "APPEND": ("added", "circle"),
    "OVERWRITE": ("removed", "diamond"),
    "COMPACT": ("compaction", "square"),
    "ANALYZE": ("muted", "x-thin-open"),
    "append": ("added", "circle"),  # Iceberg's own names
    "overwrite": ("removed", "diamond"),
    "delete": ("removed", "triangle-down"),
    "replace": ("compaction", "square"),
}
OTHER_KIND = ("muted", "circle-open")

SIGNS: Mapping[str, str] = {
    "added": "+", "removed": "\N{MINUS SIGN}", "changed": "±", "compaction": "≡", "tag": "⚑", "branch": "└",
    "consumer": "▲", "freed": "✕", "kept": "✓",
}  # fmt: skip
