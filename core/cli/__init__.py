"""The command line: the same questions, plans and changes as the dashboard, for terminals and scripts.

`--json` prints exactly one JSON document, errors included; the exit status is 0 only on success. Importing this module
imports nothing else, so that Ctrl-C works from the first moment; `group` is the tree of all commands.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # of a write to the output


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        status: int = importlib.import_module("core.cli.dispatch").run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()  # report a closed pipe here, not while the interpreter exits
        return status
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has exited
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        if error.filename is not None or error.errno not in _FULL:
            raise
        print(f"snapscope: error: The output cannot be written: {error.strerror}.", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def group() -> Any:
    """Return the click group that contains every command."""
    return importlib.import_module("core.cli.commands").group()
