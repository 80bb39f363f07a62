"""Opens a page of the dashboard without a browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from html import unescape

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from dashboard import background_jobs
from tests.support.places import ROOT

APP = ROOT / "dashboard" / "app.py"


def newest_job(kind: str) -> background_jobs.Job | None:
    """Return the newest job of a kind that this test started."""
    return max(
        (each for each in background_jobs._jobs.values() if each.kind == kind),
        key=lambda each: each.started_s,
        default=None,
    )


@dataclass
class Page:
    """A page of the dashboard, run by AppTest."""

    test: AppTest = field(repr=False)  # the repr of a whole page tree in a failed assertion would take gigabytes

    @property
    def text(self) -> str:
        """Return all text that a reader can see, without tags."""
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

    def at(self, **address: str) -> Page:
        """Change parameters of the URL, and run the page."""
        for name, value in address.items():
            self.test.query_params[name] = value
        return self.run()

    def fill_in(self, form: str, inputs: Iterable[tuple[str, str, object]]) -> None:
        """Open a form of a branch, fill in its inputs (kind, end of the key, value), and run the page."""
        self.at(form=form)
        for kind, part, value in inputs:
            getattr(self.test, kind)(key=f"branches.{form}{part}").set_value(value)
        self.run()

    def check(self) -> None:
        """Check that there was no unexpected error and that Streamlit shows no error box of its own."""
        assert not self.test.exception, [each.value for each in self.test.exception]
        failed = [each.proto.body for each in self.test.get("html") if "Snapscope itself failed" in each.proto.body]
        assert not failed, (failed, self.text)
        assert not self.test.error, [each.value for each in self.test.error]

    def __getattr__(self, name: str) -> object:
        return getattr(self.test, name)


Open = Callable[..., Page]


def carrying_out(page: Page, kind: str = "Expire") -> Button:
    (found,) = (each for each in page.test.button if str(each.key).startswith(f"carry_out.{kind}."))
    return found
