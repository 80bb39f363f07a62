"""The long proofs: each still runs, and their runner remembers, resumes and hides no failure."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import proof
from tests.support.depth import sample
from tests.support.places import ROOT

FOUND = proof.find()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[getattr(pytest.mark, module.NEEDS)] if hasattr(module, "NEEDS") else [])
        for name, module in sample(FOUND.items(), 8)
    ],
)
def test_every_proof_holds_on_its_first_seeds(name: str, seed: int) -> None:
    module = FOUND[name]
    if why := getattr(module, "missing", lambda: None)():
        pytest.skip(why)
    assert module.CLAIM
    counts = module.prove(seed)
    assert sum(counts.values()) > 0, "a proof that looked at nothing proves nothing"


@pytest.mark.slow
def test_a_proof_is_remembered_with_all_it_uses() -> None:
    """What it imports, what that imports, and the files that these run or compile."""
    used = {path.relative_to(ROOT).as_posix() for path in proof.code_of(proof.PROOFS / "differential.py")}
    engines = {
        f"tests/engines/{name}" for name in ("paimon_java.py", "java.py", "lines.py", "PaimonJudge.java", "pom.xml")
    }
    assert (
        engines
        | {
            "tests/support/interop/random_history.py",
            "tests/support/interop/engine_deleted.py",
            "core/execution/apply.py",
        }
        <= used
    )
    assert "tests/engines/IcebergJudge.java" not in used, "another proof's"


class Frame:
    """The runner with test proofs, in a separate directory."""

    def __init__(self, directory: Path, patch: pytest.MonkeyPatch) -> None:
        self.tried: list[int] = []
        self.bad: frozenset[int] = frozenset()
        self.code = "one"
        self.page = directory / "proofs.md"
        self.result = directory / "proof.json"
        module = SimpleNamespace(CLAIM="Even is not odd", prove=self.prove)
        patch.setattr(proof, "find", lambda: {"parity": module})
        patch.setattr(proof, "fingerprint", lambda name: self.code)
        patch.setattr(proof, "git", lambda *words: "" if words[0] == "status" else "c0ffee" * 6)
        for name, path in (("STATE", directory / "state.json"), ("RESULT", self.result), ("PAGE", self.page)):
            patch.setattr(proof, name, path)

    def prove(self, seed: int) -> dict[str, int]:
        if len(self.tried) % 5 == 4:
            self.tried.append(seed)
            raise KeyboardInterrupt
        self.tried.append(seed)
        assert seed not in self.bad, "it is odd"
        return {"numbers": 2}

    def run(self) -> int:
        return proof.main(["--minutes", "1"])

    def record(self) -> dict[str, Any]:
        return json.loads(self.result.read_text())["proofs"][0]


@pytest.fixture
def frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Frame:
    return Frame(tmp_path, monkeypatch)


def test_a_second_run_goes_on_where_the_first_was_stopped(frame: Frame) -> None:
    assert frame.run() == 0
    assert frame.run() == 0
    assert frame.tried == [0, 1, 2, 3, 4, 4, 5, 6, 7, 8], "seed 4 was interrupted, so it was not tried"
    assert (frame.record()["seeds"], frame.record()["counts"]) == (8, {"numbers": 16})


def test_other_code_starts_again(frame: Frame) -> None:
    frame.run()
    frame.code = "two"
    frame.run()
    assert frame.tried[5:] == [0, 1, 2, 3, 4]
    assert frame.record()["seeds"] == 4


def test_a_failure_fails_this_run_and_the_next_and_the_table(frame: Frame) -> None:
    frame.bad = frozenset({1})
    assert frame.run() == 1
    assert list(frame.record()["failed"]) == ["1"]
    assert frame.record()["counts"] == {"numbers": 6}
    assert frame.run() == 1
    frame.page.write_text(f"{proof.BEGIN}\n{proof.END}\n")
    with pytest.raises(SystemExit, match="parity failed"):
        proof.main(["--table"])


def test_the_table_is_written_between_its_marks(frame: Frame) -> None:
    frame.run()
    frame.page.write_text(f"above\n{proof.BEGIN}\nold\n{proof.END}\nbelow\n")
    assert proof.main(["--table"]) == 0
    written = frame.page.read_text()
    assert written.startswith(f"above\n{proof.BEGIN}\n| what was tried |")
    assert written.endswith(f"{proof.END}\nbelow\n")
    assert "| Even is not odd | 4 | 8 numbers |" in written
    assert "Commit c0ffeec0ffee" in written
    assert "old" not in written


def test_numbers_of_uncommitted_code_do_not_reach_the_page(frame: Frame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "git", lambda *words: " M core/model/intervals.py")
    frame.run()
    frame.page.write_text(f"{proof.BEGIN}\n{proof.END}\n")
    with pytest.raises(SystemExit, match="not committed"):
        proof.main(["--table"])
