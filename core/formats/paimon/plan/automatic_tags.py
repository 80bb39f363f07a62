"""Automatic tags: which are due by a table's `tag.*` options, their names, and when the next ones are due. Pure.

Invariant (Paimon 2.0, the code a commit runs): the tag of a period is created from the first snapshot at or after the
period's end + delay; if there is no automatic tag yet, the first snapshot gets one at once. Automatic tags are
recognised only by their names. Times are wall clocks in the option's zone, without a zone, as in the names."""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.errors import Corrupt, Invalid, Unsupported
from core.messages import Reason, message
from core.model import codes
from core.model.references import Line, Snapshot, Tag
from core.units import duration, is_true, parse_duration_ms, wall_clock

MODE = "tag.automatic-creation"
CREATE_TIME, CREATE_INTERVAL = "tag.create-time", "tag.create-interval"  # original proposal; no engine reads them
DAY_MS, HOUR_MS = 86_400_000, 3_600_000
_PERIODS_MS = {"daily": DAY_MS, "hourly": HOUR_MS, "two-hours": 2 * HOUR_MS}
_FORMATTERS = ("with_dashes", "without_dashes", "without_dashes_and_spaces")
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?")
_PERIOD = ("tag.creation-period", "tag.creation-period-duration", "tag.period-formatter")
_LIMIT = "tag.num-retained-max"
_UNHONOURED = {  # option -> values under which it has no effect
    "tag.callbacks": ("",),
    "tag.create-success-file": ("false",),
    "metastore.tag-to-partition": ("",),
    "metadata.iceberg.storage": ("disabled", ""),
}


@dataclass(frozen=True, slots=True)
class AutomaticTagRules:
    """When tags are created, how they are named, how many are retained. `zone` None: this machine's time zone."""

    mode: str  # process-time, watermark or batch
    period_ms: int
    shape: str  # format of the name: y-M-d, yMd, y-M-d H, yMd H, yMdH, yMdHm
    delay_ms: int
    zone: dt.tzinfo | None
    retained_max: int | None
    retained_ms: int | None
    is_completing: bool  # periods without a commit get their tag from later snapshots
    batch_name: str | None
    is_expiring: bool  # tags whose own retention has ended are deleted too
    notes: tuple[Reason, ...] = ()

    @property
    def period(self) -> dt.timedelta:
        return dt.timedelta(milliseconds=self.period_ms)

    @property
    def delay(self) -> dt.timedelta:
        return dt.timedelta(milliseconds=self.delay_ms)

    def local(self, time_ms: int) -> dt.datetime:
        """Convert a moment to the wall clock by which tags are named. Raises `Invalid` if it is not a calendar time."""
        if self.zone is None:
            return wall_clock(time_ms)
        try:
            return dt.datetime.fromtimestamp(time_ms / 1000, self.zone).replace(tzinfo=None)
        except (ValueError, OverflowError, OSError) as error:
            raise Invalid("{time_ms} ms since 1970 is not a valid calendar time.", time_ms=time_ms) from error

    def moment_ms(self, local: dt.datetime) -> int:
        """Return the first moment at which the wall clock shows this time, or is past it if summer time skips it."""
        both = (local.replace(tzinfo=self.zone, fold=fold) for fold in (0, 1))  # if skipped, the second is the earlier
        first, second = (round(each.timestamp() * 1000) for each in both)
        return first if first <= second else bisect_left(range(first), local, lo=second, key=self.local)

    def time_of(self, snapshot: Snapshot) -> dt.datetime | None:
        """Return the time by which a snapshot's period is determined; None if it has none."""
        time_ms = snapshot.watermark if self.mode == "watermark" else snapshot.time_ms
        return None if time_ms is None else self.local(time_ms)

    def ended_before(self, time: dt.datetime) -> dt.datetime:
        """Return the start of the last period that has ended at `time`; periods count from 1970."""
        epoch = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # wall clocks have no zone
        passed_ms = (time - epoch) // dt.timedelta(milliseconds=1)
        whole = abs(passed_ms) // self.period_ms * (1 if passed_ms >= 0 else -1)
        return epoch + (whole - 1) * self.period

    def name(self, time: dt.datetime) -> str:
        parts = {"y": f"{time.year:04}", "M": f"{time:%m}", "d": f"{time:%d}", "H": f"{time:%H}", "m": f"{time:%M}"}
        return "".join(parts.get(letter, letter) for letter in self.shape)

    def read(self, name: str) -> dt.datetime | None:
        """Return the period in a tag's name; None if it is not an automatic tag. A day's name ends at a space."""
        text = name if "H" in self.shape else name.split(" ", maxsplit=1)[0]
        digits = {"y": r"\d{4}"} | dict.fromkeys("MdHm", r"\d\d")
        if not re.fullmatch("".join(digits.get(letter, letter) for letter in self.shape), text, re.ASCII):
            return None
        codes = {letter: f"%{letter}" for letter in "dH"} | {"y": "%Y", "M": "%m", "m": "%M"}
        try:
            return dt.datetime.strptime(text, "".join(codes.get(letter, letter) for letter in self.shape))  # noqa: DTZ007
        except ValueError:  # for example 31 June
            return None


