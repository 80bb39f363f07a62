"""Compare the EARLIEST and LATEST hints with the listing, and find gaps in a branch's ids and stray files. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise

from core import urls
from core.errors import SnapscopeError
from core.formats.paimon import layout
from core.messages import message
from core.model.codes import Fault
from core.model.references import Problem
from core.storage.file_systems import DirectoryEntry

NUMBER = re.compile(r"-?\d{1,19}")
AT_ENDS, MOST_ASKED = 2, 16  # unlisted files to try, each one request per read


def number(content: bytes | SnapscopeError) -> str | None:
    """Return the number in a hint as text; None if it is not a number."""
    text = "" if isinstance(content, SnapscopeError) else "".join(content.decode("utf-8", "replace").splitlines())
    return text if NUMBER.fullmatch(text) else None


def problems(branch: str, ids: Sequence[int], contents: Mapping[str, bytes | SnapscopeError]) -> list[Problem]:
    """Return hints that differ from the listing, and what an engine does because of them."""
    listed = message("Harmless: engines list the directory instead.")
    found: list[Problem] = []
    for name, true in ((layout.EARLIEST, min(ids, default=None)), (layout.LATEST, max(ids, default=None))):
        path = layout.hint(branch, name)
        expected = message("the id {id}", id=true)
        content, text = contents[path], number(contents[path])
        if isinstance(content, SnapscopeError):
            if content.kind != "NotFound":
                unused = message("Snapscope listed the directory instead.")
                found.append(Problem(path, message("a readable hint"), content.message, unused, Fault.HINT))
            elif name == layout.LATEST and true is not None:
                found.append(Problem(path, expected, message("no file"), listed, Fault.HINT))
        elif text is None:
            found.append(Problem(path, expected, f"{content.decode('utf-8', 'replace')[:40]!r}", listed, Fault.HINT))
        elif int(text) != true:
            effect = _hint_effect(name, int(text), true, ids)
            found.append(Problem(path, expected, message("the id {id}", id=text), effect, Fault.HINT, (int(text),)))
    return found


def _hint_effect(name: str, hinted: int, true: int | None, ids: Sequence[int]) -> str:
    if name == layout.LATEST and true is not None and 0 < hinted < true and hinted + 1 not in ids:
        return message("Paimon trusts this hint, because the next id is missing, and does not see the newer snapshots.")
    if true is None or (name == layout.LATEST and hinted > true):
        return message("Paimon fails to read or commit until this hint is corrected; Snapscope lists the directory.")
    if name == layout.EARLIEST and hinted > true:
        return message(
            "Paimon does not see the older snapshots and may delete files they need; Snapscope lists the directory."
        )
    return message("Harmless: engines list the directory when the hint is stale.")


def left_out(ids: Sequence[int], end: int | None = None) -> list[int]:
    """Return numbers missing between these, and after the last one up to `end`: a stale listing may lack them.

    Only `AT_ENDS` numbers at each end of a gap are returned, of the newest gaps first, and `MOST_ASKED` in total.
    """
    stops = [*ids, *([] if end is None or not ids else [end])]
    spans = (range(a + 1, b) for a, b in reversed(list(pairwise(stops))))
    missing = (each for span in spans for each in {*span[:AT_ENDS], *span[-AT_ENDS:]})
    return list(islice(missing, MOST_ASKED))


def gaps(branch: str, ids: Sequence[int]) -> list[Problem]:
    missing = [(a + 1, b - 1) for a, b in pairwise(ids) if b - a > 1]
    return [
        Problem(
            f"{layout.branch_dir(branch)}{layout.SNAPSHOT}/",
            message("snapshot {id}", id=first)
            if first == last
            else message("snapshots {id} to {last}", id=first, last=last),
            message("no file"),
            message(
                "Snapshot ids have a gap: Paimon's time travel fails across it, and its expiry may "
                "delete files that are still needed."
            ),
            Fault.GAP,
            (first, last),
        )
        for first, last in missing
    ]


def stray(directory: str, entry: DirectoryEntry, expected: str) -> Problem:
    found = message("a directory" if entry.is_dir else "another file")
    remedy = message("Snapscope ignores it and never deletes it.")
    return Problem(urls.shown(f"{directory}/{entry.name}"), expected, found, remedy, Fault.STRAY)
