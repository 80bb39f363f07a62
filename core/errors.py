"""Every error Snapscope raises on purpose, grouped by what the reader can do about it.

    SnapscopeError
    ├── NotFound      the named thing is not there            → name another one
    ├── Invalid       the request itself cannot be carried out → change the request
    ├── Conflict      the table moved since the plan was shown → look again, confirm again
    ├── Corrupt       a file is unreadable or contradicts another → repair or drop what needs it
    └── Unsupported   right answers cannot be given here       → use the engine named in the message

Law: unknown is not empty. Whoever cannot read something raises one of these; nobody returns nothing instead.
"""

from __future__ import annotations

from core.messages import both, literal, told


class SnapscopeError(Exception):
    """Base of all. `message` is one or more full sentences: what, where, what was expected, what to do next.

    `message` is a literal, a template if `values` are given, or `told`; so is the remedy: other languages know them.
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
    """A table, snapshot, tag, branch or file that was asked for by name does not exist."""


class Invalid(SnapscopeError):
    """The request contradicts itself or a rule; nothing was changed."""


class Conflict(SnapscopeError):
    """The table is no longer what the plan was made from; nothing more was changed."""


class Corrupt(SnapscopeError):
    """A metadata file could not be read, or says something impossible."""


class Unsupported(SnapscopeError):
    """The table uses something for which a right answer cannot be promised."""
