"""Changes that can be planned: frozen requests, checked against a table's references. Pure.

Law: a request that contradicts itself or names what is not there is `Invalid` before anything is planned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, get_args

from core.errors import Invalid
from core.messages import told
from core.model.ref_names import refuse_name
from core.model.references import MAIN, Line, Tag


class Action:
    """What can be said of an action, whatever it is asked of; each says of itself where it is otherwise."""

    __slots__ = ()

    is_harmless: ClassVar[bool] = False  # it deletes nothing, so a click confirms it
    names_a_reference: ClassVar[bool] = False  # it lets a name point elsewhere and frees no file: nobody is waited for
    is_expiry: ClassVar[bool] = False  # of snapshots or changelogs, by a policy
    deletes_files: ClassVar[bool] = False  # so its receipt tells how many went, and whether these were the planned ones
    is_of_tags: ClassVar[bool] = False
    makes_a_tag: ClassVar[bool] = False

    @property
    def new_tag(self) -> str | None:
        """The name of a tag that is not there yet."""
        return None

    @property
    def old_tag(self) -> str | None:
        """The name that a tag loses."""
        return None

    @property
    def set_tag(self) -> str | None:
        """The tag, new or not, that is to name a snapshot."""
        return None


@dataclass(frozen=True, slots=True)
class Expire(Action):
    """Expire snapshots of a branch. None = the table's own option, or the engine's default.

    `changelogs_only` expires long-lived changelogs instead. Any changelog_* value (or the table's own options, where
    they keep changelogs longer than snapshots) lets an expired snapshot leave its changelog behind.
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
    snapshots: tuple[int, ...] = ()  # exactly these go, whatever the policy; they must be the oldest ones
    expired_tags: bool = False  # also tags whose own retention has passed, by this machine's wall clock
    tags_older_than_ms: int | None = None  # also tags created before this


@dataclass(frozen=True, slots=True)
class DeleteTags(Action):
    """Delete these tags of a branch, and with them whatever only they keep."""

    deletes_files: ClassVar[bool] = True
    is_of_tags: ClassVar[bool] = True

    names: tuple[str, ...]
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class CreateTag(Action):
    """Name a retained snapshot (default: the newest), so that its view stays. `retained_ms`: the engine's TTL.

    `verified`: every file of the view must be there, or the tag is withdrawn.
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
    """Let an existing tag name another retained snapshot; what only its old view kept is freed."""

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
    """Give a tag another name; its bytes, and so its age, stay."""

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
    """Give a point a branch. Without one: Iceberg's newest snapshot of `branch`; in Paimon nothing but the schemas.

    What a branch keeps of itself, and for how long it is kept, is Iceberg's alone.
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
    """Let a branch (Iceberg's) point elsewhere, or keep otherwise; what is None stays as it is."""

    names_a_reference: ClassVar[bool] = True

    name: str
    point: str | None = None
    min_snapshots: int | None = None
    max_snapshot_age_ms: int | None = None
    max_ref_age_ms: int | None = None
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class RenameBranch(Action):
    """Give a branch another name."""

    is_harmless: ClassVar[bool] = True
    names_a_reference: ClassVar[bool] = True

    name: str
    to: str
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class DeleteBranches(Action):
    """Delete these branches."""

    deletes_files: ClassVar[bool] = True

    names: tuple[str, ...]
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class FastForward(Action):
    """Let `branch` become what the branch `name` is."""

    names_a_reference: ClassVar[bool] = True

    name: str
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class Rollback(Action):
    """Set a branch back to a point. Iceberg: to an ancestor of its head, or (`any_line`) to any snapshot.

    Paimon: by a new commit with the old content, or (`destructive`) by removing every snapshot and tag after it.
    """

    names_a_reference: ClassVar[bool] = True

    point: str
    destructive: bool = False
    any_line: bool = False
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class ResetConsumer(Action):
    """Let a streaming reader begin at a retained snapshot; None forgets the reader. Paimon's."""

    name: str
    next_snapshot: int | None = None
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class ClearConsumers(Action):
    """Forget streaming readers whose whole name matches `including` (None: any) and not `excluding`. Paimon's."""

    including: str | None = None
    excluding: str | None = None
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class CleanOrphans(Action):
    """Delete files that no point of any branch names and that were last written before `older_than_ms`; in partitions
    that no snapshot or tag mentions only where their directories are named (`also`)."""

    deletes_files: ClassVar[bool] = True

    older_than_ms: int
    branch: str = MAIN
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DropPartitions(Action):
    """Take all rows of these partitions out of a branch, by a commit. Paimon's.

    Each is named by some or all of its keys: `dt=2026-11-01,region=EU`.
    """

    partitions: tuple[str, ...]
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class Truncate(Action):
    """Take all rows out of a branch, by a commit. Paimon's."""

    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class Compact(Action):
    """Make few large files of many small ones, by a commit; rows stay as they are. Paimon's.

    Of an append table `min_files` small ones become one (None: the table's option).
    """

    is_harmless: ClassVar[bool] = True

    branch: str = MAIN
    partitions: tuple[str, ...] = ()
    min_files: int | None = None


