"""Runs the command line in this process and returns its exit status and its one JSON document."""

from __future__ import annotations

import contextlib
import io
import json
from typing import Any

from core.cli import main


def run(*words: object) -> tuple[int, Any]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(word) for word in words])
    assert "Traceback" not in err.getvalue()
    assert out.getvalue().count("\n") == 1, out.getvalue()
    document = json.loads(out.getvalue())
    done = document.get("receipt") or {"outcome": "done", "problems": []}
    is_success = "error" not in document and done["outcome"] == "done" and not done["problems"]
    assert (status == 0) == is_success, document
    return status, document
