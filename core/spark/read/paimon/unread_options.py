"""Options of a table whose rows are not simply those of its files. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from core.errors import Unsupported
from core.formats.paimon.ways_out import OWN_ENGINE
from core.messages import message

REFUSED = {
    "query-auth.enabled": ("true", message("The table's catalog masks rows or columns.")),
    "pk-clustering-override": ("true", message("Rows are clustered in another order than their key.")),
}
REFUSED_IF_SET = ("chain-table.",)
_OF_CHAINS = tuple(f"chain-table.{each}" for each in ("enabled", "chain-partition-keys", "streaming.", "split."))
"""Read elsewhere, or of no effect on the rows of a batch read."""


def refuse(options: Mapping[str, str]) -> None:
    """Raise `Unsupported`, by name, if the rows of a table with these options are not just those of its files."""
    for name, (value, why) in REFUSED.items():
        if options.get(name, "").strip().lower() == value:
            raise Unsupported(
                "The table's option '{name}' is {value}. {why}", name=name, value=value, why=why, remedy=OWN_ENGINE
            )
    for name in options:
        if name.startswith(REFUSED_IF_SET) and not name.startswith(_OF_CHAINS):
            raise Unsupported(
                "The table's option '{name}' is set; its rows are not simply those in its files.",
                name=name,
                remedy=OWN_ENGINE,
            )
    if (kind := options.get("type", "table")) != "table":
        raise Unsupported(
            "The table is of type '{kind}', whose rows are not in data files.", kind=kind, remedy=OWN_ENGINE
        )
