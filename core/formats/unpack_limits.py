"""Bound the unpacked size of compressed bytes before they are unpacked, and the memory of JSON by the size of its text.

Pure. Exceeding a limit raises ValueError with a text that says what was found. Cheap bounds come first: the codec's
maximum ratio, or the size a block declares if its decoder enforces it. Only if these are too high is the block
unpacked, piece by piece, and each piece discarded.
"""

from __future__ import annotations

import bz2
import json
import lzma
import zlib
from typing import Any

from core.messages import message
from core.storage import size_limits

_PIECE = 1 << 20
_STREAMS = 16  # concatenated streams: writers make one
_ZSTD, _ZSTD_SKIPPED = 0xFD2FB528, 0x184D2A50
_ZSTD_BLOCK = 128 << 10  # maximum unpacked size of one block of a frame
_ZSTD_LEAST = 1 << 10  # each block counts at least this much, so that empty blocks are not free
_SNAPPY = 22  # maximum ratio: a copy of 64 bytes takes 3


def unpacked(codec: bytes, packed: memoryview, most: int) -> int:
    """Return the unpacked size of a block of an Avro container, or an upper bound of it.

    Raises ValueError if it exceeds `most`.
    """
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
        case _:  # null
            cheap = len(packed)
            if cheap > most:
                raise _too_much(most)
    return cheap if cheap <= most else _measured(codec, packed, most)


def inflated(packed: bytes, most: int) -> bytes:
    """Unpack a whole gzip file. Raises ValueError if it is truncated or unpacks to more than `most` bytes."""
    engine = zlib.decompressobj(wbits=31)
    plain = engine.decompress(packed, most + 1)
    if len(plain) > most:
        raise _too_much(most)
    if not engine.eof:
        raise ValueError(message("it is cut off"))
    return plain


def document(content: bytes) -> Any:
    """Parse a JSON text strictly.

    Raises ValueError if it is not valid JSON, nested too deeply, has too many values for its size or a lone
    surrogate.
    """
    if len(content) > size_limits.JSON_VALUES:  # each value takes at least one byte
        values = sum(map(content.count, (b",", b"[", b"{")))
        if values > max(size_limits.JSON_VALUES, len(content) // size_limits.JSON_VALUE):
            raise ValueError(message("it has {values:,} values in {size:,} bytes", values=values, size=len(content)))
    try:
        text = content.decode(json.detect_encoding(content))  # strict: `json.loads` accepts lone surrogates
        value = _STRICT.decode(text)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError(message("it is nested too deeply")) from error
    except UnicodeEncodeError as error:
        raise ValueError(message("it contains half a character (a lone surrogate)")) from error
    return value


def _no_number(text: str) -> None:
    raise ValueError(message("{text} is not a valid JSON number", text=text))


_STRICT = json.JSONDecoder(parse_constant=_no_number)


def _too_much(most: int) -> ValueError:
    return ValueError(message("it decompresses to more than {most:,} bytes", most=most))


def _measured(codec: bytes, packed: memoryview, most: int) -> int:
    """Unpack concatenated streams and return their total size."""
    size, streams, rest = 0, 0, bytes(packed)
    while rest:
        streams += 1
        if streams > _STREAMS:
            raise ValueError(message("it is compressed in more than {most} pieces", most=_STREAMS))
        engine = _engine(codec)
        while not engine.eof:
            try:
                piece = engine.decompress(rest, _PIECE)
            except Exception as error:
                raise ValueError(message("it cannot be decompressed: {error}", error=error)) from error
            size += len(piece)
            if size > most:
                raise _too_much(most)
            rest = getattr(engine, "unconsumed_tail", b"")
            if not (piece or rest or engine.eof):
                if codec == b"deflate":
                    return size  # the last piece is missing: the decoder reports it
                raise ValueError(message("it is cut off"))
        if codec == b"deflate":
            return size  # writers may leave part of a checksum at the end, which decoders ignore
        rest = engine.unused_data
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
    """Return the size that a block declares; its decoder allocates exactly that."""
    size = 0
    for number, byte in enumerate(packed[:5]):
        size |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            return size
    raise ValueError(message("a number is too long"))


def _zstd(packed: memoryview, most: int) -> int:
    """Return an upper bound from the headers of all blocks of all frames (RFC 8878).

    The declared frame size is not binding. Stops once the bound exceeds `most`: it is no longer useful, and empty
    blocks take only three bytes each.
    """
    try:
        at = bound = 0
        while at < len(packed) and bound <= most:
            magic = int.from_bytes(packed[at : at + 4], "little")
            if magic & ~0xF == _ZSTD_SKIPPED:
                at += 8 + int.from_bytes(packed[at + 4 : at + 8], "little")
                bound += _ZSTD_LEAST
                continue
            if magic != _ZSTD:
                raise ValueError(message("it is not a valid zstd frame"))
            at, found = _zstd_frame(packed, at + 4, most)
            bound += found
    except IndexError as error:
        raise ValueError(message("it is cut off")) from error
    return bound


def _zstd_frame(packed: memoryview, at: int, most: int) -> tuple[int, int]:
    descriptor = packed[at]
    is_single = descriptor >> 5 & 1
    if not is_single and (packed[at + 1] >> 3) + 10 > size_limits.ZSTD_WINDOW:
        raise ValueError(message("it asks for more than 2^{bits} bytes of memory", bits=size_limits.ZSTD_WINDOW))
    width = (is_single, 2, 4, 8)[descriptor >> 6]
    at += 2 - is_single + (0, 1, 2, 4)[descriptor & 3]
    if is_single and int.from_bytes(packed[at : at + width], "little") > 1 << size_limits.ZSTD_WINDOW:
        raise ValueError(message("it asks for more than 2^{bits} bytes of memory", bits=size_limits.ZSTD_WINDOW))
    at += width
    bound, is_last = 0, 0
    while not is_last and bound <= most:
        header = packed[at] | packed[at + 1] << 8 | packed[at + 2] << 16
        is_last, kind, size = header & 1, header >> 1 & 3, header >> 3
        at += 3 + (1 if kind == 1 else size)
        bound += max(size, _ZSTD_LEAST) if kind < 2 else _ZSTD_BLOCK
    return at + (4 if descriptor & 4 else 0), bound
