"""The dashboard's entry: `streamlit run dashboard/app.py` with the project installed, or `snapscope serve`."""

from __future__ import annotations

import streamlit as st

from dashboard import state
from dashboard.present import words
from dashboard.widgets import errors, frame


def main() -> None:
    """One run: find the page, take its address, draw the frame, draw the page, show what went wrong."""
    st.set_page_config(page_title=words.PRODUCT, page_icon=str(frame.MARK), layout="wide")
    frame.dress()
    pages = [
        st.Page(f"views/{name}.py", title=title, icon=icon, url_path=name, default=name == "overview")
        for name, (title, icon) in words.PAGES.items()
    ]
    page = st.navigation(pages, position="top")
    place = state.enter(page.url_path or "overview")
    frame.sidebar(place)
    with errors.boundary():
        page.run()


main()
