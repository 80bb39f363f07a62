"""A real server, a real browser, and the demo warehouse built by our own Spark pipeline."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.support.e2e.chromium import ARGUMENTS
from tests.support.e2e.reader import PATIENCE_MS, Reader
from tests.support.e2e.server import served


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, headless=True, args=list(ARGUMENTS))
        yield running
        running.close()


@pytest.fixture(scope="session")
def own_demo(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo for tests that change it, each something else. Iceberg's metadata contains absolute paths, so
    the copy has no Iceberg table."""
    copy = tmp_path_factory.mktemp("changed") / "demo"
    return Path(shutil.copytree(demo, copy, ignore=shutil.ignore_patterns("orders_iceberg")))


@pytest.fixture(scope="session")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that tells the server whether writers still have time: see tests/e2e/serving.py."""
    return tmp_path_factory.mktemp("hold") / "hold"


@pytest.fixture
def hold(held: Path) -> Iterator[Path]:
    """While this file exists, every run waits for writers before it deletes files."""
    held.touch()
    yield held
    held.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def home(demo: Path, held: Path) -> Iterator[str]:
    """The URL, with its secret, of the only server, which serves the demo; other warehouses are named in the URL."""
    with served(demo, held) as address:
        yield address


@pytest.fixture
def reader(browser: Browser, home: str) -> Iterator[Callable[..., Reader]]:
    """A browser window of a given width and theme, on the demo or on another warehouse."""
    contexts = []

    def look(width: int = 1440, theme: str = "light", height: int = 900, *, warehouse: Path | None = None) -> Reader:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        return Reader(page, home, warehouse)

    yield look
    for context in contexts:
        context.close()
