"""The effects of a plan on an Iceberg table: one commit of new metadata, then deletion of unneeded files. Pure."""

from __future__ import annotations

from core.model.actions import CreateTag
from core.model.effects import Effect, SwapMetadata, VerifyFiles, ended
from core.model.plan import Plan
from core.model.references import ObjectKind


def of(plan: Plan, swap: SwapMetadata) -> tuple[Effect, ...]:
    """Return all effects of a finished plan.

    Nobody publishes a reference to old metadata, so deleting only metadata needs no grace period.
    """
    changes: list[Effect] = [swap] if swap.removes or swap.sets else []
    if isinstance(plan.change, CreateTag) and plan.change.verified and plan.source is not None:
        changes.insert(0, VerifyFiles(str(plan.source.id)))
    if plan.change.names_a_reference and not len(plan.frees):
        return tuple(changes)
    kinds = set(plan.frees["kind"].to_pylist())
    waits = bool(plan.removes) and bool(kinds - {ObjectKind.METADATA.value})
    return ended(changes, len(plan.frees), plan.freed_bytes, waits=waits)
