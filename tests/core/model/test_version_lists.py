"""How sentences count and list versions."""

from __future__ import annotations

import pytest

from core.model.version_lists import of_refs, of_versions, which, with_and


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ([str(number) for number in range(8, 39)], "8–38"),
        (["8", "9"], "8, 9"),
        (["8", "9", "11", "12", "13", "20"], "8, 9, 11–13, 20"),
        (["9", "8", "7"], "9, 8, 7"),
        (["branch:b/1", "branch:b/2", "branch:b/3"], "branch:b/1–3"),
        (["1", "2", "branch:b/3"], "1, 2, branch:b/3"),
        (["branch:b/changelog:9", "branch:b/changelog:10", "branch:b/changelog:11"], "branch:b/changelog:9–11"),
        (["v1", "v2", "v3"], "v1, v2, v3"),
        (["1", "3", "5", "7", "9", "11", "12", "13"], "1, 3, 5, 7 and 4 more"),
        (["9", "10", "11", "13", "15", "17", "19"], "9–11, 13, 15, 17 and 1 more"),
        (["0", "1", "2"], "0–2"),
        (["008", "009", "10"], "008, 009, 10"),
        ([], ""),
    ],
)
def test_consecutive_ids_are_ranges(names: list[str], shown: str) -> None:
    assert which(names) == shown


def test_each_kind_is_counted() -> None:
    points = ["1", "2", "3", "changelog:1", "tag:v", "branch:b/tag:w", "branch:b"]
    assert [*of_refs(points)] == ["1 branch (b)", "2 tags (v, branch:b/tag:w)"]
    assert with_and(of_versions(points)) == "3 snapshots (1–3) and 1 changelog (1)"
    assert (of_refs(["1"]), of_versions(["tag:v"])) == ([], [])


def test_no_more_than_a_few_runs_are_named() -> None:
    points = [str(number) for number in range(1, 4_000, 2)]
    assert with_and(of_versions(points)) == "2,000 snapshots (1, 3, 5, 7 and 1,996 more)"
