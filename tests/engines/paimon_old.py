"""Java Paimon from 0.4 to today, for tables as each of these releases wrote them (see OldPaimon.java).

    with OldPaimon("0.5.0-incubating") as engine:
        engine.create(table, keyed=True, options={"bucket": "1"})
        engine.write(table, [["+I", 1, "a", "x"]])
        engine.expire(table, keep=1)

The commands are the few that all of them have; `PaimonJudge` knows many more, from 0.9 on. Tables lie in
`warehouse/default.db/name`, as releases of that age find them by a catalog only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tests.engines.java import JAVA_FLAGS, Missing, compiled, fetched, find_java, from_pyspark
from tests.engines.lines import Lines
from tests.engines.paimon_java import HERE, NO_DEFAULTS, POM, RELEASES, Table

OLD_RELEASES = {
    **{f"{release}-incubating": "paimon-bundle" for release in ("0.4.0", "0.5.0", "0.6.0", "0.7.0")},
    "0.8.2": "paimon-bundle",
    **dict(reversed(RELEASES.items())),
}
"""Oldest first."""
WITHOUT_TAGS = ("0.4.0-incubating",)
SOURCE = HERE / "OldPaimon.java"


def class_path(version: str) -> str:
    words = ["dependency:copy", f"-Dpaimon.artifact={OLD_RELEASES[version]}", f"-Dpaimon.version={version}"]
    jars = [*fetched(f"paimon-{version}", POM, [*words, "-Djars={}"]), *from_pyspark()]

    def hide_defaults(classes: Any) -> None:
        for name in NO_DEFAULTS:
            (classes / name).write_text("<configuration/>\n")

    return compiled(f"old-classes-{version}", SOURCE, jars, hide_defaults, repr(NO_DEFAULTS))


def missing(version: str) -> str:
    """What this machine lacks to run a release; "" where nothing. Fetches and compiles it."""
    try:
        class_path(version)
    except Missing as lack:
        return str(lack)
    return ""


class OldPaimon(Lines):
    """A JVM with one release of Paimon."""

    def __init__(self, version: str, timeout_s: float = 300) -> None:
        java, _ = find_java()
        flags = [*JAVA_FLAGS, "-Duser.timezone=UTC", "-Djava.io.tmpdir={own}"]
        super().__init__([java, *flags, "-cp", class_path(version), "OldPaimon", "{own}"], timeout_s=timeout_s)
        self.version = version

    def _run(self, cmd: str, table: Table, **fields: Any) -> Any:
        return self.ask(cmd=cmd, table=os.fspath(table), **fields)

    def create(self, table: Table, *, keyed: bool, options: Mapping[str, str]) -> None:
        self._run("create", table, keyed=keyed, options=dict(options))

    def write(self, table: Table, rows: Sequence[Sequence[Any]], compact: Sequence[tuple[str, int]] = ()) -> None:
        """Commits rows ("+I" or "-D", k, dt, v), and compacts these (dt, bucket) fully."""
        self._run("write", table, rows=list(rows), compact=[list(each) for each in compact])

    def tag(self, table: Table, name: str, snapshot: int) -> None:
        self._run("tag", table, name=name, snapshot=snapshot)

    def delete_tag(self, table: Table, name: str) -> None:
        self._run("delete_tag", table, name=name)

    def expire(self, table: Table, keep: int) -> None:
        """Keeps the newest snapshots, so many."""
        self._run("expire", table, keep=keep)

    def rows(self, table: Table, **point: str) -> list[str]:
        """Each row as text, in order. `point`: snapshot="1" or tag="v", else the newest."""
        return self._run("read", table, options=_scan(point))

    def files(self, table: Table, **point: str) -> list[str]:
        """Names of the live data files, in order."""
        return sorted(self._run("files", table, options=_scan(point)))


def _scan(point: Mapping[str, str]) -> dict[str, str]:
    keys = {"snapshot": "scan.snapshot-id", "tag": "scan.tag-name"}
    return {keys[kind]: value for kind, value in point.items()}
