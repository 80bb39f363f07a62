"""The page shown for a rejected request: plain HTML without external resources that says why, and what to open
instead."""

from __future__ import annotations

from dashboard import words
from dashboard.formatting import language, markup

HOST, FOREIGN, SECRET = "host", "foreign", "secret"


def page(why: str, host: str, own: str) -> str:
    """Return the page that says why a request was rejected. `host` is the requested host name, `own` the name of this
    server."""
    lines = {HOST: words.refused_host(host, own), FOREIGN: words.REFUSED_FOREIGN, SECRET: words.REFUSED_SECRET}[why]
    return (
        markup.templates()
        .get_template("refusal_page.html")
        .render(
            lang=language.chosen(),
            product=words.PRODUCT,
            title=words.REFUSED,
            said=[markup.code(each) for each in lines],
            again="" if why == HOST else words.REFUSED_AGAIN,
        )
    )


def onward(to: str) -> str:
    """Return an empty page that navigates to a URL."""
    whole = markup.Html.escape(to)  # never shortened
    return markup.templates().get_template("onward_page.html").render(to=whole)
