"""The entry point of the dashboard, run for every page. `snapscope serve` starts it, behind
`dashboard.request_guard`."""

from __future__ import annotations

import streamlit as st

from dashboard import permissions, url_state, words
from dashboard.components import breadcrumb, command_palette, demo_progress, errors, frame, open_location
from dashboard.components.changes import runs
from dashboard.components.table_tree import AWAY
from dashboard.data import given_names
from dashboard.formatting import language
from dashboard.url_state import UrlState
from dashboard.view_models import table_tree


def main() -> None:
    """Run one page: find it, read its URL, draw the frame and the page, show errors."""
    language.otherwise(url_state.language)
    language.choose(url_state.language())
    st.set_page_config(page_title=words.PRODUCT, page_icon=str(frame.MARK), layout="wide")
    frame.apply_style()
    if not permissions.is_guarded:
        open_location.unguarded()
        return
    home = "overview"  # served at "/"; a URL with its name redirects there
    pages = [
        st.Page(f"views/{name}.py", title=title, icon=icon, url_path="" if name == home else name, default=name == home)
        for name, (title, icon) in words.PAGES.items()
    ]
    pages.append(st.Page(_to_home, title=words.PAGES[home][0], url_path=home, visibility="hidden"))
    page = st.navigation(pages, position="top")
    place = url_state.enter(page.url_path or home)
    if url_state.language() != language.chosen():  # back to an address without one: the titles above are not in it
        st.rerun()
    if place.warehouse and not url_state.may_open(place.warehouse):
        open_location.ask(place.warehouse)
        return
    command_palette.follow(place)
    frame.sidebar(place)
    st.set_page_config(page_title=words.document_title(place.page, _subject(url_state.here())))
    breadcrumb.draw(url_state.here())
    demo_progress.draw(place)
    runs.draw()
    with errors.boundary():
        page.run()


def _subject(place: UrlState) -> str:
    """What a browser's tab is about: the table, or on the pages of a warehouse its name."""
    if place.table and place.page not in AWAY:
        return place.table
    return table_tree.names([place.warehouse], given_names())[0] if place.warehouse else ""


def _to_home() -> None:
    st.switch_page("views/overview.py", query_params=st.query_params.to_dict())


main()
