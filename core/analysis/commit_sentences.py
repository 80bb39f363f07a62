"""What a commit changed and whether that is usual, in a sentence; and what needs attention. Pure.

Invariant: the sentence has no time; whoever shows it adds one in the reader's zone. Numbers are those of
`CommitSummary`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.analysis.commit_changes import CommitSummary, Sums
from core.analysis.usual_commits import LEAST, MOST, TIMES, Alike, Attention, Sign, Usual
from core.messages import both, counted, joined, listed, message
from core.units import duration, size

_SHOWN = 3


def sentence(change: CommitSummary, found: Usual | None) -> str:
    """Who did what to which partitions, and whether that is usual."""
    did = what(change)
    return did if found is None else both(did, usual_sentence(change, found))


def what(change: CommitSummary) -> str:
    """Who did what to which partitions."""
    who, kind = change.snapshot.commit_user or message("unknown user"), _kind(change)
    if not change.is_known:
        return message(
            "{who} ({kind}): the change is unknown, because the snapshot before it has expired or cannot be read.",
            who=who,
            kind=kind,
        )
    clauses = [*_clauses(change.sums, is_rewrite=change.is_rewrite)]
    did = listed(clauses) if clauses else message("no data file was added or removed")
    where = _where(change)
    if clauses and where:
        return message("{who} ({kind}): {did}, in {where}.", who=who, kind=kind, did=did, where=where)
    return message("{who} ({kind}): {did}.", who=who, kind=kind, did=did)


def _clauses(sums: Sums, *, is_rewrite: bool) -> Iterator[str]:
    if is_rewrite and sums.added_files and sums.removed_files:
        yield message(
            "rewrote {old} ({before}) into {new} ({after})",
            old=_files(sums.removed_files),
            before=size(sums.removed_bytes),
            new=_files(sums.added_files),
            after=size(sums.added_bytes),
        )
        return
    if sums.added_files:
        files, rows = _files(sums.added_files), _rows(sums.added_rows)
        yield message("added {rows} in {files} ({bytes})", rows=rows, files=files, bytes=size(sums.added_bytes))
    if sums.removed_files:
        files, rows = _files(sums.removed_files), _rows(sums.removed_rows)
        yield message("removed {rows} in {files} ({bytes})", rows=rows, files=files, bytes=size(sums.removed_bytes))
    if sums.added_deletes:
        yield counted(sums.added_deletes, "added {count} delete file", "added {count} delete files")


def _files(count: int) -> str:
    return counted(count, "{count} file", "{count} files")


def _rows(count: float) -> str:
    return counted(round(count), "{count} row", "{count} rows")


def _where(change: CommitSummary) -> str | None:
    """The partitions, by name as long as they are few; none of a table without."""
    names = [name for name in change.partitions if name]
    return _names(names) if names else None


def _names(names: Sequence[str]) -> str:
    if len(names) <= _SHOWN:
        return ", ".join(names)
    return message("{names} and {number} more partitions", names=", ".join(names[:2]), number=f"{len(names) - 2:,}")


_KINDS = {
    "append": message("append"),
    "overwrite": message("overwrite"),
    "compact": message("compaction"),
    "analyze": message("statistics only"),
    "delete": message("delete"),
    "replace": message("rewrite"),
}


def _kind(change: CommitSummary) -> str:
    """The kind of the commit in words; a kind that is not known, as it is written."""
    kind = change.snapshot.kind
    return _KINDS.get(kind.lower(), kind)


def usual_sentence(change: CommitSummary, found: Usual) -> str:
    """Whether a commit is usual, with the numbers that say so."""
    kind = _kind(change)
    if found.alike is None:
        return counted(
            found.number,
            "Too little history to say whether this is usual: {count} earlier commit of kind {kind}, "
            "at least {least} are needed.",
            "Too little history to say whether this is usual: {count} earlier commits of kind {kind}, "
            "at least {least} are needed.",
            kind=kind,
            least=LEAST,
        )
    verdict = "Larger than usual" if found.is_larger else "Smaller than usual" if found.is_smaller else "Usual"
    return message(
        "{verdict}: the median of the {number} earlier commits of kind {kind} {alike} is {median}, "
        "typically ± {spread}.",
        verdict=message(verdict),
        number=found.number,
        kind=kind,
        alike=_ALIKE[found.alike],
        median=_rows(found.median),
        spread=f"{round(found.spread):,}",
    )


_ALIKE = {
    Alike.WEEKDAY: message("at this weekday and hour"),
    Alike.TIME: message("at this time of day"),
    Alike.ANY: message("at any time"),
}


def rule() -> str:
    """The rule by which a commit counts as usual, as a sentence."""
    return message(
        "A commit is compared with the last {most} earlier commits of its kind on the branch, at the same weekday and "
        "hour (UTC); where fewer than {least} are known, at the same time of day; else at any time. It is unusual if "
        "it moved more than {times:g} times the median of their rows, or less than 1/{times:g} of it, and lies further "
        "away than 3 times their median deviation.",
        most=MOST,
        least=LEAST,
        times=TIMES,
    )


def attention_sentence(found: Attention) -> str:
    """Why a commit, or that none came, needs attention."""
    change, sums = found.change, found.change.sums
    id, who = change.snapshot.id, change.snapshot.commit_user or message("unknown user")
    if found.sign is Sign.LARGER and found.usual is not None:
        moved, times = _rows(found.usual.rows), found.usual.rows / max(found.usual.median, 1)
        median = _rows(found.usual.median)
        if not sums.removed_rows:
            return message(
                "Snapshot {id} by {who} added {rows}, {times:.1f} times the usual {median}.",
                id=id,
                who=who,
                rows=moved,
                times=times,
                median=median,
            )
        return message(
            "Snapshot {id} by {who} added and removed {rows}, {times:.1f} times the usual {median}.",
            id=id,
            who=who,
            rows=moved,
            times=times,
            median=median,
        )
    if found.sign is Sign.VANISHED:
        partitions = _names(change.vanished)
        return message(
            "Snapshot {id} by {who} removed every file of {partitions}.", id=id, who=who, partitions=partitions
        )
    if found.sign is Sign.DELETED:
        lost = sums.removed_rows - sums.added_rows
        return message(
            "Snapshot {id} by {who} removed {percent} % of the rows ({rows}).",
            id=id,
            who=who,
            percent=f"{100 * lost / max(change.rows_before, 1):.0f}",
            rows=_rows(lost),
        )
    if found.sign is Sign.SCHEMA:
        return message("Snapshot {id} by {who}: {changes}.", id=id, who=who, changes=joined(change.schema))
    return message(
        "No load for {silent}: the longest pause between the last loads was {longest}.",
        silent=_whole(found.silent_ms),
        longest=_whole(found.longest_ms),
    )


_STEPS = ((86_400_000, 3_600_000), (600_000, 60_000), (1_000, 1_000))


def _whole(ms: int) -> str:
    """A pause to the minute, of days to the hour; a shorter one to the second or as it is."""
    step = next((step for least, step in _STEPS if ms > least), 1)
    return duration(ms // step * step)
