"""Access: refused requests, and the question before a page opens a location."""

from __future__ import annotations

REFUSED = "Access refused"
REFUSED_SECRET: tuple[str, ...] = (
    "Open the address that `snapscope serve` printed when it started: it ends in `?token=…`. This browser then stays "
    "signed in until it is closed, or the server stops.",
    "Each start prints a new address; an older one no longer works.",
)
REFUSED_FOREIGN: tuple[str, ...] = (
    "This request came from another website or program.",
    "If you followed a link, open it again from here. No address changes a table.",
)
REFUSED_AGAIN = "Open this address again"


def refused_host(host: str, own: str) -> tuple[str, ...]:
    asked = f"`{host}`" if host else "no host"
    return (
        f"This server only answers to `{own}`; the request was for {asked}.",
        "Open the address that `snapscope serve` printed. If its port is forwarded, start it with "
        "`--allow-host NAME:PORT`, as shown in your browser's address bar.",
    )


UNGUARDED = "Start the dashboard with snapscope serve"
UNGUARDED_NEXT = (
    "This server was started by `streamlit run`, so any website open in this browser could use it. Stop it and run "
    "`snapscope serve PLACE`, which prints an address with a secret."
)

OPEN_TITLE = "Open this location?"
OPEN_WHY = (
    "This server was not started with the location that this link names. Nothing has been read from it yet. Opening it "
    "uses the files and credentials of whoever runs this server: open it only if you trust the link."
)
OPEN_INSTEAD = "Go to the served warehouse"


def open_place(place: str) -> str:
    return f"Open {place}"
