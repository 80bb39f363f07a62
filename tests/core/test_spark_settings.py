"""Settings of Spark from the environment and from files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from core import spark_settings
from core.errors import Invalid


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("", {}),
        ("spark.a=1", {"spark.a": "1"}),
        ("spark.a=1, spark.b=x=y", {"spark.a": "1", "spark.b": "x=y"}),
        ("spark.jars.packages=g:a:1,g:b:2,spark.c=", {"spark.jars.packages": "g:a:1,g:b:2", "spark.c": ""}),
    ],
)
def test_settings_from_the_environment(monkeypatch: pytest.MonkeyPatch, text: str, settings: Mapping[str, str]) -> None:
    monkeypatch.setenv("SNAPSCOPE_SPARK_CONF", text)
    assert spark_settings.of_environment() == settings


def test_settings_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "spark.json"
    file.write_text('{"spark.a": true, "spark.b": 7, "spark.c": "x"}')
    monkeypatch.setenv("SNAPSCOPE_SPARK_CONF", str(file))
    assert spark_settings.of_environment() == {"spark.a": "true", "spark.b": "7", "spark.c": "x"}
    file.write_text("[1]")
    with pytest.raises(Invalid, match="SNAPSCOPE_SPARK_CONF names a JSON file that does not contain one object"):
        spark_settings.of_environment()
    monkeypatch.setenv("SNAPSCOPE_SPARK_CONF", str(tmp_path / "missing.json"))
    with pytest.raises(Invalid, match="nor the path of a readable JSON file"):
        spark_settings.of_environment()
    monkeypatch.setenv("SNAPSCOPE_SPARK_CONF", "spark.a")
    with pytest.raises(Invalid, match="has no value"):
        spark_settings.of_environment()


@pytest.mark.parametrize(
    "text",
    ["--conf spark.hadoop.fs.s3a.secret.key=HUNTER2", "spark.hadoop.fs.s3a.secret.key HUNTER2", "HUNTER2,spark.a=1"],
)
def test_settings_that_cannot_be_read_are_not_shown(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SNAPSCOPE_SPARK_CONF", text)
    with pytest.raises(Invalid, match="SNAPSCOPE_SPARK_CONF") as refused:
        spark_settings.of_environment()
    assert "HUNTER2" not in str(refused.value)
