"""Read and write effects in the journal, including the six formats of earlier versions.

Invariant: a run is resumed and undone by what its own document says, whichever version wrote it.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from core.errors import Corrupt
from core.execution.journal import Run
from core.execution.journal_watch import STARTED_BY, unknown_in
from core.formats.paimon.plan import effects as paimon
from core.model.actions import OfCommits, RenameTag, ReplaceTag
from core.model.effects import (
    CommitSnapshot,
    DeleteIfEqual,
    Effect,
    ReplaceIfEqual,
    Require,
    SetHint,
    SwapMetadata,
    VerifyFiles,
    ended,
)
from core.model.references import ObjectKind

Json = dict[str, Any]
Removes = Sequence[tuple[str, bytes]]
Frees = Sequence[tuple[str, str, int]]
EFFECTS, CONTENTS = "effects", "contents"
_KINDS: Mapping[str, type[Effect]] = {kind.__name__: kind for kind in get_args(Effect)}
_BYTES = "sha256"


def written(effects: Sequence[Effect], removes: Removes) -> Json:
    """Serialize effects for a run's document.

    Each content is stored once, and not at all if the run stores it anyway, among the references it deletes.
    """
    contents: dict[str, str] = {}
    known = {_digest(content) for _, content in removes}

    def plain(value: Any) -> Any:
        match value:
            case bytes():
                if (name := _digest(value)) not in known:
                    contents[name] = base64.b64encode(value).decode()
                return {_BYTES: name}
            case tuple():
                return [plain(each) for each in value]
            case _:
                return value

    found = []
    for effect in effects:
        given = {field.name: plain(getattr(effect, field.name)) for field in dataclasses.fields(effect)}
        found.append({"effect": type(effect).__name__, **given})
    return {EFFECTS: found, CONTENTS: contents}


def effects_of(run: Run, removes: Removes, frees: Frees) -> tuple[Effect, ...]:
    """The effects of a run, in order. Raises `Corrupt` if its document has no known form."""
    if EFFECTS in run.plan:
        return _read(run, removes)
    if "edit" in run.plan:
        return _swap(run, removes, frees)
    if "rewrite" in run.plan:
        return _rewrite(run.plan["rewrite"], frees)
    if "restoration" in run.plan:
        return _restoration(run.plan["restoration"])
    if isinstance(run.change, OfCommits):
        return (_commit(run.change.branch, run.plan["commit"]),)
    if "tag" in run.plan:
        return _tag(run.plan["tag"], frees)
    points = ((point, keep) for point, keep, _ in run.plan["points"])
    deletions = paimon.deleted(run.change, removes, run.plan["leaves"], points)
    return ended(deletions, len(frees), _total(frees), waits=bool(removes))


def _read(run: Run, removes: Removes) -> tuple[Effect, ...]:
    contents = {name: base64.b64decode(text) for name, text in run.plan[CONTENTS].items()}
    contents |= {_digest(content): content for _, content in removes}

    def value(kept: Any) -> Any:
        match kept:
            case {"sha256": name}:
                return contents[name]
            case list():
                return tuple(value(each) for each in kept)
            case _:
                return kept

    found: list[Effect] = []
    for each in run.plan[EFFECTS]:
        kind = _KINDS.get(each["effect"])
        given = {name: kept for name, kept in each.items() if name != "effect"}
        if (unknown := unknown_in(each["effect"], kind, given)) is not None:
            raise Corrupt(
                "Run {run} has a step that this version of Snapscope does not know: {effect}.",
                run=run.id,
                effect=unknown,
                path=run.table,
                remedy=STARTED_BY,
            )
        assert kind is not None
        found.append(kind(**{name: value(kept) for name, kept in given.items()}))
    return tuple(found)


# formats of earlier versions ----------------------------------------------------------------------------------------


def _tag(kept: Json, frees: Frees) -> tuple[Effect, ...]:
    """Read `tag`: a tag created, renamed or replaced."""
    content, expected, before = (base64.b64decode(kept[name]) for name in ("content", "expected", "before"))
    source = Require(kept["source"], expected)
    if kept["kind"] == ReplaceTag.__name__:
        replaced = (source, ReplaceIfEqual(kept["path"], before, content, is_alone=True), source)
        return ended(replaced, len(frees), _total(frees), waits=True)
    made = paimon.new_tag(source, kept["path"], content)
    if kept["kind"] == RenameTag.__name__:
        return (*made, DeleteIfEqual(kept["source"], expected, is_alone=True))
    return (*made, VerifyFiles(kept["point"], kept["path"], not kept["must_be_whole"]))


def _rewrite(kept: Json, frees: Frees) -> tuple[Effect, ...]:
    """Read `rewrite`: references changed one by one, for branches, consumers and destructive rollbacks."""
    doing: list[Effect] = []
    for path, before, after, is_hint in kept["steps"]:
        old, new = (None if text is None else base64.b64decode(text) for text in (before, after))
        doing.append(SetHint(path, new) if is_hint else paimon.rewritten(path, old, new))
    guards = [Require(path, content) for path, content in _pairs(kept["guards"])]
    return ended(paimon.guarded(doing, guards, kept["clears"]), len(frees), _total(frees), waits=bool(frees))


def _restoration(kept: Json) -> tuple[Effect, ...]:
    """Read `restoration`: a rollback as latest."""
    newest, expected = (base64.b64decode(kept[name]) for name in ("newest_bytes", "expected"))
    commit = CommitSnapshot(
        kept["branch"], kept["newest"], newest, kept["user"], restores=kept["source"], restored_content=expected
    )
    tag = kept["tag"]
    if tag is None:
        return (commit,)
    made = paimon.new_tag(Require(kept["source"], expected), tag["path"], base64.b64decode(tag["content"]))
    return (*made, VerifyFiles(tag["point"], tag["path"], when_resumed=True), commit)


def _commit(branch: str, kept: Json) -> CommitSnapshot:
    """Read `commit`: a commit that removes live files."""
    return CommitSnapshot(
        branch, kept["newest"], base64.b64decode(kept["newest_bytes"]), kept["user"], tuple(kept["files"])
    )


def _swap(run: Run, removes: Removes, frees: Frees) -> tuple[Effect, ...]:
    """Read `edit`: a commit of Iceberg metadata."""
    edit = run.plan["edit"]
    swap = SwapMetadata(tuple(removes), tuple(_pairs(edit["sets"])), tuple(_pairs(edit["beside"])))
    changes = [swap] if swap.removes or swap.sets else []
    if run.change.names_a_reference and not frees:
        return tuple(changes)
    waits = bool(removes) and any(kind != ObjectKind.METADATA.value for _, kind, _ in frees)
    return ended(changes, len(frees), _total(frees), waits=waits)


def _pairs(kept: Iterable[Sequence[str]]) -> list[tuple[str, bytes]]:
    return [(path, base64.b64decode(text)) for path, text in kept]


def _total(frees: Frees) -> int:
    return sum(size for _, _, size in frees)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
