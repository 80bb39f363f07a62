"""Long proofs: claims tried on one random case after another, for as long as there is time.

    python -m tests.proof --minutes 60        goes on where the last run stopped; writes proof.json
    python -m tests.proof --only runs --seed 7    one case again, with its traceback
    python -m tests.proof --table             writes the table in docs/proofs.md from proof.json

A proof is a file `tests/proofs/NAME.py`, found by being there:

    CLAIM = "one sentence for a reader of docs/proofs.md"
    NEEDS = "engines"                         optional: what it needs beyond Python, a kind of tests/conftest.py
    def missing() -> str | None: ...          optional: why it cannot run here
    def prove(seed: int) -> dict[str, int]:   raises where the claim fails; else counts what it looked at
                                              a case takes seconds, not minutes, and depends on its seed alone

Invariant: a number is told only of the code it was found with. What was done is remembered with a fingerprint of core,
the pinned versions, and the proof with every file it uses; where that changes, the proof starts again at seed 0.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import json
import os
import platform
import re
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.places import ROOT

PROOFS = ROOT / "tests" / "proofs"
STATE = ROOT / ".state" / "proof.json"
RESULT = ROOT / "proof.json"
PAGE = ROOT / "docs" / "proofs.md"
BEGIN, END = "<!-- proof: written by `make proof-table` -->", "<!-- /proof -->"


@dataclass
class Record:
    """The state of a proof. Seeds 0 … seeds-1 were tried; those in `failed` did not hold."""

    name: str
    claim: str
    code: str
    seeds: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)

    def run(self, prove: Callable[[int], dict[str, int]], seed: int) -> None:
        """Try one case and record the result; an interrupted case counts as not tried."""
        started = time.monotonic()
        try:
            counts = prove(seed)
        except Exception as error:  # noqa: BLE001 - whatever a case raises is what was found
            self.failed[str(seed)] = f"{type(error).__name__}: {error}"
            traceback.print_exc()
            print(f"FAILED, again by: python -m tests.proof --only {self.name} --seed {seed}", file=sys.stderr)
        else:
            self.counts.update(counts)
        self.seconds += time.monotonic() - started
        self.seeds += 1


def find() -> dict[str, Any]:
    """Return every proof's module by name."""
    names = sorted(path.stem for path in PROOFS.glob("*.py"))
    return {name: importlib.import_module(f"tests.proofs.{name}") for name in names}


def fingerprint(name: str) -> str:
    """Return the fingerprint of the code that a proof's numbers belong to."""
    digest = hashlib.sha256()
    for path in sorted({*(ROOT / "core").rglob("*.py"), ROOT / "constraints.txt", *code_of(PROOFS / f"{name}.py")}):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def code_of(start: Path) -> set[Path]:
    """Return a file, the repository files that it imports or names, and theirs, recursively."""
    found, todo = set[Path](), [start]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo += _used(path) if path.suffix == ".py" else []
    return found


def _used(path: Path) -> list[Path]:
    named: list[Path] = []
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                named += [ROOT / f"{each.name.replace('.', '/')}.py" for each in names]
            case ast.ImportFrom(module=str(module), names=names):
                package = ROOT / module.replace(".", "/")
                named += [package.with_suffix(".py"), *(package / f"{each.name}.py" for each in names)]
            case ast.Constant(value=str(text)) if re.fullmatch(r"[\w-]+\.\w+", text):
                named.append(path.parent / text)
    return [each for each in named if each.is_file()]


def remembered(name: str, module: Any) -> Record:
    """Return this proof's record if the code is the same; else a new record."""
    fresh = Record(name, module.CLAIM, fingerprint(name))
    if not STATE.is_file():
        return fresh
    known = json.loads(STATE.read_text()).get(name)
    if known is None or known["code"] != fresh.code:
        return fresh
    return Record(**{**known, "claim": fresh.claim, "counts": Counter(known["counts"])})


