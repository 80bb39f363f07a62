"""The content of the demo's three tables: a calendar of loads and the SQL that generates their rows. Pure.

Invariant: rows depend only on the seed and the day of the build. Every table has one incident in its past that its
history explains; days are counted back from the build, so that the story always ends just before now.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

SEED = 20260919
DAY_MS = 86_400_000
HOUR_MS = 3_600_000

WEEKLY, DAILY = 15, 16  # loads of orders: weekly, then daily
EVENT_WEEKS, EVENT_DAYS = 6, 7


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one day in one load: in `parts` files, amounts times `factor`, only a `share` of the day's rows."""

    day: dt.date
    parts: int = 1
    factor: int = 1
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Load:
    """One commit: its content, its time, and whether it replaces the days it contains."""

    name: str
    time_ms: int
    days: tuple[Part, ...] = field(repr=False)
    user: str = "nightly-load"
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Calendar:
    """Days of the story, counted back from `last_day`, whose data is still arriving; all earlier days are complete."""

    now_ms: int

    @property
    def last_day(self) -> dt.date:
        return dt.datetime.fromtimestamp(self.now_ms / 1000 - 5 * 3600, dt.UTC).date()

    @property
    def so_far(self) -> Part:
        """The part of the last day that has arrived."""
        hours = (self.now_ms - self.at(self.last_day)) / HOUR_MS
        return Part(self.last_day, share=round(min(1.0, max(0.1, hours / 24)), 2))

    def day(self, back: int) -> dt.date:
        return self.last_day - dt.timedelta(days=back)

    def at(self, day: dt.date, hour: float = 0.0, *, salt: int = 0) -> int:
        """An hour of a day (UTC) with some seconds of jitter, because people and schedulers are never exact."""
        jitter = (day.toordinal() * 7919 + salt * 104_729 + SEED) % 540_000
        return (day - dt.date(1970, 1, 1)).days * DAY_MS + int(hour * HOUR_MS) + jitter

    @property
    def bad_tuesday(self) -> dt.date:
        """The Tuesday whose amounts were loaded in cents: between 8 and 14 days ago."""
        return next(self.day(back) for back in range(8, 15) if self.day(back).weekday() == 1)

    @property
    def doubled_day(self) -> dt.date:
        return self.day(5)

    def orders(self) -> list[Load]:
        """Loads of `sales.orders`: weekly with corrections, then daily; one Tuesday in cents, replaced later."""
        loads = []
        start = DAILY + 7 * WEEKLY
        for week in range(WEEKLY):
            days = [self.day(start - 7 * week - offset) for offset in range(7)]
            loads.append(Load(f"w{week}", self.at(days[-1] + _ONE, 2.2), tuple(Part(day, 2) for day in days)))
            if week % 4 == 2:  # returned goods: half a week is loaded again
                again = tuple(Part(day, 1, share=0.96) for day in days[:4])
                when = self.at(days[-1] + 4 * _ONE, 11.3)
                loads.append(Load(f"returns{week}", when, again, "returns", replaces=True))
        for back in range(DAILY, 0, -1):
            day = self.day(back)
            cents = 100 if day == self.bad_tuesday else 1
            loads.append(Load(f"d{back}", self.at(day + _ONE, 2.2), (Part(day, 3, cents),)))
        right = Part(self.bad_tuesday, 1)
        loads.append(Load("fix", self.at(self.bad_tuesday + 2 * _ONE, 9.6), (right,), "repair", replaces=True))
        loads.append(Load("today", self.now_ms - 23 * 60_000, (self.so_far,), "intraday-load"))
        return sorted(loads, key=lambda load: load.time_ms)

    def compactions(self) -> list[tuple[int, tuple[dt.date, ...]]]:
        """When small files of orders are compacted to one per day, and for which days: monthly, then each Sunday."""
        found = []
        weeks = self.day(DAILY + 7 * WEEKLY)
        for end in self.month_ends(weeks):
            if end < self.day(DAILY + 3):
                days = [end - n * _ONE for n in range(end.day) if end - n * _ONE >= weeks]
                found.append((self.at(end + 9 * _ONE, 4.1), tuple(days)))
        for back in range(DAILY - 2, 0, -1):
            if (sunday := self.day(back)).weekday() == 6:
                days = [day for n in range(1, 8) if (day := sunday - n * _ONE) >= self.day(DAILY)]
                found.append((self.at(sunday, 4.1), tuple(days)))
        return found

    def events(self) -> list[Load]:
        """Loads of `events.clicks`: each with late events of earlier days; one day's load was committed twice."""
        loads = []
        start = EVENT_DAYS + 7 * EVENT_WEEKS
        for week in range(EVENT_WEEKS):
            days = [self.day(start - 7 * week - offset) for offset in range(7)]
            late = [Part(days[0] - n * _ONE, share=0.06 / n) for n in range(1, 5)] if week else []
            loads.append(Load(f"w{week}", self.at(days[-1] + _ONE, 3.4, salt=1), (*late, *map(Part, days))))
        for back in range(EVENT_DAYS, 0, -1):
            day = self.day(back)
            late = [Part(day - n * _ONE, share=0.06 / n) for n in range(1, 4)]
            loads.append(Load(f"d{back}", self.at(day + _ONE, 3.4, salt=1), (*late, Part(day))))
            if day == self.doubled_day:
                again = self.at(day + _ONE, 4.6, salt=1)
                loads.append(Load("retry", again, (*late, Part(day))))
        late = [Part(self.day(n), share=0.06 / n) for n in range(1, 4)]
        loads.append(Load("today", self.now_ms - 9 * 60_000, (*late, self.so_far), "intraday-load"))
        return loads

    def month_ends(self, first: dt.date) -> Iterator[dt.date]:
        """The last days of the months between `first` and now."""
        day = first
        while day < self.last_day:
            if (day + _ONE).month != day.month:
                yield day
            day += _ONE


