"""Shared by the orphan searches of all formats: which listed files stay even if nothing holds them, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from core import urls
from core.errors import Invalid
from core.messages import Reason
from core.model import codes
from core.model.actions import CleanOrphans
from core.model.plan import FREES, ordered
from core.model.references import ObjectKind
from core.model.unheld import LISTED, Listed, Unheld
from core.storage import listings
from core.storage.file_systems import DirectoryEntry
from core.storage.store import Store

Found = tuple[str, DirectoryEntry, ObjectKind | None]
"""A file: its path, what the store says of it, and what its directory and name show it to be, if anything."""
_NAMED = 10
_DAY_MS = 86_400_000
_YOUNG, _AGELESS, _UNKNOWN = "young", "ageless", "unknown"  # why a file stays that nothing holds


def cautions(change: CleanOrphans, now_ms: int) -> list[Reason]:
    """Return warnings about the age limit. Raises `Invalid` if it is in the future."""
    if change.older_than_ms > now_ms:
        raise Invalid("The age limit for orphans must be in the past.", remedy="Give a time in the past.")
    return [codes.YOUNG_ORPHANS()] if now_ms - change.older_than_ms < _DAY_MS else []


def judged(store: Store, files: Sequence[Found], older_than_ms: int, is_place: Callable[[str], bool]) -> Listed:
    """Say of each file why it stays even if nothing holds it. `is_place`: whether the table keeps files at a path."""

    def why_kept(path: str, entry: DirectoryEntry, kind: ObjectKind | None) -> str | None:
        if kind is None or not is_place(path):
            return _UNKNOWN
        if entry.modified_s is None:
            return _AGELESS
        return _YOUNG if entry.modified_s * 1000 >= older_than_ms else None

    are_named = [is_named(store, path) for path, _, _ in files]
    text = [each for each, named in zip(files, are_named, strict=True) if named]
    rows = [(path, kind and kind.value, entry.size or 0, why_kept(path, entry, kind)) for path, entry, kind in text]
    columns = [pa.array([row[index] for row in rows], column.type) for index, column in enumerate(LISTED)]
    odd = [path for (path, _, _), named in zip(files, are_named, strict=True) if not named]
    return Listed(pa.Table.from_arrays(columns, schema=LISTED), tuple(odd))


def is_named(store: Store, path: str) -> bool:
    """Return whether manifests and plans can name a path, and a request can reach exactly it."""
    return urls.is_text(path) and not urls.climbs(path) and store.addresses(path)


def freed_and_notes(store: Store, found: Unheld) -> tuple[pa.Table, list[Reason]]:
    """Return orphans as a plan's freed files, and notes on files that look orphaned but are kept."""
    out = _leading_out(store, found.frees["path"].to_pylist()) if store.is_local else set[str]()
    frees = found.frees
    if out:
        frees = frees.filter(pa.array([path not in out for path in frees["path"].to_pylist()], pa.bool_()))
    counts = {**found.kept, _UNKNOWN: found.kept.get(_UNKNOWN, 0) + len(out)}
    reasons = (_YOUNG, codes.MAY_BE_COMMITTED()), (_AGELESS, codes.AGELESS()), (_UNKNOWN, codes.ODD_NAMES())
    notes = [codes.FILES_STAY(count=counts[name], why=why) for name, why in reasons if counts.get(name)]
    notes += [codes.NO_TEXT_STAYS(**shown(found.listed.odd))] if found.listed.odd else []
    return ordered(frees.cast(FREES)), notes


def _leading_out(store: Store, paths: Sequence[str]) -> set[str]:
    """Return the files that symbolic links lead out of the table: one above them, or the file itself."""
    above = {directory: store.leads_out(directory) for directory in {path.rpartition("/")[0] for path in paths}}
    out = {path for path in paths if above[path.rpartition("/")[0]]}
    return out.union(path for path in listings.links(store, paths) if store.leads_out(path))


def neighbours(tables: Sequence[str], others: Sequence[str]) -> list[Reason]:
    """Return notes on directories that were not entered: those of other tables, and those of nobody known."""
    found = [codes.TABLES_STAY(**shown(tables))] if tables else []
    return [*found, codes.OTHERS_STAY(**shown(others))] if others else found


def shown(paths: Sequence[str]) -> dict[str, object]:
    """Return how many paths there are, and the first of them."""
    named = ", ".join(map(urls.shown, sorted(paths)[:_NAMED])) + (", …" if paths[_NAMED:] else "")
    return {"count": len(paths), "named": named}
