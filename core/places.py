"""Where Snapscope keeps its own files: logs and journals (state), decoded immutable files (cache).

Law: a path is named here, made by whoever writes to it, and never inside a table or the current directory.
"""

from __future__ import annotations

import os
from pathlib import Path


def state_dir() -> Path:
    """`$SNAPSCOPE_STATE`, else `~/.local/state/snapscope`. Not created here."""
    return _place("SNAPSCOPE_STATE", ".local/state/snapscope")


def cache_dir() -> Path:
    """`$SNAPSCOPE_CACHE`, else `~/.cache/snapscope`. Not created here."""
    return _place("SNAPSCOPE_CACHE", ".cache/snapscope")


def _place(variable: str, below_home: str) -> Path:
    named = os.environ.get(variable)
    return Path(named).expanduser().absolute() if named else Path.home() / below_home
