"""Files in a real browser: from the treemap into a partition, to a file and its lifetime, and back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from dashboard import words
from tests.support.builders import DAY_MS, TableBuilder
from tests.support.e2e.reader import Reader


def test_from_the_map_to_a_life(tmp_path: Path, reader: Callable[..., Reader]) -> None:
    made = TableBuilder(
        tmp_path / "w" / "shop.db" / "orders",
        columns=(("id", "BIGINT"), ("dt", "STRING")),
        partition_keys=("dt",),
        step_ms=DAY_MS,
    )
    for day in ("2026-01-01", "2026-01-02"):
        made.commit([made.file(size, partition=(day,)) for size in (9_000, 1_000)])
    me = reader(900, "dark", warehouse=tmp_path / "w").open("files?table=shop.orders")
    page = me.page

    def click_first_box() -> None:
        me.settled()
        box = page.locator(".js-plotly-plot .barlayer path").first
        box.scroll_into_view_if_needed()
        at = box.bounding_box()
        assert at is not None
        page.mouse.click(at["x"] + 12, at["y"] + 12)

    click_first_box()
    expect(page).to_have_url(re.compile(r"folder=dt%3D2026-01-0[12]$"))
    click_first_box()
    expect(page).to_have_url(re.compile(r"folder=dt%3D2026-01-0[12]%2Fbucket-0$"))
    click_first_box()
    expect(page).to_have_url(re.compile(r"file=dt%3D2026-01-0[12]%2Fbucket-0%2Fdata-.*parquet$"))
    expect(page.get_by_text(words.LIFE_STILL_LIVE)).to_be_visible()
    me.settled().check()
    page.get_by_role("button", name=words.CLOSE_FILE).click()
    expect(page).to_have_url(re.compile(r"bucket-0$"))
    page.get_by_role("button", name="orders", exact=True).last.click()
    expect(page).to_have_url(re.compile(r"table=shop.orders$"))
    me.settled().check()
