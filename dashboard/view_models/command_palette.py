"""What the command palette offers: pages, tables, tags and snapshots, each with where it leads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dashboard import words

PAGE, TABLE, VERSION = "page", "table", "version"

Group = Mapping[str, object]


def pages() -> Group:
    rows = [[title, name] for name, (title, _icon) in words.PAGES.items()]
    return {"kind": PAGE, "name": words.PALETTE_PAGE, "rows": rows}


def tables(titles: Sequence[str]) -> Group:
    return {"kind": TABLE, "name": words.TABLE, "rows": [[title, title] for title in titles]}


def versions(offered: Mapping[str, str]) -> Iterable[Group]:
    """Group what the version pickers offer; any other version can be typed."""
    tags = [[label, point] for point, label in offered.items() if "tag:" in point]
    others = [[label, point] for point, label in offered.items() if "tag:" not in point]
    yield {"kind": VERSION, "name": words.PALETTE_TAG, "rows": tags}
    yield {"kind": VERSION, "name": words.PALETTE_VERSION, "rows": others}