@dataclass(frozen=True, slots=True)
class AutomaticTagsDue:
    """What a run creates and deletes. `after`: the period after that of the last tag; None if there is no such tag."""

    creates: tuple[tuple[str, int], ...]  # name and snapshot id, in the order of creation
    replaces: tuple[tuple[str, int], ...] = ()
    drops: Mapping[str, Reason] = field(default_factory=dict)  # name and why
    after: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class Coming:
    """The next automatic tag. `due_ms` is when its commit may happen, by process time or by watermark."""

    name: str
    due_ms: int
    is_due: bool  # the next commit creates it


def rules(options: Mapping[str, str]) -> AutomaticTagRules | None:
    """Parse the rules in a table's options; None if automatic tags are off.

    Raises `Invalid` for an invalid option, `Unsupported` for one that asks for more than a tag."""
    mode = options.get(MODE, "none").lower()
    own, notes = options, []
    if mode == "none" and (CREATE_TIME in options or CREATE_INTERVAL in options):
        today = of_proposal(options)
        own, mode = {**options, **today}, "process-time"
        given = ", ".join(f"{key} = {value}" for key, value in today.items())
        notes.append(codes.NEVER_CAME(create_time=CREATE_TIME, create_interval=CREATE_INTERVAL, said=given))
    if mode == "none":
        return None
    if mode not in ("process-time", "watermark", "batch"):
        raise Invalid(
            "The table option {option} must be process-time, watermark, batch or none, not {mode!r}.",
            option=MODE,
            mode=mode,
        )
    for key, nothing in _UNHONOURED.items():
        if options.get(key, nothing[0]).lower() not in nothing:
            raise Unsupported(
                ("The table option {key} = {options} requires more than creating a tag, which Snapscope does not do."),
                key=key,
                options=options[key],
                remedy="Let the table's own engine create its tags.",
            )
    if "snapshot.watermark-idle-timeout" in options:
        notes.append(codes.NO_IDLE_SNAPSHOT())
    period_ms, shape = _period(own)
    delay_ms = _duration(own, "tag.creation-delay") or 0
    if delay_ms >= period_ms:
        raise Invalid(
            "tag.creation-delay ({delay_ms}) must be shorter than the period ({period_ms}).",
            delay_ms=duration(delay_ms),
            period_ms=duration(period_ms),
        )
    most = own.get(_LIMIT)
    if most is not None and not (most.strip().isdecimal() and int(most) > 0):
        raise Invalid(
            "tag.num-retained-max must be at least 1, not {most!r}; otherwise no tag would be kept.", most=most
        )
    is_watermark = mode == "watermark"
    zone_key = f"sink.{'watermark' if is_watermark else 'process'}-time-zone"
    return AutomaticTagRules(
        mode=mode,
        period_ms=period_ms,
        shape=shape,
        delay_ms=delay_ms,
        zone=_zone(own.get(zone_key, "UTC" if is_watermark else ""), zone_key),
        retained_max=None if most is None else int(most),
        retained_ms=_duration(own, "tag.default-time-retained"),
        is_completing=is_true(own.get("tag.automatic-completion")),
        batch_name=own.get("tag.batch.customized-name"),
        is_expiring=own.get("tag.time-expire-enabled", "true").lower() == "true",
        notes=tuple(notes),
    )


def of_proposal(options: Mapping[str, str]) -> dict[str, str]:
    """Translate the proposal's `tag.create-time` (hh:mm) and `tag.create-interval` (days) into Paimon's options."""
    at = options.get(CREATE_TIME, "00:00")
    match = re.fullmatch(r"(\d{1,2}):(\d{2})", at.strip(), re.ASCII)
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:
        raise Invalid("{create_time} must be hh:mm, not {at!r}.", create_time=CREATE_TIME, at=at)
    interval_ms = _duration(options, CREATE_INTERVAL)
    days, rest = (1, 0) if interval_ms is None else divmod(interval_ms, DAY_MS)
    if rest or not days:
        raise Invalid(
            "{create_interval} must be whole days, not {options!r}.",
            create_interval=CREATE_INTERVAL,
            options=options[CREATE_INTERVAL],
        )
    today = {MODE: "process-time"}
    today |= {"tag.creation-period": "daily"} if days == 1 else {"tag.creation-period-duration": f"{days} d"}
    minutes = int(match[1]) * 60 + int(match[2])
    return today | ({"tag.creation-delay": f"{minutes} min"} if minutes else {})


