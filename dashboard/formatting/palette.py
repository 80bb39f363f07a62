"""One hue per meaning, the same in every chart and chip, for a light and a dark background.

Law: a colour never speaks alone: each meaning has a shape or a letter as well (`SHAPES`, `SIGNS`). The pairs that
matter together (added and removed, tag and branch, kept and freed) differ in lightness too, for colour-blind eyes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of one theme as `#rrggbb`."""

    ink: str  # lines and text that carry no meaning of their own
    muted: str
    grid: str
    paper: str
    added: str
    removed: str
    compaction: str
    tag: str
    branch: str
    consumer: str
    freed: str
    pointer: str  # of Iceberg's main: where it pointed
    rows: str  # quantities over time
    files: str
    bytes: str

    def soft(self, name: str, alpha: float = 0.14) -> str:
        """A transparent wash of one of the hues."""
        colour: str = getattr(self, name)
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        return f"rgba({red},{green},{blue},{alpha})"


LIGHT = Palette(
    ink="#2b3648", muted="#667085", grid="#e4e7ec", paper="#ffffff",
    added="#1668c7", removed="#c8500a", compaction="#7f8a9b", tag="#0a8276", branch="#8236bf", consumer="#a87200",
    freed="#c62436", pointer="#a3197a", rows="#3d4a9e", files="#55711a", bytes="#7a4b2a",
)  # fmt: skip
DARK = Palette(
    ink="#dfe4ec", muted="#98a3b5", grid="#2b3340", paper="#12161d",
    added="#66aaff", removed="#ff9a5c", compaction="#8b96a8", tag="#3fd0bf", branch="#c9a0ff", consumer="#f0c04f",
    freed="#ff7582", pointer="#ff8ad4", rows="#9fabff", files="#b3cc63", bytes="#d8b596",
)  # fmt: skip


def palette(theme: str | None) -> Palette:
    """The palette of a theme by the browser's own word for it; light where it says nothing."""
    return DARK if theme == "dark" else LIGHT


# Commit kinds: hue, marker. A kind nobody has heard of is drawn hollow.
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
    "added": "+", "removed": "\N{MINUS SIGN}", "compaction": "≡", "tag": "⚑", "branch": "└", "consumer": "▲",
    "freed": "✕", "kept": "✓",
}  # fmt: skip
