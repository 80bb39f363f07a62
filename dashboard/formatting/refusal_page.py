"""The page whoever may not come in gets: plain HTML that loads nothing, says why, and what to open instead."""

from __future__ import annotations

from html import escape

from dashboard import words
from dashboard.formatting import language, markup

HOST, FOREIGN, SECRET = "host", "foreign", "secret"

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2733; --paper: #ffffff; --pale: #f2f4f7; --line: #d8dde5; --link: #2f5f96 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e2e7ef; --paper: #12161d; --pale: #1d232d; --line: #303947; --link: #8fbcf2 }
}
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 "Source Sans", "Source Sans Pro", system-ui, sans-serif }
main { max-width: 34rem; margin: 18vh auto 0; padding: 0 1.5rem }
h1 { font-size: 1.35rem; font-weight: 600; margin: 0 0 .6rem }
p { margin: 0 0 .8rem } small { opacity: .75 }
code { background: var(--pale); border: 1px solid var(--line); border-radius: .3rem; padding: .05rem .3rem;
  font: .9em ui-monospace, monospace; overflow-wrap: anywhere }
a { color: var(--link) }
"""


def page(why: str, host: str, own: str) -> str:
    """Why a request was refused. `host` is the name it asked for, `own` the one this server goes by."""
    said = {HOST: words.refused_host(host, own), FOREIGN: words.REFUSED_FOREIGN, SECRET: words.REFUSED_SECRET}[why]
    again = "" if why == HOST else f'<p><a href="">{escape(words.REFUSED_AGAIN)}</a></p>'
    body = "".join(f"<p>{markup.code(each)}</p>" for each in said)
    return (
        f'<!doctype html><html lang="{language.chosen()}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(words.PRODUCT)}</title><style>{_STYLE}</style></head>"
        f"<body><main><h1>{escape(words.REFUSED)}</h1>{body}{again}"
        f"<p><small>{escape(words.PRODUCT)} · 403</small></p></main></body></html>"
    )
