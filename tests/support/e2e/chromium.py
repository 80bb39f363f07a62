"""The browser of the tests."""

from __future__ import annotations

import os
import shutil

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
    "--host-resolver-rules=MAP evil.example 127.0.0.1",  # a name that resolves to this machine
)


def browser() -> str | None:
    """Return `$SNAPSCOPE_CHROMIUM`, else Chromium or Chrome from the PATH; None if there is none."""
    names = (os.environ.get("SNAPSCOPE_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, filter(None, names))), None)
