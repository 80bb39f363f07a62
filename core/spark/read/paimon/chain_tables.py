"""Chain tables: which files make up each partition, from the newest full state before it and the changes since. Pure.

A partition that the table's own branch lacks is that of the snapshot branch, which holds full states. If that lacks it
too, it is the nearest earlier partition of the snapshot branch, merged by key with the partitions of the delta branch
after that one, up to its own. Without an earlier one, all partitions of the delta branch up to its own are merged.

Invariant: what the engine (1.4 to 2.0) would leave out, because a partition is not one of the days or hours that it
counts through, is rejected. Whether a partition is earlier is decided by its values: texts by their bytes, numbers and
days as such, as there.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import Unsupported
from core.formats.paimon import binary_row
from core.formats.paimon.types import PaimonType, parse
from core.formats.paimon.ways_out import OWN_ENGINE
from core.messages import message
from core.model.references import Heads, Line, Schema, Snapshot
from core.spark.merge.rules import is_on

ENABLED, KEYS = "chain-table.enabled", "chain-table.chain-partition-keys"
SNAPSHOT_BRANCH, DELTA_BRANCH = "scan.fallback-snapshot-branch", "scan.fallback-delta-branch"
PATTERN, FORMATTER = "partition.timestamp-pattern", "partition.timestamp-formatter"
LEGACY = "partition.legacy-name"
_ORDERED = ("STRING", "VARCHAR", "TINYINT", "SMALLINT", "INT", "BIGINT", "DATE")
_EPOCH = dt.date(1970, 1, 1)
_UNKNOWN_HERE = ("force-lookup",)
_PARTS = {"yyyy": r"(?P<y>\d{4})", "MM": r"(?P<m>\d{2})", "dd": r"(?P<d>\d{2})", "HH": r"(?P<H>\d{2})",
          "mm": r"(?P<M>\d{2})", "ss": r"(?P<S>\d{2})"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Partition:
    """What one partition is read from: at most one of the snapshot branch, and any number of the delta branch."""

    stored: bytes
    full: bytes | None
    deltas: tuple[bytes, ...]


def branches(schema: Schema, branch: str) -> tuple[str, str] | None:
    """The snapshot and the delta branch of a chain table; None if this branch is read by itself, as these two are."""
    names = [schema.options.get(option, "").strip() for option in (SNAPSHOT_BRANCH, DELTA_BRANCH)]
    if not is_on(schema.options, ENABLED) or not all(names):
        return None
    return None if branch.casefold() in [name.casefold() for name in names] else (names[0], names[1])


def line(heads: Heads, name: str) -> Line:
    found = heads.line(name)
    if found is None or found.schema is None:
        raise Unsupported(
            "A chain table is read from branch '{name}', which does not exist.",
            name=name,
            remedy=message("Query a branch that does (--branch), or change the table's options."),
        )
    for option in _UNKNOWN_HERE:
        if is_on(found.schema.options, option):
            raise Unsupported(
                "The table is a chain table, and '{option}' is on in its branch '{name}'.",
                option=option,
                name=name,
                remedy=message("Query one branch (--branch {name}), or read the table with Paimon 2.0.", name=name),
            )
    return found


def beside(heads: Heads, branch: str, point: str, snapshot: Snapshot, full: Line, delta: Line) -> list[Snapshot | None]:
    """The snapshots of both branches that are read with this one: the newest with the newest, of earlier ones as the
    engine picks them: that of the delta branch by the time of the other, and the first if none is as old."""
    if point.startswith("tag:"):
        raise Unsupported(
            "The table is a chain table: its branches '{full}' and '{delta}' have no state for a tag of this branch.",
            full=full.branch,
            delta=delta.branch,
            remedy=message("Query a snapshot, or a tag of one of these branches (--branch)."),
        )
    own = heads.line(branch)
    if own is None or snapshot.id >= max((each.id for each in own.snapshots), default=snapshot.id):
        return [full.latest, delta.latest]
    first = _then(full, snapshot.time_ms)
    return [first, None if first is None else _then(delta, first.time_ms)]


def _then(of: Line, time_ms: int) -> Snapshot | None:
    ordered = sorted(of.snapshots, key=lambda each: each.id)
    found = [each for each in ordered if each.time_ms <= time_ms] or [each for each in ordered if each.id == 1]
    if not found and ordered:
        raise Unsupported(
            "The table is a chain table, and the snapshot of branch '{name}' that is read with this one has expired.",
            name=of.branch,
            remedy=message("Query a later snapshot."),
        )
    return found[-1] if found else None


def partitions(schema: Schema, own: Iterable[bytes], full: Iterable[bytes], delta: Iterable[bytes]) -> list[Partition]:
    """What each partition is read from that the table's own branch lacks. `schema` is that of the delta branch."""
    own, full = set(own), set(full)
    found = [Partition(each, each, ()) for each in sorted(full - own)]
    keys = _Keys(schema)
    groups: dict[tuple[Any, ...], list[bytes]] = {}
    for each in set(delta):
        groups.setdefault(keys.group(each), []).append(each)
    for group, members in groups.items():
        members.sort(key=keys.chain)
        anchors = sorted((each for each in full if keys.group(each) == group), key=keys.chain)
        for each in members:
            if each in own or each in full:
                continue
            before = [anchor for anchor in anchors if keys.chain(anchor) < keys.chain(each)]
            until = members[: members.index(each) + 1]
            if not before:
                found.append(Partition(each, None, tuple(until)))
                continue
            since = tuple(other for other in until if keys.chain(other) > keys.chain(before[-1]))
            keys.refuse_uncounted((before[-1], *since))
            found.append(Partition(each, before[-1], since))
    return found


