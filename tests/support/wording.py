"""Answers, plans and receipts without their texts: `python -m tests.support.wording WORDING PLACE` prints them as JSON,
with every message reworded by `WORDING`.

A wording patches `Message`, which all messages of core use, before any core module creates one. Texts of the dashboard
are replaced by name, when pages read them.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

NOW = 4_000_000_000_000
TEXTS = frozenset(
    "headline reasons rules warnings notes native message remedy why rule engine_note breaks prevented_by problem "
    "problems words note told deletes expires ends best_drops_untold text".split()
)
"""Keys whose values are messages. Only their number is compared."""
SAID: list[str] = []
"""Texts that a page used."""
CHANCE = frozenset("run journal_head id started_ms ended_ms hash at_ms who host seconds".split())
"""Keys that differ from run to run."""


def worded(wording: str) -> Callable[[str], str]:
    """Return a function that rewords a message: unchanged, randomly (but the same text always alike), or all
    identical."""
    if wording == "plain":
        return str
    if wording == "alike":
        return lambda _: "…"

    def made(text: str) -> str:
        chance = random.Random(hashlib.sha256(f"{wording}{text}".encode()).digest())
        return " ".join("".join(chance.choices("bcdfgklmnprtvz", k=5)) for _ in range(3))

    return made


def reword(wording: str) -> None:
    from core import messages

    word = worded(wording)
    messages.Message.__new__ = lambda cls, text="": str.__new__(cls, word(text))  # type: ignore[method-assign,assignment]


def reword_pages(wording: str) -> None:
    from dashboard import words

    word = worded(wording)
    for name, value in list(vars(words).items()):
        if not name.startswith("_") and getattr(value, "__module__", "dashboard.words").startswith("dashboard.words"):
            setattr(words, name, _reworded(value, word))


def _reworded(value: Any, word: Callable[[str], str]) -> Any:
    match value:
        case str():
            return word(value)
        case dict():
            return {key: _reworded(each, word) for key, each in value.items()}
        case tuple() | list() if type(value) in (tuple, list):
            return type(value)(_reworded(each, word) for each in value)
        case _ if callable(value) and not isinstance(value, type):
            name = value.__name__

            def said(*given: Any, **named: Any) -> Any:
                SAID.append(name)
                return _reworded(value(*given, **named), word)

            return said
        case _:
            return value


# tables --------------------------------------------------------------------------------------------------------------


def build(place: Path) -> None:
    """Create tables of both formats that cause as many messages as possible."""
    from tests.support.builders import TableBuilder
    from tests.support.execution import ground, iceberg_ground
    from tests.support.iceberg_tables import PYICEBERG, moved

    def replaced(name: str, **options: str) -> TableBuilder:
        table = TableBuilder(place / "default.db" / name, options={k.replace("_", "."): v for k, v in options.items()})
        for _ in range(4):
            table.commit([table.file()], table.live(), kind="OVERWRITE")
        return table

    place.mkdir(parents=True)
    ground.small_table(ground.warehouse(place))
    newest = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"}
    cut = replaced("cut", **newest)  # the engine breaks a branch, and strands files that it does not see
    cut.tag("v", 2)
    cut.branch("dev", "v")
    cut.delete_tag("v")
    replaced("unseen", **newest).hints(earliest=3)
    replaced("failing", **newest).hints(latest=7)
    stranding = replaced("stranding", **newest)
    stranding.tag("a", 2)
    gap = replaced("gap", **newest)
    gap.commit([gap.file()], id=9)
    gap.consumer("reader", 3)
    gap.tag("ending", 2, created=dt.datetime(2026, 1, 1), retained_s=60)
    counted = replaced("counted", **{"snapshot.num-retained.min": "3", "snapshot.num-retained.max": "6"})
    counted.tag("kept", 1)
    changes = TableBuilder(place / "default.db" / "changes", options={"changelog-producer": "input"})
    for _ in range(4):
        changes.commit([changes.file()], changes.live(), changelog=[changes.file(prefix="changelog-")])
    doubtful = TableBuilder(place / "default.db" / "doubtful")
    kept = doubtful.file()
    doubtful.commit([kept, doubtful.file()])
    doubtful.commit([doubtful.file()], [each for each in doubtful.live() if each is not kept], kind="OVERWRITE")
    (doubtful.root / "bucket-0" / kept.name).unlink()  # such files may be the ones in question
    (doubtful.root / "bucket-0" / "data-00000000-0000-0000-0000-000000000000-0.parquet").write_bytes(b"x")
    unread = replaced("unread", **newest)
    unread.tag("odd", 2)
    (unread.root / "tag" / "tag-odd").write_bytes(b"{")
    outer(place)
    iceberg_ground.small_table(place / "default.db" / "ice")
    moved(PYICEBERG / "append_history", place / "default.db" / "owned")


def outer(place: Path) -> None:
    """Create a table with files under its own outside root, and inside a nested table's directory."""
    from tests.support.builders import DataFile, TableBuilder

    root = place / "outer"
    table = TableBuilder(place / "default.db" / "outside", options={"data-file.external-paths": f"file:{root}"})

    def made(directory: str, number: int) -> DataFile:
        at = root / directory / "bucket-0"
        at.mkdir(parents=True, exist_ok=True)
        (at / f"data-{number}.parquet").write_bytes(bytes(100))
        return DataFile(f"data-{number}.parquet", 100, 1, (), external=f"file:{at}/data-{number}.parquet")

    table.commit([made("a/b/c/mine", 1), made("a/b/c/theirs", 2), made("a/b/c/others", 3)])
    table.commit([made("a/b/c/mine", 4)], table.live(), kind="OVERWRITE")
    for each in ("theirs", "others"):
        (root / "a/b/c" / each / "schema").mkdir()
        (root / "a/b/c" / each / "schema" / "schema-0").write_bytes(b"{}")


