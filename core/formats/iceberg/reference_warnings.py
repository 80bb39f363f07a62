"""Unusual contents of a metadata document, and how engines treat them. Pure."""

from __future__ import annotations

from core.formats.iceberg.metadata import Metadata
from core.messages import message
from core.model.codes import Fault
from core.model.ref_names import KINDS
from core.model.references import Problem


def problems_of(found: Metadata) -> list[Problem]:
    """Return what is unusual, and its consequences."""
    problems = []
    for ref in found.refs.values():
        if ref.snapshot_id not in found.snapshots:
            kind = KINDS["branch" if ref.is_branch else "tag"]
            problems.append(
                Problem(
                    found.path,
                    message(
                        "the snapshot {snapshot_id} of {kind} {name}",
                        snapshot_id=ref.snapshot_id,
                        kind=kind,
                        name=ref.name,
                    ),
                    message("no such snapshot"),
                    message("The {kind} cannot be read; the next expiry deletes it.", kind=kind),
                    Fault.REF_DANGLING,
                )
            )
        if ref.name.isdecimal():
            problems.append(
                Problem(
                    found.path,
                    message("a ref name that is not a number, for {name}", name=ref.name),
                    message("a name that reads as a snapshot id"),
                    message("SQL cannot reach it: VERSION AS OF reads it as an id."),
                    Fault.REF_NUMERIC,
                )
            )
    if any(later[0] < earlier[0] for earlier, later in zip(found.log, found.log[1:], strict=False)):
        problems.append(
            Problem(
                found.path,
                message("a snapshot-log in order of time"),
                message("times that go back (clocks differed)"),
                message("Engines answer time travel to such times differently; Snapscope says so with each answer."),
                Fault.LOG_UNORDERED,
            )
        )
    if found.current is not None and not found.log:
        problems.append(
            Problem(
                found.path,
                message("a snapshot-log"),
                message("an empty one"),
                message("Time travel by time is not possible, and Java cannot expire snapshots of this table."),
                Fault.LOG_EMPTY,
            )
        )
    return problems
