"""The first line of every page, and what the sidebar knows of this session."""

from __future__ import annotations

COPY_LINK = "Copy link"
COPY_LINK_HELP = "Copies the address of exactly this view: table, point, time zone and all that is set."
COPIED = "Copied"
CHANGES_ON = "Changes allowed"
CHANGES_ON_HELP = "Plans can be carried out here once confirmed. “Allow changes” in the sidebar switches it off."
CHANGES_OFF_HELP = "Nothing can be changed here: pages show plans alone. “Allow changes” in the sidebar switches it on."
RECENT = "Recent"
ZONE_HINT = "Choose a zone, or type one: Asia/Kolkata"


def zone_unknown(name: str) -> str:
    return f"There is no time zone {name!r}: type a name such as Asia/Kolkata."


def of_database(name: str) -> str:
    return f"Tables of {name}."


ALL_TABLES = "Show all tables"
