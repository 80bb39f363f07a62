"""Automatic tags by the table's own options: creation and expiry as ordinary plans, one per created tag.

Invariant: a run is its plans in order, each complete in itself. After an interruption the next run creates what is
left, and a second run creates nothing.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import NotFound, Unsupported
from core.formats.paimon.plan import automatic_tags
from core.formats.paimon.plan.automatic_tags import AutomaticTagRules, Coming
from core.formats.paimon.retention import ended_tags
from core.messages import Reason
from core.model import codes
from core.model.actions import CreateTag, DeleteTags, ReplaceTag
from core.model.history import History
from core.model.plan import Plan
from core.model.references import MAIN, Line
from core.table import Table


@dataclass(frozen=True)
class Tagging:
    """What a run does. `rules` None: the table's options ask for no automatic tags.

    `why`: the reason per deleted tag.
    """

    rules: AutomaticTagRules | None
    plans: tuple[Plan, ...]
    coming: tuple[Coming, ...]
    why: Mapping[str, Reason]
    notes: tuple[Reason, ...]

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256("".join(plan.fingerprint for plan in self.plans).encode()).hexdigest()


def automatic(table: Table, history: History, now_ms: int, branch: str = MAIN) -> Tagging:
    """The automatic tags that are due, the tags they replace, and the tags whose own retention has passed."""
    line = _line(table, history, branch)
    rules = automatic_tags.rules(line.options)
    due = automatic_tags.AutomaticTagsDue(()) if rules is None else automatic_tags.due(rules, line)
    why = dict(due.drops)
    if rules is not None and rules.is_expiring:
        why = ended_tags(line, now_ms, None)[0] | why
    kept_ms = None if rules is None else rules.retained_ms
    plans = [
        *(table.preview(CreateTag(name, id, kept_ms, branch), now_ms, history) for name, id in due.creates),
        *(table.preview(ReplaceTag(name, id, kept_ms, branch), now_ms, history) for name, id in due.replaces),
        *_deletions(table, history, why, now_ms, branch),
    ]
    notes = () if rules is None else rules.notes
    if rules is not None and branch != MAIN:
        notes += (codes.BRANCH_TAGS(),)
    coming = () if rules is None else automatic_tags.coming(rules, due.after, line, now_ms)
    return Tagging(rules, tuple(plans), coming, why, notes)


def ended(
    table: Table, history: History, now_ms: int, branch: str = MAIN, older_than_ms: int | None = None
) -> tuple[Plan | None, Mapping[str, Reason]]:
    """The plan that deletes expired tags (see `ended_tags`), or None; and why tags of unknown age stay."""
    expired, unknown_age = ended_tags(_line(table, history, branch), now_ms, older_than_ms)
    return next(iter(_deletions(table, history, expired, now_ms, branch)), None), unknown_age


def _deletions(table: Table, history: History, expired: Mapping[str, Reason], now_ms: int, branch: str) -> list[Plan]:
    """One plan that deletes all of them, each with its own reason; an empty list if there are none."""
    if not expired:
        return []
    plan = table.preview(DeleteTags(tuple(expired), branch), now_ms, history)
    own = {f"tag:{name}" if branch == MAIN else f"branch:{branch}/tag:{name}": why for name, why in expired.items()}
    points = [dataclasses.replace(each, reasons=(own.get(each.point, each.reasons[0]),)) for each in plan.points]
    return [dataclasses.replace(plan, points=tuple(points))]


def _line(table: Table, history: History, branch: str) -> Line:
    if not table.capabilities.writers_expire:
        raise Unsupported(
            "{format} does not create tags automatically; refs end at the next expiry.",
            format=table.capabilities.title,
            path=table.location,
            remedy=("Run create-tag from your scheduler; `snapscope expire` deletes refs whose retention has ended."),
        )
    line = history.heads.line(branch)
    if line is None:
        raise NotFound("There is no branch {branch!r}.", branch=branch, path=table.location)
    return line
