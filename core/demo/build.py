"""Build the demo warehouse: three Paimon tables with months of history, and one of them again as an Iceberg table.

The tables are written by Snapscope's own Spark pipeline. Invariants: each table appears complete, and the warehouse's
marker after all of them; nothing that exists is touched; an interrupted build continues where it stopped. Snapshots
were expired there by an ordinary plan.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from core.catalog import DEMO_MARKER
from core.demo import data, iceberg_twin, stories
from core.demo import progress as making
from core.demo.data import Calendar, Load
from core.demo.progress import Building
from core.errors import Invalid, Unsupported
from core.execution import apply as applying
from core.execution.journal import Journal
from core.formats.paimon import layout
from core.formats.paimon.write import publish
from core.formats.paimon.write.commit import Stamp
from core.model.actions import Expire
from core.model.references import Snapshot
from core.spark.session import session
from core.spark.write import append as write
from core.storage.store import Store
from core.table import open_table

Report = Callable[[str], None]
_WORK = ".building"  # in the warehouse: a table is moved to its place, and no listing shows it before
_QUICK = "SNAPSCOPE_SPARK_FAST_START"


def build(directory: str, progress: Report | None = None, *, now_ms: int) -> None:
    """Create the demo warehouse in `directory`, which must be missing, empty, or an interrupted build: then the rest.

    `now_ms` is when its story ends; `progress` is called with a description of each step. Takes a minute.
    """
    target = Store(directory)
    if not target.is_local:
        raise Unsupported("Spark writes the demo, to the local disk only.", path=directory)
    with making.alone(target.root):
        carry_on(target, making.begin(target.root, now_ms), progress or (lambda _: None))


def carry_on(target: Store, building: Building, report: Report) -> None:
    """Build the tables that are missing. The caller must be the only one who builds there."""
    try:
        _remove_parts(target, building)
        _build(target, building, report)
    except OSError as error:
        raise Invalid(f"The demo could not be put in place: {error}.", path=target.root) from error
    finally:
        _clean(target)


def _remove_parts(target: Store, building: Building) -> None:
    """What a build that was cut off left of tables that it had not written down as being there."""
    shutil.rmtree(f"{target.root}/{_WORK}", ignore_errors=True)
    for table in making.TABLES:
        if table not in building.told:
            shutil.rmtree(f"{target.root}/{_path(table)}", ignore_errors=True)


def _clean(target: Store) -> None:
    """Leave no trace of a build that came to nothing, and no half table of any."""
    shutil.rmtree(f"{target.root}/{_WORK}", ignore_errors=True)
    building = making.read(target.root)
    if building is not None and not building.told:
        making.end(target.root)


def _path(table: str) -> str:
    database, _, name = table.partition(".")
    return f"{database}.db/{name}"


def _build(target: Store, building: Building, report: Report) -> None:
    work, calendar = target.at(_WORK), Calendar(building.created_ms)
    report("Starting Spark.")
    spark = _quick_spark()

    def orders() -> dict[str, dict[str, Any]]:
        """Build both tables: the second has the history of the first from before anything in it expired."""
        source, twin = work.at(_path("sales.orders")), _path("sales.orders_iceberg")
        stories = _orders(spark, source, calendar, report)
        report("sales.orders_iceberg: the orders once more, with a roll-back, staged commits and row deletes.")
        # Iceberg's metadata names its files by their whole paths: those where they will be.
        again = iceberg_twin.build(
            open_table(source.location).history(), work.at(twin), f"{target.root}/{twin}", calendar
        )
        report("Expiring old snapshots of sales.orders; tags keep their snapshots.")
        _expire(source, calendar)
        return {"sales.orders": stories, "sales.orders_iceberg": again}

    steps: Mapping[str, Callable[[], dict[str, dict[str, Any]]]] = {
        "crm.customers": lambda: {
            "crm.customers": _customers(spark, work.at(_path("crm.customers")), calendar, report),
        },
        "events.clicks": lambda: {"events.clicks": _clicks(spark, work.at(_path("events.clicks")), calendar, report)},
        "sales.orders": orders,
    }
    for table, step in steps.items():
        if table in building.told:
            continue
        making.write(target.root, replace(building, now=table))
        stories = step()
        for each in stories:
            os.makedirs(os.path.dirname(f"{target.root}/{_path(each)}"), exist_ok=True)
            os.replace(work.at(_path(each)).root, f"{target.root}/{_path(each)}")
        building = building.with_tables(stories)
        making.write(target.root, building)
    order = ("sales.orders", "events.clicks", "crm.customers", "sales.orders_iceberg")
    marker = {"created_ms": calendar.now_ms, "seed": data.SEED, "stories": [building.told[each] for each in order]}
    target.create(DEMO_MARKER, json.dumps(marker, indent=2).encode() + b"\n")
    making.end(target.root)


def _quick_spark() -> SparkSession:
    """The process's session; if it starts here, with a JVM that starts fast rather than optimizes well."""
    if _QUICK in os.environ:
        return session.get()
    os.environ[_QUICK] = "1"
    try:
        return session.get()
    finally:
        del os.environ[_QUICK]


