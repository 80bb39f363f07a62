"""Every error that Snapscope raises on purpose, grouped by what the reader can do about it.

    SnapscopeError
    ├── NotFound      the named thing does not exist          → name another one
    ├── Invalid       the request itself is impossible        → change the request
    ├── Conflict      the table changed since the plan        → plan again, confirm again
    ├── Corrupt       a file is unreadable or contradictory   → repair or delete what needs it
    └── Unsupported   correct answers cannot be given here    → use the engine named in the message

Invariant: unknown is not empty. Code that cannot read something raises one of these; it never returns an empty result.
"""

from __future__ import annotations

from core.messages import both, literal, told


class SnapscopeError(Exception):
    """Base of all. `message` is one or more full sentences: what, where, what was expected, what to do next.

    `message` and the remedy are literals, templates if `values` are given, or `told`, so that they can be translated.
    """

    def __init__(self, message: str, *, path: str | None = None, remedy: str | None = None, **values: object) -> None:
        self.message = told(message, **values) if values else literal(message)
        super().__init__(self.message)
        self.path = path
        self.remedy = remedy and literal(remedy)

    @property
    def kind(self) -> str:
        """The class name, as printed in JSON errors."""
        return type(self).__name__

    def __str__(self) -> str:
        text = self.message
        if self.path:
            text = both(text, told("File: {path}.", path=self.path))
        return both(text, self.remedy) if self.remedy else text


class NotFound(SnapscopeError):
    """A table, snapshot, tag, branch or file given by name does not exist."""


class Invalid(SnapscopeError):
    """The request contradicts itself or a rule; nothing was changed."""


class Conflict(SnapscopeError):
    """The table is no longer as it was when the plan was made; nothing more was changed."""


class Corrupt(SnapscopeError):
    """A metadata file could not be read, or contains something impossible."""


class Unsupported(SnapscopeError):
    """The table uses something for which a correct answer cannot be guaranteed."""
