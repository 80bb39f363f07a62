"""Every page handles every named state, and shows the message for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dashboard import words
from tests.support.builders import STATES

PAGES = ("overview", "timeline", "asof", "diff", "files", "retention", "orphans", "tags", "query")

SENTENCES = {
    "empty warehouse": "This warehouse has no tables yet.",
    "table without snapshots": "orders has no snapshots yet: nothing was ever committed to it.",
    "one snapshot": "Snapshot 1 is the only one: there is nothing to compare it with until the next commit.",
    "tag on an expired snapshot": (
        "Snapshot 3 has expired and is kept by tag month-end: it can still be read by that name."
    ),
    "two tags on one snapshot": (
        "Tags audit and release keep the same snapshot 3: deleting one of them reclaims nothing, deleting both may."
    ),
    "id gap": (
        "Snapshots 4 to 5 are missing between 3 and 6: Paimon's time travel fails across this "
        "gap and its expiry may delete files that are still needed."
    ),
    "wrong hints": (
        "snapshot/LATEST: expected the id 5, found the id 99. Paimon fails to read or commit until this hint is "
        "corrected; Snapscope lists the directory."
    ),
    "unreadable manifest": "1 file could not be read, so totals marked ≥ are lower bounds.",
    "table moved while viewing": (
        "There is no table default.orders here. It was moved or deleted, or the link has another name for it."
    ),
    "10,000 snapshots": (
        "10,000 snapshots exceed 2,000: the timeline shows the number of commits per time "
        "interval. Click a bar to zoom in."
    ),
}
SLOW = {"10,000 snapshots"}
# Home shows the worst of a table's notices and counts the others.
ON_OVERVIEW = {
    "two tags on one snapshot": SENTENCES["two tags on one snapshot"],
    "wrong hints": "snapshot/EARLIEST: expected the id 1, found the id 3.",
    "unreadable manifest": "expected a readable manifest",
}


def test_every_state_has_its_sentence() -> None:
    assert SENTENCES.keys() == STATES.keys()
    assert len(STATES) == 10


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in STATES]
)
def test_state(name: str, page: str, built: Callable[[str], Path], open_page: Callable) -> None:
    state, warehouse = STATES[name], built(name)
    shown = open_page(page, warehouse)
    if state.then is not None:
        state.then(warehouse)
        shown.run()
    expected = ON_OVERVIEW.get(name, SENTENCES[name]) if page == "overview" else SENTENCES[name]
    assert expected in shown.text


def test_no_warehouse(open_page: Callable) -> None:
    for page in PAGES:
        assert words.NO_WAREHOUSE in open_page(page, None).text


def test_a_warehouse_that_is_not_there(open_page: Callable, tmp_path: Path) -> None:
    for page in PAGES:
        shown = open_page(page, tmp_path / "nowhere")
        assert "There is no warehouse at" in shown.text
        assert words.STILL_WORKS in shown.text
