"""Reports: a single self-contained file, in which names cannot inject anything, and whose command runs exactly that
plan."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from core.analysis.expiration_dates import expiries
from core.cli import main
from core.errors import Invalid
from core.execution.journal import Journal
from core.messages import sentences
from core.model.actions import DeleteTags, Expire
from core.reports import html as report
from core.reports import json as answers
from core.table import Table, open_table, resolve
from tests.support.builders import DAY_MS, TableBuilder
from tests.support.iceberg_tables import as_if_there
from tests.support.places import SMALL_TABLES
from tests.support.reports.html import HOSTILE, NOW_MS, Reader, commanded, three

TURNED = "gnp.\u202eetadpu"  # displayed right to left, it would read as another name


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = TableBuilder(
        tmp_path / "shop.db" / "orders",
        step_ms=DAY_MS,
        columns=(("id", "BIGINT"), (HOSTILE, "STRING")),
        options={"snapshot.time-retained": "1 h", "note": HOSTILE},
    )
    for number in range(8):
        made.commit([made.file(1_000 + number, rows=10)], made.live()[:1], user=HOSTILE if number % 2 else TURNED)
        if number in (1, 5):
            made.tag(HOSTILE.replace("/", "") + str(number))
    made.consumer(HOSTILE, 7)
    return open_table(str(made.root))


def test_nobodys_names_do_anything_in_a_report(table: Table) -> None:
    for kind, text in three(table, "Asia/Shanghai").items():
        said = Reader(text).text
        assert HOSTILE in said, kind
        assert TURNED not in text, "what turns a line around is written as an escape"
        assert r"gnp.\u202eetadpu" in said, kind
        assert "http" not in text.replace("http-equiv", ""), "nothing outside is named"
        assert "default-src 'none'" in unescape(text), "and nothing could be loaded"
        assert "CST" in said, "times are in the zone asked for"
    assert three(table) == three(table), "the same table, the same file"


def test_a_report_says_what_the_table_holds(table: Table) -> None:
    history = table.history()
    plan = table.preview(Expire(retain_max=3, retain_min=1, older_than_ms=NOW_MS), NOW_MS, history)
    texts = {kind: Reader(text).text for kind, text in three(table).items()}
    assert plan.headline in texts["plan"]
    assert plan.fingerprint in texts["plan"]
    assert f"({plan.freed_bytes:,} bytes) in {len(plan.frees)} files" in texts["plan"]
    for path in plan.frees["path"].to_pylist():
        assert path in texts["plan"]
    for verdict in plan.points:
        assert "; ".join(sentences(verdict.reasons)) in texts["plan"]
    assert "2026-01-02 00:00:00 UTC" in texts["diff"]
    assert "Read at 2026-02-10 00:00:00 UTC" in texts["state"]
    for option, value in history.heads.main.options.items():
        assert f"{option} {value}" in texts["state"]


def test_a_branch_has_its_own_snapshots_and_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    made = TableBuilder(tmp_path / "t", step_ms=DAY_MS, options={"snapshot.time-retained": "1 h"})
    for number in range(4):
        made.commit([made.file(1_000 + number, rows=10)])
    made.tag("v1", 2)
    branch = made.branch("b1", "v1")
    branch.commit([branch.file(5, rows=1)])
    table = open_table(str(made.root))
    history = table.history()
    when = expiries(history.heads, NOW_MS)
    state = Reader(report.of_table(history, None, "t", now_ms=NOW_MS)).text
    for point in ("4", "2", "branch:b1/3"):
        assert re.search(rf" {point} 2026-[^:]*:00:00 UTC APPEND [^·]*? {re.escape(when[point].words)}", state), point
    assert when["3"].words != when["branch:b1/3"].words
    assert state.count(when["branch:b1/3"].words) == 2, "the newest one of each branch"
    assert "missing from every sum" not in state
    for path in (made.root / "manifest").glob("manifest-list-*"):
        path.write_bytes(b"no list")
    history = open_table(str(made.root)).history()
    at = resolve(history.heads, "latest")
    told = Reader(report.of_table(history, at, "t", now_ms=NOW_MS)).text
    assert "missing from every sum" in told
    assert "Everything held ≥ " in told
    assert {each["exclusive_now_bytes"] for each in answers.tag_costs(history, NOW_MS)} == {None}


@pytest.mark.slow
def test_every_table_of_a_real_engine_has_a_report() -> None:
    """In different zones, with and without a commit, with any options and tags."""
    paimon = [path for path in (SMALL_TABLES / "paimon" / "default.db").iterdir() if path.is_dir()]
    iceberg = [path for path in (SMALL_TABLES / "iceberg" / "pyiceberg").iterdir() if path.is_dir()]
    assert paimon
    assert iceberg
    for path in (*paimon, *iceberg):
        history = as_if_there(path)[0] if path in iceberg else open_table(str(path)).history()
        heads, latest = history.heads, history.heads.main.latest
        point = None if latest is None else resolve(heads, "latest")
        said = Reader(report.of_table(history, point, path.name, zone="Asia/Tokyo", now_ms=NOW_MS)).text
        for tag in (tag for line in heads.lines for tag in line.tags):
            assert tag.name in said
        if point is not None and latest is not None:
            assert f"snapshot {latest.id}, committed" in said
            assert f"{history.totals.files[history.position(point.point)]:,}" in said


@pytest.mark.parametrize("change", [Expire(retain_max=3, retain_min=1, older_than_ms=NOW_MS), None])
def test_the_command_of_a_plan_runs_exactly_it_or_refuses(
    change: Expire | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = TableBuilder(tmp_path / "a place" / "t", step_ms=DAY_MS)
    for number in range(6):
        made.commit([made.file(1_000 + number)], made.live()[:1])
    made.tag("it's -- v1", 2)
    table = open_table(str(made.root))
    plan = table.preview(change or DeleteTags(("it's -- v1",)), NOW_MS)
    spoken = [*commanded(report.of_plan(plan, table.heads(), "t")), "--yes", "--settle", "0 s"]
    late = made.commit([made.file(5)])
    before = sorted(path for path in made.root.rglob("*") if path.is_file())
    assert main(spoken) == 1, "a commit since: another state, so not this plan"
    assert f"not {plan.fingerprint}; nothing was changed" in capsys.readouterr().err
    assert sorted(path for path in made.root.rglob("*") if path.is_file()) == before
    (made.root / f"snapshot/snapshot-{late}").unlink()
    made.hints(earliest=1, latest=late - 1)
    assert main(spoken) == 0
    (run,) = Journal().runs()
    assert run.fingerprint == plan.fingerprint
    assert run.receipt
    assert run.receipt["deleted"] == len(plan.frees)


def test_reports_are_written_where_they_are_asked_for(
    table: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.html"
    location = table.location
    for words in (
        ["report", location, "-o", str(out), "--zone", "Europe/Berlin"],
        ["report", location, "--at", "3", "-o", str(out)],
        ["report", location, "--diff", "2", "8", "-o", str(out)],
        ["plan", "expire", location, "--retain-max", "3", "--retain-min", "1", "--report", str(out)],
    ):
        out.unlink(missing_ok=True)
        assert main(words) == 0
        assert f"Written to {out}." in capsys.readouterr().out
        assert Reader(out.read_text(encoding="utf-8")).text
    assert main(["report", location, "-o", str(tmp_path / "nowhere" / "r.html")]) == 1
    assert "could not be written" in capsys.readouterr().err
    with pytest.raises(Invalid, match="not a valid time zone"):
        three(table, "Nowhere/Land")