def refuse_buckets(of: Iterable[Partition], buckets: Mapping[bytes, set[int]]) -> None:
    """Raise `Unsupported` for a partition whose parts have different numbers of buckets: rows of a key then lie in
    different ones, and the engine reads no such partition either."""
    for each in of:
        parts = {each.full, *each.deltas} - {None}
        if len(counts := set().union(*(buckets.get(part, set()) for part in parts if part is not None))) > 1:
            raise Unsupported(
                "The table is a chain table, and a partition is merged from files of {counts} buckets.",
                counts=", ".join(map(str, sorted(counts))),
                remedy=message("Query one branch (--branch), or rescale its partitions to the same number of buckets."),
            )


class _Keys:
    """Partition values, split into what names a chain and what orders it."""

    def __init__(self, schema: Schema) -> None:
        kinds = {field.name: parse(field.type) for field in schema.fields}
        names = list(schema.partition_keys)
        chain_keys = [name.strip() for name in schema.options.get(KEYS, "").split(",") if name.strip()] or names
        if chain_keys != names[len(names) - len(chain_keys) :]:
            raise _option(KEYS, schema.options.get(KEYS, ""))
        self.kinds: Sequence[PaimonType] = [kinds[name] for name in names]
        self.names, self.first = chain_keys, len(names) - len(chain_keys)
        self.pattern, self.formatter = (schema.options.get(option, "") for option in (PATTERN, FORMATTER))
        self.is_legacy = schema.options.get(LEGACY, "true").strip().lower() == "true"
        self.decoded: dict[bytes, tuple[Any, ...]] = {}
        for name in chain_keys:
            if kinds[name].root not in _ORDERED:
                raise Unsupported(
                    "The table is a chain table, and its partition column '{name}' is of type {type}; only texts, "
                    "whole numbers and dates are read.",
                    name=name,
                    type=kinds[name].root,
                    remedy=OWN_ENGINE,
                )

    def values(self, stored: bytes) -> tuple[Any, ...]:
        if stored not in self.decoded:
            self.decoded[stored] = binary_row.decode(stored, self.kinds)
            if None in self.decoded[stored]:
                raise Unsupported(
                    "The table is a chain table with a partition whose value is null, which has no place in a chain.",
                    remedy=OWN_ENGINE,
                )
        return self.decoded[stored]

    def group(self, stored: bytes) -> tuple[Any, ...]:
        return self.values(stored)[: self.first]

    def chain(self, stored: bytes) -> tuple[Any, ...]:
        return tuple(each.encode() if isinstance(each, str) else each for each in self.values(stored)[self.first :])

    def _text(self, value: Any) -> str:
        """A value as the engine writes it into a directory's name, and puts it into the pattern."""
        if not isinstance(value, dt.date):
            return str(value)
        return str((value - _EPOCH).days) if self.is_legacy else value.isoformat()

    def refuse_uncounted(self, ordered: Sequence[bytes]) -> None:
        """Raise `Unsupported` if the engine, which counts through days or hours, does not meet each of these."""
        times = [self._time(each) for each in ordered]
        is_by_day = len(self.names) == 1
        for before, time, stored in zip(times, times[1:], ordered[1:], strict=False):
            if time <= before or time.minute or time.second or (is_by_day and time.hour):
                raise self._uncounted(stored)

    def _time(self, stored: bytes) -> dt.datetime:
        values = dict(zip(self.names, map(self._text, self.values(stored)[self.first :]), strict=True))
        text = re.sub(r"\$(\w+)", lambda name: values.get(name[1], name[0]), self.pattern, flags=re.ASCII)
        pieces = re.split(r"\$(\w+)", self.pattern, flags=re.ASCII)
        spelling = "".join("(.+)" if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))
        back = re.fullmatch(spelling, text)
        if back is None or dict(zip(pieces[1::2], back.groups(), strict=True)) != values:
            raise self._uncounted(stored)
        found = re.fullmatch(self._format(), text, flags=re.ASCII)
        if found is None:
            raise self._uncounted(stored)
        numbers = {name: int(value) for name, value in found.groupdict().items()}
        try:
            year, month, day, hour, minute, second = (numbers.get(part, 0) for part in "ymdHMS")
            return dt.datetime(year, month, day, hour, minute, second, tzinfo=dt.UTC)
        except ValueError as error:
            raise self._uncounted(stored) from error

    def _format(self) -> str:
        """The formatter as a regular expression; only numbers of full width and what stands between them."""
        pieces = re.split("(yyyy|MM|dd|HH|mm|ss)", self.formatter)
        used, literals = pieces[1::2], "".join(pieces[::2])
        is_date = {"yyyy", "MM", "dd"} <= set(used)
        if not is_date or len(set(used)) != len(used) or re.search(r"[A-Za-z'\[\]{}#]", literals):
            raise _option(FORMATTER, self.formatter)
        return "".join(_PARTS[piece] if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))

    def _uncounted(self, stored: bytes) -> Unsupported:
        return Unsupported(
            "The table is a chain table, and its partition {values} is not one of the {steps} that Paimon counts "
            "through to find what belongs together.",
            values="/".join(map(str, self.values(stored))),
            steps=message("days") if len(self.names) == 1 else message("hours"),
            remedy=message("Query one branch (--branch), or correct '{pattern}' and '{formatter}'.",
                        pattern=PATTERN, formatter=FORMATTER),
        )  # fmt: skip


def _option(name: str, value: str) -> Unsupported:
    return Unsupported(
        "The table is a chain table, and its option '{name}' is '{value}', which is not supported.",
        name=name,
        value=value,
        remedy=OWN_ENGINE,
    )
