"""The command line: the same questions, plans and changes as the dashboard, for terminals and scripts.

`--json` prints exactly one JSON document, errors included; the exit status is 0 only on success. Importing this imports
nothing, so that Ctrl-C is answered from the first moment on; `group` is the tree of all commands.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    try:
        status: int = importlib.import_module("core.cli.dispatch").run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()  # a reader that has left is told here, not while the interpreter ends
        return status
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def group() -> Any:
    """The click group that holds every command."""
    return importlib.import_module("core.cli.commands").group()
