"""The page that a refused request gets: plain HTML that loads nothing, says why, and what to open instead."""

from __future__ import annotations

from dashboard import words
from dashboard.formatting import language, markup

HOST, FOREIGN, SECRET = "host", "foreign", "secret"


def page(why: str, host: str, own: str) -> str:
    """Why a request was refused. `host` is the name it asked for, `own` the one this server goes by."""
    said = {HOST: words.refused_host(host, own), FOREIGN: words.REFUSED_FOREIGN, SECRET: words.REFUSED_SECRET}[why]
    return (
        markup.templates()
        .get_template("refusal_page.html")
        .render(
            lang=language.chosen(),
            product=words.PRODUCT,
            title=words.REFUSED,
            said=[markup.code(each) for each in said],
            again="" if why == HOST else words.REFUSED_AGAIN,
        )
    )


def onward(to: str) -> str:
    """An empty page that leads on to an address."""
    whole = markup.Html.escape(to)  # however long it is
    return markup.templates().get_template("onward_page.html").render(to=whole)
