"""Metadata files in ORC and Parquet: the same rows as in Avro, or an error that names the file, never fewer rows."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as parquet
import pytest

from core.errors import Corrupt, SnapscopeError
from core.formats import columnar
from core.formats.avro import decode as avro
from core.formats.avro.decode import AvroColumn, Decoded
from core.storage import size_limits
from tests.support.formats.avro import COLUMNS, SCHEMA, record
from tests.support.formats.manifest_bytes import encoded

BOTH = ("orc", "parquet")


def read(folder: Path, contents: list[bytes], columns: tuple[AvroColumn, ...] = COLUMNS) -> Decoded:
    paths = [str(folder / str(number)) for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        Path(path).write_bytes(content)
    return columnar.read(paths, [str(form) for form in columnar.formats(paths)], columns)


def rows(decoded: Decoded) -> list[dict[str, Any]]:
    return decoded.rows.sort_by([("file", "ascending"), ("size", "ascending")]).to_pylist()


def content(form: str, *numbers: int) -> bytes:
    return encoded(form, SCHEMA, [record(number) for number in numbers])


@pytest.mark.parametrize("form", BOTH)
def test_the_rows_are_those_of_avro(form: str, tmp_path: Path) -> None:
    files = [range(50), range(0), range(7, 9), range(100, 400)]
    for number, numbers in enumerate(files):
        (tmp_path / f"{number}.avro").write_bytes(content("avro", *numbers))
    expected = avro.read([str(tmp_path / f"{number}.avro") for number in range(len(files))], COLUMNS)
    found = read(tmp_path, [content(form, *numbers) for numbers in files])
    assert found.errors == expected.errors == {}
    assert rows(found) == rows(expected)
    assert found.rows.schema == expected.rows.schema


@pytest.mark.parametrize("form", BOTH)
def test_files_of_several_writers_are_read_side_by_side(form: str, tmp_path: Path) -> None:
    """A later writer has an additional field, an early one lacks all optional ones."""
    early = {**SCHEMA, "fields": [*SCHEMA["fields"][:2], _without(SCHEMA["fields"][2], "_SOURCE")]}
    later = {**SCHEMA, "fields": [*SCHEMA["fields"], {"name": "_NEW", "type": ["null", "long"], "default": None}]}
    contents = [encoded(form, schema, [_fit(record(n), schema)]) for n, schema in enumerate((SCHEMA, early, later))]
    found = read(tmp_path, contents)
    assert found.errors == {}
    assert [(each["file"], each["size"], each["source"]) for each in rows(found)] == [
        (0, 0, 0),
        (1, 1000, None),
        (2, 2000, None),
    ]


def _without(field: Any, name: str) -> Any:
    inner = field["type"]
    return {**field, "type": {**inner, "fields": [each for each in inner["fields"] if each["name"] != name]}}


def _fit(made: dict[str, Any], schema: Any) -> dict[str, Any]:
    names = {each["name"] for each in schema["fields"][2]["type"]["fields"]}
    return {**made, "_FILE": {name: value for name, value in made["_FILE"].items() if name in names}}


@pytest.mark.parametrize("form", BOTH)
def test_stripes_and_row_groups_are_all_read(form: str, tmp_path: Path) -> None:
    plain = encoded(form, SCHEMA, [record(number) for number in range(5000)])
    table = orc.ORCFile(io.BytesIO(plain)).read() if form == "orc" else parquet.ParquetFile(io.BytesIO(plain)).read()
    out = io.BytesIO()
    if form == "orc":
        orc.write_table(table, out, stripe_size=1 << 10, batch_size=100)
        assert orc.ORCFile(io.BytesIO(out.getvalue())).nstripes > 1
    else:
        parquet.write_table(table, out, row_group_size=700)
    found = read(tmp_path, [out.getvalue()])
    assert found.errors == {}
    assert [each["size"] for each in rows(found)] == [number * 1000 for number in range(5000)]


@pytest.mark.parametrize("form", BOTH)
def test_a_field_that_is_required_is_missed(form: str, tmp_path: Path) -> None:
    lacking = {**SCHEMA, "fields": [SCHEMA["fields"][0], SCHEMA["fields"][2]]}
    found = read(tmp_path, [encoded(form, lacking, [record(1)]), content(form, 1, 2)])
    assert list(found.errors) == [0]
    assert "_NAME" in str(found.errors[0])
    assert len(found.rows) == 2


@pytest.mark.parametrize("form", BOTH)
def test_null_in_a_required_field_is_an_error(form: str, tmp_path: Path) -> None:
    named = [{**record(1), "_FILE": None}, record(2)]
    found = read(tmp_path, [encoded(form, SCHEMA, named), content(form, 3)])
    assert list(found.errors) == [0]
    assert [each["size"] for each in rows(found)] == [3000]


@pytest.mark.parametrize("form", BOTH)
def test_a_field_of_another_type_is_an_error_of_its_file(form: str, tmp_path: Path) -> None:
    fields = [*SCHEMA["fields"]]
    fields[1] = {"name": "_NAME", "type": "int"}
    odd = encoded(form, {**SCHEMA, "fields": fields}, [{**record(1), "_NAME": 7}])
    found = read(tmp_path, [odd, content(form, 1)])
    assert list(found.errors) == [0]
    assert isinstance(found.errors[0], Corrupt)
    assert len(found.rows) == 1


def test_a_text_of_an_orc_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    plain = encoded("orc", SCHEMA, [record(1)])
    table = orc.ORCFile(io.BytesIO(plain)).read()
    out = io.BytesIO()
    orc.write_table(table, out, compression="uncompressed")
    broken = out.getvalue().replace(b"data-1.parquet", b"data-\xff.parquet")
    assert broken != out.getvalue()
    found = read(tmp_path, [broken, content("orc", 4)])
    assert list(found.errors) == [0]
    assert [each["size"] for each in rows(found)] == [4000]


@pytest.mark.parametrize("form", BOTH)
def test_every_cut_is_an_error(form: str, tmp_path: Path) -> None:
    whole = content(form, *range(20))
    cuts = [whole[:end] for end in range(8, len(whole), 7)]
    found = read(tmp_path, [*cuts, whole])
    assert set(found.errors) == set(range(len(cuts)))
    assert all(isinstance(error, Corrupt) for error in found.errors.values())
    assert len(found.rows) == 20


@pytest.mark.parametrize("form", BOTH)
def test_a_turned_bit_takes_no_row_away(form: str, tmp_path: Path) -> None:
    whole, chance = content(form, *range(20)), random.Random(4)
    turned = []
    for _ in range(300):
        data = bytearray(whole)
        data[chance.randrange(4, len(data))] ^= 1 << chance.randrange(8)
        turned.append(bytes(data))
    found = read(tmp_path, turned)
    counts = found.rows.group_by("file").aggregate([([], "count_all")]).to_pylist()
    assert {each["file"]: each["count_all"] for each in counts}.keys() | set(found.errors) >= set(range(300))
    assert {each["count_all"] for each in counts} == {20}
    assert all(isinstance(error, SnapscopeError) for error in found.errors.values())


@pytest.mark.parametrize("form", BOTH)
def test_more_records_than_a_file_can_name_are_refused_unread(form: str, tmp_path: Path) -> None:
    count = size_limits.RECORDS + 1
    table = pa.table({"_KIND": pa.array([0] * count, pa.int32())})
    out = io.BytesIO()
    (orc if form == "orc" else parquet).write_table(table, out)
    assert len(out.getvalue()) < count
    found = read(tmp_path, [out.getvalue()], (AvroColumn("kind", ("_KIND",), pa.int32()),))
    assert "65,537 records" in str(found.errors[0])


@pytest.mark.parametrize("form", BOTH)
def test_a_file_that_is_gone_is_named(form: str, tmp_path: Path) -> None:
    path = str(tmp_path / "gone")
    found = columnar.read([path], [columnar.MAGIC[content(form, 1)[: 3 if form == "orc" else 4]]], COLUMNS)
    assert found.errors[0].path == path
    assert columnar.formats([path]) == [None]
