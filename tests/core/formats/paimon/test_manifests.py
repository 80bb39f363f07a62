"""Manifests of one table in several formats, each opened once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from core.errors import Corrupt
from core.formats.paimon import manifests
from tests.support.formats.avro import COLUMNS, SCHEMA, record
from tests.support.formats.manifest_bytes import encoded

FORMS = ("avro", "orc", "avro", "parquet", "orc")


def written(folder: Path) -> list[str]:
    """Five files with one, two, ... records, then one that is cut off, one of no known format, and one that is gone."""
    numbers = iter(range(100))
    contents = [encoded(form, SCHEMA, [record(next(numbers)) for _ in range(1 + at)]) for at, form in enumerate(FORMS)]
    for at, content in enumerate([*contents, contents[3][:-9], b"no manifest"]):
        (folder / str(at)).write_bytes(content)
    return [str(folder / str(at)) for at in range(len(contents) + 3)]


def test_each_file_is_decoded_in_its_own_format(tmp_path: Path) -> None:
    found = manifests._read(written(tmp_path), COLUMNS)
    rows = found.rows.sort_by([("file", "ascending"), ("size", "ascending")]).to_pylist()
    assert [(each["file"], each["size"]) for each in rows] == [
        (at, 1000 * (at * (at + 1) // 2 + n)) for at in range(len(FORMS)) for n in range(1 + at)
    ]
    assert sorted(found.errors) == [5, 6, 7]
    assert [found.errors[number].path for number in (5, 6, 7)] == [str(tmp_path / str(n)) for n in (5, 6, 7)]
    assert isinstance(found.errors[5], Corrupt)
    assert sorted(found.schemas) == list(range(len(FORMS)))


def test_a_file_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = written(tmp_path)
    chosen, opened, open_ = (
        [path for path, form in zip(paths, FORMS, strict=False) if form == "avro"],
        list[str](),
        os.open,
    )

    def counting(path: Any, *given: Any, **more: Any) -> int:
        opened.append(str(path))
        return open_(path, *given, **more)

    monkeypatch.setattr(os, "open", counting)
    assert not manifests._read(chosen, COLUMNS).errors
    assert [path for path in opened if path in chosen] == chosen
