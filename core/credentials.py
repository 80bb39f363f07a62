"""Credentials: read from where they are stored, and kept out of every message.

Invariant: whatever was read or lent here is left out of every text that passes through `masked`.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, quote_plus

from core.errors import Invalid
from core.messages import message

_SIGNED = re.compile(r"""(?i)(\b(?:sig|signature|x-amz-(?:signature|credential|security-token))=)[^&\s"']+""")
_USERS = re.compile(r"://[^\s/@:]*:(?!\d+/)[^\s@]*@")  # not a port
_IN_QUERIES = re.compile(
    r"""(?i)([?&;][\w.-]*(?:token|key|secret|passw|pwd|credential|delegation|sig|user)[\w.-]*=)[^&;\s"']+"""
)
_IN_ADDRESSES = re.compile(r"""(?i)([(,][\w.-]*(?:token|secret|passw|pwd|credential)[\w.-]*=)[^,)\s"']+""")
_SHORTEST = 4  # characters of a secret that is looked for in messages; a shorter one would blank out other text
_lock = threading.Lock()
_revealed: set[str] = set()


class Secret:
    """A credential that is read when it is used. Printing it shows only where it is stored."""

    __slots__ = ("_kind", "_path", "_text")

    def __init__(self, kind: str, text: str, path: str) -> None:
        self._kind, self._text, self._path = kind, text, path

    def __repr__(self) -> str:
        return f"Secret({'in the settings file' if self._kind == 'text' else f'{self._kind} {self._text}'})"

    def value(self) -> str:
        """Read it now. Raises `Invalid` for a variable that is not set, or a file that cannot be read."""
        found = self._text
        if self._kind == "env":
            found = os.environ.get(self._text, "").strip()
            if not found:
                raise Invalid(
                    "The settings file takes a credential from ${name}, which is not set.",
                    name=self._text,
                    path=self._path,
                    remedy="Set the variable where Snapscope is started.",
                )
        elif self._kind == "file":
            found = self._content()
        conceal(found)
        return found

    def _content(self) -> str:
        try:
            found = Path(self._text).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            why: object = error.strerror if isinstance(error, OSError) else message("it is not UTF-8 text")
            raise Invalid(
                "The settings file takes a credential from {file}, which cannot be read: {why}.",
                file=self._text,
                why=why,
                path=self._path,
                remedy="Create the file, readable by you, with nothing but the credential.",
            ) from error
        if not found:
            raise Invalid("The settings file takes a credential from {file}, which is empty.", file=self._text)
        return found


def conceal(secret: str) -> None:
    """Leave a secret that was read here, or that a catalog lent, out of all messages."""
    with _lock:
        _revealed.add(secret)


def masked(text: str) -> str:
    """A foreign text without any secret that was read here, and without the credentials of URLs."""
    with _lock:
        known = list(_revealed)
    return without(text, known)


def without(text: str, secrets: Iterable[str]) -> str:
    """A foreign text without these secrets, as they are or as clients show them, nor the credentials of URLs."""
    shown = {form for each in secrets for form in _forms(each) if len(form) >= _SHORTEST}
    for each in sorted(shown, key=len, reverse=True):
        text = text.replace(each, "…")
    text = _USERS.sub("://…@", text)
    for pattern in (_SIGNED, _IN_ADDRESSES, _IN_QUERIES):
        text = pattern.sub(r"\1…", text)
    return text


def _forms(secret: str) -> set[str]:
    bare = secret.strip()
    return {secret, bare, bare.encode("unicode_escape").decode("ascii"), quote(bare, safe=""), quote_plus(bare)}
