"""What a query says of a table that it does not read: what, where, and who can."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from core.errors import Unsupported
from core.spark.query.query import query
from core.spark.read.paimon import frames
from tests.support.spark.stored import Stored

WAY = "Paimon's own Spark connector may read it"


@pytest.mark.spark
def test_a_refusal_names_the_feature_the_place_and_an_engine(spark: SparkSession, tmp_path: Path) -> None:
    options = {name: value for name, (value, _) in frames._REFUSED.items()}
    options |= {f"{name}x" if name.endswith(".") else name: "true" for name in frames._REFUSED_IF_SET}
    options |= {"type": "object-table"}
    for number, (name, value) in enumerate(options.items()):
        stored = Stored(tmp_path / f"t{number}", [("id", "BIGINT")], options={name: value})
        stored.commit([stored.file([{"id": 1}])])
        with pytest.raises(Unsupported) as caught:
            query(stored.opened(), "select * from t")
        assert name.split(".")[0] in caught.value.message, name
        assert caught.value.path == str(stored.root), name
        assert WAY in str(caught.value.remedy), name


@pytest.mark.spark
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
