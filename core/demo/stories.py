"""What happened in the demo warehouse, as questions with the steps to their answers.

Invariant: the marker file contains only a story's name and values; sentences are in this module, so that nothing in the
file is used as a template, and each can be translated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.catalog import DEMO_MARKER, Warehouse
from core.errors import Corrupt
from core.messages import Message, message
from core.storage.store import Store

Json = dict[str, Any]
_REMEDY = "Remove the demo warehouse and build it again: snapscope demo DIRECTORY."


@dataclass(frozen=True, slots=True)
class Story:
    """A question about `table`, the clicks to its answer, and the answer; `point` is the version to start with."""

    table: str
    point: str
    question: Message
    clicks: tuple[Message, ...]
    answer: Message


def _in_cents(values: Mapping[str, str | int]) -> Story:
    return Story(
        "sales.orders",
        str(values["bad"]),
        message(
            "The report of Wednesday {wednesday} showed a hundred times the revenue of Tuesday "
            "{tuesday}. What was in the table then, and who changed it?",
            **values,
        ),
        (
            message("Timeline: click snapshot {bad}, the load of Wednesday morning.", **values),
            message("Query at snapshot {bad}: `select sum(amount) from t where dt = '{tuesday}'`.", **values),
            message("Timeline: click snapshot {fix}, the Overwrite by the user repair, two days later.", **values),
            message("Diff with previous: all files of dt={tuesday} were replaced, nothing else.", **values),
        ),
        message("Snapshot {bad} loaded that day in cents; snapshot {fix} replaced it two days later.", **values),
    )


def _twice(values: Mapping[str, str | int]) -> Story:
    return Story(
        "events.clicks",
        str(values["again"]),
        message("Why does {day} have about twice the clicks of the days around it?", **values),
        (
            message("Timeline: two commits follow each other within two hours, {first} and {again}.", **values),
            message("Diff {first} to {again}: the same number of rows again, into the same days.", **values),
            message(
                "Query at snapshot {first}: `select count(*), count(distinct event_id) from t where dt = '{day}'`.",
                **values,
            ),
            message("Query at snapshot {again}: the count doubled, the distinct ids did not.", **values),
        ),
        message("Snapshot {again} is a retry of {first}, which had succeeded already.", **values),
    )


def _dropped(values: Mapping[str, str | int]) -> Story:
    return Story(
        "crm.customers",
        str(values["lost"]),
        message("Where did the customers of the region {region} go?", **values),
        (
            message("Timeline: the rows fall at snapshot {lost}; click it.", **values),
            message("Diff with previous: every file of region={region} was removed, none was added.", **values),
            message("As of: the snapshot just before is {before}; tag {tag} has them too.", **values),
            message("Query at snapshot {before}: `select count(*) from t where region = '{region}'`.", **values),
        ),
        message(
            "Snapshot {lost}, by cleanup-job, dropped the partition; later loads brought only new customers.", **values
        ),
    )


def _rolled_back(values: Mapping[str, str | int]) -> Story:
    return Story(
        "sales.orders_iceberg",
        f"time:{values['during']}T16:00:00Z",
        message(
            "On {during} from about 15:45 to 16:30 UTC reports missed most of the year. What did readers see, and "
            "where are those rows now?",
            **values,
        ),
        (
            message(
                "Timeline: main leads to a delete and is back within the hour; the delete is marked as rolled back.",
                **values,
            ),
            message("As of {during} 16:00 UTC: the snapshot of the delete, because main pointed there then.", **values),
            message(
                "Diff with previous: every file of the days before {old} was removed, none was added; "
                "the snapshot after the rollback has them all.",
                **values,
            ),
            message(
                (
                    "Retention: the rolled-back snapshot expires {days} days after its commit, and reclaims "
                    "only metadata."
                ),
                **values,
            ),
        ),
        message("cleanup-job deleted the days before {old}; main was rolled back 50 minutes later.", **values),
    )


_STORIES: Mapping[str, Callable[[Mapping[str, str | int]], Story]] = {
    "in cents": _in_cents,
    "twice": _twice,
    "dropped": _dropped,
    "rolled back": _rolled_back,
}


def kept(name: str, **values: str | int) -> Json:
    """A story as stored in the marker file. Raises `KeyError` if there is no such story or a value is missing."""
    _STORIES[name](values)
    return {"name": name, "values": values}


def read(marker: bytes, path: str) -> tuple[Story, ...]:
    """The stories of a marker file; none if it is empty or older. Raises `Corrupt` if it is not a marker file."""
    if not marker.strip():
        return ()
    try:
        stories = json.loads(marker).get("stories", ())  # older demos have none
        return tuple(_STORIES[each["name"]](each["values"]) for each in stories)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Corrupt(
            "The demo's stories cannot be read: the demo's marker file has other content.", path=path, remedy=_REMEDY
        ) from error


def what_happened(listing: Warehouse) -> tuple[Story, ...]:
    """The stories of a demo warehouse; empty for any other. Raises `Corrupt` for an invalid marker."""
    if not listing.is_demo:
        return ()
    store = Store(listing.location)
    return read(store.read(DEMO_MARKER), store.full(DEMO_MARKER)) if store.size(DEMO_MARKER) else ()
