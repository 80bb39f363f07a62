"""Consumers: setting one back, deleting them."""

from __future__ import annotations

from core.model.actions import ClearConsumers, ResetConsumer
from core.procedures.definition import Argument, Definition, Procedure
from core.procedures.units import ID, TEXT

_NAME = Argument(
    "name", TEXT, help="the consumer id", metavar="CONSUMER", is_needed=True, call="consumerId", also=("consumer_id",)
)
_NEXT = Argument(
    "next_snapshot",
    ID,
    help="the snapshot it reads next (default: delete the consumer)",
    call="nextSnapshotId",
    also=("next_snapshot_id", "next_snapshot"),
)
_INCLUDING = Argument(
    "including",
    TEXT,
    "--including",
    "only consumers whose name matches",
    metavar="REGEX",
    call="includingConsumers",
    also=("including_consumers",),
)
_EXCLUDING = Argument(
    "excluding",
    TEXT,
    "--excluding",
    "no consumer whose name matches",
    metavar="REGEX",
    call="excludingConsumers",
    also=("excluding_consumers",),
)

RESET = Definition(
    ResetConsumer,
    "reset-consumer",
    "Set where a streaming consumer reads on, or delete it.",
    (_NAME, _NEXT),
    paimon=(Procedure("reset_consumer", ResetConsumer, (_NAME, _NEXT)),),
)
CLEAR = Definition(
    ClearConsumers,
    "clear-consumers",
    "Delete streaming consumers.",
    (_INCLUDING, _EXCLUDING),
    paimon=(Procedure("clear_consumers", ClearConsumers, (_INCLUDING, _EXCLUDING)),),
)