def due(rule: AutomaticTagRules, line: Line) -> AutomaticTagsDue:
    """Return what is to be created and deleted now. Raises `Corrupt` if a relevant snapshot or tag is unreadable."""
    for each in line.unreadable:
        if each.kind in ("snapshot", "tag"):
            raise Corrupt(
                "Which tags are due cannot be determined: {problem}",
                problem=each.problem.sentence(),
                path=each.problem.path,
            )
    return _batch(rule, line) if rule.mode == "batch" else _periodic(rule, line)


def coming(
    rule: AutomaticTagRules, after: dt.datetime | None, line: Line, now_ms: int, count: int = 10
) -> tuple[Coming, ...]:
    """Return the next automatic tags, if commits happen in time. With watermarks, `now` is the newest one."""
    if rule.mode == "watermark":
        known = [each.watermark for each in line.snapshots if each.watermark is not None]
        if not known:
            return ()
        now_ms = max(known)
    if rule.mode == "batch":
        return ()
    now, found = rule.local(now_ms), list[Coming]()
    for _ in range(count):
        opens = now if after is None else after + rule.period + rule.delay
        is_due = opens <= now
        this = after if after is not None and rule.is_completing else rule.ended_before(max(opens, now))
        found.append(Coming(rule.name(this), now_ms if is_due else rule.moment_ms(opens), is_due))
        after = this + rule.period
    return tuple(found)


def refuse_second(line: Line, name: str, old: str | None, snapshot: Snapshot) -> None:
    """Raise `Invalid` if `name` would be a second automatic tag of one snapshot.

    The engine refuses to create such a tag, and its own tag creation fails if one exists."""
    rule = _naming(line)
    if rule is None or rule.mode == "batch":
        return
    others = [tag.name for tag in line.tags if tag.snapshot.id == snapshot.id and tag.name != old]
    twins = [each for each in others if rule.read(each) is not None]
    if rule.read(name) is not None and twins:
        _refuse_twins([*twins, name])


def surplus(line: Line) -> dict[str, int]:
    """Return the tags that the limit on their number deletes, with how many more have to be created for that.

    0: the next batch write deletes the tag. Raises `Invalid` for an invalid option."""
    rule = _naming(line, _LIMIT, "tag.batch.customized-name")
    if rule is None or rule.retained_max is None:
        return {}
    is_batch = rule.mode == "batch"
    counting = _oldest_first(line.tags) if is_batch else [tag for tag in line.tags if rule.read(tag.name) is not None]
    free = rule.retained_max - len(counting)
    next_deleted = [tag.name for tag in counting if not (is_batch and tag.name == rule.batch_name)]
    return {name: max(free + place, 0 if is_batch else 1) for place, name in enumerate(next_deleted, 1)}


def _naming(line: Line, *further: str) -> AutomaticTagRules | None:
    """Return the rules by which tags are automatic, with no other options than `further`."""
    return rules({key: line.options[key] for key in (MODE, *_PERIOD, *further) if key in line.options})


def unheeded(options: Mapping[str, str]) -> tuple[Reason, ...]:
    """Return a reason for each option that makes the engine do more than create a tag; nothing of that is done here."""
    return tuple(
        codes.MORE_THAN_A_TAG(key=key, options=options[key])
        for key, nothing in _UNHONOURED.items()
        if options.get(key, nothing[0]).lower() not in nothing
    )


