"""What could not be read of a table's references and manifests, as problems of the versions that need it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from core.errors import SnapscopeError, Unsupported
from core.formats.paimon import layout
from core.formats.paimon.manifests import SOURCE_APPEND, SOURCES
from core.formats.paimon.ways_out import NEWER
from core.messages import clause, message
from core.model.codes import Fault
from core.model.intervals import Ints
from core.model.ref_names import KINDS
from core.model.references import Holder, HolderKind, Problem
from core.storage.decoded_files import Loaded

_WAY_OUT = {
    layout.TAG: message("rename it (rename-tag) or delete it (delete-tag)"),
    layout.BRANCH: message("rename it (rename-branch) or delete it (delete-branch)"),
    layout.CONSUMER: message("delete it (reset-consumer)"),
}


def unread(name: str, error: SnapscopeError, expected: str) -> Problem:
    """A file of `manifest/` that could not be read. One that is merely not supported must not be restored."""
    if isinstance(error, Unsupported):
        remedy, code = error.remedy or NEWER, Fault.UNSUPPORTED
    else:
        remedy = error.remedy or message("Restore the file, or delete the snapshots and tags that need it.")
        code = Fault.UNREADABLE
    return Problem(f"{layout.MANIFEST}/{name}", expected, clause(error.message), remedy, code)


def unread_reference(kind: str, path: str, error: SnapscopeError, *, is_read: bool) -> Problem:
    """A snapshot, tag, schema, changelog or consumer that could not be read, or only as bytes if `is_read`."""
    code = Fault.UNSUPPORTED if isinstance(error, Unsupported) else Fault.UNREADABLE
    remedy = error.remedy or message(
        "Restore the file, or delete this snapshot or tag by name." if is_read else "Restore the file."
    )
    return Problem(path, message("a readable {kind} file", kind=kind), clause(error.message), remedy, code)


def unlistable(branch: str, names: Mapping[str, Iterable[str]]) -> list[Problem]:
    """Return the names (by kind) with a colon, and the branch's own: Hadoop's `Path` cannot be made of one.

    The engine lists all of a kind or none, so that its expiry fails, and a commit skips it without an error.
    """
    found = []
    for kind, name in [(layout.BRANCH, branch), *((kind, name) for kind, own in names.items() for name in own)]:
        if ":" in name:
            is_branch = kind == layout.BRANCH
            path = layout.branch_dir(name).rstrip("/") if is_branch else layout.reference(branch, kind, name)
            found.append(
                Problem(
                    path,
                    message("a {kind} name without a colon", kind=KINDS[kind]),
                    f"{name!r}",
                    message(
                        "Paimon can list no {kind} and expire no snapshot while it exists: {command}.",
                        kind=KINDS[kind],
                        command=_WAY_OUT[kind],
                    ),
                    Fault.REF_UNLISTABLE,
                )
            )
    return found


def unknown_in(entries: Loaded, numbers: Ints) -> Mapping[int, int]:
    """Return an unknown `_FILE_SOURCE` of each of these manifests that has one."""
    source = entries.rows["source"].fill_null(SOURCE_APPEND).to_numpy()
    odd = np.flatnonzero(~np.isin(source, list(SOURCES)))
    manifests = numbers[np.searchsorted(entries.start, odd, side="right") - 1]
    return dict(zip(manifests.tolist(), source[odd].tolist(), strict=True))


def unknown_sources(
    holders: Sequence[Holder], names: Sequence[str], found: Mapping[int, int], additions: tuple[Ints, Ints]
) -> Iterator[tuple[int, Problem]]:
    """Yield unknown sources at the positions where they decide whether a file is held: changelogs.

    `found`: the unknown source of each manifest that has one; `additions`: (position, manifest) pairs. Nothing else
    depends on the source.
    """
    if not found:
        return
    expected = message("a _FILE_SOURCE of {known}", known=" or ".join(map(str, SOURCES)))
    for position, manifest in zip(*(each.tolist() for each in additions), strict=True):
        if manifest in found and holders[position].kind is HolderKind.CHANGELOG:
            path = f"{layout.MANIFEST}/{names[manifest]}"
            yield position, Problem(path, expected, str(found[manifest]), NEWER, Fault.UNSUPPORTED)
