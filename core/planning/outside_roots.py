"""Files outside a table's own directory, by the root that the table's options or properties name for them.

Invariant: files outside may belong to another table, and metadata does not show it: a copied Paimon table names the
same files as the original. So files there are deleted only under roots that the user names for this very plan; and
never under the root of a file system or bucket, nor under a root that contains, or lies in, this table or another one.

Two checks look for other tables. The first looks into each directory that contains a file, and those above it up to the
root: what lies in a table's directory stays. This check protects other tables' files. The second refuses the root as a
whole if a table is found up to `DEPTH` levels below it (`database.db/table`), in at most `LISTED` directories, skipping
partitions and buckets, or in a directory above it that may be listed. It can end early, and reports when it does.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Callable, Collection, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core import urls
from core.errors import Conflict, Corrupt, Invalid, SnapscopeError, Unsupported
from core.messages import Reason, message
from core.model import codes
from core.model.plan import Outside, Plan
from core.storage.store import Store

DEPTH = 2
LISTED = 64
_MOST_NAMED = 4  # unread directories that notes name
_URL = r"^[A-Za-z][A-Za-z0-9+.-]*:/"
_METADATA = ("schema", "metadata")  # the directories by which Paimon and Iceberg tables are recognized


def judged(plan: Plan, roots: Collection[str], store: Store) -> Plan:
    """The plan without files under roots where nothing may be deleted; the other roots are counted in `outside`."""
    paths = plan.frees["path"].combine_chunks()
    is_outside = pc.match_substring_regex(paths, _URL)
    if not pc.any(is_outside).as_py():
        return plan
    directories = pc.replace_substring_regex(paths, "/[^/]*$", "/").dictionary_encode()
    by_length = sorted(dict.fromkeys(map(urls.spelled, roots)), key=len, reverse=True)  # the innermost root applies
    innermost = [
        next((root for root in by_length if urls.is_url(each) and urls.is_below(f"{each}x", root)), None)
        for each in directories.dictionary.to_pylist()
    ]
    root_of = pa.array(innermost, pa.string()).take(directories.indices)
    found: list[Outside] = []
    warnings: list[Reason] = []
    is_kept = np.zeros(len(paths), dtype=np.bool_)

    def those(which: pa.Array) -> Outside:
        return Outside(root, pc.sum(which).as_py() or 0, pc.sum(plan.frees["bytes"].filter(which)).as_py() or 0)

    def keep(which: pa.Array, why: Reason) -> None:
        nonlocal is_kept
        is_kept |= which.to_numpy(zero_copy_only=False)
        warnings.append(codes.ROOT_STAYS(files=those(which).words, why=why))

    for root in sorted(each for each in dict.fromkeys(innermost) if each is not None):
        own = pc.fill_null(pc.equal(root_of, root), False)
        try:
            why, notes = _judged(root, store)
        except Unsupported as error:  # shown anyway; the run refuses it
            warnings.append(_unseen(root, error))
            found.append(those(own))
            continue
        warnings += notes
        if why is not None:
            keep(own, why)
            continue
        theirs = owners(root)
        reasons = [
            theirs(each) if above == root else None
            for each, above in zip(directories.dictionary.to_pylist(), innermost, strict=True)
        ]
        if any(reasons):
            found_reasons = list(dict.fromkeys(each for each in reasons if each is not None))
            numbers = [None if each is None else found_reasons.index(each) for each in reasons]
            reason_of = pa.array(numbers, pa.int32()).take(directories.indices)
            for number, why in enumerate(found_reasons):
                keep(pc.fill_null(pc.equal(reason_of, number), False), why)
            own = pc.and_(own, pc.is_null(reason_of))
        if pc.any(own).as_py():
            found.append(those(own))
    is_kept |= pc.and_(is_outside, pc.is_null(root_of)).to_numpy(zero_copy_only=False)
    frees = plan.frees.filter(pa.array(~is_kept))
    return dataclasses.replace(
        plan, frees=frees, outside=tuple(found), warnings=tuple(dict.fromkeys((*plan.warnings, *warnings)))
    )


def refuse(plan: Plan, named: Collection[str], store: Store) -> None:
    """Raise if the plan deletes under a root outside the table that was not named or is not exclusively the table's."""
    refuse_unnamed(plan, named)
    if not plan.outside:
        return
    paths = plan.frees["path"].combine_chunks()
    paths = paths.filter(pc.match_substring_regex(paths, _URL))
    directories = pc.unique(pc.replace_substring_regex(paths, "/[^/]*$", "/")).to_pylist()
    for each in plan.outside:
        why = refused(each.root, store)
        if why is None:
            theirs, below = owners(each.root), (name for name in directories if urls.is_below(f"{name}x", each.root))
            why = next((reason for name in below if (reason := theirs(name)) is not None), None)
        if why is not None:
            raise Conflict(
                "Nothing may be deleted under {root}, because {why}; nothing was changed.",
                root=each.root,
                why=why,
                path=each.root,
                remedy="Make a new plan.",
            )


