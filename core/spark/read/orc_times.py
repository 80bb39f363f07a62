"""Times of a whole ORC file, in microseconds and by its writer's clock.

Arrow counts ORC's times in nanoseconds, so it fails for years before 1677 and after 2262; and it moves times within a
day of 1970 by a second if the writer's zone was not UTC. A column is stored as seconds since 2015, cut towards 1970 by
the writer, and as nanoseconds; each in runs of integers, see the specification of ORC v1.
"""

from __future__ import annotations

import datetime as dt
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_PRESENT, _DATA, _SECONDARY = 0, 1, 5
_TIMESTAMP, _INSTANT = 9, 18
_DIRECT_V2 = 2
_BASE_S = 1_420_070_400  # 2015
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_FIRST_S, _LAST_S = -62_135_500_000, 253_402_200_000  # of years 1 and 9999
_WIDTHS = [*range(1, 25), 26, 28, 30, 32, 40, 48, 56, 64]
Longs = npt.NDArray[np.int64]


def column(content: bytes, name: str) -> pa.Array:
    """Return the times of a column that is not inside another one. `ValueError` for a file that is stored otherwise."""
    parts = stripes(content, name)
    return pa.concat_arrays(parts) if parts else pa.nulls(0, pa.timestamp("us"))


def is_near_1970(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether a column, as Arrow reads it, has times that Arrow may have moved by a second."""
    day = 86_400 * 10**9
    stored = column.cast(pa.int64())
    return bool(pc.any(pc.and_(pc.greater_equal(stored, -day), pc.less_equal(stored, day))).as_py())


def stripes(content: bytes, name: str) -> list[pa.Array]:
    """Return the times of a column by stripe; see `column`."""
    size = content[-1]
    tail = _Message(content[-1 - size : -1])
    codec, length = tail.number(2), tail.number(1)
    footer = _Message(_inflated(content[-1 - size - length : -1 - size], codec))
    types = [_Message(each) for each in footer.all(4)]
    names = [bytes(each).decode() for each in types[0].all(3)]
    own = _packed(types[0].all(2))[names.index(name)]
    kind = types[own].number(1)
    if kind not in (_TIMESTAMP, _INSTANT):
        raise ValueError(f"the column {name} is of kind {kind}")
    return [_stripe(content, _Message(each), own, codec, kind == _INSTANT) for each in footer.all(3)]


def _stripe(content: bytes, at: _Message, own: int, codec: int, is_instant: bool) -> pa.Array:
    start, rows = at.number(1), at.number(5)
    end = start + at.number(2) + at.number(3)
    footer = _Message(_inflated(content[end : end + at.number(4)], codec))
    streams = {}
    for each in map(_Message, footer.all(1)):
        if each.number(2) == own:
            streams[each.number(1)] = _inflated(content[start : start + each.number(3)], codec)
        start += each.number(3)
    if _Message(footer.all(2)[own]).number(1) != _DIRECT_V2:
        raise ValueError("its numbers are in runs of the first version")
    valid = np.ones(rows, dtype=np.bool_)
    if _PRESENT in streams:
        valid = np.unpackbits(np.frombuffer(_bytes(streams[_PRESENT]), np.uint8))[:rows].astype(np.bool_)
    seconds = _numbers(streams.get(_DATA, b""), signed=True)
    coded = _numbers(streams.get(_SECONDARY, b""), signed=False)
    zone = "" if is_instant else next((bytes(each).decode() for each in footer.all(3)), "")
    micros = np.zeros(rows, dtype=np.int64)
    micros[valid] = _micros(seconds, coded, zone)
    return pa.array(micros, pa.int64(), mask=~valid).cast(pa.timestamp("us"))


def _micros(seconds: Longs, coded: Longs, zone: str) -> Longs:
    """By the writer's clock. Only whole microseconds are kept; what is before 1970 was cut towards it."""
    zeros = coded & 7
    nanos = (coded >> 3) * np.where(zeros > 0, 10 ** (zeros + 1), 1)
    if len(nanos) and np.abs(nanos).max() >= 1_000_000_000:
        raise ValueError("it has more nanoseconds than a second")
    clock = ZoneInfo(zone) if zone not in ("", "UTC", "GMT", "Etc/UTC") else None
    base = _BASE_S - (0 if clock is None else _ahead(dt.datetime(2015, 1, 1, tzinfo=clock)))
    since = seconds + base
    since = since - ((since < 0) & (nanos > 999_999))
    if clock is not None:
        since = since + _offsets(since, clock)
    return since * 1_000_000 + nanos // 1_000


def _offsets(since: Longs, clock: ZoneInfo) -> Longs:
    """How far the clock was from UTC at these moments; at ones that no calendar of Python has, as at the nearest."""
    hours, place = np.unique(since // 900, return_inverse=True)  # zones change at quarters of an hour
    near = (min(max(each * 900, _FIRST_S), _LAST_S) for each in hours.tolist())
    found = [_ahead((_EPOCH + dt.timedelta(seconds=each)).astimezone(clock)) for each in near]
    return np.array(found, dtype=np.int64)[place]


def _ahead(moment: dt.datetime) -> int:
    return round((moment.utcoffset() or dt.timedelta()).total_seconds())


# what is stored ----------------------------------------------------------------------------------------------------


def _inflated(stored: bytes, codec: int) -> bytes:
    """Chunks, each after three bytes of its length and whether it stands as it is."""
    if codec == 0:
        return stored
    out, at = bytearray(), 0
    while at < len(stored):
        head = int.from_bytes(stored[at : at + 3], "little")
        chunk = stored[at + 3 : at + 3 + (head >> 1)]
        at += 3 + (head >> 1)
        out += chunk if head & 1 else _decompressed(chunk, codec)
    return bytes(out)


def _decompressed(chunk: bytes, codec: int) -> bytes:
    if codec == 1:
        return zlib.decompress(chunk, -15)
    if codec == 2:
        return bytes(pa.decompress(chunk, _number(chunk, 0)[0], "snappy", asbytes=True))  # which begins with its size
    if codec != 5:
        raise ValueError(f"its compression {codec} is not known")
    with pa.CompressedInputStream(pa.BufferReader(chunk), "zstd") as opened:
        return bytes(opened.read())


def _number(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = data[at]
        found |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return found, at


@dataclass(frozen=True, slots=True)
class _Message:
    """A message of protocol buffers."""

    data: bytes

    def all(self, field: int) -> list[Any]:
        return [value for number, value in self._fields() if number == field]

    def number(self, field: int) -> int:
        return int(next(iter(self.all(field)), 0))

    def _fields(self) -> Iterator[tuple[int, Any]]:
        at = 0
        while at < len(self.data):
            key, at = _number(self.data, at)
            size = {1: 8, 5: 4}.get(key & 7)
            if key & 7 == 0:
                value, at = _number(self.data, at)
                yield key >> 3, value
                continue
            if size is None:
                size, at = _number(self.data, at)
            yield key >> 3, self.data[at : at + size]
            at += size


def _packed(values: list[Any]) -> list[int]:
    found: list[int] = []
    for each in values:
        if isinstance(each, int):
            found.append(each)
            continue
        at = 0
        while at < len(each):
            number, at = _number(each, at)
            found.append(number)
    return found


def _bytes(data: bytes) -> bytes:
    """Runs of bytes."""
    out, at = bytearray(), 0
    while at < len(data):
        head = data[at]
        if head < 128:
            out += data[at + 1 : at + 2] * (head + 3)
            at += 2
        else:
            out += data[at + 1 : at + 257 - head]
            at += 257 - head
    return bytes(out)


def _numbers(data: bytes, *, signed: bool) -> Longs:
    """Runs of integers, second version."""
    parts: list[Longs] = [np.zeros(0, dtype=np.int64)]
    at = 0
    while at < len(data):
        kind = data[at] >> 6
        if kind == 0:
            width = ((data[at] >> 3) & 7) + 1
            one = _unsigned(int.from_bytes(data[at + 1 : at + 1 + width], "big"), signed)
            parts.append(np.full((data[at] & 7) + 3, one & (2**64 - 1), dtype=np.uint64).astype(np.int64))
            at += 1 + width
            continue
        code, count = (data[at] >> 1) & 31, ((data[at] & 1) << 8 | data[at + 1]) + 1
        at += 2
        if kind == 1:
            width = _WIDTHS[code]
            values = _bits(data, at, width, count)
            at += -(-width * count // 8)
            parts.append((values >> 1) ^ -(values & 1) if signed else values)
        elif kind == 3:
            first, at = _number(data, at)
            step, at = _number(data, at)
            width = _WIDTHS[code] if code else 0
            delta = _unsigned(step, True)
            deltas = np.full(count - 1, delta, dtype=np.int64)
            if width and count > 2:
                deltas[1:] = _bits(data, at, width, count - 2) * (-1 if delta < 0 else 1)
                at += -(-width * (count - 2) // 8)
            parts.append(np.cumsum(np.concatenate(([_unsigned(first, signed)], deltas)), dtype=np.int64))
        else:
            values, at = _patched(data, at, _WIDTHS[code], count)
            parts.append(values)
    return np.concatenate(parts)


def _patched(data: bytes, at: int, width: int, count: int) -> tuple[Longs, int]:
    """Values above a base, the high bits of a few of them apart."""
    size, patch = (data[at] >> 5) + 1, _WIDTHS[data[at] & 31]
    gap, patches = (data[at + 1] >> 5) + 1, data[at + 1] & 31
    base = int.from_bytes(data[at + 2 : at + 2 + size], "big")
    sign = 1 << (size * 8 - 1)
    base = -(base & (sign - 1)) if base & sign else base
    at += 2 + size
    values = _bits(data, at, width, count)
    at += -(-width * count // 8)
    wide = next(each for each in _WIDTHS if each >= gap + patch)
    place = 0
    for each in _bits(data, at, wide, patches).tolist():
        place += each >> patch
        values[place] |= (each & ((1 << patch) - 1)) << width
    return values + base, at - (-wide * patches // 8)


def _bits(data: bytes, at: int, width: int, count: int) -> Longs:
    """Numbers of so many bits, the highest one first."""
    stored = np.frombuffer(data, np.uint8, -(-width * count // 8), at)
    bits = np.unpackbits(stored)[: width * count].reshape(count, width)
    places = np.arange(width - 1, -1, -1, dtype=np.uint64)
    found: Longs = np.bitwise_or.reduce(bits.astype(np.uint64) << places, axis=1).astype(np.int64)
    return found


def _unsigned(number: int, signed: bool) -> int:
    return (number >> 1) ^ -(number & 1) if signed else number
