"""What a commit changed as facts: a line for each partition, the largest first. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from core.analysis.commit_changes import CommitSummary, Sums
from dashboard import words
from dashboard.formatting import markup, units
from dashboard.formatting.language import noun
from dashboard.formatting.markup import Piece


def by_partition(change: CommitSummary) -> list[tuple[str, Piece]]:
    return [(name or words.NO_PARTITION, markup.join(_line(sums), " · ")) for name, sums in change.partitions.items()]


def _line(sums: Sums) -> Iterator[Piece]:
    for added, removed, counted in (
        (sums.added_rows, sums.removed_rows, noun("row")),
        (sums.added_files, sums.removed_files, noun("file")),
    ):
        if added:
            yield markup.in_hue("added", units.signed_plural(added, counted))
        if removed:
            yield markup.in_hue("removed", units.signed_plural(-removed, counted))
    net = sums.added_bytes - sums.removed_bytes
    yield markup.hint(units.signed_size(net), units.exact_bytes(net))