# sales.orders -------------------------------------------------------------------------------------------------------


def _orders(spark: SparkSession, store: Store, calendar: Calendar, report: Report) -> dict[str, Any]:
    loads = calendar.orders()
    report(f"sales.orders: {len(loads)} loads, compactions, a column added on the way.")
    options = {"snapshot.time-retained": "45 d", "snapshot.num-retained.min": "10", "compaction.min.file-num": "3"}
    comment = "Orders of the shop, one partition per day"
    start = loads[0].time_ms - data.HOUR_MS
    _create(store, data.ORDERS, ["dt"], options, start, comment)
    column_at = calendar.at(calendar.day(40), 14.5)
    early = [load for load in loads if load.time_ms < column_at]
    late = [load for load in loads if load.time_ms >= column_at]

    def compaction(time_ms: int, days: Sequence[dt.date]) -> Callable[[], Snapshot | None]:
        partitions = [{"dt": str(day)} for day in days]
        return lambda: write.compact(store, _at(time_ms, "compactor"), spark=spark, partitions=partitions)

    compactions = {time_ms: compaction(time_ms, days) for time_ms, days in calendar.compactions()}
    before = {time_ms: step for time_ms, step in compactions.items() if time_ms < column_at}
    after = {time_ms: step for time_ms, step in compactions.items() if time_ms >= column_at}
    snapshots = _run(spark, store, early, data.orders_sql(early, with_channel=False), before)
    name, type_ = data.CHANNEL
    write.add_column(store, name, type_, time_ms=column_at)
    snapshots |= _run(spark, store, late, data.orders_sql(late, with_channel=True), after)
    _month_end_tags(store, calendar, loads[0].days[-1].day)
    _branch(spark, store, calendar)
    tuesday, bad, fix = calendar.bad_tuesday, snapshots[_name(calendar, calendar.bad_tuesday)], snapshots["fix"]
    wednesday = tuesday + dt.timedelta(days=1)
    return stories.kept("in cents", wednesday=str(wednesday), tuesday=str(tuesday), bad=bad.id, fix=fix.id)


def _name(calendar: Calendar, day: dt.date) -> str:
    return f"d{(calendar.last_day - day).days}"


def _branch(spark: SparkSession, store: Store, calendar: Calendar) -> None:
    """Create a branch from the newest month-end tag, with a price test of its own."""
    tag = max(entry.name for entry in store.ls(layout.TAG) if entry.name.startswith("tag-month-"))
    publish.create_branch(store, "price-test", tag.removeprefix("tag-"))
    load = Load("test", calendar.at(calendar.day(3), 10.0), (data.Part(calendar.day(4)),))
    rows = spark.sql(data.orders_sql([load], with_channel=True)).drop("batch", "part")
    cheaper = rows.selectExpr("* except(amount)", "cast(amount * 0.9 as decimal(12, 2)) amount")
    write.append(store, cheaper.coalesce(1), write.stamp(load.time_ms, branch="price-test", user="pricing"))


def _month_end_tags(store: Store, calendar: Calendar, first: dt.date) -> None:
    """Tag each month end; the newest tags for half a year, the older ones permanently."""
    snapshots = {snapshot.time_ms: snapshot.id for snapshot in _snapshots(store)}
    ends = list(calendar.month_ends(first))
    for number, day in enumerate(ends):
        at = calendar.at(day + dt.timedelta(days=1), 6.0)
        known = [snapshots[time_ms] for time_ms in sorted(snapshots) if time_ms <= at]
        if not known:
            continue
        created = dt.datetime.fromtimestamp(at / 1000, dt.UTC).astimezone().replace(tzinfo=None)
        keeps = None if number % 2 == 0 else 180 * data.DAY_MS
        publish.create_tag(store, f"month-{day:%Y-%m}", snapshot_id=known[-1], created=created, retained_ms=keeps)


def _expire(store: Store, calendar: Calendar) -> None:
    """Expire the snapshots older than 75 days with a plan; the month-end tags keep theirs."""
    table = open_table(store.location)
    plan = table.preview(Expire(older_than_ms=calendar.now_ms - 75 * data.DAY_MS, retain_min=10), calendar.now_ms)
    journal = Path(f"{store.root}.journal")
    applying.apply(table, plan, settle_s=0, journal=Journal(journal))
    for suffix in ("", "-wal", "-shm"):
        Path(f"{journal}{suffix}").unlink(missing_ok=True)


