"""The Python API: a pinned surface, the same results as the command line, and the same protocol for changes."""

from __future__ import annotations

import contextlib
import datetime as dt
import difflib
import inspect
import io
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import snapscope
from core.cli import main
from core.errors import SnapscopeError
from core.execution import grace_period
from core.execution.journal import Journal
from core.procedures.registry import DEFINITIONS
from snapscope import frames, planner
from snapscope.planner import Plans
from tests.support.builders import START_MS
from tests.support.execution import ground, iceberg_ground
from tests.support.execution.ground import LATE_MS
from tests.support.iceberg_documents import document
from tests.support.places import ROOT
from tests.support.spark.stored import Stored

SURFACE = ROOT / "tests" / "data" / "python_api.txt"
LATE = "2060-01-01T00:00:00Z"


# the surface ---------------------------------------------------------------------------------------------------------


def classes() -> dict[str, type]:
    return {name: found for name in snapscope.__all__ if inspect.isclass(found := getattr(snapscope, name))}


def public(of: type) -> Iterator[tuple[str, Any]]:
    """Return the methods and properties of a class, including inherited ones."""
    for name in dir(of):
        if not name.startswith("_") and not issubclass(of, Exception):
            found = inspect.getattr_static(of, name, None)
            if inspect.isfunction(found) or isinstance(found, property):
                yield name, found


def surface() -> str:
    """Return every public name with its signature, one per line."""
    lines = []
    for name in snapscope.__all__:
        found = getattr(snapscope, name)
        if not inspect.isclass(found):
            lines.append(f"{name}{inspect.signature(found)}")
            continue
        lines.append(f"class {name}({', '.join(base.__name__ for base in found.__bases__)})")
        if is_dataclass(found):
            own = inspect.get_annotations(found)
            lines += [f"{name}.{each}: {of}" for each, of in own.items() if not each.startswith("_")]
        for each, made in public(found):
            if isinstance(made, property):
                assert made.fget is not None
                lines.append(f"{name}.{each} -> {inspect.signature(made.fget).return_annotation}")
            else:
                lines.append(f"{name}.{each}{inspect.signature(made)}")
    return "\n".join(lines) + "\n"


def test_the_surface_is_the_pinned_one() -> None:
    """Changing the surface is a decision, which must be written into the file."""
    pinned, found = SURFACE.read_text().splitlines(), surface().splitlines()
    assert list(difflib.unified_diff(pinned, found, "pinned", "found", lineterm="")) == []


def documented() -> dict[str, Any]:
    found: dict[str, Any] = {name: getattr(snapscope, name) for name in ("open", "tables", "runs")}
    for name, of in classes().items():
        found[name] = of
        if not issubclass(of, Exception):
            found |= {f"{name}.{each}": made for each, made in public(of)}
    return found


@pytest.mark.parametrize("name", documented())
def test_every_public_name_is_documented(name: str) -> None:
    found = documented()[name]
    said = inspect.getdoc(found) or ""
    assert re.match(r"[A-Z`].*[.:]", said), "what it is, as a sentence"
    if inspect.isfunction(found):
        assert "Example:\n    >>> " in said
        for each in list(inspect.signature(found).parameters)[1:]:
            assert each in said or each in ("at", "a", "b", "warehouse"), f"{each} is not explained"


def test_actions_are_those_of_the_table_of_actions() -> None:
    """There is one method per action and one argument per command-line argument; no argument is required unless the
    command line requires it."""
    of = {re.sub(r"(?<=[a-z])([A-Z])", r"_\1", each.of.__name__).lower(): each for each in DEFINITIONS}
    methods = {name: made for name, made in public(Plans) if inspect.isfunction(made)}
    assert methods.keys() == of.keys()
    for name, definition in of.items():
        taken = {each: value for each, value in inspect.signature(methods[name]).parameters.items() if each != "self"}
        assert taken.keys() == {planner.keyword(each) for each in definition.arguments if each.name}, name
        needed = {planner.keyword(each) for each in definition.arguments if each.is_needed}
        assert {each for each, value in taken.items() if value.default is value.empty} == needed, name


def test_importing_it_loads_nothing_slow() -> None:
    program = "import sys, snapscope; snapscope.open, snapscope.__version__; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {"pandas", "pyarrow", "pyspark", "numpy", "plotly", "streamlit"}.isdisjoint(ended.stdout.split())
    assert "snapscope" in ended.stdout.split()


