"""What is odd about a metadata document, and what engines make of it. Pure."""

from __future__ import annotations

from core.formats.iceberg.metadata import Metadata
from core.messages import told
from core.model.codes import Fault
from core.model.ref_names import KINDS
from core.model.references import Problem


def told_of(found: Metadata) -> list[Problem]:
    """What is odd, and what follows from it."""
    problems = []
    for ref in found.refs.values():
        if ref.snapshot_id not in found.snapshots:
            kind = KINDS["branch" if ref.is_branch else "tag"]
            problems.append(
                Problem(
                    found.path,
                    told(
                        "the snapshot {snapshot_id} of {kind} {name}",
                        snapshot_id=ref.snapshot_id,
                        kind=kind,
                        name=ref.name,
                    ),
                    told("no such snapshot"),
                    told("The {kind} cannot be read; the next expiry drops it.", kind=kind),
                    Fault.REF_DANGLING,
                )
            )
        if ref.name.isdecimal():
            problems.append(
                Problem(
                    found.path,
                    told("a ref name that is no number, for {name}", name=ref.name),
                    told("one that reads as a snapshot id"),
                    told("SQL cannot reach it: VERSION AS OF takes it for an id."),
                    Fault.REF_NUMERIC,
                )
            )
    if any(later[0] < earlier[0] for earlier, later in zip(found.log, found.log[1:], strict=False)):
        problems.append(
            Problem(
                found.path,
                told("a snapshot-log in order of time"),
                told("times that go back (clocks differed)"),
                told("Engines answer time travel differently there; each answer says so."),
                Fault.LOG_UNORDERED,
            )
        )
    if found.current is not None and not found.log:
        problems.append(
            Problem(
                found.path,
                told("a snapshot-log"),
                told("an empty one"),
                told("No time can be asked, and Java cannot expire this table."),
                Fault.LOG_EMPTY,
            )
        )
    return problems
