"""The command that adds a missing extra to this Python installation; no package index has a package named snapscope."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

EXTRAS: Mapping[str, str] = {  # URL protocols, and the extra of pyproject.toml that installs the package for each
    **dict.fromkeys(("s3", "s3a"), "s3"),
    **dict.fromkeys(("gs", "gcs"), "gcs"),
    **dict.fromkeys(("abfs", "abfss", "az", "adl"), "azure"),
    "oss": "oss",
    "hdfs": "hdfs",
}


def extra_command(extra: str) -> str:
    """The command that installs the packages of an extra, in compatible versions."""
    return install_command(*packages_of(extra))


def install_command(*packages: str) -> str:
    """The command that installs packages here, with pip or, where pip is missing (as in uv's environments), with uv."""
    installer = [sys.executable, "-m", "pip", "install"]
    if find_spec("pip") is None:
        installer = ["uv", "pip", "install", "--python", sys.executable]
    return shlex.join([*installer, *packages])


def packages_of(extra: str) -> tuple[str, ...]:
    """The requirements of an extra according to our own metadata; in a source tree that is not installed, the extra."""
    try:
        listed = requires("snapscope") or []
    except PackageNotFoundError:
        return (f".[{extra}]",)
    return tuple(
        package.strip()
        for package, _, marker in (each.partition(";") for each in listed)
        if re.search(rf"extra == ['\"]{extra}['\"]", marker)
    )
