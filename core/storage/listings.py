"""List many directories, in parallel where the store is remote, or the names of one.

Invariant: each directory has exactly the entries that `Store.ls_if_there` finds. Where one page of names may be of many
directories (S3), only what another name follows in the order of names, or what ends with the last name of all, is
believed to be whole. What seems empty, or takes several pages, is listed alone.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from operator import attrgetter
from typing import Any

from core.storage import local_disk, time_limits
from core.storage.file_systems import DirectoryEntry, entries
from core.storage.store import Store

_RUNS = 16  # of neighbours, whose pages are read at the same time
_OF_A_RUN = 16  # directories at least: fewer are listed sooner by a request for each
_MISSES = 4  # pages of a run that show no directory whole, before the others are listed alone
_ODD = frozenset({"", ".", ".."})
_NAME = attrgetter("name")


def of(store: Store, directories: Collection[str]) -> dict[str, list[DirectoryEntry]]:
    """Return what is in each directory, as `Store.ls_if_there`, in the order given. Raises the first error."""
    found: dict[str, list[DirectoryEntry]] = {directory: [] for directory in directories}
    runs = _runs(store, found)

    def several(first: str) -> None:
        found.update(_by_pages(store, runs[first]))

    def one(directory: str) -> None:
        found[directory] = store.ls_if_there(directory)

    _each(store, list(runs), several)
    _each(store, [directory for directory, listed in found.items() if not listed], one)
    return found


def names(store: Store, directory: str, splits: Sequence[str] = ()) -> list[str]:
    """Return the names of the files in a directory, in any order, as `Store.ls_if_there` finds them."""
    if store.is_local:
        with contextlib.suppress(OSError):  # the listing judges it
            return time_limits.calling(local_disk.names, store.full(directory))
    return [entry.name for entry in store.ls_if_there(directory, splits) if not entry.is_dir]


def first_names(store: Store, directory: str) -> tuple[list[str], bool]:
    """Return names of files in a directory, and whether they are all: those of the first page where a store shows pages
    of names, else all."""
    below = _below(store.full(directory))
    page = store.many.names_after(below, below) if store.many else None
    if page is None:
        return names(store, directory), True
    found = [name for each in page[0] if (name := each["name"].removeprefix(below)) and "/" not in name]
    return found, page[1] and bool(found)  # what seems empty is listed


def links(store: Store, paths: Collection[str]) -> list[str]:
    """Return those of these paths inside the store's root that are symbolic links."""
    return [path for path in paths if path and os.path.islink(store.full(path))] if store.is_local else []


def _each(store: Store, names: Sequence[str], act: Callable[[str], None]) -> None:
    """As `Store.each`. After an error the others do not go on to the end."""
    failed = threading.Event()

    def one(name: str) -> None:
        if failed.is_set():  # the error of another is about to be raised
            return
        try:
            act(name)
        except BaseException:
            failed.set()
            raise

    if store.is_local or len(names) < 2:
        for name in names:
            one(name)
    else:
        store.each(names, one)


# by pages of many directories -----------------------------------------------------------------------------------------


def _runs(store: Store, directories: Collection[str]) -> dict[str, list[str]]:
    """Return directories, without those inside others, in runs of neighbours in the order of their names, by the first
    of each; none where each is better listed alone."""
    if not store.many or len(directories) < 2 * _OF_A_RUN:
        return {}
    outer = list[str]()
    for directory in sorted((each for each in directories if _ODD.isdisjoint(each.split("/"))), key=_below):
        if not (outer and directory.startswith(_below(outer[-1]))):
            outer.append(directory)
    size = max(_OF_A_RUN, -(-len(outer) // _RUNS))
    return {outer[begin]: outer[begin : begin + size] for begin in range(0, len(outer), size)}


def _by_pages(store: Store, run: Sequence[str]) -> Iterator[tuple[str, list[DirectoryEntry]]]:
    """Yield the directories of a run that pages of all names show whole, with what is in them."""
    paths = [store.full(each) for each in run]
    top = os.path.commonprefix([_below(paths[0]), _below(paths[-1])]).rpartition("/")[0]  # noqa: RUF071  # is cut at a /
    many, at, misses, after, inside = store.many, 0, 0, _below(paths[0]), list[dict[str, Any]]()
    while many and at < len(run) and misses < _MISSES and (page := many.names_after(_below(top), after)):
        began, (objects, is_end) = at, page
        for each in objects:
            while at < len(run) and _is_after(each["name"], _below(paths[at])):
                yield run[at], _listed(inside, paths[at])
                at, inside = at + 1, []
            if at == len(run):
                return
            if each["name"].startswith(_below(paths[at])):
                inside.append(each)
        names = [after, *(each["name"] for each in objects)]
        if is_end:
            if objects and inside and many.is_last(_below(top), *names[-2:]):
                yield run[at], _listed(inside, paths[at])
            return
        if at == began:
            misses += 1
            if inside:  # several pages, or directories with several
                at, inside = at + 1, []
        after = max([names[-1], *map(_below, paths[at : at + 1])])


def _is_after(name: str, below: str) -> bool:
    """Return whether a name comes after all that begin with `below`."""
    return name > below and not name.startswith(below)


def _listed(objects: Sequence[dict[str, Any]], path: str) -> list[DirectoryEntry]:
    """Return what is directly in a directory of which these are all objects, as `Store.ls` lists it."""
    steps = [each["name"].removeprefix(_below(path)).partition("/") for each in objects]
    files = [each for each, (name, slash, _) in zip(objects, steps, strict=True) if name and not slash]
    inner = sorted({name for name, slash, _ in steps if name and slash})
    directories = [{"name": f"{path}/{name}", "type": "directory"} for name in inner]
    return sorted(entries([*files, *directories], path), key=_NAME)


def _below(directory: str) -> str:
    return f"{directory}/"
