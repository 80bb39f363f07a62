"""Actions that can be planned: frozen requests, validated against a table's references. Pure.

Invariant: a request that contradicts itself or names something that does not exist is `Invalid` before planning starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, get_args

from core.errors import ErrorCode, Invalid
from core.model import version_lists
from core.model.ref_names import refuse_name, tags_there
from core.model.references import MAIN, Line, Tag


class Action:
    """Properties and defaults common to all actions; each subclass overrides those in which it differs."""

    __slots__ = ()

    is_harmless: ClassVar[bool] = False  # deletes nothing, so one click is enough to confirm it
    names_a_reference: ClassVar[bool] = False  # only repoints a name and frees no file, so runs do not wait for writers
    is_expiry: ClassVar[bool] = False  # of snapshots or changelogs, by a policy
    deletes_files: ClassVar[bool] = False  # its receipt counts deleted files and compares them with the plan
    is_of_tags: ClassVar[bool] = False
    makes_a_tag: ClassVar[bool] = False

    @classmethod
    def expires(cls, point: str) -> bool:
        """Whether a version that this action removes expires; otherwise it is deleted, as tags and branches are."""
        return cls.is_expiry and not version_lists.is_tag(point) and not version_lists.is_branch(point)

    @property
    def new_tag(self) -> str | None:
        """The name of the tag that the action creates, or None."""
        return None

    @property
    def old_tag(self) -> str | None:
        """The name that a tag loses, or None."""
        return None

    @property
    def set_tag(self) -> str | None:
        """The tag, new or existing, that the action points at a snapshot, or None."""
        return None


@dataclass(frozen=True, slots=True)
class Expire(Action):
    """Expire snapshots of a branch. None means the table's own option or, failing that, the engine's default; without
    `max_deletes` and the option `snapshot.expire.limit`, everything that may expire does.

    `changelogs_only` expires long-lived changelogs instead. Any changelog_* value (or table options that keep
    changelogs longer than snapshots) makes an expired snapshot leave its changelog behind.
    """

    is_expiry: ClassVar[bool] = True
    deletes_files: ClassVar[bool] = True

    branch: str = MAIN
    retain_max: int | None = None
    retain_min: int | None = None
    time_retained_ms: int | None = None
    older_than_ms: int | None = None
    max_deletes: int | None = None
    rules: str = "newest"
    changelog_retain_max: int | None = None
    changelog_retain_min: int | None = None
    changelog_time_retained_ms: int | None = None
    changelogs_only: bool = False
    drop_tags: tuple[str, ...] = ()
    snapshots: tuple[int, ...] = ()  # expire exactly these, whatever the policy; they must be the oldest ones
    expired_tags: bool = False  # also tags whose own retention has passed by this machine's wall clock
    tags_older_than_ms: int | None = None  # also tags created before this


@dataclass(frozen=True, slots=True)
class DeleteTags(Action):
    """Delete these tags of a branch, and every file that only they hold."""

    deletes_files: ClassVar[bool] = True
    is_of_tags: ClassVar[bool] = True

    names: tuple[str, ...]
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class CreateTag(Action):
    """Tag a retained snapshot (default: the newest) so that it stays readable.

    `retained_ms`: the engine's TTL for the tag. `verified`: after creating the tag, check that every file of the
    snapshot exists, and delete the tag again if one is missing.
    """

    is_harmless: ClassVar[bool] = True
    names_a_reference: ClassVar[bool] = True
    is_of_tags: ClassVar[bool] = True
    makes_a_tag: ClassVar[bool] = True

    name: str
    snapshot_id: int | None = None
    retained_ms: int | None = None
    branch: str = MAIN
    verified: bool = False

    @property
    def new_tag(self) -> str | None:
        return self.name

    @property
    def set_tag(self) -> str | None:
        return self.name


@dataclass(frozen=True, slots=True)
class ReplaceTag(Action):
    """Move an existing tag to another retained snapshot; files that only the old snapshot held are freed."""

    deletes_files: ClassVar[bool] = True
    is_of_tags: ClassVar[bool] = True

    name: str
    snapshot_id: int | None = None
    retained_ms: int | None = None
    branch: str = MAIN

    @property
    def set_tag(self) -> str | None:
        return self.name


@dataclass(frozen=True, slots=True)
class RenameTag(Action):
    """Rename a tag; its file content, and therefore its age, stays the same."""

    is_harmless: ClassVar[bool] = True
    names_a_reference: ClassVar[bool] = True
    is_of_tags: ClassVar[bool] = True

    name: str
    to: str
    branch: str = MAIN

    @property
    def new_tag(self) -> str | None:
        return self.to

    @property
    def old_tag(self) -> str | None:
        return self.name


@dataclass(frozen=True, slots=True)
class CreateBranch(Action):
    """Create a branch from a snapshot or tag (`point`).

    Without `point`: Iceberg branches from the newest snapshot of `branch`; Paimon creates a branch with schemas only.
    The retention fields (`min_snapshots`, `max_snapshot_age_ms`, `max_ref_age_ms`) apply to Iceberg only.
    """

    is_harmless: ClassVar[bool] = True
    names_a_reference: ClassVar[bool] = True

    name: str
    point: str | None = None
    min_snapshots: int | None = None
    max_snapshot_age_ms: int | None = None
    max_ref_age_ms: int | None = None
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class ReplaceBranch(Action):
    """Move an Iceberg branch to another snapshot or change its retention; None leaves a setting as it is."""

    names_a_reference: ClassVar[bool] = True

    name: str
    point: str | None = None
    min_snapshots: int | None = None
    max_snapshot_age_ms: int | None = None
    max_ref_age_ms: int | None = None
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class RenameBranch(Action):
    """Rename a branch."""

    is_harmless: ClassVar[bool] = True
    names_a_reference: ClassVar[bool] = True

    name: str
    to: str
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class DeleteBranches(Action):
    deletes_files: ClassVar[bool] = True

    names: tuple[str, ...]
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class FastForward(Action):
    """Fast-forward `branch` to the branch `name`."""

    names_a_reference: ClassVar[bool] = True

    name: str
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class Rollback(Action):
    """Roll a branch back to a snapshot or tag.

    Iceberg: to an ancestor of the branch's head or, with `any_line`, to any snapshot. Paimon: by a new commit with the
    old content or, with `destructive`, by removing every later snapshot and tag.
    """

    names_a_reference: ClassVar[bool] = True

    point: str
    destructive: bool = False
    any_line: bool = False
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class ResetConsumer(Action):
    """Set a Paimon consumer's next snapshot to a retained one; None deletes the consumer."""

    name: str
    next_snapshot: int | None = None
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class ClearConsumers(Action):
    """Delete Paimon consumers whose whole name matches `including` (None: any) and does not match `excluding`."""

    including: str | None = None
    excluding: str | None = None
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class CleanOrphans(Action):
    """Delete files that no version of any branch references and that were last written before `older_than_ms`.

    In partitions that no snapshot or tag mentions, only the directories named in `also` are cleaned.
    """

    deletes_files: ClassVar[bool] = True

    older_than_ms: int
    branch: str = MAIN
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DropPartitions(Action):
    """Delete all rows of these partitions of a Paimon branch by a commit.

    Each partition is given by some or all of its keys: `dt=2026-11-01,region=EU`.
    """

    partitions: tuple[str, ...]
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class Truncate(Action):
    """Delete all rows of a Paimon branch by a commit."""

    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class Compact(Action):
    """Rewrite many small files of a Paimon branch into few large ones by a commit; rows do not change.

    Append tables: at least `min_files` small files are compacted into one (None: the table's option).
    """

    is_harmless: ClassVar[bool] = True

    branch: str = MAIN
    partitions: tuple[str, ...] = ()
    min_files: int | None = None