def refuse_unnamed(plan: Plan, named: Collection[str]) -> None:
    """Raise `Invalid` if the plan deletes under a root outside the table that the user has not named."""
    allowed = {urls.spelled(each) for each in named}
    for each in plan.outside:
        if each.root not in allowed:
            raise Invalid(
                "This plan deletes {files} outside the table's directory, and nobody has confirmed that "
                "they belong to this table alone; nothing was changed.",
                files=each.words,
                path=each.root,
                remedy=message(
                    "If no other table and no copy of this one needs them: --outside {root}",
                    root=shlex.quote(each.root),  # a table's metadata names it, and somebody will paste it into a shell
                ),
            )


def fence(allowed: Collection[str]) -> Callable[[str], Reason | None]:
    """Return a function that says why a file outside the table may not be deleted, or None.

    Reasons: the file is under no root that was named, or a symbolic link leads out of the root, or `owners` objects.
    """
    known: dict[str, Reason | None] = {}
    theirs: dict[str, Callable[[str], Reason | None]] = {}

    def why_kept(directory: str) -> Reason | None:
        root = next((each for each in allowed if urls.is_below(f"{directory}/x", each)), None)
        if root is None:
            return codes.UNNAMED_ROOT()
        if urls.local_path(directory) is not None:
            place, above = Store.named(directory).root, Store.named(root).root
            if not f"{place}/".startswith(f"{above}/"):
                return codes.LINK_OUT(root=root)
        if root not in theirs:
            theirs[root] = owners(root)
        return theirs[root](directory)

    def why_not(path: str) -> Reason | None:
        if not urls.is_url(path):
            return None
        directory = path.rpartition("/")[0]
        if directory not in known:
            known[directory] = why_kept(directory)
        return known[directory]

    return why_not


def owners(root: str) -> Callable[[str], Reason | None]:
    """Return a function that says why files of a directory below a root stay: a table is or may be there.

    Each directory is looked into once.
    """
    root = urls.spelled(root)
    there, known = Store.named(root), dict[str, Reason | None]()

    def look(inner: str) -> Reason | None:
        try:
            is_table = _is_table(there, inner)
        except SnapscopeError as error:
            return codes.OWNER_UNKNOWN(error=str(error))
        name = f"{root}/{inner}".rstrip("/")
        return codes.THEIRS(name=name) if is_table else None

    def why_not(directory: str) -> Reason | None:
        inner = urls.spelled(directory).removeprefix(root).strip("/")
        places = [inner]
        if there.is_local:  # a symbolic link may lead into another table
            real = os.path.realpath(f"{there.root}/{inner}")
            places += [real[len(there.root) :].strip("/")] if f"{real}/".startswith(f"{there.root}/") else []
        for place in dict.fromkeys(places):
            steps = place.split("/") if place else []
            for length in range(len(steps), -1, -1):
                each = "/".join(steps[:length])
                if each not in known:
                    known[each] = look(each)
                if (why := known[each]) is not None:
                    return why
        return None

    return why_not