def test_what_it_does_not_have_is_an_error_of_its_own() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = snapscope.nothing
    assert set(snapscope.__all__) <= set(dir(snapscope))


# the same answers as the command line --------------------------------------------------------------------------------

MAKE: dict[str, Callable[[Path], object]] = {"paimon": ground.small_table, "iceberg": iceberg_ground.small_table}
EXPIRE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "paimon": ({"retain_max": 1, "retain_min": 1}, ["--retain-max", "1", "--retain-min", "1"]),
    "iceberg": ({"older_than": LATE, "retain_min": 1}, ["--older-than", LATE, "--retain-min", "1"]),
}


def asked(*words: object) -> Any:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main([*map(str, words), "--json"])
    assert status == 0, out.getvalue()
    return json.loads(out.getvalue())


@pytest.mark.parametrize("format", MAKE)
class TestBothFormats:
    @pytest.fixture
    def place(self, format: str, tmp_path: Path) -> str:
        ground.warehouse(tmp_path / "w")
        MAKE[format](tmp_path / "w" / "shop.db" / "t")
        return str(tmp_path / "w" / "shop.db" / "t")

    @pytest.fixture
    def table(self, place: str) -> snapscope.Table[pd.DataFrame]:
        return snapscope.open(place)

    def test_tables(self, format: str, place: str, tmp_path: Path) -> None:
        found = snapscope.tables(str(tmp_path / "w"))
        columns = ["database", "name", "format", "location"]
        assert found[columns].to_dict("records") == asked("tables", tmp_path / "w")
        assert found["format"].tolist() == [format]
        assert found["problem"].isna().all()

    def test_snapshots_tags_and_branches(self, format: str, place: str, table: snapscope.Table[pd.DataFrame]) -> None:
        said = asked("snapshots", place)
        found = table.snapshots()
        assert found["snapshot"].tolist() == [str(each["id"]) for each in said]
        times = [each.get("time_millis") or each.get("timestamp_ms") for each in said]
        assert found["committed_at"].tolist() == [pd.Timestamp(each, unit="ms", tz="UTC") for each in times]
        tags = table.tags()
        assert tags["tag"].tolist() == [each["tag_name"] for each in asked("tags", place)]
        assert tags["is_snapshot_retained"].all()
        branches = table.branches().set_index("branch")["snapshot"]
        assert branches["main"] == table.as_of("latest").snapshot
        other = {"paimon": "b", "iceberg": "work"}[format]
        assert branches[other] == snapscope.open(place, branch=other).as_of("latest").snapshot
        assert table.consumers().empty

    def test_files(self, place: str, table: snapscope.Table[pd.DataFrame]) -> None:
        for at in ("latest", "tag:early"):
            said = pd.DataFrame(asked("files", place, at)).sort_values("path", ignore_index=True)
            found = table.files(at=at)
            assert found["path"].tolist() == said["path"].tolist()
            assert found["size_bytes"].tolist() == said["bytes"].tolist()
            assert found["rows"].tolist() == said["rows"].tolist()

    def test_as_of_and_diff(self, place: str, table: snapscope.Table[pd.DataFrame]) -> None:
        said = asked("as-of", place, "tag:early")
        found = table.as_of("tag:early")
        assert (found.snapshot, found.why, found.version) == (str(said["snapshot"]), said["rule"], said["point"])
        at = dt.datetime.fromtimestamp(said["committed_at_ms"] / 1000, dt.UTC)
        assert found.committed_at == at
        assert table.as_of(at).snapshot == table.as_of(at.isoformat()).snapshot == found.snapshot
        assert table.as_of(at + dt.timedelta(seconds=5)).distance == dt.timedelta(seconds=5)
        with pytest.raises(snapscope.Invalid, match="zone"):
            table.as_of(at.replace(tzinfo=None))
        document = asked("diff", place, "earliest", "latest")
        compared = table.diff("earliest", "latest")
        assert compared.summary == document["summary"]
        files = compared.files()
        for side in ("added", "removed"):
            paths = files.loc[files["side"] == side, "path"].tolist()
            assert paths == [each["path"] for each in document[side]]
        assert int(compared.partitions()["added_bytes"].sum()) == document["summary"]["added_bytes"]

    def test_costs_and_holders(self, place: str, table: snapscope.Table[pd.DataFrame]) -> None:
        said = asked("cost", place)["tags"]
        found = table.costs()
        assert found["tag"].tolist() == [each["point"] for each in said]
        assert found["exclusive_bytes"].tolist() == [each["exclusive_now_bytes"] for each in said]
        path = table.files()["path"][0]
        life, document = table.holders(path), asked("holders", place, path)
        assert list(life.holders) == document["holders"]
        assert life.is_current is document["is_live"] is True

    def test_a_plan(self, format: str, place: str, table: snapscope.Table[pd.DataFrame]) -> None:
        given, words = EXPIRE[format]
        plan = table.plan_at(LATE).expire(**given)
        said = asked("plan", "expire", place, *words, "--now", LATE)
        assert (plan.fingerprint, plan.headline) == (said["fingerprint"], said["headline"])
        assert (plan.reclaimed_bytes, plan.kept_bytes) == (said["freed_bytes"], said["kept_bytes"])
        assert plan.files()["path"].tolist() == [each["path"] for each in said["frees"]]
        versions = plan.versions()
        assert versions["version"].tolist() == [each["point"] for each in said["points"]]
        assert versions["is_kept"].tolist() == [each["keep"] for each in said["points"]]
        parts = plan.storage().set_index("part")["size_bytes"]
        assert parts["reclaimed"] == plan.reclaimed_bytes > 0
        assert parts.drop("reclaimed").sum() == plan.kept_bytes

    def test_a_plan_is_run_once_and_as_shown(self, format: str, table: snapscope.Table[pd.DataFrame]) -> None:
        given, _ = EXPIRE[format]
        plan = table.plan_at(LATE).expire(**given)
        receipt = table.apply(plan, settle="0 s")
        assert (receipt.outcome, receipt.is_as_planned) == ("done", True)
        gone = set(plan.files()["path"])
        assert gone <= set(receipt.deleted)
        assert not [path for path in gone if (Path(table.location) / path).exists()]
        assert receipt.kept_back().empty
        runs = table.runs()
        assert runs["run"].tolist() == [receipt.run] == [each.id for each in Journal().runs(table.location)]
        assert not runs["is_open"].any()
        assert snapscope.runs()["run"].tolist() == [receipt.run]
        with pytest.raises(snapscope.Conflict):
            table.apply(plan, settle="0 s")
        again = table.plan_at(LATE).expire(**given)
        assert again.is_empty
        assert table.apply(again).outcome == "nothing to do"
        assert len(Journal().runs()) == 1

    def test_read_only_tables_are_not_changed(self, format: str, place: str) -> None:
        table = snapscope.open(place, read_only=True)
        before = ground.disk(Path(place))
        plan = table.plan_at(LATE).expire(**EXPIRE[format][0])
        for change in (lambda: table.apply(plan), table.resume, table.undo, lambda: table.arrow().apply(plan)):
            with pytest.raises(snapscope.Invalid, match="read-only"):
                change()
        assert ground.disk(Path(place)) == before
        assert Journal().runs() == []

    def test_a_plan_of_another_table_is_refused(self, format: str, place: str, tmp_path: Path) -> None:
        MAKE[format](tmp_path / "w" / "shop.db" / "other")
        other = snapscope.open(str(tmp_path / "w" / "shop.db" / "other"))
        with pytest.raises(snapscope.Invalid, match="This plan is for"):
            snapscope.open(place).apply(other.plan.create_tag("v9"))

    def test_arrow_in_place_of_pandas(self, table: snapscope.Table[pd.DataFrame]) -> None:
        arrow = table.arrow()
        for one, other in ((table.files(), arrow.files()), (table.snapshots(), arrow.snapshots())):
            assert isinstance(other, pa.Table)
            assert one.columns.tolist() == other.column_names
            assert len(one) == other.num_rows
        assert isinstance(arrow.plan.expire().files(), pa.Table)

    def test_columns_are_text_zoned_or_have_units(self, table: snapscope.Table[pd.DataFrame]) -> None:
        """Ids are text, times have a zone except local times, and number columns name their unit."""
        arrow, plan = table.arrow(), table.arrow().plan.expire()
        compared = arrow.diff("earliest")
        found = [arrow.snapshots(), arrow.tags(), arrow.branches(), arrow.consumers(), arrow.files(), arrow.costs()]
        found += [arrow.schema(), arrow.problems(), arrow.runs(), plan.versions(), plan.files(), plan.storage()]
        found += [compared.files(), compared.partitions()]
        units = re.compile(r"(\w+_)?(bytes|rows|files|ms|snapshots|snapshots_to_keep)|bucket|level")
        for each in (field for frame in found for field in frame.schema):
            if pa.types.is_timestamp(each.type):
                assert (each.type.tz == "UTC") != each.name.endswith("_wall_clock"), each.name
            elif pa.types.is_integer(each.type):
                assert units.fullmatch(each.name), each.name
            else:
                assert pa.types.is_string(each.type) or pa.types.is_boolean(each.type), each.name

    def test_values_show_themselves(self, format: str, table: snapscope.Table[pd.DataFrame]) -> None:
        """Shown as plain text and as HTML, which sets no text colour without a background and escapes names."""
        plan = table.plan_at(LATE).expire(**EXPIRE[format][0])
        path = table.files()["path"][0]
        for value in (plan, table.as_of("latest"), table.diff("earliest"), table.holders(path)):
            assert "\x1b" not in repr(value)
            assert repr(value).strip()
            html = value._repr_html_()
            assert html.count("<div") == html.count("</div>") > 0
            assert not re.search(r"[^-]color:|<script", html)
        assert "UTC" in repr(plan)
        assert plan.headline in repr(plan)
        assert " kB in " in plan._repr_html_()
        assert f"<{format} table t at {table.location}, branch main>" == repr(table)


