"""A query that was stopped gives its cores back, in a process of its own: the Spark of the other tests would end."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from tests.places import ROOT, TABLES

TABLE = TABLES / "paimon/default.db/branches"


def test_a_query_that_never_looks_up_is_ended_with_its_spark(tmp_path: Path) -> None:
    """The inner loops of this join run for minutes for each outer row, and ask nobody whether they may go on."""
    script = f"""
        import threading, time
        from core.errors import Invalid
        from core.spark import query, session, sql
        from core.table import open_table

        table = open_table({str(TABLE)!r})

        def ask(statement, **how):
            return query.query(table, statement, **how).table.to_pylist()

        expected = ask("SELECT count(*) AS n FROM t")
        before = session.get().sparkContext
        loops = "SELECT sum(hash(a.id, b.id, c.id)) FROM range(100000) a, range(100000) b, range(100000) c"

        def stop():
            tracker = before.statusTracker()
            while not any(of and of.numActiveTasks for of in map(tracker.getStageInfo, tracker.getActiveStageIds())):
                time.sleep(0.05)
            sql.cancel("loops")

        threading.Thread(target=stop).start()
        try:
            ask(loops, timeout_s=600, query_id="loops")
        except Invalid as error:
            print(error.message)
        assert ask("SELECT count(*) AS n FROM t", timeout_s=600) == expected  # asked at once, while no core is free
        assert session.get().sparkContext is not before
        print(expected)
    """
    environment = {"SNAPSCOPE_STATE": str(tmp_path), "SNAPSCOPE_SPARK_FAST_START": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "The query was cancelled."