def refused(root: str, store: Store) -> Reason | None:
    """Why nothing may be deleted under a root of the table in `store`; None if it is allowed once the user names it."""
    return _judged(root, store)[0]


def _judged(root: str, store: Store) -> tuple[Reason | None, list[Reason]]:
    """As `refused`, with the notes that a plan shows for a root where deletion is allowed."""
    there = Store.named(root)
    if there.root.strip("/") == "":
        return codes.FILE_SYSTEM_ROOT(), []
    if not there.is_local and "/" not in root.partition("://")[2].strip("/"):
        return codes.WHOLE_BUCKET(), []
    if there.protocol == store.protocol:
        if f"{store.root}/".startswith(f"{there.root}/"):
            return codes.TABLE_IN_ROOT(), []
        if f"{there.root}/".startswith(f"{store.root}/"):
            return codes.ROOT_IN_TABLE(), []
    inner, notes = _search(root, there)
    if inner is not None:
        return codes.OTHER_IN_ROOT(name=f"{root}/{inner}".rstrip("/")), []
    if (outer := next(_above(root, there), None)) is not None:
        return codes.ROOT_IN_OTHER(name=outer), []
    if there.is_local and os.path.ismount(there.root):
        notes.append(codes.WHOLE_FILE_SYSTEM(root=root))
    return None, notes


def _search(root: str, store: Store) -> tuple[str | None, list[Reason]]:
    """A table's directory in or below a root, or None; and notes about directories that could not be searched."""
    level, listed, is_all = [""], 0, True
    unseen: list[Reason] = []
    for depth in range(DEPTH + 1):
        below: list[str] = []
        for directory in level:
            if (listed := listed + 1) > LISTED:
                is_all = False
                break
            joint = f"{directory}/" if directory else ""
            try:
                names = [entry.name for entry in store.ls_if_there(directory) if entry.is_dir]
                if any(_holds(store, f"{joint}{each}", each) for each in _METADATA if each in names):
                    return directory, []
            except SnapscopeError as error:  # such as `lost+found`; the files in it are checked one by one
                unseen.append(_unseen(f"{root}/{directory}".rstrip("/"), error))
                continue
            below += [f"{joint}{each}" for each in names if "=" not in each and not each.startswith("bucket-")]
        level = below if depth < DEPTH and is_all else []
    notes = unseen[:_MOST_NAMED]
    if not is_all or unseen[_MOST_NAMED:]:
        notes.append(codes.SEARCH_ENDED(root=root))
    return None, notes


def _unseen(place: str, error: SnapscopeError) -> Reason:
    return codes.ROOT_UNSEEN(root=place, error=str(error))


def _above(root: str, there: Store) -> Iterator[str]:
    """Directories above a root that are tables, as far as they may be listed."""
    top = "file:///" if there.is_local else "/".join(root.split("/", 3)[:3])
    inside = (there.root if there.is_local else root[len(top) :]).strip("/").split("/")
    store = Store("/") if there.is_local else Store.named(top)
    for length in range(len(inside) - 1, 0, -1):
        directory = "/".join(inside[:length])
        try:
            is_table = _is_table(store, directory)
        except Corrupt:  # credentials may not allow listing that far up
            continue
        if is_table:
            yield f"{top.rstrip('/')}/{directory}" if not there.is_local else f"/{directory}"


def _is_table(store: Store, directory: str) -> bool:
    """Whether a directory is a table's."""
    kinds: Collection[str] = _METADATA
    if not store.is_local:  # on an object store, looking for something absent costs more than listing what exists
        kinds = {entry.name for entry in store.ls_if_there(directory) if entry.is_dir}.intersection(kinds)
    joint = f"{directory}/" if directory else ""
    return any(_holds(store, f"{joint}{each}", each) for each in kinds)


def _holds(store: Store, directory: str, kind: str) -> bool:
    """Whether a `schema` or `metadata` directory makes its parent a table."""
    names = [entry.name for entry in store.ls_if_there(directory)]
    if kind == "schema":
        return any(each.startswith("schema-") for each in names)
    return any(".metadata.json" in each or each == "version-hint.text" for each in names)