# what only one of them has -------------------------------------------------------------------------------------------


@pytest.fixture
def paimon(tmp_path: Path) -> snapscope.Table[pd.DataFrame]:
    ground.small_table(ground.warehouse(tmp_path))
    return snapscope.open(str(tmp_path / "default.db" / "orders"))


def test_a_timeline_is_a_chart_with_a_background_of_its_own(paimon: snapscope.Table[pd.DataFrame]) -> None:
    for theme, paper in (("light", "#ffffff"), ("dark", "#12161d")):
        figure = paimon.timeline(theme=theme).figure()
        assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == paper
        assert "UTC" in figure.layout.xaxis.title.text
    shown = repr(paimon.timeline())
    assert shown.count("\n") == 11
    assert "early" in shown
    page = paimon.timeline()._repr_html_()
    assert "plotly" in page
    assert not re.search(r"<(script|link)[^>]*(src|href)=", page), "it loads nothing from another server"


def test_names_out_of_a_table_steer_no_notebook_and_no_terminal(tmp_path: Path) -> None:
    table = ground.small_table(ground.warehouse(tmp_path))
    table.tag("<b>\x1b[2J", 2)
    found = snapscope.open(str(table.path))
    plan = found.plan.delete_tags(["<b>\x1b[2J"])
    assert "\x1b" not in repr(plan)
    assert "<b>" not in plan._repr_html_()


