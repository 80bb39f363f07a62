"""Avro containers are split as their own header says, whatever headers were seen before."""

from __future__ import annotations

import io
from typing import Any

import fastavro
import pytest

from core.errors import Corrupt
from core.formats.avro import container


def written(name: str, codec: str = "null", **more: str) -> bytes:
    out = io.BytesIO()
    schema: dict[str, Any] = {"type": "record", "name": name, "fields": [{"name": "a", "type": "long"}]}
    fastavro.writer(out, schema, [{"a": 1}, {"a": 2}], codec=codec, metadata=more)
    return out.getvalue()


def test_each_file_has_the_header_that_stands_in_it() -> None:
    files = [
        written("x"),
        written("x", "deflate"),
        written("y"),
        written("x", more="z"),
        *(written(f"n{n}") for n in range(6)),
    ]
    for data in [*files, *files]:
        reader = fastavro.reader(io.BytesIO(data))
        found = container.split_container(data, "f")
        assert found.codec.decode() == reader.codec
        assert found.schema.decode() == reader.metadata["avro.schema"]
        assert (found.header, found.records) == (data[: len(found.header)], 2)
        assert found.header.endswith(found.sync)
        assert data.endswith(found.sync)


def test_a_file_that_ends_in_a_header_seen_before_is_cut_off() -> None:
    data = written("x")
    header = container.split_container(data, "f").header
    for end in range(len(container.MAGIC), len(header)):
        with pytest.raises(Corrupt, match="cut off"):
            container.split_container(data[:end], "f")
