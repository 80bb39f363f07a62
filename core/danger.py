"""How dangerous a plan is, and so what has to be typed before it is carried out. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from core.changes import Analyze, Compact, CreateBranch, CreateTag, RenameBranch, RenameTag
from core.planned import Plan
from core.units import several


@dataclass(frozen=True, slots=True)
class Danger:
    """`phrase` is what confirms the plan; empty where a click is enough. `why` makes a grave plan grave."""

    phrase: str
    why: tuple[str, ...] = ()


def danger(plan: Plan, name: str) -> Danger:
    """Of a plan for the table `name`. What deletes nothing needs a click, an ordinary plan the table's name.

    A grave one (a tag goes, half of all bytes or more, a warning) needs the number of files as well: it can be typed
    only by somebody who has read the plan.
    """
    if isinstance(plan.change, CreateTag | RenameTag | CreateBranch | RenameBranch | Compact | Analyze):
        return Danger("")
    why = []
    tags = sum("tag:" in verdict.point for verdict in plan.goes)
    branches = sum(verdict.point.startswith("branch:") and "/" not in verdict.point for verdict in plan.goes)
    for count, kind, kinds in ((tags, "tag", "tags"), (branches, "branch", "branches")):
        if count:
            named = "goes: somebody named it" if count == 1 else "go: somebody named them"
            why.append(f"{several(count, kind, kinds)} {named}")
    if len(plan.orphans):
        why.append(f"{several(len(plan.orphans), 'file')} will be held by nothing")
    if plan.freed_bytes and plan.freed_bytes >= plan.kept_bytes:
        why.append("half of the table's bytes or more go")
    if plan.warnings:
        why.append(several(len(plan.warnings), "warning"))
    return Danger(f"{name} {len(plan.frees) + len(plan.orphans) + len(plan.leaving)}" if why else name, tuple(why))
