"""Which small files are compacted together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from core.analysis import file_health
from core.errors import Invalid
from core.formats.paimon.write import full_compaction, manifest_merging, small_files
from core.model.references import Field, Schema


def entry(number: int, size: int, partition: bytes = b"p") -> dict[str, Any]:
    return {"_PARTITION": partition, "_FILE": {"_FILE_NAME": f"data-{number:03}", "_FILE_SIZE": size}}


def sizes(found: list[list[dict[str, Any]]]) -> list[list[int]]:
    return [[each["_FILE"]["_FILE_SIZE"] for each in small] for small in found]


RULES = small_files.SmallFileOptions(target=100, small=70, opening=10, least=3)


@pytest.mark.parametrize(
    ("files", "become"),
    [
        ([5, 6], []),
        ([5, 6, 7], [[5, 6, 7]]),
        ([5, 99, 70, 6, 7], [[5, 6, 7]]),  # what is large enough stays
        ([60, 60, 60, 5, 5, 5, 5], [[5, 5, 5, 5, 60, 60]]),  # as large as two, with what opening each costs
        ([60] * 7, [[60, 60, 60], [60, 60, 60]]),
    ],
)
def test_small_files_fill_one_after_the_other(files: list[int], become: list[list[int]]) -> None:
    assert sizes(small_files.bins([entry(n, size) for n, size in enumerate(files)], RULES)) == become


def test_partitions_are_kept_apart() -> None:
    live = [entry(n, 5, bytes([n % 2])) for n in range(6)]
    assert [{each["_PARTITION"] for each in small} for small in small_files.bins(live, RULES)] == [{b"\0"}, {b"\1"}]


def test_a_task_reads_small_bins_together_and_one_of_each_partition() -> None:
    packed = [[entry(1, 60, b"a")] * 3, [entry(2, 60, b"a")] * 2, [entry(3, 5, b"b")] * 3, [entry(4, 90, b"c")]]
    assert sizes(small_files.tasks(packed, RULES)) == [[60, 60, 60], [60, 60, 5, 5, 5], [90]]
    assert small_files.tasks([], RULES) == []


def test_the_tables_options_count() -> None:
    assert small_files.rules({}) == small_files.SmallFileOptions()
    options = {"target-file-size": "1 mb", "compaction.small-file-ratio": "0.5", "compaction.min.file-num": "2"}
    assert small_files.rules(options) == small_files.SmallFileOptions(1 << 20, 1 << 19, 4 << 20, 2)
    with pytest.raises(Invalid, match="not a valid size: 'much'"):
        small_files.rules({"target-file-size": "much"})


@pytest.mark.parametrize("text", ["many", "", "nan", "inf", "9" * 400])
def test_an_option_that_is_no_number_is_told_by_its_name(text: str) -> None:
    """In place of an error of Python's, which no page and no command expects."""
    for key, asked in (
        ("compaction.small-file-ratio", small_files.rules),
        ("compaction.small-file-ratio", lambda options: file_health.small("paimon", options)),
        ("compaction.min.file-num", small_files.rules),
        ("manifest.merge-min-count", manifest_merging.rules),
        ("num-levels", lambda options: full_compaction.levels(keyed(options))),
        ("num-sorted-run.compaction-trigger", lambda options: full_compaction.levels(keyed(options))),
    ):
        with pytest.raises(Invalid, match=f"The option {key} is {text!r}"):
            asked({key: text})


def keyed(options: Mapping[str, str]) -> Schema:
    return Schema(0, (Field(0, "id", "INT NOT NULL"),), (), ("id",), options, 0)
