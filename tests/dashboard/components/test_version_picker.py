"""The version picker, the same on every page: each kind of reference, its line, its error, the choices, the URL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import Invalid
from core.model.references import Heads
from core.table import open_table
from dashboard import words
from dashboard.formatting import units
from dashboard.view_models import version_picker
from tests.support.builders import DAY_MS, START_MS, TableBuilder
from tests.support.dashboard.pages import Page
from tests.support.iceberg_tables import PYICEBERG, moved

TITLE = "shop.orders"
NOW_MS = START_MS + 20 * DAY_MS


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    """Create snapshots 1 to 8, a day apart; tags, a branch of two snapshots, and a name of both a tag and a branch."""
    made = TableBuilder(tmp_path / "w" / "shop.db" / "orders", step_ms=DAY_MS)
    for number in range(8):
        made.commit([made.file(100, rows=10)], watermark=number * 100)
        if number == 3:
            for name in ("v1", "both", "2026-01-02"):
                made.tag(name)
    made.branch("dev", "v1").commit([made.file(5)])
    made.branch("both", "v1").commit([made.file(5)])
    return made


@pytest.fixture
def heads(table: TableBuilder) -> Heads:
    return open_table(str(table.root)).heads()


def write(page: Page, key: str, text: str) -> None:
    """Type a text into a box, whether it is among the choices or not."""
    box = page.test.selectbox(key=key)
    box.options.append(text)
    box.set_value(text)


KINDS = {
    "3": ("3", 3),
    "v1": ("tag:v1", 4),
    "tag:both": ("tag:both", 4),
    "dev": ("branch:dev", 5),
    "dev/4": ("branch:dev/4", 4),
    "branch:dev/tag:v1": ("branch:dev/tag:v1", 4),
    "2026-01-03": ("time:2026-01-03T00:00:00Z", 3),
    "2026-01-02": ("time:2026-01-02T00:00:00Z", 2),
    "2026-01-03 07:59": ("time:2026-01-03T07:59:00Z", 3),
    "2026-01-03 07:59 Asia/Shanghai": ("time:2026-01-02T23:59:00Z", 2),
    "2026-01-03T07:59:00+08:00": ("time:2026-01-02T23:59:00Z", 2),
    f"{START_MS + DAY_MS}": (f"time:{START_MS + DAY_MS}", 2),
    "watermark:250": ("watermark:250", 4),
    "latest~2": ("latest~2", 6),
    " latest ": ("latest", 8),
    "earliest": ("earliest", 1),
}


def test_every_kind_of_reference_is_read(open_page: Callable[..., Page], table: TableBuilder, heads: Heads) -> None:
    page = open_page("asof", table.root.parents[1], table=TITLE)
    for text, (point, number) in KINDS.items():
        assert version_picker.read(text, heads=heads) == point
        write(page, "pick.point", text)
        page.run()
        read = "" if text.strip() == point else f"{point} → "
        on = " on dev" if "dev" in text else ""
        assert f"{read}Snapshot{on} {number} · Append · 2026-01-" in page.text, text
        assert page.test.query_params["point"] in (text.strip(), [text.strip()])
    assert version_picker.read("2026-01-03 08:00", "Asia/Shanghai", heads) == "time:2026-01-03T00:00:00Z"
    assert version_picker.read("nothing", heads=heads) == "nothing"
    with pytest.raises(Invalid, match="is both a tag and a branch"):
        version_picker.read("both", heads=heads)


@pytest.mark.slow
def test_what_names_nothing_says_so_and_takes_nothing_else_along(
    open_page: Callable[..., Page], table: TableBuilder
) -> None:
    for page, name, rest in (
        ("asof", "point", "12 snapshots"),
        ("timeline", "point", words.CLICK_A_POINT),
        ("diff", "a", words.SWAP),
        ("query", "before", words.RUN),
        ("tags", "point", words.TAG_CREATE),
    ):
        shown = open_page(page, table.root.parents[1], table=TITLE, **{name: "99"})
        assert "Snapshot 99 is not retained. The nearest retained snapshot is 8." in shown.text, page
        assert rest in shown.text, page
        box = shown.test.selectbox(key=f"pick.{name}")
        box.set_value(words.PICK_NONE if words.PICK_NONE in box.options else words.LATEST)
        shown.run()
        assert "Snapshot 99" not in shown.text
        assert words.PICK_NONE not in box.options or name not in shown.test.query_params
    shown = open_page("asof", table.root.parents[1], table=TITLE, point="both")
    assert words.two_names("both") in shown.text
    assert words.two_names_next("both") in shown.text


def test_what_is_offered(heads: Heads, tmp_path: Path) -> None:
    """Branches, tags and snapshots are listed with id, kind, time in the zone, and age."""
    shown = version_picker.offered(heads, "Asia/Shanghai", NOW_MS)
    kinds = [key.split(":")[0] if ":" in key and "/" not in key else "end" if key.isalpha() else "id" for key in shown]
    first = {kind: kinds.index(kind) for kind in ("end", "branch", "tag", "id")}
    assert sorted(first, key=first.__getitem__) == ["end", "branch", "tag", "id"]
    assert shown["3"] == "3 · Append · 2026-01-03 08:00:00 CST · 18 days ago"
    assert shown["tag:v1"] == "⚑ v1 · 4 · Append · 2026-01-04 08:00:00 CST · 17 days ago"
    assert shown["branch:dev"].startswith("└ dev · 5 · Append · ")
    assert shown["branch:dev/tag:v1"].startswith("⚑ branch:dev/v1 · 4")
    assert set(version_picker.offered(heads, units.UTC, NOW_MS, heads.line("dev"))) == {
        *("latest", "earliest", "branch:dev", "branch:dev/tag:v1", "branch:dev/4", "branch:dev/5")
    }
    root = moved(PYICEBERG / "tags_branches", tmp_path / "lake" / "db" / "t")
    iceberg = open_table(str(root)).heads()
    for point in version_picker.offered(iceberg, units.UTC, NOW_MS):
        assert version_picker.read(point, heads=iceberg) == point
    many = TableBuilder(tmp_path / "w" / "shop.db" / "many")
    for _ in range(version_picker.LISTED + 5):
        many.commit([])
    ids = [
        key for key in version_picker.offered(open_table(str(many.root)).heads(), units.UTC, NOW_MS) if key.isdigit()
    ]
    assert (len(ids), ids[0], ids[-1]) == (version_picker.LISTED, str(version_picker.LISTED + 5), "6")


def test_a_form_about_one_branch_takes_points_of_that_branch(
    open_page: Callable[..., Page], table: TableBuilder
) -> None:
    """The choice for a change is not in the URL, unless it only fills in a form."""
    page = open_page("tags", table.root.parents[1], table=TITLE, branch="dev", form="rollback")
    write(page, "pick.point", "branch:main/7")
    page.run()
    assert words.elsewhere("main", "dev") in page.text
    write(page, "branches.rollback.point", "4")
    page.run()
    assert "Snapshot on dev 4 · Append" in page.text
    assert "rollback.point" not in str(page.test.query_params)


def test_a_version_of_a_branch_means_the_same_on_every_page(
    open_page: Callable[..., Page], table: TableBuilder
) -> None:
    """Tags reads `4` on the selected branch, other pages on main: the address names the branch before it is carried."""
    page = open_page("tags", table.root.parents[1], table=TITLE, branch="dev", point="4")
    assert page.test.query_params["point"] in ("branch:dev/4", ["branch:dev/4"])
    page.test.query_params.clear()  # like a click on the navigation
    page.test.switch_page("views/asof.py")
    page.run()
    assert "Snapshot on dev 4 · Append" in page.text


def test_the_first_click_of_a_comparison_keeps_the_chosen_version() -> None:
    assert version_picker.next_pair(None, "4", "2") == ("2", "4")


@pytest.mark.slow
def test_pages_about_the_table_as_it_is_now_say_so(open_page: Callable[..., Page], table: TableBuilder) -> None:
    for name, said in words.ACTS_NOW.items():
        for point, is_said in (("3", True), ("latest", False)):
            page = open_page(name, table.root.parents[1], table=TITLE, point=point)
            assert (said in page.text) is is_said, (name, point)
            assert page.test.button(key="frame.latest")
        assert said not in open_page(name, table.root.parents[1], table=TITLE).text


def test_a_box_that_says_what_none_means_says_nothing_else(open_page: Callable[..., Page], table: TableBuilder) -> None:
    page = open_page("query", table.root.parents[1], table=TITLE, ask="bisect")
    assert words.DETAIL_NONE not in page.text
    assert words.DETAIL_NONE in open_page("diff", table.root.parents[1], table=TITLE).text
