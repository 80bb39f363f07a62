"""What a plan of an Iceberg table does: one commit of new metadata, and the files that nothing needs then. Pure."""

from __future__ import annotations

from core.model.actions import CreateTag
from core.model.effects import Effect, SwapMetadata, VerifyFiles, ended
from core.model.plan import Plan
from core.model.references import ObjectKind


def of(plan: Plan, swap: SwapMetadata) -> tuple[Effect, ...]:
    """All that a finished plan does. Nobody publishes a reference to old metadata, so for that nobody is waited for."""
    changes: list[Effect] = [swap] if swap.removes or swap.sets else []
    if isinstance(plan.change, CreateTag) and plan.change.verified and plan.source is not None:
        changes.insert(0, VerifyFiles(str(plan.source.id)))
    if plan.change.names_a_reference and not len(plan.frees):
        return tuple(changes)
    kinds = set(plan.frees["kind"].to_pylist())
    waits = bool(plan.removes) and bool(kinds - {ObjectKind.METADATA.value})
    return ended(changes, len(plan.frees), plan.freed_bytes, waits=waits)
