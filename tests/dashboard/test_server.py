"""Several users of one server at the same time, each on a table of their own: nobody gets another's answer."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from core import serve
from dashboard import words
from tests.support.builders import TableBuilder
from tests.support.dashboard.user import session

USERS = 5
PAGES = ("timeline", "tags", "retention", "files", "asof")
SHOW_TAGS = ("timeline", "tags", "retention")


def mark(user: int) -> str:
    return f"tag-of-user-{user}-alone"


@pytest.mark.slow
def test_pages_at_the_same_time_show_the_table_that_was_asked_for(tmp_path: Path) -> None:
    for number in range(USERS):
        table = TableBuilder(tmp_path / "shop.db" / f"own{number}")
        for _ in range(number + 1):
            table.commit([table.file(1_000, rows=10)])
        table.tag(mark(number))
    wrong, right = list[object](), list[str]()
    start = threading.Barrier(USERS)

    def use(number: int) -> None:
        chance = random.Random(number)
        try:
            with session(serving.address) as user:
                start.wait(120)
                for page in (*PAGES, *chance.choices(PAGES, k=5)):
                    drawn = user.open(page, table=f"shop.own{number}")
                    seen = {other for other in range(USERS) if drawn.shows(mark(other))}
                    has_its_own = ({number} if page in SHOW_TAGS else set()) <= seen <= {number}
                    if has_its_own and drawn.shows(f"own{number}") and not drawn.shows(words.UNEXPECTED):
                        right.append(page)
                    else:
                        wrong.append((number, page, seen))
        except BaseException as error:  # noqa: BLE001 - it is told below
            wrong.append(error)

    serving = serve.start([str(tmp_path)], 0)
    try:
        threads = [threading.Thread(target=use, args=(number,)) for number in range(USERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(600)
    finally:
        serving.process.terminate()
        serving.process.wait(60)
    assert wrong == []
    assert len(right) == 10 * USERS