_ONE = dt.timedelta(days=1)

ORDERS = (
    ("order_id", "BIGINT NOT NULL"),
    ("customer_id", "INT"),
    ("product", "STRING"),
    ("quantity", "INT"),
    ("amount", "DECIMAL(12, 2)"),
    ("ordered_at", "TIMESTAMP(6)"),
    ("dt", "STRING NOT NULL"),
)
CHANNEL = ("channel", "STRING")
CLICKS = (
    ("event_id", "BIGINT NOT NULL"),
    ("user_id", "INT"),
    ("kind", "STRING"),
    ("page", "STRING"),
    ("happened_at", "TIMESTAMP(6)"),
    ("received_at", "TIMESTAMP(6)"),
    ("dt", "STRING NOT NULL"),
)
CUSTOMERS = (
    ("customer_id", "INT NOT NULL"),
    ("name", "STRING"),
    ("segment", "STRING"),
    ("valid_from", "DATE"),
    ("valid_to", "DATE"),
    ("region", "STRING NOT NULL"),
)
REGIONS = ("Alps", "Atlantic", "Baltic", "Iberia", "Nordics")
LOST_REGION = "Nordics"


def _hash(*columns: str) -> str:
    """A non-negative number that depends on the columns and the seed."""
    return f"(xxhash64({', '.join(columns)}, {SEED}) & 9223372036854775807)"


def _pick(choices: Sequence[str], *columns: str) -> str:
    listed = ", ".join(f"'{choice}'" for choice in choices)
    return f"element_at(array({listed}), cast({_hash(*columns)} % {len(choices)} as int) + 1)"


