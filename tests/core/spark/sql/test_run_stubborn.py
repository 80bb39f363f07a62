"""A stopped query frees its cores. Runs in a separate process, because it ends the Spark of that process; each test has
the Spark that the one before started anew."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.depth import sample
from tests.support.places import ROOT, TABLES

TABLE = TABLES / "paimon/default.db/branches"
PATIENCE_S = 1200
ASKED = f"""
    import json, os, signal, sys, tempfile, threading, time, traceback
    from core.errors import Invalid
    from core.spark.query import query
    from core.spark.session import session
    from core.spark.sql import run as sql
    from core.table import open_table

    table = open_table({str(TABLE)!r})

    def ask(statement, **how):
        return query.query(table, statement, **how).table.to_pylist()

    def refused(statement, **how):
        began = time.monotonic()
        try:
            return ask(statement, **how), time.monotonic() - began
        except Invalid as error:
            return error.message, time.monotonic() - began

    def told(answer):
        print(json.dumps(answer), flush=True)

    def seen_off():
        # stopped queries of the script before may still end the Spark that they ran in
        for each in threading.enumerate():
            if each.name.startswith(("ending query", "cancelling query")):
                each.join(600)

    for line in sys.stdin:
        try:
            seen_off()
            expected = ask("SELECT count(*) AS n FROM t", timeout_s=600)
            exec(json.loads(line), {{**globals(), "before": session.spark()}})
        except BaseException:
            told({{"failed": traceback.format_exc()}})
    session.stop()
"""

Run = Callable[[str], Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Runs a script in the process and returns what it told."""
    own = tmp_path_factory.mktemp("stubborn")
    environment = {"SNAPSCOPE_STATE": str(own), "SNAPSCOPE_SPARK_FAST_START": "1", "PATH": "/usr/bin:/bin"}
    environment |= {"TMPDIR": str(own), "SNAPSCOPE_SPARK_CONF": "spark.driver.memory=1g"}
    environment["SNAPSCOPE_SPARK_CLASS_ARCHIVE"] = os.environ["SNAPSCOPE_SPARK_CLASS_ARCHIVE"]
    pipe: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", textwrap.dedent(ASKED)]
    started: list[Any] = []

    def ran(script: str) -> Any:
        if not started or started[-1].poll() is not None:
            started.append(subprocess.Popen(command, cwd=ROOT, env=environment, **pipe))
        process = started[-1]
        process.stdin.write(json.dumps(textwrap.dedent(script)) + "\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], PATIENCE_S)[0]:
            process.kill()
        told = json.loads(process.stdout.readline() or '{"failed": "it ended, or told nothing in time"}')
        assert not (isinstance(told, dict) and "failed" in told), told["failed"]
        return told

    yield ran
    for process in started:
        process.stdin.close()
        process.stdout.close()
        process.wait(120)


def test_a_query_that_never_looks_up_is_ended_with_its_spark(run: Run) -> None:
    """The inner loops of this join run for minutes for each outer row, and ask nobody whether they may go on."""
    script = """
        loops = "SELECT sum(hash(a.id, b.id, c.id, d.id, e.id)) FROM range(30000) a, range(30000) b, t c, t d, t e"

        def stop():
            threads = before.session._jvm.org.apache.spark.util.Utils
            while not any("_doAggregateWithoutKey_" in str(each) for each in threads.getThreadDump()):
                time.sleep(0.05)  # tasks before the loops do look up
            sql.cancel("loops")

        threading.Thread(target=stop).start()
        said, _ = refused(loops, timeout_s=600, query_id="loops")
        again = ask("SELECT count(*) AS n FROM t", timeout_s=600)  # asked at once, while no core is free
        told([said, again == expected, session.spark() is not before])
    """
    assert run(script) == ["The query was cancelled.", True, True]


@pytest.mark.parametrize("by", sample(["cancel", "the limit"], 1))
def test_a_jvm_that_answers_nobody_holds_up_nobody(run: Run, by: str) -> None:
    """A stopped process is the worst of them: no call of ours comes back, as when memory is all but used up. What ran
    beside is asked again within its own limit, and its scratch files are gone."""
    script = f"""
        slow = "SELECT count(*) AS n FROM t a, t b, t c, t d WHERE hash(a.id, b.id, c.id, d.id) % 7 = 1"
        found = []
        beside = threading.Thread(target=lambda: found.append(refused(slow, timeout_s=600)[0]))
        started = threading.Event()

        def hang(done, total):
            if not started.is_set():
                started.set()
                beside.start()
                time.sleep(0.5)
                os.kill(before.process.pid, signal.SIGSTOP)
                if {by!r} == "cancel":
                    threading.Timer(1, sql.cancel, ("hung",)).start()

        limit = 600 if {by!r} == "cancel" else 4
        said, _ = refused(slow, timeout_s=limit, query_id="hung", on_progress=hang)
        waited_for_its_end = before.process.poll() is not None
        again = ask("SELECT count(*) AS n FROM t", timeout_s=600)
        beside.join(600)
        gone = before.process.poll() is not None
        litter = [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("snapscope-spark-")]
        told([said, waited_for_its_end, again == expected, gone, isinstance(found[0], list), len(litter)])
    """
    said, waited_for_its_end, again, gone, found, litter = run(script)
    assert said.startswith("The query was cancelled." if by == "cancel" else "The query was stopped after 4 s")
    assert (waited_for_its_end, again, gone, found) == (False, True, True, True)
    assert litter == 1  # of the Spark that runs


def test_a_sort_of_endless_rows_ends_at_its_limit(run: Run) -> None:
    """What the gate cannot see, as the numbers are the table's: rows times rows, sorted, in little memory."""
    script = """
        many = "(SELECT explode(sequence(1, n)) id FROM (SELECT count(*) * 17000 n FROM t))"
        said, seconds = refused(f"SELECT * FROM {many} a, {many} b ORDER BY 1", timeout_s=10)
        again = ask("SELECT count(*) AS n FROM t", timeout_s=600)
        told([said, seconds, again == expected])
    """
    said, seconds, again = run(script)
    assert said.startswith(("The query was stopped after 10 s", "The query needs more memory"))
    assert seconds < 60
    assert again


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("SELECT sum(size(sequence(0, id))) FROM range(1000000000, 1000000001)", id="in a task"),
        pytest.param("SELECT size(sequence(0, shiftleft(1, 30)))", id="while planning"),
    ],
)
def test_a_query_out_of_memory_is_told_and_the_next_has_a_fresh_spark(run: Run, statement: str) -> None:
    """A JVM that goes on without memory answers nobody: it ends, in little time, and says so."""
    script = f"""
        said, _ = refused({statement!r}, timeout_s=300)
        again = ask("SELECT count(*) AS n FROM t", timeout_s=600)
        told([said, again == expected, session.spark() is not before, before.process.returncode])
    """
    assert run(script) == ["The query needs more memory than Spark has.", True, True, 3]
