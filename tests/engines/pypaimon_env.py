"""pypaimon as a judge, in an environment of its own: its pins (pyarrow < 20) clash with ours.

    with PypaimonJudge() as judge:
        judge.rows(table, tag="v1")

What pypaimon 2.1 does not do: compact, expire, follow `incremental-between` (it ignores it and reads the newest). Its
`delete_tag` removes the tag's file and nothing else. It reads Java 0.9's manifests here only because the judge fills
in the fields they lack.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.engines.java import Missing, alone
from tests.engines.lines import CACHE, Lines, last_words
from tests.engines.paimon_java import Row, Table, ordered

HERE = Path(__file__).resolve().parent
SCRIPT = HERE / "pypaimon_judge.py"
PINS = (
    "pypaimon==2.1.0",
    "pyarrow==19.0.1",
    "fastavro==1.13.1",
    "pandas==2.3.3",
    "polars==1.44.2",
    "zstandard==0.25.0",
)
ENVIRONMENT = CACHE / "pypaimon-venv"


def python() -> Path:
    """The interpreter of pypaimon's environment, which is made where it is missing or pins something else."""
    own = ENVIRONMENT / "bin" / "python"
    stamp = ENVIRONMENT / ".made-of"
    wanted = hashlib.sha256("\n".join([*PINS, sys.version]).encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted and own.is_file():
        return own
    with alone(CACHE):
        if not (stamp.is_file() and stamp.read_text() == wanted and own.is_file()):
            shutil.rmtree(ENVIRONMENT, ignore_errors=True)
            _run(sys.executable, "-m", "venv", str(ENVIRONMENT))
            _run(str(own), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PINS)
            stamp.write_text(wanted)
    return own


def _run(*command: str) -> None:
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Missing(f"{PINS[0]} cannot be installed: {last_words(done.stderr or done.stdout)}")


@functools.cache
def missing() -> str:
    """What this machine lacks to ask pypaimon; "" where nothing. Makes the environment (about 20 s, 600 MB)."""
    try:
        python()
    except Missing as lack:
        return str(lack)
    return ""


def available() -> bool:
    return not missing()


class PypaimonJudge(Lines):
    """A process with pypaimon. Points are snapshot=, tag=, time_ms=, watermark=, version=, or the newest; branch=."""

    def __init__(self, timeout_s: float = 300) -> None:
        env = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": os.environ.get("HOME", "/"),
            "TZ": "UTC",
            "PYTHONWARNINGS": "ignore",
        }
        super().__init__([str(python()), str(SCRIPT)], env=env, timeout_s=timeout_s)

    def run(self, cmd: str, table: Table, **fields: Any) -> Any:
        return self.ask(cmd=cmd, table=os.fspath(table), **fields)

    def hello(self) -> dict[str, str]:
        """The versions: `python`, `pypaimon`."""
        return self.ask(cmd="hello")

    def rows(self, table: Table, **point: Any) -> list[list[Any]]:
        """Every row, in the same order and with the same values as the Java judge's."""
        return ordered(self.run("read", table, **point)["rows"])

    def count(self, table: Table, **point: Any) -> int:
        return self.run("read", table, count=True, **point)["count"]

    def files(self, table: Table, **point: Any) -> list[dict[str, Any]]:
        """Live data files: path, bytes, rows, bucket, level, schema_id, min_sequence, max_sequence."""
        return self.run("files", table, **point)

    def travel(self, table: Table, **point: Any) -> int | None:
        """Which snapshot a read at this point takes."""
        return self.run("travel", table, **point)["snapshot"]

    def snapshots(self, table: Table, **at: Any) -> list[dict[str, Any]]:
        """id and timeMillis of each."""
        return self.run("snapshots", table, **at)

    def create(
        self,
        table: Table,
        columns: Sequence[tuple[str, str]],
        *,
        partition_keys: Sequence[str] = (),
        primary_keys: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
    ) -> None:
        """A new table `<warehouse>/<db>.db/<table>`; types as in pypaimon_judge.ARROW."""
        keys = {"partition_keys": list(partition_keys), "primary_keys": list(primary_keys)}
        self.run("create", table, columns=[list(c) for c in columns], options=dict(options or {}), **keys)

    def write(
        self, table: Table, rows: Sequence[Row], *, overwrite: Mapping[str, str] | None = None, **at: Any
    ) -> list[int]:
        """Appends or upserts, or overwrites a partition; the ids of the snapshots it made."""
        return self.run("write", table, rows=[list(row) for row in rows], overwrite=overwrite, **at)["snapshots"]

    def create_tag(self, table: Table, name: str, *, snapshot: int | None = None, **at: Any) -> None:
        self.run("create_tag", table, name=name, snapshot=snapshot, **at)

    def delete_tag(self, table: Table, name: str, **at: Any) -> bool:
        return self.run("delete_tag", table, name=name, **at)
