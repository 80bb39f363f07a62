"""Long columns of text: which values are equal, and whether a check of each value is needed at all.

Arrow's own dictionary needs about 500 bytes of memory for each path while it grows, and its regular expressions cost
more than decoding. Here a cheap look at all values comes first; the exact way follows only where that does not answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from core.model.intervals import Ints
from core.storage.decoded_files import first_rows

_WORD = 8  # bytes
_WINDOW = 8 * _WORD  # bytes at the end of a text that are looked at: a file's name has its UUID there
_MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd, with its bits spread evenly
_ROWS = 1 << 14  # at a time
_PIECE = 1 << 18  # bytes at a time

_Bytes = npt.NDArray[np.uint8]
_Keys = npt.NDArray[np.uint64]


def numbered(texts: pa.StringArray) -> tuple[Ints, Ints]:
    """Return the number of each text, in the order of first mention, and the row where each number appears first."""
    keys = _keys(texts)
    if keys is None:
        return _by_dictionary(texts)
    order = np.argsort(keys)
    keys = keys[order]
    is_new = np.concatenate(([True], keys[1:] != keys[:-1]))
    if is_new.all():
        every = np.arange(len(texts), dtype=np.int64)
        return every, every
    first = np.minimum.reduceat(order, np.flatnonzero(is_new)).astype(np.int64)
    by_mention = np.argsort(first)
    rank = np.empty(len(first), dtype=np.int64)
    rank[by_mention] = np.arange(len(first))
    numbers = np.empty(len(texts), dtype=np.int64)
    numbers[order] = rank[np.cumsum(is_new) - 1]
    first = first[by_mention]
    repeated = np.flatnonzero(first[numbers] != np.arange(len(texts)))
    for begin in range(0, len(repeated), _ROWS):  # equal keys need not mean equal texts
        some = repeated[begin : begin + _ROWS]
        if not texts.take(pa.array(some)).equals(texts.take(pa.array(first[numbers[some]]))):
            return _by_dictionary(texts)
    return numbers, first


def numbered_together(parts: Sequence[pa.Array], *, is_first_distinct: bool) -> tuple[pa.ChunkedArray, Ints, Ints]:
    """Return the distinct texts of all parts in the order of their first mention, the number of each, and the row where
    each number appears first.

    `is_first_distinct`: the first part is known to repeat no text. It is by far the largest; it is then neither indexed
    nor copied, but the first piece of the answer.
    """
    if is_first_distinct:
        others = pa.chunked_array(parts[1:], pa.string()).combine_chunks().dictionary_encode()
        most = len(parts[0])
        if not pc.any(pc.is_in(parts[0], value_set=others.dictionary)).as_py():
            code = others.indices.to_numpy(zero_copy_only=False).astype(np.int64)
            paths = pa.chunked_array([parts[0], others.dictionary], pa.string())
            first = most + first_rows(code, len(others.dictionary))
            every = np.arange(most, dtype=np.int64)
            return paths, np.concatenate((every, most + code)), np.concatenate((every, first))
    whole = pa.chunked_array(parts, pa.string()).combine_chunks()
    code, first = numbered(whole)
    return pa.chunked_array([whole if len(first) == len(whole) else whole.take(pa.array(first))]), code, first


def may_contain(texts: pa.StringArray | pa.ChunkedArray, *wanted: bytes) -> bool:
    """Return False if none of the texts contains any of these bytes, each one or two long; True if that is unknown."""
    firsts = {each[0]: {other[1:] for other in wanted if other[0] == each[0]} for each in wanted}
    for piece in _pieces(texts):
        for first, rest in firsts.items():
            after = np.flatnonzero(piece == first) + 1
            if len(after) and b"" in rest:
                return True
            following = piece[after[after < len(piece)]]
            if any((following == each[0]).any() for each in rest - {b""}):
                return True
    return False


def _keys(texts: pa.StringArray) -> _Keys | None:
    """Return a number for each text, the same for equal texts; None if they are too short to tell them apart."""
    assert not texts.null_count
    if not len(texts):
        return None
    offsets, data = _buffers(texts)
    lengths = np.diff(offsets)
    width = min(_WINDOW, int(lengths.min()) // _WORD * _WORD)
    if not width:
        return None
    windows = np.ndarray((len(data) - width + 1,), f"V{width}", data, strides=(1,))
    keys = lengths.astype(np.uint64)
    for begin in range(0, len(texts), _ROWS):
        words = windows[offsets[begin + 1 : begin + _ROWS + 1] - width].view("<u8").reshape(-1, width // _WORD)
        some = keys[begin : begin + _ROWS]
        for number in range(words.shape[1]):
            some ^= words[:, number]
            some *= _MIXER
            some ^= some >> np.uint64(29)
    return keys


def _by_dictionary(texts: pa.StringArray) -> tuple[Ints, Ints]:
    encoded = texts.dictionary_encode()
    numbers: Ints = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers, first_rows(numbers, len(encoded.dictionary))


def _pieces(texts: pa.StringArray | pa.ChunkedArray) -> Iterator[_Bytes]:
    """Yield the bytes of all texts, each piece with the first byte of the next."""
    for chunk in texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]:
        if not len(chunk):
            continue
        offsets, data = _buffers(chunk)
        for begin in range(int(offsets[0]), int(offsets[-1]), _PIECE):
            yield data[begin : min(begin + _PIECE + 1, int(offsets[-1]))]


def _buffers(texts: pa.StringArray) -> tuple[Ints, _Bytes]:
    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    return starts, np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
