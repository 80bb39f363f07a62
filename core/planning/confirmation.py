"""How dangerous a plan is, and so what has to be typed before it is carried out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.messages import Reason
from core.model import codes
from core.model.plan import Outside, Plan, is_tag


@dataclass(frozen=True, slots=True)
class Danger:
    """`phrase` is what confirms the plan; empty where a click is enough. `why` makes a grave plan grave. Each of
    `outside` is confirmed by itself: a root outside the table's directory under which files are deleted."""

    phrase: str
    why: tuple[Reason, ...] = ()
    outside: tuple[Outside, ...] = ()


def danger(plan: Plan, name: str) -> Danger:
    """Of a plan for the table `name`. What deletes nothing needs a click, an ordinary plan the table's name.

    A grave one (a tag goes, half of all bytes or more, a warning) needs the number of files as well: it can be typed
    only by somebody who has read the plan. Where one tag is all that goes, that is the tag's own name. Gravest are
    files outside the table's directory: no metadata tells whose they are, so each of their roots is confirmed, too.
    """
    if plan.change.is_harmless and not plan.outside:
        return Danger("")
    why = [codes.OUTSIDE_GOES(it=each.words) for each in plan.outside]
    tags = sum(is_tag(verdict.point) for verdict in plan.goes)
    branches = sum(verdict.point.startswith("branch:") and "/" not in verdict.point for verdict in plan.goes)
    if tags:
        why.append(codes.TAGS_GO(count=tags))
    if branches:
        why.append(codes.BRANCHES_GO(count=branches))
    if len(plan.orphans):
        why.append(codes.UNHELD(count=len(plan.orphans)))
    if plan.freed_bytes and plan.freed_bytes >= plan.kept_bytes:
        why.append(codes.HALF_GOES())
    if plan.warnings:
        why.append(codes.WARNED(count=len(plan.warnings)))
    if plan.outside:
        return Danger(f"{name} {_files(plan)}", tuple(why), plan.outside)
    if tags == len(plan.goes) == 1 and _can_be_typed(tag := plan.goes[0].point.partition("tag:")[2]):
        return Danger(tag, tuple(why))
    return Danger(f"{name} {_files(plan)}" if why else name, tuple(why))


def of_all(plans: Sequence[Plan], name: str) -> Danger:
    """Of plans that are confirmed at once: that of the only one to be typed for, else all their files are counted."""
    found = [danger(plan, name) for plan in plans]
    asking = [each for each in found if each.phrase]
    if len(asking) < 2:
        return asking[0] if asking else Danger("")
    why = tuple(dict.fromkeys(reason for each in found for reason in each.why))
    outside = tuple(root for each in found for root in each.outside)
    return Danger(f"{name} {sum(map(_files, plans))}" if why else name, why, outside)


def _files(plan: Plan) -> int:
    return len(plan.frees) + len(plan.orphans) + len(plan.leaving)


def _can_be_typed(name: str) -> bool:
    return name == name.strip() and name.isprintable()
