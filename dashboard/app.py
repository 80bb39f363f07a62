"""What every page of the dashboard begins with. `snapscope serve` runs it, behind `dashboard.request_guard`."""

from __future__ import annotations

import streamlit as st

from dashboard import permissions, url_state, words
from dashboard.components import breadcrumb, errors, frame, open_location
from dashboard.formatting import language


def main() -> None:
    """One run: find the page, take its address, draw the frame, draw the page, show what went wrong."""
    language.otherwise(url_state.language)
    language.choose(url_state.language())
    st.set_page_config(page_title=words.PRODUCT, page_icon=str(frame.MARK), layout="wide")
    frame.apply_style()
    if not permissions.is_guarded:
        open_location.unguarded()
        return
    home = "overview"  # served at "/"; its name as an address leads there
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
    frame.sidebar(place)
    breadcrumb.draw(url_state.here())
    with errors.boundary():
        page.run()


def _to_home() -> None:
    st.switch_page("views/overview.py", query_params=st.query_params.to_dict())


main()