def _periodic(rule: AutomaticTagRules, line: Line) -> AutomaticTagsDue:
    names, own = {tag.name for tag in line.tags}, dict[int, list[str]]()  # own: automatic tags by snapshot
    found = [(time, tag.snapshot.id) for tag in line.tags if (time := rule.read(tag.name)) is not None]
    for tag in line.tags:
        if rule.read(tag.name) is not None:
            own.setdefault(tag.snapshot.id, []).append(tag.name)
    last, newest = max(found, default=(None, None))  # by the times in the names, whatever their snapshots
    after = None if last is None else last + rule.period
    created, drops = dict[str, int](), dict[str, Reason]()
    for snapshot in line.snapshots:
        time = rule.time_of(snapshot)
        is_early = after is not None and time is not None and time - rule.delay < after + rule.period
        if time is None or is_early or (newest is not None and snapshot.id <= newest):
            continue
        this = after if after is not None and rule.is_completing else rule.ended_before(time)
        if (name := rule.name(this)) not in names:
            names.add(name)
            own.setdefault(snapshot.id, []).append(name)
            _refuse_twins(own[snapshot.id])
            created[name] = snapshot.id
        after = this + rule.period
        while rule.retained_max is not None and len(own) > rule.retained_max:
            oldest = min(own)
            _refuse_twins(own[oldest])
            [dropped] = own.pop(oldest)
            names.discard(dropped)
            if created.pop(dropped, None) is None:
                drops[dropped] = codes.BEYOND_AUTOMATIC(retained_max=rule.retained_max)
    return AutomaticTagsDue(tuple(created.items()), drops=drops, after=after)


def _refuse_twins(names: list[str]) -> None:
    if len(names) > 1:
        raise Invalid(
            ("One snapshot would have more than one automatic tag ({names}); the engine rejects that too."),
            names=", ".join(names),
            remedy="Delete or rename all but one of them.",
        )


def _batch(rule: AutomaticTagRules, line: Line) -> AutomaticTagsDue:
    """After a batch write: one tag per day, or one with a fixed name, on the newest snapshot.

    Every tag counts as retained here, automatic or not, and the oldest are deleted first."""
    latest = line.latest
    if latest is None:
        return AutomaticTagsDue(())
    name = rule.batch_name or f"batch-write-{rule.local(latest.time_ms):%Y-%m-%d}"
    existing = {tag.name: tag.snapshot for tag in line.tags}
    old = existing.get(name)
    is_new = old is None
    is_other = old is not None and (old.id, old.time_ms) != (latest.id, latest.time_ms)
    others = [tag for tag in _oldest_first(line.tags) if tag.name != name]
    surplus_count = 0 if rule.retained_max is None else max(len(others) + 1 - rule.retained_max, 0)
    why = codes.BEYOND_BATCH(retained_max=rule.retained_max)
    return AutomaticTagsDue(
        ((name, latest.id),) if is_new else (),
        ((name, latest.id),) if is_other else (),
        {tag.name: why for tag in others[:surplus_count]},
    )


def _oldest_first(tags: Sequence[Tag]) -> list[Tag]:
    return sorted(tags, key=lambda tag: (tag.snapshot.id, tag.created is not None, tag.created, tag.name))


def _period(options: Mapping[str, str]) -> tuple[int, str]:
    """Return the length of a period in milliseconds, and the format of its names."""
    if (own := _duration(options, "tag.creation-period-duration")) is not None:
        if own <= 0:
            raise Invalid("tag.creation-period-duration must be positive.")
        return own, "yMdHm"
    period = options.get("tag.creation-period", "daily").lower()
    formatter = options.get("tag.period-formatter", _FORMATTERS[0]).lower()
    if period not in _PERIODS_MS or formatter not in _FORMATTERS:
        key, found, known = (
            ("tag.period-formatter", formatter, _FORMATTERS)
            if period in _PERIODS_MS
            else ("tag.creation-period", period, tuple(_PERIODS_MS))
        )
        raise Invalid(
            "The table option {key} must be one of {known}, not {found!r}.",
            key=key,
            known=", ".join(known),
            found=found,
        )
    day = "y-M-d" if formatter == _FORMATTERS[0] or period == "two-hours" else "yMd"
    if period == "daily":
        return _PERIODS_MS[period], day
    return _PERIODS_MS[period], f"{day}H" if day == "yMd" and formatter == _FORMATTERS[2] else f"{day} H"


def _duration(options: Mapping[str, str], key: str) -> int | None:
    try:
        return None if key not in options else parse_duration_ms(options[key])
    except Invalid as error:
        raise Invalid(
            message("The table option {key} cannot be parsed: {message}", key=key, message=error.message),
            remedy=error.remedy,
        ) from None


def _zone(name: str, key: str) -> dt.tzinfo | None:
    if not name:
        return None
    if name in ("Z", "UTC", "GMT", "UT"):
        return dt.UTC
    if match := _OFFSET.fullmatch(name):
        minutes = int(match[2]) * 60 + int(match[3] or 0)
        if minutes <= 18 * 60:
            return dt.timezone(dt.timedelta(minutes=minutes if match[1] == "+" else -minutes))
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid("The table option {key} is not a known time zone: {name!r}.", key=key, name=name) from None
