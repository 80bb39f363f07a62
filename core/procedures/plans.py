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
class CallPlans:
    """The plans of a CALL.

    `plans` in the order in which they run; `notices`: what to know before they run. `is_dry`: only to be shown.
    """

    plans: tuple[Plan, ...]
    notices: tuple[str, ...] = ()
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
    parsed_call = calls.request_of(call, now_ms)
    ref = find(location, parsed_call.table)
    namespace = registry.named(ref.format).capabilities.procedures
    if call.namespace != namespace:
        raise Invalid(
            "The format of {title} is {format}: its procedures are called {own}.NAME.",
            title=ref.title,
            format=ref.format,
            own=namespace,
        )
    return ref, parsed_call


def find(location: str, name: str) -> TableRef:
    """The table that a CALL names, in a warehouse or at a table's own location.

    Raises `NotFound` if it is another one.
    """
    refs = list_tables(location).tables
    words = [each.strip("`") for each in name.split(".")]
    matching = [each for each in refs if _names(words, each)]
    if len(matching) == 1:
        return matching[0]
    titles = ", ".join(each.title for each in refs[:10]) or "none"
    if matching:
        raise Invalid(
            "More than one table is named {named}.",
            named=name,
            remedy=message("Add its database: {there}.", there=titles),
        )
    raise NotFound(
        "The CALL is for table {named}, which is not at {location}.",
        named=name,
        location=location,
        remedy=message("Tables there: {there}.", there=titles),
    )


def _names(words: list[str], ref: TableRef) -> bool:
    """Whether these words name the table: they may start with a catalog, and the database may be omitted."""
    own = ref.title.split(".")
    return words[-len(own) :] == own or own[-len(words) :] == words


def planned(table: Table, history: History, request: Request, now_ms: int) -> CallPlans:
    """The plans of a request. Changes nothing."""
    match request:
        case TagFrom():
            given = {"time_ms": request.time_ms, "watermark": request.watermark}
            target = tag_target(history.heads, **given, branch=request.branch)
            change: Change = CreateTag(request.name, target.snapshot.id, request.retained_ms, request.branch)
            return CallPlans((table.preview(change, now_ms, history),), tuple(target.sentences()))
        case ExpireTags():
            plan, unknown_age = automatic_tags.ended(table, history, now_ms, request.branch, request.older_than_ms)
            notes = [codes.TAG_STAYS(name=name, why=why) for name, why in unknown_age.items()]
            return CallPlans(
                (plan,) if plan else (), tuple(sentences(notes if plan else [codes.NO_TAG_ENDED(), *notes]))
            )
        case AutoTag():
            due = automatic_tags.automatic(table, history, now_ms, request.branch)
            none = () if due.plans else (codes.NO_TAG_DUE(),)
            return CallPlans(due.plans, tuple(sentences((*due.notes, *none))))
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
    return CallPlans((table.preview(change, now_ms, history),))


def _last_before(history: History, request: BackToWatermark) -> int:
    line = history.heads.line(request.branch)
    known = [] if line is None else [(each.id, each.watermark) for each in line.snapshots if each.watermark is not None]
    matching = [number for number, watermark in known if watermark <= request.watermark]
    if not matching:
        raise NotFound("No retained snapshot has a watermark at or before {watermark}.", watermark=request.watermark)
    return matching[-1]