def test_integers_keep_their_digits_beside_nulls_at_any_depth() -> None:
    big = 2**53 + 1  # the first integer that a float cannot hold
    found = frames.to_pandas(
        pa.table(
            {
                "struct": pa.array([{"a": big}, {"a": None}]),
                "list": pa.array([[big, None], None]),
                "map": pa.array([[("k", big), ("n", None)], []], pa.map_(pa.string(), pa.int64())),
                "deep": pa.array([[{"a": [big, None]}], [{"a": None}]]),
                "unsigned": pa.array([2**64 - 1, None], pa.uint64()),
                "flat": pa.array([big, None]),
            }
        )
    )
    assert found["struct"].tolist() == [{"a": big}, {"a": None}]
    assert found["list"][0].tolist() == [big, None]
    assert found["map"][0] == [("k", big), ("n", None)]
    assert found["deep"][0][0]["a"].tolist() == [big, None]
    assert (found["unsigned"].dtype, found["unsigned"][0]) == (pd.UInt64Dtype(), 2**64 - 1)
    assert (found["flat"].dtype, found["flat"][0]) == (pd.Int64Dtype(), big)


def test_times_and_durations_are_values_or_text(paimon: snapscope.Table[pd.DataFrame]) -> None:
    late = dt.datetime.fromtimestamp(LATE_MS / 1000, dt.UTC)
    by_value = paimon.plan_at(late).expire(time_retained=dt.timedelta(days=2), retain_min=1)
    by_text = paimon.plan_at(late.isoformat()).expire(time_retained="2 d", retain_min=1)
    assert by_value.fingerprint == by_text.fingerprint
    assert by_value.judged_at == late
    with pytest.raises(snapscope.Invalid, match="zone"):
        paimon.plan.expire(older_than=late.replace(tzinfo=None))
    with pytest.raises(snapscope.Invalid, match=r"2026-04-03T00:00:00Z .* or 2026-03-04T00:00:00Z"):
        paimon.plan.expire(older_than="03/04/2026")
    with pytest.raises(snapscope.Invalid, match="no unit"):
        paimon.plan.expire(time_retained="200")


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("expire", "snapshots"),
        ("compact", "partitions"),
        ("analyze", "columns"),
        ("delete_tags", "names"),
        ("delete_branches", "names"),
        ("drop_partitions", "partitions"),
    ],
)
def test_an_empty_list_does_not_mean_everything(
    method: str, name: str, paimon: snapscope.Table[pd.DataFrame], tmp_path: Path
) -> None:
    for table in (paimon, snapscope.open(str(iceberg_ground.small_table(tmp_path / "t")))):
        nothing: list[Any] = [[], (), pd.Series([], dtype=str), iter(())]
        for empty in nothing:
            with pytest.raises(snapscope.Invalid, match=f"{name} is empty"):
                getattr(table.plan, method)(**{name: empty})


