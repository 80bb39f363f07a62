"""Tables as each release of Java Paimon wrote them, with what that release itself reads at each point and deletes.

    python -m tests.support.interop.old_tables        # makes tests/data/paimon_releases anew: one archive a release

An archive holds a directory for each table and `expected.json`: per table `points` (point → rows and data files, as
that release reads them) and `steps`: what went when it expired snapshots and deleted the tag, one after the other.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.engines.paimon_old import WITHOUT_TAGS, OldPaimon
from tests.support.places import ROOT

ARCHIVES = ROOT / "tests" / "data" / "paimon_releases"
FORMS = ("avro", "orc", "parquet")
KINDS: Mapping[str, Mapping[str, str]] = {
    **{form: {"manifest.format": form} for form in FORMS},
    "changelog": {"changelog-producer": "input"},
    "append": {"write-mode": "append-only", "bucket-key": "k"},
}
"""Options of the tables. No release reads a table whose commits have several formats."""
LOSES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("0.4.0-incubating", "0.5.0-incubating"), ("orc", "parquet")),
    **dict.fromkeys(("0.6.0-incubating", "0.7.0-incubating", "0.8.2"), ("parquet",)),
}
"""Formats of manifests that are not made. 0.4 and 0.5 lose entries of ORC when they read their own, 0.8 fails on
Parquet, and earlier releases were not tried with it."""
KEPT = ("0.4.0-incubating", "0.5.0-incubating", "0.7.0-incubating", "0.8.2", "0.9.0", "2.0.0")
"""Releases of which an archive is kept; the others are asked where engines are."""
Truth = dict[str, Any]


def make(engine: OldPaimon, table: Path, kind: str) -> Truth:
    """A table of seven commits with one compaction and, where the release has tags, a tag; what the engine reads."""
    keyed = kind != "append"
    options = {"bucket": "1", "num-sorted-run.compaction-trigger": "100", "file.format": "orc"}
    said = {key: value for key, value in KINDS[kind].items() if key != "write-mode" or _has_write_mode(engine)}
    engine.create(table, keyed=keyed, options=options | said)

    for number in range(3):
        engine.write(table, [["+I", number, "a", f"x{number}"], ["+I", 1, "b", f"y{number}"]])
    tagged = engine.version not in WITHOUT_TAGS
    if tagged:
        engine.tag(table, "v", 2)
    engine.write(table, [["-D", 1, "b", "y2"]] if keyed else [["+I", 3, "b", "y3"]])
    if keyed:
        engine.write(table, [], (("a", 0), ("b", 0)))
    for number in (5, 6):
        engine.write(table, [["+I", number, "a", f"x{number}"]])
    newest = max(int(path.name.split("-")[1]) for path in (table / "snapshot").glob("snapshot-*"))
    points: dict[str, Truth] = {}
    for number in range(1, newest + 1):
        at = {"snapshot": str(number)}
        points[str(number)] = {"rows": engine.rows(table, **at), "files": engine.files(table, **at)}
    if tagged:
        points["tag:v"] = {"rows": engine.rows(table, tag="v"), "files": engine.files(table, tag="v")}
    return points


def deletions(engine: OldPaimon, table: Path) -> list[Truth]:
    """What goes, step by step, when the engine expires all snapshots but three, then all but one, then the tag."""
    steps = []
    tags = [] if engine.version in WITHOUT_TAGS else ["v"]
    for keep, drop in [*((keep, None) for keep in (3, 1)), *((None, tag) for tag in tags)]:
        before = paths(table)
        if keep is not None:
            engine.expire(table, keep)
        else:
            engine.delete_tag(table, str(drop))
        steps.append({"keep": keep, "tag": drop, "deleted": sorted(before - paths(table))})
    return steps


def paths(table: Path) -> set[str]:
    return {path.relative_to(table).as_posix() for path in table.rglob("*") if path.is_file()}


def _has_write_mode(engine: OldPaimon) -> bool:
    """What a table without a key is was said by an option up to 0.5."""
    return engine.version < "0.6"


def kinds_of(release: str) -> list[str]:
    return [kind for kind in KINDS if kind not in LOSES.get(release, ())]


def copied(table: Path, to: Path) -> Path:
    place = to / "default.db" / table.name
    shutil.copytree(table, place)
    return place


def main(releases: list[str]) -> int:
    ARCHIVES.mkdir(parents=True, exist_ok=True)
    for release in releases or KEPT:
        with tempfile.TemporaryDirectory() as scratch, OldPaimon(release) as engine:
            expected: dict[str, Truth] = {}
            archive = ARCHIVES / f"{release.removesuffix('-incubating')}.zip"
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
                for kind in kinds_of(release):
                    table = Path(scratch) / "made" / "default.db" / kind
                    points = make(engine, table, kind)
                    steps = deletions(engine, copied(table, Path(scratch) / "expired"))
                    expected[kind] = {"points": points, "steps": steps}
                    for path in sorted(paths(table)):
                        if not path.rsplit("/", 1)[-1].startswith("."):
                            out.writestr(zipfile.ZipInfo(f"{kind}/{path}"), (table / path).read_bytes())
                out.writestr(zipfile.ZipInfo("expected.json"), json.dumps(expected, indent=1, sort_keys=True))
            sys.stdout.write(f"{archive.name} {archive.stat().st_size:,}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