# events.clicks ------------------------------------------------------------------------------------------------------


def _clicks(spark: SparkSession, store: Store, calendar: Calendar, report: Report) -> dict[str, Any]:
    loads = calendar.events()
    report(f"events.clicks: {len(loads)} loads with late events, one of them twice.")
    options = {"snapshot.time-retained": "30 d"}
    comment = "Clicks as they came in; late ones go to the day they happened"
    _create(store, data.CLICKS, ["dt"], options, loads[0].time_ms - data.HOUR_MS, comment)
    snapshots = _run(spark, store, loads, data.clicks_sql(loads))
    reader = snapshots[f"d{data.EVENT_DAYS - 1}"].id
    store.create("consumer/consumer-fraud-check", f'{{\n  "nextSnapshot" : {reader}\n}}'.encode())
    day, first, again = calendar.doubled_day, snapshots[_name(calendar, calendar.doubled_day)], snapshots["retry"]
    return stories.kept("twice", day=str(day), first=first.id, again=again.id)


# crm.customers ------------------------------------------------------------------------------------------------------


def _customers(spark: SparkSession, store: Store, calendar: Calendar, report: Report) -> dict[str, Any]:
    report("crm.customers: monthly refreshes, new customers, a region dropped.")
    start = calendar.at(calendar.day(118), 5.0)
    comment = "Customers with the time each version was valid"
    _create(store, data.CUSTOMERS, ["region"], {}, start - data.HOUR_MS, comment)
    plan = [(118, 0, 900, True), (95, 900, 960, False), (84, 0, 1040, True), (66, 1040, 1100, False),
            (53, 0, 1200, True), (37, 1200, 1290, False), (23, 0, 1400, True), (6, 1400, 1460, False),
            (2, 1460, 1500, False)]  # fmt: skip
    loads: list[Load] = []
    sql: list[str] = []
    for back, first, end, whole in plan:
        day = calendar.day(back)
        loads.append(Load(f"c{back}", calendar.at(day, 5.0), (data.Part(day),), "crm-sync", whole and bool(loads)))
        sql.append(data.customers_sql(f"c{back}", first, end, day, whole=whole))
    lost_at = calendar.at(calendar.day(9), 15.4)
    dropped = [{"region": data.LOST_REGION}]
    overwrites = {lost_at: lambda: write.overwrite(store, None, dropped, _at(lost_at, "cleanup-job"))}
    snapshots = _run(spark, store, loads, " union all ".join(f"({each})" for each in sql), overwrites, whole=True)
    tag = f"refresh-{calendar.day(23):%Y-%m-%d}"
    publish.create_tag(store, tag, snapshot_id=snapshots["c23"].id)
    lost = snapshots[lost_at]
    return stories.kept("dropped", region=data.LOST_REGION, lost=lost.id, before=lost.id - 1, tag=tag)


# ----------------------------------------------------------------------------------------------------------------


def _at(time_ms: int, user: str = "nightly-load") -> Stamp:
    return write.stamp(time_ms, user=user)


def _create(
    store: Store, columns: Any, keys: Sequence[str], options: Mapping[str, str], time_ms: int, comment: str
) -> None:
    write.create_table(store, columns, partition_keys=keys, options=options, time_ms=time_ms, comment=comment)


def _run(
    spark: SparkSession,
    store: Store,
    loads: Sequence[Load],
    sql: str,
    others: Mapping[int, Callable[[], Snapshot | None]] | None = None,
    *,
    whole: bool = False,
) -> dict[Any, Snapshot]:
    """Write all files of these loads in one Spark job, then make one commit per load, and other commits in between.

    Returns the snapshots by the name of the load, or by the time of another commit. A load that replaces rows replaces
    its own days or, with `whole`, the whole table.
    """
    rows = spark.sql(sql)
    partitioned = rows.repartition(12, *(name for name in ("batch", "dt", "part") if name in rows.columns)).drop("part")
    steps: dict[int, Any] = {load.time_ms: load for load in loads} | dict(others or {})
    snapshots: dict[Any, Snapshot] = {}
    with write.stage(store, partitioned, _at(loads[0].time_ms), group="batch") as groups:
        for time_ms, step in sorted(steps.items()):
            if not isinstance(step, Load):
                if (snapshot := step()) is not None:
                    snapshots[time_ms] = snapshot
            elif step.replaces:
                days = [{}] if whole else [{"dt": str(part.day)} for part in step.days]
                snapshots[step.name] = write.commit_overwrite(store, groups[step.name], days, _at(time_ms, step.user))
            else:
                snapshots[step.name] = write.commit_append(store, groups[step.name], _at(time_ms, step.user))
    return snapshots


def _snapshots(store: Store) -> Sequence[Snapshot]:
    return open_table(store.location).heads().main.snapshots