def test_an_empty_list_of_what_is_taken_in_addition_adds_nothing(paimon: snapscope.Table[pd.DataFrame]) -> None:
    assert paimon.plan.expire(drop_tags=[]).headline == paimon.plan.expire().headline
    older = "2026-01-01"
    assert paimon.plan.clean_orphans(older_than=older, also=()).headline == (
        paimon.plan.clean_orphans(older_than=older).headline
    )


def test_a_time_without_a_zone_is_read_in_the_zone_of_the_table(paimon: snapscope.Table[pd.DataFrame]) -> None:
    assert paimon.as_of("2026-01-01 05:30").snapshot == paimon.as_of("2026-01-01T05:30:00Z").snapshot == "6"
    there = snapscope.open(paimon.location, zone="Asia/Shanghai")
    assert there.as_of("2026-01-01 10:30").snapshot == "3"
    assert there.as_of("3 days ago").snapshot == "9"
    assert there.plan_at("2026-01-01 10:30").expire().judged_at == dt.datetime(2026, 1, 1, 2, 30, tzinfo=dt.UTC)
    assert there.arrow().as_of("2026-01-01 10:30").snapshot == "3"
    with pytest.raises(snapscope.Invalid, match="Nowhere"):
        snapscope.open(paimon.location, zone="Nowhere/Else")


def test_a_tag_from_a_time_says_which_snapshot_it_is(paimon: snapscope.Table[pd.DataFrame]) -> None:
    at = dt.datetime.fromtimestamp((START_MS + 1) / 1000, dt.UTC)
    plan = paimon.plan.create_tag("second", time=at)
    assert any("snapshot 2" in note for note in plan.notes)
    assert paimon.apply(plan, settle="0 s").outcome == "done"
    assert paimon.tags().set_index("tag")["snapshot"]["second"] == "2"


def test_orphans_are_a_day_old_unless_it_is_said(paimon: snapscope.Table[pd.DataFrame]) -> None:
    plan = paimon.plan_at("2026-11-20T00:00:00Z").clean_orphans()
    assert plan._of.change.older_than_ms == 1_795_046_400_000
    with pytest.raises(snapscope.Invalid, match="The age limit for orphans must be in the past"):
        paimon.plan.clean_orphans(older_than=LATE)


