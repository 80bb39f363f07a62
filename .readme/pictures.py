"""Pictures for the README: the main pages on the demo, light and dark. `make pictures` runs it.

    python .readme/pictures.py WAREHOUSE [DIRECTORY]

Chromium or Chrome on the PATH draws them (or `$SNAPSCOPE_CHROMIUM`), each in a window of 1280 by 860.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from dashboard import words
from tests.support.e2e.chromium import ARGUMENTS, browser
from tests.support.e2e.reader import PATIENCE_MS, Reader
from tests.support.e2e.server import served

SQL = "select channel, count(*) as orders, round(sum(amount)) as revenue from t group by 1 order by 3 desc"
VIEWS = {
    "retention": "keep_max=12",
    "timeline": "point=31",
    "diff": "a=33&b=35",
    "files": "point=latest",
    "query": f"point=latest&sql={SQL}",
}
MOST_BYTES = 300_000


def main(warehouse: str, directory: str = str(Path(__file__).parent)) -> None:
    with tempfile.TemporaryDirectory() as own, sync_playwright() as playwright:
        os.environ["SNAPSCOPE_STATE"] = own  # the pictures show no recent tables, no queries of yesterday
        with served(Path(warehouse), Path(own) / "hold") as home:
            running = playwright.chromium.launch(executable_path=browser(), args=list(ARGUMENTS))
            for theme in ("light", "dark"):
                page = running.new_page(viewport={"width": 1280, "height": 860}, color_scheme=theme)
                page.set_default_timeout(PATIENCE_MS)
                for name, view in VIEWS.items():
                    _take(Reader(page, home, None), name, view, Path(directory) / f"{name}-{theme}.png")
            running.close()


def _take(me: Reader, name: str, view: str, target: Path) -> None:
    me.open(f"{name}?table=sales.orders&{view}")
    if name == "query":
        me.unhurried()
        me.page.get_by_role("button", name=words.RUN, exact=True).click()
        me.page.get_by_test_id("stDataFrame").first.wait_for(timeout=300_000)
        me.settled()
    if name in ("retention", "timeline", "diff"):
        me.page.wait_for_selector(".js-plotly-plot .scatterlayer .trace", state="attached")
    me.page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')")
    me.check()
    me.page.mouse.move(0, 0)
    me.page.screenshot(path=target, animations="disabled")
    size = target.stat().st_size
    assert size < MOST_BYTES, f"{target} has {size} bytes"
    sys.stdout.write(f"{target} {size / 1000:.0f} kB\n")


main(*sys.argv[1:])
