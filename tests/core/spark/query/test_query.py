"""What a query says of a table that it does not read: what, where, and who can. What is missing or damaged takes
nothing away from versions, files and answers that do not need it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from core.errors import Corrupt, NotFound, SnapscopeError, Unsupported
from core.spark.query.query import query
from core.spark.read.paimon import unread_options
from core.table import Table, open_table
from tests.support.spark.iceberg_written import Written
from tests.support.spark.stored import Stored

pytestmark = pytest.mark.spark
WAY = "Paimon's own Spark connector may read it"


def test_a_refusal_names_the_feature_the_place_and_an_engine(spark: SparkSession, tmp_path: Path) -> None:
    options = {name: value for name, (value, _) in unread_options.REFUSED.items()}
    options |= {f"{name}x" if name.endswith(".") else name: "true" for name in unread_options.REFUSED_IF_SET}
    options |= {"type": "object-table"}
    for number, (name, value) in enumerate(options.items()):
        stored = Stored(tmp_path / f"t{number}", [("id", "BIGINT")], options={name: value})
        stored.commit([stored.file([{"id": 1}])])
        with pytest.raises(Unsupported) as caught:
            query(stored.opened(), "select * from t")
        assert name.split(".")[0] in caught.value.message, name
        assert caught.value.path == str(stored.root), name
        assert WAY in str(caught.value.remedy), name


def test_a_refusal_out_of_a_task_names_the_file_and_an_engine(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = Stored(tmp_path / "t", [("id", "BIGINT")])
    stored.commit([stored.file([{"id": 1}])])
    table, history = stored.opened(), stored.opened().history()
    files = history.files.set_column(
        history.files.schema.get_field_index("format"), "format", pa.array(["lance"] * len(history.files))
    )
    object.__setattr__(history, "files", files)
    with pytest.raises(Unsupported, match="lance") as caught:
        query(table, "select * from t", history=history)
    assert caught.value.path
    assert WAY in str(caught.value.remedy)


# damage elsewhere ----------------------------------------------------------------------------------------------------

ROWS = {"1": [1], "2": [1, 12], "3": [1, 12, 23]}


@dataclass
class Ground:
    """A table of three commits, each with one file and one row, and a tag of the second."""

    root: Path
    data: Path  # the second file
    manifest: Path  # the second commit's
    manifest_list: Path  # of the second version alone

    def opened(self) -> Table:
        return open_table(str(self.root))


def paimon(root: Path) -> Ground:
    stored = Stored(root, [("id", "INT"), ("v", "STRING")])
    for number in ROWS["3"]:
        stored.commit([stored.file([{"id": number, "v": "x"}])])
    stored.tag("second", 2)
    data = sorted((root / "bucket-0").iterdir())[1]
    return Ground(root, data, root / "manifest" / "m-2-0", root / "manifest" / "list-2-1")


def iceberg(root: Path) -> Ground:
    written = Written(root, [(1, "id", "long"), (2, "v", "string")])
    refs = {"main": {"snapshot-id": 3, "type": "branch"}, "second": {"snapshot-id": 2, "type": "tag"}}
    for number in ROWS["3"]:
        written.commit(written.data({"id": [number], "v": ["x"]}, bounds=[1]))
    written.publish(refs=refs)
    metadata = root / "metadata"
    return Ground(root, Path(written.live[1]["path"]), metadata / "m4.avro", metadata / "snap-2.avro")


def ids(table: Table, at: str, where: str = "true") -> list[int]:
    return [row["id"] for row in query(table, f"select id from t where {where} order by id", at=at).table.to_pylist()]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


FORMATS = pytest.mark.parametrize("made", [paimon, iceberg])


@FORMATS
def test_a_missing_data_file(spark: SparkSession, tmp_path: Path, made: Callable[[Path], Ground]) -> None:
    ground = made(tmp_path / "t")
    ground.data.unlink()
    table = ground.opened()
    assert ids(table, "1") == [1]
    assert ids(table, "3", "id > 20") == [23]
    assert len(table.history().files) == 3
    with pytest.raises(NotFound) as caught:
        ids(table, "3")
    assert ground.data.name in str(caught.value)


@FORMATS
@pytest.mark.parametrize("damage", [cut, Path.unlink])
def test_a_manifest_list(
    spark: SparkSession, tmp_path: Path, made: Callable[[Path], Ground], damage: Callable[[Path], None]
) -> None:
    ground = made(tmp_path / "t")
    damage(ground.manifest_list)
    table = ground.opened()
    assert ids(table, "1") == ROWS["1"]
    assert ids(table, "3") == ROWS["3"]
    for at in ("2", "tag:second"):
        with pytest.raises(Corrupt) as caught:
            ids(table, at)
        assert ground.manifest_list.name in str(caught.value)


@FORMATS
def test_a_manifest(spark: SparkSession, tmp_path: Path, made: Callable[[Path], Ground]) -> None:
    ground = made(tmp_path / "t")
    cut(ground.manifest)
    table = ground.opened()
    assert len(table.history().holders) >= 3
    read = {}
    for at in ROWS:
        try:
            read[at] = ids(table, at)
        except Corrupt as error:
            assert ground.manifest.name in str(error)
    assert read["1"] == ROWS["1"]
    assert set(read) < set(ROWS)
    assert all(read[at] == ROWS[at] for at in read)


def test_a_tag_or_snapshot_of_paimon(spark: SparkSession, tmp_path: Path) -> None:
    ground = paimon(tmp_path / "t")
    (ground.root / "tag" / "tag-second").write_text("{")
    assert ids(ground.opened(), "3") == ROWS["3"]
    with pytest.raises(Corrupt, match="second"):
        ids(ground.opened(), "tag:second")
    (ground.root / "snapshot" / "snapshot-2").write_text("{}")
    for at in ("1", "3"):
        assert ids(ground.opened(), at) == ROWS[at]
    with pytest.raises(SnapscopeError, match="snapshot-2"):
        ids(ground.opened(), "2")


def test_a_ref_of_iceberg_to_nothing(spark: SparkSession, tmp_path: Path) -> None:
    written = Written(tmp_path / "t", [(1, "id", "int")])
    written.commit(written.data({"id": [7]}))
    written.publish(refs={"main": {"snapshot-id": 1, "type": "branch"}, "lost": {"snapshot-id": 9, "type": "tag"}})
    table = open_table(str(written.root))
    assert ids(table, "1") == [7]
    with pytest.raises(Corrupt, match="lost"):
        ids(table, "tag:lost")