@dataclass(frozen=True, slots=True)
class Analyze(Action):
    """Count a Paimon branch's rows, compute statistics of `columns` (None: all), and commit both."""

    is_harmless: ClassVar[bool] = True

    branch: str = MAIN
    columns: tuple[str, ...] | None = ()


OfCommits = DropPartitions | Truncate | Compact | Analyze
OfBranches = CreateBranch | ReplaceBranch | RenameBranch | DeleteBranches | FastForward | Rollback
OfConsumers = ResetConsumer | ClearConsumers
Change = Expire | DeleteTags | CreateTag | ReplaceTag | RenameTag | OfBranches | OfConsumers | CleanOrphans | OfCommits
KINDS: Mapping[str, type[Change]] = {kind.__name__: kind for kind in get_args(Change)}
DELETING = frozenset(kind.__name__ for kind in get_args(Change) if kind.deletes_files)  # by the names that journals use


def leaves_changelogs(change: Change) -> bool:
    """Whether the action itself asks for expired snapshots to leave their changelogs behind."""
    return isinstance(change, Expire) and not change.changelogs_only and asks_changelogs(change)


def refuse_unheeded(change: Expire) -> None:
    """Raise `Invalid` where part of a request would be ignored although it looks as if it applied."""
    policy = {
        "retain-max": change.retain_max,
        "retain-min": change.retain_min,
        "time-retained": change.time_retained_ms,
    }
    if change.changelogs_only:
        given = [name for name, value in policy.items() if value is not None] + ["snapshot"] * bool(change.snapshots)
        if given:
            raise Invalid(
                "{given} applies to snapshots, but only long-lived changelogs were to expire.",
                given=", ".join(given),
                remedy="Give changelog-retain-max, changelog-retain-min or changelog-time-retained, and expire "
                "snapshots in a separate plan.",
            )
    policy |= {"older-than": change.older_than_ms, "max-deletes": change.max_deletes}
    given = [name for name, value in policy.items() if value is not None]
    if change.snapshots and given:
        raise Invalid(
            (
                "Snapshots were named, and a policy was given too ({given}); only one of them can decide "
                "which snapshots expire."
            ),
            given=", ".join(given),
            remedy="Give either snapshots or a policy.",
        )


def asks_changelogs(change: Expire) -> bool:
    return any(
        value is not None
        for value in (change.changelog_retain_max, change.changelog_retain_min, change.changelog_time_retained_ms)
    )


def check_tag_name(line: Line, name: str) -> None:
    """Raise `Invalid` for a tag name that is not allowed or already taken."""
    refuse_name("tag", name)
    used_names = [tag.name for tag in line.tags] + [each.name for each in line.unreadable if each.kind == "tag"]
    if name in used_names:
        raise Invalid(
            "Tag {name!r} already exists.",
            name=name,
            remedy="Delete it first, or choose another name.",
            code=ErrorCode.NAME_TAKEN,
        )


def find_tag(line: Line, name: str) -> Tag:
    """Return a readable tag of the branch, or raise `Invalid`."""
    for tag in line.tags:
        if tag.name == name:
            return tag
    raise Invalid(
        "There is no readable tag {name!r}, so nothing was changed.",
        name=name,
        remedy=tags_there(name, [each.name for each in line.tags]),
        code=ErrorCode.NO_TAG,
    )