# answers -------------------------------------------------------------------------------------------------------------

ALL = "orders cut unseen failing stranding gap counted changes doubtful unread outside ice owned".split()
RETAIN = "--retain-max 1 --retain-min 1"
QUESTIONS = (
    "tables {w}",
    *(f"{ask} {{w}}/default.db/{name}" for name in ALL for ask in ("snapshots", "tags")),
    *(f"{ask} {{w}}/default.db/{name} --now {NOW}" for name in ALL for ask in ("cost", "orphans")),
    *(f"files {{w}}/default.db/{name}" for name in ALL),
    *(
        f"as-of {{w}}/default.db/{name} {at}"
        for name in ALL
        for at in ("latest", "2", "time:2026-01-02T00:00:00Z", "x:1")
    ),
    *(f"diff {{w}}/default.db/{name} earliest latest" for name in ALL),
    *(f"plan expire {{w}}/default.db/{name} --now {NOW}" for name in ALL),
    *(f"plan expire {{w}}/default.db/{name} {RETAIN} --now {NOW}" for name in ALL),
    *(f"plan expire {{w}}/default.db/{name} --older-than {NOW} --now {NOW}" for name in ALL),
    f"plan delete-tag {{w}}/default.db/stranding --tag a --now {NOW}",
    f"plan delete-tag {{w}}/default.db/orders --tag early --tag packed --now {NOW}",
    f"plan delete-tag {{w}}/default.db/ice --tag early --now {NOW}",
    f"plan create-tag {{w}}/default.db/orders --tag new --now {NOW}",
    f"plan replace-tag {{w}}/default.db/gap --tag ending --snapshot 3 --now {NOW}",
    f"plan rollback {{w}}/default.db/orders 5 --now {NOW}",
    f"plan rollback {{w}}/default.db/orders 5 --destructive --now {NOW}",
    f"plan delete-branch {{w}}/default.db/orders b --now {NOW}",
    f"plan fast-forward {{w}}/default.db/orders b --now {NOW}",
    f"plan expire --all {{w}} --now {NOW}",
    "holders {w}/default.db/orders snapshot/snapshot-1",
    "no-such-command",
    "plan expire {w}/default.db/nowhere",
)
CHANGES = (
    f"expire {{w}}/default.db/orders {RETAIN} --now {NOW} --settle 0s --yes",
    f"expire {{w}}/default.db/orders {RETAIN} --now {NOW} --settle 0s --yes",
    f"expire {{w}}/default.db/doubtful {RETAIN} --now {NOW} --settle 0s --yes",
    f"orphans {{w}}/default.db/doubtful --delete --older-than {NOW} --now {NOW} --settle 0s --yes",
    f"expire {{w}}/default.db/cut {RETAIN} --now {NOW} --settle 0s --yes",
    f"expire {{w}}/default.db/outside {RETAIN} --now {NOW} --settle 0s --yes",
    f"expire {{w}}/default.db/outside {RETAIN} --now {NOW} --settle 0s --yes --outside {{w}}/outer",
    f"expire-tags {{w}}/default.db/gap --now {NOW} --settle 0s --yes",
    f"delete-tag {{w}}/default.db/orders --tag twin --now {NOW} --settle 0s --yes",
    f"delete-branch {{w}}/default.db/orders b --now {NOW} --settle 0s --yes",
    f"rollback {{w}}/default.db/counted 2 --destructive --now {NOW} --settle 0s --yes",
    f"create-tag {{w}}/default.db/counted --tag new --now {NOW} --yes",
    f"expire {{w}}/default.db/ice --older-than {NOW} --now {NOW} --settle 0s --yes",
    f"expire {{w}}/default.db/owned --older-than {NOW} --now {NOW} --settle 0s --yes",
    f"expire {{w}}/default.db/unread {RETAIN} --now {NOW} --settle 0s --yes",
    "audit",
)