@dataclass(frozen=True, slots=True)
class Analyze(Action):
    """Count rows, and of these columns (None: of all) what planners ask for, and commit it. Paimon's."""

    is_harmless: ClassVar[bool] = True

    branch: str = MAIN
    columns: tuple[str, ...] | None = ()


OfCommits = DropPartitions | Truncate | Compact | Analyze
OfBranches = CreateBranch | ReplaceBranch | RenameBranch | DeleteBranches | FastForward | Rollback
OfConsumers = ResetConsumer | ClearConsumers
Change = Expire | DeleteTags | CreateTag | ReplaceTag | RenameTag | OfBranches | OfConsumers | CleanOrphans | OfCommits
KINDS: Mapping[str, Callable[..., Change]] = {kind.__name__: kind for kind in get_args(Change)}
DELETING = frozenset(kind.__name__ for kind in get_args(Change) if kind.deletes_files)  # as journals call them


def leaves_changelogs(change: Change) -> bool:
    """Does the change itself ask that expired snapshots leave their changelogs behind?"""
    return isinstance(change, Expire) and not change.changelogs_only and asks_changelogs(change)


def refuse_unheeded(change: Expire) -> None:
    """`Invalid` where part of a request would have no say: it would look as if it had been heeded."""
    policy = {
        "retain-max": change.retain_max,
        "retain-min": change.retain_min,
        "time-retained": change.time_retained_ms,
    }
    if change.changelogs_only:
        given = [name for name, value in policy.items() if value is not None] + ["snapshot"] * bool(change.snapshots)
        if given:
            raise Invalid(
                "{given}: of snapshots, and only long-lived changelogs were to go.",
                given=", ".join(given),
                remedy="Give changelog-retain-max, changelog-retain-min or changelog-time-retained; "
                "expire snapshots in a plan of their own.",
            )
    policy |= {"older-than": change.older_than_ms, "max-deletes": change.max_deletes}
    given = [name for name, value in policy.items() if value is not None]
    if change.snapshots and given:
        raise Invalid(
            "Snapshots were named, and so was a policy ({given}): only one of them can say which go.",
            given=", ".join(given),
            remedy="Give the snapshots, or the policy.",
        )


def asks_changelogs(change: Expire) -> bool:
    return any(
        value is not None
        for value in (change.changelog_retain_max, change.changelog_retain_min, change.changelog_time_retained_ms)
    )


def check_tag_name(line: Line, name: str) -> None:
    """`Invalid` for a name that cannot serve, or that is taken."""
    refuse_name("tag", name)
    taken = [tag.name for tag in line.tags] + [each.name for each in line.unreadable if each.kind == "tag"]
    if name in taken:
        raise Invalid("Tag {name!r} exists already.", name=name, remedy="Delete it first, or choose another name.")


def find_tag(line: Line, name: str) -> Tag:
    """A readable tag of the branch; `Invalid` otherwise."""
    for tag in line.tags:
        if tag.name == name:
            return tag
    known = ", ".join(each.name for each in line.tags[:20]) or "none"
    raise Invalid(
        "There is no readable tag {name!r}, so nothing was changed.",
        name=name,
        remedy=told("Tags: {known}.", known=known),
    )