def orders_sql(loads: Sequence[Load], *, with_channel: bool) -> str:
    """All rows of these loads, with the load's name in `batch`. A day's orders are the same in every load."""
    rows = [
        f"('{load.name}', '{part.day}', {part.day.toordinal()}, {part.parts}, {part.factor}, {part.share}d)"
        for load in loads
        for part in load.days
    ]
    products = ("Lamp", "Chair", "Desk", "Shelf", "Rug", "Mirror", "Sofa", "Clock", "Vase", "Stool")
    channel = _pick(("web", "web", "app", "shop", "partner"), "order_id", "7")
    return f"""
        with days(batch, dt, n, parts, factor, share) as (values {", ".join(rows)}),
        sizes as (select *, cast((690 + {_hash("n")} % 160 + if(n % 7 > 4, 190, 0)) * share as int) as size,
            cast(86400 * share as int) as seconds from days),
        ids as (select *, explode(sequence(1, size)) i from sizes),
        base as (select *, n * 10000L + i as order_id from ids),
        drawn as (select *, 1 + {_hash("order_id", "1")} % 4 as quantity, {_hash("order_id", "2")} as h from base)
        select order_id, cast(1 + {_hash("order_id", "3")} % 1600 as int) customer_id,
          {_pick(products, "order_id", "4")} product, cast(quantity as int) quantity,
          cast(quantity * (4 + h % 9000 / 100) * factor as decimal(12, 2)) amount,
          cast(dt as timestamp_ntz) + make_dt_interval(0, 0, 0, {_hash("order_id", "5")} % seconds) ordered_at,
          dt,
          {f"{channel} channel," if with_channel else ""} batch, h % parts as part
        from drawn"""


def clicks_sql(loads: Sequence[Load]) -> str:
    """Events of these loads. Late events, a `share` of a day's usual number, arrive in later loads."""
    rows = []
    for load in loads:
        newest = max(part.day for part in load.days)
        for part in load.days:
            behind = (newest - part.day).days if part.share < 1 else 0
            rows.append(f"('{load.name}', '{part.day}', {part.day.toordinal()}, {part.share}d, {behind})")
    pages = ("/", "/search", "/lamp", "/chair", "/desk", "/sofa", "/cart", "/checkout", "/help")
    kinds = ("view", "view", "view", "view", "click", "click", "cart", "buy")
    return f"""
        with days(batch, dt, n, share, behind) as (values {", ".join(rows)}),
        ids as (
          select *, explode(sequence(1, cast((2400 + {_hash("n")} % 200) * share as int))) i from days),
        base as (select *, n * 1000000L + behind * 100000 + i as event_id from ids)
        select event_id, cast(1 + {_hash("event_id", "1")} % 2600 as int) user_id,
          {_pick(kinds, "event_id", "2")} kind, {_pick(pages, "event_id", "3")} page,
          cast(dt as timestamp_ntz) + make_dt_interval(0, 0, 0, {_hash("event_id", "4")} % 86400) happened_at,
          cast(dt as timestamp_ntz) + make_dt_interval(behind, 0, 0, {_hash("event_id", "4")} % 86400 + 2) received_at,
          dt, batch from base"""


def customers_sql(batch: str, first: int, end: int, day: dt.date, *, whole: bool) -> str:
    """Customers `first` to `end`; a whole load has every version of each, closed where a newer one exists."""
    given = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gia", "Hugo", "Ida", "Jon", "Kim", "Lea", "Max", "Nora")
    family = ("Berg", "Costa", "Diaz", "Egger", "Falk", "Gil", "Hahn", "Iversen", "Jensen", "Kraus", "Lund", "Moser")
    changed = "if(v = 1, segment, if(segment = 'small', 'medium', 'large'))"
    versions = f"if({_hash('id', '6')} % 4 = 0 and joined < date'{day}' - interval 45 days, 2, 1)" if whole else "1"
    return f"""
        with ids as (
          select cast(id as int) id, {_pick(REGIONS, "id", "1")} region, {_pick(given, "id", "2")} given,
            {_pick(family, "id", "3")} family, {_pick(("small", "small", "medium", "large"), "id", "4")} segment,
            date_sub(date'{day}', cast(if({whole}, {_hash("id", "5")} % 300, 0) as int)) as joined
          from range({first}, {end})),
        versions as (select *, explode(sequence(1, {versions})) v, {versions} as versions from ids)
        select id customer_id, concat(given, ' ', family) name, {changed} segment,
          date_add(joined, 40 * (v - 1)) valid_from, if(v < versions, date_add(joined, 40 * v), null) valid_to,
          region, '{batch}' batch
        from versions"""
