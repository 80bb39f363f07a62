"""How dangerous a plan is, and therefore what must be typed before it runs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.messages import Reason
from core.model import codes
from core.model.plan import Outside, Plan
from core.model.version_lists import is_branch, is_tag


@dataclass(frozen=True, slots=True)
class Danger:
    """What confirms a plan, and why.

    `phrase` is the text to type; empty if a click is enough. `why` lists what makes the plan grave. `outside` lists the
    roots outside the table's directory under which files are deleted; each must be confirmed separately.
    """

    phrase: str
    why: tuple[Reason, ...] = ()
    outside: tuple[Outside, ...] = ()


def danger(plan: Plan, name: str) -> Danger:
    """The danger of a plan for the table `name`.

    A plan that deletes nothing needs a click, an ordinary plan the table's name. A grave plan (it deletes a tag, half
    of all bytes or more, or has a warning) also needs the number of files, which only somebody who has read the plan
    can type. If the plan deletes one tag and nothing else, the phrase is that tag's name. Files outside the table's
    directory are the gravest case: no metadata proves whose they are, so each of their roots must be confirmed, too.
    """
    if plan.change.is_harmless and not plan.outside:
        return Danger("")
    why = [codes.OUTSIDE_GOES(it=each.words) for each in plan.outside]
    tags = sum(is_tag(verdict.point) for verdict in plan.deleted_points)
    branches = sum(is_branch(verdict.point) for verdict in plan.deleted_points)
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
    deleted = plan.deleted_points
    if tags == len(deleted) == 1 and _can_be_typed(tag := deleted[0].point.partition("tag:")[2]):
        return Danger(tag, tuple(why))
    return Danger(f"{name} {_files(plan)}" if why else name, tuple(why))


def of_all(plans: Sequence[Plan], name: str) -> Danger:
    """The danger of plans confirmed together: the phrase of the only one to need one, else one counting all files."""
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
