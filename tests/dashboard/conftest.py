"""Fixtures of the dashboard tests: the ten named states on disk, and a page opened without a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from core.catalog import list_tables
from dashboard import background_jobs, permissions
from dashboard import data as loading
from dashboard import url_state as state
from tests.support.builders import STATES
from tests.support.dashboard.pages import APP, Open, Page

PAGES = ("overview", "timeline", "asof", "diff", "files", "retention", "tags", "query")


@pytest.fixture(scope="session", autouse=True)
def components_are_our_own() -> Iterator[None]:
    """Streamlit searches all installed packages for components, for seconds and whenever a page is opened; ours are in
    none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", list)
        yield


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is kept from other tests, and no page starts Spark."""
    monkeypatch.setattr(permissions, "is_guarded", True)  # there is no server that others could reach
    monkeypatch.setattr(background_jobs, "warms_up", False)
    monkeypatch.setattr(background_jobs, "_jobs", {})
    monkeypatch.delenv("SNAPSCOPE_WAREHOUSE", raising=False)
    st.cache_resource.clear()
    loading.forget_listings()
    yield
    st.cache_resource.clear()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The warehouse of a named state, built once; a state that changes after the first view is rebuilt."""
    kept: dict[str, Path] = {}

    def build(name: str) -> Path:
        state = STATES[name]
        if name not in kept or state.then is not None:
            kept[name] = tmp_path_factory.mktemp("state")
            state.build(kept[name])
        return kept[name]

    return build


@pytest.fixture
def open_page() -> Open:
    """Open a page of a warehouse by its URL; `writes` is a reader who has allowed changes."""

    def opened(page: str, warehouse: Path | str | None, *, writes: bool = False, **address: str) -> Page:
        test = AppTest.from_file(str(APP), default_timeout=300)
        if writes:
            test.session_state[permissions.key(list_tables(str(warehouse)))] = True
        if warehouse is not None:
            test.query_params["warehouse"] = str(warehouse)
            test.session_state[state.CONFIRMED] = (str(warehouse),)
        for name, value in address.items():
            test.query_params[name] = value
        if page != "overview":
            test.switch_page(f"views/{page}.py")
        return Page(test).run()

    return opened
