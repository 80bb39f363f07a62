"""How dangerous a plan is, and so what has to be typed before it is carried out. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from core.changes import Analyze, Compact, CreateBranch, CreateTag, RenameBranch, RenameTag
from core.planned import Plan
from core.told import counted, told


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
    if tags:
        why.append(counted(tags, "{count} tag goes: somebody named it", "{count} tags go: somebody named them"))
    if branches:
        named = "{count} branch goes: somebody named it", "{count} branches go: somebody named them"
        why.append(counted(branches, *named))
    if len(plan.orphans):
        held = "{count} file will be held by nothing", "{count} files will be held by nothing"
        why.append(counted(len(plan.orphans), *held))
    if plan.freed_bytes and plan.freed_bytes >= plan.kept_bytes:
        why.append(told("half of the table's bytes or more go"))
    if plan.warnings:
        why.append(counted(len(plan.warnings), "{count} warning", "{count} warnings"))
    return Danger(f"{name} {len(plan.frees) + len(plan.orphans) + len(plan.leaving)}" if why else name, tuple(why))