def bare(value: Any, key: str = "") -> Any:
    """Remove messages and random values from an answer."""
    if key in CHANCE:
        return None
    if key in TEXTS:
        return len(value) if isinstance(value, list | dict) else value is not None
    if isinstance(value, dict):
        return {name: bare(each, name) for name, each in value.items()}
    if key == "points" and value and isinstance(value[0], list):  # of a journal: version, kept?, why
        return [[point, keep, len(why)] for point, keep, why in value]
    return [bare(each) for each in value] if isinstance(value, list) else value


def commands(place: Path) -> Iterator[tuple[str, Any]]:
    from core.cli import main

    for command in (*QUESTIONS, *CHANGES):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = main([*command.format(w=place).split(), "--json"])
        documents = [json.loads(line) for line in _documents(out.getvalue())]
        yield command, [status, bare(documents)]


def _documents(text: str) -> Iterator[str]:
    decoder, at = json.JSONDecoder(), 0
    while (at := next((i for i in range(at, len(text)) if text[i] in "{["), -1)) >= 0:
        try:
            _, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            at += 1
            continue
        yield text[at:end]
        at = end


def values(place: Path) -> Iterator[tuple[str, Any]]:
    """Yield the values that pages are made of."""
    from core.analysis import expiration_dates
    from core.errors import SnapscopeError
    from core.model.actions import CreateTag, Expire
    from core.planning.confirmation import danger
    from core.table import open_table
    from dashboard.view_models import notices

    for name in ALL:
        table = open_table(f"{place}/default.db/{name}")
        history = table.history()
        dates = expiration_dates.expiries(history.heads, NOW)
        yield f"dates of {name}", {point: each.not_before_ms for point, each in dates.items()}
        SAID.clear()
        yield f"notices of {name}", [[each.level for each in notices.notices(history.heads, history)], sorted(SAID)]
        coming = table.next_commit(history, NOW)
        yield f"next commit of {name}", coming and [coming.expired, len(coming.breaks), len(coming.prevented_by)]
        lives = [expiration_dates.life(history, path, NOW) for path in history.objects["path"].to_pylist()]
        yield f"lives of {name}", [each and [each.last, each.not_before_ms, each.holders] for each in lives]
        for change in (Expire(retain_max=1, retain_min=1), Expire(older_than_ms=NOW), CreateTag("made")):
            try:
                plan = table.preview(change, NOW, history)
            except SnapscopeError as error:
                yield f"{change} of {name}", error.kind
                continue
            grave = danger(plan, name)
            native = [each.code.name for each in table.native(plan, history)]
            yield (
                f"{change} of {name}",
                [plan.fingerprint, grave.phrase, len(grave.why), len(plan.warnings), len(plan.notes), native],
            )


def main() -> None:
    wording, place = sys.argv[1], Path(sys.argv[2])
    reword(wording)
    reword_pages(wording)
    print(json.dumps({**dict(values(place)), **dict(commands(place))}, default=str))


def facts(wording: str, place: Path) -> Any:
    """Return the program's answers with this wording, always for the same tables in the same place."""
    built = place / "built"
    if not built.exists():
        build(place / "w")
        (place / "w").rename(built)
    for each in ("w", "state", "cache"):
        shutil.rmtree(place / each, ignore_errors=True)
    shutil.copytree(built, place / "w", symlinks=True)
    own = {"SNAPSCOPE_STATE": f"{place}/state", "SNAPSCOPE_CACHE": f"{place}/cache"}
    said = subprocess.run(
        [sys.executable, "-m", "tests.support.wording", wording, f"{place}/w"],
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
