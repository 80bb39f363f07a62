"""Files outside a table's own directory, by the root that its options or properties name for them.

Law: what lies elsewhere may be another's, and metadata does not tell: a copied Paimon table names the very files of the
table it was copied from. So nothing is deleted there but under roots that somebody names for this very plan; and never
under the root of a file system or bucket, nor under one that the table or another table lies in, or that lies in one.

Other tables are looked for in the root, `DEPTH` levels below it (`database.db/table`) in at most `LISTED` directories,
partitions and buckets left out, and in every directory above it that may be listed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core import urls
from core.errors import Conflict, Corrupt, Invalid, Unsupported
from core.planned import Outside, Plan
from core.store import Store
from core.told import told

DEPTH = 2
LISTED = 64
_URL = r"^[A-Za-z][A-Za-z0-9+.-]*:/"
_METADATA = ("schema", "metadata")  # where Paimon and Iceberg keep what makes a directory a table


def judged(plan: Plan, roots: Collection[str], store: Store) -> Plan:
    """The plan without the files under roots where nothing may be deleted, the others counted by root."""
    paths = plan.frees["path"].combine_chunks()
    is_outside = pc.match_substring_regex(paths, _URL)
    if not pc.any(is_outside).as_py():
        return plan
    directories = pc.replace_substring_regex(paths, "/[^/]*$", "/").dictionary_encode()
    by_length = sorted(dict.fromkeys(map(urls.spelled, roots)), key=len, reverse=True)  # the innermost root is meant
    of = [
        next((root for root in by_length if urls.is_url(each) and urls.is_below(f"{each}x", root)), None)
        for each in directories.dictionary.to_pylist()
    ]
    root_of = pa.array(of, pa.string()).take(directories.indices)
    found, warnings, stays = [], [], np.zeros(len(paths), dtype=np.bool_)
    for root in sorted(each for each in dict.fromkeys(of) if each is not None):
        own = pc.fill_null(pc.equal(root_of, root), False)
        total = pc.sum(plan.frees["bytes"].filter(own)).as_py() or 0
        here = Outside(root, pc.sum(own).as_py(), total)
        try:
            why = refused(root, store)
        except Unsupported as error:  # shown all the same; carrying it out is refused
            warnings.append(
                told("Nobody could look whether other tables lie under {root}: {error}", root=root, error=str(error))
            )
            why = None
        if why is None:
            found.append(here)
            continue
        stays |= own.to_numpy(zero_copy_only=False)
        warnings.append(told("{files} stay and are not counted: {why}.", files=here.words, why=why))
    stays |= pc.and_(is_outside, pc.is_null(root_of)).to_numpy(zero_copy_only=False)
    frees = plan.frees.filter(pa.array(~stays))
    return dataclasses.replace(
        plan, frees=frees, outside=tuple(found), warnings=tuple(dict.fromkeys((*plan.warnings, *warnings)))
    )


def refuse(plan: Plan, named: Collection[str], store: Store) -> None:
    """Raise where the plan deletes under a root outside the table that nobody has named, or that is not its alone."""
    refuse_unnamed(plan, named)
    for each in plan.outside:
        if (why := refused(each.root, store)) is not None:
            raise Conflict(
                "Nothing may be deleted under {root}, because {why}; nothing was changed.",
                root=each.root,
                why=why,
                path=each.root,
                remedy="Plan again.",
            )


def refuse_unnamed(plan: Plan, named: Collection[str]) -> None:
    """`Invalid` where the plan deletes under a root outside the table that nobody has named."""
    allowed = {urls.spelled(each) for each in named}
    for each in plan.outside:
        if each.root not in allowed:
            raise Invalid(
                "This plan deletes {files}, outside the table's directory, and nobody has said that these are this "
                "table's alone; nothing was changed.",
                files=each.words,
                path=each.root,
                remedy=told(
                    "Where no other table, nor a copy of this one, needs them: --outside {root}", root=each.root
                ),
            )


def fence(allowed: Collection[str]) -> Callable[[str], str | None]:
    """Why a file outside the table may not be deleted: it lies under no root that was named, or a link leads out."""
    known: dict[str, str | None] = {}

    def of(directory: str) -> str | None:
        root = next((each for each in allowed if urls.is_below(f"{directory}/x", each)), None)
        if root is None:
            return told("it lies outside the table, under no root that was named")
        if urls.local_path(directory) is None:
            return None
        place, above = Store.named(directory).root, Store.named(root).root
        is_inside = f"{place}/".startswith(f"{above}/")
        return None if is_inside else told("a symbolic link leads out of {root}, under which it lies", root=root)

    def why_not(path: str) -> str | None:
        if not urls.is_url(path):
            return None
        directory = path.rpartition("/")[0]
        if directory not in known:
            known[directory] = of(directory)
        return known[directory]

    return why_not


def refused(root: str, store: Store) -> str | None:
    """Why nothing is ever deleted under a root of the table in `store`, None where it may be, once it is named."""
    there = Store.named(root)
    if there.root.strip("/") == "":
        return told("it is the root of a file system")
    if "/" not in there.root.strip("/") and not there.is_local:
        return told("it is a whole bucket")
    if there.protocol == store.protocol:
        if f"{store.root}/".startswith(f"{there.root}/"):
            return told("the table itself lies in it")
        if f"{there.root}/".startswith(f"{store.root}/"):
            return told("it lies in the table, whose files have other names there")
    if (inner := next(_tables(there), None)) is not None:
        return told("another table lies in it, {name}", name=f"{root}/{inner}".rstrip("/"))
    if (outer := next(_above(root, there), None)) is not None:
        return told("it lies in another table, {name}", name=outer)
    return None


def _tables(store: Store) -> Iterator[str]:
    """Directories of tables in and below a root."""
    level, listed = [""], 0
    for depth in range(DEPTH + 1):
        below: list[str] = []
        for directory in level:
            if (listed := listed + 1) > LISTED:
                return
            names = [entry.name for entry in store.ls_if_there(directory) if entry.is_dir]
            joint = f"{directory}/" if directory else ""
            if any(_holds(store, f"{joint}{each}", each) for each in _METADATA if each in names):
                yield directory
            below += [f"{joint}{each}" for each in names if "=" not in each and not each.startswith("bucket-")]
        level = below if depth < DEPTH else []


def _above(root: str, there: Store) -> Iterator[str]:
    """Directories above a root that are tables, as far as they may be listed."""
    top = "file:///" if there.is_local else "/".join(root.split("/", 3)[:3])
    inside = (there.root if there.is_local else root[len(top) :]).strip("/").split("/")
    store = Store("/") if there.is_local else Store.named(top)
    for length in range(len(inside) - 1, 0, -1):
        directory = "/".join(inside[:length])
        try:
            is_table = any(_holds(store, f"{directory}/{each}", each) for each in _METADATA)
        except Corrupt:  # a store may let its keys see less than that
            continue
        if is_table:
            yield f"{top.rstrip('/')}/{directory}" if not there.is_local else f"/{directory}"


def _holds(store: Store, directory: str, kind: str) -> bool:
    """Does a `schema` or `metadata` directory make the one above it a table?"""
    names = [entry.name for entry in store.ls_if_there(directory)]
    if kind == "schema":
        return any(each.startswith("schema-") for each in names)
    return any(each.endswith(".metadata.json") or each == "version-hint.text" for each in names)
