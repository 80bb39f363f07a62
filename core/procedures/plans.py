"""CALLs on tables: plans of what a procedure requests, to be shown, confirmed and run like any other."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass

from core.analysis.tag_target import tag_target
from core.catalog import list_tables
from core.errors import Invalid, NotFound
from core.execution import automatic_tags
from core.formats import registry
from core.formats.table_format import TableRef
from core.messages import message, sentences
from core.model import codes
from core.model.actions import Change, CreateTag, Rollback
from core.model.history import History
from core.model.plan import Plan
from core.procedures import parse as calls
from core.procedures.definitions.branches import REF
from core.procedures.parse import ParsedCall
from core.procedures.requests import AutoTag, BackToWatermark, ExpireTags, Request, TagFrom
from core.table import Table


@dataclass(frozen=True)
class Called:
    """The plans of a CALL.

    `plans` in the order in which they run; `told` is what to know before. `is_dry`: only to be shown.
    """

    plans: tuple[Plan, ...]
    told: tuple[str, ...] = ()
    is_dry: bool = False

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the single plan, or one over all of them."""
        if len(self.plans) == 1:
            return self.plans[0].fingerprint
        return hashlib.sha256("".join(plan.fingerprint for plan in self.plans).encode()).hexdigest()


def read(sql: str, now_ms: int, location: str) -> tuple[TableRef, ParsedCall]:
    """The table that a CALL names at this location, and what the CALL requests for it."""
    call = calls.parse(sql)
    asked = calls.asked(call, now_ms)
    found = find(location, asked.table)
    own = registry.named(found.format).capabilities.procedures
    if call.namespace != own:
        raise Invalid(
            "The format of {title} is {format}: its procedures are called {own}.NAME.",
            title=found.title,
            format=found.format,
            own=own,
        )
    return found, asked


def find(location: str, named: str) -> TableRef:
    """The table that a CALL names, in a warehouse or at a table's own location.

    Raises `NotFound` if it is another one.
    """
    found = list_tables(location).tables
    words = [each.strip("`") for each in named.split(".")]
    fitting = [each for each in found if _names(words, each)]
    if len(fitting) == 1:
        return fitting[0]
    there = ", ".join(each.title for each in found[:10]) or "none"
    if fitting:
        raise Invalid(
            "More than one table is named {named}.",
            named=named,
            remedy=message("Add its database: {there}.", there=there),
        )
    raise NotFound(
        "The CALL is for table {named}, which is not at {location}.",
        named=named,
        location=location,
        remedy=message("Tables there: {there}.", there=there),
    )


def _names(words: list[str], ref: TableRef) -> bool:
    """Whether these words name the table: they may start with a catalog, and the database may be omitted."""
    own = ref.title.split(".")
    return words[-len(own) :] == own or own[-len(words) :] == words


def planned(table: Table, history: History, request: Request, now_ms: int) -> Called:
    """The plans of a request. Changes nothing."""
    match request:
        case TagFrom():
            asked = {"time_ms": request.time_ms, "watermark": request.watermark}
            found = tag_target(history.heads, **asked, branch=request.branch)
            change: Change = CreateTag(request.name, found.snapshot.id, request.retained_ms, request.branch)
            return Called((table.preview(change, now_ms, history),), tuple(found.sentences()))
        case ExpireTags():
            plan, untold = automatic_tags.ended(table, history, now_ms, request.branch, request.older_than_ms)
            notes = [codes.TAG_STAYS(name=name, why=why) for name, why in untold.items()]
            return Called((plan,) if plan else (), tuple(sentences(notes if plan else [codes.NO_TAG_ENDED(), *notes])))
        case AutoTag():
            due = automatic_tags.automatic(table, history, now_ms, request.branch)
            none = () if due.plans else (codes.NO_TAG_DUE(),)
            return Called(due.plans, tuple(sentences((*due.notes, *none))))
        case BackToWatermark():
            change = Rollback(str(_last_before(history, request)), destructive=True, branch=request.branch)
        case Rollback() if request.point.startswith(REF):
            name = request.point.removeprefix(REF)
            kinds = {ref.name: "branch" if ref.is_branch else "tag" for ref in history.heads.refs}
            if name not in kinds:
                raise NotFound("There is no tag or branch {name!r}.", name=name, path=table.location)
            change = dataclasses.replace(request, point=f"{kinds[name]}:{name}")
        case _:
            change = request
    return Called((table.preview(change, now_ms, history),))


def _last_before(history: History, request: BackToWatermark) -> int:
    line = history.heads.line(request.branch)
    known = [] if line is None else [(each.id, each.watermark) for each in line.snapshots if each.watermark is not None]
    fitting = [number for number, watermark in known if watermark <= request.watermark]
    if not fitting:
        raise NotFound("No retained snapshot has a watermark at or before {watermark}.", watermark=request.watermark)
    return fitting[-1]
