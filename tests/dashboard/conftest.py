"""What tests of the dashboard share: the ten named states on disk, and a page opened without a browser."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from core.catalog import list_tables
from dashboard import background_jobs, permissions
from dashboard import data as loading
from dashboard import url_state as state
from tests.support.builders import STATES, State
from tests.support.places import ROOT

APP = ROOT / "dashboard" / "app.py"
PAGES = ("overview", "timeline", "asof", "diff", "files", "retention", "tags", "query")


@pytest.fixture(scope="session", autouse=True)
def scanned_once() -> Iterator[None]:
    """Streamlit looks through all installed packages for components, as often as a page is opened: here once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner, "scan_component_manifests", functools.cache(manifest_scanner.scan_component_manifests)
        )
        yield


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is remembered from another test, and no page starts Spark."""
    monkeypatch.setattr(permissions, "is_guarded", True)  # no server: nobody else can ask
    monkeypatch.setattr(background_jobs, "warms_up", False)
    monkeypatch.setattr(background_jobs, "_jobs", {})
    monkeypatch.delenv("SNAPSCOPE_WAREHOUSE", raising=False)
    st.cache_resource.clear()
    loading.forget_listings()
    yield
    st.cache_resource.clear()


def newest_job(kind: str) -> background_jobs.Job | None:
    """The newest job of a kind that this test started."""
    return max(
        (each for each in background_jobs._jobs.values() if each.kind == kind),
        key=lambda each: each.started_s,
        default=None,
    )


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The warehouse of a named state, built once; a state that changes after the first look is built anew."""
    kept: dict[str, Path] = {}

    def build(name: str) -> Path:
        state = STATES[name]
        if name not in kept or state.then is not None:
            kept[name] = tmp_path_factory.mktemp("state")
            state.build(kept[name])
        return kept[name]

    return build


@dataclass
class Page:
    """A page of the dashboard as AppTest runs it."""

    test: AppTest = field(repr=False)  # a page's whole tree in the words of a failed assertion takes gigabytes

    @property
    def text(self) -> str:
        """Everything a reader could read, without tags."""
        found = [unescape(re.sub(r"<[^>]+>", " ", each.proto.body)) for each in self.test.get("html")]
        for kind in (
            "markdown",
            "caption",
            "code",
            "button",
            "text_input",
            "selectbox",
            "multiselect",
            "toggle",
            "tabs",
        ):
            for each in self.test.get(kind):
                found += [str(getattr(each, name)) for name in ("label", "value") if getattr(each, name, None)]
        for frame in self.test.dataframe:
            found.append(frame.value.to_string())
        return re.sub(r"\s+", " ", " ".join(found))

    def run(self) -> Page:
        self.test.run()
        self.check()
        return self

    def check(self) -> None:
        """Nothing failed that nobody foresaw, and Streamlit shows no error box of its own."""
        assert not self.test.exception, [each.value for each in self.test.exception]
        assert "Snapscope itself failed" not in self.text, self.text
        assert not self.test.error, [each.value for each in self.test.error]

    def __getattr__(self, name: str) -> object:
        return getattr(self.test, name)


Open = Callable[..., Page]


@pytest.fixture
def open_page() -> Open:
    """Open a page of a warehouse by its address; `writes` is a reader who has switched changes on."""

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


__all__ = ["PAGES", "Open", "Page", "State", "newest_job"]
