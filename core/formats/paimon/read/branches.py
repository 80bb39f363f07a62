"""The branches of a table, by the directories of their references."""

from __future__ import annotations

from core import urls
from core.errors import Corrupt
from core.formats.paimon import layout
from core.formats.paimon.read.lagging_reads import Patience
from core.model.references import MAIN


def branches_of(patience: Patience) -> list[str]:
    """Return all branches but main, including those with a slash in their name, which no engine lists."""
    waiting = [
        entry.name[len("branch-") :]
        for entry in patience.entries(layout.BRANCH) or ()
        if entry.is_dir and entry.name.startswith("branch-")
    ]
    if odd := next((name for name in waiting if not urls.is_text(name)), None):
        raise Corrupt(
            "The name of the branch directory {odd} is not valid UTF-8.",
            odd=urls.shown(odd),
            path=layout.BRANCH,
            remedy="Rename the directory.",
        )
    if MAIN in waiting:
        raise Corrupt(
            (
                "A branch is stored under the name main, which is the table itself, so what the branch "
                "keeps cannot be determined."
            ),
            path=layout.BRANCH,
            remedy="Rename its directory.",
        )
    own = {layout.SNAPSHOT, layout.CHANGELOG, layout.TAG, layout.SCHEMA, layout.CONSUMER}
    found = []
    while waiting:
        branch = waiting.pop()
        there = patience.entries(layout.branch_dir(branch).rstrip("/"))
        inner = {entry.name for entry in there or () if entry.is_dir}
        if there is None:
            continue  # deleted since the listing
        if inner & own or not (inner or "/" in branch):
            found.append(branch)
        waiting += [f"{branch}/{name}" for name in inner - own]
    return sorted(found)
