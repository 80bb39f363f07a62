"""What this installation lacks, as the command that adds it to this very Python. No index has a package of our name."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

EXTRAS: Mapping[str, str] = {  # protocols of URLs, and the extra of pyproject.toml that brings the package for each
    **dict.fromkeys(("s3", "s3a"), "s3"),
    **dict.fromkeys(("gs", "gcs"), "gcs"),
    **dict.fromkeys(("abfs", "abfss", "az", "adl"), "azure"),
    "oss": "oss",
}


def extra_command(extra: str) -> str:
    """The command that installs what an extra brings, in the versions that fit."""
    return install_command(*packages_of(extra))


def install_command(*packages: str) -> str:
    """The command that installs packages here: by pip, or where that is missing (as in uv's environments), by uv."""
    installer = [sys.executable, "-m", "pip", "install"]
    if find_spec("pip") is None:
        installer = ["uv", "pip", "install", "--python", sys.executable]
    return shlex.join([*installer, *packages])


def packages_of(extra: str) -> tuple[str, ...]:
    """The requirements of an extra, as our own metadata says; the extra of a source tree that nobody installed."""
    try:
        listed = requires("snapscope") or []
    except PackageNotFoundError:
        return (f".[{extra}]",)
    return tuple(
        package.strip()
        for package, _, marker in (each.partition(";") for each in listed)
        if re.search(rf"extra == ['\"]{extra}['\"]", marker)
    )
