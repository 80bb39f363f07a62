"""What keeps people from reading a page, as axe-core finds it."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

GRAVE = ("serious", "critical")
AXE = {"resultTypes": ["violations"]}


def hurdles(page: Page) -> list[str]:
    """Return the accessibility violations that axe-core finds on the page in its current state."""
    page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')")
    page.add_style_tag(content="*, *::before, *::after { transition: none !important; animation: none !important }")
    found = Axe().run(page, options=AXE).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node['html'][:200]} {[why['message'] for why in node['any']][:1]}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]