def test_a_run_that_was_cut_off_is_taken_back_or_carried_on(
    paimon: snapscope.Table[pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    before = ground.references(Path(paimon.location))
    for end in ("undo", "resume"):
        plan = paimon.plan_at(LATE).expire(retain_max=1, retain_min=1)
        with monkeypatch.context() as patch:
            patch.setattr(grace_period, "wait", cut)
            with pytest.raises(KeyboardInterrupt):
                paimon.apply(plan, settle="0 s")
        assert paimon.runs()["is_open"].tolist()[0]
        with pytest.raises(snapscope.Conflict, match="has not finished"):
            paimon.apply(plan, settle="0 s")
        if end == "undo":
            assert paimon.undo()
            assert ground.references(Path(paimon.location)) == before
        else:
            assert paimon.resume(settle="0 s").outcome == "done"
            assert not [path for path in plan.files()["path"] if (Path(paimon.location) / path).exists()]
    with pytest.raises(snapscope.Invalid, match="unfinished"):
        paimon.resume()


def test_a_run_of_another_table_is_refused(paimon: snapscope.Table[pd.DataFrame], tmp_path: Path) -> None:
    receipt = paimon.apply(paimon.plan.create_tag("v9"), settle="0 s")
    ground.small_table(tmp_path / "default.db" / "other")
    with pytest.raises(snapscope.Invalid, match="another table"):
        snapscope.open(str(tmp_path / "default.db" / "other")).undo(receipt.run)


def test_what_cannot_be_read_is_a_row_with_a_problem(tmp_path: Path) -> None:
    table = ground.small_table(ground.warehouse(tmp_path))
    place = tmp_path / "default.db" / "orders"
    (place / "snapshot" / "snapshot-3").write_text("{")
    (place / "tag" / "tag-early").write_text("{")
    found = snapscope.open(str(place))
    snapshots = found.snapshots().set_index("snapshot")
    assert snapshots["problem"].notna()["3"]
    assert snapshots["problem"].isna().sum() == len(table.commits) - 1
    assert found.tags().set_index("tag")["problem"].notna()["early"]
    assert set(found.problems()["path"]) >= {"snapshot/snapshot-3", "tag/tag-early"}
    with pytest.raises(snapscope.Corrupt):
        found.files(at="3")


def test_errors_have_a_kind_a_message_and_a_remedy(paimon: snapscope.Table[pd.DataFrame], tmp_path: Path) -> None:
    kinds = {each for each in classes().values() if issubclass(each, SnapscopeError)}
    assert kinds == {SnapscopeError, *SnapscopeError.__subclasses__()}
    with pytest.raises(snapscope.NotFound) as caught:
        paimon.files(at="99")
    assert caught.value.kind == "NotFound"
    assert "99" in caught.value.message
    assert caught.value.remedy
    with pytest.raises(snapscope.NotFound, match=r"There is no branch 'nope'.*Branches: main, b\."):
        snapscope.open(paimon.location, branch="nope")


NO_VALUES: dict[str, Callable[[snapscope.Table[Any]], object]] = {
    "is not a location": lambda _: snapscope.open(None),  # type: ignore[arg-type]
    "not a location": lambda _: snapscope.tables(5),  # type: ignore[arg-type]
    "retain_max must be a whole number, not 10.5": lambda table: table.plan.expire(retain_max=10.5),  # type: ignore[arg-type]
    "retain_max must be a whole number, not True": lambda table: table.plan.expire(retain_max=True),
    "verified must be true or false, not 'no'": lambda table: table.plan.create_tag("x", verified="no"),  # type: ignore[arg-type]
    "snapshots must be a list of texts": lambda table: table.plan.expire(snapshots=5),  # type: ignore[arg-type]
    "name is missing": lambda table: table.plan.create_tag(None),  # type: ignore[arg-type]
    "5 is not a time": lambda table: table.plan.expire(older_than=5),  # type: ignore[arg-type]
    "limit must be a whole number, not None": lambda table: table.query("select 1", limit=None),  # type: ignore[arg-type]
    "limit must be a whole number, not 'x'": lambda table: table.diff("1").rows(limit="x"),  # type: ignore[arg-type]
    "None is not a plan": lambda table: table.apply(None),  # type: ignore[arg-type]
    "theme must be light or dark, not 'x'": lambda table: table.timeline(theme="x"),
}


@pytest.mark.parametrize("told", NO_VALUES)
def test_values_of_the_wrong_type_are_refused_by_name(told: str, paimon: snapscope.Table[pd.DataFrame]) -> None:
    with pytest.raises(snapscope.Invalid) as refused:
        NO_VALUES[told](paimon)
    assert told in str(refused.value)
    assert refused.value.remedy


def test_locations_may_be_paths(paimon: snapscope.Table[pd.DataFrame]) -> None:
    place = Path(paimon.location)
    assert snapscope.open(place).location == paimon.location
    assert snapscope.tables(place.parent)["location"].tolist() == [paimon.location]


def test_answers_can_be_kept_in_sets_and_sent_to_other_processes(paimon: snapscope.Table[pd.DataFrame]) -> None:
    plan, same = (paimon.plan_at(LATE).expire(retain_max=1, retain_min=1) for _ in range(2))
    assert {plan, same} == {plan}
    found = paimon.diff("1", "3")
    assert pickle.loads(pickle.dumps(found)).files().equals(found.files())


def test_a_table_is_read_again_when_it_has_changed(paimon: snapscope.Table[pd.DataFrame]) -> None:
    before = paimon._history()
    assert paimon._history() is before
    paimon.apply(paimon.plan.create_tag("v9"), settle="0 s")
    assert paimon._history() is not before
    assert "tag:v9" in paimon.costs()["tag"].tolist()


def test_a_table_without_snapshots_has_columns_and_no_files(tmp_path: Path) -> None:
    paimon = tmp_path / "p"
    Stored(paimon, [("id", "BIGINT"), ("name", "STRING")])
    (tmp_path / "i" / "metadata").mkdir(parents=True)
    nothing = {"snapshots": [], "refs": {}, "snapshot-log": [], "current-snapshot-id": -1}
    found = document(2, str(tmp_path / "i"), **nothing)
    (tmp_path / "i" / "metadata" / "v1.metadata.json").write_text(json.dumps(found))
    for place, columns in ((paimon, ["id", "name"]), (tmp_path / "i", ["id", "dt"])):
        table = snapscope.open(str(place))
        assert table.schema()["column"].tolist() == columns
        assert table.files().empty
        assert table.files().columns.tolist()[:3] == ["path", "size_bytes", "rows"]
        assert asked("files", str(place)) == []
        with pytest.raises(snapscope.NotFound):
            table.as_of("latest")
        with pytest.raises(snapscope.NotFound):
            table.files(at="1")


def test_a_paimon_table_that_lost_its_snapshots_is_not_empty(tmp_path: Path) -> None:
    """A hint or a tag says that something was committed."""
    stored = Stored(tmp_path / "t", [("id", "BIGINT")])
    (tmp_path / "t" / "snapshot").mkdir(exist_ok=True)
    (tmp_path / "t" / "snapshot" / "LATEST").write_text("3")
    with pytest.raises(snapscope.NotFound, match="There is no snapshot"):
        snapscope.open(str(stored.root)).files()


# rows, through Spark -------------------------------------------------------------------------------------------------


@pytest.mark.spark
def test_rows_are_asked_for_and_compared(spark: object, tmp_path: Path) -> None:
    stored = Stored(tmp_path / "t", [("id", "BIGINT"), ("name", "STRING")])
    stored.commit([stored.file([{"id": 2**60 + 1, "name": "a"}, {"id": None, "name": "b"}])])
    stored.commit([stored.file([{"id": 3, "name": "c"}])])
    table = snapscope.open(str(stored.root))
    found = table.query("select id, name, id from t order by name", at="1")
    assert found.columns.tolist() == ["id", "name", "id_2"]
    assert found["id"].tolist() == [2**60 + 1, pd.NA]  # whole numbers, next to a NULL
    counts = table.query("select (select count(*) from t) as now, count(*) as before from t_before", before="1")
    assert counts.to_dict("records") == [{"now": 3, "before": 2}]
    assert table.arrow().query("select name from t", at="latest~1").num_rows == 2
    with pytest.raises(snapscope.Invalid, match="more than 2 rows"):
        table.query("select * from t", limit=2)
    rows = table.diff("1", "2").rows()
    assert (rows.added, rows.removed, rows.changed, rows.is_truncated) == (1, 0, 0, False)
    assert rows.changes[["kind", "column", "before", "after"]].to_dict("records") == [
        {"kind": "added", "column": "id", "before": None, "after": "3"},
        {"kind": "added", "column": "name", "before": None, "after": "c"},
    ]


@pytest.mark.spark
def test_a_table_without_snapshots_has_no_rows(spark: object, tmp_path: Path) -> None:
    """As Paimon reads a table that was only created; with a primary key, too."""
    for name, keys in (("a", ()), ("k", ("id",))):
        stored = Stored(tmp_path / name, [("id", "BIGINT NOT NULL"), ("name", "STRING")], primary_keys=keys)
        table = snapscope.open(str(stored.root))
        found = table.query("select * from t")
        assert (found.columns.tolist(), len(found)) == (["id", "name"], 0)
        assert table.query("select count(*) as n from t")["n"].tolist() == [0]
