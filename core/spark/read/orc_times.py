"""Times of a whole ORC file, in microseconds and by its writer's clock.

Arrow counts ORC's times in nanoseconds, so it fails for years before 1677 and after 2262; and it moves times within a
day of 1970 by a second if the writer's zone was not UTC. A time is stored as seconds since 2015, cut towards 1970 by
the writer, and as nanoseconds; each in runs of integers, see the specification of ORC v1.
"""

from __future__ import annotations

import datetime as dt
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc as orc

from core.spark.read import nested

_DATA, _SECONDARY = 1, 5
_LONG, _TIMESTAMP, _INSTANT = 4, 9, 18
_UNION = 13
_DIRECT_V2 = 2
_BASE_S = 1_420_070_400  # 2015
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_FIRST_S, _LAST_S = -62_135_500_000, 253_402_200_000  # of years 1 and 9999
_WIDTHS = [*range(1, 25), 26, 28, 30, 32, 40, 48, 56, 64]
Longs = npt.NDArray[np.int64]


def column(content: bytes, name: str) -> pa.Array:
    """Return a column with its times, also those inside lists, maps and structs. `ValueError` for a file that is stored
    otherwise."""
    parts = stripes(content, name)
    return pa.concat_arrays(parts) if parts else pa.nulls(0, pa.timestamp("us"))


