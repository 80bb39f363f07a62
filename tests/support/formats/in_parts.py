"""A history built in parts, compared with the whole."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from core.formats import parts as in_parts
from core.formats.parts import Facts, HistoryPart, HolderFrame
from core.model.history import History, Totals
from core.model.intervals import Intervals
from core.model.references import Problem
from core.table import Table


def built(table: Table, whole: History, parts: int) -> tuple[HolderFrame, list[HistoryPart]]:
    """The frame and the parts of a history: each manifest is decoded alone, the last one first."""
    given = table.format.in_parts(whole.heads, changelogs=any(not holder.exists for holder in whole.holders))
    reader = pickle.loads(pickle.dumps(given.reader()))
    facts: list[Facts] = []
    entries: list[list[pa.Table]] = [[] for _ in range(parts)]
    for manifest in reversed(given.manifests):
        told, rows, of = reader.entries([manifest], parts)
        facts += told
        for part, own in in_parts.divided(rows, of):
            entries[part].append(own)
    assert [each.manifest for each in facts] == [number for number, _, _ in reversed(given.manifests)]
    frame = given.frame(facts)
    builder = pickle.loads(pickle.dumps(frame.builder))
    return frame, [builder.part(own, part, parts) for part, own in enumerate(entries)]


def agrees(table: Table, whole: History, parts: int) -> None:
    """Assert that parts have together exactly what the whole has."""
    frame, made = built(table, whole, parts)
    found = [each.history for each in made]
    assert frame.holders == whole.holders
    assert frame.heads == whole.heads
    assert frame.warnings == whole.warnings
    assert Counter(row for each in found for row in _objects(each)) == Counter(_objects(whole))
    assert Counter(row for each in found for row in _files(each)) == Counter(_files(whole))
    each = [history.totals for history in found]
    totals = Totals(*(sum(getattr(own, name) for own in each) for name in ("files", "bytes", "rows", "data_files")))
    assert _told(frame.problems(totals)) == _told(whole.incomplete)
    _examined_alike(table, whole, frame, made)


def _examined_alike(table: Table, whole: History, frame: HolderFrame, made: list[HistoryPart]) -> None:
    """Assert that contradictions, and doubts about files to be deleted, are found in parts as in the whole.

    Half of the files of all versions would be deleted, some of which are not there.
    """
    if frame.examination is None:
        return
    paths = whole.objects["path"].to_pylist()[::2]
    expected = table.examine(whole, dict.fromkeys(paths, "data"))
    wrong = {number for each in made for number in each.contradictory.tolist()}
    assert frame.examination.problems(whole, wrong) == expected.problems
    check = pickle.loads(pickle.dumps(frame.examination.check(paths)))
    listed = pa.concat_tables([check.listed([each]) for each in check.directories.to_pylist()] or [check.listed([])])
    of = in_parts.part_of(listed["path"].combine_chunks(), len(made))
    found = []
    for part, each in enumerate(made):
        history = each.history
        held = history.objects.filter(pa.array(history.held.over(history.existing)))
        found.append(check.missing(held, listed.filter(pa.array(of == part))))
    doubt = frame.examination.doubt(check, pickle.loads(pickle.dumps(found)), paths)
    assert {path: doubt(path) is None for path in paths} == {path: expected.doubt(path) is None for path in paths}
    there, near = set(listed["path"].to_pylist()), set(check.directories.to_pylist())
    assert {path for path in paths if path.rpartition("/")[0] in near and path not in there} == expected.gone


def _told(problems: Mapping[int, tuple[Problem, ...]]) -> dict[int, list[Problem]]:
    """Problems without what was found: a decoder's sentence may list the same things in any order."""
    return {position: [replace(each, found="") for each in own] for position, own in problems.items()}


def _objects(history: History) -> Iterator[tuple[Any, ...]]:
    places = _places(history.held)
    for number, row in enumerate(history.objects.select(["path", "kind", "bytes", "ours"]).to_pylist()):
        yield *row.values(), places[number]


def _files(history: History) -> Iterator[tuple[Any, ...]]:
    places, paths = _places(history.live), history.objects["path"].to_pylist()
    for number, row in enumerate(history.files.to_pylist()):
        assert paths[row.pop("object")] == row["path"]
        yield *row.values(), places[number]


def _places(runs: Intervals) -> list[bytes]:
    """Per object: the positions that hold it."""
    covered = np.zeros((runs.owners, runs.positions), dtype=np.bool_)
    for owner, first, last in zip(runs.owner, runs.first, runs.last, strict=True):
        covered[owner, first : last + 1] = True
    return [row.tobytes() for row in covered]
