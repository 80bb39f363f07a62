"""The first line of every page, and what the sidebar knows of this session."""

from __future__ import annotations

COPY_LINK = "Copy link"
COPY_LINK_HELP = "Copies the address of exactly this view: table, point, time zone and all that is set."
COPIED = "Copied"
RECENT = "Recent"
ZONE_HINT = "Choose a zone, or type one: Asia/Kolkata"


def zone_unknown(name: str) -> str:
    return f"There is no time zone {name!r}: type a name such as Asia/Kolkata."


def of_database(name: str) -> str:
    return f"Tables of {name}."


ALL_TABLES = "Show all tables"