def is_near_1970(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether a column, as Arrow reads it, has times that Arrow may have moved by a second."""
    if pa.types.is_struct(column.type):
        return any(is_near_1970(pc.struct_field(column, [at])) for at in range(column.type.num_fields))
    if isinstance(column, pa.ChunkedArray):
        return any(map(is_near_1970, column.chunks))
    if pa.types.is_map(column.type):
        return is_near_1970(column.keys) or is_near_1970(column.items)
    if pa.types.is_list(column.type):
        return is_near_1970(column.flatten())
    if not pa.types.is_timestamp(column.type):
        return False
    day = 86_400 * 10**9
    stored = column.cast(pa.int64())
    return bool(pc.any(pc.and_(pc.greater_equal(stored, -day), pc.less_equal(stored, day))).as_py())


def stripes(content: bytes, name: str) -> list[pa.Array]:
    """Return a column by stripe; see `column`. Arrow reads it as if its times were whole numbers, their seconds."""
    size = content[-1]
    tail = _Message(content[-1 - size : -1])
    codec, length = tail.number(2), tail.number(1)
    footer = _Message(_inflated(content[-1 - size - length : -1 - size], codec))
    types = [_Type.of(_Message(each)) for each in footer.all(4)]
    names = [bytes(each).decode() for each in _Message(footer.all(4)[0]).all(3)]
    own = types[0].inner[names.index(name)]
    times = [node for node in _below(types, own) if types[node].kind in (_TIMESTAMP, _INSTANT)]
    if not times:
        raise ValueError(f"the column {name} has no times")
    patched = _as_numbers(footer, tail, codec, times)
    file = orc.ORCFile(pa.BufferReader(content[: -1 - size - length] + patched))
    return [
        _with_times(
            file.read_stripe(number, [name]).column(0),
            own,
            types,
            _stripe(content, _Message(each), codec, types, times),
        )
        for number, each in enumerate(footer.all(3))
    ]


@dataclass(frozen=True, slots=True)
class _Type:
    kind: int
    inner: list[int]

    @classmethod
    def of(cls, message: _Message) -> _Type:
        return cls(message.number(1), _packed(message.all(2)))


def _below(types: list[_Type], node: int) -> Iterator[int]:
    yield node
    for each in types[node].inner:
        yield from _below(types, each)


def _as_numbers(footer: _Message, tail: _Message, codec: int, times: list[int]) -> bytes:
    """The end of a file with these columns declared as whole numbers: theirs are stored like the seconds of times."""
    nodes = iter(range(len(footer.all(4))))

    def declared(value: bytes) -> bytes:
        return _Message(value).changed(1, lambda _: _LONG) if next(nodes) in times else value

    made = footer.changed(4, declared)
    stored = made if codec == 0 else (len(made) << 1 | 1).to_bytes(3, "little") + made
    end = tail.changed(1, lambda _: len(stored))
    return stored + end + bytes([len(end)])


def _with_times(array: pa.Array, node: int, types: list[_Type], micros: Mapping[int, Longs]) -> pa.Array:
    """The array with times in the place of their seconds."""
    of = types[node]
    if node in micros:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        made = np.zeros(len(array), dtype=np.int64)
        made[valid] = micros[node]
        zone = "UTC" if of.kind == _INSTANT else None
        return pa.array(made, pa.int64(), mask=~valid).cast(pa.timestamp("us", zone))
    if of.kind == _UNION:
        raise ValueError("it has times inside of a union")
    return nested.changed(array, lambda at, inner: _with_times(inner, of.inner[at], types, micros))


def _stripe(content: bytes, at: _Message, codec: int, types: list[_Type], times: list[int]) -> dict[int, Longs]:
    """The microseconds of these columns, where they are not null."""
    start = at.number(1)
    end = start + at.number(2) + at.number(3)
    footer = _Message(_inflated(content[end : end + at.number(4)], codec))
    streams = {}
    for each in map(_Message, footer.all(1)):
        if each.number(2) in times and each.number(1) in (_DATA, _SECONDARY):
            streams[each.number(2), each.number(1)] = _inflated(content[start : start + each.number(3)], codec)
        start += each.number(3)
    writer = next((bytes(each).decode() for each in footer.all(3)), "")
    found = {}
    for node in times:
        if _Message(footer.all(2)[node]).number(1) != _DIRECT_V2:
            raise ValueError("its numbers are in runs of the first version")
        seconds = _numbers(streams.get((node, _DATA), b""), signed=True)
        coded = _numbers(streams.get((node, _SECONDARY), b""), signed=False)
        found[node] = _micros(seconds, coded, "" if types[node].kind == _INSTANT else writer)
    return found


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
    """Unpack chunks. Three bytes before each hold its length and whether it is stored uncompressed."""
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
    if codec == 4:
        return bytes(pa.decompress(chunk, _size_of_lz4(chunk), "lz4_raw", asbytes=True))
    if codec != 5:
        raise ValueError(f"its compression {codec} is not known")
    with pa.CompressedInputStream(pa.BufferReader(chunk), "zstd") as opened:
        return bytes(opened.read())


def _size_of_lz4(chunk: bytes) -> int:
    """How long a block of LZ4 is unpacked: it does not say so itself. Each of its sequences copies some bytes of its
    own, then some from before; the last one has no copy."""
    size = at = 0
    while at < len(chunk):
        token, at = chunk[at], at + 1
        own, at = _lz4_length(chunk, at, token >> 4)
        at, size = at + own, size + own
        if at < len(chunk):
            copied, at = _lz4_length(chunk, at + 2, token & 15)
            size += copied + 4
    return size


def _lz4_length(chunk: bytes, at: int, length: int) -> tuple[int, int]:
    more = 255 if length == 15 else 0
    while more == 255:
        more, at = chunk[at], at + 1
        length += more
    return length, at


def _number(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = data[at]
        found |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return found, at


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


@dataclass(frozen=True, slots=True)
class _Message:
    """A message of protocol buffers."""

    data: bytes

    def all(self, field: int) -> list[Any]:
        return [value for number, value in self._fields() if number == field]

    def number(self, field: int) -> int:
        return int(next(iter(self.all(field)), 0))

    def changed(self, field: int, change: Callable[[Any], Any]) -> bytes:
        """The message with other values of one field."""
        out = bytearray()
        for number, value in self._fields():
            value = change(value) if number == field else value
            if isinstance(value, int):
                out += _varint(number << 3) + _varint(value)
            else:
                out += _varint(number << 3 | 2) + _varint(len(value)) + value
        return bytes(out)

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
