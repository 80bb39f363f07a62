"""Streaming readers: setting one back, forgetting them."""

from __future__ import annotations

from core.model.actions import ClearConsumers, ResetConsumer
from core.procedures.definition import Argument, Definition, Procedure
from core.procedures.units import ID, TEXT

_NAME = Argument("name", TEXT, metavar="CONSUMER", is_needed=True, call="consumerId", also=("consumer_id",))
_NEXT = Argument(
    "next_snapshot",
    ID,
    help="the snapshot it reads next (default: the consumer goes)",
    call="nextSnapshotId",
    also=("next_snapshot_id", "next_snapshot"),
)
_INCLUDING = Argument(
    "including",
    TEXT,
    "--including",
    "only consumers with such a name",
    metavar="REGEX",
    call="includingConsumers",
    also=("including_consumers",),
)
_EXCLUDING = Argument(
    "excluding",
    TEXT,
    "--excluding",
    "none with such a name",
    metavar="REGEX",
    call="excludingConsumers",
    also=("excluding_consumers",),
)

RESET = Definition(
    ResetConsumer,
    "reset-consumer",
    "Let a streaming reader begin elsewhere, or forget it.",
    (_NAME, _NEXT),
    paimon=(Procedure("reset_consumer", ResetConsumer, (_NAME, _NEXT)),),
)
CLEAR = Definition(
    ClearConsumers,
    "clear-consumers",
    "Forget streaming readers.",
    (_INCLUDING, _EXCLUDING),
    paimon=(Procedure("clear_consumers", ClearConsumers, (_INCLUDING, _EXCLUDING)),),
)
