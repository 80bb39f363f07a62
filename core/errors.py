"""Every error that Snapscope raises on purpose, grouped by what the reader can do about it.

    SnapscopeError
    ├── NotFound      the named thing does not exist          → name another one
    ├── Invalid       the request itself is impossible        → change the request (TimedOut: or raise its limit)
    ├── Conflict      the table changed since the plan        → plan again, confirm again
    ├── Corrupt       a file is unreadable or contradictory   → repair or delete what needs it
    └── Unsupported   correct answers cannot be given here    → use the engine named in the message

Every error also has a `code`, by which programs decide. Codes are only ever added and never change their meaning. An
error for which `ErrorCode` has nothing narrower has the code of its class.

Invariant: unknown is not empty. Code that cannot read something raises one of these; it never returns an empty result.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from core.messages import both, literal, message


class ErrorCode(StrEnum):
    """What went wrong, for programs: `error.code` in Python, `code` in JSON errors."""

    ERROR = "error"

    NOT_FOUND = "not-found"
    NO_TABLE = "no-such-table"
    NO_BRANCH = "no-such-branch"
    NO_TAG = "no-such-tag"
    NO_SNAPSHOT = "no-such-snapshot"  # it expired or never existed
    NO_SNAPSHOT_THEN = "no-snapshot-then"  # no version of that time or watermark exists any more

    INVALID = "invalid"
    USAGE = "usage"  # the command line cannot be parsed
    NOT_A_VERSION = "not-a-version"
    NOT_A_TIME = "not-a-time"
    AMBIGUOUS_TIME = "ambiguous-time"
    NAME_TAKEN = "name-taken"
    NOTHING_TO_DO = "nothing-to-do"
    NOT_CONFIRMED = "not-confirmed"

    CONFLICT = "conflict"
    PLAN_OUTDATED = "plan-outdated"  # plan again
    UNFINISHED_RUN = "unfinished-run"  # resume or undo it first
    TABLE_LOCKED = "table-locked"  # another change is running; try again

    CORRUPT = "corrupt"

    UNSUPPORTED = "unsupported"
    EXTRA_MISSING = "extra-missing"  # the message has the command that installs it


class SnapscopeError(Exception):
    """Base of all. `text` is one or more full sentences: what, where, what was expected, what to do next.

    `code` is for programs. The text and the remedy are literals, templates if `values` are given, or made by `message`,
    so that they can be translated.
    """

    usual: ClassVar[ErrorCode] = ErrorCode.ERROR

    def __init__(
        self,
        text: str,
        /,
        *,
        path: str | None = None,
        remedy: str | None = None,
        code: ErrorCode | None = None,
        **values: object,
    ) -> None:
        self.message = message(text, **values) if values else literal(text)
        super().__init__(self.message)
        self.path = path
        self.remedy: str | None = remedy and literal(remedy)
        self.code = code or self.usual

    @property
    def kind(self) -> str:
        """The class name, as printed in JSON errors."""
        return type(self).__name__

    def __str__(self) -> str:
        text = self.message
        if self.path:
            text = both(text, message("File: {path}.", path=self.path))
        return both(text, self.remedy) if self.remedy else text


class NotFound(SnapscopeError):
    """A table, snapshot, tag, branch or file given by name does not exist."""

    usual = ErrorCode.NOT_FOUND


class Invalid(SnapscopeError):
    """The request contradicts itself or a rule; nothing was changed."""

    usual = ErrorCode.INVALID


class TimedOut(Invalid):
    """The request did not end within its time limit. To programs it is an Invalid like others."""

    kind = Invalid.__name__


class Conflict(SnapscopeError):
    """The table is no longer as it was when the plan was made; nothing more was changed."""

    usual = ErrorCode.CONFLICT


class Corrupt(SnapscopeError):
    """A metadata file could not be read, or contains something impossible."""

    usual = ErrorCode.CORRUPT


class Unsupported(SnapscopeError):
    """The table uses something for which a correct answer cannot be guaranteed."""

    usual = ErrorCode.UNSUPPORTED


class DoesNotFit(Unsupported):
    """Answering takes more memory than there is. To programs it is an Unsupported like others."""

    kind = Unsupported.__name__
