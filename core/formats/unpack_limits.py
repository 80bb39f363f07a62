"""How much packed bytes unpack to, known before anybody unpacks them; JSON no larger in memory than its text explains.

Pure. What is beyond its limit raises ValueError, whose text says what was found. A bound that is cheap is taken first:
what a codec can do at most, what it says of itself where its decoder holds it to that; only what this does not clear
is unpacked, a piece at a time, and the pieces are thrown away.
"""

from __future__ import annotations

import bz2
import json
import lzma
import zlib
from typing import Any

from core.messages import told
from core.storage import size_limits

_PIECE = 1 << 20
_STREAMS = 16  # packed one after another: writers make one
_ZSTD, _ZSTD_SKIPPED = 0xFD2FB528, 0x184D2A50
_ZSTD_BLOCK = 128 << 10  # what one block of a frame unpacks to at most
_ZSTD_LEAST = 1 << 10  # what each is counted as, so that none is for nothing
_SNAPPY = 22  # times its size: a copy of 64 bytes takes 3


def unpacked(codec: bytes, packed: memoryview, most: int) -> int:
    """How many bytes a block of an Avro container unpacks to, or a bound of it; never more than `most`."""
    match codec:
        case b"deflate":
            cheap = len(packed) * size_limits.EXPANSION
        case b"zstandard":
            cheap = _zstd(packed, most)
        case b"snappy":
            cheap = _snappy(packed)
            if cheap > min(most, _SNAPPY * len(packed)):
                raise _too_much(most)
        case b"bzip2" | b"xz":
            cheap = most + 1
        case _:  # none, or one that no reader knows
            cheap = len(packed)
            if cheap > most:
                raise _too_much(most)
    return cheap if cheap <= most else _measured(codec, packed, most)


def inflated(packed: bytes, most: int) -> bytes:
    """The content of a whole gzip file."""
    engine = zlib.decompressobj(wbits=31)
    plain = engine.decompress(packed, most + 1)
    if len(plain) > most:
        raise _too_much(most)
    if not engine.eof:
        raise ValueError(told("it is cut off"))
    return plain


def document(content: bytes) -> Any:
    """The value of a JSON text."""
    if len(content) > size_limits.JSON_VALUES:  # a value takes a byte
        values = sum(map(content.count, (b",", b"[", b"{")))
        if values > max(size_limits.JSON_VALUES, len(content) // size_limits.JSON_VALUE):
            raise ValueError(told("it holds {values:,} values in {size:,} bytes", values=values, size=len(content)))
    try:
        text = content.decode(json.detect_encoding(content))  # strictly: `loads` lets halves of characters pass
        value = json.loads(text, parse_constant=_no_number)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError(told("nested too deep")) from error
    except UnicodeEncodeError as error:
        raise ValueError(told("it holds half a character (a lone surrogate)")) from error
    return value


def _no_number(text: str) -> None:
    raise ValueError(told("{text} is no JSON number", text=text))


def _too_much(most: int) -> ValueError:
    return ValueError(told("it unpacks to more than {most:,} bytes", most=most))


def _measured(codec: bytes, packed: memoryview, most: int) -> int:
    """Bytes of the packed streams, one after another."""
    size, streams, left = 0, 0, bytes(packed)
    while left:
        streams += 1
        if streams > _STREAMS:
            raise ValueError(told("it is packed in more than {most} pieces", most=_STREAMS))
        engine = _engine(codec)
        while not engine.eof:
            try:
                piece = engine.decompress(left, _PIECE)
            except Exception as error:
                raise ValueError(told("it cannot be unpacked: {error}", error=error)) from error
            size += len(piece)
            if size > most:
                raise _too_much(most)
            left = getattr(engine, "unconsumed_tail", b"")
            if not (piece or left or engine.eof):
                if codec == b"deflate":
                    return size  # without its last piece: the decoder tells
                raise ValueError(told("it is cut off"))
        if codec == b"deflate":
            return size  # writers leave part of a checksum behind it, which no decoder looks at
        left = engine.unused_data
    return size


def _engine(codec: bytes) -> Any:
    match codec:
        case b"deflate":
            return zlib.decompressobj(wbits=-15)
        case b"bzip2":
            return bz2.BZ2Decompressor()
        case b"xz":
            return lzma.LZMADecompressor(memlimit=1 << size_limits.ZSTD_WINDOW)
        case _:
            import sys

            if sys.version_info >= (3, 14):
                from compression import zstd
            else:
                from backports import zstd
            return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: size_limits.ZSTD_WINDOW})


def _snappy(packed: memoryview) -> int:
    """What a block says of itself; its decoder makes exactly so much room."""
    size = 0
    for number, byte in enumerate(packed[:5]):
        size |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            return size
    raise ValueError(told("a number is too long"))


def _zstd(packed: memoryview, most: int) -> int:
    """A bound from the headers of all blocks of all frames (RFC 8878): what a frame says of its size binds nobody. As
    soon as it is beyond `most` it clears nothing, and the others are not looked at: empty ones take three bytes."""
    try:
        at = bound = 0
        while at < len(packed) and bound <= most:
            magic = int.from_bytes(packed[at : at + 4], "little")
            if magic & ~0xF == _ZSTD_SKIPPED:
                at += 8 + int.from_bytes(packed[at + 4 : at + 8], "little")
                bound += _ZSTD_LEAST
                continue
            if magic != _ZSTD:
                raise ValueError(told("it is no zstd frame"))
            at, found = _zstd_frame(packed, at + 4, most)
            bound += found
    except IndexError as error:
        raise ValueError(told("it is cut off")) from error
    return bound


def _zstd_frame(packed: memoryview, at: int, most: int) -> tuple[int, int]:
    descriptor = packed[at]
    is_single = descriptor >> 5 & 1
    if not is_single and (packed[at + 1] >> 3) + 10 > size_limits.ZSTD_WINDOW:
        raise ValueError(told("it asks for more than 2^{bits} bytes of memory", bits=size_limits.ZSTD_WINDOW))
    width = (is_single, 2, 4, 8)[descriptor >> 6]
    at += 2 - is_single + (0, 1, 2, 4)[descriptor & 3]
    if is_single and int.from_bytes(packed[at : at + width], "little") > 1 << size_limits.ZSTD_WINDOW:
        raise ValueError(told("it asks for more than 2^{bits} bytes of memory", bits=size_limits.ZSTD_WINDOW))
    at += width
    bound, is_last = 0, 0
    while not is_last and bound <= most:
        header = packed[at] | packed[at + 1] << 8 | packed[at + 2] << 16
        is_last, kind, size = header & 1, header >> 1 & 3, header >> 3
        at += 3 + (1 if kind == 1 else size)
        bound += max(size, _ZSTD_LEAST) if kind < 2 else _ZSTD_BLOCK
    return at + (4 if descriptor & 4 else 0), bound