def save(path: Path, content: object) -> None:
    """Write the whole file or nothing: a run may be killed at any time."""
    path.parent.mkdir(exist_ok=True)
    whole = path.with_suffix(".new")
    whole.write_text(json.dumps(content, indent=1) + "\n")
    os.replace(whole, path)


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def machine() -> dict[str, object]:
    """Return what the times depend on."""
    cpu = next((line.split(": ")[1] for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "")
    return {
        "cpu": cpu or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except FileNotFoundError:
        return []


def prove_for(minutes: float, only: Sequence[str]) -> int:
    """Try cases until the time is over, always from the proof with the least time so far; return the exit status."""
    modules = {name: module for name, module in find().items() if not only or name in only}
    left_out = {name: why for name, module in modules.items() if (why := getattr(module, "missing", lambda: None)())}
    records = {name: remembered(name, module) for name, module in modules.items() if name not in left_out}
    if not records:
        print("No proof can run here.", *(f"{name}: {why}" for name, why in left_out.items()), file=sys.stderr)
        return 1
    code = {
        "commit": git("rev-parse", "HEAD"),
        "is_clean": not git("status", "--porcelain", "--", "core", "tests", "constraints.txt"),
    }
    start = {name: record.seeds for name, record in records.items()}
    until = time.monotonic() + minutes * 60
    saved = time.monotonic()
    try:
        while time.monotonic() < until:
            record = min(records.values(), key=lambda record: record.seconds)
            record.run(modules[record.name].prove, record.seeds)
            if record.failed or time.monotonic() - saved > 1:
                save_all(records, left_out, code)
                saved = time.monotonic()
    except KeyboardInterrupt:
        print("Stopped; the next run goes on here.", file=sys.stderr)
    finally:
        save_all(records, left_out, code)
    for name, record in records.items():
        counts = ", ".join(f"{count:,} {what}" for what, count in sorted(record.counts.items()))
        print(f"{name}: {record.seeds - start[name]:,} seeds now, {record.seeds:,} in all: {counts}")
        for seed, why in record.failed.items():
            print(f"{name}: FAILED at seed {seed}: {why}")
    print("left out: " + ("; ".join(f"{name} ({why})" for name, why in left_out.items()) or "nothing"))
    return 1 if any(record.failed for record in records.values()) else 0


def save_all(records: dict[str, Record], left_out: dict[str, str], code: dict[str, object]) -> None:
    """Write the records for the next run, and proof.json."""
    known = json.loads(STATE.read_text()) if STATE.is_file() else {}
    save(STATE, known | {name: vars(record) for name, record in records.items()})
    result = {
        **code,
        "written_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": machine(),
        "proofs": [vars(record) for record in records.values()],
        "left_out": left_out,
    }
    save(RESULT, result)


def table(result: dict[str, Any]) -> str:
    """Return the table for docs/proofs.md. Rejects numbers of uncommitted code, or with failures, because nobody could
    check them."""
    if failed := [proof["name"] for proof in result["proofs"] if proof["failed"]]:
        raise SystemExit(f"proof.json says that {', '.join(failed)} failed; docs/proofs.md is left as it is.")
    if not result["is_clean"]:
        raise SystemExit("proof.json was made from code that is not committed; docs/proofs.md is left as it is.")
    on = result["machine"]
    rows = ["| what was tried | seeds | looked at | minutes |", "|---|---:|---|---:|"]
    for proof in result["proofs"]:
        counts = ", ".join(f"{count:,} {what}" for what, count in sorted(proof["counts"].items()))
        rows.append(f"| {proof['claim']} | {proof['seeds']:,} | {counts} | {proof['seconds'] / 60:.1f} |")
    at = f"Commit {result['commit'][:12]}, {result['written_at'][:10]}, {on['cores']} cores ({on['cpu']}), "
    rows += ["", at + f"Python {on['python']}. No case failed."]
    rows += [f"Left out: {name} ({why})." for name, why in result["left_out"].items()]
    return "\n".join(rows)


def write_table() -> int:
    """Write the table between its marks in docs/proofs.md; return the exit status."""
    if not RESULT.is_file():
        raise SystemExit("There is no proof.json; make proof writes it.")
    page = PAGE.read_text()
    if BEGIN not in page or END not in page:
        raise SystemExit(f"docs/proofs.md lacks the marks {BEGIN} and {END}.")
    before, rest = page.split(BEGIN, 1)
    PAGE.write_text(f"{before}{BEGIN}\n{table(json.loads(RESULT.read_text()))}\n{END}{rest.split(END, 1)[1]}")
    return 0


def main(words: Sequence[str] | None = None) -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.proof", description="Long proofs; see the file's own text.")
    asked.add_argument("--minutes", type=float, default=10.0)
    asked.add_argument("--only", action="append", default=[], metavar="NAME", help="these proofs alone")
    asked.add_argument("--seed", type=int, help="one case, nothing remembered")
    asked.add_argument("--table", action="store_true", help="write the table in docs/proofs.md from proof.json")
    said = asked.parse_args(words)
    if unknown := sorted(set(said.only) - find().keys()):
        asked.error(f"there is no proof {', '.join(unknown)}; there are {', '.join(find())}")
    if said.table:
        return write_table()
    if said.seed is not None:
        for name, module in find().items():
            if not said.only or name in said.only:
                print(f"{name}: {module.prove(said.seed)}")
        return 0
    return prove_for(said.minutes, said.only)


if __name__ == "__main__":
    sys.exit(main())
