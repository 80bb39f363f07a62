"""The Query page in a real browser: names inserted by a click, pages, a chart, files, Back, bisect."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from playwright.sync_api import expect

from dashboard import words
from tests.support.e2e.hurdles import hurdles
from tests.support.e2e.reader import Reader

TABLE = "sales.orders"
LONG = 300_000


def test_a_question_its_answer_and_the_way_back(reader: Callable[..., Reader]) -> None:
    me = reader().open(f"query?table={TABLE}").unhurried()
    page = me.page
    sql = page.get_by_role("textbox", name=words.SQL)
    # an example fills the editor through the address; a click on a column writes its name at the cursor
    page.get_by_role("button", name=words.EXAMPLES["count"], exact=True).click()
    expect(sql).to_have_value(re.compile("GROUP BY dt"))
    sql.fill("SELECT , amount AS paid FROM t ORDER BY 1 LIMIT 700")
    sql.evaluate("box => box.setSelectionRange(7, 7)")
    page.get_by_role("button", name="order_id", exact=True).click()
    expect(sql).to_have_value("SELECT order_id, amount AS paid FROM t ORDER BY 1 LIMIT 700")
    sql.press("Control+Enter")
    expect(page.get_by_text(re.compile(r"^700 rows as of \d+; read \d+ of \d+ current files"))).to_be_visible(
        timeout=LONG
    )
    expect(page.get_by_text("1 to 500 of 700 rows (all rows)")).to_be_visible()
    page.get_by_role("button", name=words.LATER_ROWS).click()
    expect(page.get_by_text("501 to 700 of 700 rows (all rows)")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name=words.DOWNLOAD_PARQUET).click()
    rows = pq.read_table(io.BytesIO(Path(download.value.path()).read_bytes()))
    assert (rows.num_rows, str(rows.schema.field("paid").type)) == (700, "decimal128(12, 2)")
    page.get_by_role("radio", name=words.ANSWER_VIEWS["chart"]).or_(
        page.get_by_role("button", name=words.ANSWER_VIEWS["chart"])
    ).first.click()
    expect(page.locator(".js-plotly-plot .trace").first).to_be_attached()
    expect(page).to_have_url(re.compile("chart=.*line.*order_id.*paid"))
    me.settled().check()
    # another point puts the answer away
    page.goto(page.url + "&point=12")
    me.settled()
    expect(page.get_by_text(re.compile(r"^700 rows as of"))).to_have_count(0)
    # what was asked leads back
    page.goto(f"{me.home}query?table={TABLE}&ask=history")
    me.settled()
    me.choose_row(0)
    expect(sql).to_have_value("SELECT order_id, amount AS paid FROM t ORDER BY 1 LIMIT 700")
    me.check()


def test_one_statement_at_two_versions_typed_with_completion(reader: Callable[..., Reader]) -> None:
    me = reader(width=900).open(f"query?table={TABLE}&point=12&before=11&seconds=300")
    page, keys = me.page, me.page.keyboard
    sql = page.get_by_role("textbox", name=words.SQL)
    expect(page.locator("pre.snap-sql-ink")).to_contain_text("SELECT")  # from then on it completes
    sql.press("Control+a")
    keys.type("sel")
    expect(page.get_by_role("listbox", name=words.COMPLETIONS).get_by_role("option")).to_have_count(1)
    keys.press("Tab")
    keys.type(" dt, COU")
    keys.press("ArrowDown")
    keys.press("Enter")
    keys.type("(*) AS n FROM t GROUP BY dt")
    expect(sql).to_have_value("select dt, count(*) AS n FROM t GROUP BY dt")
    expect(page.locator(".snap-sql-function")).to_have_text("count")
    assert hurdles(page) == []
    keys.press("Control+Enter")
    expect(page.locator(".st-key-query_answer .snap-stat")).to_contain_text("Rows matched by dt", timeout=LONG)
    expect(page).to_have_url(re.compile("point=12&before=11&sql=.*&seconds=300"))
    # while the text is another one the answer is dimmed, and legible still; Tab leaves the editor
    sql.press("Control+End")
    keys.type(" -- later")
    expect(page.locator(".st-key-query_answer.snap-stale")).to_be_visible()
    assert hurdles(page) == []
    keys.press("Tab")
    expect(sql).not_to_be_focused()
    me.settled().check()


def test_since_when(reader: Callable[..., Reader]) -> None:
    me = reader(width=900, theme="dark").open(f"query?table={TABLE}&ask=bisect&from=20&to=24")
    page = me.page
    box = page.get_by_role("textbox", name=words.CONDITION)
    box.fill("count(*) > 0")
    box.press("Control+Enter")
    expect(page.locator(".snap-headline")).to_contain_text("Already true at 20, committed", timeout=LONG)
    expect(page.get_by_text("snapscope bisect")).to_be_visible()
    me.settled().check()
