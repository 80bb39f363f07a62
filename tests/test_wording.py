"""No result, receipt, exit status, plan or fingerprint depends on the wording of a message."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support import wording


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wording")


@pytest.fixture(scope="module")
def plain(place: Path) -> Mapping[str, Any]:
    return wording.facts("plain", place)


@pytest.mark.slow
@pytest.mark.parametrize("words", ["random", "otherwise", "alike"])
def test_nothing_is_decided_by_a_sentence(words: str, place: Path, plain: Mapping[str, Any]) -> None:
    said = wording.facts(words, place)
    assert said.keys() == plain.keys()
    assert [name for name in plain if said[name] != plain[name]] == []


@pytest.mark.slow
def test_the_answers_are_of_every_kind(plain: Mapping[str, Any]) -> None:
    """The comparison is not empty: it includes changes that succeed, stay incomplete, and are rejected."""
    changed = {name: plain[name] for name in wording.CHANGES}
    assert {status for status, _ in changed.values()} >= {0, 1}
